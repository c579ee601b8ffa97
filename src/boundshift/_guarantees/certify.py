"""Certificates of rows: plain ones, in clusters, drawn with unequal probabilities, for floors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._guarantees.certificate import (
    Certificate,
    CertificateStatus,
    Origin,
    bound_error,
    certify_counts,
)
from boundshift._guarantees.new_clusters import bound_new_cluster, fewest_clusters
from boundshift._guarantees.powered import FewLabels
from boundshift._result.boundary import Boundary
from boundshift._scores import check_finite
from boundshift._typing import BoolArray, FloatArray, IndexArray
from boundshift._validation import (
    as_choice,
    as_labels,
    as_pair,
    as_real_column,
    as_rows,
    find_distinct,
    is_finite,
    name_remedy,
)
from boundshift.curves._base import ConfidenceCurve
from boundshift.curves._clusters import as_clusters, bound_mean, cluster_means
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Floors

# By chance, so many scores do not all occur an even number of times.
_FEWEST_SCORES = 20
_ABOUT = ("average", "new clusters")
_ESTIMATED = ("recall", "specificity", "precision", "npv", "flagged")


@name_remedy
def certify(
    y_true: ArrayLike,
    y_score: ArrayLike,
    threshold: float | Boundary,
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    origin: Origin = "held-out",
    chosen_here: bool = False,
    joint: bool = False,
    sample_weight: None = None,
    cluster: ArrayLike | None = None,
    probability: ArrayLike | None = None,
    least_probability: float | None = None,
    about: Literal["average", "new clusters"] = "average",
    unlabelled: ArrayLike | None = None,
    unlabelled_cluster: ArrayLike | None = None,
) -> Certificate:
    r"""Bound each class's error rate at a boundary.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two labels of any kind. With rows of one class alone nothing is known of the other: its
        error is NaN and its bound 1.
    y_score : array-like of shape (n_samples,)
        Scores of the rows.
    threshold : float or Boundary
        A row is predicted positive iff its score is greater. A boundary also gives the positive
        class, and scores on another scale are refused. If the rows chose the boundary, or some of
        them did, the bounds hold for every threshold at once, and `reason` says so.
    confidence, joint : float, default=0.95, and bool, default=False
        Of each bound by itself, or of both together if `joint`.
    pos_label : label, default=None
        The positive class; None takes that of the boundary. With a number as threshold, it is
        needed unless the labels are 0 and 1, -1 and 1, or booleans.
    origin : {"held-out", "out-of-fold", "training"}, default="held-out"
        Where the scores come from; the function has to trust it. Out-of-fold scores give a
        cross-fitted claim, training scores a nominal one.
    chosen_here : bool, default=False
        Whether the threshold was chosen on these rows. The bound then holds for all thresholds at
        once, and is wider.
    sample_weight : None
        Refused, since no bound holds for weighted rows.
    cluster : array-like of shape (n_samples,), default=None
        Id of each row's cluster, such as the patient, where rows of a cluster resemble each other
        and clusters are independent. The error rate bounded is the average over clusters, each
        counting once, which may differ from the rate among rows.
    probability : array-like of shape (n_samples,) or pair of float, default=None
        Probability, known by design, with which each row was drawn for labelling, independently of
        the others. A pair is that of all rows predicted negative, and of all predicted positive.
        The error rate bounded is that of all rows, as if all had been labelled.
    least_probability : float, default=None
        With one probability per row: the least that any row had, whether a row with it was drawn
        or not. A kind of row of which none was drawn may still hold the errors.
    about : {"average", "new clusters"}, default="average"
        With `cluster`: whether the average over clusters like these is bounded, or the error rate
        that a new cluster will have, such as the next site or month. m clusters support a
        confidence of at most m / (m + 1) for a new one; with fewer, the bounds are 1 and `reason`
        says so.
    unlabelled : array-like of shape (n_unlabelled,), default=None
        Scores of further rows of the same population, which have no labels. With `probability`, the
        scores of all rows that could have been drawn. The certificate then has `estimates`:
        two-sided intervals of recall, specificity, precision, NPV and flagged rate among rows. The
        bounds and the status do not change. It needs held-out rows that have not chosen the
        threshold.
    unlabelled_cluster : array-like of shape (n_unlabelled,), default=None
        IDs of the clusters of `unlabelled`, if `cluster` is given.

    Returns
    -------
    Certificate

    See Also
    --------
    BoundShiftClassifier.certify : The same of a classifier, which scores the rows itself.

    Notes
    -----
    For k of n rows on the wrong side of a threshold fixed before, Clopper and Pearson's bound at
    :math:`1 - \delta`. For a threshold chosen here, the band of equal local levels up
    to 50,000 rows of a class (:mod:`boundshift.curves._uniform`); beyond, the smaller of the DKW
    band at :math:`\delta/2` and Clopper–Pearson at :math:`\delta/(2(n + 1))` for all n + 1 counts.

    Clusters of more than one row and drawing probabilities :math:`p_i` are bounded by betting
    (Waudby-Smith and Ramdas 2024): with errors :math:`x_i` the rate of all rows is m where
    :math:`\mathrm{E}\,(x_i - m)/p_i = 0`, and each bet is divided by :math:`p_i`. Where the side
    alone decides who is drawn, wrong rows of a class have one probability p and right ones another,
    q. A share a of the labelled rows is wrong where a share :math:`(a/p) / (a/p + (1 - a)/q)` of
    all rows is, which grows with a, so Clopper and Pearson's bound of a gives that of all rows.

    A new cluster is bounded by an order statistic of the clusters' own bounds
    (:mod:`boundshift._guarantees.new_clusters`). *Assumption:* the clusters, the new one included,
    are independent draws of one kind. Months with a trend are not. *Guarantee:* exact, over the
    clusters tested and the new one.

    The `estimates` are prediction-powered ratios, as in :func:`estimate_rate`. *Guarantee:*
    coverage tends to the confidence as labels increase, and is exact where `is_exact` is true. On
    average they are not wider than the intervals of the labels alone. Scores say little of rare
    outcomes: with fewer than 5 labels of an outcome, the interval is that of the labels alone.

    Examples
    --------
    >>> from boundshift import certify
    >>> y, s = [0] * 90 + [1] * 10, [0.1] * 85 + [0.6] * 5 + [0.9] * 9 + [0.2]
    >>> print(certify(y, s, threshold=0.5))
    certified at 0.95 (clopper-pearson): It holds if ... and the threshold was fixed before.
                       rows    wrong    error  at most  lowest bound
    class 0              90        5   0.0556   0.1133        0.0327
    class 1              10        1   0.1000   0.3942        0.2589
    """
    t, pos_label = read_threshold(threshold, pos_label, y_true)
    is_drawn = probability is not None or least_probability is not None
    is_by_rows = cluster is None and not is_drawn
    _check_combination(sample_weight, cluster, is_drawn, chosen_here)
    _check_clusters(about, cluster, unlabelled, unlabelled_cluster)
    scores = read_scores("y_score", y_score)
    is_positive, _, labels = as_rows(y_true, scores, pos_label, symmetric=False, one_class=True)
    known_origin = find_origin(threshold, scores, is_positive)
    if known_origin is not None and origin == "held-out":
        origin = known_origin
    is_seen = known_origin not in (None, "training")
    if isinstance(threshold, Boundary) and is_positive.all():
        labels = threshold.labels
    is_flagged = scores > t
    by_class = _by_class(is_flagged != is_positive, is_positive)
    certificate = certify_counts(
        (int(by_class[0].sum()), int(by_class[1].sum())),
        (len(by_class[0]), len(by_class[1])),
        labels,
        confidence=confidence,
        joint=joint,
        chosen_here=chosen_here or (is_seen and is_by_rows),
        origin=origin,
        threshold=t,
    )
    if cluster is not None:
        ids = _by_class(as_clusters(cluster, len(scores)), is_positive)
        certify_clusters = _certify_clusters if about == "average" else _certify_new_clusters
        certificate = certify_clusters(certificate, by_class, ids)
    elif _is_by_side(probability, len(scores)):
        negative, positive = _read_sides(probability, least_probability)
        certificate = _certify_sides(certificate, negative, positive)
        probability = np.where(is_flagged, positive, negative)
    elif is_drawn:
        ratio = read_drawn(probability, least_probability, len(scores))
        certificate = _certify_drawn(certificate, by_class, _by_class(ratio, is_positive))
    if unlabelled is not None:
        _check_labels_for_estimates(origin, is_fixed=not (is_seen or chosen_here))
        others = _read_unlabelled(unlabelled, threshold)
        rows = FewLabels.of(
            is_positive,
            scores,
            others,
            certificate.confidence,
            probability=probability,
            cluster=cluster,
            unlabelled_cluster=unlabelled_cluster,
        )
        flagged = np.append(is_flagged, others > t)
        estimates = tuple(rows.estimate(r, flagged) for r in _ESTIMATED)
        certificate = replace(certificate, estimates=estimates)
    if is_by_rows:
        certificate = _state_copies(certificate, _count_copies(scores, is_positive))
    if is_seen and not chosen_here:
        certificate = state_choice(certificate, is_by_rows)
    if isinstance(threshold, Boundary):
        certificate = replace(certificate, scale=threshold.scale)
    _warn_of_one_side(certificate, t, threshold)
    return _state_absent(certificate)


def _by_class(values: NDArray[Any], is_positive: BoolArray) -> list[NDArray[Any]]:
    """Return the values of the negative rows and of the positive ones."""
    return [values[~is_positive], values[is_positive]]


def _count_copies(scores: FloatArray, is_positive: BoolArray) -> int:
    """Return how often each row occurs, if all of them occur equally often; 1 for few scores."""
    sizes = [np.unique(scores[of], return_counts=True)[1] for of in (~is_positive, is_positive)]
    occurrences = np.concatenate(sizes)
    if len(occurrences) < _FEWEST_SCORES:
        return 1
    return int(np.gcd.reduce(occurrences))


def _state_copies(certificate: Certificate, n_copies: int) -> Certificate:
    """Return a certificate that is nominal if rows look like copies of each other."""
    if n_copies == 1:
        return certificate
    return replace(
        certificate,
        status=CertificateStatus.NOMINAL,
        reason=f"The number of rows at every score is a multiple of {n_copies}, so rows seem to be "
        "copies of each other; certify each row once, or pass `cluster`",
    )


def _state_absent(certificate: Certificate) -> Certificate:
    """Return a certificate whose reason names the classes without rows."""
    for label, n in zip(certificate.labels, certificate.n_samples, strict=True):
        if not n:
            certificate = replace(
                certificate, reason=f"{certificate.reason}; class {label} has no rows"
            )
    return certificate


def _read_unlabelled(unlabelled: ArrayLike, threshold: float | Boundary) -> FloatArray:
    scores = read_scores("unlabelled", unlabelled)
    if isinstance(threshold, Boundary):
        threshold._check_scale(scores, name="unlabelled")
    return scores


def _check_labels_for_estimates(origin: Origin, *, is_fixed: bool) -> None:
    """Raise if labels are no basis for estimates of the deployed model's rates."""
    if origin == "held-out" and is_fixed:
        return
    problem = "some that chose the threshold" if origin == "held-out" else f"origin={origin!r}"
    raise InvalidInputError(
        f"must go with held-out labels that have not chosen the threshold, got {problem}. Certify "
        "on other rows, or leave `unlabelled` out.",
        argument="unlabelled",
    )


