"""The decision: one threshold for two classes, one bias for each of many, and a certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from boundshift._boundary import decide, decide_by_cluster, decide_by_row
from boundshift._multiclass import (
    ClassRows,
    find_biases,
    meet_floors,
    pair_boundaries,
    promise_floors,
    search_biases,
)
from boundshift._promises.certificate import Certificate, certify_counts
from boundshift._promises.certify import certify_floors
from boundshift._result.boundary import Boundary, restate
from boundshift._scores import Scale, ScoreSample
from boundshift._status import QUIET, Status
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import order_labels
from boundshift.curves import Empirical, ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models._scoring import find_winner, has_known_threshold, positive_scores
from boundshift.models._training import Scored, can_promise, counts_groups, find_demands, is_promise
from boundshift.rules import ClassFloors, ClassRule, Rule

Strategy = Literal["joint", "pairwise"]

# Rows on which the model's own threshold is verified, and differences that are rounding.
_TRIED, _ROUNDING = 200, 1e-6

_GROUPED = (
    "Rows of one group resemble each other, and these bounds count rows, so they are no guarantee; "
    "certify on rows of other groups, with cluster=groups"
)
_WEIGHTED = (
    "Rows have weights, which these bounds leave out, so they are no guarantee; certify on "
    "unweighted rows"
)


# What is learned of the boundary, by attribute, and what the user should be warned of.
Decided = tuple[dict[str, Any], list[str]]


def decide_model(
    scored: Scored, curve: ErrorCurve, rule: Rule, pos_label: Any, multi_class: Strategy
) -> Decided:
    """Find the boundary, or one bias per class, and the certificate there."""
    labels = tuple(scored.classes.tolist())
    if len(labels) == 2:
        return _decide_two(scored, curve, rule, pos_label)
    if pos_label is not None:
        raise InvalidInputError(
            f"`pos_label` must be None with more than two classes, got {pos_label!r}, of "
            f"{len(labels)}. Fit on y == {pos_label!r} to tell one from the rest."
        )
    if isinstance(rule, ClassRule):
        found, doubts = _decide_by_class(scored, curve, rule, multi_class)
    else:
        found, doubts = _decide_many(scored, curve, rule, multi_class)
    is_wrong = find_winner(_known(scored).scores + found["biases_"]) != scored.y
    certificate = _certify_deciding(scored, scored.y, is_wrong, labels)
    if isinstance(rule, ClassFloors) and scored.origin == "held-out" and not doubts:
        reason = (
            f"{certificate.reason}; so these bounds may be wider than the promised floors, which "
            f"hold with {rule.confidence:.4g} confidence"
        )
        certificate = replace(certificate, reason=reason)
    return {**found, "certificate_": certificate}, doubts


def _decide_two(scored: Scored, curve: ErrorCurve, rule: Rule, pos_label: Any) -> Decided:
    """Find the boundary on the positive class's probability or margin."""
    labels, weights, cluster = scored.classes.tolist(), scored.weights, scored.cluster
    counts = dict(zip(labels, np.bincount(scored.y, weights, minlength=2).tolist(), strict=True))
    ends = order_labels(labels, pos_label, counts=counts, symmetric=rule.symmetric)
    k = labels.index(ends[1])
    scale: Scale = "probability" if scored.are_probabilities else "raw"
    is_positive, scores = scored.y == k, scored.scores_of(k)
    is_kept = weights is None and scored.origin == "held-out" and is_promise(curve, rule)
    is_clustered = is_kept and cluster is not None and counts_groups(curve, rule)
    if scored.costs is not None:
        boundary = decide_by_row(is_positive, scores, scored.costs, scale=scale)
    elif is_clustered:
        boundary = decide_by_cluster(is_positive, scores, cluster, rule, scale=scale)  # type: ignore[arg-type]
    else:
        sample = ScoreSample.from_labels(is_positive, scores, sample_weight=weights)
        # Weights by label need the names.
        sample = replace(sample, labels=ends) if rule.symmetric else sample
        boundary = decide(sample, curve, rule, scale)
    assert boundary.chosen_on is not None
    chosen_on = replace(boundary.chosen_on, origin=scored.origin)
    boundary = replace(boundary, labels=ends, scale=scale, chosen_on=chosen_on)
    boundary = _qualify_promise(boundary, scored)
    doubts = [boundary.message] if boundary.needs_a_look else []
    if is_kept:
        certificate = certify_floors(boundary, curve, rule, cluster if is_clustered else None)  # type: ignore[arg-type]
        if is_clustered:
            ids = (cluster[is_positive == side] for side in (False, True))  # type: ignore[index]
            certificate = replace(certificate, n_clusters=tuple(len(set(i.tolist())) for i in ids))
        negative, positive = certificate.error_bounds
        boundary = replace(boundary, errors=(negative, positive))
    else:
        is_wrong = (scores > boundary.threshold) != is_positive
        certificate = _certify_deciding(scored, is_positive.astype(np.intp), is_wrong, ends)
    certificate = replace(certificate, threshold=boundary.threshold, scale=scale)
    return {"boundary_": boundary, "certificate_": certificate}, doubts


def find_own_threshold(scored: Scored, X: Any, boundary: Boundary) -> float | None:
    """Return where the deployed model's own predictions cut the positive class's scores.

    None if that is not known, or if the rows closest to it are predicted otherwise, as by a model
    with a threshold of its own.
    """
    model, response = scored.estimator, scored.response
    if not has_known_threshold(model, response):
        return None
    is_probability = boundary.scale == "probability"
    own = 0.5 if is_probability else 0.0
    positive = boundary.labels[1]
    k = scored.classes.tolist().index(positive)
    closest = np.argsort(np.abs(scored.scores_of(k) - own), kind="stable")[:_TRIED]
    rows = _safe_indexing(X, np.sort(scored.rows[closest]))
    scores = positive_scores(model, response, rows, scored.classes, k, is_probability)
    predicted = np.asarray(model.predict(rows)).ravel() == positive
    differs = (predicted != (scores > own)) & (np.abs(scores - own) > _ROUNDING)
    return None if differs.any() else own


