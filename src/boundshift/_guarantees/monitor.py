"""Whether a certificate still holds, as labelled rows arrive after deployment."""

from __future__ import annotations

import datetime
import math
import warnings
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._guarantees.bets import Batches, Bet, Point, When
from boundshift._guarantees.certificate import Certificate
from boundshift._guarantees.design import Design
from boundshift._guarantees.reading import read_threshold
from boundshift._result.boundary import check_scale
from boundshift._result.records import Record, require, require_counts
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import as_clusters, as_column, as_scores, as_share, check_finite
from boundshift._words import at_most, percent, row_count
from boundshift.curves._clusters import cluster_means
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import BoundaryWarning, InvalidInputError

# Probability with which an interval of the observed error rate misses the true one, for one look.
_INTERVAL_RISK = 0.05


@dataclass(frozen=True)
class Alarm:
    """Evidence that the error rate of a class exceeded its bound.

    Parameters
    ----------
    label : label
        The class.
    row, when : int, and str, number or None
        The last row of the batch that raised the alarm, from 1 on, and its date.
    since_row, since : int, and str, number or None
        An estimate of where the excess errors began: the most likely first row and its date. The
        date is None if the excess begins within the rows of one date.
    wrong, n_samples : int
        Rows of the class on the wrong side, and all of its rows, from `since` to `when`, including
        both dates.
    error : float
        The observed error rate of these rows; with clusters, the average over clusters.
    bound : float
        The error rate that the certificate guarantees.
    level : float
        The probability of ever raising an alarm is at most this while all error rates stay within
        their bounds.
    """

    label: Any
    row: int
    when: When
    since_row: int
    since: When
    wrong: int
    n_samples: int
    error: float
    bound: float
    level: float

    def __str__(self) -> str:
        return f"{self._headline} {_describe_level(self.level)}"

    @property
    def _headline(self) -> str:
        since = f"row {self.since_row:,}" if self.since is None else str(self.since)
        until = f"row {self.row:,}" if self.when is None else str(self.when)
        return (
            f"Alarm for class {self.label}, raised at {until}: its error rate exceeded the "
            f"guaranteed {at_most(self.bound)}. From {since}, where the excess probably began, "
            f"to {until}, {self.wrong:,} of {self.n_samples:,} rows were wrong, an observed error "
            f"rate of {percent(self.error)}."
        )


class ClassPath(NamedTuple):
    """Errors and evidence of one class over time.

    The class and the error rate that its certificate guarantees. Then, point by point: the date or
    None, the row number among all classes, rows of the class on the wrong side and all of its rows
    by then, and the logarithm of the evidence against the certificate. At last the observed error
    rate of all rows and its 95% interval, or None for clusters.
    """

    label: Any
    bound: float
    when: tuple[When, ...]
    rows: NDArray[np.int64]
    wrong: NDArray[np.int64]
    n_samples: NDArray[np.int64]
    log_e_values: FloatArray
    error: float
    error_interval: tuple[float, float] | None


