"""The tables and pictures of the suite's pages, from the stored facts.

The words of ``docs/benchmark*.md`` are written by hand. What is measured stands there in blocks,
which :func:`make_tables` returns by name; those of the half that chose the default begin with
"choose".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from lab.experiment import Facts
from lab.markdown import Cell, Line, Number, Table, p_value
from lab.suite.figures import Picture, draw_critical_difference, draw_gains
from lab.suite.methods import ESTIMATES, GOALS, METRIC_TITLES, aiming_at, title_of
from lab.suite.rows import CONFIDENCE
from lab.suite.summary import BASELINE, CLAIRVOYANTS, STRATUM_METRICS

SHORT = {"g_mean": "G-mean", "balanced_accuracy": "Bal. acc.", "f1": "F1", "mcc": "MCC"}
"""Metric → its name in the head of a column."""

_ALL, _FEW = "All rare rows", "5, 10 and 20 rare rows together"
_TEST = "p (blocks; families)"
_USUAL = ("untouched", "smote", "balanced-weights")
_HEADLINE = (
    *_USUAL, "tuned/balanced-accuracy", BASELINE, "best-cut/g-mean@out-of-fold",
    "paper/authors@training",
)  # fmt: skip
_DRAWN = (
    "smote", "balanced-weights", "tuned/balanced-accuracy", BASELINE, "paper/authors@training",
)  # fmt: skip


def make_tables(facts: Facts) -> dict[str, str | Table | Picture]:
    """Return every block of the pages by its name; what was not run has none."""
    found: dict[str, str | Table | Picture] = {
        "setting": _setting(facts),
        "datasets": dataset_table(facts["datasets"]),
    }
    for half, prefix in (("report", ""), ("choose", "choose ")):
        if half in facts["halves"]:
            blocks = _blocks(facts["halves"][half], half)
            found |= {f"{prefix}{name}": block for name, block in blocks}
    return found


def _blocks(told: Facts, half: str) -> Iterator[tuple[str, str | Table | Picture]]:
    regimes = {_ALL: ("", told), _FEW: ("few ", told.get("together", {}))}
    regimes = {where: each for where, each in regimes.items() if "methods" in each[1]}
    for where, (mark, each) in regimes.items():
        yield f"{mark}counts", _counts(each)
        yield f"{mark}ranks 1", rank_table(each, ("g_mean", "balanced_accuracy"), where)
        yield f"{mark}ranks 2", rank_table(each, ("f1", "mcc"), where)
        yield f"{mark}methods", method_table(each, where)
        yield f"{mark}tests", against_table(each)
        yield f"{mark}certificates", coverage_table(each, where)
        for metric in each["goals"]:
            yield f"{mark}{metric}", goal_table(each, metric, where)
    for metric in GOALS:
        known = {where: each for where, (_, each) in regimes.items() if metric in each["goals"]}
        if known:
            yield f"{metric} curves", goal_curve_table(known, metric)
    if regimes:
        yield "verdict", verdict_table({where: each for where, (_, each) in regimes.items()})
    if "methods" not in told:
        return
    if told["shares"]:
        yield "headline", headline_table(told)
        yield "curve", curve_table(told)
        yield "gains", _gains(told, half)
    for title, parts in told["strata"].items():
        for metric in STRATUM_METRICS:
            yield f"{title}, {metric}", stratum_table(told, title, parts, metric)
    yield "families", family_table(told)
    for metric, ranking in told["ranking"].items():
        if "critical_difference" in ranking:
            yield f"diagram {metric}", _diagram(told, metric, f"{half}-{metric}")


def _setting(facts: Facts) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in facts["environment"].items())
    return (
        f"Made by `{facts['command']}`, splits of each set: {len(facts['seeds'])}. It stored "
        f"{facts['rows']['count']} rows, whose text has the SHA-256 checksum "
        f"`{facts['rows']['sha256 of its text']}`. Versions: {versions}."
    )


def _counts(facts: Facts) -> str:
    count = facts["counts"]
    failed = f"{count['failed']} rows failed" if count["failed"] else "no row failed"
    text = (
        f"{count['families']} families, {count['datasets']} data sets, {count['models']} models, "
        f"{count['seeds']} split(s); {count['fits']} trainings, {count['blocks']} blocks; {failed}."
    )
    return " ".join([text, *(f"`{message}`" for message in count["messages"][:5])])


def _gains(told: Facts, half: str) -> Picture:
    regimes = regimes_of(told)
    shown = [n for n in (*_DRAWN, told["default"]) if n in told["shares"]]
    numbers = [title.removesuffix(" rare rows") for title in regimes]
    lines = {
        title_of(name): [each["shares"][name]["share"] for each in regimes.values()]
        for name in shown
    }
    text = "Share of the gain of the best threshold on the test rows, by rare rows to train on"
    return Picture(f"{half}-gains", text, partial(draw_gains, numbers, lines, title_of(shown[-1])))


def _diagram(told: Facts, metric: str, name: str) -> Picture:
    ranking = told["ranking"][metric]
    title = (
        f"Average rank by {METRIC_TITLES[metric]} over {ranking['blocks']} blocks (Friedman p "
        f"{p_value(ranking['friedman']['f_p_value'])})"
    )
    ranks = {title_of(each): rank for each, rank in ranking["ranks"].items()}
    difference, marked = ranking["critical_difference"], title_of(told["default"])
    draw = partial(draw_critical_difference, ranks, difference, title, marked)
    return Picture(name, f"{title}; bars join what Nemenyi's test cannot tell apart", draw)


def regimes_of(facts: Facts, most: int = 10**9) -> dict[str, Facts]:
    """Return what is told for each number of rare rows up to one, all rows last."""
    few = {f"{n} rare rows": told for n, told in facts["few"].items() if int(n) <= most}
    return few | ({"all rare rows": facts} if "methods" in facts else {})


def verdict_table(regimes: Mapping[str, Facts]) -> Table:
    """Return the place of the default by every metric, beside the tuned threshold."""
    sections: dict[str, list[Line]] = {}
    for where, facts in regimes.items():
        default, lines = facts["default"], sections.setdefault(where, [])
        for metric, title in METRIC_TITLES.items():
            ranks = facts["ranking"][metric]["ranks"]
            place = 1 + sum(rank < ranks[default] for rank in ranks.values())
            test = facts["against"][metric].get(BASELINE)
            means = [facts["methods"].get(n, {}).get(metric) for n in (default, BASELINE)]
            rank, (mine, theirs) = Number(ranks[default], digits=2), map(Number, means)
            lines.append((title, f"{place} of {len(ranks)}", rank, mine, theirs, _holm(test)))
    return Table(
        "The default's place among all methods of the panel by average rank, and its mean beside "
        "that of scikit-learn's threshold tuned for the G-mean.",
        ("Metric", "Place", "average rank", "boundshift", "tuned threshold", _TEST),
        sections,
    )


def headline_methods(facts: Facts) -> list[str]:
    """Return the methods of the headline: what most readers use, the default, and the best."""
    default = facts["default"]
    ours = dict.fromkeys([default, f"{default.partition('@')[0]}@out-of-fold"])
    return [n for n in (*_HEADLINE, *ours, CLAIRVOYANTS[0]) if n in facts["shares"]]


def headline_table(facts: Facts) -> Table:
    """Return the share of the clairvoyant's gain: few rows and all, one line a method."""
    regimes = regimes_of(facts, 20)

    def gained(told: Facts, name: str) -> str:
        if name not in told["shares"]:
            return "–"
        value, low, high = (_point(told["shares"][name][key]) for key in ("share", "low", "high"))
        return f"{value} ({low} to {high})"

    return Table(
        "Share of what the best threshold on the test rows would gain over the untouched "
        "model, measured by G-mean; in brackets a 95% interval over families.",
        ("Who decides", *regimes),
        {
            "": [
                (title_of(name), *(gained(each, name) for each in regimes.values()))
                for name in headline_methods(facts)
            ]
        },
    )


