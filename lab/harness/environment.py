"""Where a result was computed."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import version
from typing import Any

import boundshift

__all__ = ["describe_environment", "environment"]


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


@cache
def describe_environment() -> str:
    """Return the same in a line, for a column of tidy rows.

    Examples
    --------
    >>> describe_environment().split("; ")[0].split()[0]
    'boundshift'
    """
    known = environment()
    del known["processors"]  # The only one that no number depends on.
    return "; ".join(f"{name} {value}" for name, value in known.items())
