"""The paper's local optimiser, to compare with the exact solution."""

from __future__ import annotations

import warnings
from typing import cast

import numpy as np
from scipy.optimize import minimize

from boundshift._typing import FloatArray
from boundshift.curves._paper.exact import best_of_levels
from boundshift.curves._paper.levels import Levels, Optimum, SupportProblem, class_error
from lab.reproduction.equations import loss, loss_gradient, u_of_delta

# At a confidence δ of 1 the gradient is infinite.
_LARGEST_DELTA = 1.0 - 1e-12


def solve_locally(problem: SupportProblem) -> Optimum | None:
    r"""Return the best of one local optimisation per slack level, None if none is feasible.

    It minimises the loss over :math:`\delta_1` at each level. Started near 1, as in the authors'
    code, it mostly stays on that end of the constraint.
    """
    best: Optimum | None = None
    for index in range(problem.last + 1):
        level = problem.levels(np.array([index])).take(0)
        if best is not None and level.constant >= best.loss:
            break
        if not level.feasible:
            continue
        optimum = _descend(problem, level)
        if best is None or optimum.loss < best.loss:
            best = optimum
        if index == 0 and problem.settings.stop_at_zero:
            break
    return best


def _descend(problem: SupportProblem, level: Levels) -> Optimum:
    """Minimise the loss over the first confidence at one level."""
    a1, a2 = level.step.tolist()
    n = tuple(level.n.tolist())
    space = float(level.space)
    if min(a1, a2) == 0:
        # A class that is a point is sure of itself: nothing is left to optimise.
        return cast(Optimum, best_of_levels(problem, level.level[None]))
    # Below the smallest δ the other class has no confidence left.
    smallest = max(float(np.exp(-0.5 * (space / a1) ** 2)), np.finfo(float).tiny)
    bounds = (min(smallest, _LARGEST_DELTA), _LARGEST_DELTA)

    def value(delta: FloatArray) -> float:
        inside = float(loss(delta[0], n, (a1, a2), space))
        if np.isnan(inside):  # beyond the end by a rounding error
            return float(class_error(n[0], delta[0])) + 1.0
        return inside

    def slope(delta: FloatArray) -> FloatArray:
        return np.array([float(loss_gradient(delta[0], n, (a1, a2), space))])

    with warnings.catch_warnings():
        # Up to SciPy 1.15 a step may round to just outside the bounds; SciPy says so and clips it.
        warnings.filterwarnings("ignore", "Values in x were outside bounds", RuntimeWarning)
        start = np.array([_LARGEST_DELTA])
        result = minimize(value, x0=start, jac=slope, bounds=[bounds], method="SLSQP")
    u1 = float(u_of_delta(np.clip(result.x[0], *bounds)))
    u2 = max((space - a1 * u1) / a2, 0.0)
    total = float(level.constant + level.weight @ np.exp(-0.5 * np.square([u1, u2])))
    threshold = float(level.edge[0] + a1 * (problem.settings.constant + u1))
    return Optimum(level, (u1, u2), total, threshold)
