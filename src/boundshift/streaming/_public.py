"""`Tally`: counts of labelled scores as an object that is added, stored and decided on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.streaming._bins import REFINED_BIN
from boundshift.streaming._count import PassRequest
from boundshift.streaming._joint import JointBins
from boundshift.streaming._looks import Passes, Progress, check_faults
from boundshift.streaming._read import arrow, read
from boundshift.streaming._sql import DIALECTS, count_query, counts_of, quote_name
from boundshift.streaming._tally import ClassTally


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of labelled scores by class and bin: megabytes, however many rows there are.

    Tallies of different rows are added: yesterday's plus today's is that of both days.
    `scan_boundary` and `scan_certificate` take a tally as data, and need no further pass. The
    threshold that is found stands between two bins, so that every count is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.streaming import Tally, scan_boundary, scan_certificate
    >>> rng = np.random.default_rng(0)
    >>> days = [(y, rng.normal(size=1000) + 3 * y) for y in rng.random((5, 1000)) < 0.02]
    >>> tally = sum((Tally.of([day]) for day in days[1:]), start=Tally.of(days[:1]))
    >>> tally.n_rows
    {False: 4894, True: 106}
    >>> boundary = scan_boundary(tally)
    >>> scan_certificate(tally, boundary, chosen_here=True).wrong == boundary.wrong
    True
    """

    classes: Mapping[Any, ClassTally]
    is_weighted: bool = False

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        label: str = "label",
        score: str = "score",
        weight: str | None = None,
        at: Sequence[float] = (),
        element: int = -1,
        progress: Progress | None = None,
    ) -> Tally:
        """Count labelled scores in one pass.

        Parameters
        ----------
        data, label, score, weight, element, progress
            As in :func:`scan_boundary`.
        at : sequence of float, default=()
            Thresholds at which rows are counted exactly: a bin that holds one is cut there.

        Notes
        -----
        If a bin holds a thousandth of a class or of both, it may hide a score that repeats, or
        scores with a large offset. A second pass looks into such bins.
        """
        passes = Passes(read(data, label, score, weight, element), progress)
        counts = passes.count(PassRequest(cuts=tuple(map(float, at))))
        classes = dict(counts.classes())
        labels = list(classes)
        if len(labels) > 2:
            return cls(classes, counts.is_weighted)
        # A class without rows stands for one that this part of the data does not have.
        names = (*labels, *[_Absent()] * (2 - len(labels)))
        bins = cls(classes, counts.is_weighted).bins(names)
        while bins.may_hide_atoms().any():
            bins = passes.look_into(bins, bins.may_hide_atoms())
        refined = bins.classes(np.ones(len(bins.low), dtype=np.bool_))
        for name, found in zip(labels, refined, strict=False):
            classes[name] = _with_refined(classes[name], found)
        return cls(classes, counts.is_weighted)

    @classmethod
    def from_frame(cls, frame: Any) -> Tally:
        """Return the tally of the result of :func:`tally_sql`, or of :meth:`to_arrow`.

        The frame is one of Arrow, pandas or Polars.
        """
        pa = arrow()
        table = frame if isinstance(frame, pa.Table) else pa.table(frame)
        table = table.rename_columns([name.lower() for name in table.column_names])
        counts = counts_of(table, PassRequest(), "the table")
        check_faults(counts)
        return cls(dict(counts.classes()), counts.is_weighted)

    @classmethod
    def from_parquet(cls, path: str | PathLike[str]) -> Tally:
        """Return the tally in a file."""
        arrow()
        from pyarrow import parquet

        return cls.from_frame(parquet.read_table(path))

    def to_arrow(self) -> Any:
        """Return the tally as an Arrow table with a row for each label and bin."""
        pa = arrow()
        tables = []
        for label, tally in self.classes.items():
            columns = {
                "label": pa.array([label] * len(tally)),
                "part": np.zeros(len(tally), dtype=np.int64),
                "bin": tally.bin,
                "n_rows": tally.rows,
                "mean": tally.mean,
                "low": tally.low,
                "high": tally.high,
            }
            weights = {}
            if self.is_weighted:
                weights = {"weight": tally.weight, "squares": tally.squares}
            tables.append(pa.table(columns | weights))
        return pa.concat_tables(tables)

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write the tally to a file."""
        arrow()
        from pyarrow import parquet

        parquet.write_table(self.to_arrow(), path)

    @property
    def n_rows(self) -> dict[Any, int]:
        """Rows of each label."""
        return {label: int(tally.rows.sum()) for label, tally in self.classes.items()}

    def bins(self, labels: tuple[Any, Any]) -> JointBins:
        """Return the bins of two labels, the negative one first."""
        negative, positive = (self.classes.get(label, ClassTally.empty()) for label in labels)
        return JointBins.of_classes(labels, (negative, positive), self.is_weighted)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.is_weighted != other.is_weighted and self.classes and other.classes:
            raise InvalidInputError(
                "Tallies must both have weights or neither, got one of each. Count both with "
                "`weight`, or both without."
            )
        labels = [*self.classes, *(label for label in other.classes if label not in self.classes)]
        merged = {
            label: _merged(
                *(each.classes[label] for each in (self, other) if label in each.classes)
            )
            for label in labels
        }
        return Tally(merged, self.is_weighted or other.is_weighted)

    def __repr__(self) -> str:
        rows = ", ".join(f"{label!r}: {n:,}" for label, n in self.n_rows.items())
        return f"Tally({rows}; {sum(map(len, self.classes.values())):,} bins)"


class _Absent:
    """The label of a class without rows."""


def _merged(*parts: ClassTally) -> ClassTally:
    """Merge equal bins; parts of bins that were looked into stay beside each other."""
    plain = ClassTally.joined(part.take(part.bin != REFINED_BIN) for part in parts)
    return plain.beside(*(part.take(part.bin == REFINED_BIN) for part in parts))


def _with_refined(counted: ClassTally, found: ClassTally) -> ClassTally:
    """Return what was found in the place of bins that were looked into."""
    order = np.argsort(counted.low)
    counted = counted.take(order)
    place = np.searchsorted(counted.low, found.low)
    place = np.minimum(place, len(counted) - 1)
    is_kept = (counted.low[place] == found.low) & (counted.high[place] == found.high)
    return counted.take(place[is_kept]).beside(found.take(~is_kept))


def tally_sql(
    label: str, score: str, table: str, *, weight: str | None = None, dialect: str = "ansi"
) -> str:
    """Return one query that counts labelled scores, for :meth:`Tally.from_frame`.

    Parameters
    ----------
    label, score, weight : str
        Names of columns. They are quoted.
    table : str
        What stands behind FROM: a table, or a query in parentheses with an alias. It is not
        quoted.
    dialect : str, default="ansi"
        "ansi", "bigquery", "clickhouse", "databricks", "duckdb", "postgres", "snowflake", "spark"
        or "trino".

    Examples
    --------
    >>> import duckdb
    >>> rows = duckdb.sql("SELECT i % 2 AS ill, i % 7 + i % 2 AS risk FROM range(1000) t(i)")
    >>> Tally.from_frame(duckdb.sql(tally_sql("ill", "risk", "rows", dialect="duckdb")).arrow())
    Tally(0: 500, 1: 500; 14 bins)
    """
    if dialect not in DIALECTS:
        raise InvalidInputError(
            f"`dialect` must be one of {', '.join(DIALECTS)}, got {dialect!r}. Use 'ansi' for "
            "other databases."
        )
    names = {"label": label, "score": score} | ({} if weight is None else {"weight": weight})
    quote = partial(quote_name, dialect=dialect)
    columns = {role: quote(name) for role, name in names.items()}
    return count_query(PassRequest(), columns, table, dialect)
