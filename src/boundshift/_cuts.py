r"""Ordered classes: K − 1 cuts of one score, with guaranteed recalls of the bands.

The cuts :math:`c_1 \le \dots \le c_{K-1}` are chosen together. A row of band k is right if and only
if :math:`c_k < s \le c_{k+1}`. So goals that add up over bands are minimised exactly by dynamic
programming: the best loss of all bands up to k, for each place of its upper cut, follows from those
of the bands up to k − 1. The cuts are in order by construction.
"""

from __future__ import annotations

import math
import numbers
import warnings
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boundshift._result.boundary import answer_in_kind
from boundshift._result.records import (
    Record,
    require,
    require_classes,
    require_counts,
    require_share,
)
from boundshift._scores import ScoreSample, keep_in_float32
from boundshift._search import gap_edges, middle_of_gap
from boundshift._status import Status
from boundshift._typing import FloatArray, IndexArray, IntArray, Label
from boundshift._validation import as_known_scores, as_labels, as_scores, find_distinct
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import ClassFloors, CostMatrix
from boundshift.rules._guarantee import Guarantee

_GOALS = ("g-mean", "balanced_accuracy", "minimax")
_ORDER = "Use order=['low', 'medium', 'high'], for example."
_PLACES = (
    512  # of a cut that are compared at once; of more, those near the best are looked at again
)
_ROUNDS = 100
_LEAST_RIGHT = 1e-9  # a band that is always wrong must not weigh infinitely


