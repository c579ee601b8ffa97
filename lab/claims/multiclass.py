"""Compare ways to decide between many classes, on real imbalanced data.

Stratified half/half splits. All ways but class weights share one model trained on the first half;
those that learn where to decide do so on its out-of-fold scores, five folds. The second half
judges: macro-recall (mean of the classes' recalls) and G-mean (their geometric mean, 0 if a class
is never found). Ranks are taken per data set and model on means over the splits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split

from boundshift import BoundShiftClassifier
from boundshift._app.comparison import tuned_threshold
from boundshift._typing import FloatArray, IntArray
from boundshift.models._scoring import Response
from lab.baselines import BalancedWeights
from lab.claims.scored import MODELS, SCORED, Halves, score_halves
from lab.data.common import fetch_common, list_common
from lab.experiment import Experiment, Facts, Tables, memory, quiet, rows_in_parallel
from lab.markdown import table
from lab.statistics import average_ranks
from lab.training import fit_quietly

# Seeds 0 to 2 served to find the joint biases; these are fresh.
SEEDS = (3, 4, 5)
KINDS = ("logistic", "boosting", "forest")
LEAST_IMBALANCE, MOST_ROWS = 1.5, 15_000


class Split(NamedTuple):
    """One model's responses, and what it predicts when trained again with class weights."""

    halves: Halves
    weighted: IntArray


@memory.cache  # type: ignore[untyped-decorator]
def score(name: str, kind: str, seed: int) -> tuple[Halves, IntArray]:
    """Train on one half of a data set and score the other."""
    X, y = fetch_common(name)
    X, X_fresh, y, y_fresh = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    halves = score_halves(MODELS[kind](), X, y, (X_fresh, y_fresh))
    weighted = fit_quietly(BalancedWeights(MODELS[kind]()), X, y)
    return halves, weighted.predict(X_fresh)


def ours(**options: Any) -> Callable[[Split], IntArray]:
    """Return a way to decide by the library's classifier."""

    def decide(split: Split) -> IntArray:
        scored = SCORED[split.halves.method](split.halves.fresh_raw.shape[1])
        model = BoundShiftClassifier(scored, cv="prefit", **options)
        with quiet():
            model.fit(split.halves.raw, split.halves.y)
        return np.asarray(model.predict(split.halves.fresh_raw))

    return decide


def in_scores(split: Split) -> tuple[FloatArray, FloatArray]:
    """Return both halves' scores as the classifier sees them."""
    response = Response.learn(split.halves.method, split.halves.raw)
    return response.scores(split.halves.raw), response.scores(split.halves.fresh_raw)


def untouched(split: Split) -> IntArray:
    return np.asarray(split.halves.fresh_raw.argmax(axis=1))


def adjusted(split: Split) -> IntArray:
    """Logit adjustment with τ = 1: scores are logits up to a constant of the row."""
    priors = np.bincount(split.halves.y) / len(split.halves.y)
    return np.asarray((in_scores(split)[1] - np.log(priors)).argmax(axis=1))


def tuned(split: Split) -> IntArray:
    """One threshold per class against the rest, with the best balanced accuracy."""
    train, test = in_scores(split)
    margins = np.zeros_like(test)
    for k in range(test.shape[1]):
        threshold = tuned_threshold(split.halves.y == k, margin(train, k))
        margins[:, k] = margin(test, k) - threshold
    return np.asarray(margins.argmax(axis=1))


def margin(scores: FloatArray, k: int) -> FloatArray:
    """Return log-odds of a class against the rest."""
    rest = np.delete(scores, k, axis=1)
    highest = rest.max(axis=1, keepdims=True)
    return np.asarray(scores[:, k] - highest[:, 0] - np.log(np.exp(rest - highest).sum(axis=1)))


