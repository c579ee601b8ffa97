"""Iterables of chunks: lists of arrays, objects that can be iterated again, or functions.

Every pass must see the same rows, so a generator, which can be read once only, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.source import ColumnNames
from boundshift.streaming.sources.columns import as_chunk
from boundshift.streaming.sources.local import ChunkSource

__all__ = ["from_arrays", "from_pairs"]


def from_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> ChunkSource:
    """Return the source of chunks of labels, chunks of scores, and chunks of weights if any."""
    given = {"y_true": y_true, "y_score": y_score}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    for name, value in given.items():
        _refuse_iterator(name, value)

    def chunks() -> Iterator[Chunk]:
        rows = zip_longest(*map(_iterate, given.values()), fillvalue=())
        for i, (labels, scores, *weights) in enumerate(rows):
            yield as_chunk(labels, (scores,), f"chunk {i}", *weights)

    return ChunkSource(chunks, is_weighted=sample_weight is not None)


def from_pairs(pairs: Any, names: ColumnNames) -> ChunkSource:
    """Return the source of pairs (labels, scores), or of triples with weights or groups.

    Parameters
    ----------
    pairs : iterable, or function that makes one
        With several columns of scores, each has a matrix of them.
    names : ColumnNames
        With groups, the third of a triple are these; else weights.
    """
    _refuse_iterator("data", pairs)
    has_groups, several = names.by is not None, isinstance(names.score, tuple)
    first = next(iter(_iterate(pairs)), ())
    items = len(first) if first else 2
    n_columns = np.shape(first[1])[-1] if first and several and np.ndim(first[1]) else 0
    if items != 3 if has_groups else items not in (2, 3):
        kind = "triples (labels, scores, groups)" if has_groups else "pairs (labels, scores)"
        raise InvalidInputError(f"`data` must be {kind}, got {items} items in one.")

    def chunks() -> Iterator[Chunk]:
        for i, (labels, scores, *more) in enumerate(_iterate(pairs)):
            if len(more) != items - 2:
                raise InvalidInputError(
                    f"`data` must have as many items in each chunk, got {items} in the first and "
                    f"{2 + len(more)} in chunk {i}."
                )
            columns = _columns(scores, n_columns) if several else (scores,)
            beside = {"groups" if has_groups else "weights": more[0]} if more else {}
            yield as_chunk(labels, columns, f"chunk {i}", **beside)

    return ChunkSource(chunks, is_weighted=items == 3 and not has_groups)


def _columns(scores: Any, count: int) -> Sequence[Any]:
    """Return the columns of a matrix of scores."""
    matrix = np.asanyarray(scores)  # a mask stays, and is refused
    if matrix.ndim != 2 or matrix.shape[1] != count:
        raise InvalidInputError(
            f"Scores must be matrices with {count} columns, one for each class, got the shape "
            f"{matrix.shape}."
        )
    return tuple(matrix.T)


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