@dataclass(frozen=True)
class Cuts(Record):
    """Cuts of one score into ordered bands.

    Parameters
    ----------
    thresholds : tuple of float
        K − 1 thresholds in ascending order. A row belongs to the band with as many thresholds below
        its score as there are bands below this one. A band between two equal thresholds is empty.
    labels : tuple
        The K bands, from the lowest scores to the highest.
    wrong, n_samples : tuple of int
        Rows of each band outside its two cuts, and all its rows, among those that decided.
    floors : dict
        The recalls that were asked for, by band.
    confidence : float or None
        Joint confidence of all floors; None without floors.
    status : Status
        OPTIMAL, or UNMET if no cuts meet all floors with this confidence.
    detail : str, default=""
        Which floors cannot be guaranteed, and the remedy.
    """

    thresholds: tuple[float, ...]
    labels: tuple[Label, ...]
    wrong: tuple[int, ...]
    n_samples: tuple[int, ...]
    floors: dict[Label, float]
    confidence: float | None
    status: Status
    detail: str = ""

    _format: ClassVar[str] = "boundshift.cuts"

    def _check_values(self) -> None:
        """Raise if values that were read are impossible or contradict each other."""
        require_classes(self.labels, {"wrong": self.wrong, "n_samples": self.n_samples})
        is_one_less = len(self.thresholds) == len(self.labels) - 1
        is_finite = all(map(math.isfinite, self.thresholds))
        is_ordered = list(self.thresholds) == sorted(self.thresholds)
        rule = "be finite, in order, and one fewer than the labels"
        require(is_one_less and is_finite and is_ordered, "thresholds", rule, self.thresholds)
        require_counts("n_samples", self.n_samples)
        are_whole = all(float(count).is_integer() for count in (*self.wrong, *self.n_samples))
        require(are_whole, "wrong", "be whole numbers of rows", (self.wrong, self.n_samples))
        require(min(self.n_samples) >= 1, "n_samples", "count rows of each band", self.n_samples)
        require_counts("wrong", self.wrong, self.n_samples)
        require(set(self.floors) <= set(self.labels), "floors", "be of the bands", self.floors)
        for floor in self.floors.values():
            require_share("floors", floor)
        has_floors = bool(self.floors)
        rule = "be given if and only if there are floors"
        require(has_floors == (self.confidence is not None), "confidence", rule, self.confidence)
        if self.confidence is not None:
            require_share("confidence", self.confidence)
        require(self.status in ("OPTIMAL", "UNMET"), "status", "be OPTIMAL or UNMET", self.status)
        guarantees = _share_risk(self.floors, self.confidence, self.labels)
        for k, guarantee in guarantees.items() if self.guaranteed else ():
            is_kept = self.wrong[k] <= _count_allowed(guarantee, k, self.n_samples)
            require(is_kept, "wrong", f"guarantee the floor of {guarantee.rate!r}", self.wrong)

    @property
    def errors(self) -> tuple[float, ...]:
        """Proportion of each band outside its two cuts, among the rows that decided."""
        return tuple(k / n for k, n in zip(self.wrong, self.n_samples, strict=True))

    @property
    def guaranteed(self) -> bool | None:
        """Whether all floors are guaranteed; None without floors."""
        return self.status is Status.OPTIMAL if self.floors else None

    def predict(self, y_score: Any) -> Any:
        """Return the band of each score.

        Parameters
        ----------
        y_score : array-like
            Scores in memory, none of them missing.

        Returns
        -------
        array, or a column of the same kind as the scores
            As :meth:`Boundary.predict` returns it: a series of pandas keeps its index and name.
        """
        band = np.searchsorted(self.thresholds, as_known_scores(y_score), side="left")
        return answer_in_kind(y_score, np.array(self.labels)[band])

    def __str__(self) -> str:
        lines = [f"{'band':<14}{'above':>12}{'rows':>9}{'wrong':>9}{'recall':>9}{'floor':>9}"]
        lows = ["", *(f"{threshold:.6g}" for threshold in self.thresholds)]
        rows = zip(self.labels, lows, self.n_samples, self.wrong, self.errors, strict=True)
        for label, low, n, wrong, error in rows:
            floor = f"{self.floors[label]:g}" if label in self.floors else ""
            line = f"{label!s:<14}{low:>12}{n:>9}{wrong:>9}{1.0 - error:>9.4f}{floor:>9}"
            lines.append(line.rstrip())
        if self.guaranteed:
            lines.append(f"All floors hold together with {self.confidence:.4g} confidence.")
        return "\n".join([*lines, *filter(None, [self.detail])])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def find_cuts(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    order: Sequence[Label] | None = None,
    rule: str | CostMatrix | ClassFloors | None = None,
) -> Cuts:
    r"""Find the thresholds that cut one score into ordered bands.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true band of each row, such as a grade from 1 to 5.
    y_score : array-like of shape (n_samples,)
        Real scores, higher for higher bands. Floors hold only if the model has not seen the rows.
    order : sequence of labels, default=None
        The bands, from the lowest scores to the highest. None sorts numbers; words need it.
    rule : str, CostMatrix or ClassFloors, default=None
        What to optimise, counted on these rows: the geometric mean ("g-mean", the default), the
        mean ("balanced_accuracy") or the minimum ("minimax") of the recalls of the bands;
        ``CostMatrix(costs, labels=order)`` for costs that grow with the distance between bands;
        or ``ClassFloors(recall={"high": 0.9})``, which guarantees recalls first.

    Returns
    -------
    Cuts
        If no cuts meet all floors, the status is UNMET, the cuts are those without floors, and a
        ``BoundaryWarning`` names what fails.

    Notes
    -----
    All cuts are chosen together by dynamic programming: exactly up to 511 distinct scores, and with
    more on a grid of gaps between scores that is refined around the best cuts.

    Floors hold jointly: each has an equal part of :math:`\delta = 1 -` confidence (Bonferroni). The
    scores of a band must be independent and come from the same distribution as later ones. For the
    lowest and the highest band, which have one cut, k of n rows may be on the wrong side, with the
    largest k whose Clopper–Pearson bound is within the floor. For a band between, the content of an
    interval from the (a + 1)-th smallest to the (b + 1)-th largest of its n scores is Beta
    distributed with :math:`n - a - b - 1` and :math:`a + b + 2`, whatever the distribution of the
    scores (Wilks 1941, Annals of Mathematical Statistics 12). So :math:`a + b = k - 1` rows may be
    outside, half of them on either side, which is fixed before the rows are seen. Each cut may then
    lie anywhere between two order statistics, of the band below and of the band above it, and the
    objective chooses among these places without weakening the guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import ClassFloors, find_cuts
    >>> rng = np.random.default_rng(0)
    >>> risk = np.repeat(["low", "medium", "high"], [900, 250, 50])
    >>> score = rng.normal(np.repeat([0.0, 2.5, 5.0], [900, 250, 50]))
    >>> cuts = find_cuts(
    ...     risk, score, order=["low", "medium", "high"], rule=ClassFloors(recall={"high": 0.8})
    ... )
    >>> [round(threshold, 1) for threshold in cuts.thresholds], cuts.wrong, cuts.guaranteed
    ([1.3, 3.9], (90, 39, 5), True)
    >>> cuts.predict([0.0, 2.0, 6.0]).tolist()
    ['low', 'medium', 'high']
    """
    labels, bands = _as_bands(y_true, order)
    rows = _Rows.of(bands, as_scores(y_score, len(bands)), labels)
    _check_rule(rule, labels)
    floors: dict[Label, float] = {}
    confidence = None
    goal = rule or "g-mean"
    if isinstance(goal, ClassFloors):
        floors = dict(goal.recall)
        confidence = goal.confidence
        goal = goal.then
    limits, detail = _find_limits(rows, _share_risk(floors, confidence, labels), labels)
    if detail:
        warnings.warn(detail, BoundaryWarning, stacklevel=2)
    gaps = _best_gaps(rows, _Goal.of(goal, rows, labels), limits)
    return Cuts(
        thresholds=tuple(map(rows.threshold_in, gaps.tolist())),
        labels=tuple(labels),
        wrong=rows.count_wrong(gaps),
        n_samples=tuple(rows.n_samples.tolist()),
        floors=floors,
        confidence=confidence,
        status=Status.UNMET if detail else Status.OPTIMAL,
        detail=detail,
    )


