"""What users pass to functions of guarantees: a threshold, and scores of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from boundshift._result.boundary import Boundary
from boundshift._result.rows import Origin
from boundshift._scores import ScoreSample, describe_copies
from boundshift._typing import BoolArray, FloatArray
from boundshift._validation import as_labels, as_real_column, check_finite, find_distinct, is_finite
from boundshift.exceptions import InvalidInputError


def read_threshold(
    threshold: float | Boundary, pos_label: object, y_true: ArrayLike | None = None
) -> tuple[float, object]:
    """Return a threshold as a number, and the positive class; refuse labels it has not seen."""
    if isinstance(threshold, Boundary):
        positive = threshold.labels[1]
        if y_true is not None:
            check_known("y_true", find_distinct(as_labels(y_true)).tolist(), threshold)
        if pos_label is not None and pos_label != positive:
            raise InvalidInputError(
                f"must be that of the boundary, {positive!r}, got {pos_label!r}. "
                "Leave it out, or pass the boundary's threshold as a number.",
                argument="pos_label",
            )
        return threshold.threshold, positive
    if not is_finite(threshold) or isinstance(threshold, bool):
        raise InvalidInputError(
            f"must be a finite number or a Boundary, got {threshold!r}. "
            "Pass what find_boundary returned.",
            argument="threshold",
        )
    return float(threshold), pos_label


def check_known(name: str, labels: Sequence[Any], boundary: Boundary) -> None:
    """Raise if some labels are not those of the boundary."""
    negative, positive = boundary.labels
    other = [label for label in dict.fromkeys(labels) if label not in boundary.labels]
    if other and boundary.names_negative:
        raise InvalidInputError(
            f"must hold the labels of the boundary, {negative!r} and {positive!r}, got "
            f"{', '.join(map(repr, other[:5]))}. Name the classes as the boundary does.",
            argument=name,
        )


def read_scores(name: str, y_score: ArrayLike, n_rows: int | None = None) -> FloatArray:
    """Return finite scores, at least one."""
    remedy = "Pass the decision function or the probability of the positive class."
    scores = as_real_column(name, y_score, remedy, n_rows)
    if not len(scores):
        raise InvalidInputError(
            "must have rows, got none. Pass scores of some rows.", argument=name
        )
    check_finite(scores, name)
    return scores


def find_origin(
    threshold: float | Boundary, scores: FloatArray, is_positive: BoolArray, name: str = "y_score"
) -> Origin | None:
    """Return where rows come from that a boundary knows, None for others; refuse another scale."""
    if not isinstance(threshold, Boundary):
        return None
    threshold._check_scale(scores, is_positive=is_positive, name=name)
    return threshold._find_origin(scores, is_positive)


def refuse_copies(is_positive: BoolArray, *scores: FloatArray) -> None:
    """Raise if rows look like copies of each other by each of their scores."""
    n_copies = min(ScoreSample.from_rows(is_positive, each, (0, 1)).n_copies for each in scores)
    if n_copies > 1:
        raise InvalidInputError(
            f"{describe_copies(n_copies)}, and these would count several times. Pass each row "
            "once, or pass `cluster`."
        )
