"""Memory that each thread keeps for the arithmetic on a few rows at a time."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["scratch"]


class _ScratchBuffers(threading.local):
    """Room for some rows, kept by each thread: fresh memory costs more than the arithmetic."""

    def __init__(self) -> None:
        self._rooms: dict[str, NDArray[Any]] = {}

    def of(self, name: str, n: int, kind: type = np.float64) -> NDArray[Any]:
        """Return room for n values of a kind, the same for each name."""
        room = self._rooms.get(name)
        if room is None or len(room) < n:
            room = self._rooms[name] = np.empty(n, kind)
        return room[:n]


scratch = _ScratchBuffers()
