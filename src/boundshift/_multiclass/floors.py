"""Recall floors of classes: met on the given rows, or guaranteed on new ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from boundshift._multiclass.counting import class_losses, search_biases
from boundshift._status import Status
from boundshift._typing import FloatArray, IndexArray, Label
from boundshift.curves._uniform import clopper_pearson
from boundshift.rules import ClassFloors
from boundshift.rules._guarantee import Guarantee

# Standard errors that proposals of floors add to what a test needs, from cautious to daring, and
# steps from each proposal to the next.
_CAUTION = (3.0, 1.5, 0.0, -1.5)
_STEPS = 16
_AHEAD = 4.0  # standard deviations by which classes with a floor lead in the first proposal
_BEYOND = 1e3  # above every objective, so that floors come first
_ROUNDING = 1e-12


class ClassRows(NamedTuple):
    y: IndexArray
    scores: FloatArray


class FloorBiases(NamedTuple):
    biases: FloatArray
    status: Status
    detail: str


def guarantee_floors(
    rows: ClassRows, rule: ClassFloors, labels: Sequence[Label], guide: ClassRows | None = None
) -> FloorBiases:
    r"""Return biases whose floors hold on fresh rows with the rule's confidence, if there are any.

    `rows` are rows that the model has not seen; minus infinity is the score of an unknown class.
    The guide are other rows; None splits those given.

    Biases move the recalls of all classes at once, so no single order statistic keeps a floor.
    The guide proposes biases, from cautious to daring. The other rows test the proposals in that
    order, each floor by Clopper and Pearson's bound at :math:`\delta`, until the first one fails.
    A proposal is wrong if some floor is broken; it passes only if the test of that very floor
    errs, which has a probability of at most :math:`\delta`. Of the wrong proposals only the first
    is tested unless it passes, so the floors of all proposals that pass hold together with a
    probability of at least :math:`1 - \delta`.
    """
    rule.check_classes(labels)
    guarantees = {labels.index(each.rate): each for each in rule.guarantees()}
    if guide is None:
        guide, rows = _split_rows(rows, guarantees, len(labels))
    counts = np.bincount(rows.y, minlength=len(labels))
    for i, guarantee in guarantees.items():
        if counts[i] < guarantee.rows_needed:
            both = ClassRows(*(np.concatenate(parts) for parts in zip(guide, rows, strict=True)))
            reason = (
                f"The floor {guarantee.limit:g} of class {labels[i]!r} cannot be guaranteed: that "
                f"takes {guarantee.rows_needed} rows of it, all of them found, and {counts[i]} are "
                "there to test. Collect more rows of the class, or lower its floor or the "
                "confidence."
            )
            return FloorBiases(meet_floors(both, rule, labels), Status.UNMET, reason)
    allowed = {
        i: each.allowed_errors(int(counts[i]), clopper_pearson) for i, each in guarantees.items()
    }
    passed = None
    for biases in _proposals(guide, rule, labels, counts, allowed):
        errors = class_losses(*rows, biases, rule.losses(labels))
        wrong = np.rint(errors * counts)
        beyond = {i: (wrong[i] - most) / counts[i] for i, most in allowed.items()}
        worst = max(beyond, key=lambda i: beyond[i])
        if beyond[worst] > 0:
            break
        passed = biases
    if passed is not None:
        kept = f"All recall floors hold together with {rule.confidence:.4g} confidence."
        return FloorBiases(passed, Status.SHARED, kept)
    reason = (
        f"No biases guarantee all floors with {rule.confidence:.4g} confidence: of the rows of "
        f"class {labels[worst]!r} that test, {1.0 - errors[worst]:.3g} are found, which does not "
        f"guarantee its floor {guarantees[worst].limit:g}. Collect more rows of it. If you lower a "
        "floor or the confidence after this result, decide on other rows: on the same ones the "
        "guarantee would not hold."
    )
    return FloorBiases(biases, Status.UNMET, reason)


def _split_rows(
    rows: ClassRows, guarantees: Mapping[int, Guarantee], n_classes: int
) -> tuple[ClassRows, ClassRows]:
    """Return rows that guide and rows that test.

    Half of each class tests, or as many as its guarantee needs; one row at least guides.
    """
    wanted = np.ceil(np.bincount(rows.y, minlength=n_classes) / 2)
    for i, guarantee in guarantees.items():
        wanted[i] = max(wanted[i], guarantee.rows_needed)
    order = np.random.default_rng(0).permutation(len(rows.y))
    is_test = np.zeros(len(rows.y), dtype=bool)
    for k, number in enumerate(wanted):
        is_test[order[rows.y[order] == k][:-1][: int(number)]] = True
    guide = ClassRows(rows.y[~is_test], rows.scores[~is_test])
    return guide, ClassRows(rows.y[is_test], rows.scores[is_test])


def meet_floors(
    rows: ClassRows, rule: ClassFloors, labels: Sequence[Label], targets: FloatArray | None = None
) -> FloatArray:
    """Return the best biases that reach recalls, by default the floors, or come nearest."""
    allowed = 1.0 - (_floors(rule, labels) if targets is None else targets)
    counts = np.bincount(rows.y, minlength=len(labels)).tolist()

    def value(losses: FloatArray) -> FloatArray:
        best = rule.total(losses, labels, counts)
        short = np.maximum(losses - allowed - _ROUNDING, 0.0).sum(axis=-1)
        return np.where(short > 0, _BEYOND * (1.0 + short) + best, best)

    costs = rule.losses(labels)
    balanced = search_biases(*rows, costs, lambda losses: losses.sum(axis=-1))
    return search_biases(*rows, costs, value, [balanced])


def _floors(rule: ClassFloors, labels: Sequence[Label]) -> FloatArray:
    return np.array([float(rule.recall.get(label, 0.0)) for label in labels])


def _proposals(
    guide: ClassRows,
    rule: ClassFloors,
    labels: Sequence[Label],
    counts: IndexArray,
    allowed: Mapping[int, int],
) -> list[FloatArray]:
    """Return biases to test in this order: from high recalls of the guide down to the floors."""
    floors = _floors(rule, labels)
    guided = np.maximum(np.bincount(guide.y, minlength=len(labels)), 1)
    # The least recall that passes the test of each floor, and its standard error in guide and test.
    needed = np.zeros(len(floors))
    error = np.zeros(len(floors))
    for i, most in allowed.items():
        needed[i] = 1.0 - most / counts[i]
        error[i] = math.sqrt(floors[i] * (1 - floors[i]) * (1 / counts[i] + 1 / guided[i]))
    proposals = []
    for caution in _CAUTION:
        targets = np.clip(needed + caution * error, 0.0, 1.0)
        biases = meet_floors(guide, rule, labels, targets)
        recalls = 1.0 - class_losses(*guide, biases, 1.0 - np.eye(len(biases)))
        if np.all(recalls >= targets - _ROUNDING) or caution == _CAUTION[-1]:
            proposals.append(biases)
    # The first proposal puts all classes with a floor ahead of the others, which breaks no floor.
    spread = float(np.std(guide.scores[np.isfinite(guide.scores)]))
    ahead = proposals[0] + _AHEAD * spread * (floors > 0)
    parts = np.arange(_STEPS) / _STEPS
    between = [a + (b - a) * part for a, b in pairwise([ahead, *proposals]) for part in parts]
    return [*between, proposals[-1]]
