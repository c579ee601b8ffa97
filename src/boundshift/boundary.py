"""From labelled scores to one boundary: `find_boundary`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boundshift.curves import ErrorCurve, as_curve
from boundshift.curves.support import SupportRadius
from boundshift.equations import class_error
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.options import PRESETS, as_start, read_options
from boundshift.passes import Source, decide_in_passes
from boundshift.record import QUIET, Boundary, Status
from boundshift.rules import NeymanPearson, Rule, Sum, as_rule
from boundshift.scores import OrderedScores, ScoreSample
from boundshift.search import Found, find_minimum
from boundshift.slsqp import solve_slsqp
from boundshift.sources import find_source
from boundshift.support import Levels, Support, SupportProblem, SupportSolution, solve
from boundshift.validation import as_choice, as_fallback

__all__ = [
    "DEFAULT_BOUND",
    "DEFAULT_RULE",
    "PRESETS",
    "Boundary",
    "Status",
    "choose_claims",
    "decide_on",
    "decision",
    "find_boundary",
    "warn_of",
]

Pair = tuple[float, float]

DEFAULT_BOUND = "logistic"
DEFAULT_RULE = "g-mean"

# A threshold keeps this share of the kept scores' range from a score that it must not touch.
_CLEARANCE = 1e-10


def find_boundary(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    bound: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    preset: Literal["paper", "authors"] | None = None,
    gamma: float | None = None,
    constant: float | None = None,
    radius: Literal["one-sided", "two-sided"] | None = None,
    slack: Literal["binary", "continuous"] | None = None,
    penalty: Literal["proportional", "count"] | None = None,
    alpha: float | Pair | None = None,
    budget: int | float | Literal["all"] | None = None,
    class_weight: float | Pair | Mapping[Any, float] | None = None,
    centre: Literal["median", "mean"] | None = None,
    stop_at_zero: bool | None = None,
    solver: Literal["exact", "slsqp"] = "exact",
    start: float = 1.0,
    fallback: Literal["edges", "means"] | float = "edges",
) -> Boundary:
    r"""Find the decision boundary that class-wise confidence bounds ask for.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two labels of any kind. Dask arrays and series, Arrow arrays, memory maps and iterables
        of chunks are read in passes and never held whole: see :mod:`boundshift.engines`.
    y_score : array-like of shape (n_samples,)
        Real scores, higher for the positive class. Probabilities are scores too.
    pos_label : label, default=None
        The positive class; None takes the greater label (1 of 0 and 1, True, "yes" of "no").
    bound : str or ErrorCurve, default=None
        The claim on each class's error: "support" (the paper), "kth-point", "clopper-pearson",
        "dkw", "bernstein", "student-t", "smoothed", "logistic", or an object from
        :mod:`boundshift.curves`.
        None is "logistic", which does best on real data; "clopper-pearson" with the rule
        "neyman-pearson", whose floor asks for a guarantee; and "support" where one of its
        arguments below is given.
    rule : str or Rule, default=None
        How the two claims become one number: "sum", "minimax", "g-mean", "cost",
        "neyman-pearson", "metric", or an object from :mod:`boundshift.rules` with its own
        arguments. None is "g-mean", and "sum" with the bound "support", as in the paper.
    preset : {"paper", "authors"}, default=None
        Starting values of all arguments below that are None. "paper" is the paper's text:
        constant 2, two-sided radius, penalty by count, every slack level. "authors" is the
        combination that made the paper's tables: constant 2, two-sided radius, proportional
        penalty, half of the rows as budget, no slack where none is needed. None is a choice
        that gives real problems an answer. This and all that follows is for
        ``bound="support"``; slack, penalty, alpha, budget, class_weight, stop_at_zero and solver
        only with ``rule="sum"``.
    gamma : float, default=1
        Factor of the concentration term: 1 as in Eq. R_hat_upper_bound, 2 as in
        Eq. test_point_bound, which the triangle inequality gives.
    constant : float, default=0
        Constant of the concentration term: 2 as printed, or 0, since scores have one dimension
        and Hoeffding's inequality does not need it.
    radius : {"one-sided", "two-sided"}, default="one-sided"
        Whether a class's radius counts only the points towards the other class.
    slack : {"binary", "continuous"}, default="binary"
        Whether a point given up costs 1 or its distance to the class centre. Continuous slack
        depends on the unit of the scores.
    penalty : {"proportional", "count"}, default="proportional"
        Whether the slack of a class is divided by the class's size. Proportional slack adds up
        with the loss to a claim on both error rates.
    alpha : float or pair (negative, positive), default=1
        Price of slack, above 0.
    budget : int, float or "all", default="all"
        Most points to give up: a number, a share of all rows in (0, 1], or all but two of each
        class.
    class_weight : float, pair (negative, positive) or dict from label to float, default=1
        Weights of the two classes' errors in the loss.
    centre : {"median", "mean"}, default="median"
        Points farthest from here are given up first. A single far outlier drags the mean, which
        the paper uses, and with it the wrong points. With "median" both classes give up equal
        shares at a time, with "mean" one point at a time as in the authors' code.
    stop_at_zero : bool, default=False
        Whether to give up nothing where the problem has a solution as it is, or to look at every
        slack level for a lower loss.
    solver : {"exact", "slsqp"}, default="exact"
        The exact global optimum over all slack levels, or the paper's local optimiser, which
        takes about a millisecond a level.
    start : float, default=1
        First guess of the negative class's δ for SLSQP.
    fallback : {"edges", "means"} or float, default="edges"
        Boundary where no level is feasible: the middle between the facing edges of what is kept
        when the whole budget is given up, the middle between the class means, or a number.

    Returns
    -------
    Boundary
        Always a boundary; its ``status`` says how it was found.

    Warns
    -----
    BoundaryWarning
        If the fallback is used, or the positive class has the lower scores.

    Notes
    -----
    By default each class's error is estimated by a logistic calibration of the scores, and the
    boundary is where the geometric mean of both recalls is best; see
    :class:`~boundshift.curves.logistic.Logistic` and :class:`~boundshift.rules.GMean`.

    With ``bound="support"``, per class, on the kept points: count :math:`N_i`, mean
    :math:`\mu_i`, radius :math:`R_i`. The confidence radius is
    :math:`R_i + \gamma R_i N_i^{-1/2} (c + \sqrt{2 \ln 1/\delta_i})`. Both confidence radii
    together fill the distance of the means, and the sum over the classes of
    :math:`(1 - \delta_i)/(N_i + 1) + \delta_i`, plus the price of the points given up, is as
    small as it can be. The boundary is where they meet.

    Scores :math:`p s + q` with :math:`p > 0` have the boundary :math:`p t + q` (binary slack), a
    mirrored problem the mirrored boundary, and the order of the rows does not matter.

    References
    ----------
    M. Clifford, J. Erskine, A. Hepburn, R. Santos-Rodríguez, D. Garcia-Garcia, "Learning
    Confidence Bounds for Classification with Imbalanced Data", ECAI 2024.

    Examples
    --------
    Ten sick patients among a thousand healthy ones:

    >>> import numpy as np
    >>> from boundshift import find_boundary
    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(-2, 1, 1000), rng.normal(2, 1, 10)])
    >>> labels = np.repeat(["healthy", "sick"], [1000, 10])
    >>> boundary = find_boundary(labels, scores, pos_label="sick")
    >>> round(boundary.threshold, 2)
    0.52
    >>> boundary.status.value
    'The optimum, after some points were given up because the classes overlap.'

    The paper's method gives a rare class more room than a common one:

    >>> paper = find_boundary(labels, scores, pos_label="sick", preset="authors")
    >>> round(paper.threshold, 2)
    -0.31
    """
    decide = decision(
        bound=bound,
        rule=rule,
        preset=preset,
        gamma=gamma,
        constant=constant,
        radius=radius,
        slack=slack,
        penalty=penalty,
        alpha=alpha,
        budget=budget,
        class_weight=class_weight,
        centre=centre,
        stop_at_zero=stop_at_zero,
        solver=solver,
        start=start,
        fallback=fallback,
    )
    source = find_source(y_true, y_score)
    if source is None:
        boundary = decide(ScoreSample.from_labels(y_true, y_score, pos_label))
    else:
        boundary = decide_on(source, decide, pos_label=pos_label)
    warn_of(boundary, stacklevel=3)
    return boundary


def warn_of(boundary: Boundary, stacklevel: int) -> None:
    """Warn of a boundary that needs a second look."""
    if boundary.status not in QUIET:
        warnings.warn(boundary.status.value, BoundaryWarning, stacklevel=stacklevel)


def decide_on(
    source: Source, decide: Callable[[ScoreSample], Boundary], **options: Any
) -> Boundary:
    """Return the boundary of a source, with its resolution."""
    boundary, how = decide_in_passes(source, decide, **options)
    return replace(boundary, resolution=how.resolution)


def decision(
    *,
    bound: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    preset: Literal["paper", "authors"] | None = None,
    gamma: float | None = None,
    constant: float | None = None,
    radius: Literal["one-sided", "two-sided"] | None = None,
    slack: Literal["binary", "continuous"] | None = None,
    penalty: Literal["proportional", "count"] | None = None,
    alpha: float | Pair | None = None,
    budget: int | float | Literal["all"] | None = None,
    class_weight: float | Pair | Mapping[Any, float] | None = None,
    centre: Literal["median", "mean"] | None = None,
    stop_at_zero: bool | None = None,
    solver: Literal["exact", "slsqp"] = "exact",
    start: float = 1.0,
    fallback: Literal["edges", "means"] | float = "edges",
) -> Callable[[ScoreSample], Boundary]:
    """Return the function from a sample to its boundary; arguments as in `find_boundary`."""
    given: dict[str, Any] = {
        "preset": preset,
        "gamma": gamma,
        "constant": constant,
        "radius": radius,
        "slack": slack,
        "penalty": penalty,
        "alpha": alpha,
        "budget": budget,
        "class_weight": class_weight,
        "centre": centre,
        "stop_at_zero": stop_at_zero,
        "solver": None if solver == "exact" else solver,
    }
    given = {name: value for name, value in given.items() if value is not None}
    curve, rule = choose_claims(bound, rule, bool(given))
    as_choice("solver", solver, ("exact", "slsqp"))
    start = as_start(start)
    fallback = as_fallback(fallback)
    if isinstance(curve, SupportRadius):
        given = {k: v for k, v in vars(curve).items() if isinstance(bound, ErrorCurve)} | given
    is_paper = isinstance(curve, SupportRadius) and isinstance(rule, Sum)
    if not is_paper:
        curve = _plain_curve(curve, rule, given)

    def decide(sample: ScoreSample) -> Boundary:
        """Return the boundary of a sample."""
        if not is_paper:
            return _minimise(sample, curve, rule, fallback)
        wanted = {k: v for k, v in given.items() if k not in ("solver", "preset")}
        options = read_options(given.get("preset"), wanted, sample)
        return _solve_sample(sample, options, solver, start, fallback)

    return decide


def choose_claims(
    bound: str | ErrorCurve | None, rule: str | Rule | None, has_options: bool = False
) -> tuple[ErrorCurve, Rule]:
    """Return the curve and the rule, each the default for the other where none is named."""
    if bound is None:
        floor = rule is not None and isinstance(as_rule(rule), NeymanPearson)
        bound = "support" if has_options else "clopper-pearson" if floor else DEFAULT_BOUND
    curve = as_curve(bound)
    if rule is None:
        rule = "sum" if isinstance(curve, SupportRadius) else DEFAULT_RULE
    return curve, as_rule(rule)


def _plain_curve(curve: ErrorCurve, rule: Rule, given: dict[str, Any]) -> ErrorCurve:
    """Return the curve with the arguments it takes; raise for those that it cannot use."""
    taken = {"gamma", "constant", "radius", "centre"} if isinstance(curve, SupportRadius) else set()
    extra = sorted(set(given) - taken)
    if extra:
        raise InvalidInputError(
            f"`{extra[0]}` must be left out unless bound='support' and rule='sum', got "
            f"{given[extra[0]]!r} with bound={curve.name!r} and rule={rule.name!r}. "
            "Give the arguments of a curve or a rule to its object, for example "
            "bound=ClopperPearson(confidence=0.9)."
        )
    return SupportRadius(**given) if taken else curve


def _minimise(
    sample: ScoreSample, curve: ErrorCurve, rule: Rule, fallback: str | float
) -> Boundary:
    """Return the boundary at the rule's minimum on the curves."""
    if rule.is_balanced and sample.positive.median < sample.negative.median:
        return _turned(_minimise(sample.reversed(), curve, rule, fallback))
    found = find_minimum(curve, rule, sample)
    if isinstance(curve, SupportRadius) and found.errors == (1.0, 1.0):
        problem = SupportProblem(sample, Support())
        return replace(_fall_back(sample, problem, fallback), bound=curve.name, rule=rule.name)
    return _claim(sample, curve, rule, found)


