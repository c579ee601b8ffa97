"""The optimisation problem at every slack level."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boundshift._scores import ScoreSample
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift.curves._paper.slack import Windows, proportional_path, sequential_path

if TYPE_CHECKING:
    from boundshift.curves._paper.curve import SupportRadius

# Free space below this share of the kept points' range is a rounding error around zero.
_ROUNDING = 1e-13
# A threshold keeps this share of the kept scores' range from a score that it must not touch.
_CLEARANCE = 1e-10


class Levels(NamedTuple):
    """The optimisation at m slack levels: arrays of shape (2, m), one row per class, or (m,).

    Each class is in a frame where the other class lies above it.
    """

    level: IntArray  # index on the path
    n: FloatArray  # number of kept points
    low: FloatArray  # smallest kept point
    high: FloatArray
    mean: FloatArray
    radius: FloatArray
    edge: FloatArray  # where the radius ends
    step: FloatArray  # a
    space: FloatArray  # the free space C
    feasible: BoolArray  # whether the confidence bounds fit between the classes
    weight: FloatArray  # of each confidence in the loss
    constant: FloatArray  # loss without the confidences: Σ 1/(N + 1) of (1), and the slack of (12)

    def take(self, index: int | BoolArray) -> Levels:
        """Return some of the levels."""
        return Levels._make(values[..., index] for values in self)

    @property
    def ratio(self) -> FloatArray:
        """Free space in steps of each class, infinite where a radius is zero."""
        ratio = np.full_like(self.step, np.inf)
        return np.asarray(np.divide(self.space, self.step, out=ratio, where=self.step > 0))


class SupportProblem:
    """The optimisation at every slack level of a sample whose negative class lies below."""

    def __init__(self, sample: ScoreSample, settings: SupportRadius) -> None:
        self.settings = settings
        self.n_samples = np.array(sample.n_samples, dtype=np.float64)
        facing = (sample.negative, sample.positive.mirrored())
        self.windows = [Windows(scores, settings.centre) for scores in facing]
        path = sequential_path if settings.centre == "mean" else proportional_path
        self.removed = path(sample.n_samples)
        self.last = self.removed.shape[1] - 1
        if settings.budget != "all":
            most = float(settings.budget)
            if isinstance(settings.budget, float):
                most = np.floor(most * sum(sample.n_samples) * (1 + _ROUNDING))
            self.last = int(np.searchsorted(self.removed.sum(axis=0), most, side="right")) - 1

    def levels(self, level: IntArray) -> Levels:
        """Set up the optimisation at the given levels."""
        settings = self.settings
        removed = self.removed[:, level]
        n = self.n_samples[:, None] - removed
        kept = (window.keep(m) for window, m in zip(self.windows, removed, strict=True))
        low, high, mean, lost = (np.stack(both) for both in zip(*kept, strict=True))
        # Each class is described from its own reference, so that a large offset common to all
        # scores, or an outlier that was removed, costs no digits.
        reference = np.array([[window.reference] for window in self.windows])
        edge = high - reference
        radius = np.maximum(edge - mean, 0.0)
        if settings.radius == "two-sided":
            radius = np.maximum(radius, mean - (low - reference))
            edge = np.maximum(edge, mean + radius)
        step = settings.gamma * radius / np.sqrt(n)
        references_apart = float(-reference.sum())
        space = references_apart - edge.sum(axis=0) - settings.constant * step.sum(axis=0)
        top = np.maximum(high[0], -low[1])
        bottom = np.minimum(low[0], -high[1])
        rounding = _ROUNDING * (top - bottom)
        is_apart = references_apart - mean.sum(axis=0) > rounding
        # If all kept points of each class are equal, nothing is left to divide.
        space[(np.abs(space) <= rounding) & is_apart] = 0.0
        by_class = self.n_samples if settings.penalty == "proportional" else np.ones(2)
        slack = removed.astype(float) if settings.slack == "binary" else lost
        return Levels(
            level=level,
            n=n,
            low=low,
            high=high,
            mean=reference + mean,
            radius=radius,
            edge=reference + edge,
            step=step,
            space=space,
            feasible=(space >= 0) & is_apart,
            weight=n / (n + 1.0),
            constant=(1.0 / (n + 1.0)).sum(axis=0) + (settings.alpha / by_class) @ slack,
        )


def class_error(n: ArrayLike, delta: ArrayLike) -> FloatArray:
    r"""Return the average error of one class, :math:`(1 - \delta)/(N + 1) + \delta` (6)."""
    delta = np.asarray(delta, dtype=float)
    return np.asarray((1.0 - delta) * (1.0 / (np.asarray(n, dtype=float) + 1.0)) + delta)


class Optimum(NamedTuple):
    """The best level, both :math:`u_i`, the loss, and the boundary in the sample's units."""

    level: Levels
    u: tuple[float, float]
    loss: float
    threshold: float


def keep_clear(threshold: float, level: Levels) -> float:
    """Keep a threshold clear of the edges between which it lies.

    At an end of the constraint it falls on a kept score, and a rounding error would decide
    on which side of the boundary that score stands.
    """
    low = float(level.edge[0])
    high = -float(level.edge[1])
    kept_range = float(max(level.high[0], -level.low[1]) - min(level.low[0], -level.high[1]))
    clearance = min(_CLEARANCE * kept_range, (high - low) / 4)
    threshold = min(max(threshold, low + clearance), high - clearance)
    return max(min(threshold, float(np.nextafter(high, -np.inf))), low)
