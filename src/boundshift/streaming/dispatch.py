"""Which engine reads what is given, found by name so that no library is imported for nothing.

An engine is a file in :mod:`boundshift.streaming.sources`. It offers ``from_arrays(y_true,
y_score, sample_weight)``, the source of its library's own values; ``from_columns(data, names)``
where there are frames, tables or files; and ``predict(column, threshold, labels)`` where columns
are lazy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming.source import ColumnNames, Source

__all__ = ["find_predictor", "find_source", "open_columns"]

# Library of a value's type, and the engine that reads it.
_ENGINES = {
    "_duckdb": "duckdb_",
    "dask": "dask_",
    "dask_expr": "dask_",
    "duckdb": "duckdb_",
    "polars": "polars_",
    "pyarrow": "arrow_",
    "pyspark": "spark_",
}
_LAZY = ("dask_", "duckdb_", "polars_", "spark_")
# Engine, the library that it needs, and the extra that brings the library.
_NEEDED = {
    "arrow_": ("pyarrow", "arrow"),
    "dask_": ("dask", "dask"),
    "duckdb_": ("pyarrow", "duckdb"),
    "files_": ("pyarrow", "arrow"),
    "spark_": ("pyspark", "spark"),
}


def find_source(y_true: object, y_score: object, sample_weight: object = None) -> Source | None:
    """Return the source of labels and scores that are read in passes, None for those in memory.

    Examples
    --------
    >>> find_source([0, 1], [0.5, 0.7]) is None
    True
    """
    given = {"y_true": y_true, "y_score": y_score}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    engines = {_engine_of_array(value) for value in given.values()}
    if engines <= {None, "arrow_"} and None in engines:
        return None
    if engines == {None, "numpy_"}:
        engines = {"numpy_"}
    if len(engines) > 1:
        kinds = {name: type(value).__name__ for name, value in given.items()}
        raise InvalidInputError(
            f"{' and '.join(f'`{name}`' for name in given)} must be of one kind, got "
            f"{' and '.join(kinds.values())}. Convert one of them."
        )
    source: Source = _load(str(engines.pop())).from_arrays(*given.values())
    return source


def open_columns(data: Any, names: ColumnNames | None = None, element: int = -1) -> Source:
    """Return the source of some columns, or of pairs; arguments as in `scan_boundary`.

    Examples
    --------
    >>> open_columns([([0, 1], [0.5, 0.7])], ColumnNames(label="y"))
    Traceback (most recent call last):
    boundshift.exceptions.InvalidInputError: `label` must be left out for pairs of labels and ...
    """
    names = ColumnNames() if names is None else names
    engine = _engine_of_columns(data)
    source: Source
    if engine == "spark_":
        source = _load(engine).from_columns(data, names, element)
    elif element != -1:
        raise InvalidInputError(
            f"`element` must be left out but for a Spark frame, got {element!r} with "
            f"{type(data).__name__}. Pass a column of numbers as `score`."
        )
    elif engine == "chunks_":
        _refuse_names(names)
        source = _load(engine).from_pairs(data, names)
    else:
        source = _load(engine).from_columns(data, names)
    return source


def _refuse_names(names: ColumnNames) -> None:
    """Raise if a column is named for pairs, which have none."""
    for name in ("label", "score", "weight", "by"):
        column = getattr(names, name)
        if column not in (name, None) and not isinstance(column, tuple):
            raise InvalidInputError(
                f"`{name}` must be left out for pairs of labels and scores, which have no "
                f"columns, got {column!r}."
            )
    if names.weight is not None:
        raise InvalidInputError(
            "`weight` must be left out for pairs of labels and scores, which have no columns, got "
            f"{names.weight!r}. Pass triples (labels, scores, weights)."
        )


def find_predictor(column: object) -> Callable[..., Any] | None:
    """Return the function that labels a lazy column of scores, None for scores in memory."""
    engine = _ENGINES.get(_library_of(column))
    if engine not in _LAZY or _is_in_memory(engine, column):
        return None
    predictor: Callable[..., Any] = _load(engine).predict
    return predictor


def _is_in_memory(engine: str, value: object) -> bool:
    """Return whether a value of a lazy library holds its rows, as a series of Polars does."""
    return engine == "polars_" and hasattr(value, "__array__")


def _library_of(value: object) -> str:
    """Return the name of the library that a value's type comes from."""
    return type(value).__module__.partition(".")[0]


def _load(engine: str) -> Any:
    """Import an engine; if its library is missing, say which extra brings it."""
    try:
        return import_module(f"boundshift.streaming.sources.{engine}")
    except ModuleNotFoundError as error:
        library, extra = _NEEDED.get(engine, ("", ""))
        if (error.name or "").partition(".")[0] != library:
            raise
        raise MissingExtraError(library, extra) from error


def _engine_of_columns(data: Any) -> str:
    """Return the engine that reads files, a frame, a table or pairs."""
    library = _library_of(data)
    if library in _ENGINES:
        return _ENGINES[library]
    if isinstance(data, str | PathLike) or _is_list_of_paths(data):
        return "files_"
    if callable(data) or (hasattr(data, "__iter__") and not hasattr(data, "columns")):
        return "chunks_"
    raise InvalidInputError(
        "`data` must be files, a DuckDB relation, a frame of Polars, Arrow, Dask or Spark, or an "
        "iterable of pairs, got "
        f"{type(data).__name__}. For columns in memory use boundshift.find_boundary."
    )


def _is_list_of_paths(data: object) -> bool:
    """Return whether a value is a list of names of files."""
    if not isinstance(data, list | tuple) or not data:
        return False
    return all(isinstance(item, str | PathLike) for item in data)


def _engine_of_array(value: object) -> str | None:
    """Return the engine that reads labels or scores, None if they are in memory."""
    engine = _ENGINES.get(_library_of(value))
    if engine is not None:
        return None if _is_in_memory(engine, value) else engine
    if isinstance(value, np.memmap) and value.ndim == 1:
        return "numpy_"
    is_chunks = callable(value) or (isinstance(value, Iterable) and not isinstance(value, Sized))
    if (is_chunks and not hasattr(value, "__array__")) or _is_list_of_arrays(value):
        return "chunks_"
    return None


def _is_list_of_arrays(value: object) -> bool:
    """Return whether a value is a list of one-dimensional arrays.

    To NumPy arrays of one length would be the rows of a matrix, but a matrix is no column.
    """
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(getattr(part, "ndim", 0) == 1 for part in value)
