"""The decision: one threshold for two classes, one bias for each of many, and a certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from boundshift._boundary import decide, decide_by_cluster, decide_by_row
from boundshift._guarantees.certificate import Certificate, CertificateStatus, certify_counts
from boundshift._guarantees.certify import certify_floors
from boundshift._multiclass.biases import Strategy, find_biases
from boundshift._multiclass.counting import search_biases
from boundshift._multiclass.floors import ClassRows, guarantee_floors, meet_floors
from boundshift._multiclass.pairs import decide_pairs, find_pairs
from boundshift._result.boundary import Boundary, restate
from boundshift._result.rows import ChoosingRows
from boundshift._scores import Scale, ScoreSample
from boundshift._sklearn_internals import take_rows
from boundshift._status import QUIET, Status
from boundshift._typing import BoolArray, FloatArray, IndexArray, Label, LabelArray, Rows
from boundshift._validation import order_labels
from boundshift.curves import Empirical, ErrorCurve
from boundshift.curves._base import ConfidenceCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models._deciding import DecidingRows, Deployed, Origin
from boundshift.models._holdout import (
    HoldOut,
    Shortage,
    counts_groups,
    is_guaranteed,
    share_confidence,
)
from boundshift.models._scoring import find_winner, has_known_threshold, positive_scores
from boundshift.models._training import Claims
from boundshift.rules import ClassFloors, ClassRule, Floors, Rule

# Of the bounds that go with every boundary.
_CONFIDENCE = 0.95
# Rows on which the model's own threshold is verified, and differences that are rounding.
_TRIED = 200
_ROUNDING = 1e-6
# Training rows whose scores are summarised at most.
_MOST_REMEMBERED = 10_000

_GROUPED = (
    "Rows of one group resemble each other, and these bounds count rows, so they are no guarantee; "
    "certify on rows of other groups, with cluster=groups"
)
_WEIGHTED = (
    "Rows have weights, which these bounds leave out, so they are no guarantee; certify on "
    "unweighted rows"
)


@dataclass(frozen=True, eq=False)
class Decision:
    """Where classes are divided, what is certified there, and what to warn of.

    Two classes have a boundary. More have a bias each, and the boundary that these give each pair.
    """

    certificate: Certificate
    doubts: list[str]
    boundary: Boundary | None = None
    biases: FloatArray | None = None
    boundaries: dict[tuple[Label, Label], Boundary] | None = None


class Biases(NamedTuple):
    """One bias per class, the boundary that they give each pair, and what to warn of."""

    biases: FloatArray
    boundaries: dict[tuple[Label, Label], Boundary]
    doubts: list[str]


def decide_model(
    deciding: DecidingRows, claims: Claims, multi_class: Strategy, n_fits: int = 1
) -> Decision:
    """Find the boundary, or one bias per class, and the certificate there.

    Guarantees are those of each of several fits, of which one will be chosen.
    """
    labels = tuple(deciding.classes.tolist())
    if len(labels) == 2:
        return _decide_two(deciding, claims, n_fits)
    pos_label = claims.pos_label
    rule = claims.rule
    if pos_label is not None:
        raise InvalidInputError(
            f"must be None with more than two classes, got {pos_label!r}, of "
            f"{len(labels)}. Fit on y == {pos_label!r} to tell one from the rest.",
            argument="pos_label",
        )
    if isinstance(rule, ClassRule):
        biases, boundaries, doubts = _decide_by_class(deciding, claims.curve, rule, multi_class)
    else:
        biases, boundaries, doubts = _decide_many(deciding, claims.curve, rule, multi_class)
    is_wrong = find_winner(_without_unknown(deciding).scores + biases) != deciding.y
    certificate = _certify_deciding(deciding, deciding.y, is_wrong, labels, n_fits)
    if isinstance(rule, ClassFloors) and deciding.origin == "held-out" and not doubts:
        reason = (
            f"{certificate.reason}; so these bounds may be wider than the guaranteed floors, which "
            f"hold with {rule.confidence:.4g} confidence"
        )
        certificate = replace(certificate, reason=reason)
    doubts = doubts + _doubt_copies(deciding)
    return Decision(certificate, doubts, biases=biases, boundaries=boundaries)


def _decide_two(deciding: DecidingRows, claims: Claims, n_fits: int) -> Decision:
    """Find the boundary on the positive class's probability or margin."""
    curve, rule, pos_label = claims
    labels = deciding.classes.tolist()
    counts = dict(zip(labels, deciding.class_sizes.tolist(), strict=True))
    ends = order_labels(labels, pos_label, counts=counts, symmetric=rule.symmetric)
    k = labels.index(ends[1])
    is_positive = deciding.y == k
    scores = deciding.scores_of(k)
    scale: Scale = "probability" if deciding.are_probabilities else "raw"
    may_guarantee = deciding.weights is None and deciding.origin == "held-out"
    cluster = deciding.cluster if counts_groups(curve, rule) else None
    if may_guarantee and isinstance(rule, Floors) and isinstance(curve, ConfidenceCurve):
        boundary = _decide_floors(is_positive, scores, cluster, curve, rule, scale)
        boundary = _name_rows(boundary, deciding, ends, scale)
        boundary = _explain_held_out(boundary, deciding, n_fits)
        certificate = _certify_floors(boundary, is_positive, cluster, curve, rule)
        negative, positive = certificate.error_bounds
        boundary = replace(boundary, errors=(negative, positive))
    else:
        boundary = _decide_rows(is_positive, scores, deciding, claims, ends, scale)
        boundary = _name_rows(boundary, deciding, ends, scale)
        boundary = _explain_unguaranteed(boundary, deciding)
        is_wrong = (scores > boundary.threshold) != is_positive
        number = is_positive.astype(np.intp)
        certificate = _certify_deciding(deciding, number, is_wrong, ends, n_fits)
    certificate = replace(certificate, threshold=boundary.threshold, scale=scale)
    doubts = [boundary.message] if boundary.needs_a_look else []
    return Decision(certificate, doubts + _doubt_copies(deciding), boundary)


