"""Certificates of rows: plain ones, in clusters, drawn with unequal probabilities, for floors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from boundshift._guarantees.certificate import (
    Certificate,
    CertificateStatus,
    Origin,
    certify_counts,
)
from boundshift._guarantees.design import Design, bound_by_design
from boundshift._guarantees.powered import FewLabels, RateEstimate
from boundshift._guarantees.reading import find_origin, read_scores, read_threshold
from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample, describe_copies
from boundshift._typing import BoolArray, FloatArray
from boundshift._validation import as_choice, as_flag, as_rows, name_remedy
from boundshift.curves._base import ConfidenceCurve
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Floors

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
        Two labels of any kind. If all rows are of one class, the error of the other one is NaN and
        its bound is 1.
    y_score : array-like of shape (n_samples,)
        Scores of the rows.
    threshold : float or Boundary
        A row is predicted positive if and only if its score is greater. A boundary also defines
        the positive class, and scores on another scale are refused. If some of the rows chose the
        boundary, the bounds hold for every threshold at once, as `reason` explains.
    confidence, joint : float, default=0.95, and bool, default=False
        Confidence of each bound by itself, or of both together if `joint`.
    pos_label : label, default=None
        The positive class; None takes that of the boundary. With a number as threshold, it is
        needed unless the labels are 0 and 1, -1 and 1, or booleans.
    origin : {"held-out", "out-of-fold", "training"}, default="held-out"
        Where the scores come from, which the function cannot check in full. The certificate of
        out-of-fold scores is cross-fitted, and that of training scores is nominal.
    chosen_here : bool, default=False
        Whether the threshold was chosen on these rows. The bounds then hold for all thresholds at
        once, and are wider.
    sample_weight : None
        Refused, since no bound holds for weighted rows.
    cluster : array-like of shape (n_samples,), default=None
        ID of each row's cluster, such as the patient, if rows of a cluster resemble each other and
        clusters are independent. Bounded is the average of the clusters' error rates, each
        counting once, which may differ from the error rate among rows.
    probability : array-like of shape (n_samples,) or pair of float, default=None
        Probability, known by design, with which each row was drawn for labelling, independently of
        the others. A pair is that of all rows predicted negative, and of all predicted positive.
        Bounded is the error rate of all rows, as if all had been labelled.
    least_probability : float, default=None
        With one probability per row: the least that any row had, even if no row with it was drawn.
        Such rows may be wrong more often than the others.
    about : {"average", "new clusters"}, default="average"
        With `cluster`: whether the average over clusters like these is bounded, or the error rate
        that a new cluster will have, such as the next site or month. m clusters support a
        confidence of at most m / (m + 1) for a new one; with fewer, the bounds are 1.
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
    BoundShiftClassifier.certify : The same for a classifier, which scores the rows itself.

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
    q. If a proportion a of the labelled rows is wrong, :math:`(a/p) / (a/p + (1 - a)/q)` of all
    rows are expected to be wrong. This grows with a, so Clopper and Pearson's bound of a gives that
    of all rows.

    A new cluster is bounded by an order statistic of the clusters' own bounds
    (:mod:`boundshift._guarantees.new_clusters`). *Assumption:* the clusters, the new one included,
    are independent draws of one kind. Months with a trend are not. *Guarantee:* exact, over the
    clusters tested and the new one.

    The `estimates` are prediction-powered ratios, as in :func:`estimate_rate`. *Guarantee:*
    coverage tends to the confidence as labels increase, and is exact where `is_exact` is true. On
    average they are not wider than the intervals of the labels alone. If there are fewer than 5
    labels of an outcome, the interval is that of the labels alone.

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
    design = Design(cluster, probability, least_probability)
    _check_combination(sample_weight, design, chosen_here)
    _check_clusters(about, cluster, unlabelled, unlabelled_cluster)
    number, pos_label = read_threshold(threshold, pos_label, y_true)
    scores = read_scores("y_score", y_score)
    is_positive, _, labels = as_rows(y_true, scores, pos_label, symmetric=False, one_class=True)
    if isinstance(threshold, Boundary) and is_positive.all():
        labels = threshold.labels
    known_origin = find_origin(threshold, scores, is_positive)
    if known_origin is not None and origin == "held-out":
        origin = known_origin
    has_chosen = known_origin not in (None, "training")
    rows = _Rows(is_positive, scores, scores > number)
    certificate = certify_counts(
        rows.count(rows.is_wrong),
        rows.count(np.ones_like(is_positive)),
        labels,
        confidence=confidence,
        joint=joint,
        chosen_here=chosen_here or (has_chosen and design.is_plain),
        origin=origin,
        threshold=number,
    )
    certificate = bound_by_design(certificate, design, about, rows.is_positive, rows.is_flagged)
    if unlabelled is not None:
        _check_labels_for_estimates(origin, is_fixed=not (has_chosen or chosen_here))
        others = _read_unlabelled(unlabelled, threshold)
        estimates = _estimate_rates(rows, others, number, certificate, design, unlabelled_cluster)
        certificate = replace(certificate, estimates=estimates)
    if isinstance(threshold, Boundary):
        certificate = replace(certificate, scale=threshold.scale)
    _warn_of_one_side(certificate, number, threshold)
    if rows.are_separate(design):
        sample = ScoreSample.from_rows(is_positive, scores, labels)
        certificate = state_copies(certificate, sample)
    if has_chosen and not chosen_here:
        certificate = state_choice(certificate, design.is_plain)
    return _state_absent(certificate)


@dataclass(frozen=True)
class _Rows:
    """Labelled rows, and which of them the threshold flags."""

    is_positive: BoolArray
    scores: FloatArray
    is_flagged: BoolArray

    @property
    def is_wrong(self) -> BoolArray:
        return np.not_equal(self.is_flagged, self.is_positive)

    def count(self, is_counted: BoolArray) -> tuple[int, int]:
        """Return how many rows of each class are counted."""
        return int(np.sum(is_counted & ~self.is_positive)), int(
            np.sum(is_counted & self.is_positive)
        )

    def are_separate(self, design: Design) -> bool:
        """Return whether no two rows are in one cluster."""
        return design.cluster is None or len(np.unique(np.asarray(design.cluster))) == len(
            self.scores
        )


def _estimate_rates(
    rows: _Rows,
    others: FloatArray,
    threshold: float,
    certificate: Certificate,
    design: Design,
    unlabelled_cluster: ArrayLike | None,
) -> tuple[RateEstimate, ...]:
    """Return two-sided intervals of the rates, narrowed by scores of rows without labels."""
    labels = FewLabels.of(
        rows.is_positive,
        rows.scores,
        others,
        certificate.confidence,
        probability=design.probabilities(rows.is_flagged) if design.is_drawn else None,
        cluster=design.cluster,
        unlabelled_cluster=unlabelled_cluster,
    )
    is_flagged = np.append(rows.is_flagged, others > threshold)
    return tuple(labels.estimate(rate, is_flagged) for rate in _ESTIMATED)


def state_copies(certificate: Certificate, sample: ScoreSample) -> Certificate:
    """Return a certificate that is nominal if rows look like copies of each other."""
    n_copies = sample.n_copies
    if n_copies == 1:
        return certificate
    reason = f"{describe_copies(n_copies)}; certify each row once, or pass `cluster`"
    return replace(certificate, status=CertificateStatus.NOMINAL, reason=reason)


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


def _check_combination(sample_weight: object, design: Design, chosen_here: bool) -> None:
    """Raise if arguments of `certify` exclude each other."""
    as_flag("chosen_here", chosen_here)
    if sample_weight is not None:
        raise InvalidInputError(
            "must be None, since no bound holds for weighted rows, got weights. "
            "Leave them out, or pass the `probability` with which each row was drawn.",
            argument="sample_weight",
        )
    if (design.cluster is not None) + design.is_drawn + chosen_here > 1:
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
    :meth:`~boundshift.curves._base.ConfidenceCurve.errors_of_counts`. If rows come in clusters,
    only a floor that is kept is bounded.
    """
    certificate = certify_boundary(boundary, confidence=curve.confidence)
    if cluster is not None:
        return replace(
            certificate,
            error_bounds=boundary.errors,
            method="betting",
            reason=f"{certificate.reason}; rates are averages over clusters, which are independent",
        )
    bounds = curve.errors_of_counts(boundary.wrong, boundary.n_samples, rule)
    return replace(certificate, error_bounds=bounds)
