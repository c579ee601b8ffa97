r"""What a boundary remembers of the rows that chose it: `ChoosingRows`.

A bound for a threshold that was fixed before does not hold on the rows that chose the threshold.
So a boundary keeps hashes of some of these rows, and recognises them later in any order, as a part
of other rows, and in single precision. It also keeps the deciles of the scores, so that scores on
another scale can be told apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, expit
from scipy.stats import betabinom, binom, hypergeom

from boundshift._scores import LogOdds, Scores, ScoreSample
from boundshift._typing import BoolArray, FloatArray, IntArray, Label
from boundshift.exceptions import InvalidInputError

Hashes = NDArray[np.uint32]

Origin = Literal["held-out", "out-of-fold", "training"]

_MOST_KEPT = 128  # distinct scores of a class
_ALL = 1 << 32  # every hash is below it
_SORTED = 512  # about as many hashes of a class are sorted, if no score repeats
# Probability with which fresh rows may be taken for rows that chose the boundary.
_LEVEL = 1e-3
_LEVEL_ROUNDED = 1e-6  # if scores are rounded
_NEARLY_ALL = 0.9  # share of scores that differ from all others, if scores do not repeat
# Scores on the boundary's own scale have at most this probability of being called another scale.
_UNLIKELY = 1e-3
_ROUNDING = 1e-6  # by which a probability may be outside [0, 1]
_DECILES = np.linspace(0.0, 1.0, 11)
# Scores are on another scale if more than this share of them would have to move.
_MOST_MOVED = 0.2
_SAME_END = 1e-6  # relative difference of ends of a range that are the same in single precision


@dataclass(frozen=True)
class ChoosingRows:
    """A summary of the rows that chose a boundary; pairs are (negative, positive).

    Parameters
    ----------
    n_rows : tuple of int
        Rows of each class.
    deciles : tuple of tuple
        For each class the smallest score, nine deciles and the largest score, all of them scores
        of rows. Empty for a class without rows. Approximate between the ends if the scores were
        read in passes.
    hashes : tuple of str
        For each class, hashes of at most 128 distinct scores, in hexadecimal digits. ``*3`` follows
        the hash of a score that three rows have. Empty if the scores were read in passes.
    below : tuple of int
        Every score whose hash is below this number is among the hashes.
    origin : {"held-out", "out-of-fold", "training"}, default="held-out"
        Where the scores came from, as far as is known.
    """

    n_rows: tuple[int, int]
    deciles: tuple[tuple[float, ...], tuple[float, ...]]
    hashes: tuple[str, str] = ("", "")
    below: tuple[int, int] = (0, 0)
    origin: Origin = "held-out"

    def __post_init__(self) -> None:
        if not all(n >= 0 for n in self.n_rows) or not all(0 <= n <= _ALL for n in self.below):
            raise InvalidInputError(
                "'chosen_on' must count rows, with hashes below 2^32, got "
                f"{self.n_rows!r} and {self.below!r}. Find the boundary again."
            )
        for n, deciles in zip(self.n_rows, self.deciles, strict=True):
            is_long_enough = len(deciles) == (len(_DECILES) if n else 0)
            if not (
                is_long_enough and np.isfinite(deciles).all() and (np.diff(deciles) >= 0).all()
            ):
                raise InvalidInputError(
                    f"'chosen_on' must have eleven finite deciles in order for a class with rows, "
                    f"and none for another, got {deciles!r} of {n!r} rows. Find the boundary again."
                )
        for text in self.hashes:
            _read_hashes(text)

    @classmethod
    def of(cls, sample: ScoreSample) -> ChoosingRows:
        """Return the summary of a sample; scores on log-odds are carried back."""
        n_rows = []
        deciles = []
        hashes = []
        below = []
        for scores in sample.classes:
            values = given_values(scores, sample.log_odds)
            counts = None if scores.n_rows == len(values) else row_counts(scores)
            n_rows.append(scores.n_rows)
            deciles.append(find_deciles(values, counts))
            text, limit = _write_hashes(values, counts)
            hashes.append(text)
            below.append(limit)
        return cls(
            n_rows=(n_rows[0], n_rows[1]),
            deciles=(deciles[0], deciles[1]),
            hashes=(hashes[0], hashes[1]),
            below=(below[0], below[1]),
        )

    @property
    def least(self) -> float:
        """Smallest score."""
        return min(part[0] for part in self.deciles if part)

    @property
    def most(self) -> float:
        """Largest score."""
        return max(part[-1] for part in self.deciles if part)

    @property
    def _are_inside(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return self.least >= 0.0 and self.most <= 1.0

    @property
    def has_hashes(self) -> bool:
        return any(self.below)

    def include(self, scores: FloatArray, is_positive: BoolArray) -> bool:
        """Return whether some of these labelled rows chose the boundary."""
        if not self.has_hashes:
            return False
        new = (scores[~is_positive], scores[is_positive])
        return _are_seen([self._table(i, new[i]) for i in (0, 1)]) or self._are_rounded(new)

    def _are_rounded(self, classes: tuple[FloatArray, FloatArray]) -> bool:
        r"""Return whether other rows are these rows, with scores that are rounded.

        Deciles of fresh rows differ by chance. Given the decile before, the standard deviation of
        such a difference is at least :math:`(0.1 / n)^{1/2}` over the density, which the deciles
        beside it estimate. So none of k differs by more than the fraction :math:`\epsilon` of that
        with a probability of about :math:`(\epsilon (2 / \pi)^{1/2})^k`. A decile among scores that
        repeat is not known better than the distance of its neighbours.
        """
        if tuple(map(len, classes)) != self.n_rows:
            return False
        fractions = [np.zeros(0)]
        for scores, deciles in zip(classes, self.deciles, strict=True):
            if len(scores) < len(_DECILES):
                continue
            old = np.array(deciles)
            new = np.array(find_deciles(np.sort(scores)))[1:-1]
            differs = np.abs(new - old[1:-1])
            values = np.unique(scores)
            if len(values) < _NEARLY_ALL * len(scores):
                place = np.searchsorted(values, new)
                to_next = values[np.minimum(place + 1, len(values) - 1)] - new
                to_last = new - values[np.maximum(place - 1, 0)]
                differs = np.max([differs, to_next, to_last], axis=0)
            deviation = (old[2:] - old[:-2]) / 0.2 * math.sqrt(0.1 / len(scores))
            is_known = deviation > 0.0
            fractions.append(np.where(is_known, differs / np.where(is_known, deviation, 1.0), 1e9))
        every = np.concatenate(fractions)
        chance = min(every.max(initial=0.0) * math.sqrt(2.0 / math.pi), 1.0)
        return len(every) > 0 and chance ** len(every) < _LEVEL_ROUNDED

    def have_summary_of(self, sample: ScoreSample) -> bool:
        """Return whether a sample has as many rows of each class, and the same range of scores."""
        least, most = (sample.to_units(end) for end in sample.extremes)
        ends = ((least, self.least), (most, self.most))
        has_same_range = all(math.isclose(*pair, rel_tol=_SAME_END) for pair in ends)
        return has_same_range and sample.n_samples == self.n_rows

    def include_unlabelled(self, scores: FloatArray) -> bool:
        """Return whether some of these rows without labels chose the boundary."""
        if not self.has_hashes:
            return False
        below = min(limit for limit, n in zip(self.below, self.n_rows, strict=True) if n)
        old: dict[int, int] = {}
        for text in self.hashes:
            for value, count in _read_hashes(text).items():
                if value < below:
                    old[value] = old.get(value, 0) + count
        return _are_seen([_compare(old, sum(self.n_rows), scores, below)])

    def _table(self, i: int, scores: FloatArray) -> _Table:
        return _compare(_read_hashes(self.hashes[i]), self.n_rows[i], scores, self.below[i])

    def find_other_scale(
        self, scores: FloatArray, counts: IntArray | None, is_positive: BoolArray | None
    ) -> bool:
        """Return whether scores are likely probabilities and the choosing ones margins, or v.v.

        Given that k of n choosing rows of a class have a score in [0, 1], the number among m
        further rows is beta-binomial under a uniform prior. The deciles tell k, at most. Rows
        without labels may all be of the class that has more rows in [0, 1].
        """
        weights = np.ones(len(scores), dtype=np.int64) if counts is None else counts
        is_inside = (scores >= -_ROUNDING) & (scores <= 1.0 + _ROUNDING)
        if self._are_inside:
            outside = int(weights[~is_inside].sum())
            n = sum(self.n_rows)
            chance = betabinom.sf(outside - 1, int(weights.sum()), 1, n + 1)
            return outside > 0 and bool(chance < _UNLIKELY)
        if not is_inside.all() or scores.min() == scores.max():
            return False
        if is_positive is None:
            m = int(weights.sum())
            chances = [self._log_chance_inside(i, m) for i in (0, 1) if self.n_rows[i]]
            return max(chances) < math.log(_UNLIKELY)
        sizes = (int(weights[~is_positive].sum()), int(weights[is_positive].sum()))
        log_chance = sum(self._log_chance_inside(i, sizes[i]) for i in (0, 1))
        return log_chance < math.log(_UNLIKELY)

    def _log_chance_inside(self, i: int, m: int) -> float:
        """Return the log of the probability that m rows of a class all lie in [0, 1]."""
        n = self.n_rows[i]
        if n == 0:
            return 0.0
        n_negative = np.searchsorted(self.deciles[i], 0.0, side="left")
        n_up_to_one = np.searchsorted(self.deciles[i], 1.0, side="right")
        share = min(n_up_to_one / 10.0, 1.0) - max(n_negative - 1.0, 0.0) / 10.0
        inside = math.ceil(share * n)
        before = betaln(inside + 1, n - inside + 1)
        return float(betaln(inside + m + 1, n - inside + 1) - before)

    def find_shift(self, scores: FloatArray, counts: IntArray | None = None) -> bool:
        """Return whether scores lie elsewhere than any mixture of both classes explains.

        The distribution function of a mixture lies between those of the classes. Scores are
        shifted if theirs leaves that band by more than `_MOST_MOVED`, beyond what chance explains
        (Smirnov's test of two samples), or if some scores are far outside the range.
        """
        if self._count_far(scores, counts):
            return True
        if not all(self.n_rows):
            return False
        order = np.argsort(scores)
        weights = np.ones(len(scores), dtype=np.int64) if counts is None else counts
        rows = np.append(0, np.cumsum(weights[order]))
        m = int(rows[-1])
        places = np.unique(np.concatenate(self.deciles))
        share = rows[np.searchsorted(scores[order], places, side="right")] / m
        above = []
        below = []
        for n, deciles in zip(self.n_rows, self.deciles, strict=True):
            by_chance = math.sqrt(math.log(2.0 / _UNLIKELY) / 2.0 * (1.0 / m + 1.0 / n))
            # As many tenths of the class are at or below a place as deciles, or one fewer.
            tenths = np.searchsorted(deciles, places, side="right")
            above.append(share - np.minimum(tenths / 10.0, 1.0) - by_chance)
            below.append(np.maximum(tenths - 1.0, 0.0) / 10.0 - share - by_chance)
        moved = np.maximum(np.minimum(*above), np.minimum(*below))
        return bool(moved.max() > _MOST_MOVED)

    def describe_scores(self, labels: tuple[Label, Label]) -> str:
        """Return where the scores of each class lie that chose the boundary."""
        ranges = [
            f"{describe_range(deciles)} for class {label}"
            for label, deciles in zip(labels, self.deciles, strict=True)
            if deciles
        ]
        return f"which lie {' and '.join(ranges)}"

    def describe_other(self, scores: FloatArray, counts: IntArray | None = None) -> str:
        """Return where other scores lie."""
        order = np.argsort(scores)
        rows = np.ones(len(scores), dtype=np.int64) if counts is None else counts
        deciles = find_deciles(scores[order], rows[order])
        is_unlike = not self._are_inside and deciles[0] >= 0.0 and deciles[-1] <= 1.0
        likeness = " and look like probabilities" if is_unlike else ""
        return f"the scores given lie {describe_range(deciles)}{likeness}"

    def _count_far(self, scores: FloatArray, counts: IntArray | None = None) -> int:
        """Return how many scores are farther outside the range of the rows than it is wide.

        Return 0 if as many are not unlikely: the mass outside the range of n independent rows has
        a Beta(2, n − 1) distribution.
        """
        width = self.most - self.least
        n = sum(self.n_rows)
        if width == 0.0 or n < 2:
            return 0
        weights = np.ones(len(scores), dtype=np.int64) if counts is None else counts
        is_far = (scores < self.least - width) | (scores > self.most + width)
        n_far = int(weights[is_far].sum())
        chance = betabinom.sf(n_far - 1, int(weights.sum()), 2, n - 1)
        return n_far if n_far and chance < _UNLIKELY else 0


@dataclass(frozen=True, eq=False)
class _Table:
    """How often each value of a class occurs among old and new rows, and the rows of both."""

    old: IntArray
    new: IntArray
    n_old: int
    n_new: int

    @property
    def is_equal(self) -> bool:
        return self.n_old == self.n_new and bool((self.old == self.new).all())


def _are_seen(tables: list[_Table]) -> bool:
    """Return whether new rows are likely old ones: all the same, a part, or more than by chance.

    Pool the values of old and new rows. If both are samples of one distribution, the number of new
    rows with a value that s rows have is hypergeometric. One sample is within the other if no value
    occurs more often there; as the numbers are negatively associated, the product of the
    probabilities of each bounds the probability of all. The number of values that occur in both is
    compared with a binomial distribution of their mean probability (Hoeffding 1956).
    """
    tables = [table for table in tables if table.n_new > 0 and len(table.old)]
    if not tables:
        return False
    if all(table.is_equal for table in tables):
        return True
    old = np.concatenate([table.old for table in tables])
    new = np.concatenate([table.new for table in tables])
    n_old = np.concatenate([np.full(len(table.old), table.n_old) for table in tables])
    n_new = np.concatenate([np.full(len(table.old), table.n_new) for table in tables])
    both = old + new
    for part, whole, n_part in ((new, old, n_new), (old, new, n_old)):
        if (part <= whole).all():
            within = hypergeom.cdf(both // 2, n_old + n_new, both, n_part)
            if np.log(within).sum() < math.log(_LEVEL):
                return True
    repeated = both > 1
    in_both = int(np.count_nonzero((old > 0) & (new > 0)))
    if not in_both:
        return False
    return exceeds_chance(in_both, both[repeated], (n_new / (n_old + n_new))[repeated])


def exceeds_chance(in_both: int, counts: IntArray, share: float | FloatArray) -> bool:
    """Return whether more values are in both of two samples than chance explains.

    `counts` has how often each value occurs in both samples together, if it does more than once,
    and `share` the share of one of the samples.
    """
    likely = np.mean(1.0 - share**counts - (1.0 - share) ** counts)
    return bool(binom.sf(in_both - 1, len(counts), likely) < _LEVEL)


def _compare(old: dict[int, int], n_old: int, scores: FloatArray, below: int) -> _Table:
    """Return how often each kept value occurs among the old and the new rows of a class."""
    hashes = _hash(scores)
    values, counts = np.unique(hashes[hashes.astype(np.int64) < below], return_counts=True)
    new = dict(zip(values.tolist(), counts.tolist(), strict=True))
    either = sorted(old.keys() | new.keys())
    return _Table(
        old=np.array([old.get(value, 0) for value in either], dtype=np.int64),
        new=np.array([new.get(value, 0) for value in either], dtype=np.int64),
        n_old=n_old,
        n_new=len(scores),
    )


def given_values(scores: Scores, log_odds: LogOdds | None) -> FloatArray:
    """Return the entries of a class as scores that were given, in ascending order."""
    if log_odds is None:
        return scores.value
    values = np.where(scores.value <= log_odds.low, 0.0, expit(scores.value))
    return np.where(scores.value >= log_odds.high, 1.0, values)


def describe_range(deciles: tuple[float, ...]) -> str:
    return f"between {deciles[0]:.6g} and {deciles[-1]:.6g} (median {deciles[5]:.6g})"


def find_deciles(values: FloatArray, counts: IntArray | None = None) -> tuple[float, ...]:
    """Return the least of ascending scores, their nine deciles and the largest; none of none.

    Without counts each value is one row.
    """
    if not len(values):
        return ()
    if counts is None:
        places = (_DECILES * (len(values) - 1)).astype(np.intp)
    else:
        rows = np.cumsum(counts)
        places = np.searchsorted(rows, _DECILES * (rows[-1] - 1), side="right")
    return tuple(values[places].tolist())


def row_counts(scores: Scores) -> IntArray:
    """Return how many rows each entry stands for; a weighted entry is one row."""
    if scores.count is None or scores.is_weighted:
        return np.ones(len(scores.value), dtype=np.int64)
    return np.asarray(scores.count).astype(np.int64)


def _write_hashes(values: FloatArray, counts: IntArray | None) -> tuple[str, int]:
    """Return the smallest hashes of distinct sorted values as text, and what they are below."""
    all_hashes = _hash(values)
    limit = _SORTED * _ALL // max(len(values), 1)
    while True:
        small = np.flatnonzero(all_hashes <= np.uint32(min(limit, _ALL) - 1))
        hashes = all_hashes[small]
        is_first = np.ones(len(hashes), dtype=np.bool_)
        is_first[1:] = hashes[1:] != hashes[:-1]
        if limit >= _ALL or np.count_nonzero(is_first) > _MOST_KEPT:
            break
        limit *= 64  # values repeat
    first = np.flatnonzero(is_first)
    hashes = hashes[first]
    if counts is None:
        rows = np.diff(first, append=len(small))
    else:
        rows = np.add.reduceat(counts[small], first) if len(first) else first
    order = np.argsort(hashes)
    below = int(hashes[order[_MOST_KEPT]]) if len(hashes) > _MOST_KEPT else _ALL
    kept = order[:_MOST_KEPT]
    pairs = zip(hashes[kept].tolist(), rows[kept].tolist(), strict=True)
    words = [f"{value:08x}" if count == 1 else f"{value:08x}*{count}" for value, count in pairs]
    return " ".join(words), below


def _read_hashes(text: str) -> dict[int, int]:
    """Return hash → rows from the text of hashes."""
    table: dict[int, int] = {}
    for word in text.split():
        value, _, count = word.partition("*")
        try:
            table[int(value, 16)] = int(count or "1")
        except ValueError:
            raise InvalidInputError(
                f"'hashes' must be hexadecimal numbers, each with its number of rows, got "
                f"{word[:50]!r}. Find the boundary again."
            ) from None
    if any(not 0 <= value < _ALL or count < 1 for value, count in table.items()):
        raise InvalidInputError(
            "'hashes' must be below 2^32, and each must have at least one row, got others. Find "
            "the boundary again."
        )
    return table


def _hash(values: NDArray[np.floating]) -> Hashes:
    """Return a hash of each value in single precision (the finaliser of MurmurHash3).

    Different values have different hashes.
    """
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32) + np.float32(0.0)  # one zero
        bits = single.view(np.uint32)
        bits ^= bits >> np.uint32(16)
        bits *= np.uint32(0x85EBCA6B)
        bits ^= bits >> np.uint32(13)
        bits *= np.uint32(0xC2B2AE35)
        bits ^= bits >> np.uint32(16)
    return bits
