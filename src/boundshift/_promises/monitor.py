"""Whether a certificate still holds, as labelled rows arrive after deployment."""

from __future__ import annotations

import datetime
import math
import warnings
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from boundshift._promises.certificate import Certificate
from boundshift._promises.certify import read_threshold
from boundshift._result.boundary import check_scale
from boundshift._result.records import MOST_ROWS, Record, require, require_counts
from boundshift._scores import check_finite
from boundshift._typing import BoolArray, FloatArray, IndexArray, IntArray
from boundshift._validation import as_column, as_scores, as_share
from boundshift.curves._clusters import as_clusters, cluster_means
from boundshift.exceptions import BoundaryWarning, InvalidInputError

When = str | int | float | None

# Worse error rates that are bet on, as multiples of the odds of the bound.
ODDS_RATIOS = (1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 20.0)
# Points of a path: every batch up to this one, then as many in each doubling.
_POINTS = 64
_NEXT = 100  # further rows of which the verdict speaks
_COUNTED = ("certified", "clopper-pearson")


@dataclass(frozen=True)
class Alarm:
    """Evidence that the certificate of a class no longer holds.

    Parameters
    ----------
    label : label
        The class.
    row, when : int, and str, number or None
        The last row of the batch that raised the alarm, from 1 on, and its date.
    since_row, since : int, and str, number or None
        An estimate of where the excess errors began: the most likely first row and its date.
    wrong, n_samples : int
        Rows of the class on the wrong side, and all of its rows, from then until the alarm.
    bound : float
        The error rate that the certificate states.
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
    bound: float
    level: float

    def __str__(self) -> str:
        since = f"row {self.since_row}" if self.since is None else str(self.since)
        when = f"row {self.row}" if self.when is None else str(self.when)
        return (
            f"Class {self.label} exceeds its stated error rate of {self.bound:.3g}, probably since "
            f"about {since}: from there on {self.wrong} of {self.n_samples} rows were wrong "
            f"({self.wrong / self.n_samples:.3g}). Raised at {when}; while all error rates stay "
            f"within their bounds, the chance of ever raising an alarm is at most {self.level:.3g}."
        )


class ClassPath(NamedTuple):
    """Errors and evidence of one class over time.

    The class and the error rate that its certificate states. Then, point by point: the date or
    None, the row number among all classes, rows of the class on the wrong side and all of its rows
    by then, and the logarithm of the evidence against the certificate.
    """

    label: Any
    bound: float
    when: tuple[When, ...]
    rows: NDArray[np.int64]
    wrong: NDArray[np.int64]
    n_samples: NDArray[np.int64]
    log_e_values: FloatArray


@dataclass
class Bet:
    """The evidence against one class's bound, and the state that a restart needs."""

    bound: float = 1.0
    n_samples: int = 0
    wrong: int = 0
    # Batches, and the log likelihood ratio of all rows for each rate.
    steps: int = 0
    log_ratios: list[float] = field(default_factory=lambda: [0.0] * len(ODDS_RATIOS))
    log_e_value: float = 0.0
    # For each rate: log of the sum over starts of weight / likelihood ratio before the start.
    log_starts: list[float] = field(default_factory=lambda: [-math.inf] * len(ODDS_RATIOS))
    # Row number, date, rows of the class, wrong rows, log evidence.
    points: list[tuple[int, When, int, int, float]] = field(default_factory=list)
    last: tuple[int, When] = (0, None)
    alarm: Alarm | None = None

    def check_values(self, label: Any, needed: float) -> None:
        """Raise if a state that was read is impossible or contradicts itself."""
        require_counts("wrong", [self.wrong, self.steps], [self.n_samples, self.n_samples])
        for name, logs in (("log_ratios", self.log_ratios), ("log_starts", self.log_starts)):
            is_complete = len(logs) == len(ODDS_RATIOS) and all(each < math.inf for each in logs)
            require(is_complete, name, f"be {len(ODDS_RATIOS)} numbers below infinity", logs)
        require(self.log_e_value < math.inf, "log_e_value", "be a number", self.log_e_value)
        log_e_value = 0.0
        if 0 < self.bound < 1 and self.steps:
            log_e_value = self._evidence(np.add(self.log_starts, self.log_ratios), self.steps)
        follows = math.isclose(self.log_e_value, log_e_value, rel_tol=1e-9, abs_tol=1e-9)
        require(follows, "log_e_value", "follow from the other fields", self.log_e_value)
        is_silent = self.alarm is None and self.log_e_value >= math.log(needed)
        require(not is_silent, "alarm", "be there if the evidence suffices", None)
        if self.alarm is not None:
            require(self.alarm.label == label, "label", "be that of the class", self.alarm.label)
            require_counts("wrong", [self.alarm.wrong], [self.alarm.n_samples])
            require_counts("n_samples", [self.alarm.n_samples], [self.n_samples])
        for row, _, n_samples, wrong, log_e in self.points:
            require_counts(
                "points", [wrong, n_samples, row], [n_samples, self.n_samples, MOST_ROWS]
            )
            require(log_e < math.inf, "points", "have evidence that is a number", log_e)

    @staticmethod
    def _evidence(logs: FloatArray, steps: int) -> float:
        """Return the log evidence of sums over starts times likelihood ratios, for each rate."""
        begun = float(np.logaddexp.reduce(logs)) - math.log(len(ODDS_RATIOS))
        return float(np.logaddexp(begun, -math.log1p(math.log(steps + 1))))

    def extend(self, shares: NDArray[Any], first: IndexArray | None = None) -> FloatArray:
        """Add rows or clusters with their shares of errors; return the log evidence by batch.

        `first` has the place where each batch begins; None makes each row a batch.
        """
        first = np.arange(len(shares)) if first is None else first
        batch = self.steps + np.arange(1, len(first) + 1)
        self.steps += len(first)
        if not 0 < self.bound < 1 or not len(first):
            return np.zeros(len(first))
        sizes = np.diff(first, append=len(shares))
        # The likelihood ratio of a row is odds / base if wrong and 1 / base if right.
        gains = [
            np.add.reduceat(np.log1p(shares * (odds - 1)), first)
            - sizes * math.log1p((odds - 1) * self.bound)
            for odds in ODDS_RATIOS
        ]
        logs = np.cumsum(np.vstack([self.log_ratios, np.transpose(gains)]), axis=0)
        spread = np.log1p(1 / batch) / ((1 + np.log(batch)) * (1 + np.log(batch + 1)))
        terms = np.log(spread)[:, None] - logs[:-1]
        starts = np.logaddexp.accumulate(np.vstack([self.log_starts, terms]), axis=0)[1:]
        self.log_ratios, self.log_starts = logs[-1].tolist(), starts[-1].tolist()
        begun = np.logaddexp.reduce(starts + logs[1:], axis=1) - math.log(len(ODDS_RATIOS))
        log_e: FloatArray = np.logaddexp(begun, -np.log1p(np.log(batch + 1)))
        self.log_e_value = float(log_e[-1])
        return log_e


