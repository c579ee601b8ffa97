"""A chunk of labelled scores: the unit in which data bigger than memory is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chunk", "Fault", "distinct_labels"]

# Labels of a chunk that are kept to be shown in an error; two are a problem, more are a mistake.
_MOST_LABELS = 8


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows.

    Parameters
    ----------
    labels : array of shape (n,)
        One label a row, or its place in `names`.
    scores : array of shape (n,)
        Real scores; NaN where missing.
    place : str
        What an error calls this chunk, for example "partition 3".
    names : tuple, default=None
        The labels that whole numbers in `labels` stand for, -1 for a missing one.
    """

    labels: NDArray[Any]
    scores: NDArray[Any]
    place: str
    names: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return len(self.scores)

    def rows(self, start: int, stop: int) -> Chunk:
        """Return some of the rows."""
        return Chunk(self.labels[start:stop], self.scores[start:stop], self.place, self.names)

    def take(self, which: NDArray[np.intp]) -> Chunk:
        """Return the rows at some places."""
        return Chunk(self.labels[which], self.scores[which], self.place, self.names)

    def where(self, label: object) -> NDArray[np.bool_]:
        """Return which rows have a label."""
        if self.names is None:
            return np.asarray(self.labels == label, dtype=np.bool_)
        codes = [code for code, name in enumerate(self.names) if name == label]
        return np.isin(self.labels, codes) if len(codes) != 1 else self.labels == codes[0]


@dataclass(frozen=True, order=True)
class Fault:
    """What is wrong with the rows of one chunk.

    Parameters
    ----------
    place : str
        The chunk.
    what : str
        Kind of value, for example "NaN".
    count : int
        How many rows.
    column : {"y_score", "y_true"}
        Where.
    """

    place: str
    what: str
    count: int
    column: str = "y_score"


def distinct_labels(chunk: Chunk) -> tuple[list[Any], int]:
    """Return the first few distinct labels of a chunk, and how many rows have none.

    Examples
    --------
    >>> distinct_labels(Chunk(np.array([0, 1, 1]), np.zeros(3), "all"))
    ([0, 1], 0)
    """
    y = chunk.labels
    if chunk.names is not None:
        seen = np.flatnonzero(np.bincount(y[y >= 0], minlength=len(chunk.names)))
        return [chunk.names[code] for code in seen[:_MOST_LABELS]], int(np.count_nonzero(y < 0))
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
        if np.count_nonzero(y == low) + np.count_nonzero(y == high) == len(y) * (1 + (low == high)):
            return np.unique([low, high]).tolist(), 0
    missing = np.array([v is None for v in y]) if y.dtype.kind == "O" else np.zeros(len(y), bool)
    missing |= np.asarray(y != y, dtype=np.bool_)
    return np.unique(y[~missing])[:_MOST_LABELS].tolist(), int(np.count_nonzero(missing))