def _claim(sample: ScoreSample, curve: ErrorCurve, rule: Rule, found: Found) -> Boundary:
    """Put what was found into a record; points on the wrong side count as given up."""
    t, units = found.threshold, sample.to_units
    wrong = (
        sample.negative.n - int(sample.negative.count_at_most(t)),
        int(sample.positive.count_at_most(t)),
    )
    kept = (
        _Kept.below(sample.negative, t),
        _Kept.below(sample.positive.mirrored(), -t).mirrored(),
    )
    log_deltas = (kept[0].log_delta, kept[1].log_delta)
    if not np.isnan(curve.delta):
        log_deltas = (float(np.log(curve.delta)),) * 2
    return Boundary(
        threshold=units(t),
        status=_status(sample, wrong) if rule.met(*found.errors) else Status.UNMET,
        deltas=(float(np.exp(log_deltas[0])), float(np.exp(log_deltas[1]))),
        error_bounds=found.errors,
        loss=found.value,
        slack=wrong,
        n_samples=sample.n_samples,
        labels=sample.labels,
        log_deltas=log_deltas,
        means=(units(kept[0].mean), units(kept[1].mean)),
        radii=(units(kept[0].radius), units(kept[1].radius)),
        confidence_radii=(units(abs(t - kept[0].mean)), units(abs(t - kept[1].mean))),
        supports=(
            (units(kept[0].support[0]), units(kept[0].support[1])),
            (units(kept[1].support[0]), units(kept[1].support[1])),
        ),
        plateau=(units(found.plateau[0]), units(found.plateau[1])),
        bound=curve.name,
        rule=rule.name,
    )


