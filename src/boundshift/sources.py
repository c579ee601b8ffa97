"""Which engine reads what is given, found by name so that no library is imported for nothing.

A file beside this one in :mod:`boundshift.engines` offers two functions: ``is_native(value)``,
whether it reads such a value, asked only where the value's library is the file's own, and
``from_arrays(y_true, y_score)``, the source of a pair of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.passes import Source

__all__ = ["find_source"]

_LIBRARIES = {
    "dask": "dask_",
    "dask_expr": "dask_",
    "pyarrow": "arrow_",
    "pyspark": "spark_",
}


def find_source(y_true: object, y_score: object) -> Source | None:
    """Return the source of labels and scores that are read in passes, None for those in memory.

    Examples
    --------
    >>> find_source([0, 1], [0.5, 0.7]) is None
    True
    """
    engines = {_engine_of(value) for value in (y_true, y_score)}
    if engines == {None}:
        return None
    if len(engines) > 1:
        names = [type(value).__name__ for value in (y_true, y_score)]
        raise InvalidInputError(
            f"`y_true` and `y_score` must be of one kind, got {names[0]} and {names[1]}. "
            "Convert one of them."
        )
    module: Any = import_module(f"boundshift.engines.{engines.pop()}")
    source: Source = module.from_arrays(y_true, y_score)
    return source


def _engine_of(value: object) -> str | None:
    """Return the name of the engine that reads a value, None if it is in memory."""
    library = type(value).__module__.partition(".")[0]
    if library in _LIBRARIES:
        return _LIBRARIES[library]
    if isinstance(value, np.memmap) and value.ndim == 1:
        return "numpy_"
    if isinstance(value, Iterator | Callable) and not hasattr(value, "__array__"):  # type: ignore[arg-type]
        return "chunks_"
    if _is_list_of_arrays(value):
        return "chunks_"
    return None


def _is_list_of_arrays(value: object) -> bool:
    """Return whether a value is a sequence of one-dimensional arrays."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not len(value):
        return False
    return all(getattr(part, "ndim", 0) == 1 for part in value)
