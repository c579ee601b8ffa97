"""The decision: one threshold for two classes, one bias for each of many, and a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundshift._boundary import decide, decide_by_cluster, decide_by_row
from boundshift._multiclass import (
    ClassBiases,
    ClassRows,
    find_biases,
    meet_floors,
    pair_boundaries,
    promise_floors,
    search_biases,
)
from boundshift._promises.certificate import Certificate, certify_counts, certify_shares
from boundshift._promises.certify import certify_floors
from boundshift._result.boundary import Boundary, restate
from boundshift._scores import LEAST_WEIGHT, LogOdds, Scale, ScoreSample
from boundshift._status import QUIET, Status
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import order_labels
from boundshift.curves import Empirical, ErrorCurve
from boundshift.curves._counts import ConfidenceCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models._scoring import find_winner
from boundshift.models._training import Scored, can_promise, counts_groups, find_demands, is_promise
from boundshift.rules import ClassFloors, ClassRule, Floors, Rule

Strategy = Literal["joint", "pairwise"]

# How many times wider one fold's scores may spread than another's, beyond what chance makes of few
# rows; and the width, relative to the median, below which scores are constant but for rounding.
_WILD, _CHANCE, _NEARLY_CONSTANT = 10.0, 4.0, 1e-6
# By how many standard errors the model's own boundary must be better to stay.
_STANDARD_ERRORS = 2.0
_GROUPED = (
    "Rows of one group resemble each other, and these bounds count rows, so they are no guarantee; "
    "certify on rows of other groups, with cluster=groups"
)


# What is learned of the boundary, by attribute, and what the user should be warned of.
Decided = tuple[dict[str, Any], list[str]]


def decide_model(
    scored: Scored, curve: ErrorCurve, rule: Rule, pos_label: Any, multi_class: Strategy
) -> Decided:
    """Find the boundary, or one bias per class, and the certificate there."""
    classes, y = scored.classes, scored.y
    if len(classes) == 2:
        return _decide_two(scored, curve, rule, pos_label)
    if pos_label is not None:
        raise InvalidInputError(
            f"`pos_label` must be None with more than two classes, got {pos_label!r}, of "
            f"{len(classes)}. Fit on y == {pos_label!r} to tell one from the rest."
        )
    decide = _decide_by_class if isinstance(rule, ClassRule) else _decide_many
    found, doubts = decide(scored, curve, rule, multi_class)  # type: ignore[arg-type]
    is_wrong = find_winner(_known(scored).scores + found["biases_"]) != y
    found["certificate_"] = _certify_deciding(scored, y, is_wrong, tuple(classes.tolist()))
    if isinstance(rule, ClassFloors) and scored.origin == "held-out" and not doubts:
        certificate = found["certificate_"]
        said = (
            "so these bounds may be wider than the promised floors, which hold with "
            f"{rule.confidence:.4g} confidence"
        )
        found["certificate_"] = replace(certificate, reason=f"{certificate.reason}; {said}")
    return found, _doubt_scales(scored) + doubts


def _decide_two(scored: Scored, curve: ErrorCurve, rule: Rule, pos_label: Any) -> Decided:
    """Find the boundary on the positive class's probability or margin."""
    labels, weights = scored.classes.tolist(), scored.weights
    sizes = np.bincount(scored.y, weights, minlength=2).tolist()
    counts = dict(zip(labels, sizes, strict=True))
    ends = order_labels(labels, pos_label, counts=counts, symmetric=rule.symmetric)
    k = labels.index(ends[1])
    scale: Scale = "probability" if scored.are_probabilities else "raw"
    is_positive, scores = scored.y == k, scored.scores_of(k)
    is_clustered = (
        scored.cluster is not None
        and scored.origin == "held-out"
        and weights is None
        and counts_groups(curve, rule)
    )
    if scored.costs is not None:
        boundary = decide_by_row(is_positive, scores, scored.costs, scale=scale)
    elif is_clustered:
        boundary = decide_by_cluster(is_positive, scores, scored.cluster, rule, scale=scale)  # type: ignore[arg-type]
    else:
        sample = ScoreSample.from_labels(is_positive, scores, sample_weight=weights)
        # Weights by label need the names.
        sample = replace(sample, labels=ends) if rule.symmetric else sample
        boundary = decide(sample, curve, rule, scale)
    boundary = _qualify_promise(replace(boundary, labels=ends, scale=scale), scored)
    doubts = _doubt_scales(scored)
    if boundary.needs_a_look:
        doubts.append(boundary.message)
    if weights is None and scored.origin == "held-out" and is_promise(curve, rule):
        assert isinstance(curve, ConfidenceCurve)
        assert isinstance(rule, Floors)
        found = certify_floors(boundary, curve, rule, scored.cluster if is_clustered else None)
        certificate = replace(found, scale=scale)
        if is_clustered:
            ids = (scored.cluster[is_positive == side] for side in (False, True))  # type: ignore[index]
            certificate = replace(certificate, n_clusters=tuple(len(set(i.tolist())) for i in ids))
        negative, positive = certificate.error_bounds
        boundary = replace(boundary, errors=(negative, positive))
    else:
        is_wrong = (scores > boundary.threshold) != is_positive
        found = _certify_deciding(scored, is_positive.astype(np.intp), is_wrong, ends)
        certificate = replace(found, threshold=boundary.threshold, scale=scale)
    return {"boundary_": boundary, "certificate_": certificate}, doubts