@dataclass(repr=False)
class Monitor(Record):
    r"""Watch whether a certificate still holds, as labelled rows arrive after deployment.

    A monitor compares the error rates with the *bounds* of the certificate, not with the error
    rates that were observed when it was made. If a class erred in 28% of its rows, the bound is 36%
    and the class now errs in 40%, an alarm may take years if rows are few. ``str(monitor)``
    therefore shows the observed error rate with its interval beside the bound.

    Parameters
    ----------
    certificate : Certificate
        From :func:`~boundshift.certify`. A nominal or cross-fitted one is watched with a warning:
        its bounds were no guarantee for the deployed model. With a certificate that was made with
        ``probability``, every update needs it, too.
    threshold : float, default=None
        A row is predicted positive if and only if its score is greater; None takes the
        certificate's.
    confidence : float, default=0.95
        One minus the probability of ever raising an alarm for any class while all error rates
        stay within their bounds.
    rows, classes : int and list, default=0 and []
        Rows seen and the state of each class, as stored by :meth:`to_json`; leave them out.

    Notes
    -----
    For one class with the guaranteed error rate b, let :math:`x_i` be 1 if a row is on the wrong
    side, else 0. For a rate :math:`q > b` the likelihood ratio of the rows of the batches j to n,

    .. math:: L_{j:n}(q) = \prod_i (q/b)^{x_i} ((1-q)/(1-b))^{1-x_i},

    has a mean of at most 1 as long as every row errs with a probability of at most b, given what
    came before. The evidence is its mean over seven rates q and all batches j from which on the
    rate may have been q,

    .. math:: E_n = \sum_{j \le n} w_j \frac{1}{7} \sum_q L_{j:n}(q) + \sum_{j > n} w_j,
              \qquad w_j = \frac{1}{1 + \ln j} - \frac{1}{1 + \ln(j+1)},

    a nonnegative supermartingale that starts at 1. An alarm is raised when it reaches
    :math:`K/\alpha` for one of K classes; by Ville's inequality that happens with probability at
    most :math:`\alpha`, however often one looks (Ramdas, Grünwald, Vovk and Shafer 2023,
    Statistical Science 38). Because the bets start anew at every batch, months without errors
    hardly delay the alarm (Shin, Ramdas and Rinaldo 2024, on e-detectors). A cluster of rows counts
    once, by the mean of its rows' likelihood ratios, which has the same property if its expected
    error rate is at most b. The bet on a row that was drawn with the probability p is smaller by
    the factor of the least probability over p; its factor is then 1 on average, over drawn rows and
    others, if the rows of the stream err with a probability of at most b.

    A batch is an update, or all of its rows with one date; the order of its rows does not matter.
    If the order of single rows has a meaning, pass ``when=np.arange(n)``.

    *What is assumed.* The rows of a batch are independent, and they are labelled as the rows of the
    certificate were. If the error rate differs from day to day, for example with the weather or
    the staff, rows of one day resemble each other and false alarms are common although the rate
    over the year equals the bound. Make the day a cluster then, in certificate and monitor.

    The certificate itself holds with its own confidence only. If nothing has changed since, an
    alarm has a probability of at most :math:`\alpha` plus that of a wrong bound: 0.05 + 2 × 0.05
    with two classes certified singly at 95%.

    Examples
    --------
    >>> from boundshift import Monitor, certify
    >>> certificate = certify([0] * 90 + [1] * 60, [0.1] * 90 + [0.9] * 58 + [0.2] * 2, 0.5)
    >>> monitor = Monitor(certificate)
    >>> _ = monitor.update([0, 1, 1, 0], [0.2, 0.8, 0.7, 0.1], when="2026-03-02")
    >>> monitor.alarm is None
    True
    >>> _ = monitor.update([1] * 20, [0.9, 0.3] * 10, when="2026-04-01")
    >>> monitor.alarm.label, monitor.alarm.since
    (1, '2026-04-01')
    """

    certificate: Certificate
    _: KW_ONLY
    threshold: float | None = None
    confidence: float = 0.95
    rows: int = 0
    classes: list[Bet] = field(default_factory=list)

    _format: ClassVar[str] = "boundshift.monitor"
    _version: ClassVar[int] = 5

    def __post_init__(self) -> None:
        _check_certificate(self.certificate)
        if self.threshold is None:
            self.threshold = self.certificate.threshold
        else:
            self.threshold = read_threshold(self.threshold, None)[0]
        as_share("confidence", self.confidence)
        if not self.classes:
            self.classes = [Bet(bound) for bound in self.certificate.error_bounds]

    def _check_values(self) -> None:
        """Raise if values that were read are impossible or contradict each other."""
        labels = self.certificate.labels
        n_classes = len(self.classes)
        require(n_classes == len(labels), "classes", "have one state for each label", n_classes)
        is_number = self.threshold is None or math.isfinite(self.threshold)
        require(is_number, "threshold", "be a finite number or null", self.threshold)
        require_counts("n_samples", self.n_samples)
        n_rows = sum(self.n_samples)
        require(self.rows == n_rows, "rows", f"be {n_rows}, those of all classes", self.rows)
        needed = math.log(self.e_value_needed)
        for bet, bound in zip(self.classes, self.certificate.error_bounds, strict=True):
            require(bet.bound == bound, "bound", "be that of the certificate", bet.bound)
            bet.check_values(n_rows, needed)

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        when: ArrayLike | object = None,
        *,
        cluster: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        least_probability: float | None = None,
    ) -> Self:
        """Add a batch of labelled rows that arrived after those before; in any order.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Labels of the certificate, one class alone or no rows are allowed; and scores, on the
            scale of the threshold.
        when : date, datetime, period, str, number, or array-like of these, default=None
            One date for all rows or one for each. Rows with one date are a batch, and batches
            count in the order of their dates.
        cluster : array-like of shape (n_samples,), default=None
            ID of each row's cluster, such as the patient. A cluster counts once, by the mean of
            its rows, so pass all rows of a cluster in one update, which is then one batch.
            Needed for a certificate of clusters, and refused with a certificate of rows.
        probability, least_probability : array-like or pair of float, and float, default=None
            Probability with which each row was drawn for labelling, as in
            :func:`~boundshift.certify`. Error rates are then those of all rows, labelled or not.

        Returns
        -------
        self : Monitor
            A batch that is refused leaves it unchanged.
        """
        threshold = self.threshold
        if threshold is None or len(self.classes) != 2:
            raise InvalidInputError(
                "Scores can be judged only by a certificate of two classes with a threshold, got "
                f"{len(self.classes)} classes and the threshold {threshold!r}. Pass `threshold` to "
                "Monitor, or predicted labels to update_predictions."
            )
        scores = as_scores(y_score)
        check_finite(scores)
        classes = self._read_labels("y_true", y_true, len(scores))
        if len(scores) and threshold == self.certificate.threshold:
            self._check_scale(scores, classes)
        predicted = (scores > threshold).astype(np.intp)
        design = Design(cluster, probability, least_probability)
        return self._take(classes, predicted, when, design)

    def update_predictions(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        when: ArrayLike | object = None,
        *,
        cluster: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        least_probability: float | None = None,
    ) -> Self:
        """Add labelled rows with their predictions, for any number of classes.

        Arguments are those of :meth:`update`, with predicted labels instead of scores.
        """
        predicted = self._read_labels("y_pred", y_pred, None)
        classes = self._read_labels("y_true", y_true, len(predicted))
        design = Design(cluster, probability, least_probability)
        return self._take(classes, predicted, when, design)

    def _check_scale(self, scores: FloatArray, classes: IndexArray) -> None:
        """Raise if the scores are not on the scale of the certificate's threshold."""
        certificate = self.certificate
        threshold = certificate.threshold or 0.0
        # Below the threshold every positive row is wrong, above it every negative one.
        place = 0 if threshold < 0.0 else 1
        likely_error = 1.0 if 0.0 <= threshold <= 1.0 else certificate.error_bounds[place]
        check_scale(
            certificate.scale,
            float(scores.min()),
            float(scores.max()),
            int(np.sum(classes == place)),
            likely_error,
            f"the certificate, whose threshold is {threshold:.6g}",
            refuse=True,
        )

    def _read_labels(self, name: str, values: ArrayLike, n: int | None) -> IndexArray:
        """Return labels as places in the certificate's."""
        y = as_column(name, values, "Pass one label for each row.", n)
        places = np.full(len(y), -1, dtype=np.intp)
        for place, label in enumerate(self.certificate.labels):
            places[y == label] = place
        if len(y) and places.min() < 0:
            raise InvalidInputError(
                f"must hold labels of the certificate, {self.certificate.labels!r}, got "
                f"{y[places < 0].tolist()[0]!r}. Drop the rows without a label, and name the "
                "others as the certificate does.",
                argument=name,
            )
        return places

    def _take(
        self, classes: IndexArray, predicted: IndexArray, when: ArrayLike | object, design: Design
    ) -> Self:
        """Add rows, given the places of their classes and of the predicted ones."""
        is_wrong = predicted != classes
        batch, dates = _read_dates(when, len(classes))
        _check_design(design, self.certificate)
        weights = np.ones(len(classes))
        if design.is_drawn:
            weights = design.ratios(predicted == 1)
        clusters = None
        if design.cluster is not None:
            clusters = as_clusters(design.cluster, len(classes))
            # Sorted by date, large clusters, whose error rate may differ, would come last.
            batch = np.zeros_like(batch)
            dates = dates[-1:]
        last_rows = self.rows + np.cumsum(np.bincount(batch, minlength=len(dates)))
        first_rows = np.append(self.rows, last_rows[:-1]) + 1
        for place in np.unique(classes).tolist():
            is_own = classes == place
            if clusters is None:
                order = np.flatnonzero(is_own)
                order = order[np.lexsort((weights[order], is_wrong[order], batch[order]))]
                errors = is_wrong[order].astype(np.float64)
                own_weights = weights[order]
                present, first = np.unique(batch[order], return_index=True)
            else:
                errors = np.sort(cluster_means(is_wrong[is_own], clusters[is_own]))
                own_weights = np.ones(len(errors))
                present = first = np.zeros(1, dtype=np.intp)
            batches = Batches(
                np.bincount(batch[is_own])[present],
                np.bincount(batch[is_own], is_wrong[is_own])[present].astype(np.int64),
                np.add.reduceat(own_weights, first),
                np.add.reduceat(own_weights * errors, first),
                first_rows[present],
                last_rows[present],
                [dates[i] for i in present],
            )
            bet = self.classes[place]
            log_e_values = bet.extend(errors, first, own_weights)
            bet.add(batches, log_e_values, math.log(self.e_value_needed))
        self.rows += len(classes)
        return self

    @property
    def alarm(self) -> Alarm | None:
        """The first alarm of any class, or None."""
        return min(self.alarms, key=lambda alarm: alarm.row, default=None)

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """At most one alarm per class."""
        level = 1 - self.confidence
        pairs = zip(self.certificate.labels, self.classes, strict=True)
        return tuple(_as_alarm(label, bet, level) for label, bet in pairs if bet.alarm)

    @property
    def n_samples(self) -> tuple[int, ...]:
        """Rows of each class so far."""
        return tuple(bet.n_samples for bet in self.classes)

    @property
    def wrong(self) -> tuple[int, ...]:
        """Rows of each class on the wrong side so far."""
        return tuple(bet.wrong for bet in self.classes)

    @property
    def errors(self) -> tuple[float, ...]:
        """Observed error rate of each class, averaged over clusters if there are any; or NaN."""
        return tuple(bet.error for bet in self.classes)

    @property
    def error_intervals(self) -> tuple[tuple[float, float] | None, ...]:
        """95% Clopper–Pearson interval of each class's error rate; None unless rows count alike.

        It is meant for one look, while the alarm allows any number of looks.
        """
        return tuple(_interval(None, bet.last) for bet in self.classes)

    @property
    def e_values(self) -> tuple[float, ...]:
        """Current evidence against each class's bound; 1 is none."""
        return tuple(math.exp(min(bet.log_e_value, 700.0)) for bet in self.classes)

    @property
    def e_value_needed(self) -> float:
        """The evidence at which an alarm is raised; the classes share the level."""
        return len(self.classes) / (1 - self.confidence)

    @property
    def paths(self) -> tuple[ClassPath, ...]:
        """The evidence of each class over time; long paths keep a selection of batches."""
        columns = self.certificate.labels, self.classes, self.error_intervals
        return tuple(_as_path(*of_class) for of_class in zip(*columns, strict=True))

    def __str__(self) -> str:
        head = ("", "rows", "wrong", "observed", "95% interval", "bound", "evidence")
        lines = [self.verdict, _table_line(head)]
        for place, label in enumerate(self.certificate.labels):
            bet = self.classes[place]
            interval = self.error_intervals[place]
            cells = (
                f"class {label}",
                str(bet.n_samples),
                str(bet.wrong),
                f"{bet.error:.4f}" if bet.n_samples else "–",
                "–" if interval is None else f"{interval[0]:.4f}–{interval[1]:.4f}",
                f"{bet.bound:.4f}",
                f"{self.e_values[place]:.3g}/{self.e_value_needed:.4g}",
            )
            lines.append(_table_line(cells))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Monitor: {self.rows} rows, {len(self.alarms)} alarms>"

    @property
    def verdict(self) -> str:
        """What happened: each alarm and the rows after it, or that there is none."""
        level = 1 - self.confidence
        if self.alarms:
            pairs = zip(self.certificate.labels, self.classes, strict=True)
            alarmed = [(label, bet) for label, bet in pairs if bet.alarm]
            lines = [
                f"{_as_alarm(label, bet, level)._headline} {self._describe_recovery(bet)}"
                for label, bet in alarmed
            ]
            return "\n".join([*lines, _describe_level(level)])
        sentences = [f"No alarm yet in {row_count(self.rows)}."]
        bounds = zip(self.certificate.labels, self.certificate.error_bounds, strict=True)
        unbound = [str(label) for label, bound in bounds if bound >= 1]
        if unbound:
            sentences.append(f"Class {', '.join(unbound)} has no bound to watch.")
        if not self.certificate.certified:
            reason = self.certificate.reason
            sentences.append(f"The certificate is {self.certificate.status}: {reason}.")
        return " ".join(sentences)

    def _describe_recovery(self, bet: Bet) -> str:
        """Say how often a class was wrong after its alarm."""
        if bet.alarm is None or bet.last is None or bet.last.n_samples == bet.alarm.n_samples:
            return "No rows of this class came after the alarm."
        wrong = bet.last.wrong - bet.alarm.wrong
        n_samples = bet.last.n_samples - bet.alarm.n_samples
        weight = bet.last.weight - bet.alarm.weight
        error = (bet.last.weighted_errors - bet.alarm.weighted_errors) / weight
        interval = _interval(bet.alarm, bet.last)
        shown = percent(error)
        if interval is not None:
            low, high = map(percent, interval)
            shown = f"{shown} (95% interval {low} to {high})"
        side = "above" if error > bet.bound else "within"
        return (
            f"After the alarm, {wrong:,} of {n_samples:,} rows were wrong, an observed error rate "
            f"of {shown}, {side} the guaranteed {at_most(bet.bound)}."
        )


