"""Pairs of classes, each with the curve on its score and the boundary that biases give it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._search import ErrorsAt
from boundshift._status import QUIET, Status
from boundshift._typing import BoolArray, FloatArray, IndexArray, Label
from boundshift.curves import ErrorCurve
from boundshift.curves._base import status_of
from boundshift.rules import Rule

# More classes than this are not all compared with each other, but each with so many.
_FEW_CLASSES = 50
_CLOSEST = 6


class Pair(NamedTuple):
    """Two classes with rows, on the score of the second minus that of the first."""

    sample: ScoreSample
    errors: ErrorsAt  # which the curve claims
    status: Status

    def turned(self) -> Pair:
        """Return the same two classes in the other order."""

        def errors(thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
            # A row at a threshold is on the side of the class that comes first.
            first, second = self.errors(np.nextafter(-thresholds, -np.inf))
            return second, first

        return Pair(self.sample.mirrored(), errors, self.status)


Pairs = dict[tuple[int, int], Pair]
"""Pairs by the numbers of their classes."""


def find_pairs(
    y: IndexArray,
    scores: FloatArray,
    names: Sequence[Label],
    curve: ErrorCurve,
    weights: FloatArray | None = None,
) -> Pairs:
    """Return the pairs of classes with rows: all of them, or those hard to tell apart."""
    pairs = {}
    used = np.ones(len(y), dtype=np.bool_) if weights is None else weights > 0
    rows_of = [np.flatnonzero((y == k) & used) for k in range(scores.shape[1])]
    is_compared = _choose_pairs(scores, rows_of)
    for i, j in np.argwhere(np.triu(is_compared, k=1)).tolist():
        rows = np.concatenate([rows_of[i], rows_of[j]])
        difference = scores[rows, j] - scores[rows, i]
        is_decided = ~np.isnan(difference)
        rows = rows[is_decided]
        mine = y[rows] == j
        weight = None if weights is None else weights[rows]
        if 0 < np.count_nonzero(mine) < len(mine):
            labels = names[i], names[j]
            sample = ScoreSample.from_rows(mine, difference[is_decided], labels, weight)
            pairs[i, j] = Pair(sample, curve.errors(sample), status_of(sample))
    return pairs


def _choose_pairs(scores: FloatArray, rows_of: Sequence[IndexArray]) -> BoolArray:
    """Return which classes are compared: all, or of many the closest ones and the largest one.

    Two classes are as far apart as the mean difference of their scores, in standard deviations
    within a class. A bias moves both means of that difference alike.
    """
    n_classes = len(rows_of)
    if n_classes <= _FEW_CLASSES:
        return np.ones((n_classes, n_classes), dtype=np.bool_)
    lead = np.empty((n_classes, n_classes))
    variance = np.empty((n_classes, n_classes))
    for k, rows in enumerate(rows_of):
        ahead = np.ma.masked_invalid(scores[rows, k, np.newaxis] - scores[rows])
        lead[k] = ahead.mean(axis=0).filled(np.nan)
        variance[k] = ahead.var(axis=0).filled(np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = (lead + lead.T) / np.sqrt(variance + variance.T)
    np.fill_diagonal(distance, np.nan)
    closest = np.argsort(distance, axis=1)[:, :_CLOSEST]
    is_compared = np.zeros((n_classes, n_classes), dtype=np.bool_)
    np.put_along_axis(is_compared, closest, values=True, axis=1)
    is_compared[np.argmax([len(rows) for rows in rows_of])] = True
    return is_compared | is_compared.T


def _boundary_at(threshold: float, pair: Pair, curve: ErrorCurve, rule: Rule) -> Boundary:
    """Return the record of a threshold, which need not be the best one for this pair."""
    sample = pair.sample
    status = pair.status
    at = np.array([threshold])
    errors = pair.errors(at)
    wrong = sample.count_wrong(at)
    claimed = (float(errors[0][0]), float(errors[1][0]))
    if curve.delta is not None:  # the rows chose the threshold
        claimed = curve.errors_at_chosen(sample, threshold, rule)
    return Boundary(
        threshold=threshold,
        status=Status.SHARED if status in QUIET else status,
        errors=claimed,
        wrong=(wrong[0][0].item(), wrong[1][0].item()),
        loss=float(rule.value(*errors, sample.n_samples)[0]),
        n_samples=sample.n_samples,
        labels=sample.labels,
        curve=curve,
        rule=rule,
        plateau=(threshold, threshold),
    )


def decide_pairs(
    biases: FloatArray, pairs: Pairs, curve: ErrorCurve, rule_of: Callable[[Label, Label], Rule]
) -> dict[tuple[Label, Label], Boundary]:
    """Return the boundary that biases give each pair of classes, by the rule for this pair."""
    return {
        pair.sample.labels: _boundary_at(
            float(biases[i] - biases[j]), pair, curve, rule_of(*pair.sample.labels)
        )
        for (i, j), pair in pairs.items()
    }
