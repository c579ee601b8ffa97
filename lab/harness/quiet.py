"""Warnings that a row says better."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from boundshift.exceptions import BoundaryWarning

__all__ = ["quiet"]


@contextmanager
def quiet(category: type[Warning] = BoundaryWarning) -> Iterator[None]:
    """Ignore a kind of warning; by default those of boundaries, whose status says the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield
