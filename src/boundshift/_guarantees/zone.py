"""The unsure zone: two limits, between which the score alone should not decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boundshift._boundary import decide
from boundshift._result.boundary import answer_in_kind, check_scale
from boundshift._result.records import (
    Record,
    require,
    require_classes,
    require_counts,
    require_share,
)
from boundshift._result.sql import label_expression
from boundshift._scores import Scale, Scores, ScoreSample, describe_copies, keep_in_float32
from boundshift._status import Status, TextStatus
from boundshift._typing import IndexArray
from boundshift._validation import (
    as_clusters,
    as_known_scores,
    as_pair,
    as_rows,
    as_share,
    name_remedy,
)
from boundshift.curves._clusters import cluster_means, most_wrong_rows, order_clusters
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors
from boundshift.rules._guarantee import Guarantee


class ZoneStatus(TextStatus):
    """What a zone is worth; equal to its text, such as "open".

    The limits are not guaranteed (nominal), one of them is infinite (open), one threshold keeps
    both guarantees (empty), or scores between them are unsure (zone).
    """

    NOMINAL = "nominal"
    OPEN = "open"
    EMPTY = "empty"
    ZONE = "zone"


@dataclass(frozen=True)
class Zone(Record):
    """Two limits, between which the score alone should not decide.

    Parameters
    ----------
    low, high : float
        A row is negative if score ≤ low, positive if score > high, and unsure otherwise. A limit is
        infinite if there are too few rows for a guarantee. Both are equal if one threshold keeps
        both guarantees.
    error_bounds, confidence : tuple of float, and float
        With the stated confidence, at most these shares of the (negative, positive) class are
        decided wrongly, each by itself. In a zone by predictive values the bounds are 1, and the
        confidence is that of both limits together.
    n_samples, labels, unsure : tuples
        Rows of each class that the limits were found on, the classes, and the share of each class
        that lies between the limits among those rows.
    reason : str, default=""
        Why the limits are nominal; empty if they are guaranteed.
    scale : {"raw", "probability"} or None, default=None
        Of the scores that found the limits; None if not known.
    precision, npv : float or None, default=None
        With the stated confidence, at least this share of the rows predicted positive is
        positive, and at least this share of the rows predicted negative is negative.
    n_clusters : tuple of int or None, default=None
        Clusters of each class, if rows come in clusters. Errors are then averages over
        clusters, each counting once.
    """

    low: float
    high: float
    error_bounds: tuple[float, float]
    n_samples: tuple[int, int]
    labels: tuple[Any, Any]
    confidence: float
    unsure: tuple[float, float]
    reason: str = ""
    scale: str | None = None
    precision: float | None = None
    npv: float | None = None
    n_clusters: tuple[int, int] | None = None

    _format: ClassVar[str] = "boundshift.zone"

    def _check_values(self) -> None:
        """Raise if values that were read are impossible or contradict each other."""
        limits = (self.low, self.high)
        require(self.low <= self.high, "low", "be at most 'high', and neither be NaN", limits)
        require(self.low < math.inf, "low", "be below infinity", self.low)
        require(self.high > -math.inf, "high", "be above minus infinity", self.high)
        require_classes(self.labels, {})
        require_counts("n_samples", self.n_samples)
        if self.n_clusters is not None:
            require_counts("n_clusters", self.n_clusters, self.n_samples)
        require_share("confidence", self.confidence)
        for share in self.unsure:
            require(0.0 <= share <= 1.0, "unsure", "be shares of each class", self.unsure)
        require(self.scale in (None, "raw", "probability"), "scale", "be a scale", self.scale)
        has_values = self.precision is not None
        is_pair = has_values == (self.npv is not None)
        require(is_pair, "precision", "be given together with 'npv', or neither", self.precision)
        if self.precision is not None and self.npv is not None:
            require_share("precision", self.precision)
            require_share("npv", self.npv)
        rule = "be rates that the zone can keep"
        for i, limit in enumerate((self.high, self.low)):
            error = self.error_bounds[i]
            is_allowed = error == 1.0 if has_values else 0.0 < error < 1.0
            require(is_allowed, "error_bounds", rule, self.error_bounds)
            is_shown = (
                has_values
                or bool(self.reason)
                or math.isinf(limit)
                or self.n_samples[i] >= self._guarantee(i).rows_needed
            )
            require(is_shown, "error_bounds", rule, self.error_bounds)

    @property
    def status(self) -> ZoneStatus:
        """Whether the limits are guaranteed and finite, and leave scores between them."""
        if self.reason:
            return ZoneStatus.NOMINAL
        if math.isinf(self.low) or math.isinf(self.high):
            return ZoneStatus.OPEN
        return ZoneStatus.EMPTY if self.low == self.high else ZoneStatus.ZONE

    @property
    def message(self) -> str:
        """What the limits guarantee, and what a missing guarantee needs."""
        describe = self._describe_errors if self.precision is None else self._describe_values
        sentences = [describe(0), describe(1)]
        if self.reason:
            sentences.insert(0, f"Nominal: {self.reason}.")
        if self.n_clusters is not None:
            sentences.append("Rates are averages over clusters.")
        return " ".join(sentences)

    def _guarantee(self, i: int) -> Guarantee:
        """Return the guarantee of a class's error rate."""
        return Guarantee("error", self.error_bounds[i], 1.0 - self.confidence, is_cap=True)

    def _side(self, i: int) -> str:
        """Return where rows are decided against a class."""
        return f"above {self.high:.6g}" if i == 0 else f"up to {self.low:.6g}"

    def _describe_errors(self, i: int) -> str:
        """Return how many rows of a class are decided wrongly at most, or what is missing."""
        label = self.labels[i]
        most = f"at most {self.error_bounds[i]:g}"
        if math.isfinite((self.high, self.low)[i]):
            sure = f"with {self.confidence:g} confidence"
            return f"Of class {label!r} {most} lie {self._side(i)}, {sure}."
        unit = "rows" if self.n_clusters is None else "clusters"
        n = (self.n_clusters or self.n_samples)[i]
        return (
            f"No limit can guarantee {most} errors of class {label!r}: it takes at least "
            f"{self._guarantee(i).rows_needed} of its {unit}, and there are {n}. Collect more, or "
            "allow more errors."
        )

    def _describe_values(self, i: int) -> str:
        """Return the guaranteed predictive value on one side."""
        name, share = (("precision", self.precision), ("NPV", self.npv))[i]
        if math.isinf((self.high, self.low)[i]):
            return (
                f"No limit can guarantee a {name} of {share:g}. Collect more rows, or ask for less."
            )
        return (
            f"Of the rows {self._side(i)} at least {share:g} are {self.labels[1 - i]!r}, with "
            f"{self.confidence:g} confidence for both limits together."
        )

    def is_unsure(self, y_score: Any) -> Any:
        """Return which scores lie between the limits, as a mask; arguments as in `predict`."""
        return answer_in_kind(y_score, self._places(y_score) == 1)

    def predict(self, y_score: Any, unsure: object = None) -> Any:
        """Return the label of each score, and `unsure` between the limits.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,), or a column of another library
            Scores, none of them missing.
        unsure : label, default=None
            For scores between the limits, for example "ask" or -1.

        Returns
        -------
        array of shape (n_samples,), or a column of the same kind, index and name
            An array has dtype object, unless `unsure` is of the same kind as the labels.

        Examples
        --------
        >>> zone = Zone(0.0, 1.0, (0.05, 0.05), (90, 90), (0, 1), 0.95, (0.2, 0.3))
        >>> zone.predict([-1, 0.5, 2], unsure="ask").tolist()
        [0, 'ask', 1]
        """
        names = np.empty(3, dtype=object)
        names[:] = [self.labels[0], unsure, self.labels[1]]
        found = names[self._places(y_score)]
        if self._is_alike(unsure):
            found = np.array(found.tolist(), dtype=None)
        try:
            return answer_in_kind(y_score, found)
        except (TypeError, ValueError):  # of Polars and of Arrow, whose columns are of one kind
            raise self._refuse_kind(unsure) from None

    def _places(self, y_score: Any) -> IndexArray:
        """Return 0 up to the lower limit, 2 above the upper one, 1 between; check the scale."""
        scores = as_known_scores(y_score)
        if scores.size:
            # The share of rows on the right side of each limit. Probabilities have none up to a
            # negative limit, and none above one from 1 on.
            errors = self.error_bounds if self.precision is None else (0.0, 0.0)
            right = [
                max(n * (1.0 - unsure - wrong), 0.0) / sum(self.n_samples)
                for n, unsure, wrong in zip(self.n_samples, self.unsure, errors, strict=True)
            ]
            is_left = -math.inf < self.low < 0.0
            is_right = 1.0 <= self.high < math.inf
            inside = 1.0 - right[0] * is_left - right[1] * is_right
            ends = (float(scores.min()), float(scores.max()))
            n = scores.size
            chosen = f"the limits {self.low:.6g} and {self.high:.6g} of the zone"
            check_scale(self.scale, *ends, n, inside, chosen, refuse=False)
        return (scores > self.low).astype(np.intp) + (scores > self.high)

    def to_sql(
        self, column: str | Sequence[str], unsure: object = None, *, dialect: str = "ansi"
    ) -> str:
        """Return an SQL expression for the label of a row, or `unsure`.

        Parameters
        ----------
        column, dialect
            As in :meth:`Boundary.to_sql <boundshift.Boundary.to_sql>`.
        unsure : label, default=None
            For rows between the limits, of the same kind as the labels, as databases demand of
            one expression; None is NULL, which rows without a score get, too.

        Examples
        --------
        >>> zone = Zone(0.0, 1.0, (0.05, 0.05), (90, 90), ("no", "yes"), 0.95, (0.2, 0.3))
        >>> print(zone.to_sql("risk", "ask"))  # doctest: +NORMALIZE_WHITESPACE
        CASE WHEN "risk" > 1.0000000000000000E+00 THEN 'yes'
             WHEN "risk" <= 0.0000000000000000E+00 THEN 'no'
             WHEN "risk" IS NOT NULL THEN 'ask' END
        """
        if unsure is not None and not self._is_alike(unsure):
            raise self._refuse_kind(unsure)
        return label_expression(column, (self.low, self.high), self.labels, dialect, unsure)

    def _is_alike(self, unsure: object) -> bool:
        kinds = {np.asarray(label).dtype.kind for label in (*self.labels, unsure)}
        return kinds <= {"U"} or kinds <= {"b"} or kinds <= {"i", "u", "f"}

    def _refuse_kind(self, unsure: object) -> InvalidInputError:
        return InvalidInputError(
            f"must be of the same kind as the labels {self.labels!r} in one column, got "
            f"{unsure!r}. Use None for a missing value.",
            argument="unsure",
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"

    def __str__(self) -> str:
        return (
            f"{self.labels[0]} up to {self.low:.6g}, {self.labels[1]} above {self.high:.6g}, "
            f"unsure between. {self.message}"
        )


@name_remedy
def find_zone(
    y_true: ArrayLike,
    y_score: ArrayLike,
    errors: float | tuple[float, float] | None = None,
    confidence: float = 0.95,
    *,
    precision: float | None = None,
    npv: float | None = None,
    pos_label: object = None,
    scale: Scale = "auto",
    cluster: ArrayLike | None = None,
) -> Zone:
    r"""Find the limits outside of which error rates or predictive values are guaranteed.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labels, and scores of rows that the model has not seen. With rows of one class alone only
        its own limit is finite.
    errors : float or pair of float, default=None
        Allowed false positive rate and false negative rate; one number for both. None is 0.05,
        unless `precision` and `npv` are given.
    confidence : float, default=0.95
        Confidence of each of the two guarantees; of both together for `precision` and `npv`.
    precision, npv : float, default=None
        Both, instead of `errors`: least share of positives among rows above the upper limit, and
        of negatives among rows up to the lower one. The rows must be a random sample of those to
        come, since predictive values depend on the prevalence.
    pos_label : label, default=None
        The positive class; words need it unless both errors are the same.
    scale : {"auto", "probability", "raw"}, default="auto"
        As in :func:`~boundshift.find_boundary`. Only the one boundary of an empty zone depends on
        it: the middle of two scores, by log-odds where scores are probabilities.
    cluster : array-like of shape (n_samples,), default=None
        ID of each row's cluster, such as the patient, with `errors` only. The error rates are
        then averages over clusters, each counting once.

    Returns
    -------
    Zone
        As narrow as the bounds allow; empty if one threshold keeps both guarantees.

    Notes
    -----
    A limit that leaves k of a class's n points on the wrong side is an order statistic of that
    class, so Clopper and Pearson's bound for k of n holds for it as it is. The largest k whose
    bound is within the errors allowed is taken. With none of n wrong the bound is
    :math:`1 - \delta^{1/n}`: 59 rows are needed for 5% at 95%. Rows in clusters are counted by a
    bet on the clusters' means (:func:`~boundshift.certify`); the farthest limit that passes keeps
    its guarantee, since the evidence falls with the limit. Each limit stands in the middle between
    this score and the next one outwards, which decides no row otherwise.

    Predictive values are tested in sequence, as by :class:`~boundshift.Floors`, each at half of
    :math:`\delta`; all boundaries that pass hold together. Where the limits cross, one boundary
    that passes both tests is taken.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> zone = find_zone(y, rng.normal(size=1000) + 2 * y, errors=(0.05, 0.1))
    >>> round(zone.low, 1), round(zone.high, 1)
    (0.2, 1.7)
    >>> zone.predict([0.0, 1.0, 2.0], unsure=-1).tolist()
    [0, -1, 1]
    """
    confidence = as_share("confidence", confidence)
    if precision is not None or npv is not None:
        if precision is None or npv is None or errors is not None or cluster is not None:
            raise InvalidInputError(
                "and `npv` must be given together and without `errors` or `cluster`, "
                f"got precision={precision!r}, npv={npv!r} and errors={errors!r}. Use "
                "find_zone(y, s, precision=0.5, npv=0.98), for example.",
                argument="precision",
            )
        asked = as_share("precision", precision), as_share("npv", npv)
        sample = ScoreSample.from_labels(y_true, y_score, pos_label, symmetric=False)
        return _zone_by_values(sample, *asked, confidence, scale)
    allowed = as_errors(0.05 if errors is None else errors)
    is_positive, scores, labels = as_rows(
        y_true, y_score, pos_label, symmetric=allowed[0] == allowed[1], one_class=True
    )
    sample = ScoreSample.from_rows(is_positive, scores, labels)
    has_both = min(sample.n_samples) > 0
    if cluster is None:
        is_reversed = has_both and sample.is_reversed
        return zone_of(sample, allowed, confidence, scale, None, is_reversed)
    clusters = order_clusters(is_positive, scores, cluster)
    counts = tuple(
        most_wrong_rows(of_class, error, 1.0 - confidence)
        for of_class, error in zip(clusters, allowed, strict=True)
    )
    ids = as_clusters(cluster, len(scores))
    means = [
        Scores(np.sort(cluster_means(scores[mine], ids[mine])))
        for mine in (~is_positive, is_positive)
    ]
    is_reversed = has_both and ScoreSample(means[0], means[1]).is_reversed
    zone = zone_of(sample, allowed, confidence, scale, counts, is_reversed)
    # Copies within a cluster count once.
    return replace(zone, n_clusters=(means[0].n, means[1].n), reason="")


def as_errors(errors: object) -> tuple[float, float]:
    """Return the errors that each class may have."""
    remedy = "Use (0.05, 0.05), for example."
    negative, positive = as_pair("errors", errors, remedy)
    return as_share("errors", negative, remedy), as_share("errors", positive, remedy)


def zone_of(
    sample: ScoreSample,
    allowed: tuple[float, float],
    confidence: float,
    scale: Scale = "raw",
    counts: tuple[int, ...] | None = None,
    is_reversed: bool | None = None,
) -> Zone:
    """Return the zone of a sample of raw scores, known score by score or read in passes.

    Counts are rows of each class that may be wrong; None counts by Clopper and Pearson's bound.
    """
    if sample.is_reversed if is_reversed is None else is_reversed:
        raise InvalidInputError(
            f"must be higher for the positive class {sample.labels[1]!r}, got lower "
            "ones. Negate the scores or pass the other label as pos_label.",
            argument="y_score",
        )
    are_probabilities = sample.are_probabilities(scale)
    # Each limit leaves few rows of one class beyond it, and the second class is mirrored.
    sides = (sample.negative, sample.positive.mirrored())
    wrong = counts or [
        Guarantee("error", a, 1.0 - confidence, is_cap=True).allowed_errors(c.n, clopper_pearson)
        for c, a in zip(sides, allowed, strict=True)
    ]
    ends = [_limit_with(side, k) for side, k in zip(sides, wrong, strict=True)]
    low, high = _place_limits(sample, -ends[1], ends[0], are_probabilities)
    return _zone(sample, low, high, allowed, confidence, are_probabilities)


def _limit_with(side: Scores, wrong: int) -> float:
    """Return the score above which so many rows of a class lie; infinite if none may."""
    return math.inf if wrong < 0 else float(side.at(np.array([side.n - 1 - wrong]))[0])


def _place_limits(
    sample: ScoreSample, low: float, high: float, are_probabilities: bool
) -> tuple[float, float]:
    """Return limits between scores: one threshold if both guarantees overlap, else two."""
    if low > high:
        log_odds = sample.find_log_odds() if are_probabilities else None
        if log_odds is None:
            both = sample.to_units(_middle(high, low))
        else:
            both = log_odds.midpoint(sample.to_units(high), sample.to_units(low))
        return both, both
    below = np.concatenate([c.between(-math.inf, low)[-1:] for c in sample.classes])
    above = np.concatenate([c.between(high, math.inf)[:1] for c in sample.classes])
    return (
        sample.to_units(_middle(below.max(initial=-math.inf), low)),
        sample.to_units(_middle(high, above.min(initial=math.inf))),
    )


def _zone_by_values(
    sample: ScoreSample, precision: float, npv: float, confidence: float, scale: Scale
) -> Zone:
    """Return the zone whose predictive values are guaranteed."""
    both = Floors(precision=precision, npv=npv, confidence=confidence)
    each = 1.0 - both.guarantees(1.0 - confidence)[0].delta
    above = _threshold_of(sample, Floors(precision=precision, then="recall", confidence=each))
    below = _threshold_of(sample, Floors(npv=npv, then="specificity", confidence=each))
    high = math.inf if above is None else above
    low = -math.inf if below is None else below
    if low > high:
        single = _threshold_of(sample, both)
        if single is None:
            # The rows up to the upper limit are left open.
            low = -math.inf
        else:
            low = single
            high = single
    are_probabilities = sample.are_probabilities(scale)
    zone = _zone(sample, low, high, (1.0, 1.0), confidence, are_probabilities)
    return replace(zone, precision=precision, npv=npv)


def _threshold_of(sample: ScoreSample, floors: Floors) -> float | None:
    """Return the threshold that guarantees floors, None if there is none."""
    boundary = decide(sample, rule=floors)
    return None if boundary.status is Status.UNMET else boundary.threshold


def _zone(
    sample: ScoreSample,
    low: float,
    high: float,
    error_bounds: tuple[float, float],
    confidence: float,
    are_probabilities: bool,
) -> Zone:
    """Return the record of two limits, with the share of each class between them."""
    negative, positive = (
        float(c.count_at_most(high) - c.count_at_most(low)) / max(c.n, 1) for c in sample.classes
    )
    return Zone(
        low=low,
        high=high,
        error_bounds=error_bounds,
        n_samples=sample.n_samples,
        labels=sample.labels,
        confidence=confidence,
        unsure=(negative, positive),
        scale="probability" if are_probabilities else "raw",
        reason=_doubt(sample),
    )


def _doubt(sample: ScoreSample) -> str:
    """Return why rows guarantee nothing: they look like copies of each other."""
    n_copies = sample.n_copies
    return f"{describe_copies(n_copies)}; pass each row once" if n_copies > 1 else ""


def _middle(low: float, high: float) -> float:
    """Return a number in [low, high), also in float32, in the middle where it can be."""
    if math.isinf(low):
        below = float(np.nextafter(high, -math.inf))
        return keep_in_float32(below, low, high) if math.isfinite(high) else low
    middle = float(low + (high - low) / 2)
    return keep_in_float32(middle if middle < high else float(low), low, high)
