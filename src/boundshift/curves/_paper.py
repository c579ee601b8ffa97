r"""The paper: its equations, slack levels, exact solution, SLSQP, and its curve.

M. Clifford, J. Erskine, A. Hepburn, R. Santos-Rodríguez, D. Garcia-Garcia, "Learning Confidence
Bounds for Classification with Imbalanced Data", ECAI 2024. Numbers in brackets are those of its
equations; ``docs/equations.md`` shows each as printed and as computed here, with the reason where
they differ. Class 1 of the paper is the negative class, class 2 the positive one.

A slack level removes some points of each class. On the kept points class :math:`i` has the count
:math:`N_i`, the mean :math:`\mu_i` and the radius :math:`R_i`. With :math:`a_i = \gamma
R_i/\sqrt{N_i}` and :math:`u_i = \sqrt{2 \ln 1/\delta_i}` its confidence radius (5) is
:math:`R_i + a_i (c + u_i)`, and the constraint (7), that both confidence radii fill the distance
:math:`D` of the means, is linear:

.. math:: a_1 u_1 + a_2 u_2 = C, \qquad C = D - \sum_i (R_i + c\, a_i).

A level is feasible iff :math:`C \ge 0`. The negative class gets a share :math:`\theta` of the free
space :math:`C`. The boundary (11) is :math:`t = \mu_1 + R_1 + c\, a_1 + \theta C`. The loss
(6, 12) is

.. math:: \sum_i \left( \frac{1 - \delta_i}{N_i + 1} + \delta_i \right) + \text{price of the slack}.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from boundshift._scores import Scores, ScoreSample, refuse_weights
from boundshift._search import ErrorsAt, Found
from boundshift._status import Status
from boundshift._typing import FloatArray, IntArray
from boundshift._validation import as_choice, as_pair, as_positive, is_finite
from boundshift.curves._base import Claim, PairCurve, Solution, Tail
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule, Sum
from boundshift.rules._base import changed_repr

Pair = tuple[float, float]
Array = NDArray[Any]
FloatVector = np.ndarray[tuple[int], np.dtype[np.float64]]

# Two distances that differ by less than this share of themselves, or of the class's middle half,
# count as equal, so that rescaled scores lose the same points.
_TIE = 1e-13
# Free space below this share of the kept points' range is a rounding error around zero.
_ROUNDING = 1e-13
# A threshold keeps this share of the kept scores' range from a score that it must not touch.
_CLEARANCE = 1e-10
# Rows of a class that are collected from data read in passes: every row has a rank.
_MOST_ROWS = 10_000_000
# Levels examined together, which bounds the memory.
_CHUNK = 1 << 18
# Slack levels of one class on the curve for rules other than the sum.
_CURVE_LEVELS = 512


# --- Equations of one level, as SLSQP needs them --------------------------------------------------


def class_error(n: ArrayLike, delta: ArrayLike) -> Array:
    r"""Return the average error of one class, :math:`(1 - \delta)/(N + 1) + \delta` (6)."""
    delta = np.asarray(delta, dtype=float)
    error: Array = (1.0 - delta) * (1.0 / (np.asarray(n, dtype=float) + 1.0)) + delta
    return error


def delta2_from_delta1(delta1: ArrayLike, step: Pair, space: float) -> Array:
    r"""Return the confidence left for class 2 (8), NaN where there is none.

    The printed equation squares :math:`u_2 = (C - a_1 u_1)/a_2`. It returns a number even where
    :math:`u_2` is negative and the constraint cannot be met.
    `step` holds :math:`a_1, a_2`, and `space` is :math:`C`.
    """
    u2 = (space - step[0] * _u(delta1)) / step[1]
    return np.where(u2 >= 0, np.exp(-0.5 * u2 * u2), np.nan)


def delta2_gradient(delta1: ArrayLike, step: Pair, space: float) -> Array:
    r"""Return the derivative of :math:`\delta_2` with respect to :math:`\delta_1` (10), corrected.

    .. math:: -u_2 \, \frac{a_1}{a_2} \, \frac{\delta_2}{u_1 \delta_1}.

    The printed bracket has :math:`N_1, R_1` in the place of :math:`N_2, R_2` and lacks
    :math:`R_1/R_2`; finite differences refute it.
    """
    a1, a2 = step
    u1 = _u(delta1)
    u2 = (space - a1 * u1) / a2
    slope: Array = -u2 * a1 / a2 * np.exp(-0.5 * u2 * u2) / (u1 * np.asarray(delta1, dtype=float))
    return slope


def loss(
    delta1: ArrayLike, n: Pair, step: Pair, space: float, class_weight: Pair = (1.0, 1.0)
) -> Array:
    """Return the sum of both classes' average errors on the constraint (6, 7)."""
    deltas = (delta1, delta2_from_delta1(delta1, step, space))
    first, second = (v * class_error(k, d) for v, k, d in zip(class_weight, n, deltas, strict=True))
    return first + second


