r"""Find one bias per class, from curves between pairs of classes.

The prediction is :math:`\arg\max_k (s_k + b_k)`, so a pair of classes is decided on
:math:`s_j - s_i` at the threshold :math:`b_i - b_j`. With two classes that is the binary method.
"pairwise" reconciles the thresholds of all pairs, "joint" minimises the loss of all pairs together.
The rows decide the order of the classes, not their labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from boundshift._multiclass.joint import find_joint_biases
from boundshift._multiclass.pairs import Pairs, decide_pairs, find_pairs
from boundshift._multiclass.pairwise import reconcile
from boundshift._result.boundary import Boundary
from boundshift._status import Status
from boundshift._typing import Counts, FloatArray, IndexArray, Label
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule

Strategy = Literal["joint", "pairwise"]

_FEW_ROWS = 3  # a class with at most this many rows is never held back


class ClassBiases(NamedTuple):
    """One bias per class, and what they decide."""

    biases: FloatArray  # those of classes with rows sum to zero
    boundaries: dict[tuple[Label, Label], Boundary]  # on the second minus the first class's score
    statuses: list[Status]  # of the problems that were solved


def find_biases(
    y: IndexArray,
    scores: FloatArray,
    curve: ErrorCurve,
    rule: Rule,
    strategy: Strategy = "joint",
    labels: Sequence[Label] | None = None,
    weights: FloatArray | None = None,
) -> ClassBiases:
    """Return one bias per class, and the boundary that they give each pair of classes.

    `y` are class numbers, `scores` has a column per class: NaN where a model did not know it. The
    rule must be symmetric; "g-mean" leaves out its part for F1 where the biases are joint, since
    no class is the rare one in every pair. "joint" is "pairwise" for the curve "support", whose
    optimum is not that of a curve.
    """
    bad = np.isinf(scores).any(axis=1) | np.isnan(scores).all(axis=1)
    if bad.any():
        raise InvalidInputError(
            "must be finite, or NaN for a class that the model did not know, got "
            f"{int(bad.sum())} rows that are infinite or all NaN. Drop those rows.",
            argument="scores",
        )
    if not rule.symmetric or not curve.treats_classes_alike:
        raise InvalidInputError(
            "and `curve` must treat classes alike where there are more than two, got "
            f"{rule!r} and {curve!r}, which are about one positive class. Use 'g-mean', 'sum' or "
            "'minimax'; CostMatrix(costs, labels) or ClassFloors(recall={label: floor}), which "
            "name every class; or a classifier for each class that matters, fitted on y == label.",
            argument="rule",
        )
    is_joint = strategy == "joint" and not curve.is_local
    names = range(scores.shape[1]) if labels is None else labels
    counts = np.bincount(y, weights, minlength=len(names))
    if is_joint:
        biases, pairs = find_joint_biases(y, scores, names, curve, rule, weights)
    else:
        pairs = find_pairs(y, scores, names, curve, weights)
        solved = {key: curve.solve(pair.sample, rule) for key, pair in pairs.items()}
        pairs = {key: pair._replace(status=solved[key].status) for key, pair in pairs.items()}
        thresholds = {key: solution.found.threshold for key, solution in solved.items()}
        biases = reconcile(thresholds, pairs, len(names))
    _favour_few(biases, counts, pairs)
    boundaries = decide_pairs(biases, pairs, curve, lambda *_: rule)
    return ClassBiases(biases, boundaries, [pair.status for pair in pairs.values()])


def _favour_few(biases: FloatArray, counts: Counts, pairs: Pairs) -> None:
    """Give a class of very few rows, which may be right by luck, no smaller a bias than others."""
    decided = {k for pair in pairs for k in pair}
    undecided = [k not in decided for k in range(len(biases))]
    few = (counts > 0) & ((counts <= _FEW_ROWS) | np.array(undecided))
    if not few.all():
        biases[few] = np.maximum(biases[few], biases[~few].max())
    biases[counts > 0] -= biases[counts > 0].mean()
