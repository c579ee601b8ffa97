"""Tidy rows: one per data set, model, seed and method, failures included."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from boundshift.datasets.common import CommonDataset
from boundshift.metrics import binary_metrics
from boundshift.promises.certificate import Certificate, certify_counts
from lab.suite.cache import Fit, SuiteCache
from lab.suite.decisions import Decision
from lab.suite.fitted import Fitted, Sample
from lab.suite.halves import half_of
from lab.suite.methods import Method
from lab.suite.models import MODELS

__all__ = ["CONFIDENCE", "METRICS", "SuiteRow", "rows_of_fit"]

METRICS = ("g_mean", "f1", "balanced_accuracy", "mcc")
CONFIDENCE = 0.95
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """What one method gave on one split.

    Parameters
    ----------
    dataset, family, half, model, seed, method : str or int
        What was run.
    n_minority : int
        Rows of the smaller class in the whole data set.
    auc : float
        Area under the ROC curve of the out-of-fold scores: how far the classes overlap.
    status : str
        Name of the boundary's status; "DECIDED" for methods without one; "FAILED" for an error,
        which `message` holds.
    solved : bool
        Whether the method had an answer of its own.
    g_mean, f1, balanced_accuracy, mcc, recall_negative, recall_positive : float
        On the test rows.
    test_negative, test_positive : int
        Test rows of each class.
    threshold : float
        Of the scores.
    claim_negative, claim_positive : float
        Errors as the method's own curve claims them.
    certificate : str
        Which scores certify: "held-out" for a decision on these, else "out-of-fold"; empty for
        models that were trained otherwise.
    certified_negative, certified_positive : float
        Errors that are certified not to be exceeded, each at 95%.
    covered_negative, covered_positive : bool
        Whether the error on the test rows is not above that.
    fit_seconds, seconds : float
        All training that the decision needs, and the decision.
    message : str
        The error of a failure.
    """

    dataset: str
    family: str
    half: str
    model: str
    seed: int
    method: str
    n_minority: int
    auc: float = _NAN
    status: str = "FAILED"
    solved: bool = False
    g_mean: float = _NAN
    f1: float = _NAN
    balanced_accuracy: float = _NAN
    mcc: float = _NAN
    recall_negative: float = _NAN
    recall_positive: float = _NAN
    test_negative: int = 0
    test_positive: int = 0
    threshold: float = _NAN
    claim_negative: float = _NAN
    claim_positive: float = _NAN
    certificate: str = ""
    certified_negative: float = _NAN
    certified_positive: float = _NAN
    covered_negative: bool = False
    covered_positive: bool = False
    fit_seconds: float = _NAN
    seconds: float = _NAN
    message: str = ""


def rows_of_fit(
    cache: SuiteCache, fit: Fit, entry: CommonDataset, methods: Sequence[Method]
) -> list[SuiteRow]:
    """Let every method decide on one training, from the cache or made now."""
    run = {
        **fit._asdict(),
        "family": entry.family,
        "half": half_of(entry.family),
        "n_minority": entry.n_minority,
    }
    try:
        fitted = Fitted(cache.make(fit), MODELS[fit.model].kind)
        run["auc"] = area_under_curve(fitted.out_of_fold)
    except Exception as error:
        return list(_failed(methods, error, run))
    return [_row(fitted, method, run) for method in methods]


def _failed(methods: Iterable[Method], error: Exception, run: dict[str, Any]) -> Iterable[SuiteRow]:
    """Yield the rows of methods that raised an error."""
    for method in methods:
        yield SuiteRow(**run, method=method.name, message=f"{type(error).__name__}: {error}")


def _row(fitted: Fitted, method: Method, run: dict[str, Any]) -> SuiteRow:
    """Let one method decide, and judge it by the test rows."""
    start = time.perf_counter()
    try:
        decision = method.decide(fitted)
    except Exception as error:
        return next(iter(_failed([method], error, run)))
    seconds = time.perf_counter() - start
    test = fitted.test(method.source)
    metrics: dict[str, Any] = dict(binary_metrics(test.y, test.s > decision.threshold))
    return SuiteRow(
        **run,
        method=method.name,
        status=decision.status,
        solved=decision.solved,
        **{name: metrics[name] for name in (*METRICS, "recall_negative", "recall_positive")},
        test_negative=int(np.sum(test.y == 0)),
        test_positive=int(np.sum(test.y == 1)),
        threshold=decision.threshold,
        claim_negative=decision.bounds[0],
        claim_positive=decision.bounds[1],
        **_certified(fitted, method, decision, metrics),
        fit_seconds=fitted.training_seconds(method.source),
        seconds=seconds,
    )


def _certified(
    fitted: Fitted, method: Method, decision: Decision, metrics: dict[str, float]
) -> dict[str, Any]:
    """Certify a decision, and compare with the test rows."""
    if method.source not in ("training", "out-of-fold", "held-out"):
        return {}
    found = certify_decision(fitted, method, decision)
    negative, positive = found.error_bounds
    return {
        "certificate": "held-out" if method.source == "held-out" else "out-of-fold",
        "certified_negative": negative,
        "certified_positive": positive,
        # A rate may round to the far side of the same rate.
        "covered_negative": 1 - metrics["recall_negative"] <= negative + 1e-12,
        "covered_positive": 1 - metrics["recall_positive"] <= positive + 1e-12,
    }


def certify_decision(fitted: Fitted, method: Method, decision: Decision) -> Certificate:
    """Certify a decision on rows that its model has not seen.

    A decision on training scores is certified out-of-fold, with the price of a threshold chosen
    there: it was chosen on the same rows, though by other scores of them.
    """
    held = method.source == "held-out"
    y, s = fitted.sample("held-out" if held else "out-of-fold")
    above = s > decision.threshold
    return certify_counts(
        (int(np.sum(above & (y == 0))), int(np.sum(~above & (y == 1)))),
        (int(np.sum(y == 0)), int(np.sum(y == 1))),
        (0, 1),
        confidence=CONFIDENCE,
        chosen_here=not method.fixed,
        scores="held-out" if held else "out-of-fold",
    )


def area_under_curve(sample: Sample) -> float:
    """Return the share of pairs of rows, one of each class, that the scores order rightly.

    Examples
    --------
    >>> area_under_curve(Sample(np.array([0, 0, 1]), np.array([0.1, 0.6, 0.5])))
    0.5
    """
    ranks = rankdata(sample.s)
    positive = int(np.sum(sample.y))
    negative = len(sample.y) - positive
    above = float(np.sum(ranks[sample.y == 1])) - positive * (positive + 1) / 2
    return above / (positive * negative)
