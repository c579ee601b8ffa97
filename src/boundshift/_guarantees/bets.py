"""The evidence of one class's rows against its error bound, by bets on worse error rates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from boundshift._result.records import require, require_counts
from boundshift._typing import BoolArray, FloatArray, IndexArray, IntArray

When = str | int | float | None
"""The date of a batch, as JSON can store it."""

ODDS_RATIOS = (1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 20.0)
"""Worse error rates that are bet on, as multiples of the odds of the bound."""

# Points of a path: every batch up to this one, then as many in each doubling.
_POINTS = 64
_ROUNDING = 1e-6  # by which stored evidence may differ from what its parts give


class Point(NamedTuple):
    """What was known of a class after a batch, and where the batches since the last point began.

    `row` and `when` are those of the batch's end, `first_row` and `first_when` those of the first
    row after the last point that was kept. `n_samples`, `wrong` and `log_e_value` are totals since
    the first batch, and so are `weight` and `weighted_errors`. A row or a cluster weighs 1, and a
    row drawn with some probability the least one divided by it. A cluster's error is its rate.
    """

    row: int
    when: When
    n_samples: int
    wrong: int
    log_e_value: float
    first_row: int
    first_when: When
    weight: float
    weighted_errors: float


class Batches(NamedTuple):
    """Batches of one class, in their order: rows, wrong rows, weights, their errors, and place.

    A batch has the rows from `first_row` to `row` of all classes, and the date `when`.
    """

    n_samples: IntArray
    wrong: IntArray
    weight: FloatArray
    weighted_errors: FloatArray
    first_row: IntArray
    row: IntArray
    when: list[When]


class Excess(NamedTuple):
    """The most likely beginning of excess errors, and what was counted from there on."""

    first_row: int
    first_when: When
    n_samples: int
    wrong: int
    error: float


@dataclass
class Bet:
    """The evidence against one class's bound, and the state that a restart needs."""

    bound: float = 1.0
    # Number of batches, and the log likelihood ratio of all rows for each rate.
    steps: int = 0
    log_ratios: list[float] = field(default_factory=lambda: [0.0] * len(ODDS_RATIOS))
    # For each rate: log of the sum over starts of weight / likelihood ratio before the start.
    log_starts: list[float] = field(default_factory=lambda: [-math.inf] * len(ODDS_RATIOS))
    points: list[Point] = field(default_factory=list)
    last: Point | None = None
    # What was known at the alarm, if one was raised.
    alarm: Point | None = None

    @property
    def n_samples(self) -> int:
        """Rows so far."""
        return self.last.n_samples if self.last else 0

    @property
    def wrong(self) -> int:
        """Rows on the wrong side so far."""
        return self.last.wrong if self.last else 0

    @property
    def error(self) -> float:
        """The observed error rate, averaged by weight; NaN without rows."""
        if self.last is None:
            return math.nan
        return self.last.weighted_errors / self.last.weight

    @property
    def log_e_value(self) -> float:
        """The logarithm of the evidence."""
        return self.last.log_e_value if self.last else 0.0

    def extend(
        self,
        errors: FloatArray | BoolArray,
        first: IndexArray | None = None,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Add the errors of rows, or the error rates of clusters; return the log evidence by batch.

        `first` has the place where each batch begins; None makes each row a batch. Weights of at
        most 1 make the bets smaller; None is 1 for each.
        """
        if first is None:
            first = np.arange(len(errors))
        batch = self.steps + np.arange(1, len(first) + 1)
        self.steps += len(first)
        if not self.is_watched or not len(first):
            return np.zeros(len(first))
        excess = (errors - self.bound) * (1.0 if weights is None else weights)
        # With a weight of 1 the factor is odds / base if wrong and 1 / base if right.
        gains = [
            np.add.reduceat(np.log1p((odds - 1) * excess / (1 + (odds - 1) * self.bound)), first)
            for odds in ODDS_RATIOS
        ]
        log_ratios = np.cumsum(np.vstack([self.log_ratios, np.transpose(gains)]), axis=0)
        weight = np.log1p(1 / batch) / ((1 + np.log(batch)) * (1 + np.log(batch + 1)))
        terms = np.log(weight)[:, None] - log_ratios[:-1]
        log_starts = np.logaddexp.accumulate(np.vstack([self.log_starts, terms]), axis=0)[1:]
        self.log_ratios = log_ratios[-1].tolist()
        self.log_starts = log_starts[-1].tolist()
        return mixture_evidence(log_ratios[1:], log_starts, batch)

    @property
    def is_watched(self) -> bool:
        """Whether the bound can be exceeded at all, and can be kept."""
        return 0 < self.bound < 1

    def add(self, batches: Batches, log_e_values: FloatArray, needed: float) -> None:
        """Add the counts of batches after their evidence; keep points and the first alarm.

        `needed` is the log evidence at which an alarm is raised.
        """
        is_kept = self._choose_points(len(log_e_values))
        alarm = None
        is_enough = log_e_values >= needed
        if is_enough.any() and self.alarm is None:
            alarm = int(np.argmax(is_enough))
        columns = (batches.n_samples, batches.wrong, batches.weight, batches.weighted_errors)
        totals = _counts(self.last) + np.cumsum(np.column_stack(columns), axis=0)
        wanted = {*np.flatnonzero(is_kept).tolist(), len(log_e_values) - 1}
        if alarm is not None:
            wanted.add(alarm)
        # The place in these batches, and the first row and date, at which the open stretch begins.
        begins = int(batches.first_row[0]), batches.when[0]
        if self.last is not None and not (self.points and self.points[-1] == self.last):
            begins = self.last.first_row, self.last.first_when
        for i in sorted(wanted):
            n_samples, wrong, weight, errors = totals[i].tolist()
            evidence = float(log_e_values[i])
            ends = int(batches.row[i]), batches.when[i]
            rows = (int(n_samples), int(wrong))
            point = Point(*ends, *rows, evidence, *begins, weight, errors)
            if i == alarm:
                self.alarm = point
            if is_kept[i]:
                self.points.append(point)
                if i + 1 < len(batches.when):
                    begins = int(batches.first_row[i + 1]), batches.when[i + 1]
            self.last = point

    def _choose_points(self, n: int) -> BoolArray:
        """Return which of the last n batches are points of the path."""
        steps = self.steps + np.arange(1 - n, 1)
        doublings = np.frexp(steps.astype(np.float64))[1] - _POINTS.bit_length()
        chosen: BoolArray = steps % np.left_shift(1, np.maximum(doublings, 0)) == 0
        return chosen

    def find_excess(self, alarm: Point) -> Excess:
        """Return the start that makes the errors from then until the alarm most likely.

        A date whose rows came in several batches is no start from its second batch on, so that the
        counts are those of all rows from the date on. If no other start is left, it has no date.
        """
        kept = [point for point in self.points if point.row < alarm.row]
        before = [None, *kept]
        stretches = [*kept, alarm]
        counts = np.array([_counts(point) for point in before])
        n_samples, wrong, weight, errors = np.transpose(_counts(alarm) - counts)
        error = errors / weight
        gain = weight * (
            xlogy(error, error / self.bound) + xlogy(1 - error, (1 - error) / (1 - self.bound))
        )
        gain = np.where(error > self.bound, gain, -np.inf)
        pairs = zip(before, stretches, strict=True)
        is_within_date = np.array([_continues_date(*pair) for pair in pairs])
        gain_of_dates = np.where(is_within_date, -np.inf, gain)
        has_date = bool(gain_of_dates.max() > -np.inf)
        best = int(np.argmax(gain_of_dates if has_date else gain))
        return Excess(
            first_row=stretches[best].first_row,
            first_when=stretches[best].first_when if has_date else None,
            n_samples=int(n_samples[best]),
            wrong=int(wrong[best]),
            error=float(error[best]),
        )

    def check_values(self, n_rows: int, needed: float) -> None:
        """Raise unless this can be the state of a monitor that saw so many rows of all classes.

        `needed` is the log evidence at which an alarm is raised.
        """
        require_counts("steps", [len(self.points), self.steps], [self.steps, self.n_samples])
        has_batches = (self.steps > 0) == (self.n_samples > 0)
        require(has_batches, "steps", "be 0 only without rows", self.steps)
        rule = "have counts that agree with each other"
        require(self._has_possible_points(n_rows), "points", rule, self.points)
        follows = self._has_evidence_of_its_parts()
        require(follows, "log_e_value", "follow from the other fields", self.log_e_value)
        agrees = self._has_alarm_if_needed(needed)
        require(agrees, "alarm", "be there if and only if the evidence suffices", self.alarm)

    def _has_possible_points(self, n_rows: int) -> bool:
        path = [*self.points]
        if self.alarm is not None:
            path.append(self.alarm)
        if self.last is not None:
            path.append(self.last)
        path.sort(key=lambda point: point.row)
        is_last_at_end = self.last is None or path[-1][:4] == self.last[:4]
        totals = np.array([_counts(point) for point in path]).reshape(-1, 4)
        n_samples, wrong, weight, errors = np.transpose(totals)
        rows = np.array([point.row for point in path])
        first_rows = np.array([point.first_row for point in path])
        log_e_values = np.array([point.log_e_value for point in path])
        return bool(
            is_last_at_end
            and bool(path) == (self.last is not None)
            and np.isfinite(log_e_values).all()
            and np.all(np.diff(totals, axis=0) >= 0)
            and np.array_equal(np.diff(weight) > 0, np.diff(rows) > 0)
            and np.all((wrong >= 0) & (wrong <= n_samples))
            and np.all((weight > 0) & (weight <= n_samples * (1 + _ROUNDING)))
            and np.all((errors >= 0) & (errors <= weight * (1 + _ROUNDING)))
            and np.all((first_rows >= 1) & (first_rows <= rows) & (rows <= n_rows))
        )

    def _has_alarm_if_needed(self, needed: float) -> bool:
        points = [*self.points, *([self.last] if self.last else [])]
        if self.alarm is None:
            return all(point.log_e_value < needed for point in points)
        return self.alarm.log_e_value >= needed and self.find_excess(self.alarm).error > self.bound

    def _has_evidence_of_its_parts(self) -> bool:
        lengths = {len(self.log_ratios), len(self.log_starts)}
        has_numbers = np.isfinite(self.log_ratios).all() and np.less(self.log_starts, np.inf).all()
        if lengths != {len(ODDS_RATIOS)} or not has_numbers:
            return False
        if not self.is_watched or self.steps == 0:
            return self.log_e_value == 0.0
        parts = np.array([self.log_ratios]), np.array([self.log_starts])
        evidence = float(mixture_evidence(*parts, np.array([self.steps]))[0])
        return math.isclose(evidence, self.log_e_value, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def mixture_evidence(log_ratios: FloatArray, log_starts: FloatArray, batch: IntArray) -> FloatArray:
    """Return the log of the mean over rates and starts of the likelihood ratio from the start on.

    The weight of all starts that are still to come is kept as cash.
    """
    begun = np.logaddexp.reduce(log_starts + log_ratios, axis=1) - math.log(len(ODDS_RATIOS))
    evidence: FloatArray = np.logaddexp(begun, -np.log1p(np.log(batch + 1)))
    return evidence


def _continues_date(before: Point | None, stretch: Point) -> bool:
    """Return whether the first rows of a stretch have the date of the rows before."""
    return before is not None and before.when is not None and before.when == stretch.first_when


def _counts(point: Point | None) -> FloatArray:
    """Return rows, wrong rows, weight and weighted errors by a point; zeros before the first."""
    if point is None:
        return np.zeros(4)
    return np.array([point.n_samples, point.wrong, point.weight, point.weighted_errors])
