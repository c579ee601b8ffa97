"""A class's claim by levels of points given up, and which levels can decide.

Where scores are read in passes, most levels are known in bounds only. A boundary can be the best
one only where the rule at the least claims does not exceed the rule at the largest ones somewhere
else; and a level decides only if its least claim there is no more than the largest claim of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundshift.support.settings import SupportSettings
from boundshift.support.windows import Case, Windows
from boundshift.typing import FloatArray, IntArray

__all__ = ["BoundedClaims", "Claims", "deciding_boundaries"]

# Boundaries looked at in a round, and most rounds, each of them closer around the best.
_PLACES, _ROUNDS = 257, 6
# A round that leaves more than this share of the range is the last.
_ENOUGH = 0.5
# Claims closer than this are told apart by their scores only.
_ROUNDING = 1e-9

Value = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Claims:
    """What each level claims about the share of a class above a boundary.

    Parameters
    ----------
    foot : array of shape (m,)
        Boundary below which a level claims nothing.
    step : array of shape (m,)
        Distance over which its claim falls.
    floor, weight : arrays of shape (m,)
        What it claims far above its foot, and how much more at it.
    """

    foot: FloatArray
    step: FloatArray
    floor: FloatArray
    weight: FloatArray

    @classmethod
    def of(
        cls,
        settings: SupportSettings,
        n: int,
        given_up: IntArray,
        edge: FloatArray,
        radius: FloatArray,
    ) -> Claims:
        """Return the claims of levels, given how far each class reaches, and its radius."""
        kept = (n - given_up).astype(np.float64)
        step = settings.gamma * radius / np.sqrt(kept)
        foot = edge + settings.constant * step
        return cls(foot, step, given_up / n + 1 / (kept + 1), kept / (kept + 1))

    def at(self, t: FloatArray) -> FloatArray:
        """Return what each level claims at each boundary, shape (len(t), m)."""
        distance = np.asarray(t, dtype=np.float64)[:, None] - self.foot
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            delta = np.exp(-0.5 * (distance / self.step) ** 2)
        # A class of radius zero is certain as soon as the boundary has passed it.
        delta = np.where(self.step == 0, 0.0, delta)
        return np.where(distance >= 0, np.minimum(self.floor + self.weight * delta, 1.0), 1.0)

    def least(self, t: FloatArray) -> FloatArray:
        """Return the least claim of all levels at each boundary."""
        return np.asarray(self.at(t).min(axis=1))

    def replaced(self, which: NDArray[np.bool_], by: Claims) -> Claims:
        """Return the claims with those of some levels replaced."""
        parts = []
        for name in ("foot", "step", "floor", "weight"):
            values = getattr(self, name).copy()
            values[which] = getattr(by, name)
            parts.append(values)
        return Claims(*parts)


@dataclass(frozen=True, eq=False)
class BoundedClaims:
    """The claims of one class, no smaller than `least` and no larger than `most`."""

    least: Claims
    most: Claims

    @classmethod
    def of(cls, settings: SupportSettings, windows: Windows, given_up: IntArray) -> BoundedClaims:
        """Return the bounds of levels from what is known for sure, asking for no score."""
        bracket = windows.bracket(given_up)
        cases = windows.best_case(bracket, bracket), windows.worst_case(bracket)
        ends = [
            Claims.of(settings, windows.n, given_up, *_reach(settings, windows.reference, case))
            for case in cases
        ]
        return cls(*ends)

    def deciding(self, t: FloatArray) -> NDArray[np.bool_]:
        """Return the levels that may have the least claim between some boundaries, ascending."""
        most = self.most.least(t)[:-1, None] + _ROUNDING
        return np.asarray((self.least.at(t)[1:] <= most).any(axis=0))


def _reach(
    settings: SupportSettings, reference: float, case: Case
) -> tuple[FloatArray, FloatArray]:
    """Return how far a class reaches towards the other, and its radius."""
    radius = np.maximum(case.facing - case.inner_mean, 0.0)
    edge = case.facing
    if settings.radius == "two-sided":
        radius = np.maximum(radius, case.mean - case.low)
        edge = np.maximum(edge, case.mean + radius)
    return reference + edge, radius


def deciding_boundaries(
    claims: tuple[BoundedClaims, BoundedClaims],
    value: Value,
    ends: tuple[float, float],
    allowed: float,
) -> FloatArray | None:
    """Return ascending boundaries, between which all lie that may be the best or nearly so.

    Parameters
    ----------
    claims : pair of BoundedClaims
        Of the negative class, and of the mirrored positive one.
    value : callable
        The rule, from the claims of both classes; it grows with either.
    ends : pair of float
        Where to look.
    allowed : float
        By how much the best value may be missed.

    Returns
    -------
    array, or None if the best boundary may lie beyond the ends.
    """
    negative, positive = claims
    t, best = np.linspace(*ends, _PLACES), np.inf
    for _ in range(_ROUNDS):
        most = value(negative.most.least(t), positive.most.least(-t))
        best = min(best, float(most.min()))
        least = value(negative.least.least(t)[1:], positive.least.least(-t)[:-1])
        alive = np.flatnonzero(least <= best + allowed + _ROUNDING * max(abs(best), 1.0))
        if not len(alive):
            return None
        low, high = float(t[alive[0]]), float(t[alive[-1] + 1])
        if low <= ends[0] or high >= ends[1]:
            return None
        is_enough = high - low > _ENOUGH * (t[-1] - t[0])
        t = np.linspace(low, high, _PLACES)
        if is_enough:
            break
    return t
