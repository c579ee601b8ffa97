"""A chunk of labelled scores: the unit in which data bigger than memory is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chunk", "Fault", "distinct_labels"]

# Labels of a chunk that are kept to be shown in an error; two are expected, more are a mistake.
_MOST_LABELS = 8
# Share of the rows up to which they are picked by their indices.
_MOST_BY_INDEX = 0.9


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some labelled rows.

    Parameters
    ----------
    labels : array of shape (n,)
        The label of each row, or its index in `categories`.
    scores : array of shape (n,), or (n, k)
        Real scores, one a row or one for each class; NaN where missing.
    location : str
        What an error message calls this chunk, for example "partition 3".
    categories : tuple, default=None
        The labels for which the whole numbers in `labels` stand; -1 stands for a missing label.
    weights : array of shape (n,), default=None
        How often each row counts; None for once.
    groups : array of shape (n,), default=None
        The index of each row's group in `group_names`; -1 stands for a missing one.
    group_names : tuple, default=()
        The groups.
    """

    labels: NDArray[Any]
    scores: NDArray[Any]
    location: str
    categories: tuple[Any, ...] | None = None
    weights: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    group_names: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, which: slice | NDArray[Any]) -> Chunk:
        """Return some of the rows."""
        return replace(
            self,
            labels=self.labels[which],
            scores=self.scores[which],
            weights=None if self.weights is None else self.weights[which],
            groups=None if self.groups is None else self.groups[which],
        )

    def counted(self) -> Chunk:
        """Return the rows whose weight is not 0."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def of(self, label: object) -> Chunk:
        """Return the rows of a class; their labels, which would only repeat it, are not kept."""
        return self._where(self.mask_of(label))

    def split(self, labels: tuple[Any, ...]) -> list[tuple[Any, Chunk]] | None:
        """Return the rows of each of some classes; None if there are others, or if they have none.

        Classes without rows are left out.
        """
        masks = [self.mask_of(label) for label in labels]
        counts = [int(np.count_nonzero(mask)) for mask in masks]
        if sum(counts) != len(self):
            return None
        found = zip(labels, masks, counts, strict=True)
        return [(label, self._where(mask)) for label, mask, count in found if count]

    def _where(self, mask: NDArray[np.bool_]) -> Chunk:
        """Return the rows of a mask without their labels."""
        count = int(np.count_nonzero(mask))
        # A mask is fast where nearly all rows are taken, and slow where they come by chance.
        by_mask = count > _MOST_BY_INDEX * len(mask)
        which = mask if by_mask else np.flatnonzero(mask)
        weights = self.weights
        return Chunk(
            np.broadcast_to(np.int8(0), count),
            self.scores if count == len(mask) else self.scores[which],
            self.location,
            weights=weights if weights is None or count == len(mask) else weights[which],
        )

    def mask_of(self, label: object) -> NDArray[np.bool_]:
        """Return whether each row has a label."""
        if self.categories is None:
            return np.asarray(self.labels == label, dtype=np.bool_)
        codes = [code for code, category in enumerate(self.categories) if category == label]
        return np.isin(self.labels, codes) if len(codes) != 1 else self.labels == codes[0]


@dataclass(frozen=True, order=True)
class Fault:
    """How many rows of a chunk cannot be used, by which column, and why, such as "NaN"."""

    location: str
    kind: str
    count: int
    column: str = "y_score"


def distinct_labels(chunk: Chunk) -> tuple[list[Any], int]:
    """Return the first few distinct labels of a chunk, and how many rows have none.

    Examples
    --------
    >>> distinct_labels(Chunk(np.array([0, 1, 1]), np.zeros(3), "all"))
    ([0, 1], 0)
    """
    y, categories = chunk.labels, chunk.categories
    if categories is not None:
        seen = np.flatnonzero(np.bincount(y[y >= 0], minlength=len(categories)))
        return [categories[code] for code in seen[:_MOST_LABELS]], int(np.count_nonzero(y < 0))
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
        if np.count_nonzero(y == low) + np.count_nonzero(y == high) == len(y) * (1 + (low == high)):
            return np.unique([low, high]).tolist(), 0
    missing = np.array([v is None for v in y]) if y.dtype.kind == "O" else np.zeros(len(y), bool)
    missing |= np.asarray(y != y, dtype=np.bool_)
    return np.unique(y[~missing])[:_MOST_LABELS].tolist(), int(np.count_nonzero(missing))
