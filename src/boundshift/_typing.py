"""The words of annotations: arrays, labels, rows and models.

Some are Any to mypy, since no type covers what users pass. Their names say what is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BoolArray", "Counts", "Facts", "FloatArray", "IndexArray", "IntArray", "Label", "LabelArray",
    "Model", "Parameters", "RandomState", "Rows", "Splitter", "Splitting",
]  # fmt: skip

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
IntArray = NDArray[np.int64]
Counts = NDArray[np.int64 | np.float64]
"""Numbers of rows, or sums of their weights."""
Label: TypeAlias = Any
"""The name of a class or a group: a word, a number, a boolean; it can be hashed and sorted."""
LabelArray = NDArray[Any]
"""A label for each row, or an id for each row."""
Parameters: TypeAlias = Mapping[str, Any]
"""Arguments by name, as `fit` passes them on."""
RandomState: TypeAlias = int | np.random.RandomState | None
Rows: TypeAlias = Any
"""Rows that a model takes: an array, a sparse matrix, a frame, a list or a tensor."""
Model: TypeAlias = Any
"""What scores rows: an estimator, a Booster, a network of PyTorch or a function."""


class Splitter(Protocol):
    """A cross-validation splitter of scikit-learn."""

    def split(
        self, X: Rows, y: LabelArray | None = None, groups: LabelArray | None = None
    ) -> Iterator[tuple[IndexArray, IndexArray]]:
        """Yield the places of the rows to train on and of those to test."""
        ...


Splitting: TypeAlias = int | str | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None
"""What a `cv` may be."""
Facts: TypeAlias = dict[str, Any]
"""Plain values that JSON can hold, by name."""
