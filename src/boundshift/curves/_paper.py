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
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from boundshift._scores import Scores, ScoreSample, refuse_weights
from boundshift._search import ErrorsAt, Found
from boundshift._status import Status
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift._validation import as_choice, as_pair, as_positive, is_finite
from boundshift.curves._base import Claim, Empirical, ErrorCurve, Solution
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule, Sum
from boundshift.rules._base import changed_repr

Pair = tuple[float, float]
Array = NDArray[Any]

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


# --- Equations of one level, as SLSQP needs them --------------------------------------------------


def class_error(n: ArrayLike, delta: ArrayLike) -> Array:
    r"""Return the average error of one class, :math:`(1 - \delta)/(N + 1) + \delta` (6)."""
    delta = np.asarray(delta, dtype=float)
    return np.asarray((1.0 - delta) * (1.0 / (np.asarray(n, dtype=float) + 1.0)) + delta)


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
    return np.asarray(-u2 * a1 / a2 * np.exp(-0.5 * u2 * u2) / (u1 * np.asarray(delta1)))


def loss(delta1: ArrayLike, n: Pair, step: Pair, space: float) -> Array:
    """Return the sum of both classes' average errors on the constraint (6, 7)."""
    return class_error(n[0], delta1) + class_error(n[1], delta2_from_delta1(delta1, step, space))


def loss_gradient(delta1: ArrayLike, n: Pair, step: Pair, space: float) -> Array:
    r"""Return the derivative of the loss with respect to :math:`\delta_1` (9)."""
    return n[0] / (n[0] + 1.0) + n[1] / (n[1] + 1.0) * delta2_gradient(delta1, step, space)


def _u(delta: ArrayLike) -> Array:
    return np.asarray(np.sqrt(-2.0 * np.log(np.asarray(delta, dtype=float))))


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

    level: Any  # index on the path
    n: Any  # number of kept points
    low: Any  # smallest kept point
    high: Any
    mean: Any
    radius: Any
    edge: Any  # where the radius ends
    step: Any  # a
    space: Any  # the free space C
    feasible: Any  # whether the confidence bounds fit between the classes
    weight: Any  # of each confidence in the loss
    constant: Any  # loss without the confidences: Σ 1/(N + 1) of (1), and the slack of (12)

    def take(self, index: int | BoolArray) -> Levels:
        """Return some of the levels."""
        return Levels(*(values[..., index] for values in self))

    @property
    def ratio(self) -> FloatArray:
        """Free space in steps of each class, infinite where a radius is zero."""
        k = np.full_like(self.step, np.inf)
        return np.asarray(np.divide(self.space, self.step, out=k, where=self.step > 0))


class Optimum(NamedTuple):
    """The best level, both :math:`u_i`, the loss, and the boundary in the sample's units."""

    level: Levels
    u: Pair
    loss: float
    threshold: float


class SupportProblem:
    """The optimisation at every slack level of a sample whose negative class lies below."""

    def __init__(self, sample: ScoreSample, settings: SupportRadius) -> None:
        self.settings = settings
        self.n_samples = np.array(sample.n_samples, dtype=np.float64)
        facing = (sample.negative, sample.positive.mirrored())
        self.windows = [Windows(c, settings.centre) for c in facing]
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
        settings, removed = self.settings, self.removed[:, level]
        kept = (w.keep(m) for w, m in zip(self.windows, removed, strict=True))
        low, high, mean, lost = (np.stack(both) for both in zip(*kept, strict=True))
        n = self.n_samples[:, None] - removed
        # Each class is described from its own reference, so that a large offset common to all
        # scores, or an outlier that was removed, costs no digits.
        reference = np.array([[w.reference] for w in self.windows])
        edge = high - reference
        radius = np.maximum(edge - mean, 0.0)
        if settings.radius == "two-sided":
            radius = np.maximum(radius, mean - (low - reference))
            edge = np.maximum(edge, mean + radius)
        step = settings.gamma * radius / np.sqrt(n)
        apart = float(-reference.sum())
        space = apart - edge.sum(axis=0) - settings.constant * step.sum(axis=0)
        top, bottom = np.maximum(high[0], -low[1]), np.minimum(low[0], -high[1])
        rounding = _ROUNDING * (top - bottom)
        is_apart = apart - mean.sum(axis=0) > rounding
        # Where all kept points of each class are equal, nothing is left to divide.
        space[(np.abs(space) <= rounding) & is_apart] = 0.0
        by_class = self.n_samples if settings.penalty == "proportional" else np.ones(2)
        slack = removed.astype(float) if settings.slack == "binary" else lost
        return Levels(
            level, n, low, high, reference + mean, radius, reference + edge, step, space,
            feasible=(space >= 0) & is_apart,
            weight=n / (n + 1.0),
            constant=(1.0 / (n + 1.0)).sum(axis=0) + (settings.alpha / by_class) @ slack,
        )  # fmt: skip


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


