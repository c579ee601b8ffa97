r"""Hashes of the rows of `fit`, by which these rows are recognised later.

Fresh rows may equal rows of `fit` by chance, as whole numbers often do. *Rows count as used in fit
if more of their values occur in both samples than chance explains.* Pool the hashes of `fit` with
those of the new rows. If both samples have one distribution, a value that occurs s times is in both
with probability :math:`1 - w^s - (1 - w)^s`, where w is the share of the new rows. The number of
such values is compared with a binomial distribution of their mean probability, whose upper tail is
the larger one (W. Hoeffding, Annals of Mathematical Statistics 27, 1956).

If rows were copied before they were split, copies are in both samples as often as by chance. But
measurements with many decimals are not equal by chance. So if the rows have such a column, every
row that occurs twice is a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from boundshift._result.rows import exceeds_chance
from boundshift._sklearn_internals import count_rows, take_rows
from boundshift._typing import Rows

Hashes = NDArray[np.uint64]

_MOST_KEPT = 10_000
_MISSING = ("None", "<NA>", "NaT")
# Share of the rows up to which copies are tolerated, as most tables have a few.
_FEW_COPIES = 0.01
# A column of measurements: this share of different rows has a number of its own there, and most of
# the numbers have more decimals than this.
_OWN_NUMBER = 0.9
_FEW_DECIMALS = 4


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """64-bit hashes of rows of `fit`, label included.

    Parameters
    ----------
    hashes : array of uint64
        Of at most 10,000 rows, drawn at random.
    n_samples : int
        Rows of which they were drawn.
    names : tuple of str or None, default=None
        Names of the columns. None: columns are known by their places.
    """

    hashes: Hashes
    n_samples: int
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Rows, y: Any, sample_weight: Any = None) -> Self:
        """Return the fingerprint of the rows with weight."""
        rows = np.arange(len(y)) if sample_weight is None else np.flatnonzero(sample_weight)
        n = len(rows)
        if n > _MOST_KEPT:
            rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_KEPT, replace=False))
        names = find_names(X)
        hashes = hash_rows(take_rows(X, rows), take_rows(y, rows), names)
        return cls(hashes, n, names)

    def explain(self, X: Rows, y: Any) -> str:
        """Return why rows certify nothing: how many were used in `fit`, if not just by chance."""
        absent = self._find_absent(X)
        if absent:
            return (
                f"column {absent[0]!r} of fit is missing, so rows of fit would not be recognised "
                "among these; pass every column of fit"
            )
        new = hash_rows(X, y, self.names)
        n_matches = np.count_nonzero(np.isin(new, self.hashes))
        if not n_matches:
            return ""
        values, counts = np.unique(np.concatenate([self.hashes, new]), return_counts=True)
        values = values[counts > 1]
        counts = counts[counts > 1]
        in_both = int((np.isin(values, self.hashes) & np.isin(values, new)).sum())
        w = len(new) / (len(self.hashes) + len(new))
        used = min(round(n_matches * self.n_samples / len(self.hashes)), len(new))
        is_by_chance = not exceeds_chance(in_both, counts, w)
        if is_by_chance and not (used > _FEW_COPIES * len(new) and _holds_measurements(X, new)):
            return ""
        about = "" if len(np.unique(self.hashes)) == self.n_samples else "about "
        count = f"{about}{used:,} of these {len(new):,} rows were used in fit"
        return f"{count}; use rows that the model has not seen"

    def _find_absent(self, X: Rows) -> list[str]:
        """Return the names of fit that rows with names of their own do not have."""
        names = find_names(X)
        if self.names is None or names is None:
            return []
        return [name for name in self.names if name not in names]


def explain_training(model: Any, X: Rows, y: Any) -> str:
    """Return why rows certify nothing if the model, fitted by boundshift, was trained on them."""
    while getattr(model, "prefit_", False):  # its own rows only chose a threshold
        model = model.estimator_
    fingerprint = getattr(model, "fingerprint_", None)
    return fingerprint.explain(X, y) if isinstance(fingerprint, Fingerprint) else ""


def explain_copies(X: Rows, y: Any) -> str:
    """Return why rows certify nothing if some are copies of others: how many; else nothing."""
    if _are_told_apart(X, len(y)):
        return ""
    hashes = hash_rows(X, y, exact=True)
    n_copies = _count_repeats(hashes)
    if n_copies <= _FEW_COPIES * len(hashes) or not _holds_measurements(X, hashes):
        return ""
    return f"{n_copies:,} of these {len(hashes):,} rows are copies of others; pass each row once"


def _are_told_apart(X: Rows, n_rows: int) -> bool:
    """Return whether one column of numbers shows that few rows can be equal."""
    if issparse(X):
        return False
    for column in _find_columns(X, n_rows, None):
        array = _as_array(column)
        is_complete = array.dtype.kind == "f" and not np.isnan(array).any()
        if is_complete and _count_repeats(array) <= _FEW_COPIES * n_rows:
            return True
    return False


def _count_repeats(values: NDArray[Any]) -> int:
    """Return how many values are equal to another one before; sorting is faster than `unique`."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _holds_measurements(X: Rows, hashes: Hashes) -> bool:
    """Return whether a column has measurements, in which different rows are not equal by chance."""
    if issparse(X):
        return False
    _, different = np.unique(hashes, return_index=True)
    columns = _find_columns(take_rows(X, different), len(different), None)
    return any(_are_measurements(column) for column in columns)


