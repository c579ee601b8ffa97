"""Scores bigger than memory: the same boundary from files, chunks, Dask and Spark.

`find_boundary` here takes columns by name; :func:`boundshift.find_boundary` takes Dask arrays and
series, Arrow arrays, memory maps and iterables of chunks as they are. Each engine turns its data
into chunks of labels and scores and runs a look over all of them; all else is the same for all.

| data | library | extra |
|---|---|---|
| memory maps, iterables of chunks | NumPy | |
| Arrow tables; Parquet, Feather, CSV, TSV, JSON lines | PyArrow | ``arrow`` |
| Dask arrays, series, frames | Dask | ``dask`` |
| Spark frames | PySpark | ``spark`` |

Every pass must see the same rows: give a function that makes the chunks again, not a generator,
and persist a frame whose rows are drawn at random.
"""

from boundshift.engines.frames import certify, find_boundary

__all__ = ["certify", "find_boundary"]