def _check_combination(
    sample_weight: object, cluster: object, is_drawn: bool, chosen_here: bool
) -> None:
    """Raise if arguments of `certify` exclude each other."""
    if sample_weight is not None:
        raise InvalidInputError(
            "must be None, since no bound holds for weighted rows, got weights. "
            "Leave them out, or pass the `probability` with which each row was drawn.",
            argument="sample_weight",
        )
    if (cluster is not None) + is_drawn + bool(chosen_here) > 1:
        raise InvalidInputError(
            "`cluster`, `probability` and chosen_here=True must go without each other, got more "
            "than one. Hold out whole clusters, or rows, that have not chosen the threshold."
        )


def _check_clusters(about: str, cluster: object, unlabelled: object, other: object) -> None:
    """Raise if an argument that is about clusters has none."""
    if as_choice("about", about, _ABOUT) == "new clusters" and cluster is None:
        raise InvalidInputError(
            "'new clusters' must go with `cluster`, which was not given. Pass the ID of each row's "
            "cluster, such as the site.",
            argument="about",
        )
    if unlabelled is None and other is not None:
        raise InvalidInputError(
            "must go with `unlabelled`, which was not given. Pass the scores of these rows.",
            argument="unlabelled_cluster",
        )


def have_chosen(
    threshold: float | Boundary, scores: FloatArray, is_positive: BoolArray, name: str = "y_score"
) -> bool:
    """Return whether a boundary knows some of these rows; warn if its model was trained on them."""
    origin = find_origin(threshold, scores, is_positive, name)
    if origin == "training":
        warnings.warn(
            f"`{name}` should be scores of rows that the model has not seen, but it was trained on "
            "some of these rows, which flatters it. Use other rows.",
            BoundaryWarning,
            stacklevel=3,
        )
    return origin is not None


