"""Where rows come from: what the reader of every library offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from boundshift.streaming.chunk import Chunk
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.tally import Tally

__all__ = ["OnProgress", "Progress", "Source"]

OnProgress = Callable[[int, int], None]
"""Called with the number of parts read, and of all parts."""

Progress = Callable[[str, int, int], None]
"""Called with the name of the pass, the number of parts read, and of all parts."""


class Source(Protocol):
    """Labelled scores that are read in passes, the same rows in each."""

    def peek(self) -> Iterable[Chunk]:
        """Return a few rows, for a first idea of the range of the scores; there may be none."""

    def scan(self, request: ScanRequest, on_progress: OnProgress) -> Tally:
        """Read every row once, and return what was asked for."""
