"""The certificate as a record, and the bounds that follow from counts of rows.

A threshold may be chosen by any method. A bound on its error rates needs rows that the model has
not seen, and it is wider if the threshold was chosen on the same rows.
"""

from __future__ import annotations

import math
import numbers
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.stats import hypergeom

from boundshift._guarantees.powered import RateEstimate
from boundshift._result.records import (
    Record,
    require,
    require_classes,
    require_counts,
    require_share,
)
from boundshift._result.rows import Origin as Origin
from boundshift._status import TextStatus
from boundshift._validation import as_choice, as_flag, as_positive, as_share
from boundshift.curves._uniform import clopper_pearson, uniform_bound
from boundshift.exceptions import BoundaryWarning, InvalidInputError


class CertificateStatus(TextStatus):
    """What a certificate is worth; equal to its text, such as "certified"."""

    CERTIFIED = "certified"
    CROSS_FITTED = "cross-fitted"
    NOMINAL = "nominal"


# What rows are worth by their origin, and why.
_WORTH: dict[str, tuple[CertificateStatus, str]] = {
    "held-out": (CertificateStatus.CERTIFIED, "It holds if the model has not seen these rows"),
    "out-of-fold": (
        CertificateStatus.CROSS_FITTED,
        "Each row was scored by a model trained without it, so the claim is about the models of "
        "the folds; nothing is guaranteed for the deployed model, which needs held-out rows",
    ),
    "training": (
        CertificateStatus.NOMINAL,
        "The model was trained on these rows, so their scores are optimistic; certify on rows that "
        "it has not seen",
    ),
}
_COUNTED = ("clopper-pearson", "uniform")
"""Methods whose bounds follow from counts of rows."""
_ROUNDING = 1e-9
_MOST_NEXT = 10**9  # of hypergeometric tails