def _as_bands(y_true: ArrayLike, order: Sequence[Label] | None) -> tuple[list[Label], IndexArray]:
    """Return the bands in order, and the number of each row's band."""
    y = as_labels(y_true)
    values = find_distinct(y)
    distinct = values.tolist()
    if order is None and not all(isinstance(label, numbers.Real) for label in distinct):
        raise InvalidInputError(
            f"must be given for bands that are no numbers, got {distinct[:5]!r}. {_ORDER}",
            argument="order",
        )
    labels = distinct if order is None else list(order)
    if not 2 <= len(labels) == len(distinct) or set(labels) != set(distinct):
        raise InvalidInputError(
            f"must name two or more bands once, each with rows, got {labels!r} for the labels "
            f"{distinct!r}. {_ORDER}",
            argument="y_true" if order is None else "order",
        )
    number = np.array([labels.index(label) for label in distinct])
    return labels, number[np.searchsorted(values, y)]


def _check_rule(rule: str | CostMatrix | ClassFloors | None, labels: Sequence[Label]) -> None:
    if isinstance(rule, CostMatrix | ClassFloors):
        rule.check_classes(labels)
    elif rule is not None and rule not in _GOALS:
        raise InvalidInputError(
            f"must be one of {', '.join(map(repr, _GOALS))}, a CostMatrix or a ClassFloors, got "
            f"{rule!r}. Use ClassFloors(recall={{{labels[-1]!r}: 0.9}}), for example.",
            argument="rule",
        )


class _Rows(NamedTuple):
    """Distinct scores with a place beyond either end, and the rows of each band up to each gap."""

    edges: FloatArray
    at_most: IntArray  # a row for each band, a column for each gap from the lowest

    @classmethod
    def of(cls, bands: IndexArray, scores: FloatArray, labels: Sequence[Label]) -> _Rows:
        last = len(labels) - 1
        edges = gap_edges(ScoreSample.from_rows(bands > 0, scores, (labels[0], labels[last])))
        ends = (bands == 0) | (bands == last)
        if ScoreSample.from_rows(bands[ends] == last, scores[ends], (0, 1)).is_reversed:
            raise InvalidInputError(
                f"must be higher for the band {labels[last]!r} than for {labels[0]!r}, got lower "
                "ones. Negate the scores or reverse the order.",
                argument="y_score",
            )
        own_scores = [np.sort(scores[bands == k]) for k in range(len(labels))]
        at_most = [np.searchsorted(own, edges[:-1], side="right") for own in own_scores]
        return cls(edges, np.array(at_most))

    @property
    def n_samples(self) -> IntArray:
        """Rows of each band."""
        return self.at_most[:, -1]

    def threshold_in(self, gap: int) -> float:
        """Return the middle of a gap."""
        low, high = self.edges[gap : gap + 2].tolist()
        return keep_in_float32(middle_of_gap(low, high), low, high)

    def count_wrong(self, gaps: IndexArray) -> tuple[int, ...]:
        """Return the rows of each band outside its two cuts."""
        band = np.arange(len(self.at_most))
        below = self.at_most[band[1:], gaps]
        above = (self.n_samples - self.at_most[band, np.append(gaps, 0)])[:-1]
        return tuple((np.append(0, below) + np.append(above, 0)).tolist())


