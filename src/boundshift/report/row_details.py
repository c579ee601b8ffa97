"""What is known of each row that judges a boundary, beside its label and its score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.scores.weighted import as_weights
from boundshift.search.row_costs import as_row_cost
from boundshift.validation import as_scores

__all__ = ["RowDetails"]


@dataclass(frozen=True, eq=False)
class RowDetails:
    """Columns beside label and score, in the order of the rows that judge.

    Parameters
    ----------
    probability : array-like of shape (n_samples,), default=None
        The model's own probability of the positive class, for the calibration.
    groups : mapping from str to array-like, default={}
        Columns whose values divide the rows into groups, such as a region.
    decisions : mapping from str to array-like of bool, default={}
        For methods of the comparison that have no threshold: which rows they call positive.
    row_cost : array-like of shape (n_samples,), default=None
        What is lost if the row is decided wrongly, where the boundary was chosen by that.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts, where it counted so for the boundary.
    column : str, default=None
        What the costs or weights are called.

    Examples
    --------
    >>> RowDetails(groups={"town": ["Bonn", "Rome"]}).check(3)
    Traceback (most recent call last):
        ...
    boundshift.exceptions.InvalidInputError: `groups` must have one value for each of 3 rows, ...
    """

    probability: ArrayLike | None = None
    groups: Mapping[str, Any] = field(default_factory=dict)
    decisions: Mapping[str, ArrayLike] = field(default_factory=dict)
    row_cost: ArrayLike | None = None
    sample_weight: ArrayLike | None = None
    column: str | None = None

    def check(self, n: int) -> RowDetails:
        """Return the columns as arrays of n values each; raise if one has not so many."""
        probability = None
        if self.probability is not None:
            probability = as_scores(self.probability)
            _check_length("probability", probability, n)
            if not np.all((probability >= 0) & (probability <= 1)):
                raise InvalidInputError(
                    "`probability` must lie from 0 to 1, got "
                    f"{probability.min():.6g} to {probability.max():.6g}. Pass predict_proba of "
                    "the positive class."
                )
        if self.row_cost is not None and self.sample_weight is not None:
            raise InvalidInputError(
                "`row_cost` must go without `sample_weight`, got both. Pass what chose the "
                "boundary."
            )
        return RowDetails(
            probability,
            {str(k): _column("groups", v, n) for k, v in self.groups.items()},
            {str(k): _column("decisions", v, n).astype(bool) for k, v in self.decisions.items()},
            None if self.row_cost is None else as_row_cost(self.row_cost, n),
            None if self.sample_weight is None else as_weights(self.sample_weight, n),
            self.column,
        )


def _column(name: str, values: Any, n: int) -> NDArray[Any]:
    """Return a column of any values."""
    column = np.asarray(values)
    _check_length(name, column, n)
    return column


def _check_length(name: str, column: NDArray[Any], n: int) -> None:
    """Raise unless there is a value for each row."""
    if column.shape != (n,):
        raise InvalidInputError(
            f"`{name}` must have one value for each of {n} rows, got the shape {column.shape}. "
            "Pass columns in the order of the rows that judge."
        )
