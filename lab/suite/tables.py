"""The tables of the suite's pages: the answers, and what is behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.markdown import Cell, Line, Number, Table, p_value
from lab.suite.methods import ESTIMATES, METRIC_TITLES, aiming_at, title_of
from lab.suite.rows import CONFIDENCE
from lab.suite.summary import BASELINE, CHOSEN_BY, CLAIRVOYANTS, STRATUM_METRICS

Facts = dict[str, Any]

SHORT = {"g_mean": "G-mean", "balanced_accuracy": "Bal. acc.", "f1": "F1", "mcc": "MCC"}
"""Metric → its name in the head of a column."""

_TEST = "p (blocks; families)"
_USUAL = ("untouched", "smote", "balanced-weights")
_HEADLINE = (
    *_USUAL, "tuned/balanced-accuracy", BASELINE, "best-cut/g-mean@out-of-fold",
    "paper/authors@training",
)  # fmt: skip


def headline_methods(facts: Facts) -> list[str]:
    """Return the methods of the headline: what most readers use, the default, and the best."""
    default = facts["default"]
    ours = dict.fromkeys([default, f"{default.partition('@')[0]}@out-of-fold"])
    return [n for n in (*_HEADLINE, *ours, CLAIRVOYANTS[0]) if n in facts["shares"]]


def regimes_of(facts: Facts, most: int = 10**9) -> dict[str, Facts]:
    """Return what is told for each number of rare rows up to one, all rows last."""
    few = {f"{n} rare rows": told for n, told in facts["few"].items() if int(n) <= most}
    return few | ({"all rare rows": facts} if "methods" in facts else {})


def headline_table(facts: Facts) -> Table:
    """Return the share of the clairvoyant's gain: few rows and all, one line a method."""
    regimes = regimes_of(facts, 20)
    return Table(
        "Share of what the best threshold on the test rows would gain over the model left as it "
        "is, measured by G-mean; in brackets a 95% interval over families.",
        ("Who decides", *regimes),
        {
            "": [
                (title_of(name), *(_gained(each, name) for each in regimes.values()))
                for name in headline_methods(facts)
            ]
        },
    )


def _gained(told: Facts, name: str) -> str:
    """Write a share of the gain with its interval."""
    if name not in told["shares"]:
        return "–"
    value, low, high = (_point(told["shares"][name][key]) for key in ("share", "low", "high"))
    return f"{value} ({low} to {high})"


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
        f"{len(facts['panel'])} (1 is best), and the test of boundshift against each rival, "
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
    """Return what the first page of the repository says: shares of the gain, and ranks."""
    regimes = regimes_of(facts, 20)
    named = (*_USUAL, "tuned/f1", "tuned/balanced-accuracy", BASELINE, facts["default"])
    ranks = [facts["ranking"][metric]["ranks"] for metric in METRIC_TITLES]
    lines: list[Line] = [
        (
            title_of(name),
            *(_point(told["shares"][name]["share"]) for told in regimes.values()),
            *(Number(rank[name], digits=2) for rank in ranks),
        )
        for name in named
        if name in facts["panel"]
    ]
    return Table(
        "Left: share of what the best threshold on the test rows would gain in G-mean over the "
        "model left as it is, by the number of rare rows to train on. Right: average rank among "
        f"{len(facts['panel'])} methods with all rare rows, 1 is best.",
        (
            "Who decides",
            *(title.removesuffix(" rare rows") for title in regimes),
            *(f"rank by {title}" for title in METRIC_TITLES.values()),
        ),
        {"": lines},
    )


def candidate_tables(facts: Facts) -> list[Table]:
    """Return what the default is chosen from, each against the tuned threshold, in both regimes."""
    regimes = {"All rare rows": facts}
    if "together" in facts:
        regimes["5 to 20 rare rows"] = facts["together"]
    return [_candidate_table(title, each) for title, each in regimes.items() if each["candidates"]]


def _candidate_table(title: str, facts: Facts) -> Table:
    """Return means and tests of every candidate."""
    found = facts["candidates"]
    columns = {m: {n: facts["methods"][n][m] for n in found[m]} for m in CHOSEN_BY}

    def share(name: str) -> Number:
        return Number(facts["shares"].get(name, {}).get("share"), digits=2)

    first = [cell for m in CHOSEN_BY for cell in (Number(facts["methods"][BASELINE][m]), "")]
    lines: list[Line] = [(title_of(BASELINE), *first, share(BASELINE))]
    for each in found["g_mean"]:
        pairs = ((marked(columns[m], each), _holm(found[m][each])) for m in CHOSEN_BY)
        lines.append((title_of(each), *(cell for pair in pairs for cell in pair), share(each)))
    titles = (title for metric in CHOSEN_BY for title in (SHORT[metric], _TEST))
    return Table(
        f"{title}: mean over blocks, test against the first line with Holm's correction over the "
        "candidates, and share of the clairvoyant's gain.",
        ("Candidate", *titles, "Share"),
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

    return Table(
        "boundshift less each rival, block by block: mean difference, blocks won, tied and lost, "
        "two-sided Wilcoxon signed-rank test before and after Holm's correction over the rivals; "
        "and the same with one block a family, all models averaged.",
        ("Rival", "Difference", "Won/tied/lost", "p", "p (Holm)", "Families", "p (Holm), families"),
        {
            title: [line(name, found) for name, found in facts["against"][metric].items()]
            for metric, title in METRIC_TITLES.items()
        },
    )


def stratum_tables(facts: Facts) -> list[Table]:
    """Return means and ranks in parts: by model, by size, by overlap."""
    return [
        _stratum_table(facts, title, parts, metric)
        for title, parts in facts["strata"].items()
        for metric in STRATUM_METRICS
    ]


def _stratum_table(facts: Facts, title: str, parts: Mapping[str, Facts], metric: str) -> Table:
    """Return one metric: mean and rank in every part."""
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


def claim_table(facts: Facts) -> Table:
    """Return how often the curves' own claims hold, by source."""
    sources = ("training", "out-of-fold", "held-out")
    curves = list(dict.fromkeys(name.partition("/")[0] for name in facts["claims"]))
    return Table(
        "Share of test errors within the curves' own claims.",
        ("Curve", *sources),
        {
            "": [
                (curve, *(Number(facts["claims"].get(f"{curve}/sum@{s}")) for s in sources))
                for curve in curves
            ]
        },
    )


_GROUPS = {
    "ours": "Curves and rules of this library",
    "rival": "Rivals",
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