def split_space(k: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Divide the free space so that the loss is least, in each of m problems."""
    k = np.minimum(k, _LARGEST_RATIO)
    z = _interior_minimum(k, w)
    inside, ones = np.stack([expit(z), expit(-z)]), np.ones_like(z)
    at_zero, at_one = np.stack([0 * ones, ones]), np.stack([ones, 0 * ones])
    first, second = _variable_loss(k, w, at_zero), _variable_loss(k, w, at_one)
    # Between equally good ends the rarer class, which has the smaller weight, gets the space.
    is_zero = (first < second) | ((first == second) & (w[0] >= w[1]))
    is_inside = ~np.isnan(z) & (_variable_loss(k, w, inside) <= np.minimum(first, second))
    share = np.where(is_inside, inside, np.where(is_zero, at_zero, at_one))
    return share[0], k * share, _variable_loss(k, w, share)


def bound_loss(k: FloatArray, w: FloatArray, n_shares: int) -> tuple[FloatArray, FloatArray]:
    """Return a lower and an upper bound on the loss of `split_space`, much cheaper.

    Between two neighbouring shares no class can have more than its better one of the two.
    """
    k, shares = np.minimum(k, _LARGEST_RATIO)[:, None], np.linspace(0.0, 1.0, n_shares)[:, None]
    better, same = np.stack([shares[1:], 1 - shares[:-1]]), np.stack([shares, 1 - shares])
    lower = _variable_loss(k, w[:, None], better).min(axis=0)
    return lower, _variable_loss(k, w[:, None], same).min(axis=0)


def _variable_loss(k: FloatArray, w: FloatArray, share: FloatArray) -> FloatArray:
    with np.errstate(under="ignore"):
        return np.asarray((w * np.exp(-0.5 * (k * share) ** 2)).sum(axis=0))


def _interior_minimum(k: FloatArray, w: FloatArray) -> FloatArray:
    """Return z of the minimum inside, NaN where there is none."""
    larger, smaller = k.max(axis=0), k.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = np.log(w[0] / w[1]) + 2 * np.log(k[0] / k[1])
        r = np.where(larger > 0, (smaller / larger) ** 2, 1.0)
        root = np.sqrt(1 - r + r * r)
        # The peak of h, in two forms of the same root, each without cancellation on its half.
        share = np.where(r < 0.5, (1 - 2 * r + root) / (3 * (1 - r)), r / (root - 1 + 2 * r))
    peak = np.where(k[0] >= k[1], 1.0, -1.0) * np.log(share / (1 - share))

    def f(z: FloatArray) -> FloatArray:
        u1, u2 = k[0] * expit(z), k[1] * expit(-z)
        # The difference of squares is factored to keep its digits.
        return np.asarray(offset + z - 0.5 * (u1 - u2) * (u1 + u2))

    def falls(z: FloatArray) -> BoolArray:
        first, second = expit(z), expit(-z)
        return np.asarray(first * second * (k[0] ** 2 * first + k[1] ** 2 * second) > 1)

    # From the peak of h towards the zero of f: up to it f falls and keeps its sign.
    direction = np.where(f(peak) > 0, 1.0, -1.0)
    near, far = np.zeros_like(peak), np.full_like(peak, _Z_RANGE)
    for _ in range(64):
        middle = (near + far) / 2
        z = peak + direction * middle
        before = falls(z) & (direction * f(z) > 0)
        near, far = np.where(before, middle, near), np.where(before, far, middle)
    is_there = falls(peak) & falls(peak + direction * far)
    return np.where(is_there, peak + direction * near, np.nan)


# --- The curve, with the settings of the method ---------------------------------------------------


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


@dataclass(frozen=True)
class SupportRadius(ErrorCurve):
    r"""The paper's claim: the share of points removed, plus the average error of the kept ones.

    It goes with the rule "sum" only: the paper's problem is solved exactly, and both classes lose
    the same share of points.

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
    default_rule = Sum()

    gamma: float = 1.0
    constant: float = 0.0
    radius: Literal["one-sided", "two-sided"] = "one-sided"
    slack: Literal["binary", "continuous"] = "binary"
    penalty: Literal["proportional", "count"] = "proportional"
    alpha: float | Pair = (1.0, 1.0)
    budget: int | float | Literal["all"] = "all"
    centre: Literal["median", "mean"] = "median"
    stop_at_zero: bool = False
    solver: Exact | SLSQP = Exact()
    fallback: Literal["edges", "means"] | float = "edges"

    def __post_init__(self) -> None:
        budget = np.asarray(self.budget).item()
        checked = {
            "gamma": as_positive("gamma", self.gamma, "The paper has 1 and 2."),
            "constant": as_positive(
                "constant", self.constant, "The paper has 2, Hoeffding's bound 0.", zero=True
            ),
            "alpha": as_pair("alpha", self.alpha, "Use alpha=1 for the paper's setting."),
            "budget": budget,
        }
        as_choice("radius", self.radius, ("one-sided", "two-sided"))
        as_choice("slack", self.slack, ("binary", "continuous"))
        as_choice("penalty", self.penalty, ("proportional", "count"))
        as_choice("centre", self.centre, ("median", "mean"))
        as_choice("stop_at_zero", self.stop_at_zero, (True, False))
        is_share = type(budget) is float and 0 < budget <= 1
        if budget != "all" and not is_share and not (type(budget) is int and budget >= 0):
            raise InvalidInputError(
                "`budget` must be a number of points from 0, a share in (0, 1], or 'all', got "
                f"{self.budget!r}. Use budget='all' for no limit."
            )
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

    __repr__ = changed_repr

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

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return the shares as counted: the paper claims errors at its own boundary only."""
        return Empirical().errors(sample)

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the boundary of the paper's problem, or the fallback where there is none.

        It is solved with the positive class above. For scores that point the other way the paper
        bounds the errors of `score < threshold`; those of `score > threshold` may be up to 1.
        """
        refuse_weights(sample, self.name)
        if rule != Sum():
            raise InvalidInputError(
                "`rule` must be 'sum' with the paper's curve, which minimises the sum of both "
                f"errors, got {rule!r}. Leave out the rule, or the curve."
            )
        upright, sign = sample, 1.0
        if sample.is_reversed:
            negative, positive = sample.negative.mirrored(), sample.positive.mirrored()
            upright, sign = replace(sample, negative=negative, positive=positive), -1.0
        problem, is_single = SupportProblem(upright, self), min(sample.n_samples) == 1
        best = None if is_single else self.solver.solve(problem)
        if best is None:
            ends = problem.levels(np.array([0, problem.last]))
            level, u, value = ends.take(0), (0.0, 0.0), np.inf
            facing = level.mean if self.fallback == "means" else ends.edge[:, 1]
            threshold = sign * float(facing[0] - facing[1]) / 2
            if not isinstance(self.fallback, str):
                threshold = float(sample.from_units(self.fallback))
            same = sample.negative.median == sample.positive.median
            status = Status.UNINFORMATIVE if same else Status.INFEASIBLE
            status = Status.SINGLE_ROW if is_single else status
        else:
            level, u, value, threshold = best
            threshold = sign * _settle(threshold, level)
            status = Status.RELAXED if level.level > 0 else Status.OPTIMAL
            status = status if isinstance(self.solver, Exact) else Status.LOCAL
        n_samples, log_deltas = np.array(sample.n_samples), -0.5 * np.square(u)
        deltas, removed = np.exp(log_deltas), n_samples - level.n.astype(int)
        kept = [[level.low[0], level.high[0]], [-level.high[1], -level.low[1]]]
        supports = np.sort(sign * np.array(kept))
        geometry = SupportGeometry(
            deltas=_pair(deltas),
            log_deltas=_pair(log_deltas),
            means=_pair(sign * level.mean * [1, -1]),
            radii=_pair(level.radius),
            confidence_radii=_pair(level.radius + level.step * (self.constant + np.array(u))),
            supports=(_pair(supports[0]), _pair(supports[1])),
            slack=_pair(removed),
        )
        errors = np.ones(2)
        if best is not None and sample.is_reversed:
            status, value = Status.REVERSED, 2.0
        elif best is not None:
            errors = np.minimum(1.0, class_error(level.n, deltas) + removed / n_samples)
        found = Found(threshold, (threshold, threshold), _pair(errors), value)
        return Solution(found, status, geometry=geometry)


def _pair(values: Any) -> Any:
    return tuple(values.tolist())


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
