r"""The paper's method: support radii, slack, and the exact optimum over all slack levels.

Per class and level, on the kept points: count :math:`N_i`, mean :math:`\mu_i`, radius
:math:`R_i`. The free space between the classes is :math:`C = D - \sum_i (R_i + c\, a_i)` with
:math:`a_i = \gamma R_i/\sqrt{N_i}`; a level is feasible iff :math:`C \ge 0`, and
:mod:`boundshift.support.division` divides it. The boundary is
:math:`t = \mu_1 + R_1 + c\, a_1 + \theta C`.

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
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.search.runs import cut_runs
from boundshift.scores.sample import ScoreSample
from boundshift.support.windows import Case, Kept, Path, ProportionalPath, SequentialPath, Windows
from boundshift.support.division import lower_bound, split_space

__all__ = ["Levels", "Support", "SupportProblem", "SupportSolution", "best_of", "solve"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Spans of levels examined together, and those of them solved to improve the best loss.
_FAN = 256
_LIKELY = 16
# Spans that bounds may leave before the scores in them have to be known.
_DOUBTFUL = 4096
_LARGEST = np.finfo(np.float64).max
# Free space smaller than this share of the kept points' range is a rounding error around zero.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Support:
    """The paper's family, one member of it.

    Parameters are those of :func:`boundshift.find_boundary`, checked and completed.
    """

    gamma: float = 1.0
    constant: float = 0.0
    radius: Literal["one-sided", "two-sided"] = "one-sided"
    slack: Literal["binary", "continuous"] = "binary"
    penalty: Literal["proportional", "count"] = "proportional"
    alpha: tuple[float, float] = (1.0, 1.0)
    budget: int | float | Literal["all"] = "all"
    class_weight: tuple[float, float] = (1.0, 1.0)
    centre: Literal["median", "mean"] = "median"
    stop_at_zero: bool = False


class Levels(NamedTuple):
    """The optimisation at each of m slack levels; arrays of shape (2, m) or (m,).

    Parameters
    ----------
    level : array of shape (m,)
        Index on the path.
    n, mean, radius : arrays of shape (2, m)
        Of the kept points, in a frame where the other class lies above.
    edge, step : arrays of shape (2, m)
        End of the radius in that frame, and :math:`a_i`.
    space : array of shape (m,)
        Free space :math:`C`.
    penalty : array of shape (m,)
        Price of the points given up.
    distance : array of shape (m,)
        Distance :math:`D` of the means, 0 where the classes are not apart. The means themselves
        are rounded to the scores' digits, their distance is not.
    """

    level: IntArray
    n: FloatArray
    mean: FloatArray
    radius: FloatArray
    edge: FloatArray
    step: FloatArray
    space: FloatArray
    penalty: FloatArray
    distance: FloatArray

    def take(self, index: NDArray[np.bool_] | IntArray) -> Levels:
        """Return some of the levels."""
        return Levels(
            self.level[index],
            self.n[:, index],
            self.mean[:, index],
            self.radius[:, index],
            self.edge[:, index],
            self.step[:, index],
            self.space[index],
            self.penalty[index],
            self.distance[index],
        )


class SupportSolution(NamedTuple):
    """The best level and its division, in the sample's units."""

    level: Levels
    theta: float
    u: tuple[float, float]
    loss: float
    threshold: float


