r"""Joint biases: all pairs of classes together lose least.

The biases minimise

.. math:: \sum_{i<j} -\ln\left(1 - V_{ij}(b_i - b_j)\right),

with the rule's value :math:`V_{ij}` of a pair, from 0 where no error is claimed to 1 where all is
wrong. With the rule "g-mean" that is the product of all recalls between pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boundshift._multiclass.descent import (
    SAME_LOSS,
    Profile,
    descend,
    middle_of_least,
    order_classes,
    with_ends,
)
from boundshift._multiclass.pairs import Pair, Pairs, find_pairs
from boundshift._multiclass.pairwise import reconcile
from boundshift._typing import FloatArray, IndexArray, Label
from boundshift.curves import ErrorCurve
from boundshift.rules import Rule

Table = tuple[FloatArray, FloatArray]
"""Thresholds of a pair, and its loss at each."""

# A pair's loss is tabulated at this many quantiles of either class, and between the neighbours of
# the best of them.
_QUANTILES = 257
_REFINED = 65
_LEAST_RIGHT = 1e-9  # a pair that is always wrong must not weigh infinitely


def find_joint_biases(
    y: IndexArray,
    scores: FloatArray,
    names: Sequence[Label],
    curve: ErrorCurve,
    rule: Rule,
    weights: FloatArray | None,
) -> tuple[FloatArray, Pairs]:
    """Return the biases at which all pairs together lose least, and the pairs."""
    order = order_classes(y, np.nan_to_num(scores), weights)[::-1]  # from the largest class
    number = np.argsort(order)
    ordered_names = [names[k] for k in order]
    pairs = find_pairs(number[y], scores[:, order], ordered_names, curve, weights)
    tables = {key: _tabulate(pair, rule) for key, pair in pairs.items()}
    best = {key: float(t[middle_of_least(losses)]) for key, (t, losses) in tables.items()}
    own: list[list[tuple[FloatArray, FloatArray, int, float]]] = [[] for _ in order]
    for (i, j), table in tables.items():
        own[i].append((*table, j, 1.0))
        own[j].append((*table, i, -1.0))

    def profile(biases: FloatArray, k: int) -> Profile:
        def total(places: FloatArray) -> FloatArray:
            losses = [np.interp(sign * (places - biases[j]), t, at) for t, at, j, sign in own[k]]
            return np.asarray(np.sum(losses, axis=0))

        # The loss is linear between these places.
        places = [biases[j] + sign * t for t, _, j, sign in own[k]]
        return np.concatenate([np.empty(0), *places]), total

    biases = descend(reconcile(best, pairs, len(order)), profile)
    compared = [k for k, of_class in enumerate(own) if of_class]
    biases[compared] -= biases[compared].mean() if compared else 0.0
    in_order: Pairs = {}
    for (i, j), pair in pairs.items():
        first, second = int(order[i]), int(order[j])
        in_order[min(first, second), max(first, second)] = pair if first < second else pair.turned()
    return biases[number], dict(sorted(in_order.items()))


def _tabulate(pair: Pair, rule: Rule) -> Table:
    """Return thresholds, close together where scores are, and minus the log of one minus the value.

    The value is from 0, where no error is claimed, to 1, where all is wrong.
    """
    sample = pair.sample
    extremes = np.array([0.0, 1.0])
    best, worst = rule.value(extremes, extremes, sample.n_samples)

    def losses_at(thresholds: FloatArray) -> FloatArray:
        share = (rule.value(*pair.errors(thresholds), sample.n_samples) - best) / (worst - best)
        return np.asarray(-np.log(np.maximum(1 - share, _LEAST_RIGHT)))

    quantiles = [
        side.at(np.linspace(0, side.n - 1, int(min(side.n, _QUANTILES))).astype(np.intp))
        for side in sample.classes
    ]
    ends = with_ends(np.unique(np.concatenate(quantiles)))
    thirds = ends[:-1, None] + np.diff(ends)[:, None] * (np.arange(3) / 3)
    nodes = np.unique(np.append(thirds.ravel(), ends[-1]))
    losses = losses_at(nodes)
    least = np.flatnonzero(losses <= losses.min() + SAME_LOSS)
    low = nodes[max(least[0] - 1, 0)]
    high = nodes[min(least[-1] + 1, len(nodes) - 1)]
    nodes = np.union1d(nodes, np.linspace(float(low), float(high), _REFINED))
    return nodes, losses_at(nodes)
