r"""What the authors' program does instead of solving the problem, to explain its tables.

At every slack level it tries 10,000 values of :math:`\delta_1` from 1e-4 to 1, takes the
:math:`\delta_2` that the squared bracket of Eq. delta2_from_delta1 gives, and keeps those whose
constraint comes out as exactly 0.0 in floating point, which rounding decides. Where none is left
it takes 1e-4. A level counts as solvable if the constraint at :math:`\delta_1 = 1` is at most 0,
which rounding decides too. This is a second computation for comparison, written anew; use
:func:`~boundshift.find_boundary`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift._typing import FloatArray

_GRID = np.linspace(1e-4, 1.0, 10_000)


class GridSolution(NamedTuple):
    """What the program settles on; pairs are (negative, positive)."""

    deltas: tuple[float, float]
    slack: tuple[int, int]
    threshold: float
    loss: float


class _Class(NamedTuple):
    """Facts of one class on its kept points."""

    n: int
    mean: float
    radius: float
    penalty: float


class _Ranked:
    """A class and the order in which its points are given up: farthest from its mean first."""

    def __init__(self, scores: FloatArray) -> None:
        self.scores = scores
        self._distance = np.abs(scores - scores.mean())
        self._rank = np.argsort(np.argsort(-self._distance, kind="stable"))

    def without(self, given_up: int, slack: str) -> _Class:
        """Describe the class without its farthest points."""
        # Kept in the order of the rows, since the order changes a sum's last digit.
        kept = self.scores[self._rank >= given_up]
        mean = float(kept.mean())
        cost = given_up
        if slack == "continuous":
            cost = self._distance[self._rank < given_up].sum()
        return _Class(len(kept), mean, float(np.abs(kept - mean).max()), cost / len(self.scores))


def solve_on_grid(
    y_true: NDArray[np.int64],
    y_score: FloatArray,
    *,
    slack: str = "binary",
    processors: int = 32,
) -> GridSolution | None:
    """Return the boundary that the authors' program would choose, None where it finds none.

    Scores are divided by the weight norm, as the authors do. The processors of the machine cut the
    budget; the paper's has 32.
    """
    classes = [_Ranked(y_score[y_true == label]) for label in (0, 1)]
    best: GridSolution | None = None
    budget = _budget(len(y_true) // 2, processors)
    for given_up in _levels(len(classes[0].scores), len(classes[1].scores), budget):
        first, second = (c.without(m, slack) for c, m in zip(classes, given_up, strict=True))
        penalty = first.penalty + second.penalty
        # Both terms only grow with the level.
        if best is not None and penalty + 1 / (first.n + 1) + 1 / (second.n + 1) >= best.loss:
            break
        solution = _solve_level(first, second)
        if solution is None:
            continue
        deltas, loss, threshold = solution
        if best is None or loss + penalty < best.loss:
            best = GridSolution(deltas, given_up, threshold, loss + penalty)
        if given_up == (0, 0):
            break
    return best


def _budget(trials: int, processors: int) -> int:
    """Return the number of levels tried, whole batches only."""
    batch = max(min(100, trials // processors), 1)
    return trials // batch * batch


def _levels(n_negative: int, n_positive: int, budget: int) -> list[tuple[int, int]]:
    """Return the points given up of each class at every level, alternating by class ratio."""
    sizes = (n_negative, n_positive)
    kept = [n_negative, n_positive]
    levels = [(0, 0)]
    while len(levels) < budget:
        before = len(levels)
        for this, other in ((0, 1), (1, 0)):
            while (
                kept[this] > 1
                and kept[this] / kept[other] >= sizes[this] / sizes[other]
                and len(levels) < budget
            ):
                kept[this] -= 1
                levels.append((n_negative - kept[0], n_positive - kept[1]))
        if len(levels) == before:
            break
    return levels


def _reach(side: _Class, delta: FloatArray | float) -> FloatArray:
    """Return the concentration term, in the authors' order of operations."""
    step = side.radius / np.sqrt(side.n)
    return np.asarray(step * (2 + np.sqrt(2 * np.log(1 / np.asarray(delta)))))


def _second_delta(first: _Class, second: _Class, distance: float, delta: FloatArray) -> FloatArray:
    """Return δ₂ from δ₁ by the squared bracket; 0 where it would underflow."""
    room = distance - second.radius - first.radius - _reach(first, delta)
    exponent = 0.5 * np.square(room * np.sqrt(second.n) / second.radius - 2)
    return np.asarray(np.where(exponent > 709, 0.0, 1 / np.exp(np.minimum(exponent, 709))))


def _residual(
    first: _Class, second: _Class, distance: float, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return δ₂ and what the constraint misses at each δ₁; 1 where δ₂ is 0."""
    delta2 = _second_delta(first, second, distance, delta)
    positive = delta2 > 0
    residual = np.ones(len(delta))
    residual[positive] = (
        (first.radius + _reach(first, delta[positive]))
        + (second.radius + _reach(second, delta2[positive]))
        - distance
    )
    return delta2, residual


def _solve_level(first: _Class, second: _Class) -> tuple[tuple[float, float], float, float] | None:
    """Return deltas, loss and boundary at one level, None where it counts as infeasible."""
    distance = abs(first.mean - second.mean)
    if min(first.radius, second.radius) == 0 or first.radius + second.radius > distance:
        return None
    if _residual(first, second, distance, _GRID[-1:])[1][0] > 0:
        return None
    delta2, residual = _residual(first, second, distance, _GRID)
    loss = _error(first, _GRID) + _error(second, delta2)
    chosen = int(np.argmin(np.where(residual != 0, loss.max() + 1, loss)))
    deltas = float(_GRID[chosen]), float(delta2[chosen])
    return deltas, float(loss[chosen]), _meeting_point(first, second, deltas)


def _error(side: _Class, delta: FloatArray) -> FloatArray:
    return np.asarray((1 - delta) * (1 / (side.n + 1)) + delta)


def _meeting_point(first: _Class, second: _Class, deltas: tuple[float, float]) -> float:
    """Return the middle between both ends, which agree where the constraint holds."""
    low, high = (first, second) if first.mean < second.mean else (second, first)
    by_low, by_high = deltas if first.mean < second.mean else deltas[::-1]
    below = low.mean + low.radius + float(_reach(low, by_low))
    above = high.mean - high.radius - float(_reach(high, max(by_high, 1e-308)))
    return (below + above) / 2