def _status(sample: ScoreSample, wrong: tuple[int, int]) -> Status:
    """Return what is to be said about a boundary from curves other than the paper's."""
    negative, positive = sample.negative, sample.positive
    if negative.median == positive.median and positive.mean <= negative.mean:
        return Status.CHANCE
    if _is_reversed(sample):
        return Status.REVERSED
    if min(sample.n_samples) == 1:
        return Status.LONE_ROW
    return Status.RELAXED if any(wrong) else Status.OPTIMAL


class _Kept(NamedTuple):
    """The points of a class below a boundary, and ln δ of the paper's radius that ends there."""

    support: Pair
    mean: float
    radius: float
    log_delta: float

    @classmethod
    def below(cls, scores: OrderedScores, t: float) -> _Kept:
        """Describe what is kept if the points above are given up; everything, if all are."""
        kept = int(scores.count_at_most(t)) or scores.n
        edge = float(scores.at(kept - 1))
        sums = scores.sums_from(kept - 1)
        inward = float(sums(np.array([kept]))[0] - sums(np.array([0]))[0]) / kept
        radius, support = max(-inward, 0.0), (scores.minimum, edge)
        distance = max(t - edge, 0.0)
        if distance == 0.0 or radius == 0.0:  # on the edge nothing is claimed; one point is certain
            return cls(support, edge + inward, radius, -np.inf if distance else 0.0)
        u = math.sqrt(kept) * (distance / radius)
        return cls(support, edge + inward, radius, -0.5 * u * u)

    def mirrored(self) -> _Kept:
        """Return the same for scores whose sign is changed."""
        low, high = self.support
        return self._replace(support=(-high, -low), mean=-self.mean)


