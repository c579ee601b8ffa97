r"""The exact optimum over all levels of slack.

Implements Algorithm 1 of the paper. What differs:

- The optimisation is solved, not searched, and over all slack levels together. A level's loss is
  bounded from below in one vector pass, and only levels that could win are solved.
- The optimum is global. A local optimiser that starts at :math:`\delta_1 \approx 1` starts on an
  end of the constraint, which is a local minimum, and stays there.
- Feasibility is the sign of :math:`C`, not that of a rounding error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundshift.search.runs import cut_runs
from boundshift.support.division import lower_bound, split_space, upper_bound
from boundshift.support.levels import Levels, SupportProblem, SupportSolution
from boundshift.typing import FloatArray, IntArray

__all__ = ["Exact", "best_of"]


# Spans of levels examined together, and those of them solved to improve the best loss.
_FAN = 256
_LIKELY = 16
# Spans that bounds may leave before the scores in them have to be known.
_DOUBTFUL = 4096
_LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class Exact:
    """The global optimum over all levels of slack."""

    name = "exact"
    is_global = True

    def solve(self, problem: SupportProblem) -> SupportSolution | None:
        """Return the global optimum, or None if no level is feasible."""
        return _solve(problem)


def _solve(problem: SupportProblem) -> SupportSolution | None:
    """Return the global optimum over all slack levels, or None if no level is feasible."""
    if problem.settings.stop_at_zero:
        untouched = best_of(problem, np.array([0]), None)
        if untouched is not None:
            return untouched
    starts, lasts = cut_runs(np.array([problem.first_with_gap()]), np.array([problem.last]), _FAN)
    best = best_of(problem, starts, None, problem.pessimistic)
    if np.array_equal(starts, lasts):
        return best_of(problem, starts, None)
    bound = _span_bound(problem, starts, lasts, best)
    while True:
        # A span without a feasible level has an infinite bound.
        alive = bound <= (_LARGEST if best is None else best.loss * (1 + 1e-13))
        starts, lasts = starts[alive], lasts[alive]
        if not np.any(starts < lasts):
            break
        if not problem.exact and len(starts) > _DOUBTFUL:
            # The bounds cannot tell these apart before the scores around them are known.
            break
        starts, lasts = cut_runs(starts, lasts, _FAN)
        bound = _span_bound(problem, starts, lasts, best)
        likely = np.sort(np.argsort(bound)[:_LIKELY])
        best = best_of(problem, starts[likely], best, problem.pessimistic)
    if problem.exact:
        return best_of(problem, starts, best)
    return best_of(problem, np.unique(np.concatenate([starts, lasts])), None)


def _span_bound(
    problem: SupportProblem, starts: IntArray, lasts: IntArray, best: SupportSolution | None
) -> FloatArray:
    """Return a number for each span that the loss of none of its levels falls below."""
    spans = problem.optimistic(starts, lasts)
    bound = np.full(len(starts), np.inf)
    feasible = problem.feasible(spans)
    spans = spans.take(feasible)
    shares = _fine_shares(None if best is None else best.theta)
    bound[feasible] = problem.constant_loss(spans) + lower_bound(
        problem.ratios(spans), problem.weights(spans), shares
    )
    return bound


def _may_be_best(problem: SupportProblem, levels: Levels) -> NDArray[np.bool_]:
    """Return which levels, solved exactly, could be the best of them."""
    k, w, constant = problem.ratios(levels), problem.weights(levels), problem.constant_loss(levels)
    shares = _fine_shares(None)
    most = (constant + upper_bound(k, w, shares)).min()
    return np.asarray(constant + lower_bound(k, w, shares) <= most * (1 + 1e-13))


def _fine_shares(theta: float | None) -> FloatArray:
    """Return shares from 0 to 1, finest around the likely optimum."""
    shares = np.linspace(0.0, 1.0, 17)
    if theta is not None:
        offset = 0.25 * 0.5 ** np.arange(14)
        shares = np.concatenate([shares, theta + offset, theta - offset])
    return np.unique(np.clip(shares, 0.0, 1.0))


def best_of(
    problem: SupportProblem,
    level: IntArray,
    best: SupportSolution | None,
    set_up: Callable[[IntArray], Levels] | None = None,
) -> SupportSolution | None:
    """Return the best solution among some levels and the best so far."""
    levels = (set_up or problem.levels)(level)
    levels = levels.take(problem.feasible(levels))
    if not len(levels.level):
        return best
    if len(levels.level) > _LIKELY:
        levels = levels.take(_may_be_best(problem, levels))
    split = split_space(problem.ratios(levels), problem.weights(levels))
    losses = problem.constant_loss(levels) + split.loss
    i = int(losses.argmin())
    if best is not None and losses[i] >= best.loss:
        return best
    winner = levels.take(np.array([i]))
    foot = winner.edge[0, 0] + problem.settings.constant * winner.step[0, 0]
    return SupportSolution(
        level=winner,
        theta=float(split.theta[i]),
        u=(float(split.u[0, i]), float(split.u[1, i])),
        loss=float(losses[i]),
        threshold=float(foot + split.theta[i] * winner.space[0]),
    )
