"""NumPy: arrays that are mapped from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from boundshift.streaming.chunk import Chunk
from boundshift.streaming.sources.columns import check_lengths, check_one_dimensional
from boundshift.streaming.sources.local import PartSource, from_rows

__all__ = ["from_arrays"]


def from_arrays(y_true: Any, y_score: Any) -> PartSource:
    """Return the source of two arrays, one of which may be in memory."""
    y, s = np.asanyarray(y_true), np.asanyarray(y_score)
    check_one_dimensional(y_score=s.shape, y_true=y.shape)
    check_lengths(len(y), len(s))
    # A plain array of a slice: its rows are read now, and not again with every operation.
    return from_rows(
        len(s),
        lambda rows, location: Chunk(np.asarray(y[rows]), np.asarray(s[rows]), location),
    )
