r"""The paper: its settings, equations, slack levels, exact solution and SLSQP.

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

A level is feasible iff :math:`C \ge 0`. The negative class gets a share :math:`\theta` of
:math:`C`. The boundary (11) is :math:`t = \mu_1 + R_1 + c\, a_1 + \theta C`. The loss (6, 12) is

.. math:: \sum_i \left( \frac{1 - \delta_i}{N_i + 1} + \delta_i \right) + \text{price of the slack}.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from boundshift.exceptions import InvalidInputError
from boundshift.scores import Scores, ScoreSample
from boundshift.search import Found
from boundshift.status import Status
from boundshift.typing import FloatArray, IntArray
from boundshift.validation import as_choice, as_pair, as_positive, as_weight, is_finite

Pair = tuple[float, float]
Array = NDArray[Any]
FloatVector = np.ndarray[tuple[int], np.dtype[np.float64]]
Fallback = Literal["edges", "means"] | float

# Two distances that differ by less than this share of themselves, or of the class's middle half,
# count as equal, so that rescaled scores lose the same points.
_TIE = 1e-13
# Free space below this share of the kept points' range is a rounding error around zero.
_ROUNDING = 1e-13
# A threshold keeps this share of the kept scores' range from a score that it must not touch.
_CLEARANCE = 1e-10
# Rows of a class that are collected from data read in passes: every row has a rank.
_MOST_ROWS = 10_000_000
# Levels examined together.
_CHUNK = 1 << 18


# --- Settings -------------------------------------------------------------------------------------

_CHOICES: dict[str, tuple[object, ...]] = {
    "radius": ("one-sided", "two-sided"),
    "slack": ("binary", "continuous"),
    "penalty": ("proportional", "count"),
    "centre": ("median", "mean"),
    "stop_at_zero": (True, False),
}


@dataclass(frozen=True)
class Exact:
    r"""The global optimum over all levels of slack.

    It solves Algorithm 1 instead of searching. A local optimiser that starts at
    :math:`\delta_1 \approx 1` starts on an end of the constraint, a local minimum, and stays
    there. Feasibility is the sign of :math:`C`, not that of a rounding error.
    """

    name = "exact"
    is_global = True

    def solve(self, problem: SupportProblem) -> SupportSolution | None:
        """Return the global optimum, or None if no level is feasible."""
        best = None
        if problem.settings.stop_at_zero:
            best = best_of(problem, np.array([0]), None)
            if best is not None:
                return best
        for first in range(0, problem.last + 1, _CHUNK):
            levels = np.arange(first, min(first + _CHUNK, problem.last + 1))
            best = best_of(problem, levels, best)
        return best


@dataclass(frozen=True)
class SLSQP:
    r"""The paper's local optimiser, about a millisecond a level.

    It minimises the loss over :math:`\delta_1` at each level. Started near 1, as in the authors'
    code, it mostly stays on that end of the constraint; use :class:`Exact` for the optimum.

    Parameters
    ----------
    start : float, default=1
        First guess of the negative class's δ, above 0 and at most 1; the authors' is 1.
    """

    name = "slsqp"
    is_global = False

    start: float = 1.0

    def __post_init__(self) -> None:
        number = as_positive("start", self.start, "Use start=1, as the authors do.")
        if number > 1:
            raise InvalidInputError(
                f"`start` must be a confidence in (0, 1], got {self.start!r}. "
                "Use start=1, as the authors do."
            )
        object.__setattr__(self, "start", number)

    def solve(self, problem: SupportProblem) -> SupportSolution | None:
        """Return the best of one local optimisation per slack level, or None."""
        best: SupportSolution | None = None
        for index in range(problem.last + 1):
            level = problem.levels(np.array([index]))
            if best is not None and level.penalty[0] >= best.loss:
                break
            if not problem.feasible(level)[0]:
                continue
            found = _descend(problem, level, self.start)
            if best is None or found.loss < best.loss:
                best = found
            if index == 0 and problem.settings.stop_at_zero:
                break
        return best


@dataclass(frozen=True)
class SupportSettings:
    """Settings of the paper's method, explained in :class:`~boundshift.curves.SupportRadius`."""

    gamma: float = 1.0
    constant: float = 0.0
    radius: Literal["one-sided", "two-sided"] = "one-sided"
    slack: Literal["binary", "continuous"] = "binary"
    penalty: Literal["proportional", "count"] = "proportional"
    alpha: float | Pair = (1.0, 1.0)
    budget: int | float | Literal["all"] = "all"
    class_weight: float | Pair | Mapping[Any, float] = field(default=(1.0, 1.0), hash=False)
    centre: Literal["median", "mean"] = "median"
    stop_at_zero: bool = False
    solver: Exact | SLSQP = Exact()
    fallback: Fallback = "edges"

    def __post_init__(self) -> None:
        remedy = "The paper has 2, Hoeffding's bound 0."
        checked: dict[str, Any] = {
            "gamma": as_positive("gamma", self.gamma, "The paper has 1 and 2."),
            "constant": as_positive("constant", self.constant, remedy, zero=True),
            "alpha": as_pair("alpha", self.alpha, "Use alpha=1 for the paper's setting."),
            "budget": _as_budget(self.budget),
            "fallback": _as_fallback(self.fallback),
        }
        if not isinstance(self.class_weight, Mapping):
            checked["class_weight"] = _as_weights(self.class_weight)
        for name, choices in _CHOICES.items():
            as_choice(name, getattr(self, name), choices)
        if not (hasattr(self.solver, "solve") and hasattr(self.solver, "is_global")):
            raise InvalidInputError(
                f"`solver` must be Exact() or SLSQP(), got {self.solver!r}. "
                "Use solver=Exact() for the global optimum."
            )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

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

    def resolve(self, n_rows: int, labels: tuple[Any, Any]) -> Self:
        """Return the settings for one sample: weights by class, a budget that the rows allow."""
        budget, weight = self.budget, self.class_weight
        if isinstance(budget, int) and budget > n_rows:
            raise _bad_budget(budget, f" to {n_rows} (the rows given)")
        if not isinstance(weight, Mapping):
            return self
        if set(weight) != set(labels):
            raise InvalidInputError(
                f"`class_weight` must have the labels {labels[0]!r} and {labels[1]!r} as keys, "
                f"got {sorted(weight, key=str)!r}. Use class_weight=1 for the paper's loss."
            )
        return replace(self, class_weight=_as_weights([weight[label] for label in labels]))