class SupportProblem:
    """The optimisation at every slack level of one sample.

    Parameters
    ----------
    sample : ScoreSample
        Scores with the negative class below the positive one.
    options : Support
        Which member of the family.
    """

    def __init__(self, sample: ScoreSample, options: Support) -> None:
        self.options = options
        self.n_samples = sample.n_samples
        facing = (sample.negative, sample.positive.mirrored())
        self.windows = tuple(Windows(c, options.centre) for c in facing)
        self.exact = all(w.exact for w in self.windows)
        self.path: Path = (
            SequentialPath(sample.n_samples)
            if options.centre == "mean"
            else ProportionalPath(sample.n_samples)
        )
        self.last = self._last_within_budget()
        # Each class is described from its own reference, so that a large offset common to all
        # scores, or an outlier given up, costs no digits.
        self._reference = np.array([[w.reference] for w in self.windows])
        self._apart = float(-self._reference.sum())

    def levels(self, level: IntArray) -> Levels:
        """Set up the optimisation at the given levels, in ascending order."""
        return self.optimistic(level, level)

    def optimistic(self, starts: IntArray, lasts: IntArray) -> Levels:
        """Set up an optimisation no harder than that of any level of each span.

        Windows of a span lie between its first and its last. Dropping the low end and keeping
        the high one makes the largest mean, and so the smallest radius; no gap is wider than the
        last one, no class larger than the first one. At spans of one level this is that level.
        """
        if not self.exact and starts is not lasts:
            return self._in_bounds(starts, lasts)
        outer, inner = self.path.given_up(starts), self.path.given_up(lasts)
        widest = [w.keep(m) for w, m in zip(self.windows, outer, strict=True)]
        kept = widest
        if starts is not lasts:
            kept = [w.keep(m) for w, m in zip(self.windows, inner, strict=True)]
        pairs = list(zip(self.windows, widest, kept, strict=True))
        cases = [
            Case(
                w.offset(b.end - 1),
                w.mean_offset(a.start, b.end),
                w.mean_offset(b.start, a.end),
                w.offset(b.start),
                a.distance_given_up,
            )
            for w, a, b in pairs
        ]
        return self._set_up(starts, outer, cases, _rounding(widest))

    def pessimistic(self, level: IntArray) -> Levels:
        """Set up an optimisation no easier than that of each level."""
        return self._in_bounds(level, None) if not self.exact else self.levels(level)

    def _in_bounds(self, starts: IntArray, lasts: IntArray | None) -> Levels:
        """Set up the best case of spans, or the worst of levels, from what is known for sure."""
        outer = self.path.given_up(starts)
        brackets = [w.bracket(m) for w, m in zip(self.windows, outer, strict=True)]
        pairs = list(zip(self.windows, brackets, strict=True))
        if lasts is None:
            cases = [w.worst_case(b) for w, b in pairs]
        else:
            inner = self.path.given_up(lasts)
            cases = [w.best_case(b, w.bracket(m)) for (w, b), m in zip(pairs, inner, strict=True)]
        return self._set_up(starts, outer, cases, np.zeros(len(starts)))

    def _set_up(
        self, level: IntArray, given_up: IntArray, cases: list[Case], rounding: FloatArray
    ) -> Levels:
        """Set up the optimisation from the two classes at each level."""
        n = np.stack([w.n - m for w, m in zip(self.windows, given_up, strict=True)])
        n = n.astype(np.float64)
        facing, mean, inner_mean, low, distance_given_up = (
            np.stack(both) for both in zip(*cases, strict=True)
        )
        radius = np.maximum(facing - inner_mean, 0.0)
        edge = facing
        if self.options.radius == "two-sided":
            radius = np.maximum(radius, mean - low)
            edge = np.maximum(facing, mean + radius)
        step = self.options.gamma * radius / np.sqrt(n)
        space = self._apart - edge.sum(axis=0) - self.options.constant * step.sum(axis=0)
        distance = self._apart - mean.sum(axis=0)
        distance[distance <= rounding] = 0.0
        # Kept points that are all alike in both classes leave nothing to divide.
        space[(np.abs(space) <= rounding) & (distance > 0)] = 0.0
        mean, edge = self._reference + mean, self._reference + edge
        penalty = self._penalty(given_up, distance_given_up)
        return Levels(level, n, mean, radius, edge, step, space, penalty, distance)

    def feasible(self, levels: Levels) -> NDArray[np.bool_]:
        """Return the levels at which the confidence bounds fit between the classes."""
        return (levels.space >= 0) & (levels.distance > 0)

    def ratios(self, levels: Levels) -> FloatArray:
        """Return the free space in steps of each class, infinite where a radius is zero."""
        k = np.full_like(levels.step, np.inf)
        np.divide(levels.space, levels.step, out=k, where=levels.step > 0)
        return k

    def weights(self, levels: Levels) -> FloatArray:
        """Return the weights of the two confidences in the loss."""
        v = np.array(self.options.class_weight)[:, None]
        return v * levels.n / (levels.n + 1.0)

    def constant_loss(self, levels: Levels) -> FloatArray:
        """Return what the loss holds beside the confidences: Σ 1/(N+1) and the penalty."""
        v = np.array(self.options.class_weight)[:, None]
        constant: FloatArray = (v / (levels.n + 1.0)).sum(axis=0) + levels.penalty
        return constant

    def first_with_gap(self) -> int:
        """Return the first level at which the kept points do not overlap, or one past the last.

        The gap between the kept points only grows, and no radius leaves more space than it.
        """
        low, high = 0, self.last + 1
        while low < high:
            level = np.unique(np.linspace(low, high - 1, _FAN).astype(np.int64))
            overlap = np.count_nonzero(self._overlaps(level))
            low = int(level[overlap - 1]) + 1 if overlap else low
            high = int(level[overlap]) if overlap < len(level) else high
        return low

    def _overlaps(self, level: IntArray) -> NDArray[np.bool_]:
        """Return the levels at which the kept points overlap for sure."""
        given_up = self.path.given_up(level)
        if not self.exact:
            brackets = [w.bracket(m) for w, m in zip(self.windows, given_up, strict=True)]
            cases = [w.best_case(b, b) for w, b in zip(self.windows, brackets, strict=True)]
            return np.asarray(cases[0].facing + cases[1].facing > self._apart)
        kept = [w.keep(m) for w, m in zip(self.windows, given_up, strict=True)]
        return np.asarray(kept[0].high + kept[1].high > _rounding(kept))

    def _penalty(self, given_up: IntArray, distance: FloatArray) -> FloatArray:
        """Return the price of the points given up at each level."""
        amount = given_up.astype(np.float64) if self.options.slack == "binary" else distance
        price = np.array(self.options.alpha)
        if self.options.penalty == "proportional":
            price = price / np.array(self.n_samples)
        return price @ amount

    def _last_within_budget(self) -> int:
        """Return the highest level whose points given up stay within the budget."""
        budget = self.options.budget
        if budget == "all":
            return self.path.last
        most = float(budget)
        if isinstance(budget, float):
            most = np.floor(budget * sum(self.n_samples) * (1 + _ROUNDING))
        low, high = 0, self.path.last
        while low < high:
            middle = (low + high + 1) // 2
            if self.path.given_up(np.array([middle])).sum() <= most:
                low = middle
            else:
                high = middle - 1
        return low


