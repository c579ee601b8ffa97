"""The tables of the three answers: is it better, with how few rows, and for F1 or MCC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab.harness.tables import Cell, Number, Section, Table, p_value
from lab.suite.methods import ESTIMATES, aiming_at
from lab.suite.summary import CLAIRVOYANTS, RIVAL
from lab.suite.words import METRIC_TITLES, title_of

__all__ = [
    "SHORT",
    "curve_table",
    "goal_curve_table",
    "goal_table",
    "headline_methods",
    "headline_table",
    "marked",
    "rank_table",
    "regimes_of",
    "short_table",
]

Facts = dict[str, Any]

SHORT = {"g_mean": "G-mean", "balanced_accuracy": "Bal. acc.", "f1": "F1", "mcc": "MCC"}
"""Metric → its name in the head of a column."""

_HEADLINE = (
    "untouched",
    "smote",
    "balanced-weights",
    "tuned/balanced-accuracy",
    RIVAL,
    "best-cut/g-mean@out-of-fold",
    "paper/authors@training",
)
_TEST = "p (blocks; families)"


def headline_methods(facts: Facts) -> list[str]:
    """Return the methods of the headline: what most readers use, the default, and the best."""
    default = facts["default"]
    ours = [default, f"{default.partition('@')[0]}@out-of-fold"]
    return [name for name in (*_HEADLINE, *dict.fromkeys(ours), CLAIRVOYANTS[0])
            if name in facts["shares"]]  # fmt: skip


def regimes_of(facts: Facts, most: int = 10**9) -> dict[str, Facts]:
    """Return what is told for each number of rare rows up to one, all rows last."""
    few = {f"{n} rare rows": told for n, told in facts["few"].items() if int(n) <= most}
    return few | ({"all rare rows": facts} if "methods" in facts else {})


def headline_table(facts: Facts, half: str) -> Table:
    """Return the share of the clairvoyant's gain: few rows and all, one line a method."""
    regimes = regimes_of(facts, 20)
    lines: list[tuple[Cell, ...]] = [
        (title_of(name), *(_gained(each, name) for each in regimes.values()))
        for name in headline_methods(facts)
    ]
    return Table(
        f"headline-{half}",
        "Share of what the best threshold on the test rows would gain over the model left as it "
        "is, measured by G-mean; in brackets a 95% interval over families.",
        ("Who decides", *regimes),
        (Section("", tuple(lines)),),
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


def curve_table(facts: Facts, half: str) -> Table:
    """Return mean G-mean and share of the gain for every number of rare rows."""
    regimes = regimes_of(facts)
    sections = []
    for what in ("Mean G-mean", "Share of the gain"):
        lines: list[tuple[Cell, ...]] = []
        for name in headline_methods(facts):
            cells: list[Cell] = [
                Number(each["methods"][name]["g_mean"])
                if what == "Mean G-mean"
                else _point(each["shares"].get(name, {}).get("share"))
                for each in regimes.values()
            ]
            lines.append((title_of(name), *cells))
        sections.append(Section(what, tuple(lines)))
    counts = tuple(str(each["counts"]["datasets"]) for each in regimes.values())
    sections.append(Section("How many data sets", (("", *counts),)))
    return Table(
        f"curve-{half}",
        "By the number of rare rows in the training part.",
        ("Who decides", *regimes),
        tuple(sections),
    )


def rank_table(facts: Facts, metrics: Sequence[str], name: str, where: str) -> Table:
    """Return the default and its rivals: mean, average rank, and the default's test against each.

    Parameters
    ----------
    facts : dict
        One regime, with its tests.
    metrics : sequence of str
        Which; the first one gives the order.
    name, where : str
        Of the table, and which regime it tells of.
    """
    ranks = {metric: facts["ranking"][metric]["ranks"] for metric in metrics}
    means = {m: {n: facts["methods"][n][m] for n in facts["panel"]} for m in metrics}
    lines: list[tuple[Cell, ...]] = []
    for each in sorted(facts["panel"], key=lambda each: ranks[metrics[0]][each]):
        cells: list[Cell] = [title_of(each)]
        for metric in metrics:
            cells += [
                marked(means[metric], each, largest=True),
                marked(ranks[metric], each, largest=False, digits=2),
                _holm(facts["against"][metric].get(each)),
            ]
        lines.append(tuple(cells))
    header = ["Who decides"]
    for metric in metrics:
        header += [SHORT[metric], "average rank", _TEST]
    blocks = facts["ranking"][metrics[0]]["blocks"]
    return Table(
        name,
        f"{where}: mean over {blocks} blocks, average rank among {len(facts['panel'])} (1 is "
        "best), and the test of boundshift against each rival, two-sided, after Holm's correction, "
        "by blocks and by families.",
        tuple(header),
        (Section("", tuple(lines)),),
    )


def _holm(found: Facts | None) -> str:
    """Write the tests by blocks and by families."""
    if found is None:
        return ""
    return f"{p_value(found['holm'])}; {p_value(found['holm_by_family'])}"


def marked(values: Mapping[str, float], name: str, *, largest: bool, digits: int = 3) -> Number:
    """Return a number, bold if it is the best of its column."""
    best = (max if largest else min)(values.values())
    return Number(values[name], digits=digits, best=round(values[name] - best, digits + 1) == 0)


def goal_table(facts: Facts, metric: str, name: str, where: str) -> Table:
    """Return the rule for a metric beside the tuned threshold for it and everything else."""
    found = facts["goals"][metric]
    ranks, tests = found["ranking"]["ranks"], found["against"]
    means = {each: facts["methods"][each][metric] for each in ranks}
    title = METRIC_TITLES[metric]
    ours = aiming_at(metric)[0]
    lines: list[tuple[Cell, ...]] = [
        (
            title_of(each),
            marked(means, each, largest=True),
            marked(ranks, each, largest=False, digits=2),
            _holm(tests.get(each)),
            Number(facts["methods"][each]["g_mean"]),
        )
        for each in sorted(ranks, key=lambda each: ranks[each])
    ]
    return Table(
        name,
        f"{where}: mean {title} over {found['ranking']['blocks']} blocks, average rank among "
        f"{len(ranks)}, the test of `{title_of(ours)}` against each, two-sided, after Holm's "
        "correction, and the G-mean that comes with it.",
        ("Who decides", title, "average rank", _TEST, "G-mean"),
        (Section("", tuple(lines)),),
    )


def goal_curve_table(regimes: Mapping[str, Facts], metric: str, name: str) -> Table:
    """Return a metric for every curve under its rule, with fold models and with one model."""
    shown = [n for n in aiming_at(metric) if all(n in f["methods"] for f in regimes.values())]
    columns = [{n: f["methods"][n][metric] for n in shown} for f in regimes.values()]
    lines: list[tuple[Cell, ...]] = [
        (title_of(n), *(marked(column, n, largest=True) for column in columns)) for n in shown
    ]
    return Table(
        name,
        f"Mean {METRIC_TITLES[metric]} of the rule for it on each of the {len(ESTIMATES)} curves "
        "that estimate errors.",
        ("Who decides", *regimes),
        (Section("", tuple(lines)),),
    )


_IN_SHORT = ("untouched", "smote", "balanced-weights", "tuned/f1", "tuned/balanced-accuracy", RIVAL)


def short_table(facts: Facts) -> Table:
    """Return what the first page of the repository says: shares of the gain, and ranks."""
    regimes = regimes_of(facts, 20)
    shown = [name for name in (*_IN_SHORT, facts["default"]) if name in facts["panel"]]
    ranks = {metric: facts["ranking"][metric]["ranks"] for metric in METRIC_TITLES}
    lines: list[tuple[Cell, ...]] = []
    for name in shown:
        gains = [_point(told["shares"][name]["share"]) for told in regimes.values()]
        found = [Number(ranks[metric][name], digits=2) for metric in METRIC_TITLES]
        lines.append((title_of(name), *gains, *found))
    return Table(
        "short",
        "Left: share of what the best threshold on the test rows would gain in G-mean over the "
        "model left as it is, by the number of rare rows to train on. Right: average rank among "
        f"{len(facts['panel'])} methods with all rare rows, 1 is best.",
        (
            "Who decides",
            *(title.removesuffix(" rare rows") for title in regimes),
            *(f"rank by {title}" for title in METRIC_TITLES.values()),
        ),
        (Section("", tuple(lines)),),
    )
