"""Whether a shift helps rows that did not choose it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.models.log_odds import find_winner
from boundshift.rules import Rule
from boundshift.scores.weighted import LEAST_WEIGHT
from boundshift.typing import FloatArray, IndexArray

__all__ = ["STANDARD_ERRORS", "shift_loses"]


# By how many standard errors the model's own boundary must be better to stay.
STANDARD_ERRORS = 2.0


def shift_loses(
    y: IndexArray,
    scores: FloatArray,
    parts: IndexArray,
    choose: Callable[..., Any],
    rule: Rule,
    weights: FloatArray | None = None,
) -> bool:
    """Return whether the model's own boundary is better on rows left out of the choice.

    The shift is chosen on all parts but one and judged on that one, part after part. It loses if
    the mean of the classes' recalls falls by more than two standard errors, so that chance alone
    seldom says so, and the rule, of two classes, finds it worse too. A class with few rows has a
    large standard error even where none of them changed sides.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class numbers.
    scores : array of shape (n_samples,) or (n_samples, n_classes)
        Log-odds or margins, whose own boundary is at zero.
    parts : array of shape (n_samples,)
        Numbers of the parts.
    choose : callable
        Gives the threshold, or one bias per class, for (y, scores), and weights if there are any.
    rule : Rule
        One that treats classes alike.
    weights : array of shape (n_samples,), default=None
        How often each row counts; None for once.

    References
    ----------
    A. Agresti, Y. Min, "Simple improved confidence intervals for comparing matched proportions",
    Statistics in Medicine 24, 2005.
    """
    present = np.flatnonzero(np.bincount(y))
    shifted = np.full(len(y), -1)
    for part in np.flatnonzero(np.bincount(parts)):
        out = parts == part
        kept = () if weights is None else (weights[~out],)
        if all(_has_rows(y[~out] == k, *kept) for k in present):
            chosen = choose(y[~out], scores[~out], *kept)
            shifted[out] = find_winner(_shift(scores[out], chosen))
    judged = shifted >= 0
    times = np.ones(len(y)) if weights is None else weights
    y, times, shifted = y[judged], times[judged], shifted[judged]
    own = find_winner(_fill(scores[judged]))
    change, variance, errors = 0.0, 0.0, []
    for k in present:
        of_class = y == k
        if not of_class.any():
            return False
        gain, counts = (shifted == k)[of_class].astype(int) - (own == k)[of_class], times[of_class]
        gained, lost = counts[gain > 0].sum(), counts[gain < 0].sum()
        mean, spread = _change_of_recall(gained, lost, counts.sum())
        change += mean / len(present)
        variance += spread / len(present) ** 2
        errors.append(
            [np.average((answer != k)[of_class], weights=counts) for answer in (shifted, own)]
        )
    if not change < -STANDARD_ERRORS * np.sqrt(variance):
        return False
    if len(present) > 2:
        return True
    sizes = (float(times[y == present[0]].sum()), float(times[y == present[1]].sum()))
    with_shift, without = rule.value(np.array(errors[0]), np.array(errors[1]), sizes)
    return bool(with_shift > without)


def _has_rows(of_class: NDArray[np.bool_], weights: FloatArray | None = None) -> bool:
    """Return whether there is a row of a class, or as much weight as weights must sum to."""
    return bool(of_class.any() if weights is None else weights[of_class].sum() >= LEAST_WEIGHT)


def _change_of_recall(gained: float, lost: float, rows: float) -> tuple[float, float]:
    """Return the change of a class's recall and its variance, after Agresti and Min.

    Half a row is added to each of the four ways in which a row may fare under two boundaries. With
    the plain variance, a rare class of which no row changed sides would count as known not to gain,
    however few its rows are.
    """
    n = rows + 2
    mean = (gained - lost) / n
    return mean, (gained + lost + 1 - n * mean**2) / n**2


def _fill(scores: FloatArray) -> FloatArray:
    """Let no model choose a class that it did not know."""
    return scores if scores.ndim == 1 else np.nan_to_num(scores, nan=-np.inf)


def _shift(scores: FloatArray, chosen: Any) -> FloatArray:
    return np.asarray(scores - chosen if scores.ndim == 1 else _fill(scores) + chosen)