def _solve_sample(
    sample: ScoreSample,
    options: Support,
    solver: str,
    start: float,
    fallback: str | float,
) -> Boundary:
    """Solve in the orientation in which the positive class lies above, or fall back."""
    is_reversed = _is_reversed(sample)
    upright = sample.reversed() if is_reversed else sample
    problem = SupportProblem(upright, options)
    solution = None
    if min(sample.n_samples) > 1:
        solution = solve(problem) if solver == "exact" else solve_slsqp(problem, start)
    if solution is None:
        boundary = _fall_back(upright, problem, fallback)
    else:
        boundary = _record(upright, problem, solution, solver)
    if is_reversed:
        boundary = _turned(boundary)
    if isinstance(fallback, int | float) and not boundary.status.solved:
        boundary = replace(boundary, threshold=float(fallback))
    return boundary


def _is_reversed(sample: ScoreSample) -> bool:
    """Return whether the positive class lies below; medians decide, since an outlier may not."""
    negative, positive = sample.negative, sample.positive
    if positive.median == negative.median:
        return positive.mean < negative.mean
    return positive.median < negative.median


def _record(
    sample: ScoreSample, problem: SupportProblem, solution: SupportSolution, solver: str
) -> Boundary:
    """Put a solution into a record."""
    log_deltas = (-0.5 * solution.u[0] ** 2, -0.5 * solution.u[1] ** 2)
    deltas = (float(np.exp(log_deltas[0])), float(np.exp(log_deltas[1])))
    known = _describe(sample, problem, solution.level, solution.u)
    errors = [
        min(1.0, float(class_error(n - m, delta)) + m / n)
        for n, m, delta in zip(known.n_samples, known.slack, deltas, strict=True)
    ]
    relaxed = Status.RELAXED if any(known.slack) else Status.OPTIMAL
    threshold = _settle(sample, solution.threshold, solution.level)
    return replace(
        known,
        threshold=threshold,
        plateau=(threshold, threshold),
        status=Status.LOCAL if solver == "slsqp" else relaxed,
        deltas=deltas,
        error_bounds=(errors[0], errors[1]),
        loss=solution.loss,
        log_deltas=log_deltas,
    )