def _point(value: float | None) -> str:
    """Write a share without its zero; a dash where there is none."""
    if value is None or value != value:
        return "–"
    text = f"{value:.2f}"
    return (text.replace("0.", ".", 1) if abs(value) < 1 else text).replace("-", "−")


def curve_table(facts: Facts) -> Table:
    """Return mean G-mean and share of the gain for every number of rare rows."""
    regimes, names = regimes_of(facts), headline_methods(facts)
    told = regimes.values()
    return Table(
        "By the number of rare rows in the training part.",
        ("Who decides", *regimes),
        {
            "Mean G-mean": [
                (title_of(n), *(Number(each["methods"][n]["g_mean"]) for each in told))
                for n in names
            ],
            "Share of the gain": [
                (title_of(n), *(_point(each["shares"].get(n, {}).get("share")) for each in told))
                for n in names
            ],
            "How many data sets": [("", *(str(each["counts"]["datasets"]) for each in told))],
        },
    )


def rank_table(facts: Facts, metrics: Sequence[str], where: str) -> Table:
    """Return the default and its baselines: mean, average rank, and the test against each.

    The first metric gives the order; `where` names the regime.
    """
    ranks = {metric: facts["ranking"][metric]["ranks"] for metric in metrics}
    means = {m: {n: facts["methods"][n][m] for n in facts["panel"]} for m in metrics}
    header, lines = ["Who decides"], []
    for metric in metrics:
        header += [SHORT[metric], "average rank", _TEST]
    for each in sorted(facts["panel"], key=lambda each: ranks[metrics[0]][each]):
        cells: list[Cell] = [title_of(each)]
        for metric in metrics:
            cells += [
                marked(means[metric], each),
                marked(ranks[metric], each, largest=False, digits=2),
                _holm(facts["against"][metric].get(each)),
            ]
        lines.append(tuple(cells))
    return Table(
        f"{where}: mean over {facts['ranking'][metrics[0]]['blocks']} blocks, average rank among "
        f"{len(facts['panel'])} (1 is best), and the test of boundshift against each baseline, "
        "two-sided, after Holm's correction, by blocks and by families.",
        tuple(header),
        {"": lines},
    )


