"""The data sets of the suite, the halves that they fall into, and how one is split."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from boundshift.app.columns import as_features, choose_columns
from boundshift.app.tables import read_frame, read_target
from boundshift.exceptions import InvalidInputError
from boundshift.typing import FloatArray, IntArray
from boundshift.validation import as_choice
from lab.data.common import CommonDataset, fetch_common, list_common

HalfChoice = Literal["choose", "report", "both"]

MOST_ROWS = 6000
TEST_SHARE = 0.5
HELD_SHARE = 0.25
MOST_COMMON = 1000
# What the fitted scores depend on besides the model and the seed.
SETTINGS = {
    "rows": MOST_ROWS,
    "test": TEST_SHARE,
    "held": HELD_SHARE,
    "folds": 5,
    "common rows beside few rare ones": MOST_COMMON,
}
# What stands for the half of a table of the reader's own.
OWN = "own"
# Rows of the rarer class of such a table: half of them train, in five folds, and half test.
LEAST_RARE = 20


class Rows(NamedTuple):
    """Features, with NaN where a value is missing, and labels; 1 is the minority."""

    X: FloatArray
    y: IntArray

    def take(self, positions: NDArray[np.intp]) -> Rows:
        """Return some rows."""
        return Rows(self.X[positions], self.y[positions])


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


@cache
def _halves() -> dict[str, str]:
    """Return the half of each family: one to choose defaults on, one to report them on, once.

    The list was drawn before any method was compared: families in the order of their minority
    rows, and of every two neighbours a coin sent one to each half. It stays.
    """
    text = Path(__file__).with_name("halves.json").read_text(encoding="utf-8")
    return {family: half for half, families in json.loads(text).items() for family in families}


def half_of(family: str) -> str:
    """Return the half that a family was drawn into.

    Examples
    --------
    >>> half_of("yeast")
    'choose'
    """
    return _halves()[family]


def in_half(family: str, half: HalfChoice) -> bool:
    """Say whether a family is in a half, or wanted anyway."""
    as_choice("half", half, get_args(HalfChoice))
    return half in ("both", half_of(family))


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
    return rows.take(np.sort(kept))


def split(rows: Rows, seed: int, rare: int = 0) -> Split:
    """Draw half of the rows for training, stratified, and a quarter of these to be held out.

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
    held = train_test_split(
        np.arange(len(train)), test_size=HELD_SHARE, stratify=rows.y[train], random_state=seed
    )[1]
    return Split(rows.take(train), rows.take(test), np.sort(held))


@dataclass(frozen=True)
class OwnData:
    """A table of the reader's own: its entry beside the public sets, its rows, and their digest.

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

    `positive` is the rare class of the column `target`, None the rarer of two; `taken` are names
    of tables read before. Raises InvalidInputError where the table cannot be compared on.
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
    features = as_features(kept, columns)
    # Numbers as they are, gaps as NaN, and one column of 0 and 1 for each category.
    parts = [np.asarray(features[each], dtype=np.float64) for each in columns.numbers]
    for each in columns.categories:
        words = np.asarray(features[each].astype(object).where(features[each].notna(), "missing"))
        words = words.astype(str)
        parts += [(words == word).astype(np.float64) for word in np.unique(words)]
    rows = sample_down(Rows(np.stack(parts, axis=1), y))
    rare, n = int(rows.y.sum()), len(rows.y)
    entry = CommonDataset(name, "binary", name, n, rows.X.shape[1], 2, rare, (n - rare) / rare)
    digest = hashlib.sha256(rows.X.tobytes() + rows.y.tobytes()).hexdigest()[:10]
    left_out = tuple((each, why.value) for each, why in columns.left_out.items())
    return OwnData(entry, rows, digest, left_out)
