"""The boundary at which the rows decided wrongly cost least, each row at its own price."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boundshift.exceptions import InvalidInputError
from boundshift.scores.sample import ScoreSample
from boundshift.search.found import Found
from boundshift.typing import FloatArray

__all__ = ["as_row_cost", "search_row_costs"]


def as_row_cost(row_cost: ArrayLike, n_rows: int) -> FloatArray:
    """Return costs as finite numbers of at least 0, one a row."""
    cure = "Pass what is lost if the row is decided wrongly."
    try:
        cost = np.asarray(row_cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`row_cost` must be numbers: {error}. {cure}") from None
    if cost.shape != (n_rows,):
        raise InvalidInputError(
            f"`row_cost` must have one cost for each of {n_rows} rows, got the shape "
            f"{cost.shape}. {cure}"
        )
    bad = ~(np.isfinite(cost) & (cost >= 0))
    if bad.any() or not cost.sum() > 0:
        shown = f"{cost[bad][0]:g}" if bad.any() else "zeros only"
        raise InvalidInputError(
            f"`row_cost` must be finite, at least 0 and not all 0, got {shown}. {cure}"
        )
    return cost


def search_row_costs(
    sample: ScoreSample, is_positive: FloatArray, scores: FloatArray, cost: FloatArray
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
    edges = np.concatenate([[values[0] - beyond], values, [values[-1] + beyond]])
    low, high = max(
        ((float(edges[run[0]]), float(edges[run[-1] + 1])) for run in runs),
        key=lambda ends: ends[1] - ends[0],
    )
    threshold = low + (high - low) / 2
    threshold = threshold if threshold < high else low
    wrong = [
        np.mean(scores[is_positive == 0] > threshold),
        np.mean(scores[is_positive == 1] <= threshold),
    ]
    return Found(
        threshold, (low, high), (float(wrong[0]), float(wrong[1])), float(total.min()) / len(scores)
    )
