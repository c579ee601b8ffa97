r"""Hashes of the rows of `fit`, by which these rows are recognised later.

Fresh rows may equal rows of `fit` by chance, as whole numbers often do. *Rows count as used in fit
if more of their values occur in both samples than chance explains.* Pool the hashes of `fit` with
those of the new rows. If both samples have one distribution, a value that occurs s times is in both
with probability :math:`1 - w^s - (1 - w)^s`, where w is the share of the new rows. The number of
such values is compared with a binomial distribution of their mean probability, whose upper tail is
the larger one (W. Hoeffding, Annals of Mathematical Statistics 27, 1956).
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.stats import binom
from sklearn.utils import _safe_indexing

Hashes = NDArray[np.uint64]

_MOST_KEPT = 10_000
# Probability with which fresh rows may be taken for rows of fit.
_LEVEL = 1e-3
_MISSING = ("<NA>", "NaT")
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """64-bit hashes of rows of `fit`, label included.

    Parameters
    ----------
    hashes : array of uint64
        Of at most 10,000 rows, drawn at random.
    n_samples : int
        Rows of which they were drawn.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(300, 2)), np.repeat([0, 1], 150)
    >>> print(Fingerprint.of(X[:200], y[:200]).explain(X[150:], y[150:]))
    50 of these 150 rows were used in fit
    >>> Fingerprint.of(X[:200], y[:200]).count(X[200:], y[200:])
    0
    """

    hashes: Hashes
    n_samples: int

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Return the fingerprint of the rows with weight."""
        rows = np.arange(len(y)) if sample_weight is None else np.flatnonzero(sample_weight)
        n = len(rows)
        if n > _MOST_KEPT:
            rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_KEPT, replace=False))
        return cls(hash_rows(_safe_indexing(X, rows), _safe_indexing(y, rows)), n)

    def count(self, X: Any, y: Any) -> int:
        """Return how many rows were used in `fit`, 0 if chance explains the matches.

        It is exact if all rows of `fit` are kept and none of them occurs twice, else an estimate.
        """
        shown = hash_rows(X, y)
        if not len(shown):
            return 0
        found = float(np.isin(shown, self.hashes).mean())
        if not found:
            return 0
        values, counts = np.unique(np.concatenate([self.hashes, shown]), return_counts=True)
        values, counts = values[counts > 1], counts[counts > 1]
        in_both = int(np.sum(np.isin(values, self.hashes) & np.isin(values, shown)))
        w = len(shown) / (len(self.hashes) + len(shown))
        likely = float(np.mean(1.0 - w**counts - (1.0 - w) ** counts))
        if binom.sf(in_both - 1, len(values), likely) >= _LEVEL:
            return 0
        # A row that was not used is found with this probability (Good and Turing's estimate).
        by_chance = self._repeated
        kept = len(self.hashes) / self.n_samples
        share = (found - by_chance) / (kept * (1.0 - by_chance)) if by_chance < 1 else 1.0
        return int(np.clip(round(share * len(shown)), 1, len(shown)))

    def explain(self, X: Any, y: Any) -> str:
        """Return how many rows were used in `fit` as a phrase, or nothing if none was."""
        used = self.count(X, y)
        if not used:
            return ""
        is_exact = len(self.hashes) == self.n_samples and not self._repeated
        return f"{'' if is_exact else 'about '}{used:,} of these {len(y):,} rows were used in fit"

    @property
    def _repeated(self) -> float:
        """Share of the kept rows that occur more than once among them."""
        counts = np.unique(self.hashes, return_counts=True)[1]
        return 1.0 - int(np.sum(counts == 1)) / len(self.hashes)


def hash_rows(X: Any, y: Any) -> Hashes:
    """Return a hash of each row and its label, the same for equal values in any container.

    Numbers are compared as float64, all else as text.
    """
    labels = _hash_columns([_as_array(y)], 0)
    if issparse(X):
        X = X.tocsr(copy=True)  # type: ignore[attr-defined]
        X.sum_duplicates()
        # A zero adds nothing, stored or not.
        keys = _mix(np.asarray(X.indices).astype(np.uint64) + np.uint64(1))
        sums = np.concatenate([[np.uint64(0)], np.cumsum(_keyed(_bits(X.data), keys))])
        return _mix(labels + np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]]))
    if hasattr(X, "columns"):
        # pandas may have two columns of one name.
        given = X.items() if hasattr(X, "items") else ((c, X[c]) for c in X.columns)
        columns = [_as_array(column) for _, column in given]
    else:
        table = _as_array(X)
        columns = list(table.reshape(len(table), -1).T)
    return _mix(labels + _hash_columns(columns, 1))


def _hash_columns(columns: list[NDArray[Any]], first: int) -> Hashes:
    """Return the sum of the hashes of columns, numbered from `first`."""
    total = np.zeros(len(columns[0]) if columns else 0, dtype=np.uint64)
    keys = _mix(np.arange(first, first + len(columns), dtype=np.uint64))
    for column, key in zip(columns, keys, strict=True):
        total += _keyed(_bits(column), key)
    return total


def _keyed(bits: Hashes, key: Any) -> Hashes:
    """Return values mixed with the key of their column, 0 for the number 0."""
    return np.where(bits == 0, np.uint64(0), _mix(bits ^ key))


def _mix(values: Hashes) -> Hashes:
    """Return numbers whose bits all depend on all bits given (a finaliser of splitmix64)."""
    z = values + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _as_array(values: Any) -> NDArray[Any]:
    """Return values as an array; words, dates and rows of different lengths as objects."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
    if array.dtype.kind in "biufO":
        return array
    if array.dtype.kind == "M":  # whatever its unit
        return array.astype("M8[ns]").astype(object)
    is_nested = isinstance(values, list | tuple)
    # NumPy would write the numbers of a list with words in it as words.
    return np.array(values, dtype=object) if is_nested else array.astype(object)


def _bits(values: NDArray[Any]) -> Hashes:
    """Return 64 bits for each value: those of the number, or of a digest of the text."""
    if values.dtype.kind in "biuf":
        number = values.astype(np.float64) + 0.0  # one zero
        return np.where(np.isnan(number), np.nan, number).view(np.uint64)
    known: dict[str, int] = {}
    number, text = np.full(len(values), np.nan), np.zeros(len(values), dtype=np.uint64)
    for place, value in enumerate(values.tolist()):
        if isinstance(value, numbers.Real):
            number[place] = value
            continue
        word = str(value)
        if value is None or word in _MISSING:
            continue
        if word not in known:
            digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            known[word] = int.from_bytes(digest, "little")
        text[place] = known[word]
    return np.where(text > 0, text, _bits(number))
