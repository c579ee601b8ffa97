"""From labelled scores to one boundary: `find_boundary`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boundshift.curves import Blend, ClopperPearson, Empirical, ErrorCurve, as_curve
from boundshift.curves.base import Solution, status_of
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.result.boundary import Boundary
from boundshift.rules import Cost, Floors, Rule, Sum, as_rule
from boundshift.rules.binary import bind_labels
from boundshift.scores import Scale, ScoreSample, judge_weights
from boundshift.search import search_gaps
from boundshift.streaming.driver import decide_in_passes
from boundshift.streaming.read import Source, find_source
from boundshift.validation import are_signs, as_row_cost, as_rows, own_cost

__all__ = [
    "check_row_cost",
    "choose_claims",
    "decide_by_row",
    "decide_on",
    "find_boundary",
    "make_decision",
    "warn_of",
]


def find_boundary(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    row_cost: ArrayLike | None = None,
    scale: Scale = "auto",
) -> Boundary:
    r"""Find the decision boundary that class-wise error curves ask for.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two labels of any kind. Dask arrays and series, Arrow arrays, memory maps and iterables
        of chunks are read in passes and never held whole: see :mod:`boundshift.streaming`.
    y_score : array-like of shape (n_samples,)
        Real scores, higher for the positive class, or its probabilities.
    curve : str or ErrorCurve, default=None
        The claim on each class's error: "blend", "logistic", "smoothed", "student-t", "kth-point",
        "clopper-pearson", "dkw", "bernstein", the paper's "support" ("paper" and "authors" with
        their settings), or an object from :mod:`boundshift.curves`. None is the rule's own curve
        ("clopper-pearson" for floors that are promised, "empirical" for those that are not),
        else "blend".
    rule : str or Rule, default=None
        How the two claims become one number: "g-mean", "sum", "minimax", "cost", or an object
        from :mod:`boundshift.rules`, such as ``Cost(false_negative=20)`` or
        ``Floors(recall=0.9)``. None is the curve's own: "sum" for the paper's, else "g-mean".
    pos_label : label, default=None
        The positive class. None takes the greater label, to which scores point as those of
        scikit-learn do; words need it where the rule does not treat both classes alike.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts, as a frequency: a weight of 2 is the row twice, fractions are
        allowed, and nothing is rescaled. For curves that estimate; those that count rows refuse.
        Of the same kind as labels and scores where these are read in passes.
    row_cost : array-like of shape (n_samples,) or (n_samples, 2), default=None
        What is lost if the row is decided wrongly, an amount and not a frequency: the boundary is
        where these rows cost least together. Two columns are the costs of a false positive and of
        a false negative, of which each row takes that of its class. With no curve, and no rule but
        "cost".
    scale : {"auto", "probability", "raw"}, default="auto"
        Whether scores are decided on their log-odds, and the threshold is returned as a
        probability. "auto": if all of them lie in [0, 1], unless all are 0 or 1 or the same.
        "raw": never. "probability": refuses scores outside [0, 1].

    Returns
    -------
    Boundary
        Always a boundary; its ``status`` says how it was found.

    Warns
    -----
    BoundaryWarning
        If the status needs a second look, for example where a fallback is used.

    Notes
    -----
    By default each class's errors are read off its own smoothed scores, and off a calibration of
    all rows as far as it has few; the boundary is where the geometric mean of both recalls is
    best, and of those nearly as good the one with the fewest errors of the larger class. See
    :class:`~boundshift.curves.Blend` and :class:`~boundshift.rules.GMean`.

    Scores :math:`p s + q` with :math:`p > 0` have the boundary :math:`p t + q`, a mirrored
    problem the mirrored boundary, and the order of the rows does not matter. Probabilities are the
    exception: what holds for scores holds for their log-odds :math:`\ln(p / (1 - p))`. An exact 0
    counts as half the odds of the least positive score, an exact 1 as twice the odds of the
    largest below 1. Curves that only count rows find the same gap between two scores either way;
    the threshold stands in the middle of it by log-odds. It lies in [0, 1], unless rows with a
    probability of exactly 0 are to be flagged: only a threshold below 0 does that, as a row is
    called positive iff its score is greater.

    Examples
    --------
    Ten sick patients among a thousand healthy ones:

    >>> import numpy as np
    >>> from boundshift import find_boundary
    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(-2, 1, 1000), rng.normal(2, 1, 10)])
    >>> labels = np.repeat(["healthy", "sick"], [1000, 10])
    >>> boundary = find_boundary(labels, scores, pos_label="sick")
    >>> round(boundary.threshold, 2), boundary.wrong
    (0.3, (9, 0))

    The paper's method gives a rare class more room than a common one:

    >>> round(find_boundary(labels, scores, curve="authors").threshold, 2)
    -0.31

    A check-up costs 1 for everybody, and a missed patient 5 to 50, depending on the patient:

    >>> costs = np.column_stack([np.ones(1010), rng.uniform(5, 50, 1010)])
    >>> found = find_boundary(labels, scores, pos_label="sick", row_cost=costs)
    >>> round(found.threshold, 2), found.wrong
    (0.59, (2, 0))
    """
    if row_cost is not None:
        check_row_cost(curve, rule, sample_weight)
        boundary = decide_by_row(y_true, y_score, row_cost, pos_label, scale)
        warn_of(boundary, stacklevel=3)
        return boundary
    curve, rule = choose_claims(curve, rule)
    decide = partial(_decide_sample, curve=curve, rule=rule, scale=scale)
    source = find_source(y_true, y_score, sample_weight)
    if source is None:
        sample = ScoreSample.from_labels(
            y_true, y_score, pos_label, alike=rule.alike, sample_weight=sample_weight
        )
        for doubt in judge_weights(sample) if sample_weight is not None else ():
            warnings.warn(doubt, BoundaryWarning, stacklevel=2)
        boundary = decide(sample)
    else:
        boundary = decide_on(
            source,
            make_decision(curve, rule),
            pos_label=pos_label,
            alike=rule.alike,
            scale=scale,
        )
    warn_of(boundary, stacklevel=3)
    return boundary


def decide_by_row(
    y_true: ArrayLike,
    y_score: ArrayLike,
    row_cost: ArrayLike,
    pos_label: object = None,
    scale: Scale = "raw",
) -> Boundary:
    """Return the boundary at which the rows decided wrongly cost least."""
    if find_source(y_true, y_score) is not None:
        raise InvalidInputError(
            "`row_cost` must go with labels and scores in memory, got data that is read in "
            "passes. Load the columns first."
        )
    is_positive, scores, labels = as_rows(y_true, y_score, pos_label, alike=False)
    cost = own_cost(as_row_cost(row_cost, len(scores)), is_positive)
    sample = replace(ScoreSample.from_labels(is_positive, scores), labels=labels).on_scale(scale)
    _check_direction(sample, Cost())
    # In units of the mean cost the rows' costs are weights, whose sum is least.
    weight, unit = cost / cost.mean(), float(cost.mean())
    negative, positive = (
        replace(c, count=weight[mine][np.argsort(scores[mine], kind="stable")])
        for c, mine in ((sample.negative, ~is_positive), (sample.positive, is_positive))
    )
    found = search_gaps(
        lambda wrong, _: np.asarray(wrong) / len(scores),
        Sum(),
        replace(sample, negative=negative, positive=positive),
    )
    rates = Empirical().errors(sample)(np.array([found.threshold]))
    errors = float(rates[0][0]), float(rates[1][0])
    found = found._replace(errors=errors, value=found.value * unit)
    return _record(Solution(found, status_of(sample)), sample, Empirical(), Cost())


def check_row_cost(
    curve: str | ErrorCurve | None, rule: str | Rule | None, sample_weight: ArrayLike | None
) -> None:
    """Raise if costs by row are to go with what they leave no room for."""
    chosen = Cost() if rule is None else as_rule(rule)
    if curve is not None or chosen != Cost() or sample_weight is not None:
        raise InvalidInputError(
            "`row_cost` must go without curve, sample_weight and any rule but 'cost': every row "
            f"has its own cost, got curve={curve!r} and rule={rule!r}. Multiply the costs of a "
            "class instead of weighing it."
        )


def choose_claims(
    curve: str | ErrorCurve | None = None, rule: str | Rule | None = None
) -> tuple[ErrorCurve, Rule]:
    """Return the curve and the rule, each the default for the other where none is named.

    Examples
    --------
    >>> choose_claims(None, None)
    (Blend(rows=10.0), GMean(tolerance=0.0025))
    >>> choose_claims("paper")[1]
    Sum()
    """
    chosen = None if rule is None else as_rule(rule)
    claims: ErrorCurve
    if curve is not None:
        claims = as_curve(curve)
    elif isinstance(chosen, Floors):
        claims = Empirical() if chosen.level is None else ClopperPearson(chosen.level)
    elif chosen is None or chosen.own_curve is None:
        claims = Blend()
    else:
        claims = as_curve(chosen.own_curve)
    return claims, chosen or claims.default_rule


def make_decision(
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    scale: Scale = "raw",
) -> Callable[[ScoreSample], Boundary]:
    """Return the function from a sample to its boundary; arguments as in `find_boundary`.

    Scores are decided as they are unless a scale is named: those of a model are log-odds already.
    """
    curve, rule = choose_claims(curve, rule)
    return partial(_decide_sample, curve=curve, rule=rule, scale=scale)


def _decide_sample(
    sample: ScoreSample, curve: ErrorCurve, rule: Rule, scale: Scale = "raw"
) -> Boundary:
    """Return the boundary of a sample."""
    sample = sample.on_scale(scale)
    if getattr(curve, "spreads_rows", False):
        # In passes a smooth curve takes each cell as one point, so one pass is enough.
        sample = sample.as_points()
    _check_direction(sample, rule)
    rule = bind_labels(rule, sample.labels)
    return _record(curve.solve(sample, rule), sample, curve, rule)


def _record(solution: Solution, sample: ScoreSample, curve: ErrorCurve, rule: Rule) -> Boundary:
    """Put a solution into a record, in the units of the given scores."""
    found = solution.found
    above, below = sample.count_wrong(np.array([found.threshold]))
    threshold = sample.to_threshold(found.threshold)
    low, high = (sample.to_units(end) for end in found.plateau)
    return Boundary(
        threshold=threshold,
        status=solution.status,
        errors=found.errors,
        wrong=(above[0].item(), below[0].item()),
        loss=found.value,
        n_samples=sample.n_samples,
        labels=sample.labels,
        curve=curve,
        rule=rule,
        # A threshold that flags an exact 0 is below it; others may be off by a rounding error.
        plateau=(min(low, threshold), max(high, threshold)),
        geometry=solution.geometry,
        detail=solution.detail,
        scale="raw" if sample.log_odds is None else "probability",
    )


def _check_direction(sample: ScoreSample, rule: Rule) -> None:
    """Raise if a rule for one of two named classes gets scores that point to the other one."""
    if rule.alike or are_signs(sample.labels) or not sample.is_reversed:
        return
    low, high = (sample.to_units(c.median) for c in (sample.negative, sample.positive))
    raise InvalidInputError(
        f"`y_score` must be higher for the positive class {sample.labels[1]!r} where the rule "
        f"{rule.name!r} does not treat classes alike, got a median of {high:.4g} against "
        f"{low:.4g} of {sample.labels[0]!r}. Scores of scikit-learn point to the greater label: "
        "pass -y_score (1 - p for a probability p), or the other label as pos_label."
    )


def warn_of(boundary: Boundary, stacklevel: int) -> None:
    """Warn of a boundary that needs a second look."""
    if boundary.needs_a_look:
        warnings.warn(boundary.message, BoundaryWarning, stacklevel=stacklevel)


def decide_on(
    source: Source,
    decide: Callable[[ScoreSample], Boundary],
    *,
    labels: tuple[Any, Any] | None = None,
    **options: Any,
) -> Boundary:
    """Return the boundary of a source, with its resolution; warn if few rows carry its weights.

    Labels that are given take the place of those in the data.
    """
    doubts: list[str] = []

    def judge_and_decide(sample: ScoreSample) -> Boundary:
        sample = sample if labels is None else replace(sample, labels=labels)
        doubts[:] = judge_weights(sample) if source.is_weighted else []
        return decide(sample)

    boundary, how = decide_in_passes(source, judge_and_decide, **options)
    for doubt in doubts:
        warnings.warn(doubt, BoundaryWarning, stacklevel=3)
    return replace(boundary, resolution=how.resolution)
