"""The rows that `boundshift monitor` has counted, so that a repeated row is recognised.

A monthly file is often cumulative: it holds the rows of all months so far. A row is recognised by
its id, if the table has a column of ids, and else by its content: score, label and date. Contents
may agree by chance, as rounded scores do. So rows count as repeated only if more of them agree than
chance explains, or if the file begins or ends with a whole file that was counted.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from boundshift._result.records import Record, require, require_counts
from boundshift._typing import BoolArray, IntArray

Hashes = NDArray[np.uint64]

# Fields of every record, which the monitor has itself.
_HEAD = ("format", "version")
# Probability with which fresh rows may be taken for repeated ones.
_LEVEL = 1e-6
_PAIRING = np.uint64(0x9E3779B97F4A7C15)  # an odd constant, so that pairs of hashes differ


@dataclass
class MonthCounts:
    """Rows of each class in a month, the wrong ones, and the evidence after the month."""

    n_samples: tuple[int, ...]
    wrong: tuple[int, ...]
    e_values: tuple[float, ...]


class TableHashes(NamedTuple):
    """Hashes of the contents of a table's rows, or clusters, and of their ids if they have any."""

    contents: Hashes
    ids: Hashes | None = None


class Repeated(NamedTuple):
    """Which rows were counted before, which of them have changed, and how they were recognised."""

    is_repeated: BoolArray
    is_changed: BoolArray
    recognised_by: str


@dataclass
class Ledger(Record):
    """What was counted, in the order of counting; hashes are stored as base64.

    `files` has the SHA-256 of files, `id_column` the column that names rows or clusters,
    `columns` the other columns of a row's content, and `sequences` the number of rows of each file
    with a digest of their contents.
    """

    columns: list[str]
    id_column: str | None = None
    is_of_clusters: bool = False
    files: list[str] = field(default_factory=list)
    ids: str = ""
    contents: str = ""
    sequences: list[tuple[int, str]] = field(default_factory=list)
    months: dict[str, MonthCounts] = field(default_factory=dict)

    _format: ClassVar[str] = "boundshift.ledger"

    def to_fields(self) -> dict[str, Any]:
        """Return the fields as JSON can carry them, to stand beside those of a monitor."""
        return {name: value for name, value in self.to_dict().items() if name not in _HEAD}

    @classmethod
    def from_fields(cls, stored: Mapping[str, Any]) -> Self:
        """Return the ledger that stands beside a monitor."""
        return cls.from_dict({**stored, "format": cls._format, "version": cls._version})

    def _check_values(self) -> None:
        n_contents = len(_decode("contents", self.contents))
        n_ids = n_contents if self.id_column else 0
        is_complete = len(_decode("ids", self.ids)) == n_ids
        require(is_complete, "ids", f"have {n_ids} hashes", self.ids)
        require(self.columns, "columns", "name a column", self.columns)
        for month in self.months.values():
            lengths = {len(month.n_samples), len(month.wrong), len(month.e_values)}
            require(lengths == {2}, "months", "have counts of two classes", month)
            require_counts("months", month.n_samples)
            require_counts("months", month.wrong, month.n_samples)
            is_evidence = all(0.0 <= value < math.inf for value in month.e_values)
            require(is_evidence, "months", "have evidence from 0 on", month)

    def find_repeated(self, table: TableHashes) -> Repeated:
        """Return which rows of a table were counted before."""
        none = np.zeros(len(table.contents), dtype=np.bool_)
        counted = _decode("contents", self.contents)
        if table.ids is None:
            is_repeated = self._find_repeated_contents(table.contents, counted)
            return Repeated(is_repeated, none, self._describe_contents())
        counted_ids = _decode("ids", self.ids)
        is_repeated = _occurrence(table.ids) < _multiplicity(table.ids, counted_ids)
        is_same = np.isin(table.ids * _PAIRING + table.contents, counted_ids * _PAIRING + counted)
        is_changed = is_repeated & ~is_same
        if not self.is_of_clusters and 2 * np.sum(is_changed) > np.sum(is_repeated):
            # The ids name persons, or begin anew in every file: they do not name rows.
            is_repeated = self._find_repeated_contents(table.contents, counted)
            return Repeated(is_repeated, none, self._describe_contents())
        return Repeated(is_repeated, is_changed, f"'{self.id_column}'")

    def _find_repeated_contents(self, contents: Hashes, counted: Hashes) -> BoolArray:
        is_repeated = self._find_whole_files(contents)
        if not _is_chance(contents, counted):
            is_repeated |= _occurrence(contents) < _multiplicity(contents, counted)
        return is_repeated

    def _find_whole_files(self, contents: Hashes) -> BoolArray:
        """Return which rows are those of a file that was counted, at the start or at the end."""
        is_repeated = np.zeros(len(contents), dtype=np.bool_)
        log_share = np.log(_multiplicity(contents, contents) / max(len(contents), 1))
        for n, digest in self.sequences:
            for rows in (slice(0, n), slice(len(contents) - n, None)):
                if not 0 < n <= len(contents) or log_share[rows].sum() > np.log(_LEVEL):
                    continue
                if _digest(contents[rows]) == digest:
                    is_repeated[rows] = True
        return is_repeated

    def _describe_contents(self) -> str:
        *first, last = [f"'{name}'" for name in self.columns]
        return f"{', '.join(first)} and {last}" if first else last

    def add(self, table: TableHashes, is_new: BoolArray) -> None:
        """Add the new rows of a table."""
        if not len(table.contents):
            return
        self.sequences.append((len(table.contents), _digest(table.contents)))
        self.contents = _encode(
            np.append(_decode("contents", self.contents), table.contents[is_new])
        )
        if table.ids is not None:
            self.ids = _encode(np.append(_decode("ids", self.ids), table.ids[is_new]))


