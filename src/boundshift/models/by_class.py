"""Biases for rules that name every class: costs of each mistake, or floors of each recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from boundshift.curves import Empirical, ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models.folds import Deciding
from boundshift.multiclass import pair_boundaries
from boundshift.promises.class_floors import ClassRows, meet_floors, promise_floors
from boundshift.result.boundary import Boundary
from boundshift.rules import ClassFloors, ClassRule
from boundshift.search.biases import search_biases
from boundshift.status import QUIET, Status
from boundshift.typing import FloatArray

__all__ = ["DecidedByClass", "check_by_class", "decide_by_class"]


class DecidedByClass(NamedTuple):
    """One bias per class, the boundaries between pairs, and a warning, if there is one."""

    biases: FloatArray
    boundaries: dict[tuple[Any, Any], Boundary]
    message: str


def check_by_class(
    rule: ClassRule, curve: ErrorCurve, multi_class: str, labels: Sequence[Any]
) -> None:
    """Raise if the rule does not fit the classes, or a setting would have no effect."""
    rule.check_classes(labels)
    if not isinstance(curve, Empirical):
        raise InvalidInputError(
            f"`curve` must be None or 'empirical' with {type(rule).__name__}, whose biases are "
            f"found by counting rows, got {curve!r}. Leave it out."
        )
    if multi_class != "joint":
        raise InvalidInputError(
            f"`multi_class` must be 'joint' with {type(rule).__name__}, which decides all classes "
            f"together, got {multi_class!r}. Leave it out."
        )


def decide_by_class(
    labels: Sequence[Any],
    deciding: Deciding,
    guide: Deciding | None,
    curve: ErrorCurve,
    rule: ClassRule,
) -> DecidedByClass:
    """Return the biases that a rule about many classes asks for.

    Parameters
    ----------
    labels : sequence
        The classes by number.
    deciding : Deciding
        The rows that decide.
    guide : Deciding, default=None
        Rows scored by fold models, where those that decide were kept apart.
    curve, rule : ErrorCurve, ClassRule
        As checked.
    """
    rows = _known(deciding)
    status, detail = Status.SHARED, ""
    if isinstance(rule, ClassFloors):
        if deciding.origin == "held-out":
            found = promise_floors(rows, rule, labels, None if guide is None else _known(guide))
            biases, status, detail = found
        else:
            biases, status = meet_floors(rows, rule, labels), Status.NOT_PROMISED
    else:
        counts = np.bincount(rows.y, minlength=len(labels)).tolist()
        biases = search_biases(
            *rows, rule.losses(labels), lambda losses: rule.total(losses, labels, counts)
        )
    boundaries = pair_boundaries(*deciding[:2], biases, labels, curve, rule.for_pair)
    if status not in QUIET:
        boundaries = {
            pair: replace(boundary, status=status, detail=detail)
            for pair, boundary in boundaries.items()
        }
    message = "" if status in QUIET else detail or status.value
    return DecidedByClass(biases, boundaries, message)


def _known(deciding: Deciding) -> ClassRows:
    """Return rows whose unknown classes cannot win."""
    return ClassRows(deciding.y, np.nan_to_num(deciding.scores, nan=-np.inf))
