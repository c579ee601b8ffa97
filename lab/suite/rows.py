"""Tidy rows of the suite, and blocks by methods out of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from boundshift._typing import FloatArray
from lab.data.common import CommonDataset
from lab.methods import Decision, Method, Outcome, failed_row, judge
from lab.records import ScoreCache
from lab.suite.data import half_of
from lab.suite.train import Fit, FittedSplit, scores_of

_NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow(Outcome):
    """What one method gave on one split, beside what every outcome has.

    `dataset`, `family`, `half` and `model` say what was run; `rare` to how many minority rows the
    training part was thinned, 0 for all; `n_minority` is of the whole set, `auc` the area under
    the ROC curve of the out-of-fold scores. `test_negative` and `test_positive` count test rows.
    """

    dataset: str
    family: str
    half: str
    model: str
    n_minority: int
    rare: int = 0
    auc: float = _NAN
    test_negative: int = 0
    test_positive: int = 0


def rows_of_fit(
    cache: ScoreCache, fit: Fit, entry: CommonDataset, methods: Sequence[Method]
) -> list[SuiteRow]:
    """Let every method decide on one training, from the cache or made now."""
    run = {
        **fit._asdict(),
        "family": entry.family,
        "half": half_of(entry.family),
        "n_minority": entry.n_minority,
    }
    try:
        fitted = scores_of(cache, fit)
        run["auc"] = float(roc_auc_score(*fitted.out_of_fold))
    except Exception as error:
        return [failed_row(SuiteRow, method, error, **run) for method in methods]
    return [judge(SuiteRow, fitted, method, _describe, **run) for method in methods]


def _describe(
    fitted: FittedSplit, method: Method, decision: Decision, metrics: dict[str, float]
) -> dict[str, Any]:
    y = fitted.raw.y_test
    return {"test_negative": int(np.sum(y == 0)), "test_positive": int(np.sum(y == 1))}


Unit = Literal["family and model", "family"]

USELESS = {"g_mean": 0.0, "f1": 0.0, "balanced_accuracy": 0.5, "mcc": 0.0}
"""What a failed method counts as: a classifier that tells the classes apart not at all."""


class FitFacts(NamedTuple):
    """One training."""

    dataset: str
    family: str
    model: str
    seed: int


class Blocks(NamedTuple):
    """A metric of every method in every block."""

    names: list[tuple[str, ...]]
    values: FloatArray


class Results:
    """Tidy rows of a run; every training has the same methods."""

    def __init__(self, rows: Iterable[SuiteRow]) -> None:
        self.rows = list(rows)
        self.methods = list(dict.fromkeys(row.method for row in self.rows))
        names = ("family", "model", "dataset", "seed", "method", "status")
        frame = pd.DataFrame({n: [getattr(r, n) for r in self.rows] for n in (*names, *USELESS)})
        frame.loc[frame["status"] == "FAILED", list(USELESS)] = list(USELESS.values())
        self._values = frame.pivot(
            index=["family", "model", "dataset", "seed"], columns="method", values=list(USELESS)
        )
        fits = frame[frame["method"] == self.methods[0]]
        columns = fits[list(FitFacts._fields)]
        self.fits = [FitFacts(*fit) for fit in columns.itertuples(index=False, name=None)]

    def of(self, method: str) -> list[SuiteRow]:
        """Return the rows of a method."""
        return [row for row in self.rows if row.method == method]

    def blocks(
        self, metric: str, methods: Sequence[str] | None = None, unit: Unit = "family and model"
    ) -> Blocks:
        """Average a metric over seeds, then data sets of a family, then models if asked."""
        means = self._values[metric][list(methods or self.methods)]
        for levels in (["family", "model", "dataset"], ["family", "model"]):
            means = means.groupby(level=levels).mean()
        if unit == "family":
            means = means.groupby(level=["family"]).mean()
        names = [name if isinstance(name, tuple) else (name,) for name in means.index]
        return Blocks(names, means.to_numpy(dtype=np.float64))


UNTOUCHED = "untouched"
CLAIRVOYANT = "clairvoyant"
_RESAMPLES = 2000


def shares_of_gain(results: Results, methods: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return each method's share of the gain in G-mean, with a 95% interval over families.

    The interval is of a bootstrap that draws whole families. A method that deploys another model
    than the untouched one may have more than 1.
    """
    values = results.blocks("g_mean", [UNTOUCHED, CLAIRVOYANT, *methods], "family").values
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(values), size=(_RESAMPLES, len(values)))
    share = _share(values.mean(axis=0))
    low, high = np.quantile(_share(values[drawn].mean(axis=1)), [0.025, 0.975], axis=0)
    return {
        name: {"share": float(share[i]), "low": float(low[i]), "high": float(high[i])}
        for i, name in enumerate(methods)
    }


def _share(means: FloatArray) -> FloatArray:
    """Return shares of the methods behind the first two columns; NaN where nothing is gained."""
    untouched = means[..., :1]
    best = means[..., 1:2]
    gain = np.where(best > untouched, best - untouched, np.nan)
    return np.asarray((means[..., 2:] - untouched) / gain)