def hash_texts(columns: Sequence[Sequence[str]]) -> Hashes:
    """Return a 64-bit hash of the cells of each row."""
    digests = b"".join(
        blake2b("\x1f".join(cells).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for cells in zip(*columns, strict=True)
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def hash_clusters(contents: Hashes, cluster: IntArray) -> Hashes:
    """Return a hash of the rows of each cluster, in any order."""
    order = np.lexsort((contents, cluster))
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    return hash_texts([[part.tobytes().hex() for part in np.split(contents[order], starts[1:])]])


def _digest(contents: Hashes) -> str:
    return blake2b(contents.astype("<u8").tobytes(), digest_size=16).hexdigest()


def _occurrence(values: Hashes) -> IntArray:
    """Return how many equal values stand before each value."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    places = np.arange(len(values))
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(values)]
    starts = np.maximum.accumulate(np.where(is_first, places, 0))
    occurrence = np.empty(len(values), dtype=np.int64)
    occurrence[order] = places - starts
    return occurrence


def _multiplicity(values: Hashes, among: Hashes) -> IntArray:
    """Return how often each value occurs among others."""
    ordered = np.sort(among)
    count = np.searchsorted(ordered, values, "right") - np.searchsorted(ordered, values, "left")
    return count.astype(np.int64)


def _is_chance(contents: Hashes, counted: Hashes) -> bool:
    """Return whether two fresh samples would agree in as many values.

    If both have one distribution, a value that occurs s times in both together is in both with
    probability 1 - w^s - (1 - w)^s, where w is the share of the new rows.
    """
    values, counts = np.unique(np.concatenate([contents, counted]), return_counts=True)
    values = values[counts > 1]
    counts = counts[counts > 1]
    in_both = int(np.sum(np.isin(values, contents) & np.isin(values, counted)))
    if not in_both:
        return True
    share = len(contents) / (len(contents) + len(counted))
    likely = float(np.mean(1.0 - share**counts - (1.0 - share) ** counts))
    return bool(binom.sf(in_both - 1, len(values), likely) >= _LEVEL)


def _encode(hashes: Hashes) -> str:
    return base64.b64encode(hashes.astype("<u8").tobytes()).decode("ascii")


def _decode(name: str, text: str) -> Hashes:
    raw = b""
    try:
        raw = base64.b64decode(text, validate=True)
        is_whole = len(raw) % 8 == 0
    except ValueError:
        is_whole = False
    require(is_whole, name, "be hashes in base64", text)
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64)