def find_origin(
    threshold: float | Boundary, scores: FloatArray, is_positive: BoolArray, name: str = "y_score"
) -> Origin | None:
    """Return where rows come from that a boundary knows, None for others; refuse another scale."""
    if not isinstance(threshold, Boundary):
        return None
    threshold._check_scale(scores, is_positive=is_positive, name=name)
    return threshold._find_origin(scores, is_positive)


def state_choice(certificate: Certificate, is_by_rows: bool = True) -> Certificate:
    """Return a certificate of rows that chose the boundary, with what follows from that."""
    chosen = "the boundary was chosen on these rows, or on some of them"
    if is_by_rows:
        return replace(certificate, reason=f"{certificate.reason}; {chosen}")
    return replace(
        certificate,
        status=CertificateStatus.NOMINAL,
        reason=f"{chosen[0].upper()}{chosen[1:]}, and bounds by clusters or by drawing "
        "probabilities need a threshold that was fixed before; certify on other rows",
    )


def _warn_of_one_side(certificate: Certificate, t: float, threshold: float | Boundary) -> None:
    """Warn if all scores are on one side of the threshold and none was when it was chosen."""
    if sorted(certificate.errors) != [0.0, 1.0]:
        return
    if isinstance(threshold, Boundary):
        negative, positive = threshold.n_samples
        # A boundary at which every row got one label does the same here.
        if threshold.wrong in ((0, positive), (negative, 0)):
            return
    warnings.warn(
        f"Scores should be on both sides of the threshold {t:.6g}, got all "
        f"{'above' if certificate.errors[0] else 'at or below'} it: one class is always right and "
        "the other always wrong. Use a threshold on the scale of the scores.",
        BoundaryWarning,
        stacklevel=4,
    )


