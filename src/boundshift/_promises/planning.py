"""How many rows a guarantee needs, which of them to label next, and when to stop."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from boundshift._boundary import decide
from boundshift._promises.bets import ODDS_RATIOS
from boundshift._promises.certificate import bound_error
from boundshift._promises.certify import read_scores, read_threshold
from boundshift._result.boundary import Boundary
from boundshift._scores import Scores, ScoreSample
from boundshift._status import Status
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import as_column, as_generator, as_positive, as_share, count_missing
from boundshift.curves._clusters import refutes_counts
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors
from boundshift.rules._guarantee import Guarantee

# Largest answers, for an error rate and for floors.
_MOST = 10**9
_MOST_TRIED = 10**6
# Largest logarithm of the evidence; a float holds its power.
_MOST_LOG = 700.0
# Numbers of wrong rows beyond those that follow from the error rate, among which power may fail.
_MORE_STEPS = 4
_ROUNDING = 1e-12


def rows_needed(
    error: float | Floors,
    confidence: float | None = None,
    *,
    wrong_share: float = 0.0,
    chance: float | None = None,
    chosen_here: bool = False,
    clustered: bool = False,
) -> int:
    r"""Return how many rows of a class it takes to certify an error rate.

    A recall of 0.9 is an error rate of 0.1 among rows of the positive class.

    Parameters
    ----------
    error : float or Floors
        Upper bound on the error rate, between 0 and 1; or the floors to guarantee together.
    confidence : float, default=None
        Confidence of the certificate; None is 0.95. Floors have their own.
    wrong_share : float, default=0
        Share of the rows that will be on the wrong side; below `error`.
    chance : float, default=None
        Power. None: `wrong_share` is the observed share. Between 0 and 1: it is the true error
        rate, and the certificate succeeds with at least this probability, for the number of rows
        returned and for every larger one.
    chosen_here : bool, default=False
        Whether the threshold will be chosen on the same rows.
    clustered : bool, default=False
        Whether rows come in clusters, such as patients with several visits. The answer is then
        the number of clusters, and `wrong_share` the share of clusters that will be wrong in every
        row: the worst case, since clusters that vary less need fewer.

    Returns
    -------
    int
        The fewest rows that suffice, :math:`\lceil \ln\delta / \ln(1 - \text{error}) \rceil` with
        none wrong and a threshold fixed before. For floors: the fewest rows per class that can
        guarantee them, with equal classes and no errors. Classes that overlap need more.

    Examples
    --------
    >>> from boundshift import rows_needed
    >>> rows_needed(error=0.05, confidence=0.95), rows_needed(error=0.05, wrong_share=0.02)
    (59, 181)
    >>> rows_needed(error=0.1, wrong_share=0.05, chance=0.8)
    203
    >>> rows_needed(error=0.05, clustered=True), rows_needed(0.05, wrong_share=0.02, clustered=True)
    (59, 294)

    A precision of 0.9 where one row in a hundred is positive:

    >>> from boundshift import Floors
    >>> rows_needed(Floors(recall=0.9)), rows_needed(Floors(precision=0.9, prevalence=0.01))
    (29, 7329)
    """
    if isinstance(error, Floors):
        has_others = confidence is not None or chance is not None or wrong_share
        return _rows_for_floors(error, bool(has_others or chosen_here or clustered))
    error = as_share("error", error, "Use 0.05, for example.")
    share = as_positive("wrong_share", wrong_share, "Use 0.02, for example.", zero=True)
    delta = 1.0 - as_share("confidence", 0.95 if confidence is None else confidence)
    if chance is not None:
        as_share("chance", chance)
    if clustered and chosen_here:
        raise InvalidInputError(
            "`clustered` must go with a threshold fixed before, got chosen_here=True. Hold out "
            "whole clusters that have not chosen the threshold."
        )
    if share >= error:
        raise InvalidInputError(
            f"`wrong_share` must be below `error`, {error:g}, got {wrong_share!r}: a larger share "
            "shows the opposite. Use a larger error."
        )

    too_close = (
        f"`wrong_share` must be farther below `error`: more than {_MOST:,} rows would be needed. "
        "Use a larger error."
    )
    claim = _Claim(error, delta, chosen_here=chosen_here, clustered=clustered)

    def rows_for(wrong: int) -> int:
        """Return the fewest rows of which so many may be wrong."""
        start = int(wrong / error)  # fewer rows show the opposite
        return _least(lambda n: claim.shows(wrong, n), start, _MOST, too_close)

    if chance is not None:
        return _rows_for_power(rows_for, error, share, chance, too_close)
    wrong = _least(lambda k: share * rows_for(k) <= k + _ROUNDING, 0, _MOST, too_close)
    return rows_for(wrong)


@dataclass(frozen=True)
class _Claim:
    """The claim that an error rate is at most some number."""

    error: float
    delta: float
    chosen_here: bool
    clustered: bool

    def shows(self, wrong: int, n: int) -> bool:
        """Return whether n rows, or clusters, show it with so many of them wrong."""
        if self.clustered:
            return n > 0 and refutes_counts(wrong, n, self.error, self.delta)
        bound = bound_error(wrong, n, self.delta, chosen_here=self.chosen_here)
        return bound <= self.error + _ROUNDING


def _rows_for_floors(rule: Floors, has_others: bool) -> int:
    """Return the fewest rows per class that can guarantee floors, if the classes lie apart."""
    if has_others or rule.level is None:
        raise InvalidInputError(
            f"`error` must be floors that are guaranteed, alone, got {rule!r} or another argument. "
            "Floors have a confidence of their own and are chosen on the same rows: set "
            "Floors(confidence=0.95), or ask for the rows of one error rate."
        )

    def is_kept(n: int) -> bool:
        scores = np.arange(1.0, n + 1)
        sample = ScoreSample(Scores(-scores[::-1]), Scores(scores))
        return decide(sample, rule=rule).status is not Status.UNMET

    too_many = (
        f"`error` must be floors that {_MOST_TRIED:,} rows of each class can guarantee, got "
        f"{rule!r}. Ask for a lower floor or a lower confidence."
    )
    return _least(is_kept, 1, _MOST_TRIED, too_many)


def _rows_for_power(
    rows_for: Callable[[int], int], error: float, share: float, chance: float, too_many: str
) -> int:
    """Return the number of rows from which on the power is at least `chance`.

    The power rises where one more row may be wrong, and falls until the next such number of rows.
    So what counts is the power just before each rise. But for rounding to whole rows, it grows with
    the number of rows that may be wrong. Rounding costs as much as the power gains in a few steps,
    so the last failure lies at most so many steps beyond the first success that halving finds.
    """

    def holds_until_next(wrong: int) -> bool:
        return float(bdtr(wrong, rows_for(wrong + 1) - 1, share)) >= chance

    nearly = _least(holds_until_next, 0, _MOST, too_many)
    steps = math.ceil(2.0 * error * share / (error - share)) + _MORE_STEPS
    for wrong in range(nearly + steps, nearly - 1, -1):
        if not holds_until_next(wrong):
            return rows_for(wrong + 1)
    return rows_for(nearly)


def _least(is_enough: Callable[[int], bool], start: int, most: int, too_many: str) -> int:
    """Return the least number from `start` on that is enough, by doubling and halving."""
    low = start
    high = start
    step = 1
    while not is_enough(high):
        if high >= most:
            raise InvalidInputError(too_many)
        low = high + 1
        high = min(high + step, most)
        step *= 2
    return low + bisect_left(range(low, high), True, key=is_enough)


def _check_fresh(scores: FloatArray, boundary: Boundary) -> None:
    """Raise if rows to be audited are on another scale than the boundary, or chose it."""
    boundary._check_scale(scores)
    rows = boundary.chosen_on
    if rows is not None and rows.include_unlabelled(scores):
        raise InvalidInputError(
            "`y_score` must be scores of rows that did not choose the boundary, got some that did. "
            "Leave the rows with known labels out."
        )


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
        self._ended: Literal["certified", "missed"] | None = None
        self._negatives: set[Any] = set()
        if isinstance(threshold, Boundary) and threshold.names_negative:
            self._negatives = {threshold.labels[0]}

    def next_rows(self, n: int = 1) -> IndexArray:
        """Return the next rows to label, fewer than n at the end; none once it has ended."""
        if not isinstance(n, int | np.integer) or n < 1:
            raise InvalidInputError(f"`n` must be a whole number from 1, got {n!r}. Use 10.")
        first = len(self._order) if self._ended else self.n_labels
        rows = self._order[first : first + n]
        self._awaited = max(self._awaited, len(rows))
        return rows

    def add(self, labels: ArrayLike) -> Self:
        """Add the labels of :meth:`next_rows`, in their order; those after the end do not count."""
        y = as_column("labels", labels, "Pass one label for each of the next rows.")
        if len(y) > self._awaited or count_missing(y):
            raise InvalidInputError(
                f"`labels` must be those of next_rows, {self._awaited} of which have none yet, got "
                f"{len(y)} with {count_missing(y)} missing. Call next_rows(n), and pass the labels "
                "of its rows once."
            )
        others = self._negatives | {each for each in y.tolist() if each != self.pos_label}
        is_word = isinstance(self.pos_label, str)
        if len(others) > 1 or any(isinstance(each, str) != is_word for each in others):
            raise InvalidInputError(
                f"`labels` must be {self.pos_label!r}, the positive class, or one other label of "
                f"its kind, got {sorted(map(repr, others))}. Name the positive class by pos_label."
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
            self._ended = "certified"
        elif missed >= needed:
            self._ended = "missed"

    @property
    def status(self) -> Literal["open", "certified", "missed", "exhausted"]:
        """Whether the floor is certified, shown to be missed, or still open; or no row is left."""
        return self._ended or ("open" if self.n_labels < len(self._order) else "exhausted")

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
        sign = {"certified": "≥", "missed": "<"}.get(self.status)
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
            "`rule` must be one guaranteed floor below 1 of recall, specificity, precision or "
            f"npv, got {rule!r}. Use Floors(precision=0.9), for example."
        )
    return guarantees[0]
