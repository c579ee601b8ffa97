"""The paper's local optimiser, to compare with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from boundshift.curves._paper.equations import _u, class_error, loss, loss_gradient
from boundshift.curves._paper.exact import Optimum, _best_of
from boundshift.curves._paper.levels import Levels, SupportProblem


@dataclass(frozen=True)
class SLSQP:
    r"""The paper's local optimiser, about a millisecond per level.

    It minimises the loss over :math:`\delta_1` at each level. Started near 1, as in the authors'
    code, it mostly stays on that end of the constraint; use :class:`Exact` for the optimum.
    """

    name = "slsqp"

    def solve(self, problem: SupportProblem) -> Optimum | None:
        """Return the best of one local optimisation per slack level, or None."""
        best: Optimum | None = None
        for index in range(problem.last + 1):
            level = problem.levels(np.array([index])).take(0)
            if best is not None and level.constant >= best.loss:
                break
            if not level.feasible:
                continue
            found = _descend(problem, level)
            if best is None or found.loss < best.loss:
                best = found
            if index == 0 and problem.settings.stop_at_zero:
                break
        return best


def _descend(problem: SupportProblem, level: Levels) -> Optimum:
    """Minimise the loss over the first confidence at one level, by SLSQP."""
    (a1, a2), space = level.step.tolist(), float(level.space)
    if min(a1, a2) == 0:
        # A class that is a point is sure of itself: nothing is left to optimise.
        return cast(Optimum, _best_of(problem, level.level[None], None))
    given = tuple(level.n.tolist()), (a1, a2), space
    # Below the least δ the other class has no confidence left; at 1 the gradient is infinite.
    high = 1.0 - 1e-12
    low = min(max(float(np.exp(-0.5 * (space / a1) ** 2)), np.finfo(float).tiny), high)

    def value(delta: Any) -> float:
        found = float(loss(delta[0], *given))
        at_end = float(class_error(level.n[0], delta[0])) + 1.0
        return at_end if np.isnan(found) else found  # beyond the end by a rounding error

    def slope(delta: Any) -> Any:
        return np.array([float(loss_gradient(delta[0], *given))])

    from scipy.optimize import minimize  # slow to import, and seldom needed

    with warnings.catch_warnings():
        # Up to SciPy 1.15 a step may round to just outside the bounds; SciPy says so and clips it.
        warnings.filterwarnings("ignore", "Values in x were outside bounds", RuntimeWarning)
        start, bounds = np.array([high]), [(low, high)]
        result = minimize(value, x0=start, jac=slope, bounds=bounds, method="SLSQP")
    u1 = float(_u(np.clip(result.x[0], low, high)))
    u = (u1, max((space - a1 * u1) / a2, 0.0))
    total = float(level.constant + level.weight @ np.exp(-0.5 * np.square(u)))
    threshold = float(level.edge[0] + a1 * (problem.settings.constant + u1))
    return Optimum(level, u, total, threshold)
