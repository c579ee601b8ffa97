"""Rules that name the classes count rows.

With all biases but one fixed, each row changes class at one value of that bias, so the losses of
all classes are step functions of it, known exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from boundshift._multiclass.descent import SAME_LOSS, Profile, descend, order_classes, with_ends
from boundshift._typing import FloatArray, IndexArray


def class_losses(
    y: IndexArray, scores: FloatArray, biases: FloatArray, costs: FloatArray
) -> FloatArray:
    """Return the mean loss of each class's rows at given biases, 0 for a class without rows."""
    winner = np.argmax(scores + biases, axis=1)
    totals = np.bincount(y, costs[y, winner], len(costs))
    return np.asarray(totals / np.maximum(np.bincount(y, minlength=len(costs)), 1))


def search_biases(
    y: IndexArray,
    scores: FloatArray,
    costs: FloatArray,
    value: Callable[[FloatArray], FloatArray],
    starts: Sequence[FloatArray] = (),
) -> FloatArray:
    """Return the best biases by counting, for a value of all classes' mean losses.

    Scores are minus infinity where a model did not know the class. `costs` has true classes in
    rows, `value` takes mean losses with classes in the last dimension.
    """
    order = order_classes(y, scores)
    number = np.argsort(order)
    own = number[y]
    ordered = scores[:, order]
    lost = costs[np.ix_(order, order)]
    n_classes = len(costs)
    sizes = np.maximum(np.bincount(own, minlength=n_classes), 1)

    def profile(biases: FloatArray, k: int) -> Profile:
        shifted = ordered + biases
        shifted[:, k] = -np.inf
        other = np.argmax(shifted, axis=1)
        # The bias at which each row goes over to class k; NaN if no model knew two classes.
        with np.errstate(invalid="ignore"):
            steps = shifted[np.arange(len(own)), other] - ordered[:, k]
        before = lost[own, other]
        change = lost[own, k] - before
        total_before = np.bincount(own, before, n_classes)

        def losses(places: FloatArray) -> FloatArray:
            cell = np.searchsorted(places, steps, side="right") * n_classes + own
            changes = np.bincount(cell, change, (len(places) + 1) * n_classes)
            changed = np.cumsum(changes.reshape(-1, n_classes)[:-1], axis=0)
            return np.asarray(value(((total_before + changed) / sizes)[:, number]))

        finite = np.unique(steps[np.isfinite(steps)])
        ends = with_ends(finite) if len(finite) else np.empty(1)
        return (ends[:-1] + ends[1:]) / 2, losses

    starts = [np.zeros(len(costs)), *starts]
    tried = [descend(start[order].astype(float), profile, counted=True)[number] for start in starts]
    tried += starts
    # Where two classes have equal scores the first label wins, which the descent does not know.
    values = [float(value(class_losses(y, scores, biases, costs)[None])[0]) for biases in tried]
    best = int(np.argmax(np.array(values) <= min(values) + SAME_LOSS * abs(min(values))))
    return np.asarray(tried[best] - tried[best].mean())
