"""The one shape that every loader returns: scikit-learn's Bunch, or (X, y)."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from boundshift.exceptions import MissingExtraError

__all__ = ["Loaded", "make_bunch"]

# A Bunch, or the tuple (X, y) with return_X_y=True; scikit-learn ships no types.
Loaded: TypeAlias = Any


def make_bunch(
    *,
    name: str,
    data: NDArray[np.float64],
    target: NDArray[np.int64],
    feature_names: Sequence[str],
    target_names: Sequence[str],
    descr: str,
    return_X_y: bool,
    as_frame: bool,
    **facts: Any,
) -> Loaded:
    """Pack arrays the way scikit-learn's own loaders do; `facts` become further keys."""
    frame = None
    columns: Any = data
    labels: Any = target
    if as_frame:
        frame = _make_frame(data, target, feature_names)
        columns, labels = frame[list(feature_names)], frame["target"]
    if return_X_y:
        return columns, labels
    return Bunch(
        name=name,
        data=columns,
        target=labels,
        frame=frame,
        feature_names=list(feature_names),
        target_names=np.array(target_names),
        DESCR=descr,
        **facts,
    )


def _make_frame(
    data: NDArray[np.float64], target: NDArray[np.int64], feature_names: Sequence[str]
) -> Any:
    """Features and target side by side in one pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("pandas", "data") from error
    frame = pd.DataFrame(data, columns=list(feature_names))
    frame["target"] = target
    return frame
