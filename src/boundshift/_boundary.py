"""From labelled scores to one decision boundary: `find_boundary` and `decide`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from boundshift._result.boundary import Boundary, warn_of
from boundshift._result.rows import ChoosingRows
from boundshift._scores import Scale, ScoreSample
from boundshift._search import Found, best_gap, gap_edges, middle_of_gap
from boundshift._status import Status
from boundshift._typing import FloatArray
from boundshift._validation import as_row_cost, as_rows, name_remedy, own_cost
from boundshift.curves import NAMED as NAMED_CURVES
from boundshift.curves import Blend, ClopperPearson, CountCurve, Empirical, ErrorCurve, as_curve
from boundshift.curves._base import Solution, status_of
from boundshift.curves._clusters import Betting, order_clusters
from boundshift.curves._unmet import describe_unmet
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Cost, Floors, Rule, Sum, as_rule
from boundshift.rules._guarantee import Guarantee


@name_remedy
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
    cluster: ArrayLike | None = None,
) -> Boundary:
    r"""Find the threshold that optimises a rule.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two labels of any kind; one is enough for ``Floors(specificity=…)`` on negative or
        ``Floors(recall=…)`` on positive rows. For data bigger than memory see
        :mod:`boundshift.streaming`.
    y_score : array-like of shape (n_samples,)
        Real scores, higher for the positive class, or its probabilities.
    curve : str or ErrorCurve, default=None
        The claim on each class's error: "blend", "logistic", "smoothed", "empirical",
        "clopper-pearson", the paper's "support" ("paper" and "authors" with their settings), or
        an object from :mod:`boundshift.curves`. None is "clopper-pearson" for floors that are
        guaranteed, "empirical" for floors that are counted, else "blend".
    rule : str or Rule, default=None
        How the two claims become one number: "g-mean", "balanced_accuracy", "minimax", "cost", or
        an object from :mod:`boundshift.rules`, such as ``Cost(false_negative=20)`` or
        ``Floors(recall=0.9)``. None is the curve's own: "balanced_accuracy" for the paper's, which
        calls it "sum", else "g-mean".
    pos_label : label, default=None
        The positive class. It may be left out for labels 0 and 1, -1 and 1, and booleans, whose
        greater one is positive; all others need it, as in scikit-learn's metrics.
    sample_weight : array-like of shape (n_samples,), default=None
        Importance of each row, such as one over the probability with which it was sampled.
        Only the ratios matter; rows of weight 0 are left out. Curves that smooth take as many
        rows as there are effective ones, :math:`(\sum w)^2 / \sum w^2`. Curves that bound the
        errors count rows, and refuse weights.
    row_cost : array-like of shape (n_samples,) or (n_samples, 2), default=None
        Amount lost if the row is decided wrongly; the boundary minimises the total. Two columns
        are the costs of a false positive and of a false negative. With no curve, and no rule but
        "cost".
    scale : {"auto", "probability", "raw"}, default="auto"
        Whether scores are decided on their log-odds, and the threshold is returned as a
        probability. "auto": if all scores lie in [0, 1], unless all are 0 or 1 or the same.
        "raw": never. "probability": always, and scores outside [0, 1] are refused.
    cluster : array-like of shape (n_samples,), default=None
        Id of each row's cluster, such as the patient, for guaranteed floors of recall and
        specificity. The rates are then averages over clusters, each counting once.

    Returns
    -------
    Boundary
        Always a boundary; its ``status`` says how it was found. A ``BoundaryWarning`` is given if
        it needs a second look, for example where a fallback is used.

    Notes
    -----
    By default each class's error is estimated from its own smoothed scores, shrunk towards a
    calibration of all rows where the class has few. The boundary maximises the geometric mean of
    both recalls. See :class:`~boundshift.curves.Blend` and :class:`~boundshift.rules.GMean`.

    Scores :math:`p s + q` with :math:`p > 0` have the boundary :math:`p t + q`, and a mirrored
    problem the mirrored one. For probabilities this holds of their log-odds
    :math:`\ln(p / (1 - p))`. An exact 0 counts as half the odds of the least positive score, an
    exact 1 as twice the odds of the largest below 1. The threshold lies in [0, 1], unless rows
    with a probability of exactly 0 are to be flagged, which takes one below 0.

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
    (0.09, (15, 0))

    The paper's method gives a rare class more room than a common one:

    >>> rare = find_boundary(labels, scores, curve="authors", pos_label="sick")
    >>> round(rare.threshold, 2)
    -0.31
    """
    if cluster is not None:
        if curve is not None or row_cost is not None or sample_weight is not None:
            raise InvalidInputError(
                "cannot be combined with `curve`, `sample_weight` or `row_cost`, got "
                "one. Use rule=Floors(recall=0.9), for example.",
                argument="cluster",
            )
        boundary = decide_by_cluster(y_true, y_score, cluster, rule, pos_label, scale)
    elif row_cost is not None:
        check_row_cost(curve, rule, sample_weight)
        boundary = decide_by_row(y_true, y_score, row_cost, pos_label, scale)
    else:
        curve, rule = choose_claims(curve, rule)
        sample = ScoreSample.from_labels(
            y_true,
            y_score,
            pos_label,
            symmetric=False,
            sample_weight=sample_weight,
            one_class=bool(rule.asked),
        )
        boundary = decide(sample, curve, rule, scale)
    warn_of(boundary, stacklevel=4)
    return boundary


def choose_claims(
    curve: str | ErrorCurve | None = None, rule: str | Rule | None = None
) -> tuple[ErrorCurve, Rule]:
    """Return the curve and the rule, each the default for the other where none is named."""
    is_curve = isinstance(rule, ErrorCurve) and not isinstance(rule, Rule)
    if is_curve or (isinstance(rule, str) and rule in NAMED_CURVES):
        raise InvalidInputError(
            f"must be a rule or the name of one, but {rule!r} is an error curve. Use "
            f"curve={rule!r}.",
            argument="rule",
        )
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


def decide(
    sample: ScoreSample,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    scale: Scale = "raw",
) -> Boundary:
    """Return the boundary of a sample; arguments as in `find_boundary`.

    Scores are decided as given unless a scale is named: those of a model are log-odds already.
    """
    curve, rule = choose_claims(curve, rule)
    given = sample
    sample = sample.on_scale(scale)
    if not all(sample.n_samples):
        return _record(_solve_one_class(sample, curve, rule), sample, curve, rule, given)
    return solve(sample, curve, rule, given)


def solve(
    sample: ScoreSample,
    curve: ErrorCurve,
    rule: Rule,
    given: ScoreSample,
    rows: ChoosingRows | None = None,
) -> Boundary:
    """Return the boundary of a sample, of which `given` has the scores as they came.

    `rows` are those that chose it, if they are not only the rows of the sample.
    """
    return _record(curve.solve(sample, rule), sample, curve, rule, given, rows)


def _solve_one_class(sample: ScoreSample, curve: ErrorCurve, rule: Rule) -> Solution:
    """Return the boundary that uses up a floor on the only class that has rows.

    The floor fixes how many rows may be on the wrong side, so the boundary is an order statistic
    of that class, and the bound for its count holds as it is.
    """
    i = 0 if sample.negative.n else 1
    name = ("specificity", "recall")[i]
    label = sample.labels[i]
    other = sample.labels[1 - i]
    if not (isinstance(rule, Floors) and [*rule.asked] == [name] and rule.then is None) or (
        not isinstance(curve, CountCurve)
    ):
        raise InvalidInputError(
            f"must be Floors({name}=0.9) or the like, with a curve that counts rows, where "
            f"only class {label!r} has rows, got {rule!r} and {curve!r}. Pass rows of class "
            f"{other!r}, too.",
            argument="rule",
        )
    if sample.classes[i].is_weighted:
        raise InvalidInputError(
            f"must be left out where only class {label!r} has rows, which are "
            f"counted, got weights. Pass rows of class {other!r}, too, and curve='empirical'.",
            argument="sample_weight",
        )
    curve.check_floors(rule)
    floor = rule.asked[name]
    n = sample.n_samples[i]
    guarantee = Guarantee(name, floor, curve.delta or 1.0)
    allowed = guarantee.allowed_errors(n, curve.bound_at)
    edges = gap_edges(sample)
    wrong = sample.count_wrong(edges[:-1])[i]
    good = np.flatnonzero(wrong <= max(allowed, 0))
    gap = int(good[0] if i == 0 else good[-1])
    low = float(edges[gap])
    high = float(edges[gap + 1])
    threshold = middle_of_gap(low, high)
    errors = curve.errors_at_chosen(sample, threshold, rule)
    found = Found(threshold, (low, high), errors, math.nan)
    unknown = f"No rows of class {other!r} were given: its error is not known."
    if allowed < 0:
        counted = float(wrong[gap]) / n
        pair = (counted, math.nan) if i == 0 else (math.nan, counted)
        missed = describe_unmet(rule, [name], pair, sample.n_samples, guarantee.delta)
        return Solution(found, Status.UNMET, detail=f"{missed} {unknown}")
    how = "as counted"
    if curve.delta is not None:
        how = f"guaranteed with {1 - curve.delta:.4g} confidence"
    detail = f"The {name} is at least {floor:g}, {how}. {unknown}"
    return Solution(found, Status.OPTIMAL, detail=detail)


def check_row_cost(
    curve: str | ErrorCurve | None, rule: str | Rule | None, sample_weight: ArrayLike | None
) -> None:
    chosen = Cost() if rule is None else as_rule(rule)
    if curve is not None or chosen != Cost() or sample_weight is not None:
        raise InvalidInputError(
            "cannot be combined with `curve`, `sample_weight` or another rule than "
            f"'cost', got curve={curve!r} and rule={rule!r}. Multiply the costs of a class instead "
            "of weighing it.",
            argument="row_cost",
        )


def decide_by_row(
    y_true: ArrayLike,
    y_score: ArrayLike,
    row_cost: ArrayLike,
    pos_label: object = None,
    scale: Scale = "raw",
) -> Boundary:
    """Return the boundary at which the rows decided wrongly cost least."""
    is_positive, scores, labels = as_rows(y_true, y_score, pos_label, symmetric=False)
    cost = own_cost(as_row_cost(row_cost, len(scores)), is_positive)
    given = ScoreSample.from_rows(is_positive, scores, labels)
    sample = given.on_scale(scale)
    # In units of the mean cost the rows' costs are weights, whose sum is least.
    unit = float(cost.mean())
    weighted = ScoreSample.from_rows(is_positive, scores, labels, cost / unit).on_scale(scale)

    def costs(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        above, below = weighted.count_wrong(t)
        return above / len(scores), below / len(scores)

    found = best_gap(costs, Sum(), weighted)
    errors = Empirical().errors_at_chosen(sample, found.threshold, Cost())
    found = found._replace(errors=errors, value=found.value * unit)
    solution = Solution(found, status_of(sample))
    boundary = _record(solution, sample, Empirical(), Cost(), given)
    return replace(boundary, by_row=True)


def decide_by_cluster(
    y_true: ArrayLike,
    y_score: ArrayLike,
    cluster: ArrayLike,
    rule: str | Rule | None,
    pos_label: object = None,
    scale: Scale = "raw",
) -> Boundary:
    is_kept = isinstance(rule, Floors) and set(rule.asked) <= {"recall", "specificity"}
    if not isinstance(rule, Floors) or not is_kept or rule.level is None:
        raise InvalidInputError(
            "must go with guaranteed floors of recall and specificity, got "
            f"rule={rule!r}. Use Floors(recall=0.9); other rules guarantee nothing, and their "
            "boundary does not need clusters: certify it on other rows.",
            argument="cluster",
        )
    is_positive, scores, labels = as_rows(y_true, y_score, pos_label, symmetric=False)
    given = ScoreSample.from_rows(is_positive, scores, labels)
    sample = given.on_scale(scale)
    clusters = order_clusters(is_positive, scores, cluster)
    curve = Betting(rule.level)
    return _record(curve.solve_clusters(sample, rule, clusters), sample, curve, rule, given)


def _record(
    solution: Solution,
    sample: ScoreSample,
    curve: ErrorCurve,
    rule: Rule,
    given: ScoreSample,
    rows: ChoosingRows | None = None,
) -> Boundary:
    """Return the record of a solution; `given` has the scores as they came."""
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
        remarks=solution.remarks,
        detail=solution.detail,
        scale="raw" if sample.log_odds is None else "probability",
        chosen_on=rows or ChoosingRows.of(given),
    )
