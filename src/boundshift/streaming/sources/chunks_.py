"""Iterables of chunks: lists of arrays, objects that iterate anew, functions that make iterators.

Every pass must see the same rows, so a generator, which runs once, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.sources.columns import as_chunk
from boundshift.streaming.sources.local import ChunkSource

__all__ = ["from_arrays", "from_pairs"]


def from_arrays(y_true: Any, y_score: Any) -> ChunkSource:
    """Return the source of chunks of labels and chunks of scores."""
    _check_again("y_true", y_true)
    _check_again("y_score", y_score)

    def chunks() -> Iterator[Chunk]:
        pairs = zip_longest(_iterate(y_true), _iterate(y_score), fillvalue=())
        for i, (labels, scores) in enumerate(pairs):
            yield as_chunk(labels, scores, f"chunk {i}")

    return ChunkSource(chunks)


def from_pairs(pairs: Any) -> ChunkSource:
    """Return the source of pairs (labels, scores)."""
    _check_again("data", pairs)

    def chunks() -> Iterator[Chunk]:
        for i, pair in enumerate(_iterate(pairs)):
            labels, scores = pair
            yield as_chunk(labels, scores, f"chunk {i}")

    return ChunkSource(chunks)


def _iterate(chunks: Any) -> Iterable[Any]:
    """Return the chunks from the first on."""
    made: Iterable[Any] = chunks() if callable(chunks) else chunks
    return made


def _check_again(name: str, chunks: object) -> None:
    """Raise for an iterator, which can be read once only."""
    if isinstance(chunks, Iterator):
        raise InvalidInputError(
            f"`{name}` must give the same chunks in every pass, got "
            f"{type(chunks).__name__!r}, which can be read once. Pass a list, or a function that "
            "makes the chunks again, for example `lambda: read_chunks(path)`."
        )