# --- Floors ---------------------------------------------------------------------------------------


def _share_risk(
    floors: Mapping[Label, float], confidence: float | None, labels: Sequence[Label]
) -> dict[int, Guarantee]:
    """Return the guarantee of each band with a floor, with an equal part of delta."""
    if confidence is None:
        return {}
    delta = (1.0 - confidence) / len(floors)
    return {labels.index(band): Guarantee(band, floor, delta) for band, floor in floors.items()}


def _count_allowed(guarantee: Guarantee, k: int, n_samples: Sequence[int]) -> int:
    """Return the most rows of band k that may be outside its cuts; below 0 if not even none."""
    n_cuts = 1 if k in (0, len(n_samples) - 1) else 2
    return guarantee.allowed_errors(n_samples[k], clopper_pearson) - (n_cuts - 1)


def _count_needed(guarantee: Guarantee, k: int, n_bands: int) -> int:
    """Return the fewest rows of band k that can show its floor."""
    enough = range(10**9)
    return bisect_left(enough, 0, key=lambda n: _count_allowed(guarantee, k, [n] * n_bands))


def _find_limits(
    rows: _Rows, guarantees: Mapping[int, Guarantee], labels: Sequence[Label]
) -> tuple[tuple[IndexArray, IndexArray], str]:
    """Return the first and the last gap of each cut that keep all floors, or why there are none."""
    last_band = len(labels) - 1
    free = np.zeros(last_band, np.intp), np.full(last_band, rows.at_most.shape[1] - 1)
    first, last = (ends.copy() for ends in free)
    problems = []
    for k, guarantee in guarantees.items():
        n = int(rows.n_samples[k])
        allowed = _count_allowed(guarantee, k, rows.n_samples.tolist())
        if allowed < 0:
            problems.append(
                f"A recall of {guarantee.limit:g} for {labels[k]!r} needs at least "
                f"{_count_needed(guarantee, k, len(labels)):,} rows of it, and there are {n:,}."
            )
            continue
        below = allowed if k == last_band else allowed // 2
        if k > 0:
            last[k - 1] = np.searchsorted(rows.at_most[k], below, side="right") - 1
        if k < last_band:
            above = allowed if k == 0 else allowed - below
            first[k] = np.searchsorted(rows.at_most[k], n - above)
    for low, high in combinations(sorted(guarantees), 2):
        if first[low] > last[high - 1]:
            problems.append(f"The bands {labels[low]!r} and {labels[high]!r} overlap too much.")
    if not problems:
        return (first, last), ""
    confidence = 1.0 - sum(guarantee.delta for guarantee in guarantees.values())
    return free, (
        f"No cuts meet all floors with {confidence:.4g} confidence, and those without floors are "
        f"used. {' '.join(problems)} Collect more rows, or lower a floor and decide on other rows."
    )


# --- The best cuts --------------------------------------------------------------------------------


class _Goal(NamedTuple):
    """The loss of each band as a function of the proportions of rows between its cuts."""

    weights: FloatArray  # of the rows of each band (row) if they lie in a band (column)
    measure: Callable[[FloatArray], FloatArray]
    is_minimax: bool

    @classmethod
    def of(cls, goal: str | CostMatrix, rows: _Rows, labels: Sequence[Label]) -> _Goal:
        own = np.eye(len(labels)) / rows.n_samples
        if isinstance(goal, CostMatrix):
            # The part of one row of each band in the expected cost.
            parts = goal.total(own, labels, rows.n_samples.tolist())
            return cls(goal.losses(labels) * parts[:, None], np.asarray, False)
        if goal == "g-mean":
            return cls(own, lambda recall: -np.log(np.maximum(recall, _LEAST_RIGHT)), False)
        return cls(own, lambda recall: 1.0 - recall, goal == "minimax")


