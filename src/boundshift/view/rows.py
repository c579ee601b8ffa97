"""Labelled scores as the report sees them: two sorted samples and counts on either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.scores.sample import ScoreSample
from boundshift.validation import as_scores, split_by_label

__all__ = ["ScoredRows", "read_rows"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Sorted scores of both classes.

    Parameters
    ----------
    negative, positive : arrays
        Sorted scores.
    labels : tuple
        Labels (negative, positive).
    """

    negative: FloatArray
    positive: FloatArray
    labels: tuple[Any, Any]

    @property
    def n(self) -> tuple[int, int]:
        """Numbers of rows (negative, positive)."""
        return len(self.negative), len(self.positive)

    def wrong(self, threshold: float) -> tuple[int, int]:
        """Return how many rows of each class stand on the wrong side of a threshold."""
        flagged, missed = self.wrong_at(np.array([threshold]))
        return int(flagged[0]), int(missed[0])

    def wrong_at(self, thresholds: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return negatives above and positives at or below each threshold."""
        below = np.searchsorted(self.negative, thresholds, side="right")
        missed = np.searchsorted(self.positive, thresholds, side="right")
        return len(self.negative) - below, missed

    def metrics(self, threshold: float) -> dict[str, float]:
        """Return every binary metric at a threshold."""
        truth = np.repeat([0, 1], self.n)
        above = np.concatenate([self.negative, self.positive]) > threshold
        return binary_metrics(truth, above.astype(np.int64))

    def auc(self) -> float:
        """Return how often a positive row outscores a negative one, ties counted half.

        Examples
        --------
        >>> read_rows([0, 0, 1], [0.0, 2.0, 2.0]).auc()
        0.75
        """
        below = np.searchsorted(self.negative, self.positive, side="left")
        ties = np.searchsorted(self.negative, self.positive, side="right") - below
        return float((below.mean() + ties.mean() / 2) / len(self.negative))

    def best_balanced_error(self) -> float:
        """Return the least mean of both error rates that any threshold has on these rows."""
        cuts = np.unique(np.concatenate([[-np.inf], self.negative, self.positive]))
        flagged, missed = self.wrong_at(cuts)
        errors = flagged / len(self.negative) + missed / len(self.positive)
        return float(errors.min() / 2)


def read_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: object = None,
    *,
    name: str | None = None,
    labels: tuple[Any, Any] | None = None,
) -> ScoredRows:
    """Split and sort labelled scores; errors name the argument that they came with."""
    try:
        negative, positive, found = split_by_label(y_true, as_scores(y_score), pos_label)
        negative.sort()
        positive.sort()
        if not np.isfinite([negative[0], negative[-1], positive[0], positive[-1]]).all():
            ScoreSample.from_labels(y_true, y_score, pos_label)  # says which are not finite
    except InvalidInputError as error:
        raise InvalidInputError(f"`{name}`: {error}" if name else str(error)) from error
    if labels is not None and set(found) != set(labels):
        raise InvalidInputError(
            f"`{name}` must hold the labels {labels[0]!r} and {labels[1]!r}, as the rows that "
            f"chose the boundary do, got {found[0]!r} and {found[1]!r}. "
            "Name the classes alike in both."
        )
    return ScoredRows(negative, positive, found)
