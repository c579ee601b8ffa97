"""The tables of the suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lab.harness.tables import Cell, Number, Section, Table, p_value
from lab.suite.summary import RIVAL, STRATUM_METRICS

__all__ = [
    "METRIC_TITLES",
    "against_table",
    "candidate_tables",
    "claim_table",
    "coverage_table",
    "dataset_table",
    "few_table",
    "goal_tables",
    "headline_table",
    "method_table",
    "panel_table",
    "stratum_tables",
]

Facts = dict[str, Any]

METRIC_TITLES = {
    "g_mean": "G-mean",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "MCC",
}
_SHORT = {"g_mean": "G-mean", "balanced_accuracy": "Bal. acc.", "f1": "F1", "mcc": "MCC"}


HEADLINE = ("untouched", "smote", "balanced-weights", "tuned/g-mean")
"""Rivals of the headline, of which most readers use one."""


def headline_table(facts: Facts, half: str) -> Table:
    """Return the share of the clairvoyant's gain: usual sizes and few rows, one line a method."""
    regimes = {"All rare rows": facts, **{f"{n} rare rows": f for n, f in facts["few"].items()}}
    stem = facts["default"].split("@")[0]
    ours = [facts["default"], f"{stem}@out-of-fold"]
    curve = stem.split("/")[0]
    ours += [f"{curve}/plain-g-mean@fold-models", "best-cut/g-mean@fold-models"]
    names = [*HEADLINE, *dict.fromkeys(ours), "clairvoyant", "clairvoyant@fold-models"]
    lines: list[tuple[Cell, ...]] = []
    for name in (name for name in names if name in facts["shares"]):
        cells = [_gained(each["methods"][name], each["shares"][name]) for each in regimes.values()]
        lines.append((_shown(facts, name), *cells))
    return Table(
        f"headline-{half}",
        "Mean G-mean, and in brackets the share of what the best threshold on the test rows would "
        "gain over the untouched model, with a 95% interval over families.",
        ("Who decides", *regimes),
        (Section("", tuple(lines)),),
    )


def _gained(method: Facts, share: Facts) -> str:
    """Write a G-mean and a share of the gain."""
    value, low, high = (share[key] for key in ("share", "low", "high"))
    return f"{_point(method['g_mean'])} ({_point(value, 2)}; {_point(low, 2)} to {_point(high, 2)})"


