"""Everything a report knows before a word is said: `Evidence`, and the rows that judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.curves.uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.promises.certificate import Certificate, Scores
from boundshift.result.boundary import Boundary
from boundshift.scores import ScoreSample
from boundshift.typing import BoolArray, FloatArray
from boundshift.validation import as_row_cost, as_scores, as_weights
from boundshift.words import Names

__all__ = ["Evidence", "JudgedOn", "PairedRows", "RowDetails", "share_interval"]

# Larger cells are resampled by the normal approximation of their sum.
_FEW = 500


class JudgedOn(StrEnum):
    """Which rows judge a boundary: rows used for nothing else, or those that chose it."""

    TEST = "test"
    DECIDING = "deciding"


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
    row_cost : array-like of shape (n_samples,) or (n_samples, 2), default=None
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
        """Return the columns as arrays of n values each; raise if one has another length."""
        probability = None
        if self.probability is not None:
            probability = _column("probability", as_scores(self.probability), n)
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
    column = np.asarray(values)
    if column.shape != (n,):
        raise InvalidInputError(
            f"`{name}` must have one value for each of {n} rows, got the shape {column.shape}. "
            "Pass columns in the order of the rows that judge."
        )
    return column


@dataclass(frozen=True, eq=False)
class PairedRows:
    r"""Labelled rows, decided by an old and by a new threshold.

    Parameters
    ----------
    is_positive : array of bool
        Which rows are positive.
    old, new : array of bool
        Which rows each decision calls positive.
    amount : array of float, default=None
        Weight or cost of each row; None for 1.
    shares : bool, default=True
        Whether amounts are weights, so that an error rate is a weighted mean; if not they are
        costs, and the "rate" is the mean cost of a row of the class.

    Notes
    -----
    Intervals are from a Poisson bootstrap. Rows of one class with the same two decisions form one
    of eight independent cells; the sum of a large cell is drawn from a normal distribution with
    mean :math:`\sum a_i` and variance :math:`\sum a_i^2`.

    Examples
    --------
    >>> truth = np.array([False, False, True, True])
    >>> rows = PairedRows(truth, np.array([0, 0, 0, 0]) > 0, np.array([0, 1, 0, 1]) > 0)
    >>> rows.errors("old"), rows.errors("new")
    ((0.0, 1.0), (0.5, 0.5))
    """

    is_positive: BoolArray
    old: BoolArray
    new: BoolArray
    amount: FloatArray | None = None
    shares: bool = True

    def errors(self, which: str) -> tuple[float, float]:
        """Return both classes' error rates, of the "old" or of the "new" decision."""
        sums = np.array([[[cell.sum()] for cell in row] for row in self._cells()])
        negative, positive = self._rates(sums, which)
        return float(negative[0]), float(positive[0])

    def gain_interval(
        self,
        measure: Callable[[FloatArray, FloatArray], FloatArray],
        confidence: float,
        n_draws: int,
    ) -> tuple[float, float]:
        """Return the bootstrap interval of a measure of both error rates, new minus old."""
        rng = np.random.default_rng(0)
        sums = np.array([[_draw(cell, rng, n_draws) for cell in row] for row in self._cells()])
        gains = measure(*self._rates(sums, "new")) - measure(*self._rates(sums, "old"))
        tail = 50 * (1 - confidence)
        low, high = np.nanpercentile(gains, [tail, 100 - tail])
        return float(low), float(high)

    def _cells(self) -> list[list[FloatArray]]:
        """Return the amounts of each class by the decisions: neither, old, new, both positive."""
        amount = np.ones(len(self.old)) if self.amount is None else self.amount
        kind = self.old + 2 * self.new
        return [
            [amount[(self.is_positive == truth) & (kind == k)] for k in range(4)]
            for truth in (False, True)
        ]

    def _rates(self, sums: FloatArray, which: str) -> tuple[FloatArray, FloatArray]:
        flagged, missed = ([1, 3], [0, 2]) if which == "old" else ([2, 3], [0, 1])
        n = [np.sum(self.is_positive == truth) for truth in (False, True)]
        totals = sums.sum(axis=1) if self.shares else np.array(n, dtype=float)[:, None]
        with np.errstate(invalid="ignore"):  # a draw may leave a class without rows
            wrong = sums[0, flagged].sum(axis=0) / totals[0]
            return wrong, sums[1, missed].sum(axis=0) / totals[1]


def _draw(cell: FloatArray, rng: np.random.Generator, n_draws: int) -> FloatArray:
    if len(cell) <= _FEW:
        return np.asarray(rng.poisson(1.0, (n_draws, len(cell))) @ cell, dtype=np.float64)
    spread = float(np.sqrt(np.sum(cell**2)))
    return np.maximum(rng.normal(float(cell.sum()), spread, n_draws), 0.0)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything a report knows; panels count it, sentences say it.

    Parameters
    ----------
    boundary : Boundary
        What was chosen.
    names : Names
        Of both classes, their rows and the page.
    confidence : float
        Of every claim.
    origin : {"held-out", "out-of-fold", "training"}
        Where the scores of the deciding rows come from.
    judged_on : JudgedOn
        Which rows judge.
    deciding, judging : ScoreSample
        Rows that are drawn, and rows that judge.
    training : ScoreSample or None
        Rows that the model was fitted on.
    old_threshold : float
        The model's own.
    interval : tuple of float or None
        Where the threshold may fall.
    prevalence, weighted_prevalence : float
        Share of positives where decisions are made; for the goal it is by weight.
    shifted, old : Certificate
        At the boundary and at the model's own threshold, on the judging rows.
    rows : PairedRows
        The judging rows, decided at both thresholds.
    scores : array
        Of the judging rows, in the order given.
    details : RowDetails
        Of the judging rows, checked.
    """

    boundary: Boundary
    names: Names
    confidence: float
    origin: Scores
    judged_on: JudgedOn
    deciding: ScoreSample
    judging: ScoreSample
    training: ScoreSample | None
    old_threshold: float
    interval: tuple[float, float] | None
    prevalence: float
    weighted_prevalence: float
    shifted: Certificate
    old: Certificate
    rows: PairedRows
    scores: FloatArray
    details: RowDetails

    @property
    def where(self) -> str:
        """Which rows were counted, in words."""
        on = {JudgedOn.TEST: "test rows", JudgedOn.DECIDING: "rows that chose the threshold"}
        return f"on the {on[self.judged_on]}"


def share_interval(part: int, whole: int, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's two-sided interval of a share."""
    delta = (1 - confidence) / 2
    low = 1.0 - float(clopper_pearson(whole - part, whole, delta))
    return low, float(clopper_pearson(part, whole, delta))