@dataclass(frozen=True)
class Certificate(Record):
    r"""Upper bounds of a classifier's error rates, class by class.

    Parameters
    ----------
    error_bounds, errors : tuples of float
        With the stated confidence, each class's error rate is at most the bound; `errors` are the
        shares of each class on the wrong side among the rows given.
    wrong, n_samples : tuples of int
        Rows on the wrong side, and all rows, of each class.
    labels : tuple
        The classes, in the order of all tuples here.
    confidence, joint : float, and bool
        Confidence of each bound by itself, or of all classes' bounds together if `joint`.
    method : str
        "clopper-pearson" for a boundary fixed before, "uniform" for one chosen on these rows,
        "drawn" for rows drawn by their side of the boundary, "folds" for fold models and rows
        without labels, "betting" for rows in clusters or with drawing probabilities of their own,
        "new clusters" for the error rate of a cluster that is not among these.
    status, reason : CertificateStatus and str
        Whether the bounds hold for the deployed model, are about the models of a
        cross-validation, or come from rows that are no basis for a guarantee; and why.
    lowest_bounds : tuple of float
        The lowest bounds that so many rows can give, with none on the wrong side. For n rows that
        is :math:`1 - \delta^{1/n} \approx \ln(1/\delta)/n`.
    threshold : float or None, default=None
        The second class is predicted if and only if its score is greater. None if it is not one
        number, as with many classes.
    scale : {"raw", "probability"} or None, default=None
        Scale of the scores, if a :class:`~boundshift.Boundary` was certified.
    n_clusters : tuple of int or None, default=None
        Clusters of each class, if rows come in clusters. The error rate is then the average
        over clusters, each counting once.
    estimates : tuple of RateEstimate, default=()
        Two-sided intervals that scores without labels have narrowed, if any were given. Most are
        approximate, and `status` is not about them: it belongs to the error bounds, which rest on
        the labels alone.
    """

    error_bounds: tuple[float, ...]
    errors: tuple[float, ...]
    wrong: tuple[int, ...]
    n_samples: tuple[int, ...]
    labels: tuple[Any, ...]
    confidence: float
    joint: bool
    method: Literal["clopper-pearson", "uniform", "drawn", "folds", "betting", "new clusters"]
    status: CertificateStatus
    reason: str
    lowest_bounds: tuple[float, ...]
    threshold: float | None = None
    scale: str | None = None
    n_clusters: tuple[int, ...] | None = None
    estimates: tuple[RateEstimate, ...] = ()

    _format: ClassVar[str] = "boundshift.certificate"

    def __post_init__(self) -> None:
        # A status may come as its text, from a file or from `dataclasses.replace`.
        object.__setattr__(self, "status", CertificateStatus(self.status))

    def _check_values(self) -> None:
        """Raise if values that were read are impossible or contradict each other."""
        require_classes(
            self.labels,
            {
                "error_bounds": self.error_bounds,
                "errors": self.errors,
                "wrong": self.wrong,
                "n_samples": self.n_samples,
                "lowest_bounds": self.lowest_bounds,
                "n_clusters": self.n_clusters,
            },
        )
        require_share("confidence", self.confidence)
        require_counts("n_samples", self.n_samples)
        require_counts("wrong", self.wrong, self.n_samples)
        are_whole = all(float(count).is_integer() for count in (*self.wrong, *self.n_samples))
        require(are_whole, "wrong", "be whole numbers of rows", (self.wrong, self.n_samples))
        is_number = self.threshold is None or math.isfinite(self.threshold)
        require(is_number, "threshold", "be a finite number or null", self.threshold)
        require(self.scale in (None, "raw", "probability"), "scale", "be a scale", self.scale)
        has_clusters = self.n_clusters is not None
        if self.n_clusters is not None:
            require_counts("n_clusters", self.n_clusters, self.n_samples)
        counts_clusters = self.method in ("betting", "new clusters")
        require(counts_clusters or not has_clusters, "method", "be about clusters", self.method)
        for each in self.estimates:
            require_share("confidence", each.confidence)
            for low, high in (each.interval, each.labels_alone):
                require(0.0 <= low <= high <= 1.0, "estimates", "have intervals of rates", each)
        self._check_rates()

    def _check_rates(self) -> None:
        """Raise unless the rates follow from the counts, as far as the method tells."""
        rates = zip(self.errors, self.error_bounds, self.lowest_bounds, self.n_samples, strict=True)
        for error, bound, lowest, n in rates:
            is_rate = math.isnan(error) if n == 0 else 0.0 <= error <= 1.0
            require(is_rate, "errors", "be rates, and NaN for a class without rows", self.errors)
            require(
                0.0 <= lowest <= bound + _ROUNDING, "lowest_bounds", "be at most the bounds", lowest
            )
            require(bound <= 1.0, "error_bounds", "be at most 1", self.error_bounds)
            is_above = math.isnan(error) or error <= bound + _ROUNDING
            require(is_above, "error_bounds", "be at least the errors", self.error_bounds)
        if self.method not in _COUNTED:
            return
        errors = _observed(self.wrong, self.n_samples)
        require(_are_close(self.errors, errors), "errors", "follow from the counts", self.errors)
        counts = (self.wrong, self.n_samples, self.confidence, self.joint)
        bounds, lowest_bounds = _bounds(*counts, self.method == "uniform")
        require(
            _are_close(self.lowest_bounds, lowest_bounds),
            "lowest_bounds",
            "follow from the counts",
            self.lowest_bounds,
        )
        if self.method == "uniform":
            # Floors that decided have bounds of their own, but none below that of one threshold.
            least, _ = _bounds(*counts, False)
            bounds = tuple(np.maximum(self.error_bounds, least).tolist())
        is_bound = _are_close(self.error_bounds, bounds)
        require(is_bound, "error_bounds", "follow from the counts", self.error_bounds)

    @property
    def delta(self) -> float:
        """Probability with which each bound by itself may fail."""
        return share_delta(self.confidence, len(self.labels), self.joint)

    @property
    def certified(self) -> bool:
        """Whether the bounds hold for the deployed model."""
        return self.status is CertificateStatus.CERTIFIED

    def __str__(self) -> str:
        lines = [
            f"{self.status} at {self.confidence:.4g} ({self.method}): {self.reason}.",
            f"{'':<14}{'rows':>9}{'wrong':>9}{'error':>9}{'at most':>9}{'lowest bound':>14}",
        ]
        counts = (self.n_samples, self.wrong)
        rates = (self.errors, self.error_bounds, self.lowest_bounds)
        for label, n, wrong, error, bound, lowest in zip(self.labels, *counts, *rates, strict=True):
            rates_of_class = f"{error:>9.4f}{bound:>9.4f}{lowest:>14.4f}"
            lines.append(f"{f'class {label}':<14}{n:>9}{wrong:>9}{rates_of_class}")
        lines += [str(estimate) for estimate in self.estimates]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def at(self, confidence: float, *, joint: bool | None = None) -> Certificate:
        """Return the same evidence at another confidence."""
        joint = self.joint if joint is None else joint
        if (confidence, joint) == (self.confidence, self.joint):
            return self
        self._need_counts("at")
        chosen_here = self.method == "uniform"
        bounds, lowest_bounds = _bounds(self.wrong, self.n_samples, confidence, joint, chosen_here)
        return replace(
            self,
            error_bounds=bounds,
            lowest_bounds=lowest_bounds,
            confidence=confidence,
            joint=joint,
        )

    def next_rows(self, m: int) -> tuple[int, ...]:
        r"""Return how many of the next m rows of each class will be wrong at most.

        Each limit, in the order of `labels`, holds with the certificate's confidence, over both the
        rows of this certificate and the next ones; of rows that are exchangeable with these.

        Parameters
        ----------
        m : int
            Number of further rows of each class.

        Notes
        -----
        Given k + j errors among n + m rows, the number among the first n is hypergeometric. The
        limit is the greatest j at which k or fewer of them have a probability above
        :math:`\delta` (Thatcher 1964, Journal of the Royal Statistical Society B 26). It is exact
        for discrete counts, where m times the bound is too low.

        Examples
        --------
        >>> certify_counts((30, 10), (300, 100), (0, 1)).next_rows(100)
        (16, 19)
        """
        is_whole = isinstance(m, numbers.Integral) and not isinstance(m, bool)
        if not is_whole or not 1 <= m <= _MOST_NEXT:
            raise InvalidInputError(
                f"must be a whole number from 1 to {_MOST_NEXT:,}, got {m!r}. Use 100, for "
                "example.",
                argument="m",
            )
        self._need_counts("next_rows")
        if self.method == "uniform":
            raise InvalidInputError(
                "must have a threshold fixed before these rows, got one chosen on "
                "them. Certify on other rows.",
                argument="next_rows",
            )
        self._warn_unless_certified("next_rows")

        def limit(k: int, n: int) -> int:
            def is_beyond(j: int) -> bool:
                return bool(hypergeom.cdf(k, n + int(m), k + j, n) <= self.delta)

            return bisect_left(range(1, int(m) + 1), True, key=is_beyond)

        return tuple(limit(k, n) for k, n in zip(self.wrong, self.n_samples, strict=True))

    def estimate(self, name: str) -> RateEstimate:
        """Return the two-sided interval of a rate that scores without labels have narrowed.

        Parameters
        ----------
        name : {"recall", "specificity", "precision", "npv", "flagged"}
            The rate, among rows like these.

        Returns
        -------
        RateEstimate
            Its `is_exact` says whether the interval holds for any number of rows.
        """
        if not self.estimates:
            raise InvalidInputError(
                "must have a certificate made with scores of rows without labels, got one without "
                "them. Pass certify(..., unlabelled=scores).",
                argument="estimate",
            )
        as_choice("name", name, tuple(each.name for each in self.estimates))
        return next(each for each in self.estimates if each.name == name)

    def _warn_unless_certified(self, name: str) -> None:
        if not self.certified:
            warnings.warn(
                f"`{name}` should have a certified certificate, got a {self.status} one, so the "
                f"result is no guarantee: {self.reason}.",
                BoundaryWarning,
                stacklevel=3,
            )

    def _need_counts(self, name: str) -> None:
        if self.method not in _COUNTED:
            raise InvalidInputError(
                "must have a certificate of single rows, got one of clusters, of drawing "
                "probabilities or of folds, whose bounds follow from no counts. Certify the rows "
                "again.",
                argument=name,
            )

    def rate(
        self,
        name: str,
        prevalence: float | None = None,
        *,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
    ) -> float:
        """Bound precision, NPV, flagged share, cost or net benefit.

        Parameters
        ----------
        name : {"precision", "npv", "flagged", "cost", "net_benefit"}
            The share of rows predicted positive and the mean cost of a row are bounded from above,
            the others from below. The net benefit is true positives a row minus false positives
            times the ratio of costs.
        prevalence : float or None, default=None
            Share of the second class where decisions are made, taken as known. None uses the rows
            of this certificate, which must then be a random sample of all rows, not of each class,
            and have a threshold fixed before.
        false_positive, false_negative : float, default=1
            Cost of each error; their ratio is the odds of the net benefit.

        Returns
        -------
        float
            It holds with the certificate's confidence. For k rates that hold together ask
            ``certificate.at(1 - delta / k)``.

        Notes
        -----
        The failure probability is divided equally among the bounds that a rate needs, such as
        those of both error rates. In a random sample with a threshold fixed before the wrong rows
        among those predicted positive are binomial, for example, so a precision has its own
        Clopper–Pearson bound.

        Examples
        --------
        >>> certificate = certify_counts((20, 5), (1000, 100), (0, 1))
        >>> round(certificate.rate("precision"), 3), round(certificate.rate("precision", 0.02), 3)
        (0.757, 0.371)
        """
        as_choice("name", name, ("precision", "npv", "flagged", "cost", "net_benefit"))
        if len(self.n_samples) != 2:
            raise InvalidInputError(
                f"must have a certificate of two classes, got {len(self.n_samples)}. "
                "Certify one class against the rest.",
                argument="rate",
            )
        self._need_counts("rate")
        costs = (
            as_positive("false_positive", false_positive, "Use 1."),
            as_positive("false_negative", false_negative, "Use 1."),
        )
        if prevalence is None and not all(self.n_samples):
            raise InvalidInputError(
                "must have rows of both classes unless `prevalence` is given, got "
                f"{self.n_samples[0]} and {self.n_samples[1]}. Certify a random sample of all "
                "rows, or pass the share of the second class.",
                argument="rate",
            )
        self._warn_unless_certified("rate")
        if prevalence is None and self.method == "clopper-pearson":
            return self._rate_of_sample(name, costs)
        remedy = "Pass the share of the second class, such as 0.02."
        return self._rate_at(name, as_share("prevalence", prevalence, remedy), costs)

    def _rate_of_sample(self, name: str, costs: tuple[float, float]) -> float:
        """Bound a rate among rows like these, whose cells are binomial among all rows."""
        delta = 1.0 - self.confidence
        alarmed, missed = self.wrong
        n_rows = sum(self.n_samples)
        found = self.n_samples[1] - missed
        flagged = found + alarmed
        if name == "precision":
            return 1.0 - bound_error(alarmed, flagged, delta)
        if name == "npv":
            return 1.0 - bound_error(missed, n_rows - flagged, delta)
        if name == "flagged":
            return bound_error(flagged, n_rows, delta)
        alarms = bound_error(alarmed, n_rows, delta / 2)
        if name == "cost":
            return costs[0] * alarms + costs[1] * bound_error(missed, n_rows, delta / 2)
        not_found = bound_error(n_rows - found, n_rows, delta / 2)
        return 1.0 - not_found - costs[0] / costs[1] * alarms

    def _rate_at(self, name: str, prevalence: float, costs: tuple[float, float]) -> float:
        """Bound a rate at a known prevalence by the bounds of both classes."""
        delta = 1.0 - self.confidence
        is_uniform = self.method == "uniform"
        alarmed, missed = self.wrong
        negative, positive = self.n_samples
        alarms = bound_error(alarmed, negative, delta / 2, chosen_here=is_uniform)
        misses = bound_error(missed, positive, delta / 2, chosen_here=is_uniform)
        false_alarms = (1.0 - prevalence) * alarms
        false_negatives = prevalence * misses
        if name == "precision":
            return _share_of(prevalence * (1.0 - misses), false_alarms)
        if name == "npv":
            return _share_of((1.0 - prevalence) * (1.0 - alarms), false_negatives)
        if name == "flagged":
            hits = bound_error(positive - missed, positive, delta / 2, chosen_here=is_uniform)
            return prevalence * hits + false_alarms
        if name == "cost":
            return costs[0] * false_alarms + costs[1] * false_negatives
        return prevalence * (1.0 - misses) - costs[0] / costs[1] * false_alarms