def loss_gradient(
    delta1: ArrayLike, n: Pair, step: Pair, space: float, class_weight: Pair = (1.0, 1.0)
) -> Array:
    r"""Return the derivative of the loss with respect to :math:`\delta_1` (9)."""
    first, second = (v * k / (k + 1.0) for v, k in zip(class_weight, n, strict=True))
    return first + second * delta2_gradient(delta1, step, space)


def _u(delta: ArrayLike) -> Array:
    u: Array = np.sqrt(-2.0 * np.log(np.asarray(delta, dtype=float)))
    return u


# --- Slack: which points are removed, and what is kept --------------------------------------------


class Windows:
    """One class whose points are removed one by one, the farthest from its centre first.

    The kept points are a window of the sorted scores. The other class lies above. Of two points
    equally far the higher one, which faces the other class, is removed first.
    """

    def __init__(self, scores: Scores, centre: Literal["median", "mean"]) -> None:
        n = self.n = scores.n
        if n > _MOST_ROWS and not scores.exact:
            raise InvalidInputError(
                f"`curve` must not be the paper's where more than {_MOST_ROWS:,} rows of a class "
                f"are read in passes, got {n:,}. Use 'blend', or a sample of the rows."
            )
        self.values = values = scores.at(np.arange(n))
        # Offsets from a score in the middle keep their digits, however large the scores are.
        about = scores.mean if centre == "mean" else scores.median
        self.reference = float(values[np.abs(values - about).argmin()])
        offset = values - self.reference
        low, high = offset[(n - 1) // 2], offset[n // 2]
        from_centre = offset - (offset.mean() if centre == "mean" else low + (high - low) / 2)
        first_high = int(np.searchsorted(from_centre, 0.0))
        inward = np.concatenate([np.arange(n - 1, first_high - 1, -1), np.arange(first_high)])
        distance = np.abs(from_centre)
        middle_half = offset[3 * n // 4] - offset[n // 4]
        # A low point is removed before a high one only if it is farther by more than the tie.
        key = distance * (1 - _TIE)
        key[first_high:] = distance[first_high:] * (1 + _TIE) + _TIE * middle_half
        order = inward[np.argsort(-key[inward], kind="stable")]
        self._start = np.append(0, np.cumsum(order < first_high))
        # Summed from the middle outwards: no sum includes the points removed before it.
        self._sums = np.cumsum(offset[order[::-1]])
        self._distance = np.append(0.0, np.cumsum(distance[order]))

    def keep(self, removed: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return what is kept after numbers of points have been removed.

        These are the smallest and the largest kept score, how far the mean of the kept scores lies
        above the reference, and the sum of the removed points' distances from the centre.
        """
        start, n = self._start[removed], self.n - removed
        ends = self.values[start], self.values[start + n - 1]
        return *ends, self._sums[n - 1] / n, self._distance[removed]


def proportional_path(n_samples: tuple[int, int]) -> IntArray:
    """Return the points removed (negative, positive) at each level, the same share of each class.

    Level j removes j points of the larger class; the smaller class's share is rounded up. Two
    points of each class are kept. Mirrored problems have mirrored paths.
    """
    smaller, larger = sorted(n_samples)
    many = np.arange(max(larger - 2, 0) + 1)
    few = np.minimum(-(-many * smaller // larger), max(smaller - 2, 0))
    return np.stack([few, many] if n_samples[0] < n_samples[1] else [many, few])


def sequential_path(n_samples: tuple[int, int]) -> IntArray:
    """Return the points removed (negative, positive) at each level, one point after the other.

    The class that has lost the smaller share is next. Where both shares are equal the class that
    lost the last point goes on, the negative one at the start: the order of the authors' code.
    """
    (negative, positive), most = n_samples, [max(n - 2, 0) for n in n_samples]
    i = np.arange(most[1])
    # The larger class loses the last point before a tie; classes of one size take turns.
    goes_on = i % 2 == 1 if negative == positive else (i > 0) & (negative < positive)
    share = np.concatenate([np.arange(most[0]) * positive, i * negative])
    rank = np.concatenate([np.ones(most[0]), np.where(goes_on, 0, 2)])
    of_negative = np.append(0, np.cumsum(np.lexsort((rank, share)) < most[0]))
    return np.stack([of_negative, np.arange(len(of_negative)) - of_negative])


# --- The problem at every level -------------------------------------------------------------------


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
    feasible: NDArray[np.bool_]  # whether the confidence bounds fit between the classes
    weight: FloatArray  # of each confidence in the loss
    constant: FloatArray  # loss without the confidences: Σ 1/(N + 1) of (1), and the slack of (12)

    def take(self, index: int | NDArray[np.bool_]) -> Levels:
        """Return some of the levels."""
        return Levels(*(cast(Any, values)[..., index] for values in self))

    @property
    def ratio(self) -> FloatArray:
        """Free space in steps of each class, infinite where a radius is zero."""
        k = np.full_like(self.step, np.inf)
        np.divide(self.space, self.step, out=k, where=self.step > 0)
        return k


class Optimum(NamedTuple):
    """The best level, both :math:`u_i`, the loss, and the boundary in the sample's units."""

    level: Levels
    u: Pair
    loss: float
    threshold: float


class SupportProblem:
    """The optimisation at every slack level of a sample whose negative class lies below."""

    def __init__(self, sample: ScoreSample, settings: SupportRadius) -> None:
        self.settings, n_samples = settings, sample.n_samples
        self.n_samples = np.array(n_samples, dtype=np.float64)
        facing = (sample.negative, sample.positive.mirrored())
        self.windows = [Windows(c, settings.centre) for c in facing]
        path = sequential_path if settings.centre == "mean" else proportional_path
        self.removed = path(n_samples)
        self.last = self.removed.shape[1] - 1
        if settings.budget != "all":
            most = float(settings.budget)
            if isinstance(settings.budget, float):
                most = np.floor(most * sum(n_samples) * (1 + _ROUNDING))
            within = np.searchsorted(self.removed.sum(axis=0), most, side="right")
            self.last = int(within) - 1

    def levels(self, level: IntArray) -> Levels:
        """Set up the optimisation at the given levels."""
        settings, removed = self.settings, self.removed[:, level]
        kept = (w.keep(m) for w, m in zip(self.windows, removed, strict=True))
        low, high, mean, lost = (np.stack(both) for both in zip(*kept, strict=True))
        n = self.n_samples[:, None] - removed
        # Each class is described from its own reference, so that a large offset common to all
        # scores, or an outlier that was removed, costs no digits.
        reference = np.array([[w.reference] for w in self.windows])
        radius, edge, step = settings.measure(low - reference, high - reference, mean, n)
        apart = float(-reference.sum())
        space = apart - edge.sum(axis=0) - settings.constant * step.sum(axis=0)
        distance = apart - mean.sum(axis=0)
        top, bottom = np.maximum(high[0], -low[1]), np.minimum(low[0], -high[1])
        rounding = _ROUNDING * (top - bottom)
        is_apart = distance > rounding
        # Where all kept points of each class are equal, nothing is left to divide.
        space[(np.abs(space) <= rounding) & is_apart] = 0.0
        price = np.array(settings.alpha)
        if settings.penalty == "proportional":
            price = price / self.n_samples
        penalty = price @ (removed.astype(float) if settings.slack == "binary" else lost)
        weight = np.array(settings.class_weight)[:, None]
        mean, edge, feasible = reference + mean, reference + edge, (space >= 0) & is_apart
        constant = (weight / (n + 1.0)).sum(axis=0) + penalty
        weight = weight * n / (n + 1.0)
        return Levels(
            level, n, low, high, mean, radius, edge, step, space, feasible, weight, constant
        )


# --- The solution: exact, and by SLSQP ------------------------------------------------------------


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


@dataclass(frozen=True)
class SLSQP:
    r"""The paper's local optimiser, about a millisecond per level.

    It minimises the loss over :math:`\delta_1` at each level. Started near 1, as in the authors'
    code, it mostly stays on that end of the constraint; use :class:`Exact` for the optimum.

    Parameters
    ----------
    start : float, default=1
        Initial δ of the negative class, above 0 and at most 1; the authors' is 1.
    """

    name = "slsqp"

    start: float = 1.0

    def __post_init__(self) -> None:
        number = as_positive("start", self.start, "Use start=1, as the authors do.")
        if number > 1:
            raise InvalidInputError(
                f"`start` must be a confidence in (0, 1], got {self.start!r}. "
                "Use start=1, as the authors do."
            )
        object.__setattr__(self, "start", number)

    def solve(self, problem: SupportProblem) -> Optimum | None:
        """Return the best of one local optimisation per slack level, or None."""
        best: Optimum | None = None
        for index in range(problem.last + 1):
            level = problem.levels(np.array([index])).take(0)
            if best is not None and level.constant >= best.loss:
                break
            if not level.feasible:
                continue
            found = _descend(problem, level, self.start)
            if best is None or found.loss < best.loss:
                best = found
            if index == 0 and problem.settings.stop_at_zero:
                break
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
    foot = at.edge[0] + problem.settings.constant * at.step[0]
    threshold = float(foot + theta[i] * at.space)
    return Optimum(at, (float(u[0, i]), float(u[1, i])), float(losses[i]), threshold)


def _descend(problem: SupportProblem, level: Levels, start: float) -> Optimum:
    """Minimise the loss over the first confidence at one level, by SLSQP."""
    (a1, a2), space = level.step.tolist(), float(level.space)
    if min(a1, a2) == 0:
        # A class that is a point is sure of itself: nothing is left to optimise.
        return cast(Optimum, _best_of(problem, level.level[None], None))
    weight = cast(Pair, problem.settings.class_weight)
    given = (float(level.n[0]), float(level.n[1])), (a1, a2), space, weight
    # Below the least δ the other class has no confidence left; at 1 the gradient is infinite.
    high = 1.0 - 1e-12
    low = min(max(float(np.exp(-0.5 * (space / a1) ** 2)), np.finfo(float).tiny), high)

    def value(delta: FloatVector) -> float:
        found = float(loss(delta[0], *given))
        at_end = weight[0] * float(class_error(level.n[0], delta[0])) + weight[1]
        return at_end if np.isnan(found) else found  # beyond the end by a rounding error

    def slope(delta: FloatVector) -> FloatVector:
        return np.array([float(loss_gradient(delta[0], *given))])

    from scipy.optimize import minimize  # slow to import, and seldom needed

    with warnings.catch_warnings():
        # Up to SciPy 1.15 a step may round to just outside the bounds; SciPy says so and clips it.
        warnings.filterwarnings("ignore", "Values in x were outside bounds", RuntimeWarning)
        x0, bounds = np.array([min(max(start, low), high)]), [(low, high)]
        result = minimize(value, x0=x0, jac=slope, bounds=bounds, method="SLSQP")
    u1 = float(_u(np.clip(result.x[0], low, high)))
    u = (u1, max((space - a1 * u1) / a2, 0.0))
    total = float(level.constant + level.weight @ np.exp(-0.5 * np.square(u)))
    threshold = float(level.edge[0] + a1 * (problem.settings.constant + u1))
    return Optimum(level, u, total, threshold)


# --- Division of the free space -------------------------------------------------------------------
#
# With k_i = C / a_i the part of the loss that depends on the share θ of the negative class is
#
#     w_1 exp(-(k_1 θ)² / 2) + w_2 exp(-(k_2 (1 - θ))² / 2).
#
# Both ends are local minima. There is at most one more inside, where
#
#     f(z) = ln(w_1 k_1² / (w_2 k_2²)) + z - (k_1 θ)² / 2 + (k_2 (1 - θ))² / 2,  θ = 1 / (1 + e^-z),
#
# falls through zero. Its slope is f'(z) = 1 - h with h = θ (1 - θ) (k_1² θ + k_2² (1 - θ)), and h
# has a single peak, so f falls in one stretch around it or nowhere. No confidence is computed
# before its place is known: the answer is exact also where every δ underflows.

# A class whose radius is 1e100 times smaller than the free space is a point; squares stay finite.
_LARGEST_RATIO = 1e100
# ln h falls to 0 within this distance of its peak for every ratio below the largest.
_Z_RANGE = 500.0
_ENDS = np.array([[[0.0], [1.0]], [[1.0], [0.0]]])


def split_space(k: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Divide the free space so that the loss is least, in each of m problems."""
    k = np.minimum(k, _LARGEST_RATIO)
    z = _interior_minimum(k, w)
    inside = np.stack([expit(z), expit(-z)])
    losses = np.stack([_variable_loss(k, w, share) for share in (inside, _ENDS[0], _ENDS[1])])
    losses[0, np.isnan(z)] = np.inf
    # Between equally good ends the rarer class, which has the smaller weight, gets the space.
    end = np.where((losses[1] < losses[2]) | ((losses[1] == losses[2]) & (w[0] >= w[1])), 0, 1)
    take_end = losses[1 + end, np.arange(len(z))] < losses[0]
    share = np.where(take_end, np.stack([end, 1 - end]), inside)
    return share[0], k * share, _variable_loss(k, w, share)


def bound_loss(k: FloatArray, w: FloatArray, n_shares: int) -> tuple[FloatArray, FloatArray]:
    """Return a lower and an upper bound on the loss of `split_space`, much cheaper.

    Between two neighbouring shares no class can have more than its better one of the two.
    """
    k, shares = np.minimum(k, _LARGEST_RATIO), np.linspace(0.0, 1.0, n_shares)
    better, same = np.stack([shares[1:], 1 - shares[:-1]]), np.stack([shares, 1 - shares])
    lower, upper = (
        _variable_loss(k[:, None], w[:, None], pairs[:, :, None]).min(axis=0)
        for pairs in (better, same)
    )
    return lower, upper


def _variable_loss(k: FloatArray, w: FloatArray, share: FloatArray) -> FloatArray:
    with np.errstate(under="ignore"):
        value: FloatArray = (w * np.exp(-0.5 * (k * share) ** 2)).sum(axis=0)
    return value


def _interior_minimum(k: FloatArray, w: FloatArray) -> FloatArray:
    """Return z of the minimum inside, NaN where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = np.log(w[0] / w[1]) + 2 * np.log(k[0] / k[1])

    def f(z: FloatArray) -> FloatArray:
        u1, u2 = k[0] * expit(z), k[1] * expit(-z)
        # The difference of squares is factored to keep its digits.
        return np.asarray(offset + z - 0.5 * (u1 - u2) * (u1 + u2))

    def falls(z: FloatArray) -> NDArray[np.bool_]:
        first, second = expit(z), expit(-z)
        h = first * second * (k[0] ** 2 * first + k[1] ** 2 * second)
        return np.asarray(h > 1)

    # From the peak of h towards the zero of f: up to it f falls and keeps its sign.
    peak = _peak_of_h(k)
    direction = np.where(f(peak) > 0, 1.0, -1.0)
    near, far = np.zeros_like(peak), np.full_like(peak, _Z_RANGE)
    for _ in range(64):
        middle = (near + far) / 2
        z = peak + direction * middle
        before = falls(z) & (direction * f(z) > 0)
        near, far = np.where(before, middle, near), np.where(before, far, middle)
    z = peak + direction * near
    return np.where(falls(peak) & falls(peak + direction * far), z, np.nan)


def _peak_of_h(k: FloatArray) -> FloatArray:
    """Return z at the peak of h, the root of a quadratic in the share."""
    larger, smaller = k.max(axis=0), k.min(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where(larger > 0, (smaller / larger) ** 2, 1.0)
        root = np.sqrt(1 - r + r * r)
        # Two forms of the same root, each without cancellation on its half.
        share = np.where(r < 0.5, (1 - 2 * r + root) / (3 * (1 - r)), r / (root - 1 + 2 * r))
    z = np.log(share / (1 - share))
    return np.asarray(np.where(k[0] >= k[1], z, -z))


# --- The answer: solution or fallback -------------------------------------------------------------


@dataclass(frozen=True)
class SupportGeometry:
    """The paper's quantities at a boundary; pairs are (negative, positive).

    Parameters
    ----------
    deltas, log_deltas : tuples of float
        Probabilities with which each class's bound may fail, and their natural logarithms, which
        are exact where the probabilities underflow to 0.
    means, radii, confidence_radii : tuples of float
        Of the kept points: mean, support radius, and radius with its confidence term.
    supports : tuple of tuple of float
        Smallest and largest kept score of each class.
    slack : tuple of int
        Points removed.
    """

    deltas: Pair
    log_deltas: Pair
    means: Pair
    radii: Pair
    confidence_radii: Pair
    supports: tuple[Pair, Pair]
    slack: tuple[int, int]


def solve_paper(
    sample: ScoreSample, settings: SupportRadius, *, fall_back: bool = False
) -> Solution:
    """Solve in the orientation in which the positive class lies above, or fall back.

    For scores that point the other way the paper bounds the errors of `score < threshold`; those
    of `score > threshold` may be anything up to 1. `fall_back` skips the search.
    """
    upright, sign = sample, 1.0
    if sample.is_reversed:
        negative, positive = sample.negative.mirrored(), sample.positive.mirrored()
        upright, sign = replace(sample, negative=negative, positive=positive), -1.0
    problem, best, errors = SupportProblem(upright, settings), None, (1.0, 1.0)
    is_single = min(sample.n_samples) == 1
    if not (fall_back or is_single):
        best = settings.solver.solve(problem)
    if best is None:
        ends = problem.levels(np.array([0, problem.last]))
        level, u, value = ends.take(0), (0.0, 0.0), np.inf
        facing = level.mean if settings.fallback == "means" else ends.edge[:, 1]
        threshold = sign * float(facing[0] - facing[1]) / 2
        if not isinstance(settings.fallback, str):
            threshold = float(sample.from_units(settings.fallback))
        same = sample.negative.median == sample.positive.median
        status = Status.UNINFORMATIVE if same else Status.INFEASIBLE
        status = Status.SINGLE_ROW if is_single else status
    else:
        level, u, value, threshold = best
        threshold = sign * _settle(threshold, level)
        status = Status.RELAXED if level.level > 0 else Status.OPTIMAL
        status = status if isinstance(settings.solver, Exact) else Status.LOCAL
    geometry = _describe(sample.n_samples, level, u, settings.constant, sign)
    if best is not None and sample.is_reversed:
        status, value = Status.REVERSED, 2.0
    elif best is not None:
        first, second = (
            min(1.0, float(class_error(n - m, delta)) + m / n)
            for n, m, delta in zip(sample.n_samples, geometry.slack, geometry.deltas, strict=True)
        )
        errors = (first, second)
    found = Found(threshold, (threshold, threshold), errors, value)
    return Solution(found, status, geometry=geometry)


def _describe(
    n_samples: tuple[int, int], level: Levels, u: Pair, constant: float, sign: float
) -> SupportGeometry:
    """Return the paper's quantities at a level; a sign of -1 mirrors them back."""
    log_deltas, (low, high) = -0.5 * np.square(u), (level.low, level.high)
    ends = sign * np.array([[low[0], high[0]], [-high[1], -low[1]]])
    pairs: list[Any] = [
        tuple(values.tolist())
        for values in (
            np.exp(log_deltas),
            log_deltas,
            sign * level.mean * [1, -1],
            level.radius,
            level.radius + level.step * (constant + np.array(u)),
        )
    ]
    pairs.append(tuple(map(tuple, np.sort(ends).tolist())))
    pairs.append(tuple((np.array(n_samples) - level.n).astype(int).tolist()))
    return SupportGeometry(*pairs)


def _settle(threshold: float, level: Levels) -> float:
    """Keep a threshold clear of the edges between which it lies.

    At an end of the constraint it falls on a kept score, and a rounding error would decide
    on which side of the boundary that score stands.
    """
    low, high = float(level.edge[0]), -float(level.edge[1])
    kept_range = float(max(level.high[0], -level.low[1]) - min(level.low[0], -level.high[1]))
    clear = min(_CLEARANCE * kept_range, (high - low) / 4)
    threshold = min(max(threshold, low + clear), high - clear)
    return max(min(threshold, float(np.nextafter(high, -np.inf))), low)


# --- The curve, with the settings of the method ---------------------------------------------------

_CHOICES: dict[str, tuple[object, ...]] = {
    "radius": ("one-sided", "two-sided"),
    "slack": ("binary", "continuous"),
    "penalty": ("proportional", "count"),
    "centre": ("median", "mean"),
    "stop_at_zero": (True, False),
}
# Settings that rules other than the sum use.
_SHAPE = ("gamma", "constant", "radius", "centre", "fallback")


@dataclass(frozen=True)
class SupportRadius(PairCurve):
    r"""The paper's claim: the share of points removed, plus the average error of the kept ones.

    With the rule "sum", its own, the paper's problem is solved exactly: both classes lose the same
    share of points. With any other rule each class loses what is best for it,

    .. math:: U(t) = \min_m \frac{m}{n} + \frac{1 - \delta_m(t)}{n - m + 1} + \delta_m(t),
              \qquad \delta_m(t) = e^{-u_m(t)^2/2},\;
              u_m(t) = \frac{t - \mu_m - R_m}{a_m} - c

    over at most 512 numbers m of points removed; it then takes gamma, constant, radius, centre and
    fallback only.

    Parameters
    ----------
    gamma : float, default=1
        Factor of the concentration term: 1 as in Eq. R_hat_upper_bound, 2 as in
        Eq. test_point_bound, which the triangle inequality gives.
    constant : float, default=0
        Constant of the concentration term: 2 as printed, or 0, since scores have one dimension
        and Hoeffding's inequality does not need it.
    radius : {"one-sided", "two-sided"}, default="one-sided"
        Whether a class's radius measures only the points towards the other class. No inequality
        covers that, but it decides better.
    slack : {"binary", "continuous"}, default="binary"
        Whether a removed point costs 1 or its distance to the class centre. Continuous slack
        depends on the unit of the scores.
    penalty : {"proportional", "count"}, default="proportional"
        Whether the slack of a class is divided by the class's size. Proportional slack adds up
        with the loss to a claim on both error rates.
    alpha : float or pair (negative, positive), default=1
        Price of slack, above 0.
    budget : int, float or "all", default="all"
        Most points to remove: a number, a share of all rows in (0, 1], or all but two of each
        class.
    class_weight : float or pair (negative, positive), default=1
        Weights of the two classes' errors in the loss.
    centre : {"median", "mean"}, default="median"
        Points farthest from here are removed first. A single far outlier drags the mean, which
        the paper uses, and then the wrong points are removed. With "median" both classes lose
        equal shares at a time, with "mean" one point at a time as in the authors' code.
    stop_at_zero : bool, default=False
        Whether to remove nothing where the problem has a solution without slack, or to look at
        every slack level for a lower loss.
    solver : Exact or SLSQP, default=Exact()
        The exact global optimum over all slack levels, or the paper's local optimiser.
    fallback : {"edges", "means"} or float, default="edges"
        Boundary where no level is feasible: the middle between the facing edges of the points
        kept at full budget, the middle between the class means, or a number.

    Notes
    -----
    Class i keeps :math:`N_i` points of mean :math:`\mu_i` and radius :math:`R_i`. The confidence
    radii :math:`R_i + \gamma R_i N_i^{-1/2} (c + \sqrt{2 \ln 1/\delta_i})` fill the distance of
    the means and meet at the boundary. The sum of :math:`(1 - \delta_i)/(N_i + 1) + \delta_i`, plus
    the price of the removed points, is minimal.

    References
    ----------
    M. Clifford, J. Erskine, A. Hepburn, R. Santos-Rodríguez, D. Garcia-Garcia, "Learning
    Confidence Bounds for Classification with Imbalanced Data", ECAI 2024.

    Examples
    --------
    >>> SupportRadius.authors(budget="all") == SupportRadius(
    ...     constant=2, radius="two-sided", centre="mean", stop_at_zero=True)
    True
    """

    name = "support"
    claim = Claim.NOMINAL
    assumptions = "Independent scores, and a support whose radius is that of the sample."
    default_rule = Sum()
    spreads_rows = False

    gamma: float = 1.0
    constant: float = 0.0
    radius: Literal["one-sided", "two-sided"] = "one-sided"
    slack: Literal["binary", "continuous"] = "binary"
    penalty: Literal["proportional", "count"] = "proportional"
    alpha: float | Pair = (1.0, 1.0)
    budget: int | float | Literal["all"] = "all"
    class_weight: float | Pair = (1.0, 1.0)
    centre: Literal["median", "mean"] = "median"
    stop_at_zero: bool = False
    solver: Exact | SLSQP = Exact()
    fallback: Literal["edges", "means"] | float = "edges"

    def __post_init__(self) -> None:
        remedy = "The paper has 2, Hoeffding's bound 0."
        checked: dict[str, Any] = {
            "gamma": as_positive("gamma", self.gamma, "The paper has 1 and 2."),
            "constant": as_positive("constant", self.constant, remedy, zero=True),
            "alpha": as_pair("alpha", self.alpha, "Use alpha=1 for the paper's setting."),
            "class_weight": as_pair(
                "class_weight", self.class_weight, "Use 1 for the paper's loss."
            ),
            "budget": _as_budget(self.budget),
        }
        for name, choices in _CHOICES.items():
            as_choice(name, getattr(self, name), choices)
        if self.fallback not in ("edges", "means") and not is_finite(self.fallback):
            raise InvalidInputError(
                f"`fallback` must be 'edges', 'means' or a finite number, got {self.fallback!r}. "
                "Use 'edges' for the middle between the kept points of both classes."
            )
        if not isinstance(self.solver, Exact | SLSQP):
            raise InvalidInputError(
                f"`solver` must be Exact() or SLSQP(), got {self.solver!r}. "
                "Use solver=Exact() for the global optimum."
            )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return changed_repr(self)

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the paper's text: constant 2, two-sided radius, penalty by count, every level."""
        own: dict[str, Any] = {"constant": 2.0, "radius": "two-sided", "penalty": "count"}
        return cls(**{**own, "centre": "mean", **changes})

    @classmethod
    def authors(cls, **changes: Any) -> Self:
        """Return the settings of the authors' code.

        Constant 2, two-sided radius, proportional penalty, half of the rows as budget, no slack
        where none is needed.
        """
        own: dict[str, Any] = {"constant": 2.0, "radius": "two-sided", "centre": "mean"}
        return cls(**{**own, "budget": 0.5, "stop_at_zero": True, **changes})

    def measure(
        self, low: FloatArray, high: FloatArray, mean: FloatArray, n: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the radius of kept points, the edge where it ends, and the step :math:`a`."""
        edge, radius = high, np.maximum(high - mean, 0.0)
        if self.radius == "two-sided":
            radius = np.maximum(radius, mean - low)
            edge = np.maximum(edge, mean + radius)
        return radius, edge, self.gamma * radius / np.sqrt(n)

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the boundary of the paper's problem, or the rule's best on the curve."""
        refuse_weights(sample, self.name)
        if rule == Sum():
            return solve_paper(sample, self)
        plain = SupportRadius()
        for name in (f.name for f in fields(self) if f.name not in _SHAPE):
            if getattr(self, name) != getattr(plain, name):
                raise InvalidInputError(
                    f"`{name}` of SupportRadius must keep its default with the rule "
                    f"{rule.name!r}, got {getattr(self, name)!r}. Only the rule 'sum' uses it."
                )
        solution = super().solve(sample, rule)
        if solution.found.errors == (1.0, 1.0):
            return solve_paper(sample, self, fall_back=True)
        return solution

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return the function from boundaries to the claimed error rates (negative, positive)."""
        negative, positive = self._tail(sample.negative), self._tail(sample.positive.mirrored())
        return lambda t: (negative(t), positive(-t))

    def _tail(self, scores: Scores) -> Tail:
        """Return the least claim over the slack levels of one class."""
        windows, n = Windows(scores, self.centre), scores.n
        removed = np.unique(np.linspace(0, max(n - 2, 0), _CURVE_LEVELS).astype(np.int64))
        low, high, mean, _ = windows.keep(removed)
        mean, count = windows.reference + mean, (n - removed).astype(np.float64)
        _, edge, step = self.measure(low, high, mean, count)
        foot = edge + self.constant * step
        floor, weight = removed / n + 1 / (count + 1), count / (count + 1)

        def above(t: FloatArray) -> FloatArray:
            distance = np.asarray(t, dtype=np.float64)[:, None] - foot
            with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
                delta = np.exp(-0.5 * (distance / step) ** 2)
            # A class of radius zero is certain as soon as the boundary has passed it.
            delta = np.where(step == 0, 0.0, delta)
            claims = np.where(distance >= 0, np.minimum(floor + weight * delta, 1.0), 1.0)
            return np.asarray(claims.min(axis=1))

        return above


def _as_budget(budget: object) -> int | float | Literal["all"]:
    if isinstance(budget, str) and budget == "all":
        return "all"
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool):
        if budget >= 0:
            return int(budget)
    elif isinstance(budget, float | np.floating) and 0 < budget <= 1:
        return float(budget)
    raise InvalidInputError(
        f"`budget` must be a number of points from 0, a share in (0, 1], or 'all', got {budget!r}. "
        "Use budget='all' for no limit."
    )
