r"""Joint biases: all pairs of classes together lose least.

The biases minimise

.. math:: \sum_{i<j} -\ln\left(1 - V_{ij}(b_i - b_j)\right),

with the rule's value :math:`V_{ij}` of a pair, from 0 where no error is claimed to 1 where all is
wrong. With the rule "g-mean" that is the product of all recalls between pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
    from_largest = order_classes(y, np.nan_to_num(scores), weights)[::-1]
    rank = np.argsort(from_largest)
    names_by_rank = [names[k] for k in from_largest]
    pairs = find_pairs(rank[y], scores[:, from_largest], names_by_rank, curve, weights)
    tables = {key: _tabulate(pair, rule) for key, pair in pairs.items()}
    best = {key: float(t[middle_of_least(losses)]) for key, (t, losses) in tables.items()}
    sides = _group_by_class(tables, len(names))

    def profile(biases: FloatArray, k: int) -> Profile:
        return _profile_of(sides[k], biases)

    biases = descend(reconcile(best, pairs, len(names)), profile)
    compared = [k for k, of_class in enumerate(sides) if of_class]
    if compared:
        biases[compared] -= biases[compared].mean()
    return biases[rank], _renumber(pairs, from_largest)


class PairSide(NamedTuple):
    """The loss of a pair, as a function of the bias of one of its classes."""

    thresholds: FloatArray  # differences of both biases, first class minus second
    losses: FloatArray
    other: int
    sign: float  # 1 for the first class of the pair, -1 for the second

    def losses_at(self, places: FloatArray, biases: FloatArray) -> FloatArray:
        """Return the loss if this class's bias moves to each place and the other one stays."""
        differences = self.sign * (places - biases[self.other])
        return np.asarray(np.interp(differences, self.thresholds, self.losses))

    def places(self, biases: FloatArray) -> FloatArray:
        """Return this class's bias at each threshold."""
        return np.asarray(biases[self.other] + self.sign * self.thresholds)


def _group_by_class(
    tables: Mapping[tuple[int, int], Table], n_classes: int
) -> list[list[PairSide]]:
    """Return the losses of each class's pairs."""
    sides: list[list[PairSide]] = [[] for _ in range(n_classes)]
    for (i, j), (thresholds, losses) in tables.items():
        sides[i].append(PairSide(thresholds, losses, other=j, sign=1.0))
        sides[j].append(PairSide(thresholds, losses, other=i, sign=-1.0))
    return sides


def _profile_of(sides: Sequence[PairSide], biases: FloatArray) -> Profile:
    """Return the total loss of a class's pairs, which is linear between the places returned."""

    def total(places: FloatArray) -> FloatArray:
        return np.asarray(np.sum([side.losses_at(places, biases) for side in sides], axis=0))

    return np.concatenate([np.empty(0), *(side.places(biases) for side in sides)]), total


def _renumber(pairs: Pairs, numbers: IndexArray) -> Pairs:
    """Return the pairs by other numbers of their classes, the smaller number first."""
    renumbered: Pairs = {}
    for (i, j), pair in pairs.items():
        first = int(numbers[i])
        second = int(numbers[j])
        if first < second:
            renumbered[first, second] = pair
        else:
            renumbered[second, first] = pair.turned()
    return dict(sorted(renumbered.items()))


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
