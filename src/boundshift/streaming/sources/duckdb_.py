"""DuckDB: relations, counted inside DuckDB, so whatever it reads is read by it.

A relation is a query that has not run yet: ``connection.sql("SELECT …")``,
``connection.table("scores")``, ``connection.read_parquet("scores/*.parquet")``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
from duckdb import (
    CaseExpression,
    ColumnExpression,
    ConstantExpression,
    FunctionExpression,
    SQLExpression,
)
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.source import ColumnNames, OnProgress
from boundshift.streaming.sources.arrow_ import table_chunk
from boundshift.streaming.sources.columns import (
    check_columns,
    not_real_numbers,
    only_column,
    plain_labels,
)
from boundshift.streaming.sources.queried import (
    PEEKED_ROWS,
    Job,
    QuerySource,
    batches_to_chunks,
)
from boundshift.streaming.sql import Columns, Query, filter_for, log_odds_of, usable
from boundshift.streaming.tally import Tally
from boundshift.streaming.view import Group, Pair, View

__all__ = ["DuckDBSource", "from_arrays", "from_columns", "predict"]

_WHOLE = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_NUMBERS = {*_WHOLE, *(f"u{kind}" for kind in _WHOLE), "float", "double", "decimal"}
_ROWS_OF_A_BATCH = 1 << 19


class DuckDBSource(QuerySource):
    """Rows of a relation with the columns that `names` says; scores and weights are doubles."""

    def __init__(self, relation: Any, names: ColumnNames) -> None:
        self._relation, self.names = relation, names

    def through(self, view: View) -> DuckDBSource:
        """Return the rows of a view."""
        rows, score = self._relation, ColumnExpression("score")
        if isinstance(view, Group):
            rows = rows.filter(ColumnExpression("by") == ConstantExpression(view.name))
        elif isinstance(view, Pair):
            first, second = (ColumnExpression(self.names.scores[i]) for i in view.columns)
            score = (second - first).alias("score")
            label, (one, other) = ColumnExpression("label"), map(ConstantExpression, view.labels)
            rows = rows.filter((label == one) | (label == other))
        weight = [ColumnExpression("weight")] if self.is_weighted else []
        names = ColumnNames(weight=self.names.weight)
        return DuckDBSource(rows.select(ColumnExpression("label"), score, *weight), names)

    def count_values(self, column: str) -> Columns:
        """Return the distinct values of a column, as ``value``, and how many rows have each."""
        keyed = self._relation.select(ColumnExpression(column).alias("key"))
        return _aggregate(keyed, {"n": "count(*)"}, "value")

    def first_rows(self, other_than: Sequence[Any] = ()) -> Chunk:
        """Return the first few rows, or the first with another label than some."""
        relation, label = self._relation, ColumnExpression("label")
        for known in other_than:
            relation = relation.filter(label != ConstantExpression(known))
        if other_than and relation.types[0].id in ("float", "double"):
            relation = relation.filter(SQLExpression("NOT isnan(label)"))
        table = relation.limit(PEEKED_ROWS).to_arrow_table()
        return table_chunk(table, self.names, "the first rows")

    def _coded(self, labels: tuple[Any, ...]) -> Any:
        """Return the rows with the codes of their labels."""
        label, score = ColumnExpression("label"), ColumnExpression("score")
        code = ConstantExpression(None).cast("INTEGER")
        for i, known in reversed(list(enumerate(labels))):
            is_known = label == ConstantExpression(known)
            code = CaseExpression(is_known, ConstantExpression(i)).otherwise(code)
        weight = [ColumnExpression("weight")] if self.is_weighted else []
        rows = self._relation.select(
            label, score, score.alias("given"), code.alias("code"), *weight
        )
        if self.log_odds is None:
            return rows
        found = SQLExpression(log_odds_of("given", self.log_odds)).alias("score")
        kept = [ColumnExpression(name) for name in ("given", "code")]
        return rows.select(label, *kept, found, *weight)

    def group(self, labels: tuple[Any, ...], query: Query) -> Columns:
        """Return the key and the aggregates of all groups of a query."""
        key = SQLExpression(query.key).alias("key")
        used = ("code", "score", "weight") if self.is_weighted else ("code", "score")
        keyed = self._coded(labels).select(*map(ColumnExpression, used), key)
        try:
            return _aggregate(keyed, query.aggregates)
        except duckdb.OutOfRangeException:
            # Squares that no double holds; the next pass divides the scores, or refuses them.
            squares = {"squares", "off"} & set(query.aggregates)
            return _aggregate(
                keyed, query.aggregates | dict.fromkeys(squares, "CAST('inf' AS DOUBLE)")
            )

    def read_faulty(self, labels: tuple[Any, ...]) -> Tally:
        """Return what is found in the rows that no query can use."""
        condition = usable(self.log_odds, self.is_weighted)
        faulty = self._coded(labels).filter(f"NOT coalesce({condition}, FALSE)")
        names = replace(self.names, score="given")
        return ScanRequest(log_odds=self.log_odds).tally(_chunks(faulty, names))

    def read_near(self, labels: tuple[Any, ...], request: ScanRequest) -> Tally:
        """Return what is found in the rows of the refinement's cells, by codes."""
        assert request.refinement is not None
        condition = filter_for(request.refinement, request.exponent, _in_table)
        near = self._coded(labels).filter(condition)
        names = replace(self.names, label="code")
        return request.refinement_by_code().tally(_chunks(near, names))

    def run(self, jobs: Sequence[Job], on_progress: OnProgress) -> list[Tally]:
        """Run one job after the other: DuckDB uses all cores for each."""
        found = []
        for done, job in enumerate(jobs):
            on_progress(done, len(jobs))
            found.append(job())
        on_progress(len(jobs), len(jobs))
        return found