WAYS: dict[str, Callable[[Split], IntArray]] = {
    "joint blend/g-mean (default)": ours(),
    "joint smoothed/g-mean": ours(curve="smoothed"),
    "joint student-t/g-mean": ours(curve="student-t"),
    "pairwise blend/g-mean": ours(multi_class="pairwise"),
    "pairwise smoothed/sum": ours(multi_class="pairwise", curve="smoothed", rule="sum"),
    "pairwise kth-point/sum": ours(multi_class="pairwise", curve="kth-point", rule="sum"),
    "pairwise support/sum": ours(multi_class="pairwise", curve="support"),
    "one-vs-rest blend/g-mean": ours(multi_class="one-vs-rest"),
    "one-vs-rest support/sum": ours(multi_class="one-vs-rest", curve="support"),
    "untouched": untouched,
    "class weights, retrained": lambda split: split.weighted,
    "logit adjustment": adjusted,
    "one-vs-rest tuned thresholds": tuned,
}


OURS = [way for way in WAYS if way.startswith(("pairwise", "one-vs-rest s", "joint"))]


def examine(name: str, kind: str, seed: int) -> list[dict[str, Any]]:
    """Return one row for each way on one split."""
    split = Split(*score(name, kind, seed))
    rows = []
    for way, decide in WAYS.items():
        recalls = recall_score(split.halves.fresh_y, decide(split), average=None, zero_division=0.0)
        facts = {"dataset": name, "model": kind, "seed": seed, "way": way}
        g_mean = float(np.prod(recalls ** (1 / len(recalls))))
        rows.append(facts | {"macro_recall": float(recalls.mean()), "g_mean": g_mean})
    return rows


def names(quick: bool) -> list[str]:
    """List the data sets, larger ones first."""
    if quick:
        return ["newthyroid", "zoo"]
    entries = list_common("multiclass", min_imbalance=LEAST_IMBALANCE)
    small = [e for e in entries if e.n_samples <= MOST_ROWS]
    return [e.name for e in sorted(small, key=lambda e: -e.n_samples * e.n_classes)]


def collect(quick: bool) -> Facts:
    kinds, seeds = (KINDS[:1], SEEDS[:1]) if quick else (KINDS, SEEDS)
    jobs = [(name, kind, seed) for name in names(quick) for kind in kinds for seed in seeds]
    rows = rows_in_parallel(examine, jobs, quick)
    groups = {"all": kinds} | {kind: (kind,) for kind in kinds}
    return {
        "datasets": sorted({row["dataset"] for row in rows}),
        "summary": {group: summarise(rows, members) for group, members in groups.items()},
        "rows": rows,
    }


def summarise(rows: list[dict[str, Any]], kinds: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return means and average ranks of each way over data sets and models."""
    summary: dict[str, dict[str, Any]] = {way: {} for way in WAYS}
    for metric in ("macro_recall", "g_mean"):
        cells: dict[tuple[str, str], dict[str, list[float]]] = {}
        for row in rows:
            if row["model"] in kinds:
                cell = cells.setdefault((row["dataset"], row["model"]), {way: [] for way in WAYS})
                cell[row["way"]].append(row[metric])
        values = np.array([[np.mean(cell[way]) for way in WAYS] for cell in cells.values()])
        for way, mean, rank in zip(
            WAYS, values.mean(axis=0), average_ranks(values).tolist(), strict=True
        ):
            summary[way] |= {metric: float(mean), f"rank_{metric}": rank}
    return summary


def is_met(facts: Facts) -> bool:
    """Say whether one of our ways has the best mean rank by both metrics."""
    summary = facts["summary"]["all"]
    best = [
        min(summary, key=lambda way: summary[way][f"rank_{metric}"])
        for metric in ("macro_recall", "g_mean")
    ]
    return facts["quick"] or all(way in OURS for way in best)


def tables(facts: Facts) -> Tables:
    header = "way | macro-recall | its mean rank | G-mean | its mean rank"
    columns = ("macro_recall", "rank_macro_recall", "g_mean", "rank_g_mean")
    found = {}
    for group, summary in facts["summary"].items():
        ordered = sorted(summary.items(), key=lambda item: item[1]["rank_macro_recall"])
        rows = [[way, *(values[column] for column in columns)] for way, values in ordered]
        found[group] = table(header, rows)
    return found


EXPERIMENT = Experiment(collect, tables, is_met)
