"""Rows that are held out of all training, so that they alone guarantee floors.

Floors that the models of a cross-validation meet are no guarantee for another model. So some rows
are held out, and the threshold is put where they guarantee the floors. They must be a random sample
of the rows: rows are drawn, or whole groups, in equal proportions from each kind. A splitter of the
user cuts the other rows only.

A row that occurs several times must not decide about a model that was trained on a copy of it, nor
be counted as several rows. So copies are held out together, and each different row decides once.
Rows with few different values are equal by chance, and such rows are no copies. How many of a class
are equal by chance shows if the second half of the columns is exchanged between its rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from boundshift._typing import BoolArray, IndexArray, Label, LabelArray, RandomState, Rows
from boundshift._validation import as_share
from boundshift.curves import ClopperPearson, ErrorCurve
from boundshift.curves._base import ConfidenceCurve
from boundshift.curves._sequence import start_of
from boundshift.exceptions import InvalidInputError
from boundshift.models._fingerprint import hash_halves
from boundshift.rules import ClassFloors, Floors, Rule

# The share held out by default: neither too little for the threshold nor too much for the model.
_LEAST_SHARE = 0.2
_MOST_SHARE = 0.5
# A sequence of tests starts where half of the errors that a floor allows are shown. The distance to
# the floor falls with the root of the rows, so sixteen times as many leave an eighth.
_MULTIPLE = 16
# Rows count as copies if more than this many times as many are equal as after exchanges, of which
# the mean is taken.
_SURPLUS = 2.0
_EXCHANGES = 5
# Rows that are as good as any number, for where a sequence of tests starts.
_MANY_ROWS = 10**9


# What a guarantee needs.


def is_guaranteed(curve: ErrorCurve, rule: Rule) -> bool:
    """Return whether floors are to hold with high probability, not as estimates."""
    return bool(rule.guarantees(curve.delta))


def counts_groups(curve: ErrorCurve, rule: Rule) -> bool:
    """Return whether guaranteed floors can be counted by groups."""
    if not isinstance(rule, Floors) or not isinstance(curve, ClopperPearson):
        return False
    return set(rule.asked) <= {"recall", "specificity"} and rule.confidence is not None


def share_risk(curve: ErrorCurve, rule: Rule, n_fits: int) -> tuple[ErrorCurve, Rule]:
    """Return the same guarantees for each of several fits, so that they hold for all together."""
    if isinstance(rule, ClassFloors):
        return curve, replace(rule, confidence=share_confidence(rule.confidence, n_fits))
    if n_fits == 1 or not isinstance(rule, Floors) or not isinstance(curve, ConfidenceCurve):
        return curve, rule
    level = share_confidence(curve.confidence, n_fits)
    if rule.confidence != "auto":
        rule = replace(rule, confidence=level)
    return replace(curve, confidence=level), rule


def share_confidence(confidence: float, n_fits: int) -> float:
    """Return the confidence of each of several fits that hold together with a confidence."""
    return confidence if n_fits == 1 else 1.0 - (1.0 - confidence) / n_fits


class Demand(NamedTuple):
    """The fewest rows that can guarantee a floor, a good number of them, and those there are."""

    least: float
    good: float
    n_rows: int


def find_demands(curve: ErrorCurve, rule: Rule, counts: Mapping[Label, int]) -> list[Demand] | None:
    """Return what each guaranteed floor needs, None if nothing is guaranteed.

    A good number of rows shows seven eighths of the errors that the floor allows. `counts` has the
    rows of each class, the negative class first.
    """
    guarantees = rule.guarantees(curve.delta)
    if not guarantees:
        return None
    if any(guarantee.error_rate <= 0.0 for guarantee in guarantees):
        return [Demand(math.inf, math.inf, 1)]
    rows = counts
    if not isinstance(rule, ClassFloors):
        negative, positive = counts.values()
        rows = {
            "recall": positive,
            "specificity": negative,
            "precision": positive,
            "npv": negative,
            "flagged": negative + positive,
        }
    return [
        Demand(
            each.rows_needed,
            _MULTIPLE * start_of(1.0 - each.error_rate, each.delta, _MANY_ROWS),
            rows[each.rate],
        )
        for each in guarantees
    ]


@dataclass(frozen=True)
class Shortage:
    """A floor that cannot be guaranteed: too few of its rows or groups can be held out."""

    least: int
    least_in_all: int
    n_rows: int
    unit: str


def choose_share(
    demands: list[Demand], holdout: float | None, unit: str = "rows"
) -> float | Shortage | None:
    """Return the share of rows to hold out, or what is missing; None if no share suffices."""
    most = _MOST_SHARE if holdout is None else holdout
    for demand in demands:
        if not math.isfinite(demand.least):
            return None
        if demand.least > math.floor(most * demand.n_rows + 1e-9):
            least = int(demand.least)
            return Shortage(least, math.ceil(least / most - 1e-9), demand.n_rows, unit)
    if holdout is not None:
        return holdout
    wanted = max((demand.good / demand.n_rows for demand in demands), default=0.0)
    return min(max(wanted, _LEAST_SHARE), _MOST_SHARE)


def check_holdout(holdout: float | None) -> None:
    """Raise unless a share to hold out is None or between 0 and 1."""
    if holdout is not None:
        as_share("holdout", holdout, "Use 0.3 to hold out three rows in ten.")


def check_chosen_among(n_fits: int) -> int:
    """Return the number of fits that share the risk."""
    if not isinstance(n_fits, int | np.integer) or isinstance(n_fits, bool) or n_fits < 1:
        raise InvalidInputError(
            f"must be a whole number from 1, got {n_fits!r}. Use 3 if you choose "
            "the best of three fits.",
            argument="chosen_among",
        )
    return int(n_fits)


# Rows that stay together.


@dataclass(frozen=True)
class Units:
    """Which rows belong together: copies of a row, or the rows of a group and copies of these.

    `number` numbers each row's unit from 0. `n_copies` counts the rows that have an earlier copy.
    """

    number: IndexArray
    n_copies: int
    are_groups: bool

    @property
    def name(self) -> str:
        """What is counted."""
        return "groups" if self.are_groups else "rows"

    def count(self, is_chosen: BoolArray) -> int:
        """Return how many units have a row that is chosen."""
        return len(np.unique(self.number[is_chosen]))

    def keep_one(self, rows: IndexArray, y: IndexArray) -> IndexArray:
        """Return the rows that count: one of each class of a unit, or all rows of groups."""
        if self.are_groups or not self.n_copies:
            return rows
        _, first = np.unique(np.stack([self.number[rows], y[rows]]), axis=1, return_index=True)
        return rows[np.sort(first)]


def find_units(X: Rows, y: IndexArray, groups: LabelArray | None) -> Units:
    """Return which rows stay together, given each row's class and group."""
    copies = _number_copies(X, y)
    n_copies = len(y) - len(np.unique(copies))
    if groups is None:
        return Units(copies, n_copies, are_groups=False)
    _, group = np.unique(groups, return_inverse=True)
    # A copy that occurs in two groups joins them.
    n_groups = int(group.max()) + 1
    n_nodes = n_groups + int(copies.max()) + 1
    links = coo_array((np.ones(len(y)), (group, n_groups + copies)), shape=(n_nodes, n_nodes))
    _, part = connected_components(links, directed=False)
    _, number = np.unique(part[group], return_inverse=True)
    return Units(number, n_copies, are_groups=True)


