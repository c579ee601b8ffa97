"""Rows kept out of training, so that floors can be promised of the model that is deployed.

A floor that the models of a cross-validation meet says nothing certain of another model. Where
floors are asked for as a promise, `fit` keeps some rows of each class apart, trains without them,
and puts the boundary where these rows promise the floors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from boundshift.curves import ErrorCurve
from boundshift.curves.counts import ConfidenceCurve
from boundshift.curves.floors import start_of
from boundshift.exceptions import InvalidInputError
from boundshift.promises.planning import rows_needed
from boundshift.result.boundary import Boundary
from boundshift.rules import ClassFloors, Floors, Rule
from boundshift.status import QUIET, Status
from boundshift.typing import IndexArray

__all__ = [
    "as_random_state",
    "held_share",
    "held_share_of_classes",
    "hold_out",
    "is_promise",
    "qualify_promise",
    "splits_within",
]


# At least so much is kept apart, for a boundary that is not too cautious; at most so much, for a
# model that is not too poor.
_LEAST_SHARE, _MOST_SHARE = 0.2, 0.5


def held_share(curve: ErrorCurve, rule: Rule, n_samples: tuple[int, int]) -> float | None:
    """Return which share of the rows to keep apart, or None if nothing is promised.

    As much as lets half of the errors that the floors allow be seen, between a fifth and a half;
    None if a half would not do even with every row on the right side, or if no promise is asked
    for.

    Parameters
    ----------
    curve, rule : ErrorCurve, Rule
        What decides.
    n_samples : tuple of int
        Rows of each class (negative, positive).

    Examples
    --------
    >>> from boundshift import ClopperPearson, Floors
    >>> [held_share(ClopperPearson(), Floors(recall=0.9), (900, n)) for n in (50, 100, 200, 1000)]
    [None, 0.5, 0.38, 0.2]
    """
    if not is_promise(curve, rule):
        return None
    wanted = 0.0
    for least, good, rows in _demands(curve, rule, n_samples):
        if least > math.floor(_MOST_SHARE * rows):
            return None
        wanted = max(wanted, good / rows)
    return min(max(wanted, _LEAST_SHARE), _MOST_SHARE)


def held_share_of_classes(rule: ClassFloors, counts: Mapping[Any, int]) -> float | None:
    """Return the same for floors of many classes, from the rows of each class by label.

    Examples
    --------
    >>> rule = ClassFloors(recall={"rare": 0.8, "usual": 0.5})
    >>> held_share_of_classes(rule, {"rare": 100, "usual": 1000, "other": 3})
    0.3
    """
    wanted = 0.0
    for label, floor in rule.recall.items():
        if rows_needed(1.0 - floor, rule.confidence) > math.floor(_MOST_SHARE * counts[label]):
            return None
        wanted = max(wanted, start_of(floor, 1.0 - rule.confidence, 10**9) / counts[label])
    return min(max(wanted, _LEAST_SHARE), _MOST_SHARE)


def is_promise(curve: ErrorCurve, rule: Rule) -> bool:
    """Return whether floors are asked for with high probability, not as estimates."""
    return isinstance(rule, Floors) and isinstance(curve, ConfidenceCurve)


def _demands(
    curve: ErrorCurve, rule: Rule, n_samples: tuple[int, int]
) -> list[tuple[float, float, int]]:
    """Return for each floor the fewest rows that can promise it, a good number, and those there."""
    assert isinstance(rule, Floors)
    assert isinstance(curve, ConfidenceCurve)
    each = curve.delta / len(rule.promised)
    negative, positive = n_samples
    rows = {"recall": positive, "specificity": negative, "precision": positive, "npv": negative}
    demands: list[tuple[float, float, int]] = []
    for name in rule.promised:
        value = rule.asked[name]
        floor = 1.0 - value if name == "flagged" else value
        if floor >= 1.0:
            return [(math.inf, math.inf, 1)]
        # Of the rows that precision and npv speak of, about this share are of the class.
        share = floor if name in ("precision", "npv") else 1.0
        least = rows_needed(1.0 - floor, 1.0 - each)
        good = start_of(floor, each, 10**9)
        if rule.prevalence is not None and name in ("precision", "npv", "flagged"):
            good = 10**9
        n = rows.get(name, negative + positive)
        demands.append((math.ceil(share * least), share * good, n))
    return demands


def hold_out(
    y: NDArray[Any],
    share: float,
    cv: Any,
    random_state: Any,
    X: Any = None,
    split_params: Mapping[str, Any] | None = None,
) -> tuple[IndexArray, IndexArray]:
    """Return rows to train on and rows kept apart, in about the classes' proportion.

    Parameters
    ----------
    y : array of bool or int
        Which rows are of one of two classes, or the class numbers of all rows.
    share : float
        Of each class, to keep apart.
    cv : int, splitter or iterable
        A splitter's test parts are kept apart, as many as it takes: it knows which rows belong
        together. With an int, rows are drawn.
    random_state : int, RandomState or None
        Seed of the draw; None draws the same rows every time.
    X, split_params
        For the splitter.

    Examples
    --------
    >>> train, held = hold_out(np.arange(100) < 20, 0.25, 5, None)
    >>> len(train), len(held), int(np.sum(held < 20))
    (75, 25, 5)
    """
    number = y.astype(np.intp)
    totals = np.bincount(number, minlength=2)
    goals = np.ceil(share * totals - 1e-9).astype(int)
    if isinstance(cv, int | np.integer):
        random = as_random_state(0 if random_state is None else random_state)
        order = random.permutation(len(y))
        held = np.concatenate([order[number[order] == k][:m] for k, m in enumerate(goals)])
    else:
        parts = []
        for _, test in check_cv(cv, y, classifier=True).split(X, y, **(split_params or {})):
            parts.append(np.asarray(test))
            found = np.bincount(number[np.concatenate(parts)], minlength=len(totals))
            if np.all(found >= goals):
                break
        held = np.unique(np.concatenate(parts))
    train = np.setdiff1d(np.arange(len(y)), held)
    if len(totals) == 2 and totals[0] != totals[1]:
        # The rarer class names the positive one, so it stays the rarer one here.
        is_rarer = number[held] == np.argmin(totals)
        most = np.count_nonzero(~is_rarer) - 1
        held = held[~is_rarer | (np.cumsum(is_rarer) <= most)]
    return train, np.sort(held)


def as_random_state(random_state: Any) -> np.random.RandomState:
    """Return scikit-learn's generator of random numbers out of a seed."""
    try:
        random: np.random.RandomState = check_random_state(random_state)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            "`random_state` must be a whole number from 0 to 2**32 - 1, a RandomState or None, "
            f"got {random_state!r}. Use random_state=0."
        ) from None
    return random