def _are_measurements(column: Any) -> bool:
    """Return whether nearly all numbers of a column differ, and most have many decimals."""
    array = _as_array(column)
    if array.dtype.kind == "O":
        array = np.array([v if isinstance(v, float) else np.nan for v in array.tolist()])
    if array.dtype.kind != "f":
        return False
    numbers = array[np.isfinite(array)]
    if len(np.unique(numbers)) < max(2.0, _OWN_NUMBER * len(array)):
        return False
    rounding = 4.0 * np.finfo(numbers.dtype).eps * np.abs(numbers)
    has_decimals = np.abs(numbers - numbers.round(_FEW_DECIMALS)) > rounding
    return bool(has_decimals.mean() > 0.5)


def find_names(X: Rows) -> tuple[str, ...] | None:
    """Return the names of the columns, None unless each has a text of its own as its name."""
    columns = getattr(X, "columns", None)
    names = () if columns is None else tuple(columns)
    is_named = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return tuple(map(str, names)) if names and is_named else None


def hash_rows(
    X: Rows, y: Any = None, names: Sequence[str] | None = None, *, exact: bool = False
) -> Hashes:
    """Return a hash of each row and its label, the same for equal values in any container.

    Numbers are compared as float32, in which many models read them, or as float64 if `exact`, and
    all else as text. A zero adds nothing, in a sparse matrix or not. With `names`, columns are
    known by them: their order and further columns do not matter. Columns without names are taken to
    be in this order.
    """
    number: type[np.floating[Any]] = np.float64 if exact else np.float32
    total = np.zeros(count_rows(X), dtype=np.uint64)
    if y is not None:
        total += _hash_column(y, np.uint64(0), number)
    if issparse(X):
        # The way over CSR adds up entries of one place.
        entries = X.tocoo().tocsr().tocoo()  # type: ignore[attr-defined]
        keys = _column_keys(entries.shape[1], names)
        np.add.at(total, entries.row, _hash_column(entries.data, keys[entries.col], number))
        return _mix(total)
    columns = _find_columns(X, len(total), names)
    for key, column in zip(_column_keys(len(columns), names), columns, strict=True):
        total += _hash_column(column, key, number)
    return _mix(total)


def hash_halves(X: Rows) -> tuple[Hashes, Hashes]:
    """Return exact hashes of the first and of the second half of each row's columns."""
    if not hasattr(X, "columns") and not issparse(X):
        X = _as_array(X).reshape(count_rows(X), -1)
    places = np.arange(X.shape[1])
    first, second = np.split(places, [len(places) // 2])
    return (
        hash_rows(take_rows(X, first, axis=1), exact=True),
        hash_rows(take_rows(X, second, axis=1), exact=True),
    )


def _find_columns(X: Rows, n_rows: int, names: Sequence[str] | None) -> list[Any]:
    """Return the columns of rows, those with the given names if the rows have names."""
    if not hasattr(X, "columns"):
        return list(_as_array(X).reshape(n_rows, -1).T)
    places: Sequence[int] = range(len(X.columns))
    own = find_names(X)
    if names is not None and own is not None:
        places = [own.index(name) for name in names]
    return [take_rows(X, place, axis=1) for place in places]


def _column_keys(n_columns: int, names: Sequence[str] | None) -> Hashes:
    """Return a number for each column: of its name, or of its place if it has none."""
    if names is None or len(names) != n_columns:
        return np.arange(1, n_columns + 1, dtype=np.uint64)
    return np.array([_digest(name) for name in names], dtype=np.uint64)


def _hash_column(values: Any, key: Any, number: type[np.floating[Any]]) -> Hashes:
    """Return the hash of each value in the column with this number, 0 for the number 0."""
    array = _as_array(values)
    if array.dtype.kind == "O":
        bits = np.array([_as_bits(value, number) for value in array.tolist()], dtype=np.uint64)
    elif array.dtype.kind == "M":
        bits = array.astype("M8[ns]").view(np.uint64)
    else:
        bits = _float_bits(array, number)
    hashes = _mix(bits ^ _mix(key))
    hashes *= bits != 0
    return hashes


def _as_array(values: Any) -> NDArray[Any]:
    """Return numbers as numbers, dates as dates, and all else as objects."""
    if isinstance(values, list | tuple):  # NumPy would write the numbers beside a word as words.
        return np.array(values, dtype=object)
    array = np.asarray(values)
    return array if array.dtype.kind in "biufM" else array.astype(object)


def _as_bits(value: Any, number: type[np.floating[Any]]) -> int:
    """Return the bits of a number, or of a digest of a text."""
    if not isinstance(value, Real) and str(value) not in _MISSING:
        return _digest(str(value))
    real = float(value) if isinstance(value, Real) and value == value else np.nan
    return int(_float_bits(np.array(real), number))


def _float_bits(numbers: NDArray[Any], number: type[np.floating[Any]]) -> Hashes:
    """Return the bits of numbers of a type, those of one zero and of one NaN."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = numbers.astype(number)
        rounded += number(0)
    rounded[np.isnan(rounded)] = np.nan
    return rounded.view(f"u{rounded.itemsize}").astype(np.uint64)


def _digest(text: str) -> int:
    word = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(word, digest_size=8).digest(), "little")


def _mix(values: Any) -> Hashes:
    """Return numbers whose bits all depend on all bits given (a finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.asarray(values + np.uint64(0x9E3779B97F4A7C15))
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        return z
