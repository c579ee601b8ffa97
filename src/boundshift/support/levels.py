r"""The paper's problem at every level of slack: support radii and the space left between them.

Per class and level, on the kept points: count :math:`N_i`, mean :math:`\mu_i`, radius
:math:`R_i`. The free space between the classes is :math:`C = D - \sum_i (R_i + c\, a_i)` with
:math:`a_i = \gamma R_i/\sqrt{N_i}`; a level is feasible iff :math:`C \ge 0`, and
:mod:`boundshift.support.division` divides it. The boundary is
:math:`t = \mu_1 + R_1 + c\, a_1 + \theta C`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.scores.sample import ScoreSample
from boundshift.support.settings import SupportSettings
from boundshift.support.windows import Case, Kept, Path, ProportionalPath, SequentialPath, Windows
from boundshift.typing import FloatArray, IntArray

__all__ = ["Levels", "SupportProblem", "SupportSolution"]


# Levels looked at together in the search for the first gap.
_FAN = 256
# Free space smaller than this share of the kept points' range is a rounding error around zero.
_ROUNDING = 1e-13


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
    settings : SupportSettings
        Of the paper's method, resolved for the sample.
    """

    def __init__(self, sample: ScoreSample, settings: SupportSettings) -> None:
        self.settings = settings
        self.n_samples = sample.n_samples
        # A class keeps its centre, and its mirror image takes it over without a pass of its own.
        for c in (sample.negative, sample.positive):
            getattr(c, settings.centre)
        facing = (sample.negative, sample.positive.mirrored())
        self.windows = tuple(Windows(c, settings.centre) for c in facing)
        self.exact = all(w.exact for w in self.windows)
        self.path: Path = (
            SequentialPath(sample.n_samples)
            if settings.centre == "mean"
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
        if starts is lasts:
            outer = self.path.given_up(starts)
            widest = kept = [w.keep(m) for w, m in zip(self.windows, outer, strict=True)]
        else:  # Both ends of all spans at once, in ascending order.
            ends = self.path.given_up(np.stack([starts, lasts], axis=1).ravel())
            both = [w.keep(m) for w, m in zip(self.windows, ends, strict=True)]
            outer = ends[:, ::2]
            widest, kept = [k.every_other(0) for k in both], [k.every_other(1) for k in both]
        cases = [self._best_case(*both) for both in zip(self.windows, widest, kept, strict=True)]
        return self._set_up(starts, outer, cases, _rounding(widest))

    def _best_case(self, windows: Windows, widest: Kept, kept: Kept) -> Case:
        """Return what no window between two can undercut, which may be one and the same."""
        mean = inner_mean = windows.mean_offset(widest.start, kept.end)
        if kept is not widest:
            inner_mean = windows.mean_offset(kept.start, widest.end)
        given_up = np.zeros(len(mean))  # which only continuous slack has a price for
        if self.settings.slack == "continuous":
            given_up = windows.distance_given_up(widest.start, widest.end)
        facing, low = windows.offset(kept.end - 1), windows.offset(kept.start)
        return Case(facing, mean, inner_mean, low, given_up)

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
        if self.settings.radius == "two-sided":
            radius = np.maximum(radius, mean - low)
            edge = np.maximum(facing, mean + radius)
        step = self.settings.gamma * radius / np.sqrt(n)
        space = self._apart - edge.sum(axis=0) - self.settings.constant * step.sum(axis=0)
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
        v = np.array(self.settings.class_weight)[:, None]
        return v * levels.n / (levels.n + 1.0)

    def constant_loss(self, levels: Levels) -> FloatArray:
        """Return what the loss holds beside the confidences: Σ 1/(N+1) and the penalty."""
        v = np.array(self.settings.class_weight)[:, None]
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
        amount = given_up.astype(np.float64) if self.settings.slack == "binary" else distance
        price = np.array(self.settings.alpha)
        if self.settings.penalty == "proportional":
            price = price / np.array(self.n_samples)
        return price @ amount

    def _last_within_budget(self) -> int:
        """Return the highest level whose points given up stay within the budget."""
        budget = self.settings.budget
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