def _decide_floors(
    is_positive: BoolArray,
    scores: FloatArray,
    cluster: IndexArray | None,
    curve: ConfidenceCurve,
    rule: Floors,
    scale: Scale,
) -> Boundary:
    """Find the boundary that guarantees floors, by rows or by groups."""
    if cluster is None:
        sample = ScoreSample.from_labels(is_positive, scores)
        return decide(sample, curve, rule, scale)
    level = replace(rule, confidence=curve.confidence)
    boundary = decide_by_cluster(is_positive, scores, cluster, level, scale=scale)
    return replace(boundary, rule=rule)


def _decide_rows(
    is_positive: BoolArray,
    scores: FloatArray,
    deciding: DecidingRows,
    claims: Claims,
    ends: tuple[Label, Label],
    scale: Scale,
) -> Boundary:
    """Find the boundary by the costs of rows, or by curve and rule."""
    if deciding.costs is not None:
        return decide_by_row(is_positive, scores, deciding.costs, scale=scale)
    sample = ScoreSample.from_labels(is_positive, scores, sample_weight=deciding.weights)
    # Weights by label need the names.
    sample = replace(sample, labels=ends) if claims.rule.symmetric else sample
    return decide(sample, claims.curve, claims.rule, scale)


def _name_rows(
    boundary: Boundary, deciding: DecidingRows, ends: tuple[Label, Label], scale: Scale
) -> Boundary:
    """Return the boundary with the labels, the scale and the origin of the rows that decided."""
    assert boundary.chosen_on is not None
    chosen_on = replace(boundary.chosen_on, origin=deciding.origin)
    return replace(boundary, labels=ends, scale=scale, chosen_on=chosen_on)


def _certify_floors(
    boundary: Boundary,
    is_positive: BoolArray,
    cluster: IndexArray | None,
    curve: ConfidenceCurve,
    rule: Floors,
) -> Certificate:
    """Return the certificate of guaranteed floors, with the groups of each class if they count."""
    if cluster is None:
        return certify_floors(boundary, curve, rule)
    negative, positive = (len(np.unique(cluster[is_positive == side])) for side in (False, True))
    certificate = certify_floors(boundary, curve, rule, cluster)
    return replace(certificate, n_clusters=(negative, positive))


