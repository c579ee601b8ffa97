"""Every data set that can be loaded here, by name, and as a table with words for labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boundshift.datasets.bundled import (
    load_breast_cancer,
    load_heart,
    load_hepatitis,
    load_pima,
)
from boundshift.datasets.common import CommonDataset, fetch_common, list_common
from boundshift.exceptions import InvalidInputError

__all__ = ["BUNDLED", "describe_bundled", "load_table"]

BUNDLED: dict[str, Callable[..., Any]] = {
    "pima": load_pima,
    "heart": load_heart,
    "hepatitis": load_hepatitis,
    "breast_cancer": load_breast_cancer,
}
"""Name → loader, of data sets that need no optional package."""


def describe_bundled() -> list[CommonDataset]:
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
        found.append(CommonDataset(name, "binary", name, n, d, 2, rare, (n - rare) / rare))
    return found


def load_table(name: str) -> Any:
    """Return a data set as one DataFrame, with the class in words in the column ``target``.

    Parameters
    ----------
    name : str
        A bundled one, or one that :func:`~boundshift.datasets.list_common` lists.

    Examples
    --------
    >>> load_table("pima")["target"].value_counts().to_dict()
    {'no diabetes': 500, 'diabetes': 268}
    """
    if name in BUNDLED:
        bunch = BUNDLED[name](as_frame=True)
    else:
        _check_name(name)
        bunch = fetch_common(name, as_frame=True)
    return bunch.frame.assign(target=bunch.target_names[bunch.frame["target"].to_numpy()])


def _check_name(name: str) -> None:
    """Raise if there is no such data set, and name the nearest."""
    from difflib import get_close_matches

    kinds = ("binary", "multiclass")
    listed = [e for kind in kinds for e in list_common(kind, min_imbalance=1, min_minority=1)]  # type: ignore[arg-type]
    known = [*BUNDLED, *(entry.name for entry in listed)]
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InvalidInputError(
            f"There is no data set '{name}'.{hint} `boundshift datasets --all` lists them."
        )