def _as_weights(weight: object) -> Pair:
    remedy = "Use class_weight=1 for the paper's loss."
    negative, positive = as_pair("class_weight", weight, remedy)
    return as_weight("class_weight", negative, remedy), as_weight("class_weight", positive, remedy)


def _as_budget(budget: object) -> int | float | Literal["all"]:
    """Return a budget as a number of points, a share, or "all"."""
    if isinstance(budget, str) and budget == "all":
        return "all"
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool):
        if budget >= 0:
            return int(budget)
    elif isinstance(budget, float | np.floating) and 0 < budget <= 1:
        return float(budget)
    raise _bad_budget(budget, "")


def _bad_budget(budget: object, most: str) -> InvalidInputError:
    return InvalidInputError(
        f"`budget` must be a number of points from 0{most}, a share in (0, 1], or 'all', got "
        f"{budget!r}. Use budget='all' for no limit."
    )


def _as_fallback(value: object) -> Fallback:
    if isinstance(value, str) and value in ("edges", "means"):
        return value  # type: ignore[return-value]
    if is_finite(value) and not isinstance(value, bool):
        return float(value)  # type: ignore[arg-type]
    raise InvalidInputError(
        f"`fallback` must be 'edges', 'means' or a finite number, got {value!r}. "
        "Use fallback='edges' for the middle between what is kept of the classes."
    )


# --- The equations of one level, as SLSQP needs them ----------------------------------------------