def _describe_level(level: float) -> str:
    return (
        "As long as all error rates stay within their bounds, the chance of ever raising an alarm "
        f"is at most {100 * level:.3g}%."
    )


def _check_certificate(certificate: Any) -> None:
    """Raise unless a certificate can be watched; warn unless it is certified."""
    if not isinstance(certificate, Certificate):
        raise InvalidInputError(
            f"must be a Certificate, got {type(certificate).__name__}. Pass what "
            "boundshift.certify returned.",
            argument="certificate",
        )
    if not certificate.certified:
        warnings.warn(
            f"`certificate` should be certified, got a {certificate.status} one: "
            f"{certificate.reason}.",
            BoundaryWarning,
            stacklevel=4,
        )


def _check_design(design: Design, certificate: Certificate) -> None:
    """Raise unless rows are given as those of the certificate were."""
    needs_clusters = certificate.n_clusters is not None
    if needs_clusters and design.cluster is None:
        raise InvalidInputError(
            "must be given with a certificate of clusters, got None. Pass the ID of each row's "
            "cluster.",
            argument="cluster",
        )
    if design.cluster is not None and not needs_clusters:
        raise InvalidInputError(
            "must be left out with a certificate of rows, whose bounds are not about "
            "averages over clusters. Leave it out, or certify with `cluster`.",
            argument="cluster",
        )
    if design.cluster is not None and design.is_drawn:
        raise InvalidInputError(
            "must go without `cluster`, got both. Leave one of them out.",
            argument="probability",
        )
    if design.is_by_side and len(certificate.labels) != 2:
        raise InvalidInputError(
            f"must have one number for each row of {len(certificate.labels)} classes, got the pair "
            f"{design.probability!r}. A pair is for two classes.",
            argument="probability",
        )
    needs_probability = certificate.method == "drawn" or (
        certificate.method == "betting" and not needs_clusters
    )
    if needs_probability and not design.is_drawn:
        raise InvalidInputError(
            "must be given with a certificate that was made with it, got None. Pass the "
            "probability with which each row was drawn for labelling.",
            argument="probability",
        )