def _holm(found: Facts | None) -> str:
    """Write the tests by blocks and by families."""
    return f"{p_value(found['holm'])}; {p_value(found['holm_by_family'])}" if found else ""


def marked(
    values: Mapping[str, float], name: str, *, largest: bool = True, digits: int = 3
) -> Number:
    """Return a number, bold if it is the best of its column."""
    best = (max if largest else min)(values.values())
    return Number(values[name], digits=digits, best=round(values[name] - best, digits + 1) == 0)


def goal_table(facts: Facts, metric: str, where: str) -> Table:
    """Return the rule for a metric beside the tuned threshold for it and everything else."""
    found = facts["goals"][metric]
    ranks, tests = found["ranking"]["ranks"], found["against"]
    means = {each: facts["methods"][each][metric] for each in ranks}
    title = METRIC_TITLES[metric]
    return Table(
        f"{where}: mean {title} over {found['ranking']['blocks']} blocks, average rank among "
        f"{len(ranks)}, the test of `{title_of(aiming_at(metric)[0])}` against each, two-sided, "
        "after Holm's correction, and the G-mean that comes with it.",
        ("Who decides", title, "average rank", _TEST, "G-mean"),
        {
            "": [
                (
                    title_of(each),
                    marked(means, each),
                    marked(ranks, each, largest=False, digits=2),
                    _holm(tests.get(each)),
                    Number(facts["methods"][each]["g_mean"]),
                )
                for each in sorted(ranks, key=lambda each: ranks[each])
            ]
        },
    )


def goal_curve_table(regimes: Mapping[str, Facts], metric: str) -> Table:
    """Return a metric for every curve under its rule, with fold models and with one model."""
    shown = [n for n in aiming_at(metric) if all(n in f["methods"] for f in regimes.values())]
    columns = [{n: f["methods"][n][metric] for n in shown} for f in regimes.values()]
    return Table(
        f"Mean {METRIC_TITLES[metric]} of the rule for it on each of the {len(ESTIMATES)} curves "
        "that estimate errors.",
        ("Who decides", *regimes),
        {"": [(title_of(n), *(marked(column, n) for column in columns)) for n in shown]},
    )


def short_table(facts: Facts) -> Table:
    """Return what the first page of the repository says: shares of the clairvoyant's gain."""
    regimes = regimes_of(facts, 20)
    named = (*_USUAL, BASELINE, "best-cut/g-mean@out-of-fold", facts["default"])
    lines: list[Line] = [
        (title_of(name), *(_point(told["shares"][name]["share"]) for told in regimes.values()))
        for name in named
        if name in facts["panel"]
    ]
    return Table(
        "Share of the gain in G-mean of the best threshold on the test rows, by the number of rare "
        "rows to train on.",
        ("Who decides", *(title.removesuffix(" rare rows") for title in regimes)),
        {"": lines},
    )


def against_table(facts: Facts) -> Table:
    """Return the paired tests of the default with every baseline."""

    def line(name: str, found: Facts) -> Line:
        won, families = (
            "/".join(str(found[f"{k}{suffix}"]) for k in ("wins", "ties", "losses"))
            for suffix in ("", "_by_family")
        )
        p, holm, by_family = (p_value(found[k]) for k in ("p", "holm", "holm_by_family"))
        difference = Number(found["difference"], signed=True)
        return (title_of(name), difference, won, p, holm, families, by_family)

    head = "Baseline | Difference | Won/tied/lost | p | p (Holm) | Families | p (Holm), families"
    return Table(
        "boundshift less each baseline, block by block: mean difference, blocks won, tied and "
        "lost, two-sided Wilcoxon signed-rank test before and after Holm's correction over the "
        "baselines; and the same with one block a family, all models averaged.",
        tuple(head.split(" | ")),
        {
            title: [line(name, found) for name, found in facts["against"][metric].items()]
            for metric, title in METRIC_TITLES.items()
        },
    )


