"""What a threshold rule needs to know: class counts at every distinct score, and costs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.validation import as_positive

__all__ = ["ScoreCounts", "count_scores", "just_below", "resolve_costs"]


@dataclass(frozen=True)
class ScoreCounts:
    """Distinct scores in ascending order, with the number of rows of each class."""

    values: NDArray[np.float64]
    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]

    @property
    def n_negative(self) -> int:
        """Number of negative rows."""
        return int(self.negatives.sum())

    @property
    def n_positive(self) -> int:
        """Number of positive rows."""
        return int(self.positives.sum())

    def false_positives(self) -> NDArray[np.int64]:
        """Negative rows at or above cut k = 0 … n; cut n lies above every score."""
        return np.concatenate([np.cumsum(self.negatives[::-1])[::-1], [0]])

    def false_negatives(self) -> NDArray[np.int64]:
        """Positive rows below cut k = 0 … n."""
        return np.concatenate([[0], np.cumsum(self.positives)])

    def middle_of(self, cut: int) -> float:
        """Middle of the gap below score number `cut`; infinite outside the scores."""
        if cut == 0:
            return -np.inf
        if cut == len(self.values):
            return np.inf
        low, high = self.values[cut - 1], self.values[cut]
        middle = low + (high - low) / 2
        return float(middle if middle < high else low)


def count_scores(y_true: ArrayLike, y_score: ArrayLike) -> ScoreCounts:
    """Check labels and scores and count them; the last label in sorted order is positive."""
    scores, labels = np.asarray(y_score, dtype=np.float64), np.asarray(y_true)
    if scores.ndim != 1 or labels.shape != scores.shape:
        raise InvalidInputError(
            "`y_true` and `y_score` must be one-dimensional and of the same length, got the "
            f"shapes {labels.shape} and {scores.shape}. Pass the positive class's scores only."
        )
    if not np.isfinite(scores).all():
        raise InvalidInputError(
            f"`y_score` must be finite, got {int((~np.isfinite(scores)).sum())} values that are "
            "not. Drop those rows or clip them."
        )
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InvalidInputError(
            f"`y_true` must hold two classes, got {len(classes)}: {classes.tolist()[:5]}."
        )
    values, codes = np.unique(scores, return_inverse=True)
    sizes = np.bincount(codes, minlength=len(values))
    positives = np.bincount(codes[labels == classes[1]], minlength=len(values))
    return ScoreCounts(values, (sizes - positives).astype(np.int64), positives.astype(np.int64))


def just_below(value: float) -> float:
    """Next float below, so that ``score > just_below(value)`` means ``score >= value``."""
    return float(np.nextafter(value, -np.inf))


def resolve_costs(
    counts: ScoreCounts, cost_fp: float | None, cost_fn: float | None
) -> tuple[float, float]:
    """Fill in the paper's costs, which give both classes the same weight.

    A false positive costs the number of positive rows, a false negative that of negative ones.
    """
    costs = (
        counts.n_positive if cost_fp is None else cost_fp,
        counts.n_negative if cost_fn is None else cost_fn,
    )
    for name, cost in zip(("cost_fp", "cost_fn"), costs, strict=True):
        as_positive(name, cost, "Use None for the size of the other class.")
    return costs
