"""A word that changes with the code, so that what it decided need not be decided again."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import scipy

import boundshift
import lab

__all__ = ["source_digest"]


@cache
def source_digest() -> str:
    """Return a digest of all source of package and laboratory, and of the versions computed with.

    Examples
    --------
    >>> len(source_digest())
    12
    """
    digest = hashlib.sha256(f"numpy {np.__version__} scipy {scipy.__version__}".encode())
    for package in (boundshift, lab):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(path.relative_to(root.parent).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
