"""The search that all rules share: one bias after the other moves to its best place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boundshift._typing import FloatArray, IndexArray

Profile = tuple[FloatArray, Callable[[FloatArray], FloatArray]]
"""Places of one bias, the others fixed, and the function from ascending places to losses."""

SAME_LOSS = 1e-9  # losses that differ by less are equal
_PLACES = 4096  # at which one bias is tried before those next to the best
_ROUNDS = 100


def descend(
    biases: FloatArray, profile: Callable[[FloatArray, int], Profile], *, counted: bool = False
) -> FloatArray:
    """Move one bias after the other to its best place, while that is a gain."""
    for _ in range(_ROUNDS):
        moved = False
        for k in range(len(biases)):
            places, losses = profile(biases, k)
            if not len(places):
                continue
            # The best of a thin grid, then the best around it.
            places = np.sort(places)
            thin = places[:: max(1, len(places) // _PLACES)]
            at = middle_of_least(losses(thin), counted=counted)
            low = thin[max(at - 1, 0)]
            high = thin[min(at + 1, len(thin) - 1)]
            close = places[(places >= low) & (places <= high)]
            now = float(losses(biases[[k]])[0])
            then = losses(close)
            at = middle_of_least(then, counted=counted)
            if now - then[at] > SAME_LOSS * (abs(now) if counted else 1.0):
                biases[k] = close[at]
                moved = True
        if not moved:
            break
    return biases


def middle_of_least(values: FloatArray, *, counted: bool = False) -> int:
    """Return the middle of the first run of least values; if counted, of the longest one."""
    same = SAME_LOSS * abs(values.min()) if counted else SAME_LOSS
    least = np.concatenate([[False], values <= values.min() + same, [False]])
    edges = np.flatnonzero(np.diff(least.astype(np.int8)))
    starts = edges[::2]
    ends = edges[1::2]
    run = int(np.argmax(ends - starts)) if counted else 0
    return int((starts[run] + ends[run] - 1) // 2)


def with_ends(places: FloatArray) -> FloatArray:
    reach = (places[-1] - places[0]) / 8 or abs(places[0]) or 1.0
    return np.concatenate([[places[0] - reach], places, [places[-1] + reach]])


def order_classes(
    y: IndexArray, scores: FloatArray, weights: FloatArray | None = None
) -> IndexArray:
    """Return the classes from the smallest to the largest, equal ones by their own scores."""
    own = scores[np.arange(len(y)), y]
    sums = np.bincount(y, np.where(np.isfinite(own), own, 0.0), scores.shape[1])
    return np.lexsort((sums, np.bincount(y, weights, minlength=scores.shape[1])))
