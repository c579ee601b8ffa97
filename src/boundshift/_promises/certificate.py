r"""What may be claimed about a boundary, and on which rows.

To decide and to certify are two questions. A boundary may be chosen by whatever decides best; a
claim about it needs scores that the model has not seen, and a wider bound where the boundary was
chosen on the same scores. The status says what the claim is worth:

- *certified*: rows that the deployed model has not seen, and a threshold fixed before, or chosen on
  them with a wider bound;
- *cross-fitted*: rows scored by models of a cross-validation that were trained without them; a
  claim about those models, not about the deployed one;
- *nominal*: rows that the model was trained on, or weighted rows.

With n rows of a class no bound below :math:`1 - \delta^{1/n} \approx \ln(1/\delta)/n` is possible.
"""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import hypergeom

from boundshift._result.boundary import Boundary
from boundshift._result.records import Record
from boundshift._scores import ScoreSample, check_finite
from boundshift._typing import BoolArray, FloatArray, IndexArray
from boundshift._validation import (
    as_choice,
    as_labels,
    as_pair,
    as_positive,
    as_real_column,
    as_rows,
    as_share,
    find_distinct,
    is_finite,
)
from boundshift.curves._clusters import as_clusters, bound_mean, cluster_means
from boundshift.curves._counts import ConfidenceCurve
from boundshift.curves._floors import most_wrong
from boundshift.curves._uniform import clopper_pearson, uniform_bound
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Floors

Scores = Literal["held-out", "out-of-fold", "training"]
CertificateStatus = Literal["certified", "cross-fitted", "nominal"]
Prevalence = float | tuple[int, int] | None

# What rows are worth by their origin, why, and what is added for a threshold fixed or chosen here.
_WORTH: dict[str, tuple[CertificateStatus, str, tuple[str, str]]] = {
    "held-out": (
        "certified",
        "It holds if the model has not seen these rows",
        (" and the threshold was fixed before", ", for every threshold at once"),
    ),
    "out-of-fold": (
        "cross-fitted",
        "Each row was scored by a model trained without it, so the claim is about the models of "
        "the folds; nothing is promised of the deployed model, which needs held-out rows",
        ("", ""),
    ),
    "training": (
        "nominal",
        "The model was trained on these rows, so their scores are optimistic; certify on rows that "
        "it has not seen",
        ("", ""),
    ),
}
_MOST_NEXT = 10**9  # of hypergeometric tails
# Bounds that must hold at the same time: for all rates together, and for each alone.
_NAMES = ("all", "precision", "npv", "flagged", "cost", "net_benefit", "prevalence")
_PARTS = {
    "known": (3, 2, 2, 2, 2, 2, 2),
    "counted": (5, 3, 3, 4, 4, 4, 2),
    "direct": (8, 1, 1, 1, 2, 2, 2),
}
_WEIGHTED = (
    "Rows have weights, so the bounds use Kish's effective number of rows and are no guarantee; "
    "certify on unweighted rows"
)


@dataclass(frozen=True)
class RateBounds:
    """Bounds that hold together, with the confidence of their certificate.

    Parameters
    ----------
    precision, npv : float
        Lower bounds of the share of positives among rows predicted positive, and of negatives
        among rows predicted negative.
    flagged : float
        Upper bound of the share of rows predicted positive.
    cost : float
        Upper bound of the mean cost of a row, in units of the costs given.
    net_benefit : float
        Lower bound of true positives a row minus false positives times the ratio of the costs.
    prevalence : tuple of float
        Bounds of the share of the positive class; equal if it was given.
    confidence : float
        Of all of them together.
    status : {"certified", "cross-fitted", "nominal"}
        That of the certificate.
    """

    precision: float
    npv: float
    flagged: float
    cost: float
    net_benefit: float
    prevalence: tuple[float, float]
    confidence: float
    status: str


