r"""The paper's own optimiser, kept to compare with: SLSQP over one confidence, level by level.

It finds a local minimum. Started near :math:`\delta_1 = 1`, as in the authors' code, it starts
on an end of the constraint and mostly stays there; the exact solver does not depend on a start.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import cast

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.support.equations import Geometry, class_error, loss, loss_gradient
from boundshift.support.exact import best_of
from boundshift.support.levels import Levels, SupportProblem, SupportSolution
from boundshift.validation import as_positive

FloatVector = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["SLSQP"]

# The gradient is infinite where a confidence is exactly 1.
_NEAREST_TO_ONE = 1.0 - 1e-12


@dataclass(frozen=True)
class SLSQP:
    """The paper's local optimiser, about a millisecond a level.

    Parameters
    ----------
    start : float, default=1
        First guess of the negative class's δ, above 0 and at most 1; the authors' is 1.
    """

    name = "slsqp"
    is_global = False

    start: float = 1.0

    def __post_init__(self) -> None:
        number = as_positive("start", self.start, "Use start=1, as the authors do.")
        if number > 1:
            raise InvalidInputError(
                f"`start` must be a confidence in (0, 1], got {self.start!r}. "
                "Use start=1, as the authors do."
            )
        object.__setattr__(self, "start", number)

    def solve(self, problem: SupportProblem) -> SupportSolution | None:
        """Return the best of one local optimisation per slack level, or None."""
        return _solve(problem, self.start)


def _solve(problem: SupportProblem, start: float) -> SupportSolution | None:
    """Return the best of one local optimisation per slack level, or None."""
    best: SupportSolution | None = None
    for index in range(problem.last + 1):
        level = problem.levels(np.array([index]))
        if best is not None and level.penalty[0] >= best.loss:
            break
        if not problem.feasible(level)[0]:
            continue
        found = _solve_level(problem, level, start)
        if best is None or found.loss < best.loss:
            best = found
        if index == 0 and problem.settings.stop_at_zero:
            break
    return best


def _solve_level(problem: SupportProblem, level: Levels, start: float) -> SupportSolution:
    """Minimise the loss over the first confidence at one level."""
    if not np.all(level.step > 0):
        # A class that is a point is sure of itself: nothing is left to optimise.
        return cast(SupportSolution, best_of(problem, level.level, None))
    space = _geometry(problem, level)
    weight = cast(tuple[float, float], problem.settings.class_weight)
    # Below this the other class has no confidence left.
    smallest = float(np.exp(-0.5 * (level.space[0] / level.step[0, 0]) ** 2))
    low = min(max(smallest, np.finfo(float).tiny), _NEAREST_TO_ONE)

    def value(delta: FloatVector) -> float:
        return _loss(delta[0], space, weight)

    def slope(delta: FloatVector) -> FloatVector:
        return np.array([float(loss_gradient(delta[0], space, weight))])

    from scipy.optimize import minimize  # slow to import, and seldom needed

    with warnings.catch_warnings():
        # Up to SciPy 1.15 a step may round to just outside the bounds; SciPy says so and clips it.
        warnings.filterwarnings("ignore", "Values in x were outside bounds", RuntimeWarning)
        result = minimize(
            value,
            x0=np.array([min(max(start, low), _NEAREST_TO_ONE)]),
            jac=slope,
            bounds=[(low, _NEAREST_TO_ONE)],
            method="SLSQP",
        )
    delta1 = float(np.clip(result.x[0], low, _NEAREST_TO_ONE))
    u1 = float(np.sqrt(-2 * np.log(delta1)))
    u2 = max(float((level.space[0] - level.step[0, 0] * u1) / level.step[1, 0]), 0.0)
    reach = problem.settings.constant + u1
    return SupportSolution(
        level=level,
        theta=float(level.step[0, 0] * u1 / level.space[0]) if level.space[0] > 0 else 0.0,
        u=(u1, u2),
        loss=_loss(delta1, space, weight) + float(level.penalty[0]),
        threshold=float(level.edge[0, 0] + level.step[0, 0] * reach),
    )


def _loss(delta1: float, space: Geometry, weight: tuple[float, float]) -> float:
    """Return the loss; a rounding error beyond the end of the constraint counts as the end."""
    value = float(loss(delta1, space, weight))
    at_end = weight[0] * float(class_error(space.n[0], delta1)) + weight[1]
    return at_end if np.isnan(value) else value


def _geometry(problem: SupportProblem, level: Levels) -> Geometry:
    """Hand one level to the paper's equations."""
    first, second = level.radius[:, 0]
    return Geometry(
        n=(int(level.n[0, 0]), int(level.n[1, 0])),
        radius=(float(first), float(second)),
        distance=float(level.distance[0]),
        gamma=problem.settings.gamma,
        constant=problem.settings.constant,
    )
