"""The decision: one threshold for two classes, one bias for each of many, and a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import Boundary, decide, decide_by_row
from boundshift.curves import Empirical, ErrorCurve
from boundshift.curves.counts import ConfidenceCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models.scoring import find_winner
from boundshift.models.training import Scored, can_promise, find_demands, is_promise
from boundshift.multiclass import (
    ClassBiases,
    ClassRows,
    find_biases,
    meet_floors,
    pair_boundaries,
    promise_floors,
    search_biases,
)
from boundshift.promises.certificate import (
    Certificate,
    certify_counts,
    certify_floors,
    certify_shares,
)
from boundshift.rules import ClassFloors, ClassRule, Floors, Rule
from boundshift.scores import LEAST_WEIGHT, LogOdds, Scale, ScoreSample, judge_weights
from boundshift.status import QUIET, Status
from boundshift.typing import FloatArray, IndexArray
from boundshift.validation import order_labels

__all__ = ["Decided", "decide_model", "shift_loses"]

Strategy = Literal["joint", "pairwise", "one-vs-rest"]

# How many times wider one fold's scores may spread than another's, beyond what chance makes of few
# rows; and the width, relative to the median, below which scores are constant but for rounding.
_WILD, _CHANCE, _NEARLY_CONSTANT = 10.0, 4.0, 1e-6
# By how many standard errors the model's own boundary must be better to stay.
_STANDARD_ERRORS = 2.0


class Decided(NamedTuple):
    """What is learned of the boundary, by attribute, and what the user should be warned of."""

    learned: dict[str, Any]
    doubts: list[str]


def decide_model(
    scored: Scored, curve: ErrorCurve, rule: Rule, pos_label: Any, multi_class: Strategy
) -> Decided:
    """Find the boundary, or one bias per class, and the certificate there."""
    classes, y, threshold = scored.classes, scored.y, None
    found: dict[str, Any]
    if len(classes) == 2:
        boundary, doubts = _decide_two(scored, curve, rule, pos_label)
        found, threshold = {"boundary_": boundary}, boundary.threshold
        positive = classes.tolist().index(boundary.labels[1])
        is_wrong = (scored.scores_of(positive) > threshold) != (y == positive)
    else:
        if pos_label is not None:
            raise InvalidInputError(
                f"`pos_label` must be None with more than two classes, got {pos_label!r}, of "
                f"{len(classes)}. Fit on y == {pos_label!r} to tell one from the rest."
            )
        if isinstance(rule, ClassRule):
            found, doubts = _decide_by_class(scored, curve, rule, multi_class)
        else:
            found, doubts = _decide_many(scored, curve, rule, multi_class)
        is_wrong = find_winner(_known(scored).scores + found["biases_"]) != y
    doubts = _doubt_scales(scored) + doubts
    if scored.weights is not None:
        found["certificate_"] = _certify_weighted(scored, is_wrong, threshold)
    elif len(classes) == 2 and scored.origin == "held-out" and is_promise(curve, rule):
        found |= _certify_promise(found["boundary_"])
    else:
        found["certificate_"] = certify_counts(
            tuple(np.bincount(y[is_wrong], minlength=len(classes)).tolist()),
            tuple(np.bincount(y, minlength=len(classes)).tolist()),
            tuple(classes.tolist()),
            chosen_here=True,
            scores=scored.origin,
            threshold=threshold,
        )
    if len(classes) == 2:
        found["certificate_"] = _order_as(found["certificate_"], found["boundary_"])
    return Decided(found, doubts)


def _decide_two(
    scored: Scored, curve: ErrorCurve, rule: Rule, pos_label: Any
) -> tuple[Boundary, list[str]]:
    """Find the boundary on the positive class's probability or margin."""
    labels, weights = scored.classes.tolist(), scored.weights
    sizes = np.bincount(scored.y, weights, minlength=2).tolist()
    counts = dict(zip(labels, sizes, strict=True))
    ends = order_labels(labels, pos_label, counts=counts, alike=rule.alike)
    k = labels.index(ends[1])
    scale: Scale = "probability" if scored.are_probabilities else "raw"
    is_positive, scores = scored.y == k, scored.scores_of(k)
    doubts: list[str] = []
    if scored.costs is not None:
        boundary = decide_by_row(is_positive, scores, scored.costs, scale=scale)
    else:
        sample = ScoreSample.from_labels(is_positive, scores, sample_weight=weights)
        if weights is not None:
            doubts = judge_weights(replace(sample, labels=ends))
        # Weights by label need the names.
        sample = replace(sample, labels=ends) if rule.alike else sample
        boundary = decide(sample, curve, rule, scale)
    boundary = _qualify_promise(replace(boundary, labels=ends, scale=scale), scored)
    return boundary, doubts + ([boundary.message] if boundary.needs_a_look else [])


