"""NumPy: arrays that are mapped from a file."""

from __future__ import annotations

from typing import Any

from boundshift.streaming.chunk import Chunk
from boundshift.streaming.sources.columns import as_chunk, check_lengths
from boundshift.streaming.sources.local import PartSource, from_rows
from boundshift.validation import as_column

__all__ = ["from_arrays"]


def from_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> PartSource:
    """Return the source of arrays, some of which may be in memory."""
    cure = "Pass one value for each row."
    y, s = as_column("y_true", y_true, cure), as_column("y_score", y_score, cure)
    check_lengths(len(y), len(s))
    w = None if sample_weight is None else as_column("sample_weight", sample_weight, cure, len(s))

    def read(rows: slice, location: str) -> Chunk:
        return as_chunk(y[rows], (s[rows],), location, None if w is None else w[rows])

    return from_rows(len(s), read, is_weighted=w is not None)