def _best_gaps(rows: _Rows, goal: _Goal, limits: tuple[IndexArray, IndexArray]) -> IndexArray:
    """Return the gap of each cut: the best of all, or of a grid that is refined."""
    first, last = limits
    n_gaps = rows.at_most.shape[1]
    places = np.union1d(np.append(first, last), _spread(0, n_gaps - 1, _PLACES))
    n_near = max(_PLACES // len(first), 5)
    gaps = first
    for _ in range(_ROUNDS):
        chosen = _best_places(rows, goal, places, limits)
        gaps = places[chosen]
        low = places[np.maximum(chosen - 1, 0)]
        high = places[np.minimum(chosen + 1, len(places) - 1)]
        if np.all(high - low <= 2):
            break
        near = [_spread(*ends, n_near) for ends in zip(low.tolist(), high.tolist(), strict=True)]
        places = np.unique(np.concatenate([first, last, gaps, *near]))
    return gaps


def _spread(low: int, high: int, most: int) -> IndexArray:
    """Return whole numbers from low to high, evenly spaced if there are too many."""
    return np.linspace(low, high, min(high - low + 1, most)).round().astype(np.intp)


def _best_places(
    rows: _Rows, goal: _Goal, places: IndexArray, limits: tuple[IndexArray, IndexArray]
) -> IndexArray:
    """Return the best of some gaps for each cut, as indices of `places`."""
    bands = _BandLosses.of(rows, goal, places, limits)
    if not goal.is_minimax:
        return bands.best_places(np.add)[1]
    least_maximum, _ = bands.best_places(np.maximum)
    # The least sum among those with the least maximum.
    return bands.best_places(np.add, most=least_maximum)[1]


class _BandLosses(NamedTuple):
    """What each band loses if its cuts lie at some places; infinite where a cut must not lie."""

    first: FloatArray  # of the lowest band, by its upper cut
    between: list[FloatArray]  # of each other band, by its lower cut (row) and upper one (column)
    last: FloatArray  # of the highest band, by its lower cut

    @classmethod
    def of(
        cls, rows: _Rows, goal: _Goal, places: IndexArray, limits: tuple[IndexArray, IndexArray]
    ) -> _BandLosses:
        first_gap, last_gap = limits
        # For each band, the weight that it gives to the rows up to each place, and to all rows.
        up_to_place = goal.weights.T @ rows.at_most[:, places]
        in_all = goal.weights.T @ rows.n_samples
        is_allowed = (places >= first_gap[:, None]) & (places <= last_gap[:, None])
        is_ordered = places[:, None] <= places
        return cls(
            first=np.where(is_allowed[0], goal.measure(up_to_place[0]), np.inf),
            between=[
                np.where(is_ordered & allowed, goal.measure(own - own[:, None]), np.inf)
                for own, allowed in zip(up_to_place[1:-1], is_allowed[1:], strict=True)
            ],
            last=goal.measure(in_all[-1] - up_to_place[-1]),
        )

    def best_places(self, combine: np.ufunc, most: float = np.inf) -> tuple[float, IndexArray]:
        """Return the least loss and the place of each cut, by dynamic programming over the bands.

        A band must not lose more than `most`.
        """

        def within(losses: FloatArray) -> FloatArray:
            return np.where(losses <= most, losses, np.inf)

        total = within(self.first)  # of the bands so far, by the upper cut of the last of them
        best_before = []
        for losses in self.between:
            candidates = combine(total[:, None], within(losses))
            best_before.append(candidates.argmin(axis=0))
            total = candidates.min(axis=0)
        total = combine(total, within(self.last))
        chosen = [int(total.argmin())]
        for before in reversed(best_before):
            chosen.append(int(before[chosen[-1]]))
        return float(total.min()), np.array(chosen[::-1])
