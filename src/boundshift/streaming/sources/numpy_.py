"""NumPy: arrays that are mapped from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from boundshift.scores.weighted import check_weight_shape
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.sources.columns import as_chunk, check_lengths, check_one_dimensional
from boundshift.streaming.sources.local import PartSource, from_rows

__all__ = ["from_arrays"]


def from_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> PartSource:
    """Return the source of arrays, some of which may be in memory."""
    y, s = np.asanyarray(y_true), np.asanyarray(y_score)
    check_one_dimensional(y_score=s.shape, y_true=y.shape)
    check_lengths(len(y), len(s))
    w = None if sample_weight is None else np.asanyarray(sample_weight)
    if w is not None:
        check_weight_shape(w.shape, len(s))

    def read(rows: slice, location: str) -> Chunk:
        # Plain arrays of a slice: its rows are read now, and not again with every operation.
        weights = None if w is None else np.asarray(w[rows])
        return as_chunk(np.asarray(y[rows]), (np.asarray(s[rows]),), location, weights)

    return from_rows(len(s), read, is_weighted=w is not None)
