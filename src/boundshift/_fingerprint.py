r"""Hashes of the rows of `fit`, by which these rows are recognised later.

Fresh rows may equal rows of `fit` by chance, as whole numbers often do. *Rows count as used in fit
if more of their values occur in both samples than chance explains.* Pool the hashes of `fit` with
those of the new rows. If both samples have one distribution, a value that occurs s times is in both
with probability :math:`1 - w^s - (1 - w)^s`, where w is the share of the new rows. The number of
such values is compared with a binomial distribution of their mean probability, whose upper tail is
the larger one (W. Hoeffding, Annals of Mathematical Statistics 27, 1956).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from hashlib import blake2b
from numbers import Real
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
_MISSING = ("None", "<NA>", "NaT")


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """64-bit hashes of rows of `fit`, label included.

    Parameters
    ----------
    hashes : array of uint64
        Of at most 10,000 rows, drawn at random.
    n_samples : int
        Rows of which they were drawn.
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

    def explain(self, X: Any, y: Any) -> str:
        """Return how many rows were used in `fit`, or nothing if chance explains the matches."""
        shown = hash_rows(X, y)
        found = np.count_nonzero(np.isin(shown, self.hashes))
        if not found:
            return ""
        values, counts = np.unique(np.concatenate([self.hashes, shown]), return_counts=True)
        values, counts = values[counts > 1], counts[counts > 1]
        in_both = np.count_nonzero(np.isin(values, self.hashes) & np.isin(values, shown))
        w = len(shown) / (len(self.hashes) + len(shown))
        likely = float(np.mean(1.0 - w**counts - (1.0 - w) ** counts))
        if binom.sf(in_both - 1, len(values), likely) >= _LEVEL:
            return ""
        used = min(round(found * self.n_samples / len(self.hashes)), len(shown))
        about = "" if len(np.unique(self.hashes)) == self.n_samples else "about "
        return f"{about}{used:,} of these {len(shown):,} rows were used in fit"


def hash_rows(X: Any, y: Any) -> Hashes:
    """Return a hash of each row and its label, the same for equal values in any container.

    Numbers are compared as float64, all else as text. A zero adds nothing, in a sparse matrix or
    not.
    """
    total = _hash_column(y, np.uint64(0))
    if issparse(X):
        # The way over CSR adds up entries of one place.
        entries = X.tocoo().tocsr().tocoo()  # type: ignore[attr-defined]
        keys = np.asarray(entries.col).astype(np.uint64) + np.uint64(1)
        np.add.at(total, entries.row, _hash_column(entries.data, keys))
        return _mix(total)
    if hasattr(X, "columns"):
        columns = [_safe_indexing(X, k, axis=1) for k in range(len(X.columns))]
    else:
        columns = list(_as_array(X).reshape(len(total), -1).T)
    for number, column in enumerate(columns, start=1):
        total += _hash_column(column, np.uint64(number))
    return _mix(total)


def _hash_column(values: Any, key: Any) -> Hashes:
    """Return the hash of each value in the column with this number, 0 for the number 0."""
    array = _as_array(values)
    if array.dtype.kind == "O":
        bits = np.array([_as_bits(value) for value in array.tolist()], dtype=np.uint64)
    else:
        numbers = array.astype(np.float64) + 0.0  # one zero
        bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
    return np.where(bits == 0, np.uint64(0), _mix(bits ^ _mix(key)))


def _as_array(values: Any) -> NDArray[Any]:
    """Return numbers as numbers, dates as nanoseconds, and all else as objects."""
    if isinstance(values, list | tuple):  # NumPy would write the numbers beside a word as words.
        return np.array(values, dtype=object)
    array = np.asarray(values)
    if array.dtype.kind == "M":
        return array.astype("M8[ns]").astype(np.int64)
    return array if array.dtype.kind in "biuf" else array.astype(object)


def _as_bits(value: Any) -> int:
    """Return the 64 bits of a number, or of a digest of a text."""
    if not isinstance(value, Real) and str(value) not in _MISSING:
        word = str(value).encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(word, digest_size=8).digest(), "little")
    number = float(value) + 0.0 if isinstance(value, Real) and value == value else np.nan
    return int.from_bytes(struct.pack("<d", number), "little")


def _mix(values: Any) -> Hashes:
    """Return numbers whose bits all depend on all bits given (a finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))