def _certify_deciding(
    scored: Scored, y: IndexArray, is_wrong: NDArray[np.bool_], labels: tuple[Any, ...]
) -> Certificate:
    """Bound each class's error rate by the rows that decided; nominal for rows in groups."""
    known = {"chosen_here": True, "scores": scored.origin}
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
    return restate(boundary, Status.NOT_PROMISED, detail)


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
        and rule.symmetric
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
    return {"biases_": found.biases, "boundaries_": found.boundaries}, doubts


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
    doubts = [] if status in QUIET else [detail or status.value]
    if detail or doubts:
        boundaries = {
            pair: restate(boundary, status, detail) for pair, boundary in boundaries.items()
        }
    return {"biases_": biases, "boundaries_": boundaries}, doubts


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


def certify_rows(
    y: IndexArray,
    is_wrong: NDArray[np.bool_],
    labels: tuple[Any, ...],
    weights: FloatArray | None = None,
    **options: Any,
) -> Certificate:
    """Bound each class's error rate, given the number of each row's class."""
    n = len(labels)
    if weights is None:
        wrong, total = (np.bincount(rows, minlength=n).tolist() for rows in (y[is_wrong], y))
        return certify_counts(tuple(wrong), tuple(total), labels, **options)
    sums, squares = (np.bincount(y, weights**power, minlength=n) for power in (1, 2))
    lost = np.bincount(y, weights * is_wrong, minlength=n)
    shares = lost / np.where(sums > 0, sums, 1.0)
    effective = sums**2 / np.where(squares > 0, squares, 1.0)
    return certify_shares(shares.tolist(), effective.tolist(), labels, **options)


def _doubt_scales(scored: Scored) -> list[str]:
    """Return a warning if the scores of fold models differ widely in scale.

    Only folds whose scores are mostly finite and distinct are compared.
    """
    if scored.parts is None or scored.origin != "out-of-fold":
        return []
    scores = scored.scores
    if scored.are_probabilities:
        scores = LogOdds().of(scores[:, 1])
    elif scores.ndim == 2:
        scores = scores - np.nanmean(scores, axis=1, keepdims=True)
    widths, fewest = [], len(scores)
    for part in np.unique(scored.parts):
        own = scores[scored.parts == part]
        known = own[np.isfinite(own)]
        if len(np.unique(known)) > own.size / 2:
            low, middle, high = np.quantile(known, [0.1, 0.5, 0.9]).tolist()
            if high - low > _NEARLY_CONSTANT * abs(middle):
                widths.append(high - low)
                fewest = min(fewest, len(own))
    ratio = max(widths) / min(widths) if widths else 1.0
    if ratio <= _WILD * np.exp(_CHANCE / np.sqrt(fewest)):
        return []
    return [
        f"The scores of one fold's model spread {ratio:.3g} times as wide as those of another, so "
        "one threshold cannot suit them all. Scale the features, regularise the model, use fewer "
        "features, or calibrate it with CalibratedClassifierCV."
    ]
