"""The exact solution over all slack levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from boundshift._typing import IntArray
from boundshift.curves._paper.division import bound_loss, split_space
from boundshift.curves._paper.levels import Levels, SupportProblem

Pair = tuple[float, float]

# Levels examined together, which bounds the memory.
_CHUNK = 1 << 18


class Optimum(NamedTuple):
    """The best level, both :math:`u_i`, the loss, and the boundary in the sample's units."""

    level: Levels
    u: Pair
    loss: float
    threshold: float


@dataclass(frozen=True)
class Exact:
    r"""The global optimum over all levels of slack.

    It solves Algorithm 1 instead of searching. A local optimiser that starts at
    :math:`\delta_1 \approx 1` starts on an end of the constraint, a local minimum, and stays
    there. Feasibility is the sign of :math:`C`, not that of a rounding error.
    """

    name = "exact"

    def solve(self, problem: SupportProblem) -> Optimum | None:
        """Return the global optimum, or None if no level is feasible."""
        best = _best_of(problem, np.array([0]), None)
        if best is None or not problem.settings.stop_at_zero:
            for first in range(0, problem.last + 1, _CHUNK):
                levels = np.arange(first, min(first + _CHUNK, problem.last + 1))
                best = _best_of(problem, levels, best)
        return best


def _best_of(problem: SupportProblem, level: IntArray, best: Optimum | None) -> Optimum | None:
    """Return the best of some levels and the best so far; bounds leave few levels to solve."""
    levels = problem.levels(level)
    levels = levels.take(levels.feasible)
    least = np.inf if best is None else best.loss
    for n_shares in (2, 9, 65):
        lower, upper = bound_loss(levels.ratio, levels.weight, n_shares)
        least = min(least, float((levels.constant + upper).min(initial=np.inf)))
        levels = levels.take(levels.constant + lower <= least * (1 + 1e-13))
    theta, u, losses = split_space(levels.ratio, levels.weight)
    losses = levels.constant + losses
    if not len(losses) or (best is not None and losses.min() >= best.loss):
        return best
    i = int(losses.argmin())
    at = levels.take(i)
    threshold = at.edge[0] + problem.settings.constant * at.step[0] + theta[i] * at.space
    return Optimum(at, (float(u[0, i]), float(u[1, i])), float(losses[i]), float(threshold))
