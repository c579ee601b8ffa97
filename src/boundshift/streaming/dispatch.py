"""Which engine reads what is given, found by name so that no library is imported for nothing.

A file in :mod:`boundshift.streaming.sources` offers ``from_arrays(y_true, y_score)``, the source
of a pair of its library's own values, and ``predict(column, threshold, labels)`` where columns are
lazy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming.source import Source

__all__ = ["find_predictor", "find_source", "open_source"]

_LIBRARIES = {
    "dask": "dask_",
    "dask_expr": "dask_",
    "pyarrow": "arrow_",
    "pyspark": "spark_",
}
_PREDICT = {"dask", "dask_expr", "pyspark"}


def find_source(y_true: object, y_score: object) -> Source | None:
    """Return the source of labels and scores that are read in passes, None for those in memory.

    Examples
    --------
    >>> find_source([0, 1], [0.5, 0.7]) is None
    True
    """
    engines = {_engine_of(value) for value in (y_true, y_score)}
    if engines <= {None, "arrow_"} and None in engines:
        return None
    if engines == {None, "numpy_"}:
        engines = {"numpy_"}
    if len(engines) > 1:
        names = [type(value).__name__ for value in (y_true, y_score)]
        raise InvalidInputError(
            f"`y_true` and `y_score` must be of one kind, got {names[0]} and {names[1]}. "
            "Convert one of them."
        )
    module: Any = import_module(f"boundshift.streaming.sources.{engines.pop()}")
    source: Source = module.from_arrays(y_true, y_score)
    return source


def open_source(data: Any, label: str, score: str, element: int = -1) -> Source:
    """Return the source of two columns."""
    library = type(data).__module__.partition(".")[0]
    source: Source
    if library == "pyspark":
        source = _engine("spark_", "pyspark").from_frame(data, label, score, element)
    elif library in ("dask", "dask_expr"):
        source = _engine("dask_", "dask").from_frame(data, label, score)
    elif library == "pyarrow":
        source = _engine("arrow_", "pyarrow").from_table(data, label, score)
    elif isinstance(data, str | PathLike) or _is_list_of_paths(data):
        source = _engine("files_", "pyarrow").from_columns(data, label, score)
    elif callable(data) or (hasattr(data, "__iter__") and not hasattr(data, "columns")):
        source = _engine("chunks_", "numpy").from_pairs(data)
    else:
        raise InvalidInputError(
            "`data` must be files, a Spark, Dask or Arrow frame, or an iterable of pairs, got "
            f"{type(data).__name__}. For columns in memory use boundshift.find_boundary."
        )
    return source


_EXTRAS = {"pyspark": "spark", "dask": "dask", "pyarrow": "arrow"}


def _engine(name: str, library: str) -> Any:
    """Import an engine; say which extra brings its library."""
    try:
        return import_module(f"boundshift.streaming.sources.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise MissingExtraError(library, _EXTRAS[library]) from error


def _is_list_of_paths(data: object) -> bool:
    """Return whether a value is a list of names of files."""
    return (
        isinstance(data, list | tuple)
        and len(data) > 0
        and all(isinstance(item, str | PathLike) for item in data)
    )


def find_predictor(column: object) -> Callable[..., Any] | None:
    """Return what puts labels on a column of another library, None for scores in memory."""
    library = type(column).__module__.partition(".")[0]
    if library not in _PREDICT:
        return None
    predictor: Callable[..., Any] = import_module(
        f"boundshift.streaming.sources.{_LIBRARIES[library]}"
    ).predict
    return predictor


def _engine_of(value: object) -> str | None:
    """Return the name of the engine that reads a value, None if it is in memory."""
    library = type(value).__module__.partition(".")[0]
    if library in _LIBRARIES:
        return _LIBRARIES[library]
    if isinstance(value, np.memmap) and value.ndim == 1:
        return "numpy_"
    is_chunks = callable(value) or (isinstance(value, Iterable) and not isinstance(value, Sized))
    if (is_chunks and not hasattr(value, "__array__")) or _is_list_of_arrays(value):
        return "chunks_"
    return None


def _is_list_of_arrays(value: object) -> bool:
    """Return whether a value is a list of one-dimensional arrays of several lengths or kinds.

    A list of arrays of one length is a matrix to NumPy, and never was a column.
    """
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(getattr(part, "ndim", 0) == 1 for part in value)