def stratum_table(facts: Facts, title: str, parts: Mapping[str, Facts], metric: str) -> Table:
    """Return one metric in parts of the trainings: mean and rank in every part."""
    header, lines = ["Who decides"], []
    for name, part in parts.items():
        header += [f"{name} ({part['blocks']})", "rank"]
    overall = facts["ranking"][metric]["ranks"]
    for name in sorted(facts["panel"], key=lambda name: overall[name]):
        cells: list[Cell] = [title_of(name)]
        for part in parts.values():
            means, ranks = (
                dict(zip(facts["panel"], part[metric][which], strict=True))
                for which in ("means", "ranks")
            )
            cells += [marked(means, name), marked(ranks, name, largest=False, digits=2)]
        lines.append(tuple(cells))
    return Table(
        f"{title}: mean {METRIC_TITLES[metric]} and average rank; blocks in brackets.",
        tuple(header),
        {"": lines},
    )


def family_table(facts: Facts) -> Table:
    """Return the G-mean of each family: the default beside what most readers use."""
    shown = [n for n in (*_USUAL, BASELINE, facts["default"]) if n in facts["panel"]]
    lines: list[Line] = []
    for family, values in facts["families"].items():
        of = dict(zip(facts["panel"], values, strict=True))
        lines.append((family, *(marked({n: of[n] for n in shown}, name) for name in shown)))
    return Table(
        "By family: mean G-mean over its data sets and all models; best in bold.",
        ("Family", *map(title_of, shown)),
        {"": lines},
    )


_WORDS = {
    "certified": "certified: rows that the deployed model has not seen",
    "cross-fitted": "cross-fitted: out-of-fold scores, a claim about the models of the folds",
    "nominal": "nominal: training scores, which flatter the model",
}


def coverage_table(facts: Facts, where: str) -> Table:
    """Return how often certificates hold, by word and class, beside what they say."""

    def line(method: str, label: str, found: Facts) -> Line:
        covered = Number(found["covered"], best=found["holds"])
        others = (Number(found[k]) for k in ("least", "contradicted", "bound", "error"))
        return (title_of(method), label, str(found["n"]), Number(CONFIDENCE), covered, *others)

    header = (
        "Decision | Class | Claims | Nominal | Covered | Needed | Contradicted | Mean bound | "
        "Mean test error"
    )
    return Table(
        f"{where}: certificates at {CONFIDENCE:.0%} for each class, by word.",
        tuple(header.split(" | ")),
        {
            _WORDS[word]: [
                line(method, label, found[label])
                for method, found in decisions.items()
                for label in ("majority", "minority")
            ]
            for word, decisions in facts["coverage"].items()
        },
    )


_GROUPS = {
    "ours": "Curves and rules of this library",
    "baseline": "Baselines",
    "other aim": "Rules with another aim",
    "clairvoyant": "The best threshold on the test rows, which nobody knows",
}


def method_table(facts: Facts, where: str) -> Table:
    """Return every method, best rank by G-mean first in each group."""

    def line(name: str) -> Line:
        method = facts["methods"][name]
        return (
            title_of(name),
            name,
            *(Number(method[metric]) for metric in METRIC_TITLES),
            *(Number(method["ranks"].get(metric), digits=2) for metric in ("g_mean", "f1")),
            f"{100 * method['solved']:.4g}%",
            Number(method["fit_seconds"], digits=2),
            Number(1000 * method["seconds"], digits=1),
        )

    sections = {}
    for group, title in _GROUPS.items():
        names = [n for n, method in facts["methods"].items() if method["group"] == group]
        names.sort(key=lambda n: facts["methods"][n]["ranks"].get("g_mean", 0))
        if names:
            sections[title] = [line(each) for each in names]
    ranks = ("rank by G-mean", "rank by F1", "Solved", "Fit (s)", "Decide (ms)")
    return Table(
        f"{where}: mean over blocks, average rank, share of fits with an answer, seconds of "
        "training and milliseconds of deciding per fit.",
        ("Who decides", "name for `--methods`", *SHORT.values(), *ranks),
        sections,
    )


def dataset_table(datasets: Sequence[Facts]) -> Table:
    """Return the data sets, by half and family."""
    lines: dict[str, list[Line]] = {}
    for entry in datasets:
        sizes = (str(entry[k]) for k in ("n_samples", "n_features", "n_minority"))
        lines.setdefault(entry["half"], []).append(
            (entry["name"], entry["family"], *sizes, Number(entry["imbalance"], digits=1))
        )
    return Table(
        "Data sets and the half that their family was drawn into.",
        ("Data set", "Family", "Rows", "Features", "Minority", "Imbalance"),
        dict(sorted(lines.items())),
    )