def _number_copies(X: Rows, y: IndexArray) -> IndexArray:
    """Return a number for each row, the same for copies of it in its class."""
    first, second = hash_halves(X)
    number = np.arange(len(y))
    random = np.random.default_rng(0)
    for k in range(int(y.max()) + 1):
        mine = np.flatnonzero(y == k)
        n_equal = _count_equal(first[mine], second[mine])
        exchanged = [
            _count_equal(first[mine], random.permutation(second[mine])) for _ in range(_EXCHANGES)
        ]
        if n_equal > _SURPLUS * np.mean(exchanged):
            rows = _join(first[mine], second[mine])
            _, place, inverse = np.unique(rows, return_index=True, return_inverse=True)
            number[mine] = mine[place][inverse]
    _, number = np.unique(number, return_inverse=True)
    return number


def _join(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return one hash of two."""
    return first * np.uint64(3) + second


def _count_equal(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> int:
    """Return how many rows are equal to an earlier one."""
    return len(first) - len(np.unique(_join(first, second)))


# The draw.


@dataclass(frozen=True)
class HoldOut:
    """Rows to train on, and the rows held out that decide, each different one once.

    `cluster` has the groups of the rows that decide. `n_held` counts all rows held out of `n_rows`,
    `n_copies` the copies among all rows.
    """

    train: IndexArray
    decide: IndexArray
    cluster: IndexArray | None
    n_held: int
    n_rows: int
    n_copies: int

    @classmethod
    def draw(
        cls,
        units: Units,
        y: IndexArray,
        is_decider: BoolArray,
        share: float,
        random_state: RandomState,
    ) -> HoldOut:
        """Draw a share of the units, the same ones every time if `random_state` is None.

        Units are of one kind if they have rows of the same classes.
        """
        is_held = draw_units(units.number, y, share, random_state)[units.number]
        held = np.flatnonzero(is_held & is_decider)
        decide = units.keep_one(held, y)
        cluster = units.number[decide] if units.are_groups else None
        train = np.flatnonzero(~is_held)
        n_rows = int(np.count_nonzero(is_decider))
        return cls(train, decide, cluster, len(held), n_rows, units.n_copies)


def draw_units(
    unit: IndexArray, y: IndexArray, share: float, random_state: RandomState
) -> BoolArray:
    """Return which units are drawn at random, in equal proportions from each kind."""
    has_class = np.zeros((int(unit.max()) + 1, int(y.max()) + 1), dtype=np.bool_)
    has_class[unit, y] = True
    _, kind = np.unique(has_class, axis=0, return_inverse=True)
    random = check_random_state(0 if random_state is None else random_state)
    order = random.permutation(len(has_class))
    is_drawn = np.zeros(len(has_class), dtype=np.bool_)
    for k, size in enumerate(np.bincount(kind)):
        is_drawn[order[kind[order] == k][: math.ceil(share * size - 1e-9)]] = True
    return is_drawn
