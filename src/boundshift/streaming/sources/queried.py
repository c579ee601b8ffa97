"""An engine that counts by queries, as Spark does where its rows lie.

Python reads the first rows, those around the boundary, and those that cannot be used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property, partial
from math import isfinite
from typing import Any

import pyarrow as pa

from boundshift.scores import LogOdds
from boundshift.streaming.chunk import Chunk, distinct_labels
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.source import ColumnNames, OnProgress, Request
from boundshift.streaming.sources.arrow_ import table_chunk
from boundshift.streaming.sql import FAULTY, CellQuery, Columns, Query, SquaresQuery, queries_for
from boundshift.streaming.tally import Tally
from boundshift.streaming.view import JointRequest, JointTally, Pair, ValueCounts, ValueTally, View

__all__ = ["PEEKED_ROWS", "Job", "QuerySource", "batches_to_chunks"]

Job = Callable[[], Tally]

PEEKED_ROWS = 1 << 13
_ROWS_OF_A_CHUNK = 1 << 19


class QuerySource(ABC):
    """Rows with the columns ``label`` and ``score``, the latter doubles; and ``weight``, if any.

    Rows whose weight is 0 are none of them. With `log_odds` the rows that queries see have the
    log-odds as their ``score``, and beside them the probabilities as ``given``.
    """

    log_odds: LogOdds | None = None
    names: ColumnNames

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return self.names.weight is not None

    @abstractmethod
    def through(self, view: View) -> QuerySource:
        """Return the rows of a view."""

    @abstractmethod
    def count_values(self, column: str) -> Columns:
        """Return the distinct values of a column, as ``value``, and how many rows have each."""

    @abstractmethod
    def first_rows(self, other_than: Sequence[Any] = ()) -> Chunk:
        """Return the first few rows, or the first with another label than some."""

    @abstractmethod
    def group(self, labels: tuple[Any, ...], query: Query) -> Columns:
        """Return the key and the aggregates of all groups of a query."""

    @abstractmethod
    def read_faulty(self, labels: tuple[Any, ...]) -> Tally:
        """Return what is found in the rows that no query can use."""

    @abstractmethod
    def read_near(self, labels: tuple[Any, ...], request: ScanRequest) -> Tally:
        """Return what is found in the rows of the refinement's cells, by codes."""

    @abstractmethod
    def run(self, jobs: Sequence[Job], on_progress: OnProgress) -> list[Tally]:
        """Return what each job finds."""

    def peek(self) -> list[Chunk]:
        """Return the first few rows, and some of the second class if it is not among them."""
        return self._peeked

    @cached_property
    def _peeked(self) -> list[Chunk]:
        """The rows peeked at."""
        first = self.first_rows()
        labels = distinct_labels(first)[0] if len(first) else []
        return [first] if len(labels) != 1 else [first, self.first_rows(labels)]

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The labels of the rows peeked at, two at most."""
        seen = [
            label for chunk in self._peeked if len(chunk) for label in distinct_labels(chunk)[0]
        ]
        return tuple(dict.fromkeys(seen))[:2]

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        if isinstance(request, ValueCounts):
            found = self.count_values(request.column)
            values = (None if v != v else v for v in found["value"].tolist())
            total: Any = ValueTally()
            total.merge(ValueTally(Counter(dict(zip(values, found["n"].tolist(), strict=True)))))
            return total
        if isinstance(request, JointRequest):
            parts = [(number, self._seen(view), own) for number, view, own in request.parts]
        else:
            assert isinstance(request, ScanRequest)
            parts = [(0, self, request)]
        jobs = [(number, job) for number, source, own in parts for job in source._jobs(own)]
        total = JointTally({number: Tally() for number, *_ in parts})
        tallies = self.run([job for _, job in jobs], on_progress)
        for (number, _), tally in zip(jobs, tallies, strict=True):
            total.parts[number].merge(tally)
        return total if isinstance(request, JointRequest) else total.parts[0]

    def _seen(self, view: View) -> QuerySource:
        """Return the rows of a view, whose labels are known without a query."""
        source = self.through(view)
        source.labels = view.labels if isinstance(view, Pair) else self.labels
        return source

    def _jobs(self, request: ScanRequest) -> list[Job]:
        """Return the queries that answer a request."""
        labels = request.labels or self.labels
        source = copy(self)
        source.log_odds = request.log_odds
        queries = queries_for(request, self.is_weighted)
        jobs: list[Job] = [partial(source._answer, labels, query) for query in queries]
        if request.refinement is not None:
            jobs.append(partial(source._refine, labels, request))
        return jobs

    def _answer(self, labels: tuple[Any, ...], query: Query) -> Tally:
        """Return what a query finds, and what is wrong with rows that it could not use."""
        found = self.group(labels, query)
        tally = query.read(labels, found)
        if FAULTY in found["key"]:
            tally.merge(self.read_faulty(labels))
        elif tally.classes and self.is_weighted and isinstance(query, CellQuery):
            self._add_squares(labels, query.request, tally)
        return tally

    def _add_squares(self, labels: tuple[Any, ...], request: ScanRequest, tally: Tally) -> None:
        """Add the squares of classes whose means are known now."""
        classes = [tally.of(label) for label in labels]
        means = tuple(c.total[0] / c.n if c.n else 0.0 for c in classes)
        if not all(map(isfinite, means)):
            return  # The next pass divides the scores, or refuses them.
        query = SquaresQuery(request, means)
        for label, found in query.read(labels, self.group(labels, query)).classes.items():
            tally.of(label).squares = found.squares

    def _refine(self, labels: tuple[Any, ...], request: ScanRequest) -> Tally:
        """Return what Python finds in the rows of the refinement's cells."""
        by_code = self.read_near(labels, request)
        return Tally({labels[i]: found for i, found in by_code.classes.items()})


def batches_to_chunks(
    batches: Iterator[Any], names: ColumnNames, location: Callable[[Any], str] | None = None
) -> Iterator[Chunk]:
    """Put small batches together: a chunk costs as much as some thousand of its rows.

    Parameters
    ----------
    batches : iterator of record batches
        With the named columns, and whatever tells where they are.
    names : ColumnNames
        Their columns.
    location : callable, default=None
        From some rows as a table to what an error calls them.
    """
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS_OF_A_CHUNK:
            yield _chunk(waiting, names, location)
            waiting = []
    if waiting:
        yield _chunk(waiting, names, location)


def _chunk(batches: list[Any], names: ColumnNames, location: Callable[[Any], str] | None) -> Chunk:
    """Return some batches as one chunk."""
    table = pa.Table.from_batches(batches)
    where = location(table) if location is not None and len(table) else "some rows"
    return table_chunk(table, names, where)