def _interval(before: Point | None, last: Point | None) -> tuple[float, float] | None:
    """Return the 95% Clopper–Pearson interval of the rows since a point, if rows count alike."""
    if last is None or last.weight != last.n_samples:
        return None
    n_samples = last.n_samples
    wrong = last.wrong
    if before is not None:
        n_samples -= before.n_samples
        wrong -= before.wrong
    risk = _INTERVAL_RISK / 2
    low = 1.0 - float(clopper_pearson(n_samples - wrong, n_samples, risk))
    return low, float(clopper_pearson(wrong, n_samples, risk))


def _as_alarm(label: Any, bet: Bet, level: float) -> Alarm:
    point = bet.alarm
    assert point is not None
    excess = bet.find_excess(point)
    return Alarm(
        label=label,
        row=point.row,
        when=point.when,
        since_row=excess.first_row,
        since=excess.first_when,
        wrong=excess.wrong,
        n_samples=excess.n_samples,
        error=excess.error,
        bound=bet.bound,
        level=level,
    )


def _as_path(label: Any, bet: Bet, interval: tuple[float, float] | None) -> ClassPath:
    points: list[Point] = list(bet.points)
    if bet.last is not None and bet.last not in points[-1:]:
        points.append(bet.last)
    return ClassPath(
        label=label,
        bound=bet.bound,
        when=tuple(point.when for point in points),
        rows=np.array([point.row for point in points], dtype=np.int64),
        wrong=np.array([point.wrong for point in points], dtype=np.int64),
        n_samples=np.array([point.n_samples for point in points], dtype=np.int64),
        log_e_values=np.array([point.log_e_value for point in points]),
        error=bet.error,
        error_interval=interval,
    )


