r"""Labelled scores as the mathematics sees them: `Scores` of one class, `ScoreSample` of two.

Scores that all lie in [0, 1] are decided on their log-odds :math:`\ln\frac{p}{1-p}`, and the
threshold is carried back. A curve sees distances between scores, and distances of probabilities
are deceptive: 0.001 and 0.01 differ by as many odds as 0.09 and 0.5. This is the one exception to
the rule that scores :math:`ps + q` have the boundary :math:`pt + q`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from boundshift._typing import (
    BoolArray,
    Counts,
    FloatArray,
    IndexArray,
    IntArray,
    Label,
    LabelArray,
)
from boundshift._validation import (
    as_choice,
    as_labels,
    as_rows,
    as_scores,
    as_weights,
    check_finite,
    not_probabilities,
)
from boundshift.exceptions import InvalidInputError

Scale = Literal["auto", "probability", "raw"]
SCALES = ("auto", "probability", "raw")

_NORMAL_IQR = 1.3489795003921634  # interquartile range of a standard normal distribution
# A repeated score is an atom if it holds this share of a class, or of both together.
ATOM_SHARE = 1e-3
ATOM_ROWS = 2
_FEWEST_SCORES = 20  # by chance, so many do not all occur an even number of times
_ROUNDING = 1e-9  # of a weight
_SUM_ROUNDING = 1e-12  # of a sum of weights, relative to it
_TINY = float(np.finfo(np.float32).tiny)  # numbers closer to 0 may be 0 in float32
_NEAR = 1 << 12  # doubles beside a rounded probability among which its exact threshold lies


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of one class as entries in ascending order.

    An entry is a row, a weighted row, a bin of rows or a resampled row. Ranks start at 0; an entry
    of c rows has c of them. The ranks of weighted rows are in proportion to their weights, and as
    many as there are effective rows.
    """

    value: FloatArray
    count: Counts | None = None  # numbers of rows, or weights if floats; None: one row each

    @cached_property
    def n(self) -> Any:
        """Number of rows, or the sum of their weights."""
        return len(self.value) if self.count is None else self._before[-1].item()

    @property
    def is_weighted(self) -> bool:
        """Whether the rows have weights, which are importances and not numbers of rows."""
        return self.count is not None and self.count.dtype.kind == "f"

    @property
    def n_rows(self) -> int:
        """Number of rows, whatever their weights."""
        return len(self.value) if self.is_weighted else int(self.n)

    @cached_property
    def effective_n(self) -> float:
        r"""Number of equally weighted rows that would estimate a mean as precisely.

        That is :math:`(\sum w)^2 / \sum w^2` (Kish, 1965, Survey Sampling). Multiplying all weights
        by a number does not change it.
        """
        if self.count is None or not self.is_weighted or not len(self.value):
            return float(self.n)
        share = self.count / self.count.max()  # squares of tiny weights would vanish
        return float(share.sum() ** 2 / (share @ share))

    @cached_property
    def minimum(self) -> float:
        """Smallest score; NaN if there is none."""
        return float(self.value[0]) if len(self.value) else math.nan

    @cached_property
    def maximum(self) -> float:
        """Largest score; NaN if there is none."""
        return float(self.value[-1]) if len(self.value) else math.nan

    @property
    def _rounding(self) -> float:
        """How far a rank may be off, as a sum of weights is rounded."""
        return _ROUNDING + _SUM_ROUNDING * self.effective_n

    @cached_property
    def _before(self) -> Counts:
        """Count before each entry, and of all at the end."""
        assert self.count is not None
        return np.concatenate([np.zeros(1, self.count.dtype), np.cumsum(self.count)])

    @cached_property
    def _first_ranks(self) -> Counts:
        """Rank at which each entry begins, and at which the last one ends."""
        unit = self.effective_n / self.n if self.is_weighted else 1
        return np.asarray(self._before * unit)

    def _mean(self, amounts: FloatArray) -> float:
        """Return the mean of one amount for each entry."""
        total = amounts.sum() if self.count is None else self.count @ amounts
        return float(total / self.n)

    @cached_property
    def mean(self) -> float:
        """Mean score."""
        # A common offset costs no digits.
        return self.median + self._mean(self.value - self.median)

    @cached_property
    def median(self) -> float:
        """Middle score, or the mean of the two middle ones."""
        half = self.effective_n / 2
        low, high = self.at(np.array([half - 2 * self._rounding, half]))
        return float(low + (high - low) / 2)

    @cached_property
    def std(self) -> float:
        """Standard deviation with n − 1 degrees of freedom; 0 for a single score."""
        if self.effective_n <= 1 + _ROUNDING or self.minimum == self.maximum:
            return 0.0
        deviation = self.value - self.mean
        # Squares of huge deviations would overflow, those of tiny ones vanish.
        unit = float(np.abs(deviation[[0, -1]]).max())
        if unit == 0.0:  # the scores differ by less than their mean can
            return 0.0
        correction = self.effective_n / (self.effective_n - 1)
        deviation /= unit
        deviation *= deviation
        return unit * math.sqrt(self._mean(deviation) * correction)

    def _rank_of(self, entry: IndexArray) -> Counts:
        return np.asarray(entry) if self.count is None else np.asarray(self._before[entry])

    def count_at_most(self, t: ArrayLike) -> Counts:
        return self._rank_of(np.searchsorted(self.value, t, side="right"))

    def count_below(self, t: ArrayLike) -> Counts:
        return self._rank_of(np.searchsorted(self.value, t, side="left"))

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1; a fraction belongs to the rank below it."""
        rank = np.asarray(rank) + self._rounding
        if self.count is None:
            entry = np.floor(rank).astype(np.intp)
        else:
            entry = np.searchsorted(self._first_ranks, rank, side="right") - 1
        return np.asarray(self.value[np.minimum(entry, len(self.value) - 1)])

    def binned(self, low: float, high: float, cell: float) -> FloatArray:
        """Return the counts at nodes a cell apart, by linear binning.

        A score counts at its two neighbouring nodes by its nearness to each. Scores beyond the
        first node or beyond `high` count as if they stood there.
        """
        size = n_nodes(low, high, cell)
        offset = self.value - low
        np.clip(offset, 0.0, high - low, out=offset)
        # The entries of a cell are a run of the sorted ones.
        first = np.searchsorted(offset, cell * np.arange(size))
        at_node: FloatArray = np.diff(self._rank_of(first), append=self.n).astype(np.float64)
        filled = np.flatnonzero(np.diff(first, append=len(offset)))
        to_next = np.zeros(size)
        amount = offset if self.count is None else offset * self.count
        to_next[filled] = np.add.reduceat(amount, first[filled]) / cell - at_node[filled] * filled
        at_node -= to_next
        at_node[1:] += to_next[:-1]
        return at_node

    def without(self, atoms: FloatArray) -> Scores | None:
        """Return the entries at none of these values, None if there are none."""
        if not len(atoms):
            return self
        kept = ~is_among(self.value, atoms)
        if not kept.any():
            return None
        count = None if self.count is None else self.count[kept]
        return replace(self, value=self.value[kept], count=count)

    def mirrored(self) -> Scores:
        count = None if self.count is None else self.count[::-1]
        return replace(self, value=-self.value[::-1], count=count)

    def between(self, low: float, high: float) -> FloatArray:
        """Return the least and the largest score strictly between two, or an empty array."""
        first = np.searchsorted(self.value, low, side="right")
        inside = self.value[first : np.searchsorted(self.value, high)]
        return inside[[0, -1]] if len(inside) else inside


def n_nodes(low: float, high: float, cell: float) -> int:
    """Return the number of nodes a cell apart, from `low` to the first one beyond `high`."""
    return int(np.floor((high - low) / cell)) + 2


def _rows_at(values: FloatArray, entries: FloatArray, rows: Counts | None) -> Counts:
    """Return the number of rows at each of some values, given entries in ascending order."""
    first = np.searchsorted(entries, values, side="left")
    stop = np.searchsorted(entries, values, side="right")
    if rows is None:
        return stop - first
    before = np.append(0, np.cumsum(rows))
    return np.asarray(before[stop] - before[first])


def _find_runs(values: FloatArray, length: int) -> FloatArray:
    """Return those of ascending values that occur so often, some of them more than once."""
    last = values[length - 1 :]
    return np.asarray(last[last == values[: len(last)]])


def _rows_of_distinct(scores: Scores) -> IntArray:
    """Return how many rows each distinct score has."""
    first = np.flatnonzero(np.diff(scores.value, prepend=np.nan) != 0.0)
    return np.diff(scores._rank_of(first), append=scores.n).astype(np.int64)


def describe_copies(n_copies: int) -> str:
    """Return why rows seem to be copies of each other."""
    return (
        f"The number of rows at every score of a class is a multiple of {n_copies}, so rows seem "
        "to be copies of each other"
    )


def is_among(values: FloatArray, atoms: FloatArray) -> BoolArray:
    """Return which values are among the atoms, which are in ascending order."""
    return np.asarray(np.append(atoms, np.nan)[np.searchsorted(atoms, values)] == values)


def quantiles(scores: Scores, share: ArrayLike) -> FloatArray:
    """Return quantiles, interpolated linearly between the two nearest ranks."""
    last = scores.effective_n - 1
    place = np.asarray(share) * last
    left = np.floor(place)
    low = scores.at(left)
    high = scores.at(np.minimum(left + 1, last))
    return np.asarray(low + (place - left) * (high - low))


def robust_std(scores: Scores) -> float:
    """Return the standard deviation, at most twice that of a normal class with these quartiles.

    An outlier cannot raise it beyond that, unless half of the scores are equal.
    """
    first, third = quantiles(scores, [0.25, 0.75])
    normal = float(third - first) / _NORMAL_IQR
    return min(scores.std, 2 * normal) if normal > 0 else scores.std


def pooled_spread(parts: list[tuple[float, float]], total: float) -> float:
    """Return the root of the weighted mean of squared spreads, given pairs (weight, spread)."""
    # The hypotenuse neither overflows nor vanishes.
    return math.hypot(*(math.sqrt(n) * spread for n, spread in parts)) / math.sqrt(total)


# --- Log-odds -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LogOdds:
    """Probabilities as log-odds, and back, with every row on its side."""

    low: float = -math.inf  # of an exact 0; infinite where there is none
    high: float = math.inf  # of an exact 1

    @classmethod
    def of_extremes(cls, least: float, most: float, *, zeros: bool, ones: bool) -> LogOdds | None:
        """Return the log-odds of a sample, given the extremes of its finite ones.

        An exact 0 counts as half the odds of the least positive score, an exact 1 as twice those
        of the largest below 1. None for hard labels, which have no odds, and equal scores.
        """
        if least > most or (least == most and not (zeros or ones)):
            return None
        step = math.log(2.0)
        return cls(least - step if zeros else -math.inf, most + step if ones else math.inf)

    def of(self, scores: FloatArray) -> FloatArray:
        """Return the log-odds of probabilities, NaN for numbers outside [0, 1]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.clip(np.log(scores / (1.0 - scores)), self.low, self.high)

    def of_sorted(self, scores: FloatArray) -> FloatArray:
        """Return the log-odds of sorted probabilities, sorted although logarithms are rounded."""
        return np.maximum.accumulate(self.of(scores))

    def place(self, thresholds: ArrayLike) -> FloatArray:
        """Return where thresholds on probabilities stand among the log-odds."""
        threshold = np.asarray(thresholds, dtype=np.float64)
        odds = self.of(np.clip(threshold, 0.0, 1.0))
        # A threshold of 0 or more calls an exact 0 negative, and one below 1 an exact 1 positive.
        below_one = np.minimum(odds, np.nextafter(self.high, -np.inf))
        odds = np.where(threshold < 1.0, below_one, odds)
        return np.where(threshold < 0.0, -np.inf, np.where(threshold > 1.0, np.inf, odds))

    def to_probability(self, value: float) -> float:
        """Return the probability of log-odds, 0 and 1 where the exact ones stand."""
        if value <= self.low:
            return 0.0
        return 1.0 if value >= self.high else float(expit(value))

    def to_threshold(self, value: float) -> float:
        """Return the largest double whose log-odds are not above the value.

        As a threshold on probabilities it decides every row as the value does on log-odds.
        """
        if value >= self.high:
            return 1.0
        if value < self.low:  # an exact 0 is positive, too
            return -max(float(expit(value)), _TINY)
        # `expit` is 0 below 2e-308. The bits of positive doubles are in the doubles' order.
        nearly = np.float64(math.exp(value) if value < -700 else expit(value))
        bits = nearly.view(np.int64) + np.arange(-_NEAR, _NEAR + 1)
        near = np.clip(bits, 1, np.float64(1.0).view(np.int64) - 1).view(np.float64)
        passed = np.count_nonzero(self.of_sorted(near) <= value)
        return float(near[passed - 1]) if passed else 0.0

    def midpoint(self, low: float, high: float) -> float:
        """Return the threshold in the middle of two probabilities by their log-odds."""
        first, second = self.of(np.array([low, high])).tolist()
        threshold = self.to_threshold(first + (second - first) / 2)
        return min(max(threshold, low), float(np.nextafter(high, -np.inf)))


