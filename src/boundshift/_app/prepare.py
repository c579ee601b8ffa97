"""From a table to rows that a model can learn from, and what is noticed on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundshift._app.columns import Columns, as_features, choose_columns, find_cluster
from boundshift._app.leakage import Suspect, find_suspects
from boundshift._app.tables import (
    Labels,
    drop_labels,
    note_unlabelled,
    positive_note,
    read_target,
    with_gaps,
)
from boundshift._tables import check_names
from boundshift._typing import IntArray
from boundshift.exceptions import InvalidInputError
from boundshift.report._evidence import check_levels

if TYPE_CHECKING:
    import pandas as pd

_FEW = 50
_LEAST_IDS = 10


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """The labelled rows of a table: features, classes, and what belongs together."""

    X: pd.DataFrame
    y: IntArray  # 1 is the positive class
    labels: Labels
    target: str
    columns: Columns
    groups: dict[str, NDArray[Any]]  # columns by which a report divides the rows
    together: IntArray  # the first row of those that stay on one side of a split, for each row
    cluster: str | None  # column of ids whose rows stay together, bounded as clusters
    suspects: tuple[Suspect, ...]  # columns that may give the target away
    remarks: tuple[str, ...]  # rows that are left out, are copies or belong together
    notes: tuple[str, ...]  # what else the user should know
    rest: tuple[str, ...] = ()  # labels that are one class against the positive one

    @property
    def ids(self) -> IntArray | None:
        """The first row of each row's id; None if rows are independent."""
        return None if self.cluster is None else self.together

    @property
    def y_labels(self) -> NDArray[Any]:
        """The label of each row."""
        return np.array(self.labels)[self.y]

    @property
    def n_samples(self) -> tuple[int, int]:
        """Rows of each class."""
        n_positive = int(self.y.sum())
        return len(self.y) - n_positive, n_positive

    def without_suspects(self) -> PreparedTable:
        """Return the table with its suspects accepted."""
        return replace(self, suspects=())

    def take(self, rows: IntArray) -> PreparedTable:
        """Return some of the rows."""
        return replace(
            self,
            X=self.X.iloc[rows],
            y=self.y[rows],
            groups={name: values[rows] for name, values in self.groups.items()},
            together=self.together[rows],
        )


def prepare_table(
    frame: pd.DataFrame,
    target: str,
    *,
    positive: str | None = None,
    ignore: Sequence[str] = (),
    symmetric: bool = True,
    roles: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    cluster: str | None = None,
) -> PreparedTable:
    """Read labels and columns, and look for ids that repeat, copies and leaking columns.

    Arguments are the options of ``boundshift fit``; `frame` has gaps and categories as they are,
    and `symmetric` is as in :func:`order_classes`.
    """
    frame = frame.rename(columns=str)
    check_names("The table", list(frame.columns), [target, *by])
    frame, remarks = drop_labels(frame, target, ignore)
    kept, y, labels, rest = read_target(frame, target, positive, symmetric=symmetric)
    unlabelled = len(frame) - len(kept)
    roles = dict(roles or {})
    if cluster not in (None, "none"):
        roles.setdefault(str(cluster), "--cluster")
    columns = choose_columns(frame, target, roles)
    clustered = _find_clusters(kept, y, columns, cluster)
    kept = kept[clustered.is_kept]
    y = y[clustered.is_kept]
    remarks += clustered.remarks
    X = as_features(kept, columns)
    together = clustered.ids
    if together is None:
        together, copies = find_copies(X, y)
        remarks += copies
    n_positive = int(y.sum())
    sizes = len(y) - n_positive, n_positive
    names = (f"{target} = {labels[0]}", f"{target} = {labels[1]}")
    return PreparedTable(
        X=X,
        y=y,
        labels=labels,
        target=target,
        columns=columns,
        groups={name: check_levels(name, with_gaps(kept[name])) for name in by},
        together=together,
        cluster=clustered.column,
        suspects=tuple(find_suspects(X, y == 1, names)),
        remarks=tuple(remarks),
        notes=(
            *positive_note(positive, labels, sizes),
            *_describe_rows(unlabelled, target, sizes),
        ),
        rest=rest,
    )