def _qualify_promise(boundary: Boundary, scored: Scored) -> Boundary:
    """Say which rows a promise rests on, or why floors are not promised."""
    if not is_promise(boundary.curve, boundary.rule):
        return boundary
    if scored.guide is not None:
        held, all_rows = sum(boundary.n_samples), sum(boundary.n_samples) + len(scored.guide.y)
        said = f"{held:,} of {all_rows:,} rows were held out of training to choose it."
        return replace(boundary, detail=f"{boundary.detail or boundary.status.value} {said}")
    if scored.origin == "held-out" or boundary.status not in QUIET:
        return boundary
    other, detail = "or use cv='prefit' with rows that the model has not seen", ""
    counts = dict(enumerate(boundary.n_samples))
    for least, _, rows in find_demands(boundary.curve, boundary.rule, counts) or ():
        if not detail and not can_promise(least, rows) and np.isfinite(least):
            detail = (
                "The floors are met by the models of the folds, and not promised of the deployed "
                f"one: that takes {least:.0f} rows kept apart, so {2 * least:.0f} in all of which "
                f"there are {rows}. Collect more of them, lower the floor or the confidence, "
                f"{other}."
            )
    if scored.origin == "training":
        detail = (
            "The floors are met on the rows that the model was fitted on, which flatter it, and "
            f"are not promised of fresh rows. Use cv=5, which keeps rows apart, {other}."
        )
    return replace(boundary, status=Status.NOT_PROMISED, detail=detail)


def _decide_many(scored: Scored, curve: ErrorCurve, rule: Rule, multi_class: Strategy) -> Decided:
    """Find one bias per class."""
    classes, doubts = scored.classes, []

    def find(
        y: IndexArray, scores: FloatArray, weights: FloatArray | None, own: bool = False
    ) -> ClassBiases:
        strategy = "own" if own else multi_class
        return find_biases(y, scores, curve, rule, strategy, classes.tolist(), weights)

    lone = classes[np.bincount(scored.y, minlength=len(classes)) == 1]
    if len(lone) and scored.parts is not None:
        doubts.append(
            f"The only row of {', '.join(map(repr, lone.tolist()))} cannot be left out of "
            "training and score itself; the largest bias of the other classes stands in. "
            "Collect more rows of that class."
        )
    y, scores, parts, weights = scored.y, scored.scores, scored.parts, scored.weights
    # Where a function's own boundary is, is unknown.
    has_own = not callable(scored.response.method) or scored.response.is_log_odds
    keeps_own = (
        parts is not None
        and rule.alike
        and has_own
        and shift_loses(y, scores, parts, lambda *rows: find(*rows).biases, weights)
    )
    found = find(y, scores, weights, own=keeps_own)
    loud = [status for status in found.statuses if status not in QUIET]
    if loud:
        doubts.append(
            f"{len(loud)} of the {len(found.statuses)} binary problems behind the class "
            f"biases need a second look. First: {loud[0].value}"
        )
    return Decided({"biases_": found.biases, "boundaries_": found.boundaries}, doubts)


