"""Runs of whole numbers, cut finer and finer by a branch-and-bound search."""

from __future__ import annotations

import numpy as np

from boundshift.typing import IntArray

__all__ = ["cut_runs"]


def cut_runs(first: IntArray, last: IntArray, fan: int) -> tuple[IntArray, IntArray]:
    """Cut runs of whole numbers into shorter ones: about `fan` altogether, at least into eight.

    Examples
    --------
    >>> first, last = cut_runs(np.array([0, 20]), np.array([9, 20]), fan=8)
    >>> list(zip(first.tolist(), last.tolist()))
    [(0, 0), (1, 1), (2, 2), (3, 4), (5, 5), (6, 6), (7, 7), (8, 9), (20, 20)]
    """
    width = last - first + 1
    pieces = np.clip(width, 0, max(8, fan // max(len(first), 1)))
    owner = np.repeat(np.arange(len(first)), pieces)
    piece = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = first[owner] + piece * width[owner] // pieces[owner]
    ends = first[owner] + (piece + 1) * width[owner] // pieces[owner] - 1
    return starts, ends
