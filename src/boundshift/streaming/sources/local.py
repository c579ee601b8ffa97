"""Reading on this machine: on all cores, a few parts at a time, tallies merged in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from boundshift.streaming.chunk import Chunk
from boundshift.streaming.source import OnProgress, Request

__all__ = ["PEEKED_ROWS", "ChunkSource", "Part", "PartSource", "from_rows"]

Part = Callable[[], Iterable[Chunk]]

_ROWS_OF_A_PART = 1 << 20

PEEKED_ROWS = 1 << 16


class PartSource:
    """Parts that can be read one without the other, in any order and on any thread.

    Parameters
    ----------
    parts : sequence of callables
        Each returns the chunks of one part.
    is_weighted : bool, default=False
        Whether rows have weights.
    beginnings : sequence of callables, default=None
        Each returns the first rows of a part, if that takes less than to read it.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        is_weighted: bool = False,
        beginnings: Sequence[Part] | None = None,
    ) -> None:
        self._parts, self.is_weighted = parts, is_weighted
        self._beginnings = parts if beginnings is None else beginnings

    def peek(self) -> list[Chunk]:
        """Return rows from the first, the middle and the last part."""
        last = len(self._parts) - 1
        which = sorted({0, last // 2, last}) if last >= 0 else []
        first = (next(iter(self._beginnings[i]()), None) for i in which)
        return [chunk.take(slice(PEEKED_ROWS)) for chunk in first if chunk is not None]

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        tasks = (lambda part=part: request.tally(part()) for part in self._parts)
        return _merge_in_order(tasks, request.tally(()), len(self._parts), on_progress)


def from_rows(n: int, read: Callable[[slice, str], Chunk], is_weighted: bool = False) -> PartSource:
    """Return the source of n rows of which any slice can be read, a million rows a part.

    Parameters
    ----------
    n : int
        Number of rows.
    read : callable
        From a slice of the rows, and what an error calls them, to their chunk.
    is_weighted : bool, default=False
        Whether rows have weights.
    """

    def part(start: int) -> list[Chunk]:
        stop = min(start + _ROWS_OF_A_PART, n)
        return [read(slice(start, stop), f"rows {start} to {stop - 1}")]

    starts = range(0, n, _ROWS_OF_A_PART)
    return PartSource([partial(part, start) for start in starts], is_weighted)


class ChunkSource:
    """Chunks that can only be read one after the other.

    Parameters
    ----------
    chunks : callable
        Returns an iterator over all chunks, the same ones each time.
    is_weighted : bool, default=False
        Whether rows have weights.
    """

    def __init__(self, chunks: Callable[[], Iterator[Chunk]], is_weighted: bool = False) -> None:
        self._chunks, self.is_weighted = chunks, is_weighted

    def peek(self) -> list[Chunk]:
        """Return rows of the first chunk that has any."""
        first = next((chunk for chunk in self._chunks() if len(chunk)), None)
        return [] if first is None else [first.take(slice(PEEKED_ROWS))]

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        tasks = (lambda chunk=chunk: request.tally([chunk]) for chunk in self._chunks())
        return _merge_in_order(tasks, request.tally(()), 0, on_progress)


def _merge_in_order(
    tasks: Iterable[Callable[[], Any]], tally: Any, total: int, on_progress: OnProgress
) -> Any:
    """Run tasks on all cores, a few ahead of the merging, and merge their tallies in order."""
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    done = 0
    waiting: deque[Future[Any]] = deque()

    def merge(found: Any) -> None:
        nonlocal done
        tally.merge(found)
        done += 1
        on_progress(done, max(total, done))

    def merge_first() -> None:
        merge(waiting.popleft().result())

    if total == 1 or workers == 1:
        # A thread of its own would have to fetch memory anew, in every pass.
        for task in tasks:
            merge(task())
        return tally
    with ThreadPoolExecutor(workers) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(task))
                if len(waiting) > 2 * (workers or 1):
                    merge_first()
            while waiting:
                merge_first()
        finally:
            for future in waiting:
                future.cancel()
    return tally