def share_delta(confidence: float, n_classes: int, joint: bool) -> float:
    """Return the probability with which the bound of one class may fail."""
    return (1.0 - confidence) / (n_classes if joint else 1)


def _share_of(right: float, wrong: float) -> float:
    return right / (right + wrong) if right > 0.0 else 0.0


def certify_counts(
    wrong: tuple[int, ...],
    n_samples: tuple[int, ...],
    labels: tuple[Any, ...] = (0, 1),
    *,
    confidence: float = 0.95,
    joint: bool = False,
    chosen_here: bool = False,
    origin: Origin = "held-out",
    threshold: float | None = None,
) -> Certificate:
    r"""Bound each class's error rate from counts of rows on the wrong side.

    Parameters
    ----------
    wrong, n_samples : tuple of int
        Rows on the wrong side, and all rows, of each class: the negative class first. A confusion
        matrix from SQL has both. Rows count once each; weights are refused elsewhere, since the
        bounds count independent rows.
    labels : tuple, default=(0, 1)
        The classes, in the same order.
    confidence, joint, chosen_here, origin
        As in :func:`certify`. With more than two classes, `chosen_here` is about biases.
    threshold : float, default=None
        The threshold at which rows were counted, as a note.

    Returns
    -------
    Certificate

    Notes
    -----
    With K ≥ 3 classes, the rows of a class that biases chosen here get right lie in an orthant of
    score differences, whose K − 1 faces can be moved onto K − 1 of these rows without losing one:
    its corner is then the least of these rows in each direction. For each of :math:`\binom{n}{K-1}`
    choices of such rows the other n − K + 1 are independent of the choice, and Clopper–Pearson on
    them at :math:`\delta/\binom{n}{K-1}` holds for all choices together (a sample compression
    bound). To choose the biases on half of the rows and certify on the other half usually gives a
    lower bound.

    Examples
    --------
    >>> found = certify_counts(wrong=(34, 5), n_samples=(1000, 100))
    >>> [round(bound, 3) for bound in found.error_bounds]
    [0.045, 0.102]
    """
    _check_counts(wrong, n_samples, labels)
    confidence = as_share("confidence", confidence)
    joint = as_flag("joint", joint)
    chosen_here = as_flag("chosen_here", chosen_here)
    status, reason = _WORTH[as_choice("origin", origin, tuple(_WORTH))]
    if status is CertificateStatus.CERTIFIED:
        fixed = " and the threshold was fixed before"
        reason += ", for every threshold at once" if chosen_here else fixed
    bounds, lowest_bounds = _bounds(wrong, n_samples, confidence, joint, chosen_here)
    return Certificate(
        error_bounds=bounds,
        errors=_observed(wrong, n_samples),
        wrong=tuple(wrong),
        n_samples=tuple(n_samples),
        labels=tuple(labels),
        confidence=confidence,
        joint=joint,
        method="uniform" if chosen_here else "clopper-pearson",
        status=status,
        reason=reason,
        lowest_bounds=lowest_bounds,
        threshold=threshold,
    )


