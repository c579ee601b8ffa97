"""Nodes at which scores that are read in passes are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.typing import FloatArray, IntArray

__all__ = ["Binning"]


@dataclass(frozen=True)
class Binning:
    """Nodes at equal distances; a score counts at its two neighbours by its nearness to them.

    Parameters
    ----------
    low, high : float
        First node, and the score beyond which all count as that one.
    cell : float
        Distance of the nodes.
    sign : {1, -1}, default=1
        -1 for scores whose sign is to be changed first.
    """

    low: float
    high: float
    cell: float
    sign: int = 1

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(np.floor((self.high - self.low) / self.cell)) + 2

    def count(self, scores: FloatArray, times: IntArray | None = None) -> FloatArray:
        """Return how much of the scores, each met some times, counts at each node.

        Examples
        --------
        >>> Binning(0.0, 2.0, 1.0).count(np.array([0.0, 0.25, 9.0])).tolist()
        [1.75, 0.25, 1.0, 0.0]
        """
        return self.count_offsets(self.sign * scores - self.low, times)

    def count_offsets(self, offset: FloatArray, times: IntArray | None = None) -> FloatArray:
        """Return the same for scores given by their offsets from the first node."""
        place, left = np.array(offset, dtype=np.float64), np.empty(len(offset), np.int64)
        self.put_nodes(place, left)
        return self.spread(
            np.bincount(left, times, self.size),
            np.bincount(left, place if times is None else place * times, self.size),
        )

    def put_nodes(self, offset: FloatArray, nodes: IntArray) -> None:
        """Write the number of the node below each score, and over its offset the rest, in cells."""
        np.clip(offset, 0.0, self.high - self.low, out=offset)
        offset /= self.cell
        np.copyto(nodes, offset, casting="unsafe")
        offset -= nodes

    def spread(self, counts: NDArray[Any], shares: NDArray[Any]) -> FloatArray:
        """Return what counts at each node, from the scores between it and the next.

        Parameters
        ----------
        counts, shares : arrays of shape (size,)
            Number of these scores, and the sum of their distances from the node, in cells.
        """
        at_nodes = counts - shares
        at_nodes[1:] += shares[:-1]
        return np.asarray(at_nodes)

    @property
    def nodes(self) -> FloatArray:
        """Nodes and the end of the last cell, as scores in ascending order."""
        nodes = np.append(self.low + self.cell * np.arange(self.size - 1), self.high)
        return nodes if self.sign > 0 else -nodes[::-1]

    def mirrored(self) -> Binning:
        """Return the same nodes for scores whose sign is changed."""
        return Binning(self.low, self.high, self.cell, -self.sign)
