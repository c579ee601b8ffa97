"""NumPy: arrays that are mapped from a file, or larger than one would want to sort."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from boundshift.streaming.chunk import Chunk
from boundshift.streaming.sources.columns import check_lengths, check_one_dimensional
from boundshift.streaming.sources.local import PartSource

__all__ = ["from_arrays"]

_ROWS = 1 << 20


def from_arrays(y_true: Any, y_score: Any) -> PartSource:
    """Return the source of two arrays, a million rows a part."""
    y, s = np.asanyarray(y_true), np.asanyarray(y_score)
    check_one_dimensional(y_score=s.shape, y_true=y.shape)
    check_lengths(len(y), len(s))
    starts = range(0, len(s), _ROWS)
    return PartSource([partial(_rows, y, s, start) for start in starts])


def _rows(y: Any, s: Any, start: int) -> list[Chunk]:
    """Return some rows, read now."""
    rows = slice(start, start + _ROWS)
    place = f"rows {start} to {min(start + _ROWS, len(s)) - 1}"
    return [Chunk(np.asarray(y[rows]), np.asarray(s[rows]), place)]
