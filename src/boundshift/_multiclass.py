r"""More than two classes: one bias per class, from curves between pairs or by counting rows.

The prediction is :math:`\arg\max_k (s_k + b_k)`, so a pair of classes is decided on
:math:`s_j - s_i` at the threshold :math:`b_i - b_j`. With two classes that is the binary method.

"pairwise" gives each pair its own threshold :math:`t_{ij}` and finds biases with
:math:`b_i - b_j \approx t_{ij}` by weighted least squares. "joint" minimises

.. math:: \sum_{i<j} -\ln\left(1 - V_{ij}(b_i - b_j)\right),

with the rule's value :math:`V_{ij}` of a pair, from 0 where no error is claimed to 1 where all is
wrong. With the rule "g-mean" that is the product of all recalls between pairs.

Rules that name the classes, :class:`~boundshift.CostMatrix` and :class:`~boundshift.ClassFloors`,
count rows. With all biases but one fixed, each row changes class at one value of that bias, so the
losses of all classes are step functions of it, known exactly.

Both searches are one coordinate descent: each bias in turn moves to its best place, while the loss
falls. The rows decide the order of the classes, not their labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

import numpy as np

from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._search import ErrorsAt
from boundshift._status import QUIET, Status
from boundshift._typing import Counts, FloatArray, IndexArray, Label
from boundshift.curves import ErrorCurve, SupportRadius
from boundshift.curves._base import status_of
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.rules import ClassFloors, Rule
from boundshift.rules._guarantee import Guarantee

Strategy = Literal["joint", "pairwise"]
Function = Callable[[FloatArray], FloatArray]
Profile = tuple[FloatArray, Function]
"""Places of one bias, the others fixed, and the function from places to losses."""
Table = tuple[FloatArray, FloatArray]
"""Thresholds of a pair, and its loss at each."""

# A pair's loss is tabulated at this many quantiles of either class, and between the neighbours of
# the best of them.
_QUANTILES = 257
_REFINED = 65
_LEAST_RIGHT = 1e-9  # a pair that is always wrong must not weigh infinitely
_PLACES = 4096  # at which one bias is tried before those next to the best
_ROUNDS = 100
_SAME = 1e-9  # losses that differ by less are equal
_FEW_ROWS = 3  # a class with at most this many rows is never held back
# Standard errors that proposals of floors add to what a test needs, from cautious to daring, and
# steps from each proposal to the next.
_CAUTION = (3.0, 1.5, 0.0, -1.5)
_STEPS = 16
_AHEAD = 4.0  # standard deviations by which classes with a floor lead in the first proposal
_BEYOND = 1e3  # above every objective, so that floors come first
_ROUNDING = 1e-12


class ClassBiases(NamedTuple):
    """One bias per class, and what they decide."""

    biases: FloatArray  # those of classes with rows sum to zero
    boundaries: dict[
        tuple[Label, Label], Boundary
    ]  # on the score of the second minus the first class
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
    is_joint = strategy == "joint" and not isinstance(curve, SupportRadius)
    names = range(scores.shape[1]) if labels is None else labels
    counts = np.bincount(y, weights, minlength=len(names))
    if is_joint:
        biases, pairs = _joint_biases(y, scores, names, curve, rule, weights)
    else:
        pairs = _find_pairs(y, scores, names, curve, weights)
        solved = {key: curve.solve(pair.sample, rule) for key, pair in pairs.items()}
        pairs = {key: pair._replace(status=solved[key].status) for key, pair in pairs.items()}
        thresholds = {key: solution.found.threshold for key, solution in solved.items()}
        biases = _reconcile(thresholds, pairs, len(names))
    _favour_few(biases, counts, pairs)
    boundaries = {
        pair.sample.labels: _boundary_at(biases[i] - biases[j], pair, curve, rule)
        for (i, j), pair in pairs.items()
    }
    return ClassBiases(biases, boundaries, [pair.status for pair in pairs.values()])


def pair_boundaries(
    y: IndexArray,
    scores: FloatArray,
    biases: FloatArray,
    labels: Sequence[Label],
    curve: ErrorCurve,
    rule_of: Callable[[Label, Label], Rule],
) -> dict[tuple[Label, Label], Boundary]:
    return {
        pair.sample.labels: _boundary_at(
            biases[i] - biases[j], pair, curve, rule_of(*pair.sample.labels)
        )
        for (i, j), pair in _find_pairs(y, scores, labels, curve).items()
    }


# --- Pairs of classes -----------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two classes with rows, on the score of the second minus that of the first."""

    sample: ScoreSample
    errors: ErrorsAt  # which the curve claims
    status: Status

    def turned(self) -> Pair:
        """Return the same two classes in the other order."""

        def errors(thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
            # A row at a threshold is on the side of the class that comes first.
            first, second = self.errors(np.nextafter(-thresholds, -np.inf))
            return second, first

        return Pair(self.sample.mirrored(), errors, self.status)


Pairs = dict[tuple[int, int], Pair]
"""Pairs by the numbers of their classes."""


def _find_pairs(
    y: IndexArray,
    scores: FloatArray,
    names: Sequence[Label],
    curve: ErrorCurve,
    weights: FloatArray | None = None,
) -> Pairs:
    """Return each pair of classes that both have rows."""
    pairs = {}
    used = np.ones(len(y), dtype=np.bool_) if weights is None else weights > 0
    rows_of = [np.flatnonzero((y == k) & used) for k in range(scores.shape[1])]
    for i, j in combinations(range(scores.shape[1]), 2):
        rows = np.concatenate([rows_of[i], rows_of[j]])
        difference = scores[rows, j] - scores[rows, i]
        is_decided = ~np.isnan(difference)
        rows = rows[is_decided]
        mine = y[rows] == j
        weight = None if weights is None else weights[rows]
        if 0 < np.count_nonzero(mine) < len(mine):
            labels = names[i], names[j]
            sample = ScoreSample.from_rows(mine, difference[is_decided], labels, weight)
            pairs[i, j] = Pair(sample, curve.errors(sample), status_of(sample))
    return pairs


def _boundary_at(threshold: float, pair: Pair, curve: ErrorCurve, rule: Rule) -> Boundary:
    """Return the record of a threshold, which need not be the best one for this pair."""
    sample = pair.sample
    status = pair.status
    at = np.array([float(threshold)])
    errors = pair.errors(at)
    wrong = sample.count_wrong(at)
    claimed = (float(errors[0][0]), float(errors[1][0]))
    if curve.delta is not None:  # the rows chose the threshold
        claimed = curve.errors_at_chosen(sample, float(threshold), rule)
    return Boundary(
        threshold=float(threshold),
        status=Status.SHARED if status in QUIET else status,
        errors=claimed,
        wrong=(wrong[0][0].item(), wrong[1][0].item()),
        loss=float(rule.value(*errors, sample.n_samples)[0]),
        n_samples=sample.n_samples,
        labels=sample.labels,
        curve=curve,
        rule=rule,
        plateau=(float(threshold), float(threshold)),
    )


def _reconcile(
    thresholds: Mapping[tuple[int, int], float], pairs: Pairs, n_classes: int
) -> FloatArray:
    r"""Solve :math:`b_i - b_j \approx t_{ij}` by weighted least squares.

    A threshold's variance falls with the rows of the smaller class.
    """
    laplacian = np.zeros((n_classes, n_classes))
    right = np.zeros(n_classes)
    for (i, j), t in thresholds.items():
        first, second = pairs[i, j].sample.n_samples
        w = 1 / (1 / first + 1 / second)
        laplacian[[i, j], [i, j]] += w
        laplacian[[i, j], [j, i]] -= w
        right[[i, j]] += w * t, -w * t
    # The least-norm solution sums to zero on every connected set of classes.
    return np.asarray(np.linalg.lstsq(laplacian, right, rcond=None)[0], dtype=np.float64)


def _favour_few(biases: FloatArray, counts: Counts, pairs: Pairs) -> None:
    """Give a class of very few rows, which may be right by luck, no smaller a bias than others."""
    decided = {k for pair in pairs for k in pair}
    undecided = [k not in decided for k in range(len(biases))]
    few = (counts > 0) & ((counts <= _FEW_ROWS) | np.array(undecided))
    if not few.all():
        biases[few] = np.maximum(biases[few], biases[~few].max())
    biases[counts > 0] -= biases[counts > 0].mean()


def _joint_biases(
    y: IndexArray,
    scores: FloatArray,
    names: Sequence[Label],
    curve: ErrorCurve,
    rule: Rule,
    weights: FloatArray | None,
) -> tuple[FloatArray, Pairs]:
    """Return the biases at which all pairs together lose least, and the pairs."""
    order = _order_classes(y, np.nan_to_num(scores), weights)[::-1]  # from the largest class
    number = np.argsort(order)
    ordered_names = [names[k] for k in order]
    pairs = _find_pairs(number[y], scores[:, order], ordered_names, curve, weights)
    tables = {key: _tabulate(pair, rule) for key, pair in pairs.items()}
    best = {key: float(t[_middle_of_least(losses)]) for key, (t, losses) in tables.items()}
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

    biases = _descend(_reconcile(best, pairs, len(order)), profile)
    seen = [k for k, of_class in enumerate(own) if of_class]
    biases[seen] -= biases[seen].mean() if seen else 0.0
    in_order: Pairs = {}
    for (i, j), pair in pairs.items():
        first, second = int(order[i]), int(order[j])
        in_order[min(first, second), max(first, second)] = pair if first < second else pair.turned()
    return biases[number], dict(sorted(in_order.items()))


def _order_classes(
    y: IndexArray, scores: FloatArray, weights: FloatArray | None = None
) -> IndexArray:
    """Return the classes from the smallest to the largest, equal ones by their own scores."""
    own = scores[np.arange(len(y)), y]
    sums = np.bincount(y, np.where(np.isfinite(own), own, 0.0), scores.shape[1])
    return np.lexsort((sums, np.bincount(y, weights, minlength=scores.shape[1])))


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
    ends = _with_ends(np.unique(np.concatenate(quantiles)))
    thirds = ends[:-1, None] + np.diff(ends)[:, None] * (np.arange(3) / 3)
    nodes = np.unique(np.append(thirds.ravel(), ends[-1]))
    losses = losses_at(nodes)
    least = np.flatnonzero(losses <= losses.min() + _SAME)
    low = nodes[max(least[0] - 1, 0)]
    high = nodes[min(least[-1] + 1, len(nodes) - 1)]
    nodes = np.union1d(nodes, np.linspace(float(low), float(high), _REFINED))
    return nodes, losses_at(nodes)


def _with_ends(places: FloatArray) -> FloatArray:
    reach = (places[-1] - places[0]) / 8 or abs(places[0]) or 1.0
    return np.concatenate([[places[0] - reach], places, [places[-1] + reach]])


# --- The descent ----------------------------------------------------------------------------------


def _descend(
    biases: FloatArray, profile: Callable[[FloatArray, int], Profile], *, counted: bool = False
) -> FloatArray:
    """Move one bias after the other to its best place, while that is a gain."""
    for _ in range(_ROUNDS):
        moved = False
        for k in range(len(biases)):
            places, losses = profile(biases, k)
            if not len(places):
                continue
            # The best of a thin grid, then the best around it.
            places = np.sort(places)
            thin = places[:: max(1, len(places) // _PLACES)]
            at = _middle_of_least(losses(thin), counted=counted)
            low = thin[max(at - 1, 0)]
            high = thin[min(at + 1, len(thin) - 1)]
            close = places[(places >= low) & (places <= high)]
            *then, now = losses(np.append(close, biases[k])).tolist()
            at = _middle_of_least(np.array(then), counted=counted)
            if now - then[at] > _SAME * (abs(now) if counted else 1.0):
                biases[k] = close[at]
                moved = True
        if not moved:
            break
    return biases


def _middle_of_least(values: FloatArray, *, counted: bool = False) -> int:
    """Return the middle of the first run of least values; if counted, of the longest one."""
    same = _SAME * abs(values.min()) if counted else _SAME
    least = np.concatenate([[False], values <= values.min() + same, [False]])
    edges = np.flatnonzero(np.diff(least.astype(np.int8)))
    starts = edges[::2]
    ends = edges[1::2]
    run = int(np.argmax(ends - starts)) if counted else 0
    return int((starts[run] + ends[run] - 1) // 2)


# --- Rules that name the classes: biases by counting rows -----------------------------------------


def class_losses(
    y: IndexArray, scores: FloatArray, biases: FloatArray, costs: FloatArray
) -> FloatArray:
    """Return the mean loss of each class's rows at given biases, 0 for a class without rows."""
    winner = np.argmax(scores + biases, axis=1)
    totals = np.bincount(y, costs[y, winner], len(costs))
    return np.asarray(totals / np.maximum(np.bincount(y, minlength=len(costs)), 1))


def search_biases(
    y: IndexArray,
    scores: FloatArray,
    costs: FloatArray,
    value: Function,
    starts: Sequence[FloatArray] = (),
) -> FloatArray:
    """Return the best biases by counting, for a value of all classes' mean losses.

    Scores are minus infinity where a model did not know the class. `costs` has true classes in
    rows, `value` takes mean losses with classes in the last dimension.
    """
    order = _order_classes(y, scores)
    number = np.argsort(order)
    own = number[y]
    known = scores[:, order]
    lost = costs[np.ix_(order, order)]
    rows = [np.flatnonzero(own == i) for i in range(len(costs))]

    def profile(biases: FloatArray, k: int) -> Profile:
        shifted = known + biases
        shifted[:, k] = -np.inf
        other = np.argmax(shifted, axis=1)
        with np.errstate(invalid="ignore"):
            steps = np.max(shifted, axis=1) - known[:, k]
        tables = []
        for i, mine in enumerate(rows):
            # Where rows of class i go over to class k, and its mean loss after each step.
            ascending = mine[np.argsort(steps[mine])]  # NaN, where no model knew two classes, last
            before = lost[i, other[ascending]]
            change = np.append(0.0, np.cumsum(lost[i, k] - before))
            tables.append((steps[ascending], (before.sum() + change) / max(len(mine), 1)))

        def losses(places: FloatArray) -> FloatArray:
            found = [after[np.searchsorted(at, places)] for at, after in tables]
            return np.asarray(value(np.stack(found, axis=-1)[..., number]))

        finite = np.unique(steps[np.isfinite(steps)])
        ends = _with_ends(finite) if len(finite) else np.empty(1)
        return (ends[:-1] + ends[1:]) / 2, losses

    starts = [np.zeros(len(costs)), *starts]
    tried = [
        _descend(start[order].astype(float), profile, counted=True)[number] for start in starts
    ]
    tried += starts
    # Where two classes have equal scores the first label wins, which the descent does not know.
    values = [float(value(class_losses(y, scores, biases, costs)[None])[0]) for biases in tried]
    best = int(np.argmax(np.array(values) <= min(values) + _SAME * abs(min(values))))
    return np.asarray(tried[best] - tried[best].mean())


# --- Recall floors per class ----------------------------------------------------------------------


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
    found = []
    for caution in _CAUTION:
        targets = np.clip(needed + caution * error, 0.0, 1.0)
        biases = meet_floors(guide, rule, labels, targets)
        recalls = 1.0 - class_losses(*guide, biases, 1.0 - np.eye(len(biases)))
        if np.all(recalls >= targets - _ROUNDING) or caution == _CAUTION[-1]:
            found.append(biases)
    # The first proposal puts all classes with a floor ahead of the others, which breaks no floor.
    spread = float(np.std(guide.scores[np.isfinite(guide.scores)]))
    ahead = found[0] + _AHEAD * spread * (floors > 0)
    parts = np.arange(_STEPS) / _STEPS
    between = [a + (b - a) * part for a, b in pairwise([ahead, *found]) for part in parts]
    return [*between, found[-1]]