def _rounding(kept: list[Kept]) -> FloatArray:
    """Return the size below which a difference between kept points is a rounding error."""
    below, above = kept
    top = np.maximum(below.high, -above.low)
    return _ROUNDING * (top - np.minimum(below.low, -above.high))


def solve(problem: SupportProblem) -> SupportSolution | None:
    """Return the global optimum over all slack levels, or None if no level is feasible."""
    if problem.options.stop_at_zero:
        untouched = best_of(problem, np.array([0]), None)
        if untouched is not None:
            return untouched
    starts, lasts = cut_runs(np.array([problem.first_with_gap()]), np.array([problem.last]), _FAN)
    best = best_of(problem, starts, None, problem.pessimistic)
    if np.array_equal(starts, lasts):
        return best_of(problem, starts, None)
    while np.any(starts < lasts):
        starts, lasts = cut_runs(starts, lasts, _FAN)
        bound = _span_bound(problem, starts, lasts, best)
        likely = np.sort(np.argsort(bound)[:_LIKELY])
        best = best_of(problem, starts[likely], best, problem.pessimistic)
        # A span without a feasible level has an infinite bound.
        alive = bound <= (_LARGEST if best is None else best.loss * (1 + 1e-13))
        starts, lasts = starts[alive], lasts[alive]
        if not problem.exact and len(starts) > _DOUBTFUL:
            # The bounds cannot tell these apart before the scores around them are known.
            break
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
    split = split_space(problem.ratios(levels), problem.weights(levels))
    losses = problem.constant_loss(levels) + split.loss
    i = int(losses.argmin())
    if best is not None and losses[i] >= best.loss:
        return best
    winner = levels.take(np.array([i]))
    foot = winner.edge[0, 0] + problem.options.constant * winner.step[0, 0]
    return SupportSolution(
        level=winner,
        theta=float(split.theta[i]),
        u=(float(split.u[0, i]), float(split.u[1, i])),
        loss=float(losses[i]),
        threshold=float(foot + split.theta[i] * winner.space[0]),
    )