@dataclass(frozen=True, eq=False)
class _Clusters:
    """Rows that are kept, and of these the first row of each row's id, if rows come in ids."""

    is_kept: NDArray[np.bool_]
    remarks: list[str]
    column: str | None = None
    ids: IntArray | None = None


def _find_clusters(
    kept: pd.DataFrame, y: IntArray, columns: Columns, asked: str | None
) -> _Clusters:
    """Return which rows belong together, by the column of ids.

    Rows without an id are left out: they may be of anyone, in training or in the test. Where a
    column may be one of ids, they are rows of their own.
    """
    found, is_sure = find_cluster(kept, columns)
    is_sure |= asked is not None
    name = found if asked in (None, "none") else asked
    every = np.ones(len(y), dtype=np.bool_)
    if name is None:
        return _Clusters(every, [])
    doubt = (
        f"Rows of one '{name}' are taken as independent. If they are not, the bounds do not hold."
    )
    if asked == "none":
        return _Clusters(every, [doubt])
    remarks = []
    is_gap = with_gaps(kept[name]).isna().to_numpy()
    if is_sure and is_gap.any():
        n_gaps = int(is_gap.sum())
        remarks.append(f"Rows without '{name}' may be of anyone and are left out: {n_gaps:,}.")
        every = ~is_gap
    ids, n_ids = _number_ids(with_gaps(kept[name])[every], is_gap[every])
    fewest = min(len(np.unique(ids[y[every] == label])) for label in (0, 1))
    otherwise = "" if asked is not None else " If rows are independent, use --cluster none."
    if fewest < _LEAST_IDS and not is_sure:
        return _Clusters(every, [doubt])
    if fewest < _LEAST_IDS:
        raise InvalidInputError(
            f"Each class needs rows of at least {_LEAST_IDS} different '{name}', to learn from and "
            f"to be judged on, got {fewest}. Collect more.{otherwise}"
        )
    learned = ""
    if columns[name].spelling is not None:
        learned = f" The model learns from it, too. To prevent this, use --drop '{name}'."
    remarks.append(
        f"'{name}' repeats ({len(ids):,} rows of {n_ids:,})"
        f"{'' if is_sure else ', as IDs of people or things do'}: rows of one stay together, and "
        f"bounds are averages over them.{otherwise}{learned}"
    )
    return _Clusters(every, remarks, name, ids)


def _number_ids(cells: pd.Series, is_gap: NDArray[np.bool_]) -> tuple[IntArray, int]:
    """Return the first row of each row's id, and the number of ids; a gap is an id of its own."""
    texts = [
        f"row {i}" if gap else f"id {' '.join(str(cell).split()).casefold()}"
        for i, (cell, gap) in enumerate(zip(cells, is_gap, strict=True))
    ]
    _, first, place = np.unique(texts, return_index=True, return_inverse=True)
    return first[place], len(first)


def find_copies(X: pd.DataFrame, y: IntArray) -> tuple[IntArray, list[str]]:
    """Return the first row with the features of each row, and a note on copies.

    Where most rows that share their features differ in their labels, the features take few
    values: such rows are not copies, and each stands for itself.
    """
    same = X.groupby(list(X.columns), dropna=False, sort=False).ngroup().to_numpy()
    _, first, group, sizes = np.unique(
        same, return_index=True, return_inverse=True, return_counts=True
    )
    positive = np.bincount(group, weights=y)
    mixed = (positive > 0) & (positive < sizes)
    n = len(y) - len(first)
    if n == 0 or sizes[mixed].sum() > sizes[(sizes > 1) & ~mixed].sum():
        return np.arange(len(y)), []
    return first[group], [
        f"Rows with the same features as an earlier row stay on its side of the split: {n:,}. "
        "Remove them if they are copies, because bounds would count one case several times."
    ]


def _describe_rows(unlabelled: int, target: str, sizes: tuple[int, int]) -> Iterator[str]:
    """Yield notes on rows without a label, and on a class with few rows."""
    yield from note_unlabelled(unlabelled, target)
    if min(sizes) < _FEW:
        yield f"The rarer class has only {min(sizes)} rows, so little can be certified about it."
