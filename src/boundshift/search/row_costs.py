"""The boundary at which the rows decided wrongly cost least, each row at its own price."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.scores import ScoreSample
from boundshift.search.found import Found
from boundshift.typing import FloatArray
from boundshift.validation import as_real_column

__all__ = ["as_row_cost", "own_cost", "search_row_costs"]

# Sums of costs up to this size do not overflow.
_MOST_COST = 1e100
_CURE = (
    "Pass what is lost if the row is decided wrongly: an amount for each row, or two columns "
    "(false_positive, false_negative)."
)


def as_row_cost(row_cost: ArrayLike, n_rows: int) -> FloatArray:
    """Return costs as finite numbers of at least 0: one for each row, or one for either error.

    Examples
    --------
    >>> as_row_cost([[3, 1], [5, 2]], 2).tolist()
    [[3.0, 1.0], [5.0, 2.0]]
    """
    try:
        table: Any = np.ma.asanyarray(row_cost)
    except ValueError:  # rows of different lengths
        table = np.ma.empty(0)
    if table.ndim == 2 and table.shape[1] == 2:
        columns = [as_real_column("row_cost", table[:, k], _CURE, n_rows) for k in (0, 1)]
        cost = np.stack(columns, axis=1)
    else:
        cost = as_real_column("row_cost", row_cost, _CURE, n_rows)
    bad = ~((cost >= 0) & (cost <= _MOST_COST))
    if bad.any():
        raise InvalidInputError(
            f"`row_cost` must be at least 0 and at most {_MOST_COST:g}, got {cost[bad][0]:g}. "
            f"{_CURE}"
        )
    return cost


def own_cost(cost: FloatArray, is_positive: NDArray[np.bool_]) -> FloatArray:
    """Return what each row costs if it is decided wrongly, which its class says of two columns.

    Examples
    --------
    >>> own_cost(np.array([[3.0, 1.0], [5.0, 2.0]]), np.array([False, True])).tolist()
    [3.0, 2.0]
    """
    own = cost if cost.ndim == 1 else np.where(is_positive, cost[:, 1], cost[:, 0])
    if not own.any():
        raise InvalidInputError(f"`row_cost` must not be all 0, got zeros only. {_CURE}")
    return own


def search_row_costs(
    sample: ScoreSample, is_positive: NDArray[np.bool_], scores: FloatArray, cost: FloatArray
) -> Found:
    """Return the gap at which the costs of all rows on the wrong side are least.

    Parameters
    ----------
    sample : ScoreSample
        Both classes, for the units and the claimed errors.
    is_positive, scores, cost : arrays of shape (n_samples,)
        Rows: whether each is positive, its score in the sample's units, and its cost.
    """
    order = np.argsort(scores, kind="stable")
    values, first = np.unique(scores[order], return_index=True)
    missed = np.concatenate([[0.0], np.cumsum(np.where(is_positive, cost, 0.0)[order])])
    alarms = np.concatenate([[0.0], np.cumsum(np.where(is_positive, 0.0, cost)[order])])
    # In gap g all rows before `ends[g]` lie below the boundary.
    ends = np.append(first, len(scores))
    total = missed[ends] + alarms[-1] - alarms[ends]
    best = np.flatnonzero(total <= total.min() * (1 + 1e-12))
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    beyond = (sample.spread or abs(float(values[0])) or 1.0) / len(scores)
    # Where a step is smaller than the distance of doubles, the next double is beyond.
    lowest = min(values[0] - beyond, np.nextafter(values[0], -np.inf))
    edges = np.concatenate([[lowest], values, [values[-1] + beyond]])
    low, high = max(
        ((float(edges[run[0]]), float(edges[run[-1] + 1])) for run in runs),
        key=lambda ends: ends[1] - ends[0],
    )
    threshold = low + (high - low) / 2
    threshold = threshold if threshold < high else low
    wrong = [
        np.mean(scores[~is_positive] > threshold),
        np.mean(scores[is_positive] <= threshold),
    ]
    return Found(
        threshold, (low, high), (float(wrong[0]), float(wrong[1])), float(total.min()) / len(scores)
    )
