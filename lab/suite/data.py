"""The data sets of the suite, and how one is split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from boundshift.typing import FloatArray, IntArray
from lab.data.common import CommonDataset, fetch_common, list_common

__all__ = [
    "FOLDS",
    "MOST_ROWS",
    "SETTINGS",
    "Rows",
    "Split",
    "folds_of",
    "load_rows",
    "sample_down",
    "split",
    "suite_datasets",
]

MOST_ROWS = 6000
TEST_SHARE = 0.5
HELD_SHARE = 0.25
FOLDS = 5
MOST_COMMON = 1000
SETTINGS = {
    "rows": MOST_ROWS,
    "test": TEST_SHARE,
    "held": HELD_SHARE,
    "folds": FOLDS,
    "common rows beside few rare ones": MOST_COMMON,
}
"""What the fitted scores depend on besides the model and the seed."""


class Rows(NamedTuple):
    """Features, with NaN where a value is missing, and labels; 1 is the minority."""

    X: FloatArray
    y: IntArray


class Split(NamedTuple):
    """A training and a test part, and which training rows are held out of a second model."""

    train: Rows
    test: Rows
    held: NDArray[np.intp]


def suite_datasets() -> list[CommonDataset]:
    """Return all binary data sets with imbalance above 3 and at least 20 minority rows.

    Examples
    --------
    >>> sets = suite_datasets()
    >>> len(sets), len({entry.family for entry in sets})
    (75, 26)
    """
    return list_common("binary", min_imbalance=3.0, min_minority=20)


def load_rows(name: str) -> Rows:
    """Load a data set, of more than 6000 rows a sample."""
    return sample_down(Rows(*fetch_common(name, keep_missing=True, return_X_y=True)))


def sample_down(rows: Rows) -> Rows:
    """Keep a stratified sample of more than 6000 rows, always the same one."""
    if len(rows.y) <= MOST_ROWS:
        return rows
    kept, _ = train_test_split(
        np.arange(len(rows.y)), train_size=MOST_ROWS, stratify=rows.y, random_state=0
    )
    kept.sort()
    return Rows(rows.X[kept], rows.y[kept])


def split(rows: Rows, seed: int, rare: int = 0) -> Split:
    """Draw half of the rows for training, stratified, and a quarter of these to be held out.

    Parameters
    ----------
    rows : Rows
        The data set.
    seed : int
        Of the draw.
    rare : int, default=0
        Minority rows to keep in the training part, with at most 1000 of the majority; of one seed,
        fewer are among more. 0 keeps all rows.
    """
    train, test = train_test_split(
        np.arange(len(rows.y)), test_size=TEST_SHARE, stratify=rows.y, random_state=seed
    )
    if rare:
        train = _thinned(train, rows.y[train], rare, seed)
    held = train_test_split(
        np.arange(len(train)), test_size=HELD_SHARE, stratify=rows.y[train], random_state=seed
    )[1]
    return Split(
        Rows(rows.X[train], rows.y[train]), Rows(rows.X[test], rows.y[test]), np.sort(held)
    )


def _thinned(train: NDArray[np.intp], y: IntArray, rare: int, seed: int) -> NDArray[np.intp]:
    """Keep some rows of each class, in their order."""
    if int(np.sum(y == 1)) < rare:
        raise ValueError(f"The training part has fewer than {rare} minority rows.")
    order = np.random.default_rng(seed).permutation(len(train))
    parts = [order[y[order] == 0][:MOST_COMMON], order[y[order] == 1][:rare]]
    return np.asarray(train[np.sort(np.concatenate(parts))])


def folds_of(y: IntArray) -> IntArray:
    """Return each training row's fold: those of `BoundShiftClassifier` and scikit-learn's tuner."""
    fold = np.empty(len(y), dtype=np.int64)
    for number, (_, unseen) in enumerate(StratifiedKFold(FOLDS).split(y, y)):
        fold[unseen] = number
    return fold
