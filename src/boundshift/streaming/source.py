"""Where rows come from: what every library's reader offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from boundshift.streaming.chunk import Chunk
from boundshift.streaming.request import Look
from boundshift.streaming.tally import Tally

__all__ = ["Show", "Source"]

Show = Callable[[int, int], None]
"""Called with the parts done, and all parts."""


class Source(Protocol):
    """Labelled scores that are read in passes, the same rows each time."""

    def peek(self) -> Iterable[Chunk]:
        """Return a few rows, for a first idea of the range; none is an answer too."""

    def run(self, look: Look, show: Show) -> Tally:
        """Look at every row; call `show` with chunks done and all chunks."""