class Geometry(NamedTuple):
    r"""The projected space at one level.

    Parameters
    ----------
    n : tuple of int
        Kept points of each class, :math:`N_i`.
    radius : tuple of float
        Empirical support radii, :math:`R_i`.
    distance : float
        Distance between the projected class means, :math:`D`.
    gamma, constant : float, default=1 and 2
        The two readings of the concentration term
        :math:`\gamma R N^{-1/2} (c + \sqrt{2 \ln 1/\delta})`.
    """

    n: tuple[int, int]
    radius: Pair
    distance: float
    gamma: float = 1.0
    constant: float = 2.0

    @property
    def step(self) -> Pair:
        r""":math:`a_i = \gamma R_i / \sqrt{N_i}`, the cost of one unit of :math:`u_i`."""
        (r1, r2), (n1, n2) = self.radius, self.n
        return float(self.gamma * r1 / np.sqrt(n1)), float(self.gamma * r2 / np.sqrt(n2))


def class_error(n: ArrayLike, delta: ArrayLike) -> Array:
    r"""Return the average error of one class, :math:`(1 - \delta)/(N + 1) + \delta` (6).

    Examples
    --------
    >>> float(class_error(9, 0.0)), float(class_error(9, 1.0))
    (0.1, 1.0)
    """
    delta = np.asarray(delta, dtype=float)
    error: Array = (1.0 - delta) * (1.0 / (np.asarray(n, dtype=float) + 1.0)) + delta
    return error


def delta2_from_delta1(delta1: ArrayLike, geometry: Geometry) -> Array:
    r"""Return the confidence left for class 2 (8), NaN where there is none.

    The printed equation squares :math:`B \sqrt{N_2}/R_2 - 2`. It returns a number even where the
    bracket is negative and the constraint cannot be met.

    Examples
    --------
    >>> space = Geometry(n=(100, 25), radius=(1.0, 1.0), distance=3.0)
    >>> round(float(delta2_from_delta1(1.0, space)), 4)
    0.1353
    >>> float(delta2_from_delta1(1.0, space._replace(distance=2.5)))
    nan
    """
    u = _u2(delta1, geometry)
    return np.where(u >= 0, np.exp(-0.5 * u * u), np.nan)


def loss(delta1: ArrayLike, geometry: Geometry, class_weight: Pair = (1.0, 1.0)) -> Array:
    """Return the sum of both classes' average errors on the constraint (6, 7).

    Examples
    --------
    >>> space = Geometry(n=(9, 9), radius=(1.0, 1.0), distance=20.0)
    >>> float(loss(1e-12, space))
    0.2...
    """
    delta2 = delta2_from_delta1(delta1, geometry)
    errors = class_error(geometry.n[0], delta1), class_error(geometry.n[1], delta2)
    return class_weight[0] * errors[0] + class_weight[1] * errors[1]


def delta2_gradient(delta1: ArrayLike, geometry: Geometry) -> Array:
    r"""Return the derivative of :math:`\delta_2` with respect to :math:`\delta_1` (10), corrected.

    .. math:: -u_2 \, \frac{a_1}{a_2} \, \frac{\delta_2}{u_1 \delta_1}.

    The printed bracket has :math:`N_1, R_1` in the place of :math:`N_2, R_2` and lacks
    :math:`R_1/R_2`; finite differences refute it.

    Examples
    --------
    >>> space = Geometry(n=(100, 25), radius=(1.0, 1.0), distance=3.0)
    >>> step = 1e-7
    >>> numeric = np.diff(delta2_from_delta1([0.5, 0.5 + step], space)) / step
    >>> bool(np.isclose(delta2_gradient(0.5, space), numeric[0], rtol=1e-5))
    True
    """
    a1, a2 = geometry.step
    u1, u2 = _u(delta1), _u2(delta1, geometry)
    slope: Array = -u2 * a1 / a2 * np.exp(-0.5 * u2 * u2) / (u1 * np.asarray(delta1, dtype=float))
    return slope


def loss_gradient(delta1: ArrayLike, geometry: Geometry, class_weight: Pair = (1.0, 1.0)) -> Array:
    r"""Return the derivative of the loss with respect to :math:`\delta_1` (9).

    Examples
    --------
    >>> space = Geometry(n=(9, 9), radius=(1.0, 1.0), distance=20.0)
    >>> float(loss_gradient(0.5, space))
    0.9
    """
    first, second = (v * n / (n + 1.0) for v, n in zip(class_weight, geometry.n, strict=True))
    return first + second * delta2_gradient(delta1, geometry)


