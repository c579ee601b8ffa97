"""Tables of the benchmark, from its tidy rows."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from lab.benchmark.methods import METHODS
from lab.benchmark.train import MODELS
from lab.experiment import Tables
from lab.markdown import Cell, Line, p_value, table
from lab.statistics import Paired, compare, holm

REGIMES = {5: "5 rare rows", 10: "10 rare rows", 20: "20 rare rows", 0: "all rare rows"}
HEADLINE = (
    "untouched",
    "tuned/g-mean",
    "tuned-margins/g-mean",
    "best-cut/g-mean",
    "ours",
    "known",
)
PANEL = [name for name, method in METHODS.items() if not method.goal]
GOALS = {"f1": "F1", "mcc": "MCC", "kappa": "Cohen's kappa", "cost": "cost of a row"}
# What a user would turn to instead; each is tested against the default.
RIVALS = ("tuned/g-mean", "tuned-margins/g-mean", "authors/clopper-pearson", "best-cut/g-mean")


def blocks(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean of each number of rare rows, model and family, one column per method."""
    keys = ["rare", "model", "family", "dataset", "seed"]
    wide = rows.pivot(index=keys, columns="method", values=metric)
    return wide.groupby(level=["rare", "model", "family"]).mean()


def by_family(rows: pd.DataFrame, metric: str, rare: int) -> pd.DataFrame:
    """Return one line per family: sets of one family, and models on the same rows, are related."""
    return blocks(rows, metric).loc[rare].groupby(level="family").mean()


def make_tables(rows: pd.DataFrame) -> Tables:
    """Return every table by its name."""
    return {
        "counts": _counts(rows),
        "headline": _means(rows, "g-mean", HEADLINE),
        "means": _means(rows, "g-mean", PANEL),
        "balanced accuracy": _means(rows, "balanced-accuracy", PANEL),
        "models": _models(rows),
        "tests": _tests(rows),
        "tail": _tail(rows),
        **{f"goal {goal}": _goal(rows, goal) for goal in GOALS},
        "failures": _failures(rows),
    }


def _counts(rows: pd.DataFrame) -> str:
    trainings = len(rows) // rows["method"].nunique()
    return (
        f"{rows['family'].nunique()} families, {rows['dataset'].nunique()} data sets, "
        f"{rows['model'].nunique()} models, {rows['seed'].nunique()} splits; "
        f"{trainings:,} trainings."
    )


def _means(rows: pd.DataFrame, metric: str, names: Iterable[str]) -> str:
    means = blocks(rows, metric).groupby(level="rare").mean()
    regimes = [rare for rare in REGIMES if rare in means.index]
    lines: list[Line] = [
        [METHODS[name].title, *(float(means.loc[rare, name]) for rare in regimes)] for name in names
    ]
    return table(" | ".join(["who decides", *(REGIMES[rare] for rare in regimes)]), lines)


def _models(rows: pd.DataFrame) -> str:
    means = blocks(rows, "g-mean").groupby(level=["rare", "model"]).mean()
    lines: list[Line] = [
        [REGIMES[rare], model, *(float(means.loc[(rare, model), name]) for name in HEADLINE)]
        for rare in REGIMES
        for model in MODELS
        if (rare, model) in means.index
    ]
    titles = "untouched | tuned | tuned, margins | best cut | boundshift | known afterwards"
    return table(f"rows | model | {titles}", lines)


def _tests(rows: pd.DataFrame) -> str:
    pairs = {
        (rival, rare): _pair(rows, "g-mean", rare, "ours", rival)
        for rival in RIVALS
        for rare in REGIMES
        if rare in set(rows["rare"])
    }
    adjusted = holm({f"{rival} {rare}": pair.p_value for (rival, rare), pair in pairs.items()})
    lines: list[Line] = [
        [METHODS[rival].title, REGIMES[rare], *_cells(pair, adjusted[f"{rival} {rare}"])]
        for (rival, rare), pair in pairs.items()
    ]
    return table("against | rows | difference | families won, tied, lost | p (Holm)", lines)


def _pair(rows: pd.DataFrame, metric: str, rare: int, ours: str, theirs: str) -> Paired:
    means = by_family(rows, metric, rare)
    return compare(means[ours].to_numpy(), means[theirs].to_numpy())


def _cells(pair: Paired, p: float, sign: float = 1.0) -> list[Cell]:
    difference = sign * pair.difference.mean
    return [f"{difference:+.3f}", f"{pair.wins}, {pair.ties}, {pair.losses}", p_value(p)]


def _tail(rows: pd.DataFrame) -> str:
    keys = ["rare", "model", "family", "dataset", "seed"]
    wide = rows.pivot(index=keys, columns="method", values="g-mean")
    lines: list[Line] = []
    for rare, regime in REGIMES.items():
        if rare not in wide.index.get_level_values("rare"):
            continue
        part = wide.loc[rare]
        ours = part["ours"]
        tuned = part["tuned-margins/g-mean"]
        lines.append(
            [
                regime,
                len(part),
                int(((ours < 0.05) & (tuned >= 0.3)).sum()),
                int(((tuned < 0.05) & (ours >= 0.3)).sum()),
                int((ours < tuned - 0.1).sum()),
                int((tuned < ours - 0.1).sum()),
            ]
        )
    titles = "boundshift below 0.05, tuned at least 0.3 | the reverse"
    return table(f"rows | trainings | {titles} | worse by more than 0.1 | better", lines)


def _goal(rows: pd.DataFrame, goal: str) -> str:
    names = [f"{kind}/{goal}" for kind in ("tuned", "tuned-margins", "best-cut", "ours")]
    sign = -1.0 if goal == "cost" else 1.0
    means = sign * blocks(rows, goal).groupby(level="rare").mean()
    regimes = [rare for rare in REGIMES if rare in means.index]
    pairs = {rare: _pair(rows, goal, rare, names[-1], names[1]) for rare in regimes}
    adjusted = holm({str(rare): pair.p_value for rare, pair in pairs.items()})
    lines: list[Line] = [
        [
            REGIMES[rare],
            *(float(means.loc[rare, name]) for name in names),
            *_cells(pairs[rare], adjusted[str(rare)], sign),
        ]
        for rare in regimes
    ]
    titles = "tuned | tuned, margins | best cut | boundshift"
    tests = "against tuned with margins | families won, tied, lost | p (Holm)"
    return table(f"{GOALS[goal]}: rows | {titles} | {tests}", lines)


def _failures(rows: pd.DataFrame) -> str:
    failed = rows[rows["message"].fillna("") != ""]
    trainings = len(rows) // rows["method"].nunique()
    reason = failed["message"].str.partition(": ")[2].str.partition(",")[0].str.slice(0, 70)
    counts = failed.assign(reason=reason).groupby(["method", "reason"], sort=False).size()
    lines: list[Line] = [
        [METHODS[method].title, reason, f"{count} of {trainings}"]
        for (method, reason), count in counts.items()
    ]
    return table("method | reason | trainings", lines)