def splits_within(cv: Any, train: IndexArray) -> Any:
    """Return the same splits among the rows to train on, where they are given one by one.

    Examples
    --------
    >>> splits_within([([0, 1, 2], [3]), ([3], [0, 1])], np.array([0, 2, 3]))
    [(array([0, 1]), array([2])), (array([2]), array([0]))]
    """
    if isinstance(cv, int | np.integer) or hasattr(cv, "split"):
        return cv
    parts = [tuple(np.searchsorted(train, np.intersect1d(part, train)) for part in s) for s in cv]
    return [split for split in parts if all(len(part) for part in split)]


def qualify_promise(
    boundary: Boundary,
    origin: Literal["held-out", "out-of-fold", "training"],
    n_trained: int | None = None,
) -> Boundary:
    """Return a boundary that says which rows its promise rests on, or why it is none.

    Parameters
    ----------
    boundary : Boundary
        As decided.
    origin : {"held-out", "out-of-fold", "training"}
        Where the scores that decided come from.
    n_trained : int, default=None
        Rows that `fit` trained on after it held out the others; None if it held out none.
    """
    curve, rule = boundary.curve, boundary.rule
    if n_trained is not None and is_promise(curve, rule):
        held = sum(boundary.n_samples)
        said = f"{held:,} of {held + n_trained:,} rows were held out of training to choose it."
        return replace(boundary, detail=f"{boundary.message} {said}")
    if origin == "held-out" or not is_promise(curve, rule) or boundary.status not in QUIET:
        return boundary
    return replace(boundary, status=Status.NOT_PROMISED, detail=_why_not(boundary, origin))


def _why_not(boundary: Boundary, origin: str) -> str:
    """Return why floors are not promised, and what would be needed."""
    other = "or use cv='prefit' with rows that the model has not seen"
    if origin == "training":
        return (
            "The floors are met on the rows that the model was fitted on, which flatter it, and "
            f"are not promised of fresh rows. Use cv=5, which keeps rows apart, {other}."
        )
    for least, _, rows in _demands(boundary.curve, boundary.rule, boundary.n_samples):
        if least > math.floor(_MOST_SHARE * rows) and math.isfinite(least):
            return (
                "The floors are met by the models of the folds, and not promised of the deployed "
                f"one: that takes {least:.0f} rows kept apart, so {2 * least:.0f} in all of which "
                f"there are {rows}. Collect more of them, lower the floor or the confidence, "
                f"{other}."
            )
    return ""