@dataclass(repr=False)
class Monitor(Record):
    r"""Watch whether a certificate still holds, as labelled rows arrive after deployment.

    Parameters
    ----------
    certificate : Certificate
        From :func:`~boundshift.certify`. A nominal or cross-fitted one is watched with a warning:
        an alarm then speaks of the bounds, which were no promise about the deployed model.
    threshold : float, default=None
        A row is predicted positive iff its score is greater; None takes the certificate's.
    confidence : float, default=0.95
        One minus the probability of ever raising an alarm for any class while all error rates
        stay within their bounds.
    rows, classes : int and list, default=0 and []
        Rows seen and the state of each class, as stored by :meth:`to_json`; leave them out.

    Notes
    -----
    For one class with the stated error rate b, let :math:`x_i` be 1 if a row is on the wrong side,
    else 0. For a rate :math:`q > b` the likelihood ratio of the rows of the batches j to n,

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
    share of wrong rows is at most b.

    A batch is an update, or all of its rows with one date; the order of its rows does not matter.
    An order of single rows that has a meaning is stated by ``when=np.arange(n)``.

    The certificate holds with its own confidence only. If nothing has changed since, an alarm has
    a probability of at most :math:`\alpha` plus that of a wrong bound: .05 + 2 × .05 with two
    classes certified singly at 95%.

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
    _version: ClassVar[int] = 3

    def __post_init__(self) -> None:
        certificate = self.certificate
        if not isinstance(certificate, Certificate):
            raise InvalidInputError(
                f"`certificate` must be a Certificate, got {type(certificate).__name__}. Pass what "
                "boundshift.certify returned."
            )
        if not certificate.certified:
            warnings.warn(
                f"`certificate` should be certified, got a {certificate.status} one: "
                f"{certificate.reason}.",
                BoundaryWarning,
                stacklevel=3,
            )
        given = self.threshold
        self.threshold = certificate.threshold if given is None else read_threshold(given, None)[0]
        as_share("confidence", self.confidence)
        self.classes = self.classes or [Bet(bound) for bound in certificate.error_bounds]

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
        states = zip(self.classes, labels, self.certificate.error_bounds, strict=True)
        for bet, label, bound in states:
            require(bet.bound == bound, "bound", "be that of the certificate", bet.bound)
            bet.check_values(label, self.e_value_needed)

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        when: ArrayLike | object = None,
        *,
        cluster: ArrayLike | None = None,
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
            Id of each row's cluster, such as the patient. A cluster counts once, by the mean of
            its rows, so pass all rows of a cluster in one update, which is then one batch.
            Needed for a certificate of clusters.

        Returns
        -------
        self : Monitor
            A batch that is refused leaves it unchanged.
        """
        t, certificate = self.threshold, self.certificate
        if t is None or len(self.classes) != 2:
            raise InvalidInputError(
                "Scores can be judged only by a certificate of two classes with a threshold, got "
                f"{len(self.classes)} classes and the threshold {t!r}. Pass `threshold` to "
                "Monitor, or predicted labels to update_predictions."
            )
        scores = as_scores(y_score)
        check_finite(scores)
        classes = self._read_labels("y_true", y_true, len(scores))
        if len(scores) and t == certificate.threshold:
            # Below the threshold every positive row is wrong, above it every negative one.
            place = 0 if t < 0.0 else 1
            share = 1.0 if 0.0 <= t <= 1.0 else certificate.error_bounds[place]
            ends, rows = (float(scores.min()), float(scores.max())), int(np.sum(classes == place))
            chosen = f"the certificate, whose threshold is {t:.6g}"
            check_scale(certificate.scale, *ends, rows, share, chosen, refuse=True)
        return self._take(classes, (scores > t) != (classes == 1), when, cluster)

    def update_predictions(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        when: ArrayLike | object = None,
        *,
        cluster: ArrayLike | None = None,
    ) -> Self:
        """Add labelled rows with their predictions, for any number of classes.

        Arguments are those of :meth:`update`, with predicted labels instead of scores.
        """
        predicted = self._read_labels("y_pred", y_pred, None)
        classes = self._read_labels("y_true", y_true, len(predicted))
        return self._take(classes, predicted != classes, when, cluster)

    def _read_labels(self, name: str, values: ArrayLike, n: int | None) -> IndexArray:
        """Return labels as places in the certificate's."""
        y = as_column(name, values, "Pass one label for each row.", n)
        places = np.full(len(y), -1, dtype=np.intp)
        for place, label in enumerate(self.certificate.labels):
            places[y == label] = place
        if len(y) and places.min() < 0:
            raise InvalidInputError(
                f"`{name}` must hold labels of the certificate, {self.certificate.labels!r}, got "
                f"{y[places < 0].tolist()[0]!r}. Drop the rows without a label, and name the "
                "others as the certificate does."
            )
        return places

    def _take(
        self,
        classes: IndexArray,
        is_wrong: BoolArray,
        when: ArrayLike | object,
        cluster: ArrayLike | None,
    ) -> Self:
        """Add rows, given the place of each class and whether the prediction is wrong."""
        batch, dates = _read_dates(when, len(classes))
        if cluster is None and self.certificate.n_clusters is not None:
            raise InvalidInputError(
                "`cluster` must be given with a certificate of clusters, got None. Pass the id of "
                "each row's cluster."
            )
        ids = None
        if cluster is not None:
            # Sorted by date, large clusters, whose error rate may differ, would come last.
            ids, batch, dates = as_clusters(cluster, len(classes)), 0 * batch, dates[-1:]
        rows = self.rows + np.cumsum(np.bincount(batch, minlength=len(dates)))
        ends = list(zip(rows.tolist(), dates, strict=True))
        for place in np.unique(classes).tolist():
            mine = classes == place
            of_batch = batch[mine]
            shares: NDArray[Any] = is_wrong[mine][np.lexsort((is_wrong[mine], of_batch))]
            if ids is not None:
                shares = np.sort(cluster_means(is_wrong[mine], ids[mine]))
            present, n = np.unique(of_batch, return_counts=True)
            wrong = np.bincount(of_batch, is_wrong[mine])[present].astype(np.int64)
            self._take_class(place, shares, n, wrong, [ends[i] for i in present])
        self.rows += len(classes)
        return self

    def _take_class(
        self,
        place: int,
        shares: NDArray[Any],
        n: IntArray,
        wrong: IntArray,
        ends: list[tuple[int, When]],
    ) -> None:
        """Add the batches of one class; keep points of its path and the first alarm."""
        bet = self.classes[place]
        steps = bet.steps + np.arange(1, len(n) + 1)
        length = np.frexp(steps.astype(np.float64))[1]
        kept = steps % np.left_shift(1, np.maximum(length - _POINTS.bit_length(), 0)) == 0
        log_e = bet.extend(shares, np.append(0, np.cumsum(n)[:-1]))
        totals, errors = bet.n_samples + np.cumsum(n), bet.wrong + np.cumsum(wrong)
        enough = log_e >= math.log(self.e_value_needed)
        first = int(np.argmax(enough)) if enough.any() and bet.alarm is None else -1
        for i in sorted({*np.flatnonzero(kept).tolist(), first} - {-1}):
            counts = int(totals[i]), int(errors[i])
            if i == first:
                bet.alarm = self._alarm(place, bet, ends[i], *counts)
            if kept[i]:
                bet.points.append((*ends[i], *counts, float(log_e[i])))
        bet.n_samples, bet.wrong, bet.last = int(totals[-1]), int(errors[-1]), ends[-1]

    def _alarm(self, place: int, bet: Bet, end: tuple[int, When], n: int, wrong: int) -> Alarm:
        """Return the alarm of a class, with the most likely start of the excess errors."""
        counts = np.array([(0, 0)] + [point[2:4] for point in bet.points])
        rows, errors = n - counts[:, 0], wrong - counts[:, 1]
        share, bound = errors / rows, bet.bound
        gain = rows * (xlogy(share, share / bound) + xlogy(1 - share, (1 - share) / (1 - bound)))
        best = int(np.argmax(np.where(share > bound, gain, -np.inf)))
        since = (bet.points[best] if best < len(bet.points) else end)[1]
        since_row = 1 + (bet.points[best - 1][0] if best else 0)
        label, level = self.certificate.labels[place], 1 - self.confidence
        wrong, n = int(errors[best]), int(rows[best])
        return Alarm(label, *end, since_row, since, wrong, n, bound, level)

    @property
    def alarm(self) -> Alarm | None:
        """The first alarm of any class, or None."""
        return min(self.alarms, key=lambda alarm: alarm.row, default=None)

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """At most one alarm per class."""
        return tuple(bet.alarm for bet in self.classes if bet.alarm is not None)

    @property
    def n_samples(self) -> tuple[int, ...]:
        """Rows of each class so far."""
        return tuple(bet.n_samples for bet in self.classes)

    @property
    def wrong(self) -> tuple[int, ...]:
        """Rows of each class on the wrong side so far."""
        return tuple(bet.wrong for bet in self.classes)

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
        """Each class over time: every batch at first, then 64 per doubling, and the last."""
        paths = []
        for label, bet in zip(self.certificate.labels, self.classes, strict=True):
            points = list(bet.points)
            if points and points[-1][2] < bet.n_samples:
                points.append((*bet.last, bet.n_samples, bet.wrong, bet.log_e_value))
            rows, when, n, wrong, log_e = zip(*points, strict=True) if points else [()] * 5
            row, k, of_class = (np.array(each, dtype=np.int64) for each in (rows, wrong, n))
            paths.append(ClassPath(label, bet.bound, when, row, k, of_class, np.array(log_e)))
        return tuple(paths)

    def __str__(self) -> str:
        head = f"{'':<14}{'rows':>9}{'wrong':>9}{'error':>9}{'at most':>9}{'evidence':>11}"
        lines = [self.verdict, head]
        for label, bet, e in zip(self.certificate.labels, self.classes, self.e_values, strict=True):
            error = f"{bet.wrong / bet.n_samples:.4f}" if bet.n_samples else "–"
            shown = f"{e:.4g}/{self.e_value_needed:.4g}"
            lines.append(
                f"{f'class {label}':<14}{bet.n_samples:>9}{bet.wrong:>9}{error:>9}{bet.bound:>9.4f}"
                f" {shown:>10}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Monitor: {self.rows} rows, {len(self.alarms)} alarms>"

    @property
    def verdict(self) -> str:
        """A sentence for each alarm; else that there is none, and what the next rows will show."""
        if self.alarms:
            return "\n".join(str(alarm) for alarm in self.alarms)
        bounds = zip(self.certificate.labels, self.certificate.error_bounds, strict=True)
        unbound = [str(label) for label, bound in bounds if bound >= 1]
        silent = f" Class {', '.join(unbound)} has no bound to watch." if unbound else ""
        if not self.certificate.certified:
            silent += f" The certificate is {self.certificate.status}: {self.certificate.reason}."
        return f"No alarm yet in {self.rows} rows.{self._say_next()}{silent}"

    def _say_next(self) -> str:
        """Say how many of the next rows are wrong at most, where counts certify that."""
        certificate = self.certificate
        watched = [bet.bound < 1 for bet in self.classes]
        if not any(watched) or (certificate.status, certificate.method) != _COUNTED:
            return ""
        limits = zip(certificate.labels, certificate.next_rows(_NEXT), watched, strict=True)
        told = [f"{most} of class {label}" for label, most, is_bound in limits if is_bound]
        each = "" if certificate.joint else "each "
        return (
            f" Of the next {_NEXT} rows of each class at most {' and '.join(told)} are wrong, "
            f"{each}with {100 * certificate.confidence:.6g}% confidence."
        )


def _read_dates(when: Any, n: int) -> tuple[IndexArray, list[When]]:
    """Return the batch of each row, and the dates of the batches in order."""
    if isinstance(when, str) or not hasattr(when, "__len__"):
        return np.zeros(n, dtype=np.intp), [_as_date(when)]
    values = as_column("when", when, "Pass one date per row, or one for all rows.", n)
    try:
        distinct, batch = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise InvalidInputError(
            f"`when` must be dates, text or numbers of one kind, got others ({error}). Drop the "
            "rows without a date, or leave `when` out."
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
        f"`when` must be dates, periods, text or numbers, got {value!r}. Leave it out where it is "
        "not known."
    )