def _point(value: float | None, digits: int = 3) -> str:
    """Write a share without its zero; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("0.", ".", 1).replace("-", "−")


def few_table(facts: Facts, half: str) -> Table:
    """Return ranks and tests with few rows: the default and its rivals, all numbers together."""
    together = list(facts["few"].values())[-1]
    ranks = {metric: together["ranking"][metric]["ranks"] for metric in METRIC_TITLES}
    means = {m: {n: together["methods"][n][m] for n in together["panel"]} for m in METRIC_TITLES}
    metrics = ("g_mean", "balanced_accuracy", "f1")
    lines: list[tuple[Cell, ...]] = []
    for name in sorted(together["panel"], key=lambda name: ranks["g_mean"][name]):
        cells: list[Cell] = [_shown(together, name)]
        for metric in metrics:
            cells += [
                _marked(means[metric], name, largest=True),
                _marked(ranks[metric], name, largest=False, digits=2),
                _holm(together["against"][metric].get(name)),
            ]
        lines.append(tuple(cells))
    header = ["Method"]
    for metric in metrics:
        header += [_SHORT[metric], "rank", "p (blocks; families)"]
    return Table(
        f"few-{half}",
        f"{list(facts['few'])[-1]} rare rows to train on, all together: mean, average rank, and "
        "the default's test against each rival, with Holm's correction, by blocks and by families.",
        tuple(header),
        (Section("", tuple(lines)),),
    )


def _holm(found: Facts | None) -> str:
    """Write the tests by blocks and by families."""
    if found is None:
        return ""
    return f"{p_value(found['holm'])}; {p_value(found['holm_by_family'])}"


def candidate_tables(facts: Facts, half: str) -> list[Table]:
    """Return what the default is chosen from, each against the tuned threshold, in both regimes."""
    regimes = {"All rare rows": facts}
    if facts["few"]:
        name, few = list(facts["few"].items())[-1]
        regimes[f"{name} rare rows"] = few
    return [
        _candidate_table(title, each, f"{number}-{half}")
        for number, (title, each) in enumerate(regimes.items())
        if each["candidates"]
    ]


def _candidate_table(title: str, facts: Facts, name: str) -> Table:
    """Return means and tests of every candidate."""
    metrics = ("g_mean", "balanced_accuracy", "f1")
    found = facts["candidates"]
    columns = {m: {n: facts["methods"][n][m] for n in found[m]} for m in metrics}
    lines: list[tuple[Cell, ...]] = [
        (
            RIVAL,
            *(cell for m in metrics for cell in (Number(facts["methods"][RIVAL][m]), "")),
            _point(facts["shares"].get(RIVAL, {}).get("share"), 2),
        )
    ]
    for each in found["g_mean"]:
        cells: list[Cell] = [_shown(facts, each)]
        for metric in metrics:
            cells += [
                _marked(columns[metric], each, largest=True),
                _holm(found[metric][each]),
            ]
        lines.append((*cells, _point(facts["shares"].get(each, {}).get("share"), 2)))
    header = ["Candidate"]
    for metric in metrics:
        header += [_SHORT[metric], "p (blocks; families)"]
    return Table(
        f"candidates-{name}",
        f"{title}: mean over blocks, test against {RIVAL} with Holm's correction over the "
        "candidates, and share of the clairvoyant's gain.",
        (*header, "Share"),
        (Section("", tuple(lines)),),
    )


def goal_tables(facts: Facts, half: str) -> list[Table]:
    """Return the methods that aim at F1 or MCC, by that metric."""
    return [_goal_table(facts, metric, half) for metric in facts["goals"]]


def _goal_table(facts: Facts, metric: str, half: str) -> Table:
    found = facts["goals"][metric]
    ranks, tests = found["ranking"]["ranks"], found["against"]
    means = {name: facts["methods"][name][metric] for name in ranks}
    lines: list[tuple[Cell, ...]] = [
        (
            name,
            _marked(means, name, largest=True),
            _marked(ranks, name, largest=False, digits=2),
            _holm(tests.get(name)),
            Number(facts["methods"][name]["g_mean"]),
        )
        for name in sorted(ranks, key=lambda name: ranks[name])
    ]
    title = METRIC_TITLES[metric]
    return Table(
        f"goal-{metric}-{half}",
        f"Methods that aim at {title}: its mean and average rank among them, and a test against "
        f"scikit-learn's threshold tuned for it.",
        ("Aim", title, "rank", "p (blocks; families)", "G-mean"),
        (Section("", tuple(lines)),),
    )


def panel_table(facts: Facts, half: str) -> Table:
    """Return means and average ranks of the default and its rivals."""
    ranks = {metric: facts["ranking"][metric]["ranks"] for metric in METRIC_TITLES}
    means = {metric: {n: facts["methods"][n][metric] for n in facts["panel"]} for metric in ranks}
    ordered = sorted(facts["panel"], key=lambda name: ranks["g_mean"][name])
    lines = [
        (
            _shown(facts, name),
            *(_marked(means[metric], name, largest=True) for metric in METRIC_TITLES),
            *(_marked(ranks[metric], name, largest=False, digits=2) for metric in METRIC_TITLES),
            *_costs(facts["methods"][name]),
        )
        for name in ordered
    ]
    header = ["Method", *_SHORT.values(), *(f"rank {short}" for short in _SHORT.values())]
    return Table(
        f"panel-{half}",
        "The default and its rivals: mean over blocks, average rank, share of fits with an answer, "
        "seconds of training and milliseconds of deciding per fit; best in bold.",
        (*header, "Solved", "Fit (s)", "Decide (ms)"),
        (Section("", tuple(lines)),),
    )


def _shown(facts: Facts, name: str) -> str:
    """Return a method's name, and that it is the default."""
    return f"{name} (default)" if name == facts["default"] else name


def _marked(values: Mapping[str, float], name: str, *, largest: bool, digits: int = 3) -> Number:
    """Return a number, bold if it is the best of its column."""
    best = (max if largest else min)(values.values())
    return Number(values[name], digits=digits, best=round(values[name] - best, digits + 1) == 0)


def _costs(method: Facts) -> tuple[Cell, ...]:
    """Return solved share and times."""
    return (
        f"{100 * method['solved']:.4g}%",
        Number(method["fit_seconds"], digits=2),
        Number(1000 * method["seconds"], digits=1),
    )


def against_table(facts: Facts, half: str) -> Table:
    """Return the paired tests of the default with every rival."""
    sections = [
        Section(title, tuple(_tested(facts["against"][metric])))
        for metric, title in METRIC_TITLES.items()
    ]
    return Table(
        f"against-{half}",
        f"{facts['default']} less each rival, block by block: mean difference, blocks won, tied "
        "and lost, two-sided Wilcoxon signed-rank test with Holm's correction over the rivals; and "
        "the same with one block a family, all models averaged.",
        ("Rival", "Difference", "Win/tie/loss", "p (Holm)", "Families", "p (Holm), families"),
        tuple(sections),
    )


def _tested(found: Mapping[str, Facts]) -> Iterable[tuple[Cell, ...]]:
    """Yield one line a rival."""
    for name, facts in found.items():
        yield (
            name,
            Number(facts["difference"], signed=True),
            "/".join(str(facts[k]) for k in ("wins", "ties", "losses")),
            p_value(facts["holm"]),
            "/".join(str(facts[f"{k}_by_family"]) for k in ("wins", "ties", "losses")),
            p_value(facts["holm_by_family"]),
        )


def stratum_tables(facts: Facts, half: str) -> list[Table]:
    """Return means and ranks in parts: by model, by size, by overlap."""
    return [
        _stratum_table(facts, title, parts, metric, half)
        for title, parts in facts["strata"].items()
        for metric in STRATUM_METRICS
    ]


