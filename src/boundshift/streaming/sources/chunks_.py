"""Iterables of chunks: lists of arrays, objects that can be iterated again, or functions.

Every pass must see the same rows, so a generator, which can be read once only, is refused.
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
    _refuse_iterator("y_true", y_true)
    _refuse_iterator("y_score", y_score)

    def chunks() -> Iterator[Chunk]:
        pairs = zip_longest(_iterate(y_true), _iterate(y_score), fillvalue=())
        for i, (labels, scores) in enumerate(pairs):
            yield as_chunk(labels, scores, f"chunk {i}")

    return ChunkSource(chunks)


def from_pairs(pairs: Any) -> ChunkSource:
    """Return the source of pairs (labels, scores)."""
    _refuse_iterator("data", pairs)

    def chunks() -> Iterator[Chunk]:
        for i, pair in enumerate(_iterate(pairs)):
            labels, scores = pair
            yield as_chunk(labels, scores, f"chunk {i}")

    return ChunkSource(chunks)


def _iterate(chunks: Any) -> Iterable[Any]:
    """Return all chunks, from the first on."""
    iterable: Iterable[Any] = chunks() if callable(chunks) else chunks
    return iterable


def _refuse_iterator(name: str, chunks: object) -> None:
    """Raise for an iterator, which can be read once only."""
    if isinstance(chunks, Iterator):
        raise InvalidInputError(
            f"`{name}` must give the same chunks in every pass, got "
            f"{type(chunks).__name__!r}, which can be read once. Pass a list, or a function that "
            "makes the chunks again, for example `lambda: read_chunks(path)`."
        )