def _aggregate(keyed: Any, aggregates: dict[str, str], key: str = "key") -> Columns:
    """Return the key, under a name, and the aggregates of all groups."""
    listed = [SQLExpression(sql).alias(name) for name, sql in aggregates.items()]
    named = ColumnExpression("key").alias(key)
    table = keyed.aggregate([named, *listed], "key").to_arrow_table()
    return {name: table[name].to_numpy() for name in table.column_names}


def _chunks(relation: Any, names: ColumnNames) -> Iterator[Chunk]:
    """Return some columns as chunks."""
    chosen = relation.select(*map(ColumnExpression, names.all))
    # Releases before 2 have another name for it.
    read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch
    return batches_to_chunks(read(_ROWS_OF_A_BATCH), names, lambda _: "the relation")


def _in_table(index: str, table: NDArray[np.bool_]) -> str:
    """Return the condition that a flag is set, by a text of bits."""
    bits = (table.astype(np.uint8) + ord("0")).tobytes().decode()
    return f"get_bit('{bits}'::BIT, {index}) = 1"


def from_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> DuckDBSource:
    """Refuse relations and expressions, of which two do not say which rows belong together."""
    raise InvalidInputError(
        f"`y_true` and `y_score` must be columns of one relation, got a DuckDB "
        f"{type(y_score).__name__} for each. Use "
        "boundshift.streaming.scan_boundary(relation, label=..., score=...)."
    )


def from_columns(relation: Any, names: ColumnNames) -> DuckDBSource:
    """Return the source of some columns of a relation."""
    if not hasattr(relation, "columns"):
        raise InvalidInputError(
            f"`data` must be a relation, got a DuckDB {type(relation).__name__}. "
            'Use connection.sql("SELECT ...") or connection.table("scores").'
        )
    check_columns(relation.columns, names)
    for name, of in names.numbers:
        kind = relation.types[relation.columns.index(name)]
        if kind.id not in _NUMBERS:
            raise not_real_numbers(f"{str(kind).lower()} values in column {name!r}", of)
    plain = names.numbered
    numbers = {own for own, _ in plain.numbers}
    chosen = []
    for name, own in zip(names.all, plain.all, strict=True):
        column = _column(name).cast("DOUBLE") if own in numbers else _column(name)
        chosen.append(column.alias(own))
    rows = relation.select(*chosen)
    if plain.weight is not None:
        rows = rows.filter("weight IS NULL OR weight <> 0")
    return DuckDBSource(rows, plain)


def _column(name: str) -> Any:
    """Return a column by its whole name; a ColumnExpression takes a dot or a quote for syntax."""
    return SQLExpression('"' + name.replace('"', '""') + '"')


def predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the labels of an expression of scores, or of a relation with one column."""
    if hasattr(column, "columns"):
        name = only_column(column.columns, "relation")
        return column.select(predict(_column(name), threshold, labels).alias(name))
    cut, score = ConstantExpression(float(threshold)), column.cast("DOUBLE")
    negative, positive = (ConstantExpression(label) for label in plain_labels(labels))
    # To DuckDB NaN is above every number.
    known = CaseExpression(FunctionExpression("isnan", score), ConstantExpression(None))
    return known.when(score > cut, positive).when(score <= cut, negative)
