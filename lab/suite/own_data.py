"""A table of the reader's own, as a data set of the suite."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from boundshift.app.columns import Columns, as_features, choose_columns
from boundshift.app.fit import read_target
from boundshift.app.tables import read_frame
from boundshift.exceptions import InvalidInputError
from boundshift.typing import FloatArray, IntArray
from lab.data.common import CommonDataset
from lab.suite.data import Rows, sample_down

__all__ = ["LEAST_RARE", "OWN", "OwnData", "read_own"]

OWN = "own"
"""What stands for the half of a data set that is in neither."""

LEAST_RARE = 20
"""Rows of the rarer class: half of them train, in five folds, and half test."""


@dataclass(frozen=True)
class OwnData:
    """A table: its entry beside the public sets, its rows, and a digest of these.

    `left_out` says which columns no model learns from, and why.
    """

    entry: CommonDataset
    rows: Rows
    digest: str
    left_out: tuple[tuple[str, str], ...] = ()


def read_own(
    path: str | PathLike[str],
    target: str,
    positive: str | None = None,
    taken: Sequence[str] = (),
) -> OwnData:
    """Read a table as ``boundshift fit`` reads it; words become one column for each of them.

    Parameters
    ----------
    path : path-like
        CSV, TSV, Parquet, Feather or JSON lines.
    target : str
        The column to be predicted.
    positive : str, default=None
        The rare class as written in that column, all else being the other; None takes the rarer
        of two.
    taken : sequence of str
        Names of tables read before, which this one must not have.

    Raises
    ------
    InvalidInputError
        If the table cannot be read, has no such column or no two classes, or if the class named is
        not the rarer one or has fewer than 20 rows.
    """
    name = Path(path).stem
    if name in taken:
        raise InvalidInputError(
            f"`csv` must name files of different names, got '{name}' twice. Rename one of them."
        )
    frame = read_frame(Path(path))
    if target not in frame.columns:
        raise InvalidInputError(
            f"`target` must be a column of '{path}', got {target!r}. It has "
            f"{', '.join(map(repr, map(str, frame.columns)))}."
        )
    kept, y, labels = read_target(frame, target, positive)
    rare = int(y.sum())
    if 2 * rare > len(y):
        if positive is not None:
            raise InvalidInputError(
                f"`positive` must be the rarer class, got {labels[1]!r} with {rare} of {len(y)} "
                "rows. Name the other class, or none."
            )
        y, rare = 1 - y, len(y) - rare
    if rare < LEAST_RARE:
        raise InvalidInputError(
            f"'{path}' must have at least {LEAST_RARE} rows of the rarer class, got {rare}. Half "
            "of them train in five folds and half test; collect more."
        )
    columns = choose_columns(frame, target)
    rows = sample_down(Rows(_spread(as_features(kept, columns), columns), y))
    rare = int(rows.y.sum())
    entry = CommonDataset(
        name=name,
        kind="binary",
        family=name,
        n_samples=len(rows.y),
        n_features=rows.X.shape[1],
        n_classes=2,
        n_minority=rare,
        imbalance=(len(rows.y) - rare) / rare,
    )
    return OwnData(entry, rows, _digest(rows.X, rows.y), tuple(columns.left_out.items()))


def _spread(features: Any, columns: Columns) -> FloatArray:
    """Return numbers as they are, gaps as NaN, and one column of 0 and 1 for each category."""
    parts = [np.asarray(features[name], dtype=np.float64) for name in columns.of("number")]
    for name in columns.of("category"):
        words = np.asarray(features[name].astype(object).where(features[name].notna(), "missing"))
        words = words.astype(str)
        parts += [(words == word).astype(np.float64) for word in np.unique(words)]
    return np.stack(parts, axis=1)


def _digest(X: FloatArray, y: IntArray) -> str:
    """Return what tells these rows from others."""
    return hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()[:10]