def _fall_back(sample: ScoreSample, problem: SupportProblem, fallback: str | float) -> Boundary:
    """Return the documented boundary for a problem without a solution."""
    if min(sample.n_samples) == 1:
        status = Status.SINGLE_ROW
    elif sample.negative.median == sample.positive.median:
        status = Status.UNINFORMATIVE
    else:
        status = Status.INFEASIBLE
    deepest = problem.levels(np.array([problem.last]))
    facing = deepest.edge if fallback == "edges" else problem.levels(np.array([0])).mean
    middle = float(facing[0, 0] - facing[1, 0]) / 2
    known = _describe(sample, problem, problem.levels(np.array([0])), (0.0, 0.0))
    threshold = sample.to_units(middle)
    return replace(known, status=status, threshold=threshold, plateau=(threshold, threshold))


def _describe(sample: ScoreSample, problem: SupportProblem, level: Levels, u: Pair) -> Boundary:
    """Return what is known of the kept points, with nothing claimed yet."""
    given_up = problem.path.given_up(level.level)
    kept = [w.keep(m) for w, m in zip(problem.windows, given_up, strict=True)]
    reach = level.step[:, 0] * (problem.options.constant + np.array(u))
    units = sample.to_units
    return Boundary(
        threshold=np.nan,
        status=Status.INFEASIBLE,
        deltas=(1.0, 1.0),
        error_bounds=(1.0, 1.0),
        loss=np.inf,
        slack=(int(given_up[0, 0]), int(given_up[1, 0])),
        n_samples=sample.n_samples,
        labels=sample.labels,
        log_deltas=(0.0, 0.0),
        means=(units(level.mean[0, 0]), units(-level.mean[1, 0])),
        radii=(units(level.radius[0, 0]), units(level.radius[1, 0])),
        confidence_radii=(
            units(level.radius[0, 0] + reach[0]),
            units(level.radius[1, 0] + reach[1]),
        ),
        supports=(
            (units(kept[0].low[0]), units(kept[0].high[0])),
            (units(-kept[1].high[0]), units(-kept[1].low[0])),
        ),
        plateau=(np.nan, np.nan),
    )


def _settle(sample: ScoreSample, threshold: float, level: Levels) -> float:
    """Keep a threshold clear of the edges between which it lies.

    At an end of the constraint it falls on a kept score, and a rounding error would decide
    on which side of the boundary that score stands.
    """
    low, high = float(level.edge[0, 0]), -float(level.edge[1, 0])
    kept_range = float(level.distance[0] + level.radius[:, 0].sum())
    clear = min(_CLEARANCE * kept_range, (high - low) / 4)
    threshold = min(max(threshold, low + clear), high - clear)
    return sample.to_units(max(min(threshold, float(np.nextafter(high, -np.inf))), low))


def _turned(boundary: Boundary) -> Boundary:
    """Return the boundary of the problem with scores negated."""
    (a, b), (c, d) = boundary.supports
    return replace(
        boundary,
        threshold=-boundary.threshold,
        plateau=(-boundary.plateau[1], -boundary.plateau[0]),
        status=Status.REVERSED if boundary.status.solved else boundary.status,
        means=(-boundary.means[0], -boundary.means[1]),
        supports=((-b, -a), (-d, -c)),
    )