def _u(delta: ArrayLike) -> Array:
    u: Array = np.sqrt(-2.0 * np.log(np.asarray(delta, dtype=float)))
    return u


def _u2(delta1: ArrayLike, geometry: Geometry) -> Array:
    r"""Return :math:`u_2 = B \sqrt{N_2}/R_2 - c`, negative where the constraint cannot be met."""
    (r1, r2), (a1, a2), c = geometry.radius, geometry.step, geometry.constant
    b = geometry.distance - r1 - a1 * (c + _u(delta1)) - r2  # B in the paper
    return b / a2 - c


# --- Slack: which points are removed, and what is kept --------------------------------------------


class Kept(NamedTuple):
    """What is kept of one class at each of m levels.

    Parameters
    ----------
    low, high : arrays of shape (m,)
        Smallest and largest kept score.
    mean : array of shape (m,)
        How far the mean of the kept scores lies above the reference.
    distance : array of shape (m,)
        Sum of the distances of the removed points from the centre: the continuous slack.
    """

    low: FloatArray
    high: FloatArray
    mean: FloatArray
    distance: FloatArray


class Windows:
    """One class whose points are removed one by one, the farthest from its centre first.

    What is left is a window of the sorted scores. Of two points equally far the higher one, which
    faces the other class, is removed first.

    Parameters
    ----------
    scores : Scores
        Of one class, in a frame where the other class lies above.
    centre : {"median", "mean"}
        Of all scores.

    Examples
    --------
    >>> from boundshift.scores import Scores
    >>> windows = Windows(Scores(np.array([0.0, 4.0, 5.0, 6.0, 15.0])), "median")
    >>> kept = windows.keep(np.array([0, 1, 2]))
    >>> kept.high.tolist(), (windows.reference + kept.mean).tolist(), kept.distance.tolist()
    ([15.0, 6.0, 6.0], [6.0, 3.75, 5.0], [0.0, 10.0, 15.0])
    """

    def __init__(self, scores: Scores, centre: Literal["median", "mean"]) -> None:
        n = self.n = scores.n
        if n > _MOST_ROWS and not scores.exact:
            raise InvalidInputError(
                f"`curve` must be another than the paper's where more than {_MOST_ROWS:,} rows of "
                f"a class are read in passes, got {n:,}. Use 'blend', or a sample of the rows."
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
        # Summed from the middle outwards: no sum knows of the points removed before it.
        self._sums = np.cumsum(offset[order[::-1]])
        self._distance = np.append(0.0, np.cumsum(distance[order]))

    def keep(self, removed: IntArray) -> Kept:
        """Return what is kept after numbers of points have been removed."""
        start, n = self._start[removed], self.n - removed
        return Kept(
            self.values[start],
            self.values[start + n - 1],
            self._sums[n - 1] / n,
            self._distance[removed],
        )


def proportional_path(n_samples: tuple[int, int]) -> IntArray:
    """Return the points removed (negative, positive) at each level, the same share of each class.

    Level j removes j points of the larger class; the smaller class's share is rounded up. Two
    points of each class are kept. Mirrored problems have mirrored paths.

    Examples
    --------
    >>> proportional_path((1000, 10))[:, [0, 1, 100, 101]].tolist()
    [[0, 1, 100, 101], [0, 1, 1, 2]]
    """
    smaller, larger = sorted(n_samples)
    many = np.arange(max(larger - 2, 0) + 1)
    few = np.minimum(-(-many * smaller // larger), max(smaller - 2, 0))
    return np.stack([few, many] if n_samples[0] < n_samples[1] else [many, few])


def sequential_path(n_samples: tuple[int, int]) -> IntArray:
    """Return the points removed (negative, positive) at each level, one point after the other.

    The class that has lost the smaller share is next. Where both shares are equal the class that
    lost the last point goes on, the negative one at the start: the order of the authors' code.

    Examples
    --------
    >>> sequential_path((1000, 10))[:, [1, 2, 3, 102, 103]].tolist()
    [[1, 1, 2, 101, 101], [0, 1, 1, 1, 2]]
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
        Price of the slack.
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
        return Levels(*(cast(Any, values)[..., index] for values in self))


class SupportSolution(NamedTuple):
    """The best level and its division, in the sample's units."""

    level: Levels
    theta: float
    u: Pair
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
        facing = (sample.negative, sample.positive.mirrored())
        self.windows = tuple(Windows(c, settings.centre) for c in facing)
        path = sequential_path if settings.centre == "mean" else proportional_path
        self.removed = path(sample.n_samples)
        self.last = self.removed.shape[1] - 1
        if settings.budget != "all":
            most = float(settings.budget)
            if isinstance(settings.budget, float):
                most = np.floor(most * sum(self.n_samples) * (1 + _ROUNDING))
            within = np.searchsorted(self.removed.sum(axis=0), most, side="right")
            self.last = int(within) - 1
        # Each class is described from its own reference, so that a large offset common to all
        # scores, or an outlier that was removed, costs no digits.
        self._reference = np.array([[w.reference] for w in self.windows])
        self._apart = float(-self._reference.sum())

    def keep(self, level: IntArray) -> Kept:
        """Return what is kept of both classes, arrays of shape (2, m)."""
        pairs = zip(self.windows, self.removed[:, level], strict=True)
        kept = zip(*(w.keep(m) for w, m in pairs), strict=True)
        return Kept(*(np.stack(cast(Any, both)) for both in kept))

    def levels(self, level: IntArray) -> Levels:
        """Set up the optimisation at the given levels."""
        removed, kept, settings = self.removed[:, level], self.keep(level), self.settings
        n = np.array(self.n_samples, dtype=np.float64)[:, None] - removed
        mean, edge = kept.mean, kept.high - self._reference
        radius = np.maximum(edge - mean, 0.0)
        if settings.radius == "two-sided":
            radius = np.maximum(radius, mean - (kept.low - self._reference))
            edge = np.maximum(edge, mean + radius)
        step = settings.gamma * radius / np.sqrt(n)
        space = self._apart - edge.sum(axis=0) - settings.constant * step.sum(axis=0)
        distance = self._apart - mean.sum(axis=0)
        top, bottom = np.maximum(kept.high[0], -kept.low[1]), np.minimum(kept.low[0], -kept.high[1])
        rounding = _ROUNDING * (top - bottom)
        distance[distance <= rounding] = 0.0
        # Where all kept points of each class are equal, nothing is left to divide.
        space[(np.abs(space) <= rounding) & (distance > 0)] = 0.0
        price = np.array(settings.alpha)
        if settings.penalty == "proportional":
            price = price / np.array(self.n_samples)
        penalty = price @ (removed.astype(float) if settings.slack == "binary" else kept.distance)
        mean, edge = self._reference + mean, self._reference + edge
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
        """Return the loss without the confidences: Σ 1/(N + 1) of (1), and the penalty of (12)."""
        v = np.array(self.settings.class_weight)[:, None]
        constant: FloatArray = (v / (levels.n + 1.0)).sum(axis=0) + levels.penalty
        return constant


# --- The solution: exact, and by SLSQP ------------------------------------------------------------


def best_of(
    problem: SupportProblem, level: IntArray, best: SupportSolution | None
) -> SupportSolution | None:
    """Return the best solution among some levels and the best so far.

    Bounds on the loss leave few levels to solve.
    """
    levels = problem.levels(level)
    levels = levels.take(problem.feasible(levels))
    least = np.inf if best is None else best.loss
    for n_shares in (2, 9, 65):
        if not len(levels.level):
            break
        k, w = problem.ratios(levels), problem.weights(levels)
        constant = problem.constant_loss(levels)
        shares = np.linspace(0.0, 1.0, n_shares)
        lower, upper = bound_loss(k, w, shares)
        least = min(least, float((constant + upper).min()))
        levels = levels.take(constant + lower <= least * (1 + 1e-13))
    if not len(levels.level):
        return best
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


def _descend(problem: SupportProblem, level: Levels, start: float) -> SupportSolution:
    """Minimise the loss over the first confidence at one level, by SLSQP."""
    if not np.all(level.step > 0):
        # A class that is a point is sure of itself: nothing is left to optimise.
        return cast(SupportSolution, best_of(problem, level.level, None))
    settings, (a1, a2), c = problem.settings, level.step[:, 0].tolist(), float(level.space[0])
    weight = cast(Pair, settings.class_weight)
    geometry = Geometry(
        n=(int(level.n[0, 0]), int(level.n[1, 0])),
        radius=(float(level.radius[0, 0]), float(level.radius[1, 0])),
        distance=float(level.distance[0]),
        gamma=settings.gamma,
        constant=settings.constant,
    )
    # Below the least δ the other class has no confidence left; at 1 the gradient is infinite.
    high = 1.0 - 1e-12
    low = min(max(float(np.exp(-0.5 * (c / a1) ** 2)), np.finfo(float).tiny), high)

    def value(delta1: float) -> float:
        found = float(loss(delta1, geometry, weight))
        at_end = weight[0] * float(class_error(geometry.n[0], delta1)) + weight[1]
        return at_end if np.isnan(found) else found  # beyond the end by a rounding error

    def objective(delta: FloatVector) -> float:
        return value(delta[0])

    def slope(delta: FloatVector) -> FloatVector:
        return np.array([float(loss_gradient(delta[0], geometry, weight))])

    from scipy.optimize import minimize  # slow to import, and seldom needed

    with warnings.catch_warnings():
        # Up to SciPy 1.15 a step may round to just outside the bounds; SciPy says so and clips it.
        warnings.filterwarnings("ignore", "Values in x were outside bounds", RuntimeWarning)
        result = minimize(
            objective,
            x0=np.array([min(max(start, low), high)]),
            jac=slope,
            bounds=[(low, high)],
            method="SLSQP",
        )
    delta1 = float(np.clip(result.x[0], low, high))
    u1 = float(_u(delta1))
    return SupportSolution(
        level=level,
        theta=a1 * u1 / c if c > 0 else 0.0,
        u=(u1, max((c - a1 * u1) / a2, 0.0)),
        loss=value(delta1) + float(level.penalty[0]),
        threshold=float(level.edge[0, 0] + a1 * (settings.constant + u1)),
    )


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


class Split(NamedTuple):
    r"""Best division of the free space in each of m problems.

    Parameters
    ----------
    theta : array of shape (m,)
        Share of the free space that the negative class gets.
    u : array of shape (2, m)
        :math:`u_i` of both classes; :math:`\ln \delta_i = -u_i^2/2`.
    loss : array of shape (m,)
        :math:`w_1 \delta_1 + w_2 \delta_2`.
    """

    theta: FloatArray
    u: FloatArray
    loss: FloatArray


def split_space(k: FloatArray, w: FloatArray) -> Split:
    """Divide the free space so that the loss is least, in each of m problems.

    Parameters
    ----------
    k : array of shape (2, m)
        Free space in steps of each class, ``C / a``; infinite for a class of radius zero.
    w : array of shape (2, m)
        Weights of the two confidences.

    Examples
    --------
    >>> w = np.ones((2, 1))
    >>> split_space(np.array([[10.0], [10.0]]), w).theta.round(9).tolist()
    [0.5]
    >>> split_space(np.array([[10.0], [5.0]]), w).theta.round(4).tolist()
    [0.3484]
    """
    k = np.minimum(k, _LARGEST_RATIO)
    z = _interior_minimum(k, w)
    inside = np.stack([expit(z), expit(-z)])
    losses = np.stack([_variable_loss(k, w, share) for share in (inside, _ENDS[0], _ENDS[1])])
    losses[0, np.isnan(z)] = np.inf
    # Between equally good ends the rarer class, which has the smaller weight, gets the space.
    end = np.where((losses[1] < losses[2]) | ((losses[1] == losses[2]) & (w[0] >= w[1])), 0, 1)
    take_end = losses[1 + end, np.arange(len(z))] < losses[0]
    share = np.where(take_end, np.stack([end, 1 - end]), inside)
    return Split(share[0], k * share, _variable_loss(k, w, share))


def bound_loss(k: FloatArray, w: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a lower and an upper bound on the loss of `split_space`, much cheaper.

    Between two neighbouring shares no class can have more than its better one of the two.

    Parameters
    ----------
    k, w : arrays of shape (2, m)
        As in `split_space`.
    shares : array
        From 0 to 1, ascending; the more, the tighter.

    Examples
    --------
    >>> lower, upper = bound_loss(np.array([[3.0], [2.0]]), np.ones((2, 1)), np.linspace(0, 1, 65))
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([0.904], [0.923])
    """
    k = np.minimum(k, _LARGEST_RATIO)
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
    z = np.full(k.shape[1], np.nan)
    peak = _peak_of_h(k)
    falls = _h(peak, k) > 1
    if not falls.any():
        return z
    k, w, peak = k[:, falls], w[:, falls], peak[falls]
    with np.errstate(divide="ignore"):
        offset = np.log(w[0] / w[1]) + 2 * np.log(k[0] / k[1])
    # f falls on both sides of the peak of h: follow it to where h has come down to 1.
    direction = np.where(_f(peak, k, offset) > 0, 1.0, -1.0)
    inside, outside = np.zeros_like(peak), np.full_like(peak, _Z_RANGE)
    for _ in range(32):
        middle = (inside + outside) / 2
        still = _h(peak + direction * middle, k) > 1
        inside, outside = np.where(still, middle, inside), np.where(still, outside, middle)
    end = peak + direction * inside
    crosses = direction * _f(end, k, offset) < 0
    low, high = np.minimum(peak, end)[crosses], np.maximum(peak, end)[crosses]
    z[np.flatnonzero(falls)[crosses]] = _root(low, high, k[:, crosses], offset[crosses])
    return z


def _f(z: FloatArray, k: FloatArray, offset: FloatArray) -> FloatArray:
    """Return f(z); the difference of squares is factored to keep its digits."""
    u1, u2 = k[0] * expit(z), k[1] * expit(-z)
    value: FloatArray = offset + z - 0.5 * (u1 - u2) * (u1 + u2)
    return value


def _h(z: FloatArray, k: FloatArray) -> FloatArray:
    first, second = expit(z), expit(-z)
    value: FloatArray = first * second * (k[0] ** 2 * first + k[1] ** 2 * second)
    return value


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


def _root(low: FloatArray, high: FloatArray, k: FloatArray, offset: FloatArray) -> FloatArray:
    """Return the zero of the falling f in [low, high]: Newton, safeguarded by bisection."""
    z = (low + high) / 2
    last = high - low
    for _ in range(200):
        value = _f(z, k, offset)
        low, high = np.where(value > 0, z, low), np.where(value > 0, high, z)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = value / (_h(z, k) - 1)
            trusted = (z + step > low) & (z + step < high) & (np.abs(step) < 0.5 * np.abs(last))
        last = np.where(trusted, step, (low + high) / 2 - z)
        z = z + last
        # Newton's error after a step is of the order of the step squared.
        if np.all(np.abs(last) <= np.where(trusted, 1e-9, 1e-15) * np.maximum(np.abs(z), 1.0)):
            break
    return z


# --- The answer: solution or fallback -------------------------------------------------------------


@dataclass(frozen=True)
class SupportGeometry:
    """What the paper's method knows of a boundary; pairs are (negative, positive).

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
        Points given up.
    """

    deltas: Pair
    log_deltas: Pair
    means: Pair
    radii: Pair
    confidence_radii: Pair
    supports: tuple[Pair, Pair]
    slack: tuple[int, int]


class Answer(NamedTuple):
    """A boundary in the sample's units, what happened, and the paper's quantities."""

    found: Found
    status: Status
    geometry: SupportGeometry


def solve_paper(sample: ScoreSample, settings: SupportSettings) -> Answer:
    """Solve in the orientation in which the positive class lies above, or fall back.

    Parameters
    ----------
    sample : ScoreSample
        Scores of both classes.
    settings : SupportSettings
        Of the paper's method, resolved for the sample.
    """
    upright = sample.reversed() if sample.is_reversed else sample
    problem = SupportProblem(upright, settings)
    solution = settings.solver.solve(problem) if min(sample.n_samples) > 1 else None
    if solution is None:
        return fall_back(sample, settings)
    geometry = _describe(upright, problem, solution.level, solution.u)
    errors = [
        min(1.0, float(class_error(n - m, delta)) + m / n)
        for n, m, delta in zip(sample.n_samples, geometry.slack, geometry.deltas, strict=True)
    ]
    status = Status.RELAXED if any(geometry.slack) else Status.OPTIMAL
    threshold = _settle(solution.threshold, solution.level)
    found = Found(threshold, (threshold, threshold), (errors[0], errors[1]), solution.loss)
    answer = Answer(found, status if settings.solver.is_global else Status.LOCAL, geometry)
    return _mirror_back(answer) if sample.is_reversed else answer


def fall_back(sample: ScoreSample, settings: SupportSettings) -> Answer:
    """Return the documented boundary for a problem without a solution; parameters as above."""
    upright = sample.reversed() if sample.is_reversed else sample
    problem = SupportProblem(upright, settings)
    if min(sample.n_samples) == 1:
        status = Status.SINGLE_ROW
    elif sample.negative.median == sample.positive.median:
        status = Status.UNINFORMATIVE
    else:
        status = Status.INFEASIBLE
    first, deepest = problem.levels(np.array([0])), problem.levels(np.array([problem.last]))
    facing = first.mean if settings.fallback == "means" else deepest.edge
    middle = float(facing[0, 0] - facing[1, 0]) / 2
    found = Found(middle, (middle, middle), (1.0, 1.0), np.inf)
    answer = Answer(found, status, _describe(upright, problem, first, (0.0, 0.0)))
    if sample.is_reversed:
        answer = _mirror_back(answer)
    if isinstance(settings.fallback, str):
        return answer
    given = float(sample.from_units(settings.fallback))
    return answer._replace(found=found._replace(threshold=given, plateau=(given, given)))


def _mirror_back(answer: Answer) -> Answer:
    """Return the answer to the problem whose scores have the other sign.

    The paper bounds the errors of `score < threshold` there; those of `score > threshold` may be
    anything up to 1.
    """
    (low, high), geometry = answer.found.plateau, answer.geometry
    (a, b), (c, d) = geometry.supports
    means = (-geometry.means[0], -geometry.means[1])
    loss = 2.0 if answer.status.solved else np.inf
    return Answer(
        Found(-answer.found.threshold, (-high, -low), (1.0, 1.0), loss),
        Status.REVERSED if answer.status.solved else answer.status,
        replace(geometry, means=means, supports=((-b, -a), (-d, -c))),
    )


def _describe(
    sample: ScoreSample, problem: SupportProblem, level: Levels, u: Pair
) -> SupportGeometry:
    """Return the paper's quantities at a level, in units of the given scores."""
    kept, removed, units = (
        problem.keep(level.level),
        problem.removed[:, level.level],
        sample.unscale,
    )
    reach = level.step[:, 0] * (problem.settings.constant + np.array(u))
    (m1, m2), (r1, r2), (c1, c2) = level.mean[:, 0], level.radius[:, 0], level.radius[:, 0] + reach
    (low1, low2), (high1, high2) = kept.low[:, 0], kept.high[:, 0]
    log_deltas = (-0.5 * u[0] ** 2, -0.5 * u[1] ** 2)
    return SupportGeometry(
        deltas=(float(np.exp(log_deltas[0])), float(np.exp(log_deltas[1]))),
        log_deltas=log_deltas,
        means=(units(m1), units(-m2)),
        radii=(units(r1), units(r2)),
        confidence_radii=(units(c1), units(c2)),
        supports=((units(low1), units(high1)), (units(-high2), units(-low2))),
        slack=(int(removed[0, 0]), int(removed[1, 0])),
    )


def _settle(threshold: float, level: Levels) -> float:
    """Keep a threshold clear of the edges between which it lies.

    At an end of the constraint it falls on a kept score, and a rounding error would decide
    on which side of the boundary that score stands.
    """
    low, high = float(level.edge[0, 0]), -float(level.edge[1, 0])
    kept_range = float(level.distance[0] + level.radius[:, 0].sum())
    clear = min(_CLEARANCE * kept_range, (high - low) / 4)
    threshold = min(max(threshold, low + clear), high - clear)
    return max(min(threshold, float(np.nextafter(high, -np.inf))), low)
