"""Tidy rows of the suite: one per data set, model, seed and method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from boundshift.promises.certificate import Certificate, Scores, certify_counts
from lab.data.common import CommonDataset
from lab.harness.fitted import Decision, Sample
from lab.harness.methods import Method
from lab.harness.rows import Outcome, failed_row, judge
from lab.suite.cache import Fit, SuiteCache
from lab.suite.fitted import FittedSplit
from lab.suite.halves import half_of
from lab.suite.models import MODELS
from lab.suite.own_data import OWN

__all__ = ["CONFIDENCE", "SuiteRow", "rows_of_fit"]

CONFIDENCE = 0.95
_NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow(Outcome):
    """What one method gave on one split, beside what every outcome has.

    Parameters
    ----------
    dataset, family, half, model : str
        What was run.
    rare : int
        Minority rows that the training part was thinned to; 0 where all were kept.
    n_minority : int
        Rows of the smaller class in the whole data set.
    auc : float
        Area under the ROC curve of the out-of-fold scores: how far the classes overlap.
    test_negative, test_positive : int
        Test rows of each class.
    claim_negative, claim_positive : float
        Errors as the method's own curve claims them.
    certificate : str
        The certificate's word: "certified" for a decision on rows held out, "nominal" for one on
        training scores that is checked on the same, else "cross-fitted"; empty for models that
        were trained otherwise.
    certified_negative, certified_positive : float
        The certificate's bounds of the errors, each at 95%, whatever its word.
    covered_negative, covered_positive : bool
        Whether the error on the test rows is not above that.
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
    claim_negative: float = _NAN
    claim_positive: float = _NAN
    certificate: str = ""
    certified_negative: float = _NAN
    certified_positive: float = _NAN
    covered_negative: bool = False
    covered_positive: bool = False


def rows_of_fit(
    cache: SuiteCache, fit: Fit, entry: CommonDataset, methods: Sequence[Method]
) -> list[SuiteRow]:
    """Let every method decide on one training, from the cache or made now."""
    run = {
        **fit._asdict(),
        "family": entry.family,
        "half": OWN if fit.dataset in cache.own else half_of(entry.family),
        "n_minority": entry.n_minority,
    }
    try:
        fitted = FittedSplit(cache.make(fit), MODELS[fit.model].kind)
        run["auc"] = area_under_curve(fitted.out_of_fold)
    except Exception as error:
        return [failed_row(SuiteRow, method, error, **run) for method in methods]
    return [judge(SuiteRow, fitted, method, _describe, **run) for method in methods]


def _describe(
    fitted: FittedSplit, method: Method, decision: Decision, metrics: dict[str, float]
) -> dict[str, Any]:
    """Return the columns that only the suite has: sizes, claims, and certificates."""
    y = fitted.raw.y_test
    described = {
        "test_negative": int(np.sum(y == 0)),
        "test_positive": int(np.sum(y == 1)),
        "claim_negative": decision.claims[0],
        "claim_positive": decision.claims[1],
    }
    if not method.post_hoc:
        return described
    found = certify_decision(fitted, method, decision)
    negative, positive = found.error_bounds
    return described | {
        "certificate": found.status,
        "certified_negative": negative,
        "certified_positive": positive,
        # A rate may round to the far side of the same rate.
        "covered_negative": 1 - metrics["recall_negative"] <= negative + 1e-12,
        "covered_positive": 1 - metrics["recall_positive"] <= positive + 1e-12,
    }


def certify_decision(fitted: FittedSplit, method: Method, decision: Decision) -> Certificate:
    """Return what :func:`~boundshift.certify` says of a decision, on the scores at hand.

    Rows held out give a certified claim. A threshold chosen on training scores is checked on these,
    as somebody would who has nothing else, which is nominal. All else is checked out-of-fold.
    """
    scores = _scores_of(method)
    y, s = fitted.sample("fold-models" if method.source == "fold-models" else scores)
    above = s > decision.threshold
    return certify_counts(
        (int(np.sum(above & (y == 0))), int(np.sum(~above & (y == 1)))),
        (int(np.sum(y == 0)), int(np.sum(y == 1))),
        (0, 1),
        confidence=CONFIDENCE,
        chosen_here=not method.fixed,
        scores=scores,
    )


def _scores_of(method: Method) -> Scores:
    """Return the scores that a method's certificate rests on."""
    if method.source == "held-out":
        return "held-out"
    return "training" if method.source == "training" and not method.fixed else "out-of-fold"


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