def _certify_clusters(
    certificate: Certificate, is_wrong: list[BoolArray], ids: list[IndexArray]
) -> Certificate:
    """Return a certificate of the average error rate over clusters."""
    means = [cluster_means(x, of_class) for x, of_class in zip(is_wrong, ids, strict=True)]
    equal = [np.ones(len(x)) for x in means]
    assumption = "clusters are independent, and the rates are averages over them"
    bets = _bet_on_means(certificate, means, equal, assumption)
    n_clusters = tuple(map(len, means))
    # Single rows are right or wrong as a whole, so counting them is tighter.
    is_single = np.equal(n_clusters, certificate.n_samples)
    return replace(
        bets,
        error_bounds=tuple(
            np.where(is_single, certificate.error_bounds, bets.error_bounds).tolist()
        ),
        lowest_bounds=tuple(
            np.where(is_single, certificate.lowest_bounds, bets.lowest_bounds).tolist()
        ),
        n_clusters=n_clusters,
    )


def _certify_drawn(
    certificate: Certificate, is_wrong: list[BoolArray], ratios: list[FloatArray]
) -> Certificate:
    """Return a certificate of rows that were drawn with probabilities of their own."""
    values = [wrong.astype(np.float64) for wrong in is_wrong]
    assumption = "rows were drawn with the probabilities given"
    return _bet_on_means(certificate, values, ratios, assumption)


