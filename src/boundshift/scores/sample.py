"""Labelled scores as the mathematics sees them: two samples in order, one per class.

`OrderedScores` is all that curves, rules and certificates ask of a class. The sorted array
`ClassScores` answers from memory; :mod:`boundshift.streaming` has a class that answers from a
summary of fixed size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.scores.log_odds import SCALES, LogOdds, Scale, have_odds, not_probabilities
from boundshift.typing import FloatArray, IntArray
from boundshift.validation import as_choice, as_scores, split_by_label

__all__ = [
    "NORMAL_IQR",
    "Binning",
    "ClassScores",
    "KnownScores",
    "OrderedScores",
    "ScoreSample",
    "SumTo",
    "is_among",
    "pooled_spread",
    "robust_std",
    "scale_exponent",
]

SumTo = Callable[[IntArray], FloatArray]

# Sums of squares of at most 2**40 scores below this magnitude cannot overflow or vanish.
_SAFE_EXPONENT = 400
# A repeated score is an atom if it holds this share of a class, or of both together.
_ATOM_SHARE = 1e-3
_ATOM_ROWS = 2
_ROUNDING = 1e-9  # of sums of weights
# Distance of the quartiles of a standard normal distribution.
NORMAL_IQR = 1.3489795003921634


@dataclass(frozen=True)
class Binning:
    """Nodes at equal distances; a score counts at its two neighbours by its nearness to them.

    Parameters
    ----------
    low, high : float
        First node, and the score beyond which all count as that one.
    cell : float
        Distance of the nodes.
    sign : {1, -1}, default=1
        -1 for scores whose sign is to be changed first.
    """

    low: float
    high: float
    cell: float
    sign: int = 1

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(np.floor((self.high - self.low) / self.cell)) + 2

    def count(self, scores: FloatArray, times: IntArray | None = None) -> FloatArray:
        """Return how much of the scores, each met some times, counts at each node.

        Examples
        --------
        >>> Binning(0.0, 2.0, 1.0).count(np.array([0.0, 0.25, 9.0])).tolist()
        [1.75, 0.25, 1.0, 0.0]
        """
        return self.count_offsets(self.sign * scores - self.low, times)

    def count_offsets(self, offset: FloatArray, times: IntArray | None = None) -> FloatArray:
        """Return the same for scores given by their offsets from the first node."""
        place, left = np.array(offset, dtype=np.float64), np.empty(len(offset), np.int64)
        self.put_nodes(place, left)
        return self.spread(
            np.bincount(left, times, self.size),
            np.bincount(left, place if times is None else place * times, self.size),
        )

    def put_nodes(self, offset: FloatArray, nodes: IntArray) -> None:
        """Write the number of the node below each score, and over its offset the rest, in cells."""
        np.clip(offset, 0.0, self.high - self.low, out=offset)
        offset /= self.cell
        np.copyto(nodes, offset, casting="unsafe")
        offset -= nodes

    def spread(self, counts: NDArray[Any], shares: NDArray[Any]) -> FloatArray:
        """Return what counts at each node, from the scores between it and the next.

        Parameters
        ----------
        counts, shares : arrays of shape (size,)
            Number of these scores, and the sum of their distances from the node, in cells.
        """
        at_nodes = counts - shares
        at_nodes[1:] += shares[:-1]
        return np.asarray(at_nodes)

    @property
    def nodes(self) -> FloatArray:
        """Nodes and the end of the last cell, as scores in ascending order."""
        nodes = np.append(self.low + self.cell * np.arange(self.size - 1), self.high)
        return nodes if self.sign > 0 else -nodes[::-1]

    def mirrored(self) -> Binning:
        """Return the same nodes for scores whose sign is changed."""
        return Binning(self.low, self.high, self.cell, -self.sign)


class OrderedScores(Protocol):
    """The scores of one class, known by rank and by count; ranks start at 0.

    Parameters
    ----------
    n : int
        Number of scores.
    minimum, maximum, mean, median, std : float
        Of all scores.
    """

    @property
    def n(self) -> int:
        """Number of scores."""

    @property
    def minimum(self) -> float:
        """Smallest score."""

    @property
    def maximum(self) -> float:
        """Largest score."""

    @property
    def mean(self) -> float:
        """Mean."""

    @property
    def median(self) -> float:
        """Middle score, or the mean of the two middle ones."""

    @property
    def std(self) -> float:
        """Standard deviation with n − 1 degrees of freedom; 0 for a single score."""

    @property
    def positions(self) -> FloatArray:
        """Scores at which counts are known, those that matter among them."""

    def count_at_most(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores ≤ t, for every t."""

    def count_below(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores < t, for every t."""

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1."""

    @property
    def exact(self) -> bool:
        """Whether every score is known."""

    def between(self, rank: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return numbers between which the scores at ranks lie, equal where they are known."""

    def cell_ranks(self, rank: IntArray) -> tuple[IntArray, IntArray]:
        """Return the nearest ranks, down and up, at which sums of the scores before are known."""

    def mean_from(self, reference: float) -> float:
        """Return how far the mean lies above a score, to its own digits."""

    def binned(self, binning: Binning) -> FloatArray:
        """Return how much of the scores counts at each node."""

    def request_exact(self, positions: FloatArray) -> None:
        """Take note that the scores around these positions decide and must be known."""

    def points(self) -> tuple[FloatArray, FloatArray | None]:
        """Return the known scores in ascending order and their counts; None counts each once."""

    def as_points(self) -> OrderedScores:
        """Return scores that answer every question without looking at the data again."""

    def without(self, atoms: FloatArray) -> OrderedScores | None:
        """Return the scores that are none of these values, None if all are."""

    def mirrored(self) -> OrderedScores:
        """Return the scores with their sign changed."""


class KnownScores:
    """What all classes whose every score is known, in ascending order, have in common."""

    values: FloatArray

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1."""
        raise NotImplementedError

    @property
    def minimum(self) -> float:
        """Smallest score."""
        return float(self.values[0])

    @property
    def maximum(self) -> float:
        """Largest score."""
        return float(self.values[-1])

    @property
    def positions(self) -> FloatArray:
        """All scores."""
        return self.values

    @property
    def exact(self) -> bool:
        """Every score is known."""
        return True

    def between(self, rank: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the scores at ranks, twice."""
        values = self.at(rank)
        return values, values

    def cell_ranks(self, rank: IntArray) -> tuple[IntArray, IntArray]:
        """Return the ranks, twice."""
        return rank, rank

    def request_exact(self, positions: FloatArray) -> None:
        """Every score is known."""

    def as_points(self) -> Self:
        """Return the scores themselves."""
        return self


@dataclass(frozen=True, eq=False)
class ClassScores(KnownScores):
    """The scores of one class in ascending order.

    Parameters
    ----------
    values : array of shape (n,)
        Sorted, finite.
    """

    values: FloatArray

    @property
    def n(self) -> int:
        """Number of scores."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean."""
        return self.median + self._mean_above_median

    @cached_property
    def _mean_above_median(self) -> float:
        """How far the mean lies above the median: a large offset of all scores costs no digits."""
        return float(np.mean(self.values - self.median))

    @cached_property
    def median(self) -> float:
        """Middle score, or the mean of the two middle ones."""
        middle = self.n // 2
        low, high = self.values[(self.n - 1) // 2], self.values[middle]
        return float(low + (high - low) / 2)

    @cached_property
    def std(self) -> float:
        """Standard deviation with n − 1 degrees of freedom; 0 for a single score."""
        if self.n == 1 or self.minimum == self.maximum:
            return 0.0
        deviation = self.values - self.mean
        largest = max(abs(float(deviation[0])), abs(float(deviation[-1])))
        # Scores that a far larger one has scaled down may have squares below the least double.
        unit = float(np.ldexp(1.0, _squares_exponent(largest)))
        if unit != 1.0:
            deviation /= unit
        # No dot product: on long vectors it wakes threads, which takes longer than the sum.
        np.square(deviation, out=deviation)
        return unit * math.sqrt(float(deviation.sum()) / (self.n - 1))

    def count_at_most(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores ≤ t, for every t."""
        return np.searchsorted(self.values, t, side="right")

    def count_below(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores < t, for every t."""
        return np.searchsorted(self.values, t, side="left")

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1."""
        return np.asarray(self.values[np.asarray(rank)])

    def mean_from(self, reference: float) -> float:
        """Return how far the mean lies above a score, to its own digits."""
        return (self.median - reference) + self._mean_above_median

    def binned(self, binning: Binning) -> FloatArray:
        """Return how much of the scores counts at each node; those of a cell are a run of them."""
        if binning.sign < 0:
            return self.mirrored().binned(binning.mirrored())
        offset = self.values - binning.low
        np.clip(offset, 0.0, binning.high - binning.low, out=offset)
        first = np.searchsorted(offset, binning.cell * np.arange(binning.size))
        counts = np.diff(first, append=self.n)
        filled = np.flatnonzero(counts)
        shares = np.zeros(binning.size)
        shares[filled] = np.add.reduceat(offset, first[filled]) / binning.cell
        shares[filled] -= counts[filled] * filled
        return binning.spread(counts, shares)

    def points(self) -> tuple[FloatArray, None]:
        """Return all scores; each counts once."""
        return self.values, None

    def without(self, atoms: FloatArray) -> ClassScores | None:
        """Return the scores that are none of these values, None if all are."""
        rest = self.values[~is_among(self.values, atoms)]
        return ClassScores(rest) if len(rest) else None

    def mirrored(self) -> ClassScores:
        """Return the scores with their sign changed."""
        mirror = ClassScores(-self.values[::-1])
        # What is known of the scores is known of their mirror image.
        for name, sign in (("_mean_above_median", -1.0), ("median", -1.0), ("std", 1.0)):
            if name in self.__dict__:
                mirror.__dict__[name] = sign * self.__dict__[name]
        return mirror


@dataclass(frozen=True, eq=False)
class ScoreSample:
    """The scores of both classes, in units in which nothing overflows.

    Parameters
    ----------
    negative, positive : OrderedScores
        Scores times ``2**-exponent``.
    exponent : int, default=0
        Zero for every ordinary problem. A power of two changes no digit of a score.
    labels : tuple, default=(0, 1)
        Labels of the two classes (negative, positive).
    log_odds : LogOdds, default=None
        Carries thresholds back to probabilities, where the scores are log-odds of these.
    given_atoms : array, default=None
        The atoms, for a resample, in which every score may repeat; None finds them.
    """

    negative: OrderedScores
    positive: OrderedScores
    exponent: int = 0
    labels: tuple[Any, Any] = (0, 1)
    log_odds: LogOdds | None = None
    given_atoms: FloatArray | None = None

    @classmethod
    def from_labels(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        pos_label: object = None,
        *,
        alike: bool = True,
    ) -> ScoreSample:
        """Collect and sort labelled scores.

        With ``alike=False``, for rules that do not treat both classes alike, words as labels need
        a `pos_label`.

        Raises
        ------
        InvalidInputError
            If a score is not finite, the lengths differ, or there are not exactly two classes.
        """
        negative, positive, labels = split_by_label(
            y_true, as_scores(y_score), pos_label, alike=alike
        )
        negative.sort()
        positive.sort()
        _check_finite(negative, positive)
        exponent = scale_exponent(max(max(abs(v[0]), abs(v[-1])) for v in (negative, positive)))
        if exponent:
            np.ldexp(negative, -exponent, out=negative)
            np.ldexp(positive, -exponent, out=positive)
        return cls(ClassScores(negative), ClassScores(positive), exponent, labels)

    def on_scale(self, scale: Scale) -> ScoreSample:
        """Return the sample on which to decide: on log-odds where its scores are probabilities.

        With "auto" they are if all lie in [0, 1], unless all are the same or none lies inside:
        hard labels have no odds. Those are decided as they are, and everything is with "raw".

        Parameters
        ----------
        scale : {"auto", "probability", "raw"}
            What the scores are; "probability" refuses those outside [0, 1].

        Examples
        --------
        >>> sample = ScoreSample.from_labels([0, 0, 1, 1], [0.0, 0.2, 0.5, 0.8])
        >>> sample.on_scale("auto").positive.positions.round(2).tolist()
        [0.0, 1.39]
        >>> sample.on_scale("raw") is sample
        True
        """
        log_odds = self.find_log_odds() if self.are_probabilities(scale) else None
        if log_odds is None:
            return self
        classes: tuple[Any, Any] = (self.negative, self.positive)
        values = [np.ldexp(c.values, self.exponent) if self.exponent else c.values for c in classes]
        found = [log_odds.of_sorted(v) for v in values]
        negative, positive = (replace(c, values=v) for c, v in zip(classes, found, strict=True))
        return ScoreSample(negative, positive, 0, self.labels, log_odds)

    def are_probabilities(self, scale: Scale) -> bool:
        """Return whether the scores are raw, lie in [0, 1], and are not to be taken as they are."""
        as_choice("scale", scale, SCALES)
        if scale == "raw" or self.log_odds is not None:
            return False
        low, high = self.extremes
        if low >= 0 and high <= 1:
            return True
        if scale == "probability":
            raise not_probabilities(f"scores from {low:.6g} to {high:.6g}")
        return False

    def find_log_odds(self) -> LogOdds | None:
        """Return how scores in [0, 1] become log-odds, None if all are the same or hard labels."""
        low, high = self.extremes
        one = float(np.ldexp(1.0, -self.exponent))
        ends = np.concatenate([_ends_between(c, one) for c in (self.negative, self.positive)])
        if not len(ends):
            return None
        least, most = LogOdds().of(np.ldexp([ends.min(), ends.max()], self.exponent)).tolist()
        if not have_odds(least, most, saturated=low == 0 or high == 1):
            return None
        return LogOdds.of_extremes(least, most, zeros=low == 0, ones=high == 1)

    @cached_property
    def atoms(self) -> FloatArray:
        """Scores on which fresh rows fall too, in ascending order; no curve may spread them.

        A score that two rows share, of whichever class, is one, if they are a thousandth of a
        class or of all rows. A weight of 2 is two rows.

        Examples
        --------
        >>> ScoreSample.from_labels([0, 0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0, 2.0]).atoms.tolist()
        [0.0, 1.0]
        """
        if self.given_atoms is not None:
            return self.given_atoms
        classes = (self.negative, self.positive)
        repeated = _find_repeated([c.points() for c in classes])
        if not len(repeated):
            return repeated
        counts = [c.count_at_most(repeated) - c.count_below(repeated) for c in classes]
        is_atom = np.zeros(len(repeated), dtype=np.bool_)
        for count, n in [
            *zip(counts, self.n_samples, strict=True),
            (counts[0] + counts[1], sum(self.n_samples)),
        ]:
            is_atom |= count >= max(_ATOM_ROWS, _ATOM_SHARE * n) * (1.0 - _ROUNDING)
        return repeated[is_atom]

    def as_points(self) -> ScoreSample:
        """Return a sample that answers without looking at the data again."""
        if self.negative.exact and self.positive.exact:
            return self
        negative, positive = self.negative.as_points(), self.positive.as_points()
        return replace(self, negative=negative, positive=positive, given_atoms=self.atoms)

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest score, as given."""
        low = min(self.negative.minimum, self.positive.minimum)
        return self.unscale(low), self.unscale(max(self.negative.maximum, self.positive.maximum))

    def part(self, negative: FloatArray, positive: FloatArray) -> ScoreSample:
        """Return the sample of some of the rows, in the same units, from their sorted scores."""
        log_odds = self.log_odds
        values = [
            np.ldexp(v, -self.exponent) if log_odds is None else log_odds.of_sorted(v)
            for v in (negative, positive)
        ]
        return replace(self, negative=ClassScores(values[0]), positive=ClassScores(values[1]))

    def to_rows(self) -> tuple[NDArray[Any], FloatArray]:
        """Return labels and scores of all rows, the negative class first and each in order.

        Examples
        --------
        >>> y_true, y_score = ScoreSample.from_labels(["b", "a", "b"], [2.0, 5.0, 1.0]).to_rows()
        >>> y_true.tolist(), y_score.tolist()
        (['a', 'b', 'b'], [5.0, 1.0, 2.0])
        """
        scores = [c.at(np.arange(c.n)) for c in (self.negative, self.positive)]
        labels = np.repeat(np.array(self.labels), self.n_samples)
        return labels, np.ldexp(np.concatenate(scores), self.exponent)

    @property
    def n_samples(self) -> tuple[int, int]:
        """Numbers of rows (negative, positive)."""
        return self.negative.n, self.positive.n

    @property
    def spread(self) -> float:
        """Distance between the smallest and the largest score."""
        top = max(self.negative.maximum, self.positive.maximum)
        return top - min(self.negative.minimum, self.positive.minimum)

    @property
    def is_reversed(self) -> bool:
        """Whether the positive class lies below; medians decide, since an outlier may not."""
        negative, positive = self.negative, self.positive
        if positive.median == negative.median:
            return positive.mean < negative.mean
        return positive.median < negative.median

    def count_wrong(self, t: FloatArray) -> tuple[IntArray, IntArray]:
        """Return how many rows of each class lie on the wrong side of each boundary.

        Examples
        --------
        >>> sample = ScoreSample.from_labels([0, 0, 1], [1.0, 2.0, 1.5])
        >>> above, below = sample.count_wrong(np.array([1.7]))
        >>> above.tolist(), below.tolist()
        ([1], [1])
        """
        above = self.negative.n - self.negative.count_at_most(t)
        return np.asarray(above), np.asarray(self.positive.count_at_most(t))

    @cached_property
    def pooled_std(self) -> float:
        """Standard deviation within the classes, both together."""
        classes = (self.negative, self.positive)
        return pooled_spread([(c.n - 1, c.std) for c in classes], max(sum(self.n_samples) - 2, 1))

    def to_units(self, value: float) -> float:
        """Carry a place on the line from the sample's units to those of the given scores."""
        if self.log_odds is not None:
            return self.log_odds.to_probability(value)
        return self.unscale(value)

    def unscale(self, value: float) -> float:
        """Undo the power of two, for a length as well; log-odds stay log-odds."""
        with np.errstate(over="ignore"):  # A confidence radius may exceed the largest double.
            return float(np.ldexp(value, self.exponent))

    def from_units(self, thresholds: ArrayLike) -> FloatArray:
        """Carry thresholds on the given scores to the sample's units."""
        if self.log_odds is not None:
            return self.log_odds.place(thresholds)
        return np.asarray(np.ldexp(thresholds, -self.exponent))

    def to_threshold(self, value: float) -> float:
        """Carry a boundary to the units of the given scores, with every score on its side."""
        if self.log_odds is not None:
            return self.log_odds.to_threshold(value)
        threshold = self.unscale(value)
        # Rounded down, since a score at the boundary is below it.
        if np.ldexp(threshold, -self.exponent) > value:
            threshold = float(np.nextafter(threshold, -np.inf))
        return threshold

    def mirrored(self) -> ScoreSample:
        """Return the problem with scores negated and classes swapped."""
        return ScoreSample(
            self.positive.mirrored(), self.negative.mirrored(), self.exponent, self.labels[::-1]
        )

    def reversed(self) -> ScoreSample:
        """Return the problem with scores negated and classes kept."""
        return ScoreSample(
            self.negative.mirrored(), self.positive.mirrored(), self.exponent, self.labels
        )


def is_among(values: FloatArray, atoms: FloatArray) -> NDArray[np.bool_]:
    """Return which values are among the atoms, which are in ascending order.

    Examples
    --------
    >>> is_among(np.array([0.0, 1.0, 2.0]), np.array([1.0])).tolist()
    [False, True, False]
    """
    if not len(atoms):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(atoms, values), len(atoms) - 1)
    return np.asarray(atoms[place] == values)


def _find_repeated(points: list[tuple[FloatArray, FloatArray | None]]) -> FloatArray:
    """Return the distinct values that occur twice or more, or have a count of 2 or more."""
    merged = np.concatenate([values for values, _ in points])
    merged.sort(kind="stable")  # which is quick where runs are in order already
    heavy = [
        values[counts >= _ATOM_ROWS * (1.0 - _ROUNDING)]
        for values, counts in points
        if counts is not None
    ]
    return np.unique(np.concatenate([merged[1:][merged[1:] == merged[:-1]], *heavy]))


def pooled_spread(parts: list[tuple[int, float]], total: int) -> float:
    """Return the root of the mean of squared spreads, each counted so many times.

    Examples
    --------
    >>> pooled_spread([(1, 3e-200), (1, 4e-200)], 1)
    5e-200
    """
    unit = math.ldexp(1.0, _squares_exponent(max(spread for _, spread in parts)))
    return unit * math.sqrt(sum(times * (spread / unit) ** 2 for times, spread in parts) / total)


def robust_std(scores: OrderedScores) -> float:
    """Return the standard deviation, at most twice that of a normal class with these quartiles.

    An outlier cannot raise it beyond that, unless half of the scores are alike.

    Examples
    --------
    >>> robust_std(ClassScores(np.array([0.0, 1.0, 2.0, 3.0, 1e9])))
    2.965...
    """
    place = np.array([scores.n - 1, 3 * (scores.n - 1)]) / 4
    left = place.astype(np.int64)
    low, high = scores.at(left), scores.at(np.minimum(left + 1, scores.n - 1))
    first, third = low + (place - left) * (high - low)
    normal = float(third - first) / NORMAL_IQR
    return min(scores.std, 2 * normal) if normal > 0 else scores.std


def _check_finite(*sorted_values: FloatArray) -> None:
    """Raise if a sorted array holds NaN or infinity, which can only stand at its ends."""
    if all(np.isfinite(v[0]) and np.isfinite(v[-1]) for v in sorted_values):
        return
    values = np.concatenate(sorted_values)
    raise InvalidInputError(
        f"`y_score` must be finite, got {int(np.isnan(values).sum())} NaN and "
        f"{int(np.isinf(values).sum())} infinite values among {len(values)}. "
        "Drop those rows, or set infinite scores to the least and the largest of the finite ones "
        "among them; the largest double, which np.nan_to_num takes, is none of them."
    )


def scale_exponent(largest: float) -> int:
    """Return the power of two to divide by: 0 unless the scores are huge or tiny.

    No more than it takes, so that ordinary scores beside a huge one keep their digits.
    """
    exponent = int(np.frexp(largest)[1])
    if abs(exponent) <= _SAFE_EXPONENT:
        return 0
    return exponent - _SAFE_EXPONENT if exponent > 0 else exponent + _SAFE_EXPONENT


def _ends_between(scores: OrderedScores, top: float) -> FloatArray:
    """Return the least and the largest of the scores between 0 and the top, none if none is."""
    if scores.exact:
        values = scores.positions
        inside = values[np.searchsorted(values, 0.0, "right") : np.searchsorted(values, top)]
        return inside[[0, -1]] if len(inside) else inside
    first, last = int(scores.count_at_most(0.0)), int(scores.count_below(top)) - 1
    return scores.at(np.array([first, last] if first <= last else [], dtype=np.int64))


def _squares_exponent(largest: float) -> int:
    """Return the power of two to divide by for squares that neither vanish nor overflow."""
    exponent = int(np.frexp(largest)[1])
    return exponent if abs(exponent) > _SAFE_EXPONENT else 0
