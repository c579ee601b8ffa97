"""Where a result was computed."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Any

import boundshift

__all__ = ["environment"]


def environment(*more: str) -> dict[str, Any]:
    """Return the versions of Python and of the libraries that compute, and the kind of machine.

    Parameters
    ----------
    *more : str
        Further libraries.

    Examples
    --------
    >>> "pandas" in environment("pandas")
    True
    """
    return {
        "boundshift": boundshift.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", *more)},
        "machine": platform.machine(),
        "system": platform.system(),
        "processors": os.cpu_count(),
    }
