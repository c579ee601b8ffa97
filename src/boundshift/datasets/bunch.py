"""The one shape that every loader returns: scikit-learn's Bunch, or (X, y)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import cleandoc
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from boundshift.exceptions import MissingExtraError

__all__ = ["Contents", "Loaded", "Loader", "as_loader", "make_bunch"]

# A Bunch, or the tuple (X, y) with return_X_y=True; scikit-learn ships no types.
Loaded: TypeAlias = Any


class Contents(NamedTuple):
    """A data set as it was read; 1 is the positive class."""

    name: str
    data: NDArray[np.float64]
    target: NDArray[np.int64]
    feature_names: Sequence[str]
    target_names: Sequence[str]
    descr: str


class Loader(Protocol):
    """A function that loads one data set."""

    def __call__(self, *, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
        """Return the data set."""


_OPTIONS = """\
Parameters
----------
return_X_y : bool, default=False
    Return ``(data, target)`` instead of a Bunch.
as_frame : bool, default=False
    Return pandas objects; needs the extra ``data``.

Returns
-------
Bunch or (data, target)
    With the keys data, target (0 or 1), feature_names, target_names (in the order of the labels),
    frame, name and DESCR.
"""


def as_loader(read: Callable[[], Contents]) -> Loader:
    """Give a function that reads a data set the options of a loader, and their documentation."""

    @wraps(read, assigned=("__module__", "__name__", "__qualname__"))
    def load(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
        return make_bunch(read(), return_X_y=return_X_y, as_frame=as_frame)

    text, heading, examples = cleandoc(read.__doc__ or "").partition("Examples\n")
    load.__doc__ = f"{text}{_OPTIONS}\n{heading}{examples}"
    # Else its signature would be that of the function inside.
    del load.__wrapped__
    return load


def make_bunch(
    contents: Contents, *, return_X_y: bool = False, as_frame: bool = False, **facts: Any
) -> Loaded:
    """Pack a data set the way scikit-learn's own loaders do; `facts` become further keys."""
    frame = None
    columns: Any = contents.data
    labels: Any = contents.target
    names = list(contents.feature_names)
    if as_frame:
        frame = _make_frame(contents)
        columns, labels = frame[names], frame["target"]
    if return_X_y:
        return columns, labels
    return Bunch(
        name=contents.name,
        data=columns,
        target=labels,
        frame=frame,
        feature_names=names,
        target_names=np.array(contents.target_names),
        DESCR=contents.descr,
        **facts,
    )


def _make_frame(contents: Contents) -> Any:
    """Features and target side by side in one pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "data") from error
    frame = pd.DataFrame(contents.data, columns=list(contents.feature_names))
    frame["target"] = contents.target
    return frame
