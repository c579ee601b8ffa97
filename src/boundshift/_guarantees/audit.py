"""Labelling rows in random order, one by one, until a floor is certified or shown to be missed."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from boundshift._guarantees.bets import ODDS_RATIOS
from boundshift._guarantees.certify import read_scores, read_threshold
from boundshift._result.boundary import Boundary
from boundshift._status import TextStatus
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import as_column, as_generator, count_missing
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors
from boundshift.rules._guarantee import Guarantee

# Largest logarithm of the evidence; a float holds its power.
_MOST_LOG = 700.0


class AuditStatus(TextStatus):
    """How far an audit has come."""

    OPEN = "open"
    CERTIFIED = "certified"
    MISSED = "missed"
    EXHAUSTED = "exhausted"


class Audit:
    r"""Label rows in random order until a floor is certified, or shown to be missed.

    You may look after every label and stop at any time.

    Parameters
    ----------
    y_score : array-like of shape (n_samples,)
        Scores of rows whose labels are not known yet, and that the model has not seen.
    threshold : float or Boundary
        A row is flagged iff its score is greater.
    rule : Floors
        One guaranteed floor: recall, specificity, precision or npv.
    pos_label : label, default=None
        The positive class; None takes that of the boundary, or 1.
    random_state : int, Generator or None, default=None
        Seed of the order; None draws a new order each time, which the guarantee relies on.

    Notes
    -----
    Rows that count are those predicted positive for a precision, predicted negative for an NPV,
    positive for a recall, negative for a specificity; for the last two any row is to be labelled.
    Let m be one minus the floor, and k of n rows that count be wrong. The evidence that fewer than
    m are wrong is the mean over seven rates q below m of

    .. math:: (q/m)^k ((1-q)/(1-m))^{n-k},

    a nonnegative supermartingale if the rate is m or more: it ever reaches :math:`1/\delta` with
    probability at most :math:`\delta` (Ville's inequality). The floor is then certified. Seven
    rates above m give the evidence that the floor is missed.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import Audit, Floors
    >>> rng = np.random.default_rng(0)
    >>> y, s = np.repeat([0, 1], 500), np.repeat([0.2, 0.8], 500) + rng.normal(size=1000) / 5
    >>> audit = Audit(s, 0.6, Floors(precision=0.9), random_state=0)
    >>> while audit.status == "open":
    ...     _ = audit.add(y[audit.next_rows(10)])
    >>> print(audit)
    certified after 83 labels: precision ≥ 0.9 with 0.95 confidence; 2 of 83 rows were wrong.
    """

    def __init__(
        self,
        y_score: ArrayLike,
        threshold: float | Boundary,
        rule: Floors,
        *,
        pos_label: object = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        guarantee = _read_guarantee(rule)
        scores = read_scores("y_score", y_score)
        t, pos_label = read_threshold(threshold, pos_label)
        if isinstance(threshold, Boundary):
            _check_fresh(scores, threshold)
        self.rule = rule
        self.level = 1.0 - guarantee.delta
        self.pos_label = 1 if pos_label is None else pos_label
        self._guarantee = guarantee
        self._flagged = scores > t
        counted = {"precision": self._flagged, "npv": ~self._flagged}
        rows = np.flatnonzero(counted.get(guarantee.rate, np.ones(len(scores), dtype=bool)))
        self._order = as_generator(random_state).permutation(rows)
        self.n_labels = 0
        self.n_samples = 0
        self.wrong = 0
        self._awaited = 0
        self._ended: AuditStatus | None = None
        self._negatives: set[Any] = set()
        if isinstance(threshold, Boundary) and threshold.names_negative:
            self._negatives = {threshold.labels[0]}

    def next_rows(self, n: int = 1) -> IndexArray:
        """Return the next rows to label, fewer than n at the end; none once it has ended."""
        if not isinstance(n, int | np.integer) or n < 1:
            raise InvalidInputError(
                f"must be a whole number from 1, got {n!r}. Use 10.", argument="n"
            )
        first = len(self._order) if self._ended else self.n_labels
        rows = self._order[first : first + n]
        self._awaited = max(self._awaited, len(rows))
        return rows

    def add(self, labels: ArrayLike) -> Self:
        """Add the labels of :meth:`next_rows`, in their order; those after the end do not count."""
        y = as_column("labels", labels, "Pass one label for each of the next rows.")
        if len(y) > self._awaited or count_missing(y):
            raise InvalidInputError(
                f"must be those of next_rows, {self._awaited} of which have none yet, got "
                f"{len(y)} with {count_missing(y)} missing. Call next_rows(n), and pass the labels "
                "of its rows once.",
                argument="labels",
            )
        others = self._negatives | {each for each in y.tolist() if each != self.pos_label}
        is_word = isinstance(self.pos_label, str)
        if len(others) > 1 or any(isinstance(each, str) != is_word for each in others):
            raise InvalidInputError(
                f"must be {self.pos_label!r}, the positive class, or one other label of "
                f"its kind, got {sorted(map(repr, others))}. Name the positive class by pos_label.",
                argument="labels",
            )
        self._negatives = others
        self._awaited -= len(y)
        rows = self._order[self.n_labels :]
        for row, is_positive in zip(rows, y == self.pos_label, strict=False):
            if self._ended:
                break
            self._count(bool(is_positive), bool(self._flagged[row]))
        return self

    def _count(self, is_positive: bool, is_flagged: bool) -> None:
        """Count one label, and end if it decides."""
        self.n_labels += 1
        counts = {"recall": is_positive, "specificity": not is_positive}
        if not counts.get(self._guarantee.rate, True):
            return
        self.n_samples += 1
        self.wrong += is_positive != is_flagged
        kept, missed = self.evidence()
        needed = 1.0 / self._guarantee.delta
        if kept >= needed:
            self._ended = AuditStatus.CERTIFIED
        elif missed >= needed:
            self._ended = AuditStatus.MISSED

    @property
    def status(self) -> AuditStatus:
        """Whether the floor is certified, shown to be missed, or still open; or no row is left."""
        if self._ended is not None:
            return self._ended
        is_open = self.n_labels < len(self._order)
        return AuditStatus.OPEN if is_open else AuditStatus.EXHAUSTED

    def evidence(self, n: int | None = None, wrong: int | None = None) -> tuple[float, float]:
        """Return the evidence for the floor and against it, by default of the rows so far."""
        n = self.n_samples if n is None else n
        wrong = self.wrong if wrong is None else wrong
        ratios = np.array(ODDS_RATIOS)
        return self._mean_evidence(n, wrong, 1.0 / ratios), self._mean_evidence(n, wrong, ratios)

    def _mean_evidence(self, n: int, wrong: int, ratios: FloatArray) -> float:
        """Return the mean over rates q, given by their ratios to the rate m of the floor."""
        m = self._guarantee.error_rate
        logs = wrong * np.log(ratios) - n * np.log(1.0 - m + ratios * m)
        mean = np.logaddexp.reduce(logs) - math.log(len(ratios))
        return float(np.exp(min(mean, _MOST_LOG)))

    def __str__(self) -> str:
        sign = {AuditStatus.CERTIFIED: "≥", AuditStatus.MISSED: "<"}.get(self.status)
        guarantee = self._guarantee
        shown = f"{guarantee.rate} {sign} {guarantee.limit:g} with {self.level:g} confidence; "
        return (
            f"{self.status} after {self.n_labels} labels: {shown if sign else ''}"
            f"{self.wrong} of {self.n_samples} rows were wrong."
        )


def _read_guarantee(rule: Floors) -> Guarantee:
    """Return the only guarantee of a rule that an audit can test."""
    guarantees: tuple[Guarantee, ...] = ()
    if isinstance(rule, Floors) and rule.level is not None and len(rule.asked) == 1:
        guarantees = rule.guarantees(1.0 - rule.level)
    if not guarantees or guarantees[0].is_cap or guarantees[0].error_rate <= 0.0:
        raise InvalidInputError(
            "must be one guaranteed floor below 1 of recall, specificity, precision or "
            f"npv, got {rule!r}. Use Floors(precision=0.9), for example.",
            argument="rule",
        )
    return guarantees[0]


def _check_fresh(scores: FloatArray, boundary: Boundary) -> None:
    """Raise if rows to be audited are on another scale than the boundary, or chose it."""
    boundary._check_scale(scores)
    rows = boundary.chosen_on
    if rows is not None and rows.include_unlabelled(scores):
        raise InvalidInputError(
            "must be scores of rows that did not choose the boundary, got some that did. "
            "Leave the rows with known labels out.",
            argument="y_score",
        )