def _table_line(cells: tuple[str, ...]) -> str:
    return "{:<14} {:>8} {:>8} {:>9} {:>14} {:>8} {:>12}".format(*cells).rstrip()


def _read_dates(when: Any, n: int) -> tuple[IndexArray, list[When]]:
    """Return the batch of each row, and the dates of the batches in order."""
    if isinstance(when, str) or not hasattr(when, "__len__"):
        return np.zeros(n, dtype=np.intp), [_as_date(when)]
    values = as_column("when", when, "Pass one date per row, or one for all rows.", n)
    try:
        distinct, batch = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise InvalidInputError(
            f"must be dates, text or numbers of one kind, got others ({error}). Drop the "
            "rows without a date, or leave `when` out.",
            argument="when",
        ) from None
    return batch, [_as_date(value) for value in distinct]


def _as_date(value: Any) -> When:
    """Return a date as JSON can store it; a period of pandas is the time when it starts."""
    value = getattr(value, "start_time", value)
    is_known = value is None or bool(value == value)
    if isinstance(value, np.datetime64) and is_known:
        return str(np.datetime_as_string(value, unit="auto"))
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, datetime.date) and is_known:
        return value.isoformat().removesuffix("T00:00:00")
    if is_known and (value is None or isinstance(value, str | int | float)):
        return value
    raise InvalidInputError(
        f"must be dates, periods, text or numbers, got {value!r}. Leave it out if it is not known.",
        argument="when",
    )
