"""Reading on this machine: some threads, a few parts at a time, results merged in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from boundshift.streaming.chunk import Chunk
from boundshift.streaming.request import Look
from boundshift.streaming.source import Show
from boundshift.streaming.tally import Tally

__all__ = ["ChunkSource", "PartSource"]

Part = Callable[[], Iterable[Chunk]]

_PEEKED = 1 << 16


class PartSource:
    """Parts that can be read on their own, in any order and on any thread.

    Parameters
    ----------
    parts : sequence of callables
        Each returns its chunks.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts

    def peek(self) -> list[Chunk]:
        """Return rows from the first, the middle and the last part."""
        last = len(self._parts) - 1
        which = sorted({0, last // 2, last}) if last >= 0 else []
        first = (next(iter(self._parts[i]()), None) for i in which)
        return [chunk.rows(0, _PEEKED) for chunk in first if chunk is not None]

    def run(self, look: Look, show: Show) -> Tally:
        """Look at every row."""
        tasks = (lambda part=part: look.read(part()) for part in self._parts)
        return _merge_in_order(tasks, len(self._parts), show)


class ChunkSource:
    """Chunks that come one after the other.

    Parameters
    ----------
    chunks : callable
        Returns an iterator over all chunks, the same ones each time.
    """

    def __init__(self, chunks: Callable[[], Iterator[Chunk]]) -> None:
        self._chunks = chunks

    def peek(self) -> list[Chunk]:
        """Return rows of the first chunk that has any."""
        first = next((chunk for chunk in self._chunks() if len(chunk)), None)
        return [] if first is None else [first.rows(0, _PEEKED)]

    def run(self, look: Look, show: Show) -> Tally:
        """Look at every row."""
        tasks = (lambda chunk=chunk: look.read([chunk]) for chunk in self._chunks())
        return _merge_in_order(tasks, 0, show)


def _merge_in_order(tasks: Iterable[Callable[[], Tally]], total: int, show: Show) -> Tally:
    """Run tasks on all cores, a few ahead of the merging, and merge in their order."""
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    tally, done = Tally(), 0
    waiting: deque[Future[Tally]] = deque()

    def merge_first() -> None:
        nonlocal done
        tally.merge(waiting.popleft().result())
        done += 1
        show(done, max(total, done))

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
