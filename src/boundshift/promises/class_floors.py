r"""Floors of many classes, promised of a model that has not seen the rows that decide.

Biases move the recalls of all classes at once, so no single order statistic keeps a floor. Some
rows, the guide, propose biases, from cautious to daring ones. The other rows test the proposals in
that order, each floor by Clopper and Pearson's bound at :math:`\delta`, until the first one fails.
A proposal is wrong if some floor is broken; it passes only if the test of that very floor errs,
which has a probability of at most :math:`\delta`. Of the wrong proposals only the first is tested
unless it passes, so the floors of all proposals that pass hold together with a probability of at
least :math:`1 - \delta`, and any of them may be taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.biases import class_losses, search_biases
from boundshift.curves.uniform import clopper_pearson
from boundshift.promises.planning import rows_needed
from boundshift.rules.classes import ClassFloors
from boundshift.status import Status
from boundshift.typing import FloatArray

__all__ = ["ClassRows", "FloorBiases", "meet_floors", "promise_floors"]


# How many standard errors beyond what a test needs the guide is asked for, from cautious to daring;
# and steps from each of these proposals to the next.
_CAUTION = (3.0, 1.5, 0.0, -1.5)
_STEPS = 16
# Standard deviations of all scores that classes with a floor are put ahead of the others at first.
_AHEAD = 4.0
# Above every objective, so that floors come first.
_BEYOND = 1e3
_ROUNDING = 1e-12


class ClassRows(NamedTuple):
    """Class numbers of rows, and their scores of every class."""

    y: NDArray[np.intp]
    scores: FloatArray


class FloorBiases(NamedTuple):
    """One bias per class, whether floors are promised there, and why not."""

    biases: FloatArray
    status: Status
    detail: str


def promise_floors(
    rows: ClassRows, rule: ClassFloors, labels: Sequence[Any], guide: ClassRows | None = None
) -> FloorBiases:
    """Return biases whose floors hold on fresh rows with the rule's confidence, if there are any.

    Parameters
    ----------
    rows : ClassRows
        Rows that the model has not seen; minus infinity for the score of an unknown class.
    rule : ClassFloors
        What is asked for.
    labels : sequence
        The classes by number.
    guide : ClassRows, default=None
        Other rows to propose biases; None parts the rows given.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], [1000, 200, 100])
    >>> scores = rng.normal(size=(1300, 3)) + 3 * np.eye(3)[y] - [0, 1, 2]
    >>> rule = ClassFloors(recall={"rare": 0.8})
    >>> found = promise_floors(ClassRows(y, scores), rule, ["usual", "seldom", "rare"])
    >>> found.status.name
    'SHARED'
    """
    rule.check_classes(labels)
    floors = _floors(rule, labels)
    counts = np.bincount(rows.y, minlength=len(labels))
    delta = 1.0 - rule.confidence
    least = np.array([rows_needed(1 - f, rule.confidence) if f else 0 for f in floors])
    if guide is None:
        guide, rows = _part(rows, np.maximum(np.ceil(counts / 2), least))
        counts = np.bincount(rows.y, minlength=len(labels))
    missing = [i for i in np.flatnonzero(floors) if counts[i] < least[i]]
    if missing:
        i = int(missing[0])
        both = ClassRows(
            np.concatenate([guide.y, rows.y]), np.concatenate([guide.scores, rows.scores])
        )
        nearest = meet_floors(both, rule, labels)
        return FloorBiases(
            nearest, Status.UNMET, _too_few(labels[i], floors[i], least[i], counts[i])
        )
    passed, failed = None, None
    for biases in _proposals(guide, rule, labels, floors, counts):
        errors = class_losses(*rows, biases, rule.losses(labels))
        bounds = clopper_pearson(np.rint(errors * counts), np.maximum(counts, 1), delta)
        short = np.where(floors > 0, floors - (1.0 - bounds), 0.0)
        if np.max(short) > _ROUNDING:
            failed = biases, short
            break
        passed = biases
    if passed is not None:
        return FloorBiases(passed, Status.SHARED, "")
    assert failed is not None
    return FloorBiases(failed[0], Status.UNMET, _missed(labels, floors, failed[1], rule))


def meet_floors(rows: ClassRows, rule: ClassFloors, labels: Sequence[Any]) -> FloatArray:
    """Return biases that meet the floors on the rows given, as counted there and not promised.

    Examples
    --------
    >>> y = np.repeat([0, 1, 2], 4)
    >>> rows = ClassRows(y, np.eye(3)[y] - [0.0, 0.0, 1.5])
    >>> biases = meet_floors(rows, ClassFloors(recall={2: 0.9}), [0, 1, 2])
    >>> np.argmax(rows.scores + biases, axis=1)[-4:].tolist()
    [2, 2, 2, 2]
    """
    return _search(rows, rule, labels, _floors(rule, labels))


def _floors(rule: ClassFloors, labels: Sequence[Any]) -> FloatArray:
    """Return the floor of each class, 0 for those without one."""
    return np.array([float(rule.recall.get(label, 0.0)) for label in labels])


def _part(rows: ClassRows, wanted: FloatArray) -> tuple[ClassRows, ClassRows]:
    """Return a guide and the rows that test, so many of each class as are wanted and to be had."""
    order = np.random.default_rng(0).permutation(len(rows.y))
    tests = np.zeros(len(rows.y), dtype=bool)
    for k, number in enumerate(wanted):
        of_class = order[rows.y[order] == k]
        # One row at least proposes.
        tests[of_class[: min(int(number), max(len(of_class) - 1, 0))]] = True
    guide, testing = (ClassRows(rows.y[at], rows.scores[at]) for at in (~tests, tests))
    return guide, testing


def _proposals(
    guide: ClassRows,
    rule: ClassFloors,
    labels: Sequence[Any],
    floors: FloatArray,
    counts: NDArray[np.intp],
) -> list[FloatArray]:
    """Return biases to be tested in this order: from what the guide can have down to the floors."""
    guided, found = np.bincount(guide.y, minlength=len(labels)), []
    for caution in _CAUTION:
        targets = _targets(floors, counts, guided, 1.0 - rule.confidence, caution)
        biases = _search(guide, rule, labels, targets)
        if _reaches(guide, biases, targets) or caution == _CAUTION[-1]:
            found.append(biases)
    # Before the first: all classes with a floor ahead of the others, which breaks no floor.
    spread = float(np.std(guide.scores[np.isfinite(guide.scores)]))
    ahead = found[0] + _AHEAD * spread * (floors > 0)
    parts = np.arange(_STEPS) / _STEPS
    between = [a + (b - a) * part for a, b in pairwise([ahead, *found]) for part in parts]
    return [*between, found[-1]]


def _targets(
    floors: FloatArray,
    counts: NDArray[np.intp],
    guided: NDArray[np.intp],
    delta: float,
    caution: float,
) -> FloatArray:
    """Return the recalls to ask of the guide: what a test needs, and some standard errors more."""
    targets = np.zeros(len(floors))
    for i in np.flatnonzero(floors):
        n = int(counts[i])
        bounds = clopper_pearson(np.arange(n + 1), n, delta)
        most = int(np.searchsorted(bounds, 1.0 - floors[i] + _ROUNDING, side="right")) - 1
        error = math.sqrt(floors[i] * (1 - floors[i]) * (1 / n + 1 / max(guided[i], 1)))
        targets[i] = min(max(1.0 - most / n + caution * error, 0.0), 1.0)
    return targets


def _search(
    rows: ClassRows, rule: ClassFloors, labels: Sequence[Any], targets: FloatArray
) -> FloatArray:
    """Return the best biases among those that reach the targets, or those that come nearest."""
    counts = np.bincount(rows.y, minlength=len(labels)).tolist()

    def value(losses: FloatArray) -> FloatArray:
        best = rule.total(losses, labels, counts)
        short = np.maximum(losses - (1.0 - targets) - _ROUNDING, 0.0).sum(axis=-1)
        return np.where(short > 0, _BEYOND * (1.0 + short) + best, best)

    costs = rule.losses(labels)
    balanced = search_biases(*rows, costs, lambda losses: losses.sum(axis=-1))
    return search_biases(*rows, costs, value, [balanced])


def _reaches(rows: ClassRows, biases: FloatArray, targets: FloatArray) -> bool:
    """Return whether every class with rows is found as often as asked."""
    recalls = 1.0 - class_losses(*rows, biases, 1.0 - np.eye(len(biases)))
    return bool(np.all(recalls >= targets - _ROUNDING))


def _too_few(label: Any, floor: float, least: float, rows: int) -> str:
    """Return why a floor cannot be promised whatever the scores."""
    return (
        f"The floor {floor:g} of class {label!r} cannot be promised: that takes {least:.0f} rows "
        f"of it, all of them found, and {rows} are there to test. Collect more rows of the class, "
        "or lower its floor or the confidence."
    )


def _missed(labels: Sequence[Any], floors: FloatArray, short: FloatArray, rule: ClassFloors) -> str:
    """Return which floor fails and by how much."""
    i = int(np.argmax(short))
    return (
        f"No biases promise all floors: of class {labels[i]!r} at least {floors[i] - short[i]:.3g} "
        f"is found with {rule.confidence:.4g} confidence, {short[i]:.2g} below its floor "
        f"{floors[i]:g}. Collect more rows of it, or lower its floor, another one, or the "
        "confidence."
    )