def _certify_new_clusters(
    certificate: Certificate, is_wrong: list[BoolArray], ids: list[IndexArray]
) -> Certificate:
    """Return a certificate of the error rate that a new cluster will have."""
    delta = (1.0 - certificate.confidence) / (2 if certificate.joint else 1)
    bounds = []
    lowest_bounds = []
    errors = []
    sizes = []
    for wrong, of_class in zip(is_wrong, ids, strict=True):
        _, cluster, n = np.unique(of_class, return_inverse=True, return_counts=True)
        k = np.bincount(cluster, wrong, minlength=len(n)).astype(np.intp)
        bounds.append(bound_new_cluster(k, n, delta))
        lowest_bounds.append(bound_new_cluster(np.zeros_like(k), n, delta))
        errors.append(float(np.mean(k / n)) if len(n) else math.nan)
        sizes.append(len(n))
    reason = (
        f"{certificate.reason}; a new cluster is drawn like these, as months with a trend are not"
    )
    fewest = fewest_clusters(delta)
    for label, size in zip(certificate.labels, sizes, strict=True):
        if 0 < size < fewest:
            reason += (
                f"; {size} clusters of class {label} support a confidence of at most "
                f"{size / (size + 1):.2g} for a new one: {fewest} are needed"
            )
    return replace(
        certificate,
        error_bounds=tuple(bounds),
        errors=tuple(errors),
        lowest_bounds=tuple(lowest_bounds),
        method="new clusters",
        reason=reason,
        n_clusters=tuple(sizes),
    )


def _bet_on_means(
    certificate: Certificate, values: list[FloatArray], ratios: list[FloatArray], said: str
) -> Certificate:
    """Return a certificate whose bounds are bets; see `bound_mean`."""
    delta = (1.0 - certificate.confidence) / (2 if certificate.joint else 1)
    parts = list(zip(values, ratios, strict=True))
    return replace(
        certificate,
        error_bounds=tuple(bound_mean(x, delta, r) for x, r in parts),
        errors=tuple(float(x @ r / r.sum()) if len(x) else math.nan for x, r in parts),
        lowest_bounds=tuple(bound_mean(np.zeros(len(x)), delta, r) for x, r in parts),
        method="betting",
        reason=f"{certificate.reason}; {said}",
    )


def read_drawn(probability: ArrayLike | None, least: float | None, n: int) -> FloatArray:
    """Return the least drawing probability over that of each row."""
    remedy = "Pass the probability with which each row was drawn, 1 if all of its kind were."
    if probability is None:
        raise InvalidInputError(
            f"must be given with `least_probability`. {remedy}", argument="probability"
        )
    drawn = as_real_column("probability", probability, remedy, n)
    if least is None or not is_finite(least) or not 0.0 < least <= 1.0:
        raise InvalidInputError(
            "must be given with `probability`, above 0 and at most 1, got "
            f"{least!r}. Pass the least probability that any row had of being drawn.",
            argument="least_probability",
        )
    bad = ~((drawn >= least) & (drawn <= 1.0))
    if bad.any():
        raise InvalidInputError(
            f"must be from `least_probability`, {least:g}, to 1, got {drawn[bad][0]:g}. {remedy}",
            argument="probability",
        )
    return least / drawn