@dataclass(frozen=True)
class Certificate(Record):
    """Upper bounds of a classifier's error rates, class by class.

    Parameters
    ----------
    error_bounds : tuple of float
        With the stated confidence, each class's error rate is at most this.
    errors : tuple of float
        Share of each class on the wrong side among the rows given.
    wrong, n_samples : tuples of int
        Rows on the wrong side, and all rows, of each class; for weighted rows their effective
        numbers.
    labels : tuple
        The classes, in the order of all tuples here.
    confidence : float
        Of each bound by itself, or of all together if `joint`.
    joint : bool
        Whether the confidence is that of all classes' bounds together.
    method : str
        "clopper-pearson" for a boundary fixed before, "uniform" for one chosen on these rows,
        "drawn" for rows drawn by their side of the boundary, "folds" for fold models and rows
        without labels, "betting" for rows in clusters or with drawing probabilities of their own.
    status : {"certified", "cross-fitted", "nominal"}
        Whether the bounds hold for the deployed model, are about the models of a
        cross-validation, or come from rows that are no basis for a guarantee.
    reason : str
        Why, in words.
    floors : tuple of float
        The bounds with no row on the wrong side: the least that this number of rows can show.
    threshold : float or None, default=None
        The boundary: the second class is predicted iff its score is greater. None where it is not
        one number, as with many classes.
    scale : {"raw", "probability"} or None, default=None
        Of the boundary's scores, where a :class:`~boundshift.Boundary` was certified.
    n_clusters : tuple of int or None, default=None
        Clusters of each class, where rows come in clusters. The error rate is then the average
        over clusters, each counting once.
    """

    error_bounds: tuple[float, ...]
    errors: tuple[float, ...]
    wrong: tuple[int, ...]
    n_samples: tuple[int, ...]
    labels: tuple[Any, ...]
    confidence: float
    joint: bool
    method: Literal["clopper-pearson", "uniform", "drawn", "folds", "betting"]
    status: CertificateStatus
    reason: str
    floors: tuple[float, ...]
    threshold: float | None = None
    scale: str | None = None
    n_clusters: tuple[int, ...] | None = None

    _format: ClassVar[str] = "boundshift.certificate"

    @property
    def certified(self) -> bool:
        """Whether the bounds hold for the deployed model."""
        return self.status == "certified"

    def __str__(self) -> str:
        lines = [
            f"{self.status} at {self.confidence:.4g} ({self.method}): {self.reason}.",
            f"{'':<14}{'rows':>9}{'wrong':>9}{'error':>9}{'at most':>9}{'floor':>9}",
        ]
        counts, rates = (self.n_samples, self.wrong), (self.errors, self.error_bounds, self.floors)
        for label, n, wrong, *of_class in zip(self.labels, *counts, *rates, strict=True):
            shown = "".join(f"{rate:>9.4f}" for rate in of_class)
            lines.append(f"{f'class {label}':<14}{n:>9}{wrong:>9}{shown}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def at(self, confidence: float, *, joint: bool | None = None) -> Certificate:
        """Return the same evidence at another confidence.

        Examples
        --------
        >>> certificate = certify([0] * 50 + [1] * 20, [0.0] * 50 + [1.0] * 20, 0.5)
        >>> certificate.at(0.99).error_bounds > certificate.error_bounds
        True
        """
        joint = self.joint if joint is None else joint
        if (confidence, joint) == (self.confidence, self.joint):
            return self
        self._need_counts("at")
        chosen_here = self.method == "uniform"
        bounds, floors = _bounds(self.wrong, self.n_samples, confidence, joint, chosen_here)
        return replace(self, error_bounds=bounds, floors=floors, confidence=confidence, joint=joint)

    def next_rows(self, m: int) -> tuple[int, ...]:
        r"""Return how many of the next m rows of each class will be wrong at most.

        Each limit holds with the certificate's confidence, over both the rows of this certificate
        and the next ones; of rows that are exchangeable with these.

        Parameters
        ----------
        m : int
            Number of further rows of each class.

        Returns
        -------
        tuple of int
            One limit per class, in the order of `labels`.

        Notes
        -----
        Given k + j errors among n + m rows, the number among the first n is hypergeometric. The
        limit is the greatest j at which k or fewer of them have a probability above
        :math:`\delta` (Thatcher 1964, Journal of the Royal Statistical Society B 26). It is exact
        for discrete counts, where m times the bound is too low.

        Examples
        --------
        >>> y, flagged = [0] * 300 + [1] * 100, [1] * 30 + [0] * 280 + [1] * 90
        >>> certify(y, flagged, 0.5).next_rows(100)
        (16, 19)
        """
        is_whole = isinstance(m, numbers.Integral) and not isinstance(m, bool)
        if not is_whole or not 1 <= m <= _MOST_NEXT:
            raise InvalidInputError(
                f"`m` must be a whole number from 1 to {_MOST_NEXT:,}, got {m!r}. Use 100, for "
                "example."
            )
        m = int(m)
        self._need_counts("next_rows")
        if self.method == "uniform":
            raise InvalidInputError(
                "`next_rows` must have a threshold fixed before these rows, got one chosen on "
                "them. Certify on other rows."
            )
        if not self.certified:
            warnings.warn(
                f"`next_rows` should have a certified certificate, got a {self.status} one, so "
                f"the limits are no promise: {self.reason}.",
                BoundaryWarning,
                stacklevel=2,
            )
        delta = (1.0 - self.confidence) / (len(self.labels) if self.joint else 1)

        def limit(k: int, n: int) -> int:
            def is_beyond(j: int) -> bool:
                return bool(hypergeom.cdf(k, n + m, k + j, n) <= delta)

            return bisect_left(range(1, m + 1), True, key=is_beyond)

        return tuple(limit(k, n) for k, n in zip(self.wrong, self.n_samples, strict=True))

    def _need_counts(self, name: str) -> None:
        if self.method not in ("clopper-pearson", "uniform"):
            raise InvalidInputError(
                f"`{name}` must have a certificate of single rows, got one of clusters, of drawing "
                "probabilities or of folds, whose bounds follow from no counts. Certify the rows "
                "again."
            )

    def rates(
        self,
        prevalence: Prevalence = None,
        *,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
    ) -> RateBounds:
        """Bound precision, NPV, flagged share, cost and net benefit.

        Parameters
        ----------
        prevalence : float, tuple or None, default=None
            Share of the second class where decisions are made. A number is taken as known; counts
            (positives, rows) are bounded themselves. None uses the rows of this certificate,
            which must then be a random sample of all rows, not of each class.
        false_positive, false_negative : float, default=1
            Cost of each error; their ratio is the odds of the net benefit.

        Returns
        -------
        RateBounds
            All of them hold together with the certificate's confidence.

        Notes
        -----
        The failure probability is divided equally among the bounds of both error rates from above,
        of the misses from below and, where it is counted, of the prevalence from both sides. A
        random sample and a threshold fixed before need no detour: the wrong rows among those
        predicted positive are binomial, for example, so each rate has its own Clopper–Pearson
        bound.

        Examples
        --------
        >>> y, flagged = [0] * 1000 + [1] * 100, [1] * 20 + [0] * 985 + [1] * 95
        >>> certificate = certify(y, flagged, 0.5)
        >>> rates = certificate.rates(prevalence=0.02, false_negative=20)
        >>> round(rates.precision, 2), round(rates.npv, 4), round(rates.flagged, 3)
        (0.36, 0.9975, 0.051)
        """
        return self._rates(prevalence, false_positive, false_negative, "all")

    def rate(
        self,
        name: str,
        prevalence: Prevalence = None,
        *,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
    ) -> Any:
        """Bound one rate alone, closer than :meth:`rates` does together with the others.

        Parameters
        ----------
        name : {"precision", "npv", "flagged", "cost", "net_benefit", "prevalence"}
            The rate, a field of what :meth:`rates` returns.
        prevalence, false_positive, false_negative
            As in :meth:`rates`.

        Returns
        -------
        float
            It holds with the certificate's confidence; a pair for the prevalence.

        Examples
        --------
        >>> y, flagged = [0] * 1000 + [1] * 100, [1] * 20 + [0] * 985 + [1] * 95
        >>> certificate = certify(y, flagged, 0.5)
        >>> round(certificate.rate("precision"), 3), round(certificate.rates().precision, 3)
        (0.757, 0.721)
        """
        as_choice("name", name, _NAMES[1:])
        return getattr(self._rates(prevalence, false_positive, false_negative, name), name)

    def _rates(
        self, prevalence: Prevalence, false_positive: float, false_negative: float, name: str
    ) -> RateBounds:
        """Bound all rates, each by the part of delta that `name` needs."""
        if len(self.n_samples) != 2:
            raise InvalidInputError(
                f"`rates` must have a certificate of two classes, got {len(self.n_samples)}. "
                "Certify one class against the rest."
            )
        self._need_counts("rates")
        as_positive("false_positive", false_positive, "Use 1.")
        as_positive("false_negative", false_negative, "Use 1.")
        given = _read_prevalence(prevalence, self.n_samples)
        how = "known" if isinstance(given, float) else "counted"
        if prevalence is None and self.method != "uniform":
            how = "direct"
        delta = (1.0 - self.confidence) / _PARTS[how][_NAMES.index(name)]

        def most(count: int, n: int, chosen_here: bool = self.method == "uniform") -> float:
            return bound_error(count, n, delta, chosen_here=chosen_here)

        (false_alarms, missed), (negative, positive) = self.wrong, self.n_samples
        rows, found = negative + positive, positive - missed
        flagged = found + false_alarms
        low = high = given if isinstance(given, float) else math.nan
        if not isinstance(given, float):
            low = 1.0 - most(given[1] - given[0], given[1], False)
            high = most(given[0], given[1], False)
        ends = (low, high)  # What is linear in the prevalence is worst at one of them.
        odds = false_positive / false_negative
        if how == "direct":
            alarms, misses = most(false_alarms, rows), most(missed, rows)
            shares = {
                "precision": 1.0 - most(false_alarms, flagged),
                "npv": 1.0 - most(missed, rows - flagged),
                "flagged": most(flagged, rows),
                "cost": false_positive * alarms + false_negative * misses,
                "net_benefit": 1.0 - most(rows - found, rows) - odds * alarms,
            }
        else:
            alarms, misses = most(false_alarms, negative), most(missed, positive)
            hits = most(found, positive)
            shares = {
                "precision": _share(low * (1.0 - misses), (1.0 - low) * alarms),
                "npv": _share((1.0 - high) * (1.0 - alarms), high * misses),
                "flagged": max(p * hits + (1.0 - p) * alarms for p in ends),
                "cost": max(
                    p * misses * false_negative + (1 - p) * alarms * false_positive for p in ends
                ),
                "net_benefit": min(p * (1.0 - misses) - odds * (1.0 - p) * alarms for p in ends),
            }
        return RateBounds(**shares, prevalence=ends, confidence=self.confidence, status=self.status)


def _read_prevalence(prevalence: Prevalence, n_samples: tuple[int, ...]) -> float | tuple[int, int]:
    """Return a known prevalence, or the counts (positives, rows) that estimate it."""
    if prevalence is None:
        return n_samples[1], sum(n_samples)
    if not isinstance(prevalence, tuple):
        return as_share("prevalence", prevalence, "Use 0.02, or (positives, rows) as counted.")
    whole = len(prevalence) == 2 and all(isinstance(k, numbers.Integral) for k in prevalence)
    if not whole or not 0 <= prevalence[0] <= prevalence[1] or prevalence[1] < 1:
        raise InvalidInputError(
            "`prevalence` must be a share, or (positives, rows) as counted where decisions are "
            f"made, got {prevalence!r}. Use (12, 800), for example."
        )
    return int(prevalence[0]), int(prevalence[1])


def _share(right: float, wrong: float) -> float:
    return right / (right + wrong) if right > 0.0 else 0.0


def certify(
    y_true: ArrayLike,
    y_score: ArrayLike,
    threshold: float | Boundary,
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    scores: Scores = "held-out",
    chosen_here: bool = False,
    joint: bool = False,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    probability: ArrayLike | None = None,
    least_probability: float | None = None,
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
        class, and scores on another scale are refused.
    confidence : float, default=0.95
        Between 0 and 1.
    pos_label : label, default=None
        The positive class; None takes that of the boundary. With a number as threshold, it is
        needed unless the labels are 0 and 1, -1 and 1, or booleans.
    scores : {"held-out", "out-of-fold", "training"}, default="held-out"
        Where the scores come from; the function has to trust it. Out-of-fold scores give a
        cross-fitted claim, training scores a nominal one; both hold less often for the deployed
        model than they say.
    chosen_here : bool, default=False
        Whether the threshold was chosen on these rows. The bound then holds for all thresholds at
        once, and is wider.
    joint : bool, default=False
        Whether the confidence is that of both bounds together.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. The certificate is then *nominal*: its bounds are those of Kish's
        effective number of rows of each class, :math:`(\sum w)^2 / \sum w^2`, rounded down.
    cluster : array-like of shape (n_samples,), default=None
        Id of each row's cluster, such as the patient, where rows of a cluster resemble each other
        and clusters are independent. The error rate bounded is the average over clusters: a
        cluster of many rows counts as much as one of few. If large clusters have other error
        rates than small ones, that differs from the rate among rows.
    probability : array-like of shape (n_samples,) or pair of float, default=None
        Probability with which each row was drawn for labelling, where some kinds of rows were drawn
        more often than others, independently of each other, known by design. A pair is that of all
        rows predicted negative, and of all predicted positive. The error rate bounded is that of
        all rows, as if all had been labelled.
    least_probability : float, default=None
        With one probability per row: the least that any row had, whether a row with it was drawn
        or not. A kind of row of which none was drawn may still hold the errors.

    Returns
    -------
    Certificate

    Raises
    ------
    InvalidInputError
        If a boundary on probabilities is given scores outside [0, 1].

    Warns
    -----
    BoundaryWarning
        If all rows are on one side of the threshold, which is often on another scale.

    See Also
    --------
    BoundShiftClassifier.certify : The same of a classifier, which scores the rows itself.

    Notes
    -----
    For k of n rows on the wrong side of a threshold fixed before, Clopper and Pearson's bound at
    :math:`1 - \delta`. For a threshold chosen here, the band of equal local levels up
    to 50,000 rows of a class (:mod:`boundshift.curves._uniform`); beyond, the smaller of the DKW
    band at :math:`\delta/2` and Clopper–Pearson at :math:`\delta/(2(n + 1))` for all n + 1 counts.

    Clusters and drawing probabilities :math:`p_i` are bounded by betting (Waudby-Smith and Ramdas
    2024). With errors :math:`x_i` the rate of all rows is m where
    :math:`\mathrm{E}\,(x_i - m)/p_i = 0`, and each bet is divided by :math:`p_i` (Horvitz and
    Thompson). Where the side alone decides who is drawn, wrong rows of a class have one probability
    p and right ones another, q. A share a of the labelled rows is wrong where a share
    :math:`(a/p) / (a/p + (1 - a)/q)` of all rows is, which grows with a, so Clopper and Pearson's
    bound of a gives that of all rows.

    Examples
    --------
    >>> from boundshift import certify
    >>> y, s = [0] * 90 + [1] * 10, [0.1] * 85 + [0.6] * 5 + [0.9] * 9 + [0.2]
    >>> print(certify(y, s, threshold=0.5))
    certified at 0.95 (clopper-pearson): It holds if ... and the threshold was fixed before.
                       rows    wrong    error  at most    floor
    class 0              90        5   0.0556   0.1133   0.0327
    class 1              10        1   0.1000   0.3942   0.2589
    """
    as_choice("scores", scores, tuple(_WORTH))
    chosen_here = _as_flag("chosen_here", chosen_here)
    t, pos_label = read_threshold(threshold, pos_label, y_true)
    given = {"cluster": cluster, "probability": probability, "sample_weight": sample_weight}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1 or (chosen_here and {"cluster", "probability"} & set(names)):
        raise InvalidInputError(
            f"`{names[0]}` must go with a threshold fixed before, and without "
            f"{' and '.join(name for name in given if name != names[0])}, got another request. "
            "Hold out whole clusters, or rows, that have not chosen the threshold."
        )
    if least_probability is not None and probability is None:
        raise InvalidInputError(
            f"`least_probability` must go with `probability`, got {least_probability!r} alone. "
            "Pass the probability with which each row was drawn."
        )
    claims: dict[str, Any] = {"confidence": confidence, "joint": joint, "threshold": t}
    claims["chosen_here"] = chosen_here
    known = read_scores("y_score", y_score, threshold)
    if sample_weight is not None:
        sample = ScoreSample.from_labels(
            y_true, known, pos_label, sample_weight=sample_weight, symmetric=False
        )
        found = certify_sample(sample, weighted=True, **claims)
    else:
        is_positive, _, labels = as_rows(y_true, known, pos_label, symmetric=False, one_class=True)
        if isinstance(threshold, Boundary) and not 0 < np.sum(is_positive) < len(known):
            labels = threshold.labels
        is_wrong, classes = (known > t) != is_positive, (~is_positive, is_positive)
        wrong = tuple(int(np.sum(is_wrong & mine)) for mine in classes)
        rows = tuple(int(np.sum(mine)) for mine in classes)
        found = certify_counts(wrong, rows, labels, scores=scores, **claims)
        by_class = [is_wrong[mine] for mine in classes]
        if cluster is not None:
            ids = as_clusters(cluster, len(known))
            found = _certify_clusters(found, by_class, [ids[mine] for mine in classes])
        elif isinstance(probability, tuple | list) and len(probability) == 2 < len(known):
            found = _certify_sides(found, probability, least_probability)
        elif probability is not None:
            drawn = _read_drawn(probability, least_probability, len(known))
            found = _certify_drawn(found, by_class, [drawn[mine] for mine in classes])
        for label, n in zip(labels, rows, strict=True):
            if not n:
                found = replace(found, reason=f"{found.reason}; class {label} has no rows")
    if isinstance(threshold, Boundary):
        found = replace(found, scale=threshold.scale)
    # A boundary at which every row got one label does the same here.
    is_meant = (
        isinstance(threshold, Boundary)
        and 0 in threshold.wrong
        and any(k == n for k, n in zip(threshold.wrong, threshold.n_samples, strict=True))
    )
    if sorted(found.errors) == [0.0, 1.0] and not is_meant:
        warnings.warn(
            f"Scores should be on both sides of the threshold {t:.6g}, got all "
            f"{'above' if found.errors[0] else 'at or below'} it: one class is always right and "
            "the other always wrong. Use a threshold on the scale of the scores.",
            BoundaryWarning,
            stacklevel=2,
        )
    return found


def _certify_clusters(
    found: Certificate, is_wrong: list[BoolArray], cluster: list[IndexArray]
) -> Certificate:
    """Return a certificate of rows in clusters, given the one of single rows."""
    means = [cluster_means(x, ids) for x, ids in zip(is_wrong, cluster, strict=True)]
    bet = _bet_on_means(found, means, [np.ones(len(x)) for x in means])
    said = "clusters are independent, and the rates are averages over them"
    return replace(bet, n_clusters=tuple(map(len, means)), reason=f"{found.reason}; {said}")


def _certify_drawn(
    found: Certificate, is_wrong: list[BoolArray], ratios: list[FloatArray]
) -> Certificate:
    """Return a certificate of rows that were drawn with unequal probabilities."""
    bet = _bet_on_means(found, [x.astype(np.float64) for x in is_wrong], ratios)
    return replace(bet, reason=f"{found.reason}; rows were drawn with the probabilities given")


def _bet_on_means(
    found: Certificate, values: list[FloatArray], ratios: list[FloatArray]
) -> Certificate:
    """Return a certificate whose bounds are bets; see `bound_mean`."""
    delta = (1.0 - found.confidence) / (2 if found.joint else 1)
    parts = list(zip(values, ratios, strict=True))
    return replace(
        found,
        error_bounds=tuple(bound_mean(x, delta, r) for x, r in parts),
        errors=tuple(float(x @ r / r.sum()) if len(x) else math.nan for x, r in parts),
        floors=tuple(bound_mean(np.zeros(len(x)), delta, r) for x, r in parts),
        method="betting",
    )


def _read_drawn(probability: ArrayLike, least: float | None, n: int) -> FloatArray:
    """Return the least drawing probability over that of each row."""
    remedy = "Pass the probability with which each row was drawn, 1 if all of its kind were."
    drawn = as_real_column("probability", probability, remedy, n)
    if least is None or not is_finite(least) or not 0.0 < least <= 1.0:
        raise InvalidInputError(
            "`least_probability` must be given with `probability`, above 0 and at most 1, got "
            f"{least!r}. Pass the least probability that any row had of being drawn."
        )
    bad = ~((drawn >= least) & (drawn <= 1.0))
    if bad.any():
        raise InvalidInputError(
            f"`probability` must be from `least_probability`, {least:g}, to 1, got "
            f"{drawn[bad][0]:g}. {remedy}"
        )
    return least / drawn


def _certify_sides(
    found: Certificate, probability: Sequence[Any], least: float | None
) -> Certificate:
    """Return a certificate of rows that were drawn by their side of the threshold."""
    remedy = "Pass (negative, positive), the probability of being drawn on each side, above 0."
    negative, positive = as_pair("probability", probability, remedy)
    if max(negative, positive) > 1.0 or least is not None:
        raise InvalidInputError(
            "`probability` as a pair must be at most 1 each and go without `least_probability`, "
            f"got {probability!r} and {least!r}. {remedy}"
        )
    # Wrong rows of the negative class are predicted positive, and the other way round.
    odds = (negative / positive, positive / negative)

    def among_all(rates: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(a * r / (a * r + 1.0 - a) for a, r in zip(rates, odds, strict=True))

    return replace(
        found,
        error_bounds=among_all(found.error_bounds),
        errors=among_all(found.errors),
        floors=among_all(found.floors),
        method="drawn",
        reason=f"{found.reason}; rows of each side were drawn with the probabilities given",
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
                f"`pos_label` must be that of the boundary, {positive!r}, got {pos_label!r}. "
                "Leave it out, or pass the boundary's threshold as a number."
            )
        return threshold.threshold, positive
    is_number = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
    if not is_number or not abs(threshold) <= sys.float_info.max:
        raise InvalidInputError(
            f"`threshold` must be a finite number or a Boundary, got {threshold!r}. "
            "Pass what find_boundary returned."
        )
    return float(threshold), pos_label


def check_known(name: str, labels: Sequence[Any], boundary: Boundary) -> None:
    """Raise if some labels are not those of the boundary."""
    negative, positive = boundary.labels
    other = [label for label in dict.fromkeys(labels) if label not in boundary.labels]
    if other and negative != f"not {positive}":
        raise InvalidInputError(
            f"`{name}` must hold the labels of the boundary, {negative!r} and {positive!r}, got "
            f"{', '.join(map(repr, other[:5]))}. Name the classes as the boundary does."
        )


def read_scores(
    name: str, y_score: ArrayLike, threshold: object = None, n_rows: int | None = None
) -> FloatArray:
    """Return finite scores, on the scale of the threshold if that is a boundary."""
    remedy = "Pass the decision function or the probability of the positive class."
    scores = as_real_column(name, y_score, remedy, n_rows)
    if not len(scores):
        raise InvalidInputError(f"`{name}` must have rows, got none. Pass scores of some rows.")
    check_finite(scores, name)
    if isinstance(threshold, Boundary):
        threshold._check_scale(float(scores.min()), float(scores.max()), len(scores))
    return scores


def certify_sample(
    sample: ScoreSample, threshold: float, *, weighted: bool, **options: Any
) -> Certificate:
    """Return the certificate of a sample at a threshold; weights make it nominal."""
    at = sample.from_units(np.array([threshold]))
    wrong, labels = [side[0] for side in sample.count_wrong(at)], sample.labels
    options["threshold"] = threshold
    if not weighted:
        return certify_counts(tuple(map(int, wrong)), sample.n_samples, labels, **options)
    shares = [float(k / n) for k, n in zip(wrong, sample.n_samples, strict=True)]
    effective = [float(c.effective) for c in (sample.negative, sample.positive)]
    return certify_shares(shares, effective, labels, **options)


def certify_shares(
    errors: Sequence[float], effective: Sequence[float], labels: tuple[Any, ...], **options: Any
) -> Certificate:
    """Return the nominal certificate of weighted shares, at effective numbers of rows.

    Rounding is conservative: fewer rows, more of them wrong.
    """
    rows = tuple(int(n + 1e-9) for n in effective)
    wrong = tuple(
        min(math.ceil(share * n - 1e-9), n) if n else 0
        for share, n in zip(errors, rows, strict=True)
    )
    certificate = certify_counts(wrong, rows, labels, **options)
    return replace(certificate, errors=tuple(errors), status="nominal", reason=_WEIGHTED)


def certify_counts(
    wrong: tuple[int, ...],
    n_samples: tuple[int, ...],
    labels: tuple[Any, ...],
    *,
    confidence: float = 0.95,
    joint: bool = False,
    chosen_here: bool = False,
    scores: Scores = "held-out",
    threshold: float | None = None,
) -> Certificate:
    r"""Bound each class's error rate from counts of rows on the wrong side.

    `chosen_here` speaks of biases where there are more than two classes.

    Notes
    -----
    With K ≥ 3 classes, the rows of a class that biases chosen here get right lie in an orthant of
    score differences, whose K − 1 faces can be moved onto K − 1 of these rows without losing one:
    its corner is then the least of these rows in each direction. For each of :math:`\binom{n}{K-1}`
    choices of such rows the other n − K + 1 are independent of the choice, and Clopper–Pearson on
    them at :math:`\delta/\binom{n}{K-1}` holds for all choices together (a sample compression
    bound).

    Examples
    --------
    >>> certify_counts((0, 1), (100, 20), ("no", "yes")).error_bounds[1].__round__(3)
    0.216
    """
    joint, chosen_here = _as_flag("joint", joint), _as_flag("chosen_here", chosen_here)
    as_share("confidence", confidence)
    status, reason, added = _WORTH[scores]
    bounds, floors = _bounds(wrong, n_samples, confidence, joint, chosen_here)
    return Certificate(
        error_bounds=bounds,
        errors=tuple(k / n if n else math.nan for k, n in zip(wrong, n_samples, strict=True)),
        wrong=tuple(wrong),
        n_samples=tuple(n_samples),
        labels=tuple(labels),
        confidence=confidence,
        joint=joint,
        method="uniform" if chosen_here else "clopper-pearson",
        status=status,
        reason=reason + added[chosen_here],
        floors=floors,
        threshold=threshold,
    )


def _bounds(
    wrong: Sequence[int], rows: Sequence[int], confidence: float, joint: bool, chosen_here: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the bound of each class, and the one with no row on the wrong side."""
    delta = (1.0 - as_share("confidence", confidence)) / (len(rows) if joint else 1)

    def bounds(counts: Sequence[int]) -> tuple[float, ...]:
        options: dict[str, Any] = {"chosen_here": chosen_here, "n_classes": len(rows)}
        return tuple(bound_error(k, n, delta, **options) for k, n in zip(counts, rows, strict=True))

    return bounds(wrong), bounds([0] * len(rows))


def certify_boundary(boundary: Boundary, **options: Any) -> Certificate:
    """Return the certificate of a boundary by the rows that chose it."""
    counts = (boundary.wrong, boundary.n_samples, boundary.labels)
    found = certify_counts(*counts, chosen_here=True, threshold=boundary.threshold, **options)
    return replace(found, scale=boundary.scale)


def certify_floors(
    boundary: Boundary, curve: ConfidenceCurve, rule: Floors, cluster: ArrayLike | None = None
) -> Certificate:
    r"""Return the certificate of a boundary that floors decided, by the same rows.

    Each bound of (negative, positive) has the confidence :math:`1 - \delta` of the floors.

    A floor of recall or specificity allows up to k rows of its class on the wrong side, and k
    depends only on the floor, the confidence and the number of rows. So every allowed boundary
    errs no more often than the order statistic with k rows beyond it, whose Clopper–Pearson bound
    is valid. With F floors the bound is at :math:`\delta/F`, as the floor was tested. A class
    without a floor has the band that holds for every boundary at once.

    A class with more than k rows on the wrong side, whose floor was not met, has that band at
    :math:`\delta - \delta/F`: together both cases fail with probability at most :math:`\delta`.
    A single floor is unmet only where no number of rows is allowed, whatever the scores; the band
    is then at :math:`\delta`.

    Where rows come in clusters, a floor that is kept is all that is bounded.
    """
    found = certify_boundary(boundary, confidence=curve.confidence)
    if cluster is not None:
        most = [1.0 - rule.asked.get(name, 0.0) for name in ("specificity", "recall")]
        kept = [e <= m < 1.0 for e, m in zip(boundary.errors, most, strict=True)]
        return replace(
            found,
            error_bounds=tuple(m if k else 1.0 for m, k in zip(most, kept, strict=True)),
            method="betting",
            reason=f"{found.reason}; rates are averages over clusters, which are independent",
        )
    delta, n_floors = 1.0 - curve.confidence, len(rule.asked)
    tested = replace(curve, confidence=1.0 - delta / n_floors)
    bounds = list(found.error_bounds)
    for i, name in enumerate(("specificity", "recall")):
        if name in rule.asked:
            wrong, n = boundary.wrong[i], boundary.n_samples[i]
            allowed = most_wrong(tested.bound, n, 1.0 - rule.asked[name])
            if wrong <= allowed:
                bounds[i] = float(clopper_pearson(allowed, n, delta / n_floors))
            elif n_floors > 1:
                bounds[i] = float(uniform_bound(wrong, n, delta - delta / n_floors))
    return replace(found, error_bounds=tuple(bounds))


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


def _as_flag(name: str, value: object) -> bool:
    """Return True or False, of Python or of NumPy."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InvalidInputError(f"`{name}` must be True or False, got {value!r}. Use {name}=True.")