def _check_counts(wrong: Sequence[int], n_samples: Sequence[int], labels: Sequence[Any]) -> None:
    """Raise unless some of the rows of each class are wrong."""
    are_counts = all(isinstance(k, numbers.Integral) for k in (*wrong, *n_samples))
    has_labels = len(set(labels)) == len(labels)
    if not are_counts or not has_labels or not len(wrong) == len(n_samples) == len(labels) >= 2:
        raise InvalidInputError(
            "and `n_samples` must be a number of rows for each class, got "
            f"{wrong!r} and {n_samples!r} for the classes {labels!r}. Use wrong=(34, 5) and "
            "n_samples=(1000, 100), for example.",
            argument="wrong",
        )
    for k, n in zip(wrong, n_samples, strict=True):
        if not 0 <= k <= n:
            raise InvalidInputError(
                f"must be at most `n_samples` in each class, got {k} of {n} rows. Pass "
                "the rows on the wrong side, and all rows of the class.",
                argument="wrong",
            )


def _observed(wrong: Sequence[int], n_samples: Sequence[int]) -> tuple[float, ...]:
    """Return the share of each class on the wrong side, NaN without rows."""
    return tuple(k / n if n else math.nan for k, n in zip(wrong, n_samples, strict=True))


def _are_close(stored: Sequence[float], computed: Sequence[float]) -> bool:
    return bool(np.allclose(stored, computed, rtol=_ROUNDING, atol=_ROUNDING, equal_nan=True))


def _bounds(
    wrong: Sequence[int], rows: Sequence[int], confidence: float, joint: bool, chosen_here: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the bound of each class, and the one with no row on the wrong side."""
    delta = share_delta(as_share("confidence", confidence), len(rows), joint)

    def bounds(counts: Sequence[int]) -> tuple[float, ...]:
        return tuple(
            bound_error(k, n, delta, chosen_here=chosen_here, n_classes=len(rows))
            for k, n in zip(counts, rows, strict=True)
        )

    return bounds(wrong), bounds([0] * len(rows))


def bound_error(
    wrong: int, n: int, delta: float, *, chosen_here: bool = False, n_classes: int = 2
) -> float:
    """Return the upper bound of one class's error rate; 1 without rows."""
    if n == 0:
        return 1.0
    if not chosen_here:
        return float(clopper_pearson(wrong, n, delta))
    if n_classes == 2:
        return float(uniform_bound(wrong, n, delta))
    faces = n_classes - 1
    choices = math.comb(n, faces)
    # With fewer rows than faces, or more choices than a float holds, nothing can be claimed.
    if not 0 < choices < 1e300:
        return 1.0
    return float(clopper_pearson(wrong, n - faces, delta / choices))