def _stratum_table(
    facts: Facts, title: str, parts: Mapping[str, Facts], metric: str, half: str
) -> Table:
    """Return one metric: mean and rank in every part."""
    header = ["Method"]
    for name, part in parts.items():
        header += [f"{name} ({part['blocks']})", "rank"]
    lines: list[tuple[Cell, ...]] = []
    overall = facts["ranking"][metric]["ranks"]
    for name in sorted(facts["panel"], key=lambda name: overall[name]):
        cells: list[Cell] = [_shown(facts, name)]
        for part in parts.values():
            means, ranks = (
                dict(zip(facts["panel"], part[metric][which], strict=True))
                for which in ("means", "ranks")
            )
            cells += [
                _marked(means, name, largest=True),
                _marked(ranks, name, largest=False, digits=2),
            ]
        lines.append(tuple(cells))
    return Table(
        f"{title.split()[0].lower()}-{metric}-{half}",
        f"{title}: mean {METRIC_TITLES[metric]} and average rank; blocks in brackets.",
        tuple(header),
        (Section("", tuple(lines)),),
    )


def coverage_table(facts: Facts, half: str) -> Table:
    """Return how often certificates hold, and how wide they are."""
    lines: dict[str, list[tuple[Cell, ...]]] = {"": []}
    for name, classes in facts["coverage"].items():
        method, _, part = name.partition(" | ")
        lines.setdefault(method if part else "", []).append(_covered(part or name, classes))
    return Table(
        f"coverage-{half}",
        "Certificates: shares covered and contradicted, what is needed, and for each class the "
        "mean bound beside the mean test error.",
        (
            "Decision",
            "Covered",
            "Needed",
            "Contradicted",
            "Majority bound",
            "error",
            "Minority bound",
            "error",
            "Mean width",
        ),
        tuple(Section(title, tuple(each)) for title, each in lines.items()),
    )


def _covered(name: str, classes: Mapping[str, Facts]) -> tuple[Cell, ...]:
    both, majority, minority = (classes[c] for c in ("both", "majority", "minority"))
    return (
        name,
        Number(both["covered"], best=both["holds"]),
        Number(both["least"]),
        Number(both["contradicted"]),
        Number(majority["bound"]),
        Number(majority["error"]),
        Number(minority["bound"]),
        Number(minority["error"]),
        Number(both["width"]),
    )


def claim_table(facts: Facts, half: str) -> Table:
    """Return how often the curves' own claims hold, by source."""
    sources = ("training", "out-of-fold", "held-out")
    curves = list(dict.fromkeys(name.partition("/")[0] for name in facts["claims"]))
    lines: list[tuple[Cell, ...]] = [
        (curve, *(Number(facts["claims"].get(f"{curve}/sum@{source}")) for source in sources))
        for curve in curves
    ]
    return Table(
        f"claims-{half}",
        "Share of test errors within the curves' own claims.",
        ("Curve", *sources),
        (Section("", tuple(lines)),),
    )


def method_table(facts: Facts, half: str) -> Table:
    """Return every method, best rank by G-mean first in each group."""
    titles = {
        "ours": "Curves and rules of this library",
        "rival": "Rivals",
        "other aim": "Rules with another aim",
        "clairvoyant": "The best threshold on the test rows, which nobody knows",
    }
    sections = []
    for group, title in titles.items():
        names = [n for n, method in facts["methods"].items() if method["group"] == group]
        names.sort(key=lambda n: facts["methods"][n]["ranks"].get("g_mean", 0))
        if names:
            sections.append(Section(title, tuple(_method(facts, name) for name in names)))
    header = ["Method", *_SHORT.values(), *(f"rank {short}" for short in _SHORT.values())]
    return Table(
        f"methods-{half}",
        "Every method: mean over blocks, and average rank.",
        (*header, "Solved", "Fit (s)", "Decide (ms)"),
        tuple(sections),
    )


def _method(facts: Facts, name: str) -> tuple[Cell, ...]:
    method = facts["methods"][name]
    return (
        _shown(facts, name),
        *(Number(method[metric]) for metric in METRIC_TITLES),
        *(Number(method["ranks"].get(metric), digits=2) for metric in METRIC_TITLES),
        *_costs(method),
    )


def dataset_table(datasets: Sequence[Facts]) -> Table:
    """Return the data sets, by half and family."""
    lines: dict[str, list[tuple[Cell, ...]]] = {}
    for entry in datasets:
        lines.setdefault(entry["half"], []).append(
            (
                entry["name"],
                entry["family"],
                str(entry["n_samples"]),
                str(entry["n_features"]),
                str(entry["n_minority"]),
                Number(entry["imbalance"], digits=1),
            )
        )
    return Table(
        "datasets",
        "Data sets and the half that their family was drawn into.",
        ("Data set", "Family", "Rows", "Features", "Minority", "Imbalance"),
        tuple(Section(half, tuple(each)) for half, each in sorted(lines.items())),
    )
