"""One bias per class by counting: where a rule on the classes' mean losses is least.

With all biases but one fixed, each row goes over to that class at a bias of its own. So the losses
of all classes are steps in this bias, and between two steps they are known exactly. One bias after
the other is moved to its best place, while the rule falls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from boundshift.typing import FloatArray, IndexArray

__all__ = ["class_losses", "search_biases"]

Value = Callable[[FloatArray], FloatArray]

# Places that one bias is tried at, before those next to the best of them; and rounds of all.
_PLACES, _ROUNDS = 4096, 50
# Values that differ by less, relative to their size, are the same.
_SAME = 1e-9


def class_losses(
    y: IndexArray, scores: FloatArray, biases: FloatArray, costs: FloatArray
) -> FloatArray:
    """Return the mean loss of each class's rows at given biases, 0 for a class without rows.

    Examples
    --------
    >>> scores = np.array([[1.0, 0.0], [1.0, 0.5], [0.0, 3.0]])
    >>> class_losses(np.array([0, 1, 1]), scores, np.zeros(2), 1 - np.eye(2)).tolist()
    [0.0, 0.5]
    """
    winner = np.argmax(scores + biases, axis=1)
    totals = np.bincount(y, costs[y, winner], len(costs))
    return np.asarray(totals / np.maximum(np.bincount(y, minlength=len(costs)), 1))


def search_biases(
    y: IndexArray,
    scores: FloatArray,
    costs: FloatArray,
    value: Value,
    starts: Sequence[FloatArray] = (),
) -> FloatArray:
    """Return biases at which the value of all classes' losses is least, as far as found.

    Classes are taken in an order that their rows decide, not their numbers, so that other labels
    have the same answer.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class numbers.
    scores : array of shape (n_samples, n_classes)
        Scores of every class; minus infinity where a model did not know the class.
    costs : array of shape (n_classes, n_classes)
        What a row costs: true classes in rows, predicted ones in columns.
    value : callable
        Takes mean losses, classes in the last dimension, and returns what to minimise.
    starts : sequence of arrays
        Biases to start from, besides none at all.

    Examples
    --------
    >>> y = np.repeat([0, 1, 2], [6, 3, 1])
    >>> scores = np.eye(3)[[0, 0, 0, 0, 0, 1, 1, 1, 0, 0]] + [0.5, 0.0, 0.0]
    >>> biases = search_biases(y, scores, 1 - np.eye(3), lambda losses: losses.sum(axis=-1))
    >>> class_losses(y, scores, biases, 1 - np.eye(3)).round(2).tolist()
    [0.17, 0.33, 1.0]
    """
    n_classes = len(costs)
    order = _order(y, scores)
    number = np.argsort(order)
    problem = _Problem(number[y], scores[:, order], costs[np.ix_(order, order)], value, number)
    starts = [np.zeros(n_classes), *starts]
    found = [problem.descend(start[order])[number] for start in starts]
    # Where two classes have the very same score the first label wins, which no search foresees.
    values = [
        float(value(class_losses(y, scores, biases, costs)[None])[0]) for biases in found + starts
    ]
    first = int(np.argmax(np.array(values) <= min(values) + _SAME * abs(min(values))))
    biases = (found + starts)[first]
    return np.asarray(biases - biases.mean())


def _order(y: IndexArray, scores: FloatArray) -> IndexArray:
    """Return the classes by rows, those with as many by what their own rows score."""
    counts = np.bincount(y, minlength=scores.shape[1])
    own = scores[np.arange(len(y)), y]
    means = np.bincount(y, np.where(np.isfinite(own), own, 0.0), scores.shape[1])
    return np.lexsort((means, counts))


class _Problem:
    """Rows in the order of the classes that is searched in."""

    def __init__(
        self, y: IndexArray, scores: FloatArray, costs: FloatArray, value: Value, number: IndexArray
    ) -> None:
        self.y, self.scores, self.costs = y, scores, costs
        self.rows = [np.flatnonzero(y == k) for k in range(len(costs))]
        self._value, self._number = value, number

    def value(self, losses: FloatArray) -> FloatArray:
        """Return what to minimise, from losses in this order of the classes."""
        return self._value(losses[..., self._number])

    def descend(self, biases: FloatArray) -> FloatArray:
        """Move one bias after the other to its best place."""
        biases = biases.astype(np.float64)
        losses = class_losses(self.y, self.scores, biases, self.costs)
        reached = float(self.value(losses[None])[0])
        for _ in range(_ROUNDS):
            before = reached
            for k in range(len(biases)):
                place, best = self.best_place(biases, k)
                if best < reached - _SAME * abs(reached):
                    biases[k], reached = place, best
            if not reached < before:
                break
        return biases

    def best_place(self, biases: FloatArray, k: int) -> tuple[float, float]:
        """Return where one bias is best while the others stay, and the value there."""
        shifted = self.scores + biases
        shifted[:, k] = -np.inf
        rival = np.argmax(shifted, axis=1)
        with np.errstate(invalid="ignore"):
            steps = np.max(shifted, axis=1) - self.scores[:, k]
        profile = [self._profile(rows, steps[rows], rival[rows], k) for rows in self.rows]
        finite = np.unique(steps[np.isfinite(steps)])
        if not len(finite):
            return float(biases[k]), np.inf
        reach = (finite[-1] - finite[0]) / 8 or abs(finite[0]) or 1.0
        ends = np.concatenate([[finite[0] - reach], finite, [finite[-1] + reach]])
        places = (ends[:-1] + ends[1:]) / 2
        every = max(1, len(places) // _PLACES)
        thin = places[::every]
        at = _middle_of_least(self._values(profile, thin))
        if every > 1:
            low, high = thin[max(at - 1, 0)], thin[min(at + 1, len(thin) - 1)]
            thin = places[(places >= low) & (places <= high)]
            at = _middle_of_least(self._values(profile, thin))
        return float(thin[at]), float(self._values(profile, thin[at : at + 1])[0])

    def _profile(
        self, rows: IndexArray, steps: FloatArray, rival: IndexArray, k: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return where rows of a class go over, and its mean loss after each such step."""
        if not len(rows):
            return np.empty(0), np.zeros(1)
        i = int(self.y[rows[0]])
        order = np.argsort(steps)  # NaN, where no model knew two classes, last
        change = (self.costs[i, k] - self.costs[i, rival])[order]
        base = float(self.costs[i, rival].sum())
        return steps[order], (base + np.concatenate([[0.0], np.cumsum(change)])) / len(rows)

    def _values(
        self, profile: list[tuple[FloatArray, FloatArray]], places: FloatArray
    ) -> FloatArray:
        """Return the value at each place of one bias."""
        losses = [after[np.searchsorted(steps, places)] for steps, after in profile]
        return np.asarray(self.value(np.stack(losses, axis=-1)))


def _middle_of_least(values: FloatArray) -> int:
    """Return the middle of the longest run of places with the least value."""
    least = values <= values.min() + _SAME * abs(values.min())
    edges = np.flatnonzero(np.diff(np.concatenate([[False], least, [False]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    run = int(np.argmax(ends - starts))
    return int((starts[run] + ends[run] - 1) // 2)
