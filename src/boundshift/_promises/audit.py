"""Which rows to label next, and when to stop."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from boundshift._promises.certify import check_known, read_scores, read_threshold
from boundshift._promises.monitor import ODDS_RATIOS
from boundshift._result.boundary import Boundary
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import as_column, as_generator, count_missing
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors


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
        One promised floor: recall, specificity, precision or npv.
    pos_label : label, default=None
        The positive class; None takes that of the boundary, or 1.
    random_state : int, Generator or None, default=None
        Seed of the order; None draws a new order each time, which the promise relies on.

    Notes
    -----
    Rows that count are those predicted positive for a precision, predicted negative for an NPV,
    positive for a recall, negative for a specificity; for the last two any row is to be labelled,
    since its class is not known before. Let m be one minus the floor, and k of n rows that count
    be wrong. The evidence that fewer than m are wrong is the mean over seven rates q below m of

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
        asked = rule.asked if isinstance(rule, Floors) else {}
        level = rule.level if len(asked) == 1 and "flagged" not in asked else None
        if level is None or max(asked.values()) >= 1.0:
            raise InvalidInputError(
                "`rule` must be one promised floor below 1 of recall, specificity, precision or "
                f"npv, got {rule!r}. Use Floors(precision=0.9), for example."
            )
        scores = read_scores("y_score", y_score, threshold)
        t, pos_label = read_threshold(threshold, pos_label)
        self.rule, self.level = rule, level
        self.pos_label = 1 if pos_label is None else pos_label
        self._name, self._floor = next(iter(asked.items()))
        self._flagged = scores > t
        is_asked = {"precision": self._flagged, "npv": ~self._flagged}
        rows = np.flatnonzero(is_asked.get(self._name, np.isfinite(scores)))
        self._order = as_generator(random_state).permutation(rows)
        self.n_labels = self.n_samples = self.wrong = 0
        self._awaited = 0
        self._ended: Literal["certified", "missed"] | None = None
        self._negatives: set[Any] = set()
        self._boundary = threshold if isinstance(threshold, Boundary) else None

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
        if self._boundary is not None:
            check_known("labels", y.tolist(), self._boundary)
        others = self._negatives | {each for each in y.tolist() if each != self.pos_label}
        is_word = isinstance(self.pos_label, str)
        if len(others) > 1 or any(isinstance(each, str) != is_word for each in others):
            raise InvalidInputError(
                f"`labels` must be {self.pos_label!r}, the positive class, or one other label of "
                f"its kind, got {sorted(map(repr, others))}. Name the positive class by pos_label."
            )
        self._negatives = others
        self._awaited -= len(y)
        rows = self._order[self.n_labels :][: 0 if self._ended else None]
        needed = 1.0 / (1.0 - self.level)
        for row, is_positive in zip(rows, y == self.pos_label, strict=False):
            self.n_labels += 1
            if {"recall": is_positive, "specificity": not is_positive}.get(self._name, True):
                self.n_samples += 1
                self.wrong += bool(is_positive != self._flagged[row])
                kept, missed = self.evidence()
                if max(kept, missed) >= needed:
                    self._ended = "certified" if kept >= needed else "missed"
                    break
        return self

    @property
    def status(self) -> Literal["open", "certified", "missed", "exhausted"]:
        """Whether the floor is certified, shown to be missed, or still open; or no row is left."""
        return self._ended or ("open" if self.n_labels < len(self._order) else "exhausted")

    def evidence(self, n: int | None = None, wrong: int | None = None) -> tuple[float, float]:
        """Return the evidence for the floor and against it; 1 is none.

        Parameters
        ----------
        n, wrong : int, default=None
            Rows that count, and those of them on the wrong side; None takes those so far.
        """
        n, k = self.n_samples if n is None else n, self.wrong if wrong is None else wrong
        m, ratios = 1.0 - self._floor, np.array(ODDS_RATIOS)

        def mean(odds: FloatArray) -> float:
            logs = k * np.log(odds) - n * np.log(1.0 - m + odds * m)
            return float(np.exp(min(np.logaddexp.reduce(logs) - math.log(len(odds)), 700.0)))

        return mean(1.0 / ratios), mean(ratios)

    def __str__(self) -> str:
        sign = {"certified": "≥", "missed": "<"}.get(self.status)
        shown = f"{self._name} {sign} {self._floor:g} with {self.level:g} confidence; "
        return (
            f"{self.status} after {self.n_labels} labels: {shown if sign else ''}"
            f"{self.wrong} of {self.n_samples} rows were wrong."
        )
