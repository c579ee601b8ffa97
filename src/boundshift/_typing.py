"""The arrays and rows that annotations name."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray", "FloatArray", "IndexArray", "IntArray", "Rows"]

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
IntArray = NDArray[np.int64]
Rows: TypeAlias = Any
"""Rows that a model takes: an array, a sparse matrix, a frame, a list or a tensor."""
