"""Labelling rows one by one, until a floor is certified or shown to be missed."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from boundshift._guarantees.draws import PoolBets, stratify
from boundshift._guarantees.reading import read_scores, read_threshold
from boundshift._result.boundary import Boundary
from boundshift._status import TextStatus
from boundshift._typing import BoolArray, FloatArray, IndexArray
from boundshift._validation import as_choice, as_column, as_generator, count_missing
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors
from boundshift.rules._guarantee import Guarantee

# What 1 is positive against, if no positive class is named.
_NEGATIVES_OF_ONE = {0, -1}
# Largest logarithm of the evidence; a float holds its power.
_MOST_LOG = 700.0


class AuditStatus(TextStatus):
    """How far an audit has come."""

    OPEN = "open"
    CERTIFIED = "certified"
    MISSED = "missed"
    EXHAUSTED = "exhausted"


class Audit:
    r"""Label rows until a floor is certified, or shown to be missed.

    You may look after every label and stop at any time.

    Parameters
    ----------
    y_score : array-like of shape (n_samples,)
        Scores of the pool: rows whose labels are not known yet, and that the model has not seen.
    threshold : float or Boundary
        A row is flagged if and only if its score is greater.
    rule : Floors
        One guaranteed floor: recall, specificity, precision or npv.
    draw : {"random", "score"}, default="random"
        How rows are drawn: all with the same probability, or more often if their score and the
        labels so far suggest that they matter. Of "score", take few rows at a time, so that each
        batch can use the labels of those before.
    about : {"pool", "population"}, default="pool"
        Which rows have the floor: all rows of the pool, or the population of which the pool is a
        random sample, such as next month's rows. "population" needs draw="random".
    pos_label : label, default=None
        The positive class; None takes that of the boundary, or 1 for labels 0 and 1, -1 and 1,
        and booleans.
    random_state : int, Generator or None, default=None
        Seed of the draws; None draws others each time, which the guarantee relies on.

    Notes
    -----
    Rows that count are those predicted positive for a precision, predicted negative for an NPV,
    positive for a recall, negative for a specificity; for the last two any row is to be labelled.
    Let m be one minus the floor. A row that counts has the value 1 - m if it is wrong and -m if it
    is right, any other row 0. The floor is kept if and only if these add up to 0 or less.

    *Pool.* :mod:`boundshift._guarantees.draws` bets on this sum, from rows drawn without
    replacement with known probabilities. The verdict is wrong with a probability of at most
    :math:`\delta`, whatever the labels and the scores, and there is one at the latest when all
    rows are labelled. With draw="score" rows are drawn by a forecast of their label: by the
    spread of their value, by the surprise that they may hold, and to a small part equally. The
    forecast is the rate of positives so far among rows with similar scores. A useless score costs
    labels and breaks no guarantee.

    *Population.* Each row that counts is wrong with the same probability, m in the worst case. Of
    n such rows k are wrong. The evidence that the probability is smaller is the mean over seven
    shares c of :math:`(1 - c)^k (1 + c m / (1 - m))^{n - k}`, and the evidence that it is greater
    that of :math:`(1 - c)^{n - k} (1 + c (1 - m) / m)^k`. A verdict needs :math:`1/\delta`.

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
    certified after 77 labels: precision ≥ 0.9 in the pool with 0.95 confidence; 2 of 77 were wrong.
    """

    def __init__(
        self,
        y_score: ArrayLike,
        threshold: float | Boundary,
        rule: Floors,
        *,
        draw: Literal["random", "score"] = "random",
        about: Literal["pool", "population"] = "pool",
        pos_label: object = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        guarantee = _read_guarantee(rule)
        as_choice("draw", draw, ("random", "score"))
        as_choice("about", about, ("pool", "population"))
        if draw == "score" and about == "population":
            raise InvalidInputError(
                "must be 'random' with about='population', got 'score'. Leave one of them out.",
                argument="draw",
            )
        scores = read_scores("y_score", y_score)
        t, pos_label = read_threshold(threshold, pos_label)
        self._negatives: set[object] = set()
        if isinstance(threshold, Boundary):
            _check_fresh(scores, threshold)
            if threshold.names_negative:
                self._negatives = {threshold.labels[0]}
        self.about = about
        self.level = 1.0 - guarantee.delta
        self.pos_label = 1 if pos_label is None else pos_label
        self._is_positive_assumed = pos_label is None
        self._guarantee = guarantee
        self._flagged = scores > t
        # For a recall or a specificity, which rows count is known by their labels only.
        may_count = {"precision": self._flagged, "npv": ~self._flagged}
        rows = np.flatnonzero(may_count.get(guarantee.rate, np.ones(len(scores), dtype=bool)))
        self._bets = _prepare_bets(
            rows, scores, self._flagged, guarantee, draw, about, as_generator(random_state)
        )
        self.n_labels = 0
        self.n_samples = 0
        self.wrong = 0
        self._ended: AuditStatus | None = None

    def next_rows(self, n: int = 1) -> IndexArray:
        """Return the next rows to label, fewer than n at the end; none once it has ended."""
        if not isinstance(n, int | np.integer) or n < 1:
            raise InvalidInputError(
                f"must be a whole number from 1, got {n!r}. Use 10.", argument="n"
            )
        return self._bets.draw(0 if self._ended else int(n))

    def add(self, labels: ArrayLike) -> Self:
        """Add the labels of :meth:`next_rows`, in their order; those after the end do not count."""
        y = as_column("labels", labels, "Pass one label for each of the next rows.")
        awaited = self._bets.n_pending
        if len(y) > awaited or count_missing(y):
            raise InvalidInputError(
                f"must be those of next_rows, {awaited} of which have none yet, got "
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
        if self._is_positive_assumed and not others <= _NEGATIVES_OF_ONE:
            raise InvalidInputError(
                "must be given for labels other than 0 and 1, -1 and 1, or booleans, got the "
                f"labels {sorted(map(repr, others))} and no positive class. Name it, as in "
                "Audit(..., pos_label=2).",
                argument="pos_label",
            )
        self._negatives = others
        for is_positive in (y == self.pos_label).tolist():
            if self._ended is None:
                self._count(is_positive)
            else:
                self._bets.skip()
        return self

    def _count(self, is_positive: bool) -> None:
        """Count one label, and end if it decides."""
        row = self._bets.observe(is_positive)
        self.n_labels += 1
        counts = {"recall": is_positive, "specificity": not is_positive}
        if counts.get(self._guarantee.rate, True):
            self.n_samples += 1
            self.wrong += is_positive != self._flagged[row]
        needed = 1.0 / self._guarantee.delta
        kept, missed = self.evidence()
        if self.n_samples == 0:
            return
        if kept >= needed:
            self._ended = AuditStatus.CERTIFIED
        elif missed >= needed:
            self._ended = AuditStatus.MISSED

    @property
    def status(self) -> AuditStatus:
        """Whether the floor is certified, shown to be missed, or still open; or no row is left."""
        if self._ended is not None:
            return self._ended
        is_open = self.n_labels < self._bets.sizes.sum()
        return AuditStatus.OPEN if is_open else AuditStatus.EXHAUSTED

    def evidence(self) -> tuple[float, float]:
        """Return the evidence that the floor is kept, and that it is missed."""
        kept, missed = np.exp(np.minimum(self._bets.log_evidence(), _MOST_LOG)).tolist()
        return kept, missed

    def __str__(self) -> str:
        sign = {AuditStatus.CERTIFIED: "≥", AuditStatus.MISSED: "<"}.get(self.status)
        guarantee = self._guarantee
        verdict = ""
        if sign is not None:
            verdict = (
                f"{guarantee.rate} {sign} {guarantee.limit:g} in the {self.about} with "
                f"{self.level:g} confidence; "
            )
        return (
            f"{self.status} after {self.n_labels} labels: {verdict}"
            f"{self.wrong} of {self.n_samples} were wrong."
        )


def _prepare_bets(
    rows: IndexArray,
    scores: FloatArray,
    is_flagged: BoolArray,
    guarantee: Guarantee,
    draw: str,
    about: str,
    random: np.random.Generator,
) -> PoolBets:
    """Return bets on the sum of the values of rows that may count."""
    prior = None
    if draw == "score":
        stratum, prior = stratify(scores[rows], is_flagged[rows])
    else:
        stratum = is_flagged[rows].astype(np.intp)
    n_strata = int(stratum.max(initial=0)) + 1
    flagged = np.zeros(n_strata, dtype=bool)
    flagged[stratum] = is_flagged[rows]
    m = guarantee.error_rate
    # For each stratum: the value of a negative row and that of a positive one.
    values = np.column_stack([np.where(flagged, 1.0 - m, -m), np.where(flagged, -m, 1.0 - m)])
    if guarantee.rate == "recall":
        values[:, 0] = 0.0
    if guarantee.rate == "specificity":
        values[:, 1] = 0.0
    return PoolBets(rows, stratum, values, prior, about == "pool", random)


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
    for rows in (boundary.chosen_on, boundary.trained_on):
        if rows is not None and rows.include_unlabelled(scores):
            raise InvalidInputError(
                "must be scores of rows that did not choose the boundary or train its model, got "
                "some that did. Leave the rows with known labels out.",
                argument="y_score",
            )