def find_own_threshold(
    deployed: Deployed, deciding: DecidingRows, X: Rows, boundary: Boundary
) -> float | None:
    """Return where the deployed model's own predictions cut the positive class's scores.

    None if that is not known, or if the rows closest to it are predicted otherwise, as by a model
    with a threshold of its own.
    """
    model = deployed.estimator
    response = deployed.response
    if not has_known_threshold(model, response):
        return None
    is_probability = boundary.scale == "probability"
    own = 0.5 if is_probability else 0.0
    positive = boundary.labels[1]
    k = deciding.classes.tolist().index(positive)
    distance = np.abs(deciding.scores_of(k) - own)
    closest = np.argpartition(distance, min(_TRIED, len(distance)) - 1)[:_TRIED]
    rows = take_rows(X, np.sort(deciding.rows[closest]))
    scores = positive_scores(model, response, rows, deciding.classes, k, is_probability)
    predicted = np.asarray(model.predict(rows)).ravel() == positive
    differs = (predicted != (scores > own)) & (np.abs(scores - own) > _ROUNDING)
    return None if differs.any() else own


def remember_training(
    deployed: Deployed, deciding: DecidingRows, X: Rows, y: LabelArray, boundary: Boundary
) -> Boundary:
    """Return the boundary with a summary of the scores that training rows get from their model."""
    hold_out = deciding.hold_out
    rows = hold_out.train if isinstance(hold_out, HoldOut) else deciding.rows
    if len(rows) > _MOST_REMEMBERED:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_REMEMBERED, replace=False))
    positive = boundary.labels[1]
    scores = positive_scores(
        deployed.estimator,
        deployed.response,
        take_rows(X, rows),
        deciding.classes,
        deciding.classes.tolist().index(positive),
        boundary.scale == "probability",
    )
    sample = ScoreSample.from_rows(y[rows] == positive, scores, boundary.labels)
    trained_on = replace(ChoosingRows.of(sample), origin="training")
    return replace(boundary, trained_on=trained_on)


def _certify_deciding(
    deciding: DecidingRows,
    y: IndexArray,
    is_wrong: BoolArray,
    labels: tuple[Label, ...],
    n_fits: int,
) -> Certificate:
    """Bound each class's error rate by the rows that decided; nominal for rows in groups."""
    certificate = certify_rows(
        y,
        is_wrong,
        labels,
        deciding.weights,
        chosen_here=True,
        origin=deciding.origin,
        confidence=share_confidence(_CONFIDENCE, n_fits),
    )
    if deciding.cluster is None or deciding.origin == "training":
        return certificate
    return replace(certificate, status=CertificateStatus.NOMINAL, reason=_GROUPED)


# Explanations of the rows that decided.


def _explain_held_out(boundary: Boundary, deciding: DecidingRows, n_fits: int) -> Boundary:
    """Return the boundary with the rows that its guarantee rests on as its detail."""
    parts = [boundary.detail or boundary.status.message]
    plan = deciding.hold_out
    if isinstance(plan, HoldOut):
        parts.append(
            f"{plan.n_held:,} of {plan.n_rows:,} rows were held out of training to choose it."
        )
    if n_fits > 1:
        parts.append(f"The risk is shared, so that one of {n_fits} fits may be chosen.")
    return replace(boundary, detail=" ".join(parts)) if len(parts) > 1 else boundary


def _explain_unguaranteed(boundary: Boundary, deciding: DecidingRows) -> Boundary:
    """Return the boundary with why floors that are met are not guaranteed."""
    is_wanted = is_guaranteed(boundary.curve, boundary.rule)
    if not is_wanted or deciding.origin == "held-out" or boundary.status not in QUIET:
        return boundary
    other = "or use cv='prefit' with rows that the model has not seen"
    detail = ""
    missing = deciding.hold_out
    if deciding.origin == "training":
        detail = (
            "The floors are not guaranteed: they are met on rows that the model was fitted on, "
            f"which flatter it. Use cv=5, {other}."
        )
    elif isinstance(missing, Shortage):
        detail = (
            "The floors are met by the models of the folds, and not guaranteed for the deployed "
            f"one: that takes {missing.least} {missing.unit} kept apart, so "
            f"{missing.least_in_all} in all of which there are {missing.n_rows}. Collect more of "
            f"them, lower the floor or the confidence, {other}."
        )
    return restate(boundary, Status.NOT_GUARANTEED, detail)


