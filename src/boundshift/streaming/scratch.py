"""Memory that each thread keeps for the arithmetic on a few rows at a time."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["scratch"]


class _ScratchBuffers(threading.local):
    """Arrays that each thread uses again: fresh memory costs more than the arithmetic."""

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[Any]] = {}

    def get(self, name: str, n: int, kind: type = np.float64) -> NDArray[Any]:
        """Return n values to be overwritten, in the memory that this name had before."""
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < n:
            buffer = self._buffers[name] = np.empty(n, kind)
        return buffer[:n]


scratch = _ScratchBuffers()
