"""Every bundled data set by name, and as a table with words for labels."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

from boundshift.datasets.bundled import (
    load_breast_cancer,
    load_heart,
    load_hepatitis,
    load_pima,
)
from boundshift.exceptions import InvalidInputError

__all__ = ["BUNDLED", "BundledDataset", "describe_bundled", "load_table"]

BUNDLED: dict[str, Callable[..., Any]] = {
    "pima": load_pima,
    "heart": load_heart,
    "hepatitis": load_hepatitis,
    "breast_cancer": load_breast_cancer,
}


class BundledDataset(NamedTuple):
    """Name and sizes; `imbalance` is the larger class divided by the smaller."""

    name: str
    n_samples: int
    n_features: int
    n_classes: int
    n_minority: int
    imbalance: float


def describe_bundled() -> list[BundledDataset]:
    """Return name and sizes of the bundled data sets.

    Examples
    --------
    >>> [entry.name for entry in describe_bundled()]
    ['pima', 'heart', 'hepatitis', 'breast_cancer']
    """
    found = []
    for name, loader in BUNDLED.items():
        X, y = loader(return_X_y=True)
        rare = int(min(y.sum(), len(y) - y.sum()))
        n, d = X.shape
        found.append(BundledDataset(name, n, d, 2, rare, (n - rare) / rare))
    return found


def load_table(name: str) -> Any:
    """Return a data set as one DataFrame, with the class in words in the column ``target``.

    Examples
    --------
    >>> load_table("pima")["target"].value_counts().to_dict()
    {'no diabetes': 500, 'diabetes': 268}
    """
    if name not in BUNDLED:
        near = get_close_matches(name, BUNDLED, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InvalidInputError(
            f"There is no data set '{name}'.{hint} `boundshift datasets` lists them."
        )
    bunch = BUNDLED[name](as_frame=True)
    return bunch.frame.assign(target=bunch.target_names[bunch.frame["target"].to_numpy()])
