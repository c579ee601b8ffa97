"""Labels in the container in which the scores came."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["answer_in_kind"]


def answer_in_kind(scores: Any, labels: NDArray[Any]) -> Any:
    """Return labels as what the scores were: a series of pandas or Polars, or an Arrow array.

    Parameters
    ----------
    scores : object
        As the user gave them.
    labels : array
        One for each score. It stays an array for scores of any other kind.

    Examples
    --------
    >>> import polars
    >>> answer_in_kind(polars.Series("margin", [0.5, 0.7]), np.array(["no", "yes"])).to_list()
    ['no', 'yes']
    """
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(scores, pandas.Series):
        return pandas.Series(labels, index=scores.index, name=scores.name)
    if polars is not None and isinstance(scores, polars.Series):
        # Of an array of objects Polars would make a column of objects.
        return polars.Series(scores.name, labels.tolist() if labels.dtype == object else labels)
    if arrow is not None and isinstance(scores, arrow.Array):
        return arrow.array(labels)
    if arrow is not None and isinstance(scores, arrow.ChunkedArray):
        ends = np.cumsum([len(chunk) for chunk in scores.chunks])[:-1]
        kind = arrow.array(labels).type
        return arrow.chunked_array(np.split(labels, ends) if scores.num_chunks else [], kind)
    return labels