def _decide_by_class(
    scored: Scored, curve: ErrorCurve, rule: ClassRule, multi_class: Strategy
) -> Decided:
    """Find the biases for a rule that names every class: costs of mistakes, or floors."""
    labels = scored.classes.tolist()
    rule.check_classes(labels)
    if not isinstance(curve, Empirical):
        raise InvalidInputError(
            f"`curve` must be None or 'empirical' with {type(rule).__name__}, whose biases are "
            f"found by counting rows, got {curve!r}. Leave it out."
        )
    if multi_class != "joint":
        raise InvalidInputError(
            f"`multi_class` must be 'joint' with {type(rule).__name__}, which decides all classes "
            f"together, got {multi_class!r}. Leave it out."
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
        biases, status = meet_floors(rows, rule, labels), Status.NOT_PROMISED
    boundaries = pair_boundaries(scored.y, scored.scores, biases, labels, curve, rule.for_pair)
    doubts = []
    if status not in QUIET:
        doubts = [detail or status.value]
        boundaries = {
            pair: replace(boundary, status=status, detail=detail)
            for pair, boundary in boundaries.items()
        }
    return Decided({"biases_": biases, "boundaries_": boundaries}, doubts)


def _known(scored: Scored) -> ClassRows:
    """Return rows whose unknown classes cannot win: no model chooses a class it did not know."""
    return ClassRows(scored.y, np.nan_to_num(scored.scores, nan=-np.inf))


def shift_loses(
    y: IndexArray,
    scores: FloatArray,
    parts: IndexArray,
    choose: Callable[..., FloatArray],
    weights: FloatArray | None = None,
) -> bool:
    """Return whether the model's own boundary is better on rows left out of the choice.

    Biases are chosen by `choose` on all parts but one and judged on that one, part after part. They
    lose if the mean of the classes' recalls falls by more than two standard errors.
    """
    known, present = np.nan_to_num(scores, nan=-np.inf), np.unique(y)
    times = np.ones(len(y)) if weights is None else weights
    least = 1.0 if weights is None else LEAST_WEIGHT
    shifted = np.full(len(y), -1)
    for part in np.unique(parts):
        out = parts == part
        if all(times[~out & (y == k)].sum() >= least for k in present):
            kept = None if weights is None else weights[~out]
            shifted[out] = find_winner(known[out] + choose(y[~out], scores[~out], kept))
    judged = shifted >= 0
    y, times, shifted = y[judged], times[judged], shifted[judged]
    unmoved = find_winner(known[judged])
    change, variance = 0.0, 0.0
    for k in present:
        of_class = y == k
        if not of_class.any():
            return False
        gain = (shifted == k)[of_class].astype(int) - (unmoved == k)[of_class]
        counts = times[of_class]
        gained, lost = counts[gain > 0].sum(), counts[gain < 0].sum()
        # Agresti and Min (Statistics in Medicine 24, 2005) add half a row to each of the four ways
        # in which a row may fare under two boundaries. With the plain variance, a rare class of
        # which no row changed sides would count as known not to gain, however few its rows are.
        n = counts.sum() + 2
        mean = (gained - lost) / n
        change += mean / len(present)
        variance += (gained + lost + 1 - n * mean**2) / n**2 / len(present) ** 2
    return bool(change < -_STANDARD_ERRORS * np.sqrt(variance))


def _order_as(certificate: Certificate, boundary: Boundary) -> Certificate:
    """Return the certificate with the boundary's scale, its positive class second."""
    if certificate.labels != boundary.labels:
        pairs = ("error_bounds", "errors", "wrong", "n_samples", "labels", "floors")
        certificate = replace(certificate, **{n: getattr(certificate, n)[::-1] for n in pairs})
    return replace(certificate, scale=boundary.scale)


def _certify_promise(boundary: Boundary) -> dict[str, Any]:
    """Return the certificate of floors, and the boundary with the same bounds as its claims."""
    assert isinstance(boundary.curve, ConfidenceCurve)
    assert isinstance(boundary.rule, Floors)
    certificate = certify_floors(boundary, boundary.curve, boundary.rule)
    negative, positive = certificate.error_bounds
    boundary = replace(boundary, errors=(negative, positive))
    return {"boundary_": boundary, "certificate_": certificate}


def _certify_weighted(
    scored: Scored, is_wrong: NDArray[np.bool_], threshold: float | None
) -> Certificate:
    """Return what may be said of the errors among rows with weights."""
    y, weights, n = scored.y, scored.weights, len(scored.classes)
    assert weights is not None
    total, squares = (np.bincount(y, weights**power, minlength=n) for power in (1, 2))
    wrong = np.bincount(y, weights * is_wrong, minlength=n)
    return certify_shares(
        (wrong / np.where(total > 0, total, 1.0)).tolist(),
        (total**2 / np.where(squares > 0, squares, 1.0)).tolist(),
        tuple(scored.classes.tolist()),
        chosen_here=True,
        threshold=threshold,
    )


def _doubt_scales(scored: Scored) -> list[str]:
    """Return a warning if the scores of fold models are on wildly different scales.

    Only folds whose scores are mostly finite and distinct are compared.
    """
    if scored.parts is None or scored.origin != "out-of-fold":
        return []
    scores = scored.scores
    if scored.are_probabilities:
        scores = LogOdds().of(scores[:, 1])
    elif scores.ndim == 2:
        scores = scores - np.nanmean(scores, axis=1, keepdims=True)
    widths, fewest = [], np.inf
    for part in np.unique(scored.parts):
        own = scores[scored.parts == part]
        known = own[np.isfinite(own)]
        if len(np.unique(known)) <= own.size / 2:
            continue
        low, middle, high = np.quantile(known, [0.1, 0.5, 0.9]).tolist()
        if high - low > _NEARLY_CONSTANT * abs(middle):
            widths.append(high - low)
            fewest = min(fewest, len(own))
    if len(widths) < 2:
        return []
    ratio = max(widths) / min(widths)
    if ratio <= _WILD * np.exp(_CHANCE / np.sqrt(fewest)):
        return []
    return [
        f"The scores of one fold's model spread {ratio:.3g} times as wide as those of another, so "
        "one threshold cannot suit them all. Scale the features, regularise the model, use fewer "
        "features, or calibrate it with CalibratedClassifierCV."
    ]