def _doubt_copies(deciding: DecidingRows) -> list[str]:
    """Return a warning if some rows that guarantee floors are copies of others."""
    n = deciding.n_copies
    if not n:
        return []
    counted = "each different row decides once"
    if deciding.cluster is not None:
        counted = "groups that share a copy count as one"
    return [
        f"Copies of rows are held out together with them, and {counted}: {n:,} in all. Remove "
        "them. If they come from resampling, resample inside a pipeline."
    ]


def _decide_many(
    deciding: DecidingRows, curve: ErrorCurve, rule: Rule, multi_class: Strategy
) -> Biases:
    """Find one bias per class."""
    labels = deciding.classes.tolist()
    doubts = []
    lone = deciding.classes[np.bincount(deciding.y, minlength=len(labels)) == 1]
    if len(lone) and deciding.origin == "out-of-fold":
        doubts.append(
            f"The only row of {', '.join(map(repr, lone.tolist()))} cannot be left out of "
            "training and score itself; the largest bias of the other classes stands in. "
            "Collect more rows of that class."
        )
    solved = find_biases(
        deciding.y, deciding.scores, curve, rule, multi_class, labels, deciding.weights
    )
    loud = [status for status in solved.statuses if status not in QUIET]
    if loud:
        doubts.append(
            f"{len(loud)} of the {len(solved.statuses)} binary problems behind the class "
            f"biases need a second look. First: {loud[0].value}"
        )
    return Biases(solved.biases, solved.boundaries, doubts)


def _decide_by_class(
    deciding: DecidingRows, curve: ErrorCurve, rule: ClassRule, multi_class: Strategy
) -> Biases:
    """Find the biases for a rule that names every class: costs of mistakes, or floors."""
    labels = deciding.classes.tolist()
    rule.check_classes(labels)
    if not isinstance(curve, Empirical) or multi_class != "joint":
        raise InvalidInputError(
            "must be None or 'empirical' and `multi_class` 'joint' with "
            f"{type(rule).__name__}, which counts rows of all classes together, got {curve!r} and "
            f"{multi_class!r}. Leave them out.",
            argument="curve",
        )
    rows = _without_unknown(deciding)
    status = Status.SHARED
    detail = ""
    if not isinstance(rule, ClassFloors):
        counts = np.bincount(rows.y, minlength=len(labels)).tolist()
        biases = search_biases(
            *rows, rule.losses(labels), lambda losses: rule.total(losses, labels, counts)
        )
    elif deciding.origin == "held-out":
        guide = None if deciding.guide is None else _without_unknown(deciding.guide)
        biases, status, detail = guarantee_floors(rows, rule, labels, guide)
    else:
        biases = meet_floors(rows, rule, labels)
        status = Status.NOT_GUARANTEED
    pairs = find_pairs(deciding.y, deciding.scores, labels, curve)
    boundaries = decide_pairs(biases, pairs, curve, rule.for_pair)
    doubts = [] if status in QUIET else [detail or status.message]
    if detail or doubts:
        boundaries = {
            pair: restate(boundary, status, detail) for pair, boundary in boundaries.items()
        }
    return Biases(biases, boundaries, doubts)


def _without_unknown(deciding: DecidingRows) -> ClassRows:
    """Return rows whose unknown classes cannot win: no model chooses a class it did not know."""
    return ClassRows(deciding.y, np.nan_to_num(deciding.scores, nan=-np.inf))


def certify_rows(
    y: IndexArray,
    is_wrong: BoolArray,
    labels: tuple[Label, ...],
    weights: FloatArray | None = None,
    *,
    confidence: float = 0.95,
    joint: bool = False,
    chosen_here: bool = False,
    origin: Origin = "held-out",
) -> Certificate:
    """Bound each class's error rate, given the number of each row's class; nominal with weights."""
    if weights is not None:
        y = y[weights > 0]
        is_wrong = is_wrong[weights > 0]
    n_classes = len(labels)
    certificate = certify_counts(
        tuple(np.bincount(y[is_wrong], minlength=n_classes).tolist()),
        tuple(np.bincount(y, minlength=n_classes).tolist()),
        labels,
        confidence=confidence,
        joint=joint,
        chosen_here=chosen_here,
        origin=origin,
    )
    if weights is None:
        return certificate
    return replace(certificate, status=CertificateStatus.NOMINAL, reason=_WEIGHTED)
