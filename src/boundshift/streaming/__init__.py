"""Scores bigger than memory: the same boundary from files, databases, frames and chunks.

`scan_boundary` takes columns by name. For every engine the boundary lies in the same gap between
scores as that of the same rows in memory, or within the ``resolution`` that it states.

| data | library | extra |
|---|---|---|
| iterables of chunks, or functions that make them | NumPy | |
| Arrow tables; Parquet, CSV, TSV | PyArrow | ``arrow`` |
| DuckDB relations: tables, queries, whatever DuckDB reads | DuckDB | ``duckdb`` |
| pandas frames | pandas | |
| Polars lazy frames and frames | Polars | ``polars`` |
| Dask frames | Dask | ``dask`` |
| Spark frames | PySpark | ``spark`` |

A `Tally` is what one pass counts, and `GroupTallies` are those of many groups. They are added,
stored, counted in SQL and decided on.

The data may be read more than once, and every pass must see the same rows: give a function that
makes the chunks again, not a generator, and persist a frame whose rows are drawn at random.
"""

from boundshift.streaming._groups import GroupTallies
from boundshift.streaming._public import Tally, tally_sql
from boundshift.streaming._scan import scan_boundary, scan_certificate, scan_zone

__all__ = ["GroupTallies", "Tally", "scan_boundary", "scan_certificate", "scan_zone", "tally_sql"]