# --- Both classes ---------------------------------------------------------------------------------


@dataclass(eq=False)
class ScoreSample:
    """The scores of both classes, or their log-odds."""

    negative: Scores
    positive: Scores
    labels: tuple[Label, Label] = (0, 1)
    log_odds: LogOdds | None = None  # carries thresholds back, where scores are log-odds
    given_atoms: FloatArray | None = None  # of a resample or bins, where any score may repeat

    def __post_init__(self) -> None:
        self.classes = self.negative, self.positive
        self.n_samples: tuple[int, int] = self.negative.n, self.positive.n
        held = [scores for scores in self.classes if scores.n]
        low = min(scores.minimum for scores in held)
        high = max(scores.maximum for scores in held)
        self.extremes = (low, high)
        self.spread = self.extremes[1] - self.extremes[0]

    @classmethod
    def from_labels(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        pos_label: object = None,
        *,
        symmetric: bool = True,
        sample_weight: ArrayLike | None = None,
        one_class: bool = False,
    ) -> ScoreSample:
        """Collect and sort labelled scores.

        Words as labels need a `pos_label` unless `symmetric`. Rows without weight are left out.
        """
        weight = None
        if sample_weight is not None:
            y_true = as_labels(y_true)
            y_score = as_scores(y_score, len(y_true))
            weight = as_weights(sample_weight, len(y_true))
            used = weight > 0
            y_true = y_true[used]
            y_score = y_score[used]
            weight = weight[used]
        is_positive, scores, labels = as_rows(
            y_true, y_score, pos_label, symmetric=symmetric, one_class=one_class
        )
        return cls.from_rows(is_positive, scores, labels, weight)

    @classmethod
    def from_rows(
        cls,
        is_positive: BoolArray,
        scores: FloatArray,
        labels: tuple[Label, Label],
        weight: FloatArray | None = None,
    ) -> ScoreSample:
        """Sort rows that have left validation."""
        check_finite(scores)
        classes = []
        for is_own in (~is_positive, is_positive):
            own = scores[is_own]
            if weight is None:
                own.sort()
                classes.append(Scores(own))
            else:
                order = np.argsort(own, kind="stable")
                classes.append(Scores(own[order], weight[is_own][order]))
        return cls(classes[0], classes[1], labels)

    def on_scale(self, scale: Scale) -> ScoreSample:
        """Return the sample on which to decide: on log-odds where its scores are probabilities."""
        log_odds = self.find_log_odds() if self.are_probabilities(scale) else None
        if log_odds is None:
            return self
        negative, positive = (
            replace(scores, value=log_odds.of_sorted(scores.value)) for scores in self.classes
        )
        atoms = None if self.given_atoms is None else log_odds.of_sorted(self.given_atoms)
        return ScoreSample(negative, positive, self.labels, log_odds, atoms)

    def are_probabilities(self, scale: Scale = "auto") -> bool:
        """Return whether the scores lie in [0, 1], on a scale that makes them probabilities."""
        as_choice("scale", scale, SCALES)
        if scale == "raw" or self.log_odds is not None:
            return False
        low, high = self.extremes
        if scale == "probability" and not 0 <= low <= high <= 1:
            raise not_probabilities(f"scores from {low:.6g} to {high:.6g}")
        return low >= 0 and high <= 1

    def find_log_odds(self) -> LogOdds | None:
        """Return the log-odds of scores in [0, 1]; None for hard labels and equal scores."""
        ends = np.concatenate([scores.between(0.0, 1.0) for scores in self.classes])
        if not len(ends):
            return None
        least, most = LogOdds().of(np.array([ends.min(), ends.max()])).tolist()
        low, high = self.extremes
        return LogOdds.of_extremes(least, most, zeros=low == 0, ones=high == 1)

    @cached_property
    def pooled_std(self) -> float:
        """Standard deviation within the classes, both together."""
        parts = [(scores.effective_n - 1, scores.std) for scores in self.classes]
        return pooled_spread(parts, max(sum(rows for rows, _ in parts), 1))

    @property
    def n_copies(self) -> int:
        """Number that divides how often each score of a class, or of both, occurs.

        If it is not 1, rows seem to be copies of each other. It is 1 for fewer than 20 scores.
        """
        rows = [_rows_of_distinct(scores) for scores in self.classes]
        rows.append(np.concatenate(rows))
        divisors = [int(np.gcd.reduce(each)) for each in rows if len(each) >= _FEWEST_SCORES]
        return max(divisors, default=1)

    @property
    def is_reversed(self) -> bool:
        """Whether the positive class lies below; medians decide, since an outlier may not."""
        negative, positive = self.classes
        if positive.median == negative.median:
            return positive.mean < negative.mean
        return positive.median < negative.median

    @cached_property
    def atoms(self) -> FloatArray:
        """Scores on which fresh rows fall too, in ascending order; no curve may spread them.

        A score that two rows share, of whichever class, is one, if they are a thousandth of a
        class or of all rows. Weights play no part: a row is one row, however much it weighs.
        """
        if self.given_atoms is not None:
            return self.given_atoms
        # The scores, and the number of rows at each, None for one each.
        points = [(own.value, None if own.is_weighted else own.count) for own in self.classes]
        sizes = [scores.n_rows for scores in self.classes]
        least = [
            max(ATOM_ROWS, math.ceil(ATOM_SHARE * size * (1.0 - _ROUNDING)))
            for size in (*sizes, sum(sizes))
        ]
        # An atom of all rows has half of its rows, at least, in one of the classes.
        candidates = [
            values if rows is not None else _find_runs(values, min(own, -(-least[2] // 2)))
            for (values, rows), own in zip(points, least[:2], strict=True)
        ]
        repeated = np.unique(np.concatenate(candidates))
        negative, positive = (_rows_at(repeated, *entries) for entries in points)
        is_atom = negative >= least[0]
        is_atom |= positive >= least[1]
        is_atom |= negative + positive >= least[2]
        return repeated[is_atom]

    def to_rows(self) -> tuple[LabelArray, FloatArray]:
        """Return labels and scores of all rows, the negative class first and each in order."""
        scores = [c.at(np.arange(c.n)) for c in self.classes]
        return np.repeat(np.array(self.labels), self.n_samples), np.concatenate(scores)

    def count_wrong(self, t: FloatArray) -> tuple[IntArray, IntArray]:
        above = self.negative.n - self.negative.count_at_most(t)
        return np.asarray(above), np.asarray(self.positive.count_at_most(t))

    def to_units(self, value: float) -> float:
        """Carry a place on the line from the sample's units to those of the given scores."""
        return float(value) if self.log_odds is None else self.log_odds.to_probability(value)

    def from_units(self, thresholds: ArrayLike) -> FloatArray:
        """Carry thresholds on the given scores to the sample's units."""
        if self.log_odds is not None:
            return self.log_odds.place(thresholds)
        return np.asarray(thresholds, dtype=np.float64)

    def to_threshold(self, value: float) -> float:
        """Carry a boundary to the units of the given scores, with every score on its side."""
        low = self.extremes[0] - self.spread
        high = self.extremes[1] + self.spread
        for scores in self.classes:
            k = int(np.searchsorted(scores.value, value, side="right"))
            low = max(low, float(scores.value[k - 1])) if k else low
            high = min(high, float(scores.value[k])) if k < len(scores.value) else high
        if self.log_odds is None:
            return keep_in_float32(float(value), low, high)
        threshold = self.log_odds.to_threshold(value)
        if threshold < 0.0:
            return threshold
        low = self.log_odds.to_threshold(low)
        high = self.log_odds.to_threshold(float(np.nextafter(high, -math.inf)))
        return keep_in_float32(threshold, low, float(np.nextafter(high, math.inf)))

    def magnified(self, factor: float) -> ScoreSample:
        """Return the sample with all scores multiplied by a positive number."""
        classes = [replace(scores, value=scores.value * factor) for scores in self.classes]
        return replace(
            self, negative=classes[0], positive=classes[1], given_atoms=self.atoms * factor
        )

    def mirrored(self) -> ScoreSample:
        return ScoreSample(self.positive.mirrored(), self.negative.mirrored(), self.labels[::-1])


def keep_in_float32(threshold: float, low: float, high: float) -> float:
    """Return the threshold, moved to stay in [low, high) when all three become float32.

    It is returned as it is where float32 does not tell low from high, or cannot hold it.
    """
    with np.errstate(over="ignore"):
        first, last, rounded = (float(np.float32(at)) for at in (low, high, threshold))
        before = float(np.nextafter(np.float32(high), np.float32(-math.inf)))
    if first == last or math.isinf(rounded) or not low <= threshold < high:
        return threshold
    if high == 0.0 and threshold > -_TINY:  # vanishes beside 0
        return max(-_TINY, low)
    return max(before, low) if rounded >= last else max(threshold, first)


def refuse_weights(sample: ScoreSample, name: str) -> None:
    if any(c.is_weighted for c in sample.classes):
        raise InvalidInputError(
            f"must be left out with the curve {name!r}, which counts rows, got "
            "weights. Use 'blend', 'smoothed', 'logistic' or 'empirical'.",
            argument="sample_weight",
        )
