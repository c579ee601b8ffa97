"""A column that is no feature: how often each row counts, or what it costs to decide it wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from boundshift.app.workflow.feature_columns import OPTIONS, Role, read_numbers
from boundshift.boundary import check_row_cost, choose_claims
from boundshift.curves import ErrorCurve, SupportRadius
from boundshift.curves.counts import ConfidenceCurve
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule
from boundshift.typing import FloatArray

__all__ = ["RowColumn", "check_beside", "check_weighable"]


_CURES = {
    "weight": "Write how often the row counts",
    "cost": "Write what is lost if the row is decided wrongly",
}


@dataclass(frozen=True)
class RowColumn:
    """A column of numbers beside the features, and what it says of the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> RowColumn("times", "weight").read(pd.DataFrame({"times": [2, 0.5]}))
    array([2. , 0.5])
    """

    name: str
    role: Literal["weight", "cost"]

    @property
    def option(self) -> str:
        """The option that names the column."""
        return OPTIONS[self.role]

    def read(self, frame: Any) -> FloatArray:
        """Return the numbers of the rows; raise unless all are finite, at least 0, not all 0."""
        cure = f"{_CURES[self.role]}, or drop the row."
        values = np.asarray(read_numbers(frame[self.name], self.name), dtype=np.float64)
        lacking = int(np.isnan(values).sum())
        if lacking:
            raise InvalidInputError(
                f"{self.option} must have a number in every row, but column '{self.name}' lacks "
                f"{lacking} of {len(values)}. {cure}"
            )
        bad = values[~(np.isfinite(values) & (values >= 0))]
        if len(bad) or not values.any():
            shown = f"{bad[0]:g}" if len(bad) else "zeros only"
            raise InvalidInputError(
                f"{self.option} must be finite numbers of at least 0, not all of them 0, got "
                f"{shown} in column '{self.name}'. {cure}"
            )
        return values

    def fit_parameters(
        self, estimator: Any, numbers: FloatArray, *, trained: bool
    ) -> dict[str, Any]:
        """Return what the classifier's fit is given; a pipeline's last step takes the weights."""
        if self.role == "cost":
            return {"row_cost": numbers}
        if trained:
            return {"sample_weight": numbers}
        return {f"{estimator.steps[-1][0]}__sample_weight": numbers}

    def of_rows(self, numbers: FloatArray) -> dict[str, Any]:
        """Return what the report knows of the rows that judge."""
        name = "row_cost" if self.role == "cost" else "sample_weight"
        return {name: numbers, "column": self.name}

    def describe(self, trained: bool, losses: tuple[float, float]) -> str:
        """Say where the column counts, and where every row counts once.

        Parameters
        ----------
        trained : bool
            Whether the model came trained.
        losses : pair of float
            Of costs: those of the test rows decided wrongly, by the boundary and by the model's
            own.
        """
        if self.role == "weight":
            where = "the boundary" if trained else "training, in the boundary"
            return (
                f"Weights, column '{self.name}', count in {where} and in the report's goal. What "
                "is certified, the tables and the pictures count every row once: they are about "
                "rows drawn as the table has them, not about rows met as often as their weights "
                "say."
            )
        return (
            f"The boundary is where wrong decisions cost least by column '{self.name}'. On the "
            f"test rows they cost {losses[0]:,.6g}, and {losses[1]:,.6g} at the model's own "
            "threshold. What is certified, the tables and the pictures count every row once."
        )


def check_beside(
    weight: str | None, cost_column: str | None, target: str, roles: Mapping[str, Role]
) -> RowColumn | None:
    """Return the column beside the features, None for none; raise if it is said to be two things.

    Examples
    --------
    >>> check_beside(None, "amount", "ill", {})
    RowColumn(name='amount', role='cost')
    """
    if weight is not None and cost_column is not None:
        raise InvalidInputError(
            f"A row must have a weight or a cost, got '{weight}' as --weight and '{cost_column}' "
            "as --cost-column. Leave one out."
        )
    if weight is None and cost_column is None:
        return None
    if weight is not None:
        beside = RowColumn(weight, "weight")
    else:
        beside = RowColumn(str(cost_column), "cost")
    if beside.name == target or beside.name in roles:
        other = "the target" if beside.name == target else OPTIONS[roles[beside.name]]
        raise InvalidInputError(
            f"A column must be said to be one thing, got '{beside.name}' as {beside.option} and "
            f"as {other}. Leave one out."
        )
    return beside


def check_weighable(
    beside: RowColumn | None,
    estimator: Any,
    curve: str | ErrorCurve | None,
    rule: str | Rule | None,
) -> None:
    """Raise if what is asked of the boundary, or the model to be trained, cannot take the column.

    Parameters
    ----------
    beside : RowColumn or None
        The column; nothing is raised of None.
    estimator : Pipeline or None
        What is to be trained; None if the model came trained.
    curve, rule
        As in :func:`~boundshift.find_boundary`.
    """
    if beside is None:
        return
    if beside.role == "cost":
        check_row_cost(curve, rule, None)
        return
    chosen = choose_claims(curve, rule)[0]
    if isinstance(chosen, ConfidenceCurve | SupportRadius):
        raise InvalidInputError(
            f"{beside.option} must go with a curve that estimates errors, got '{chosen.name}', "
            "which counts rows. Use --curve blend; floors are then estimated, not promised."
        )
    if estimator is not None and not has_fit_parameter(estimator[-1], "sample_weight"):
        raise InvalidInputError(
            f"{beside.option} must go with a model that can be trained on weighted rows, got "
            f"{type(estimator[-1]).__name__}. Use --model logistic, forest or boosting."
        )