def _certify_deciding(
    scored: Scored, y: IndexArray, is_wrong: NDArray[np.bool_], labels: tuple[Any, ...]
) -> Certificate:
    """Bound each class's error rate by the rows that decided; nominal for rows in groups."""
    known = {"chosen_here": True, "origin": scored.origin}
    found = certify_rows(y, is_wrong, labels, scored.weights, **known)
    if scored.cluster is None or scored.origin == "training":
        return found
    return replace(found, status="nominal", reason=_GROUPED)


def _qualify_promise(boundary: Boundary, scored: Scored) -> Boundary:
    """Say which rows a promise rests on, or why floors are not promised."""
    if not is_promise(boundary.curve, boundary.rule):
        return boundary
    if scored.guide is not None:
        held, all_rows = sum(boundary.n_samples), sum(boundary.n_samples) + len(scored.guide.y)
        detail = f"{held:,} of {all_rows:,} rows were held out of training to choose it."
        return replace(boundary, detail=f"{boundary.detail or boundary.status.value} {detail}")
    if scored.origin == "held-out" or boundary.status not in QUIET:
        return boundary
    demands = find_demands(boundary.curve, boundary.rule, dict(enumerate(boundary.n_samples)))
    short = [d for d in demands or () if not can_promise(d) and np.isfinite(d[0])]
    other, detail = "or use cv='prefit' with rows that the model has not seen", ""
    if scored.origin == "training":
        detail = (
            "The floors are not promised: they are met on rows that the model was fitted on, which "
            f"flatter it. Use cv=5, {other}."
        )
    elif short:
        least, _, rows = short[0]
        detail = (
            "The floors are met by the models of the folds, and not promised of the deployed one: "
            f"that takes {least:.0f} rows kept apart, so {2 * least:.0f} in all of which there are "
            f"{rows}. Collect more of them, lower the floor or the confidence, {other}."
        )
    return restate(boundary, Status.NOT_GUARANTEED, detail)


def _decide_many(scored: Scored, curve: ErrorCurve, rule: Rule, multi_class: Strategy) -> Decided:
    """Find one bias per class."""
    labels, doubts = scored.classes.tolist(), []
    lone = scored.classes[np.bincount(scored.y, minlength=len(labels)) == 1]
    if len(lone) and scored.origin == "out-of-fold":
        doubts.append(
            f"The only row of {', '.join(map(repr, lone.tolist()))} cannot be left out of "
            "training and score itself; the largest bias of the other classes stands in. "
            "Collect more rows of that class."
        )
    found = find_biases(scored.y, scored.scores, curve, rule, multi_class, labels, scored.weights)
    loud = [status for status in found.statuses if status not in QUIET]
    if loud:
        doubts.append(
            f"{len(loud)} of the {len(found.statuses)} binary problems behind the class "
            f"biases need a second look. First: {loud[0].value}"
        )
    return {"biases_": found.biases, "boundaries_": found.boundaries}, doubts


def _decide_by_class(
    scored: Scored, curve: ErrorCurve, rule: ClassRule, multi_class: Strategy
) -> Decided:
    """Find the biases for a rule that names every class: costs of mistakes, or floors."""
    labels = scored.classes.tolist()
    rule.check_classes(labels)
    if not isinstance(curve, Empirical) or multi_class != "joint":
        raise InvalidInputError(
            "`curve` must be None or 'empirical' and `multi_class` 'joint' with "
            f"{type(rule).__name__}, which counts rows of all classes together, got {curve!r} and "
            f"{multi_class!r}. Leave them out."
        )
    rows = _known(scored)
    status, detail = Status.SHARED, ""
    if not isinstance(rule, ClassFloors):
        counts = np.bincount(rows.y, minlength=len(labels)).tolist()
        biases = search_biases(
            *rows, rule.losses(labels), lambda losses: rule.total(losses, labels, counts)
        )
    elif scored.origin == "held-out":
        guide = None if scored.guide is None else _known(scored.guide)
        biases, status, detail = promise_floors(rows, rule, labels, guide)
    else:
        biases, status = meet_floors(rows, rule, labels), Status.NOT_GUARANTEED
    boundaries = pair_boundaries(scored.y, scored.scores, biases, labels, curve, rule.for_pair)
    doubts = [] if status in QUIET else [detail or status.value]
    if detail or doubts:
        boundaries = {
            pair: restate(boundary, status, detail) for pair, boundary in boundaries.items()
        }
    return {"biases_": biases, "boundaries_": boundaries}, doubts


def _known(scored: Scored) -> ClassRows:
    """Return rows whose unknown classes cannot win: no model chooses a class it did not know."""
    return ClassRows(scored.y, np.nan_to_num(scored.scores, nan=-np.inf))


def certify_rows(
    y: IndexArray,
    is_wrong: NDArray[np.bool_],
    labels: tuple[Any, ...],
    weights: FloatArray | None = None,
    **options: Any,
) -> Certificate:
    """Bound each class's error rate, given the number of each row's class; nominal with weights."""
    if weights is not None:
        y, is_wrong = y[weights > 0], is_wrong[weights > 0]
    rows = (np.bincount(each, minlength=len(labels)).tolist() for each in (y[is_wrong], y))
    wrong, total = map(tuple, rows)
    found = certify_counts(wrong, total, labels, **options)
    return found if weights is None else replace(found, status="nominal", reason=_WEIGHTED)
