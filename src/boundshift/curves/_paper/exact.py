r"""The exact solution: the best of all slack levels, which solves Algorithm 1.

Two bounds leave few levels to solve. A level costs at least its slack, which never gets cheaper
with the points removed, so a look at some levels shows from which level on no level can win. And
the division of the free space, which takes most of the time, is bounded by a few given shares.
"""

from __future__ import annotations

import numpy as np

from boundshift._typing import IntArray
from boundshift.curves._paper.division import bound_loss, split_space
from boundshift.curves._paper.levels import Levels, Optimum, SupportProblem

# Levels examined together, which bounds the memory.
_CHUNK = 1 << 18
# Levels of a first look.
_FIRST_LOOK = 1 << 9
# Numbers of shares of the free space that bound a level, from a rough bound to a close one.
_SHARES = (2, 9, 65)
# Losses that differ by less than this share are equal up to rounding.
_ROUNDING = 1e-13


def solve(problem: SupportProblem) -> Optimum | None:
    r"""Return the global optimum over all levels of slack, None if no level is feasible.

    It solves Algorithm 1 instead of searching. A local optimiser that starts at
    :math:`\delta_1 \approx 1` starts on an end of the constraint, a local minimum, and stays
    there. Feasibility is the sign of :math:`C`, not that of a rounding error.
    """
    best = best_of_levels(problem, np.array([0]))
    if best is not None and problem.settings.stop_at_zero:
        return best
    last, reached = _look_ahead(problem)
    for first in range(0, last + 1, _CHUNK):
        level = np.arange(first, min(first + _CHUNK, last + 1))
        best = best_of_levels(problem, level, best, reached)
    return best


def best_of_levels(
    problem: SupportProblem,
    level: IntArray,
    best: Optimum | None = None,
    reached: float = np.inf,
) -> Optimum | None:
    """Return the best of some levels and the best so far, None if none of them is feasible.

    `reached` is a loss that is known to be possible at some level.
    """
    levels = problem.levels(level)
    levels = levels.take(levels.feasible & (levels.constant <= reached * (1 + _ROUNDING)))
    if best is not None:
        reached = min(reached, best.loss)
    for n_shares in _SHARES:
        lower, upper = bound_loss(levels.ratio, levels.weight, n_shares)
        reached = min(reached, float((levels.constant + upper).min(initial=np.inf)))
        levels = levels.take(levels.constant + lower <= reached * (1 + _ROUNDING))
    theta, u, variable_loss = split_space(levels.ratio, levels.weight)
    losses = levels.constant + variable_loss
    if not len(losses) or (best is not None and losses.min() >= best.loss):
        return best
    i = int(losses.argmin())
    at = levels.take(i)
    threshold = at.edge[0] + problem.settings.constant * at.step[0] + theta[i] * at.space
    return Optimum(at, (float(u[0, i]), float(u[1, i])), float(losses[i]), float(threshold))


def _look_ahead(problem: SupportProblem) -> tuple[int, float]:
    """Return a level beyond which none can win, and the smallest loss of some levels."""
    n_levels = min(_FIRST_LOOK, problem.last + 1)
    some: Levels = problem.levels(np.linspace(0, problem.last, n_levels).astype(np.intp))
    feasible = some.take(some.feasible)
    losses = feasible.constant + split_space(feasible.ratio, feasible.weight)[2]
    reached = float(losses.min(initial=np.inf))
    too_expensive = some.level[some.constant > reached * (1 + _ROUNDING)]
    return int(too_expensive.min(initial=problem.last)), reached