def _is_by_side(probability: ArrayLike | None, n_rows: int) -> bool:
    """Return whether there is one probability for each side of the threshold, not for each row."""
    return isinstance(probability, tuple | list) and len(probability) == 2 < n_rows


def _read_sides(probability: ArrayLike | None, least: float | None) -> tuple[float, float]:
    """Return the probabilities of rows predicted negative and positive."""
    remedy = "Pass (negative, positive), the probability of being drawn on each side, above 0."
    negative, positive = as_pair("probability", probability, remedy)
    if max(negative, positive) > 1.0 or least is not None:
        raise InvalidInputError(
            "as a pair must be at most 1 each and go without `least_probability`, "
            f"got {probability!r} and {least!r}. {remedy}",
            argument="probability",
        )
    return negative, positive


def _certify_sides(certificate: Certificate, negative: float, positive: float) -> Certificate:
    """Return a certificate of rows that were drawn by their side of the threshold."""
    # Wrong rows of the negative class are predicted positive, and the other way round.
    odds = (negative / positive, positive / negative)

    def among_all(rates: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(a * r / (a * r + 1.0 - a) for a, r in zip(rates, odds, strict=True))

    return replace(
        certificate,
        error_bounds=among_all(certificate.error_bounds),
        errors=among_all(certificate.errors),
        lowest_bounds=among_all(certificate.lowest_bounds),
        method="drawn",
        reason=f"{certificate.reason}; rows of each side were drawn with the probabilities given",
    )


def read_threshold(
    threshold: float | Boundary, pos_label: object, y_true: ArrayLike | None = None
) -> tuple[float, object]:
    """Return a threshold as a number, and the positive class; refuse labels it has not seen."""
    if isinstance(threshold, Boundary):
        positive = threshold.labels[1]
        if y_true is not None:
            check_known("y_true", find_distinct(as_labels(y_true)).tolist(), threshold)
        if pos_label is not None and pos_label != positive:
            raise InvalidInputError(
                f"must be that of the boundary, {positive!r}, got {pos_label!r}. "
                "Leave it out, or pass the boundary's threshold as a number.",
                argument="pos_label",
            )
        return threshold.threshold, positive
    if not is_finite(threshold) or isinstance(threshold, bool):
        raise InvalidInputError(
            f"must be a finite number or a Boundary, got {threshold!r}. "
            "Pass what find_boundary returned.",
            argument="threshold",
        )
    return float(threshold), pos_label


def check_known(name: str, labels: Sequence[Any], boundary: Boundary) -> None:
    """Raise if some labels are not those of the boundary."""
    negative, positive = boundary.labels
    other = [label for label in dict.fromkeys(labels) if label not in boundary.labels]
    if other and boundary.names_negative:
        raise InvalidInputError(
            f"must hold the labels of the boundary, {negative!r} and {positive!r}, got "
            f"{', '.join(map(repr, other[:5]))}. Name the classes as the boundary does.",
            argument=name,
        )


def read_scores(name: str, y_score: ArrayLike, n_rows: int | None = None) -> FloatArray:
    """Return finite scores, at least one."""
    remedy = "Pass the decision function or the probability of the positive class."
    scores = as_real_column(name, y_score, remedy, n_rows)
    if not len(scores):
        raise InvalidInputError(
            "must have rows, got none. Pass scores of some rows.", argument=name
        )
    check_finite(scores, name)
    return scores


def certify_boundary(boundary: Boundary, **options: Any) -> Certificate:
    """Return the certificate of a boundary by the rows that chose it."""
    counts = (boundary.wrong, boundary.n_samples, boundary.labels)
    certificate = certify_counts(*counts, chosen_here=True, threshold=boundary.threshold, **options)
    return replace(certificate, scale=boundary.scale)


def certify_floors(
    boundary: Boundary, curve: ConfidenceCurve, rule: Floors, cluster: ArrayLike | None = None
) -> Certificate:
    r"""Return the certificate of a boundary that floors decided, by the same rows.

    Each bound of (negative, positive) has the confidence :math:`1 - \delta` of the floors; see
    :meth:`~boundshift.curves._base.ConfidenceCurve.bound_chosen`. If rows come in clusters, only a
    floor that is kept is bounded.
    """
    certificate = certify_boundary(boundary, confidence=curve.confidence)
    if cluster is not None:
        return replace(
            certificate,
            error_bounds=boundary.errors,
            method="betting",
            reason=f"{certificate.reason}; rates are averages over clusters, which are independent",
        )
    bounds = curve.bound_chosen(boundary.wrong, boundary.n_samples, rule)
    return replace(certificate, error_bounds=bounds)


def certify_by_folds(
    boundary: Boundary,
    is_positive: BoolArray,
    fold: IndexArray,
    is_wrong: BoolArray,
    flagged: BoolArray,
    flagged_by_fold: BoolArray,
    confidence: float,
) -> Certificate:
    r"""Bound the deployed model's error rate of the more frequent class.

    The first rows are labelled, with the fold whose model scored each; of rows without labels it is
    known who flags them, the deployed model or each fold's.

    Each fold model was tested on rows that it has not seen, but another model is deployed. Of the
    rows of a class, that one gets wrong those that a fold model gets wrong, and at most those on
    which it alone is wrong. How often it alone calls a row the other class is seen without labels.
    Averaged over K folds (Kääriäinen 2005, Generalization error bounds using unlabeled data),

    .. math:: e \le \frac{1}{K} \sum_j e_j + \frac{1}{\pi} \, \mathrm{E} \,
              \frac{1}{K} \sum_j [\text{the deployed model alone is wrong}],

    where :math:`\pi` is the share of the class. The bounds of the :math:`e_j` together fail with
    probability :math:`\delta/2`, those of the expectation and of :math:`\pi` with
    :math:`\delta/4` each.
    """
    certificate = certify_boundary(boundary, confidence=confidence)
    delta = 1.0 - confidence
    common = bool(2 * np.sum(is_positive) > len(is_positive))
    mine = is_positive == common
    alone = (flagged != common) & (flagged_by_fold == common)
    share = 1.0 - bound_error(int(np.sum(~mine)), len(mine), delta / 4)
    parts = [mine & (fold == j) for j in np.unique(fold)]

    def bound(is_wrong: BoolArray, alone: BoolArray) -> float:
        each = delta / (2 * len(parts))
        counts = [(int(np.sum(is_wrong[part])), int(np.sum(part))) for part in parts]
        # The rows of all folds chose the threshold.
        errors = [bound_error(k, n, each, chosen_here=True) for k, n in counts]
        more = bound_mean(alone.mean(axis=0), delta / 4)
        return min(float(np.mean(errors)) + more / share, 1.0)

    most = bound(is_wrong, alone)
    least = bound(np.zeros_like(is_wrong), np.zeros_like(alone))
    names = [str(label) for label in boundary.labels]
    return replace(
        certificate,
        error_bounds=(1.0, most) if common else (most, 1.0),
        lowest_bounds=(1.0, least) if common else (least, 1.0),
        method="folds",
        status=CertificateStatus.CERTIFIED,
        reason="It holds for the deployed model if labelled and unlabelled rows are independent "
        f"draws of the same kind; class {names[not common]}, the rarer one, has no bound, since "
        "rows without labels hardly show its errors: certify it on labelled rows",
    )
