"""Rows that two decisions are made about, and how far the two may differ by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from boundshift.typing import BoolArray, FloatArray

__all__ = ["PairedRows"]


# Up to so many rows alike, each is drawn by itself; the sum of more is normal.
_FEW = 500


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
        What each row counts; None for 1.
    shares : bool, default=True
        Whether amounts are weights, so that an error rate is the weight that is wrong over the
        weight of the class; if not they are costs, and it is what a row of the class costs.

    Notes
    -----
    For an interval, rows are drawn anew: each counts as often as a Poisson number of mean 1 says.
    Rows of one class about which both decide alike form one of eight cells, whose sums are
    independent of each other; the sum of a large cell is drawn from a normal distribution with
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
        """Return where a measure of both error rates, new minus old, lies when rows are redrawn."""
        rng = np.random.default_rng(0)
        sums = np.array([[_draw(cell, rng, n_draws) for cell in row] for row in self._cells()])
        gains = measure(*self._rates(sums, "new")) - measure(*self._rates(sums, "old"))
        tail = 50 * (1 - confidence)
        low, high = np.nanpercentile(gains, [tail, 100 - tail])
        return float(low), float(high)

    def _cells(self) -> list[list[FloatArray]]:
        """Return the amounts of each class's rows, by both decisions: alike, old, new, both."""
        amount = np.ones(len(self.old)) if self.amount is None else self.amount
        kind = self.old + 2 * self.new
        return [
            [amount[(self.is_positive == truth) & (kind == k)] for k in range(4)]
            for truth in (False, True)
        ]

    def _rates(self, sums: FloatArray, which: str) -> tuple[FloatArray, FloatArray]:
        """Return both error rates from the sums of all cells, one for each draw."""
        flagged = [1, 3] if which == "old" else [2, 3]
        missed = [k for k in range(4) if k not in flagged]
        n = [np.sum(self.is_positive == truth) for truth in (False, True)]
        totals = sums.sum(axis=1) if self.shares else np.array(n, dtype=float)[:, None]
        with np.errstate(invalid="ignore"):  # a draw may leave a class without rows
            wrong = sums[0, flagged].sum(axis=0) / totals[0]
            return wrong, sums[1, missed].sum(axis=0) / totals[1]


def _draw(cell: FloatArray, rng: np.random.Generator, n_draws: int) -> FloatArray:
    """Return sums of a cell's rows, each drawn as often as a Poisson number says."""
    if len(cell) <= _FEW:
        return np.asarray(rng.poisson(1.0, (n_draws, len(cell))) @ cell, dtype=np.float64)
    spread = float(np.sqrt(np.sum(cell**2)))
    return np.maximum(rng.normal(float(cell.sum()), spread, n_draws), 0.0)
