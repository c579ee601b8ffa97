r"""More than two classes: one bias per class, from curves between pairs or by counting rows.

The prediction is :math:`\arg\max_k (s_k + b_k)`, so a pair of classes is decided on
:math:`s_j - s_i` at the threshold :math:`b_i - b_j`. With two classes that is the binary method.

"pairwise" gives each pair its own threshold :math:`t_{ij}` and finds biases with
:math:`b_i - b_j \approx t_{ij}` by weighted least squares, a small Laplacian system. It treats a
pair whose classes lie far apart, where the threshold hardly matters, like one whose classes
overlap. "joint" asks the curves instead: its biases minimise

.. math:: \sum_{i<j} -\ln\left(1 - V_{ij}(b_i - b_j)\right),

with the rule's value :math:`V_{ij}` of a pair, from 0 where no error is claimed to 1 where all is
wrong. With the rule "g-mean" that is the product of all recalls between pairs; with two classes
the minimum is that of the rule itself.

Rules that name the classes, :class:`~boundshift.CostMatrix` and :class:`~boundshift.ClassFloors`,
count rows. With all biases but one fixed, each row changes class at one value of that bias, so the
losses of all classes are step functions of it, known exactly.

Both searches move one bias after the other to its best place, while the loss falls. A descent may
end in another minimum if the classes come in another order, so the rows decide the order of the
classes, not their labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import Boundary
from boundshift.curves import ErrorCurve, SupportRadius
from boundshift.curves.base import status_of
from boundshift.curves.uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.promises.planning import rows_needed
from boundshift.rules import ClassFloors, GMean, Rule
from boundshift.scores import ScoreSample
from boundshift.search import ErrorsAt
from boundshift.status import QUIET, Status
from boundshift.typing import FloatArray, IndexArray

__all__ = [
    "ClassBiases",
    "ClassRows",
    "FloorBiases",
    "class_biases",
    "class_losses",
    "decide_biases",
    "find_biases",
    "meet_floors",
    "pair_boundaries",
    "promise_floors",
    "search_biases",
]

Pair = tuple[int, int]
Strategy = Literal["joint", "pairwise", "one-vs-rest", "own"]
Value = Callable[[FloatArray], FloatArray]
Step = Callable[[FloatArray, int], tuple[float, float]]

# A pair's loss is tabulated at this many quantiles of either class, and between the neighbours of
# the best of them.
_QUANTILES, _REFINED = 257, 65
# A pair that is always wrong must not weigh infinitely.
_LEAST_RIGHT = 1e-9
# Places at which one bias is tried before those next to the best, with curves and by counting.
_PLACES, _COUNTED_PLACES = 2049, 4096
_ROUNDS = 100
# Losses that differ by less are equal.
_SAME = 1e-9
# A class with no more rows than this is never held back.
_FEW_ROWS = 3
# How many standard errors beyond what a test needs the guide is asked for, from cautious to daring;
# and steps from each of these proposals to the next.
_CAUTION, _STEPS = (3.0, 1.5, 0.0, -1.5), 16
# Standard deviations of all scores by which classes with a floor lead in the first proposal.
_AHEAD = 4.0
# Above every objective, so that floors come first.
_BEYOND = 1e3
_ROUNDING = 1e-12


class ClassBiases(NamedTuple):
    """One bias per class, and what they decide.

    Parameters
    ----------
    biases : array of shape (n_classes,)
        Those of classes with rows sum to zero; a class of at most three rows has none below that
        of a class with more.
    boundaries : dict from pairs of labels to Boundary
        What is decided between the rows of two classes: the threshold on the score of the second
        minus that of the first, the errors claimed there and the rows on the wrong side.
    statuses : list of Status
        Of the problems that were solved for the biases.
    """

    biases: FloatArray
    boundaries: dict[tuple[Any, Any], Boundary]
    statuses: list[Status]


def find_biases(
    y: NDArray[np.intp],
    scores: FloatArray,
    curve: ErrorCurve,
    rule: Rule,
    strategy: Strategy = "joint",
    labels: Sequence[Any] | None = None,
    weights: FloatArray | None = None,
) -> ClassBiases:
    """Return one bias per class, and the boundary that they give each pair of classes.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class numbers.
    scores : array of shape (n_samples, n_classes)
        Scores of every class; NaN where a model did not know the class.
    curve, rule : ErrorCurve, Rule
        The claim on each class's error in a pair, and how both become one number. The rule must
        be symmetric; "g-mean" leaves out its part for F1 where the biases are joint, since no
        class is the rare one in every pair.
    strategy : {"joint", "pairwise", "one-vs-rest", "own"}, default="joint"
        Which problems are solved. "joint" is "pairwise" for the curve "support", whose optimum is
        not that of a curve. "own" solves none and leaves all biases zero.
    labels : sequence, default=None
        Names of the classes; None are their numbers.
    weights : array of shape (n_samples,), default=None
        How often each row counts; None for once.

    Returns
    -------
    ClassBiases

    Examples
    --------
    >>> from boundshift.curves import StudentT
    >>> from boundshift.rules import GMean
    >>> y = np.repeat([0, 1, 2], [800, 150, 50])
    >>> scores = np.random.default_rng(0).normal(size=(1000, 3)) - [0.0, 1.0, 2.0]
    >>> scores[np.arange(1000), y] += 2
    >>> found = find_biases(y, scores, StudentT(), GMean())
    >>> found.biases.round(1).tolist(), round(found.boundaries[0, 2].threshold, 1)
    ([-0.9, 0.1, 0.8], -1.7)
    """
    _check_rows(y, scores)
    n_classes = scores.shape[1]
    names = list(range(n_classes)) if labels is None else list(labels)
    counts = np.bincount(y, weights, minlength=n_classes)
    samples = dict(_pair_samples(y, scores, weights))
    if strategy != "one-vs-rest":
        return decide_biases(samples, counts, curve, rule, strategy, names)
    _check_symmetric(curve, rule)
    pairs = _pair_problems(samples, curve, rule, names)
    biases, statuses = _one_vs_rest_biases(y, scores, curve, rule, weights)
    _favour_few(biases, counts, pairs)
    return _record(biases, pairs, names, statuses)


def _check_rows(y: NDArray[np.intp], scores: FloatArray) -> None:
    """Raise unless every row has a class and at least one score."""
    if np.ndim(scores) != 2 or np.shape(y) != np.shape(scores)[:1]:
        raise InvalidInputError(
            "`scores` must have a row for each label and a column for each class, got the shape "
            f"{np.shape(scores)} for labels of the shape {np.shape(y)}. Pass decision_function(X)."
        )
    if len(y) and not (np.min(y) >= 0 and np.max(y) < scores.shape[1]):
        raise InvalidInputError(
            f"`y` must hold the numbers of classes from 0 to {scores.shape[1] - 1}, got "
            f"{np.min(y)} to {np.max(y)}. Encode the labels first."
        )
    unknown = int(np.isnan(scores).all(axis=1).sum())
    if unknown or np.isinf(scores).any():
        raise InvalidInputError(
            "`scores` must be finite, or NaN for a class that the model did not know, got "
            f"{unknown} rows of NaN and {int(np.isinf(scores).sum())} infinite values. Drop those "
            "rows."
        )


def decide_biases(
    samples: Mapping[Pair, ScoreSample],
    counts: NDArray[Any],
    curve: ErrorCurve,
    rule: Rule,
    strategy: Strategy,
    names: Sequence[Any],
) -> ClassBiases:
    """Return the biases of `find_biases` from the samples of all pairs of classes.

    Parameters
    ----------
    samples : mapping from pairs of class numbers to ScoreSample
        The second class's scores minus the first's, of the rows of both.
    counts : array of shape (n_classes,)
        Rows of each class.
    curve, rule, strategy
        As in `find_biases`, but for "one-vs-rest", which is not about pairs.
    names : sequence
        Of the classes.
    """
    _check_symmetric(curve, rule)
    if strategy == "joint" and isinstance(curve, SupportRadius):
        strategy = "pairwise"
    if strategy == "joint" and isinstance(rule, GMean):
        rule = GMean(tolerance=0)
    pairs = _pair_problems(samples, curve, rule, names)
    if strategy == "own":
        found = _record(np.zeros(len(counts)), pairs, names, [Status.KEPT])
        kept = {pair: replace(b, status=Status.KEPT) for pair, b in found.boundaries.items()}
        return found._replace(boundaries=kept)
    if strategy == "joint":
        biases = _joint_biases(counts, pairs)
    else:
        own = {pair: problem.solve() for pair, problem in pairs.items()}
        biases = class_biases(len(counts), own, _weights(pairs))
    _favour_few(biases, counts, pairs)
    return _record(biases, pairs, names, [problem.status for problem in pairs.values()])


def _pair_problems(
    samples: Mapping[Pair, ScoreSample], curve: ErrorCurve, rule: Rule, names: Sequence[Any]
) -> dict[Pair, _PairProblem]:
    return {
        (i, j): _PairProblem(replace(sample, labels=(names[i], names[j])), curve, rule)
        for (i, j), sample in samples.items()
    }


def _record(
    biases: FloatArray,
    pairs: Mapping[Pair, _PairProblem],
    names: Sequence[Any],
    statuses: list[Status],
) -> ClassBiases:
    """Return biases with the boundaries that they give each pair."""
    found = {
        (names[i], names[j]): problem.boundary_at(float(biases[i] - biases[j]))
        for (i, j), problem in pairs.items()
    }
    return ClassBiases(biases, found, statuses)


def pair_boundaries(
    y: NDArray[np.intp],
    scores: FloatArray,
    biases: FloatArray,
    labels: Sequence[Any],
    curve: ErrorCurve,
    rule_of: Callable[[Any, Any], Rule],
) -> dict[tuple[Any, Any], Boundary]:
    """Return what biases that were found elsewhere decide between the rows of two classes."""
    found = {}
    for (i, j), sample in _pair_samples(y, scores, None):
        names = labels[i], labels[j]
        problem = _PairProblem(replace(sample, labels=names), curve, rule_of(*names))
        found[names] = problem.boundary_at(float(biases[i] - biases[j]))
    return found


def _favour_few(biases: FloatArray, counts: NDArray[Any], pairs: Mapping[Pair, Any]) -> None:
    """Give a class of very few rows no smaller a bias than any other.

    A few rows may be found by luck, and their scores would then lower the class's bias. The only
    row of a class decides nothing, as no fold can leave it out.
    """
    undecided = [not any(k in pair for pair in pairs) for k in range(len(biases))]
    few = (counts > 0) & ((counts <= _FEW_ROWS) | np.array(undecided))
    if not few.all():
        biases[few] = np.maximum(biases[few], biases[~few].max())
    biases[counts > 0] -= biases[counts > 0].mean()


def class_biases(
    n_classes: int, thresholds: Mapping[Pair, float], weights: Mapping[Pair, float]
) -> FloatArray:
    r"""Solve :math:`b_i - b_j \approx t_{ij}` by weighted least squares.

    Examples
    --------
    >>> t = {(0, 1): 1.0, (0, 2): 3.0, (1, 2): 2.0}
    >>> class_biases(3, t, dict.fromkeys(t, 1.0)).round(3).tolist()
    [1.333, 0.333, -1.667]
    """
    laplacian, right = np.zeros((n_classes, n_classes)), np.zeros(n_classes)
    for (i, j), t in thresholds.items():
        w = weights[i, j]
        laplacian[[i, j], [i, j]] += w
        laplacian[[i, j], [j, i]] -= w
        right[[i, j]] += w * t, -w * t
    # The least-norm solution sums to zero on every connected set of classes.
    return np.asarray(np.linalg.lstsq(laplacian, right, rcond=None)[0], dtype=np.float64)


def _check_symmetric(curve: ErrorCurve, rule: Rule) -> None:
    """Raise if the answer would depend on the order of the labels."""
    if not rule.alike:
        raise InvalidInputError(
            "`rule` must treat classes alike where there are more than two, got "
            f"{rule!r}, which is about one positive class. Use 'g-mean', 'sum' or 'minimax'; "
            "CostMatrix(costs, labels) or ClassFloors(recall={label: floor}), which name every "
            "class; or a classifier for each class that matters, fitted on y == label."
        )
    if isinstance(curve, SupportRadius):
        for name in ("alpha", "class_weight"):
            setting = getattr(curve, name)
            if isinstance(setting, Mapping) or setting[0] != setting[1]:
                raise InvalidInputError(
                    f"`{name}` must be one number where there are more than two classes, got "
                    f"{setting!r}, which tells a positive class from a negative one."
                )


class _PairProblem:
    """What is to be decided between the rows of two classes, sorted once."""

    def __init__(self, sample: ScoreSample, curve: ErrorCurve, rule: Rule) -> None:
        self.sample, self.curve, self.rule = sample, curve, rule
        self.status = status_of(sample)
        self._errors: ErrorsAt | None = None

    def solve(self) -> float:
        """Return the threshold that is best for this pair, and remember its status."""
        solution = self.curve.solve(self.sample, self.rule)
        self.status = solution.status
        return self.sample.to_units(solution.found.threshold)

    def errors(self, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the curve claims at thresholds in the sample's own units."""
        if self._errors is None:
            self._errors = self.curve.errors(self.sample)
        return self._errors(thresholds)

    def boundary_at(self, threshold: float) -> Boundary:
        """Return the record of a threshold, which need not be the best one for this pair."""
        sample = self.sample
        at = np.ldexp(np.array([threshold]), -sample.exponent)
        errors, wrong = self.errors(at), sample.count_wrong(at)
        return Boundary(
            threshold=threshold,
            status=Status.SHARED if self.status in QUIET else self.status,
            errors=(float(errors[0][0]), float(errors[1][0])),
            wrong=(wrong[0][0].item(), wrong[1][0].item()),
            loss=float(self.rule.value(*errors, sample.n_samples)[0]),
            n_samples=sample.n_samples,
            labels=sample.labels,
            curve=self.curve,
            rule=self.rule,
            plateau=(threshold, threshold),
        )

    def losses(self, nodes: FloatArray) -> FloatArray:
        """Return minus the log of one minus the value, at thresholds in the sample's own units."""
        extremes = np.array([0.0, 1.0])
        best, worst = self.rule.value(extremes, extremes, self.sample.n_samples)
        value = self.rule.value(*self.errors(nodes), self.sample.n_samples)
        share = (value - best) / (worst - best)
        return np.asarray(-np.log(np.maximum(1 - share, _LEAST_RIGHT)))


@dataclass(frozen=True)
class _LossTable:
    """The loss of one pair of classes at many thresholds, linear between them."""

    thresholds: FloatArray
    losses: FloatArray

    @classmethod
    def tabulate(cls, problem: _PairProblem) -> _LossTable:
        """Evaluate the rule on the curves where these bend: close together where scores are."""
        sample = problem.sample
        quantiles = [
            side.at(np.linspace(0, side.n - 1, int(min(side.n, _QUANTILES))).astype(np.intp))
            for side in (sample.negative, sample.positive)
        ]
        scores = np.unique(np.concatenate(quantiles))
        reach = (scores[-1] - scores[0]) / 8 or abs(scores[0]) or 1.0
        ends = np.concatenate([[scores[0] - reach], scores, [scores[-1] + reach]])
        thirds = ends[:-1, None] + np.diff(ends)[:, None] * (np.arange(3) / 3)
        nodes = np.unique(np.append(thirds.ravel(), ends[-1]))
        losses = problem.losses(nodes)
        best = np.flatnonzero(losses <= losses.min() + _SAME)
        low, high = nodes[max(best[0] - 1, 0)], nodes[min(best[-1] + 1, len(nodes) - 1)]
        nodes = np.union1d(nodes, np.linspace(float(low), float(high), _REFINED))
        return cls(np.ldexp(nodes, sample.exponent), problem.losses(nodes))

    def at(self, threshold: FloatArray) -> FloatArray:
        """Return the loss at each threshold."""
        return np.interp(threshold, self.thresholds, self.losses)


def _joint_biases(counts: NDArray[Any], pairs: Mapping[Pair, _PairProblem]) -> FloatArray:
    """Return the biases that are best for all pairs of classes together."""
    number = np.argsort(_order_of_pairs(counts, pairs))
    ordered = {}
    for (i, j), problem in pairs.items():
        first, second = int(number[i]), int(number[j])
        if first > second:
            first, second = second, first
            problem = _PairProblem(problem.sample.mirrored(), problem.curve, problem.rule)
        ordered[first, second] = problem
    ordered = dict(sorted(ordered.items()))
    tables = {pair: _LossTable.tabulate(problem) for pair, problem in ordered.items()}
    best = {pair: float(t.thresholds[_middle_of_least(t.losses)]) for pair, t in tables.items()}
    biases = class_biases(len(counts), best, _weights(ordered))
    own: list[list[tuple[_LossTable, int, float]]] = [[] for _ in biases]
    for (i, j), table in tables.items():
        own[i].append((table, j, 1.0))
        own[j].append((table, i, -1.0))

    def step(biases: FloatArray, k: int) -> tuple[float, float]:
        return _best_place(biases, k, own[k]) if own[k] else (float(biases[k]), 0.0)

    biases = _descend(biases, step)
    seen = [k for k, of_class in enumerate(own) if of_class]
    biases[seen] -= biases[seen].mean() if seen else 0.0
    return biases[number]


def _order_of_pairs(counts: NDArray[Any], pairs: Mapping[Pair, _PairProblem]) -> NDArray[np.intp]:
    """Return the classes from the largest to the smallest, equal ones by their margins."""
    margins: list[list[float]] = [[] for _ in counts]
    for (i, j), problem in pairs.items():
        margins[i].append(-problem.sample.unscale(problem.sample.negative.median))
        margins[j].append(problem.sample.unscale(problem.sample.positive.median))
    # fsum does not depend on the order of the terms.
    return np.lexsort((np.array([math.fsum(values) for values in margins]), -counts))


def _descend(biases: FloatArray, step: Step) -> FloatArray:
    """Move one bias after the other to its best place, while that is a gain."""
    for _ in range(_ROUNDS):
        moved = False
        for k in range(len(biases)):
            place, gain = step(biases, k)
            if gain > _SAME:
                biases[k], moved = place, True
        if not moved:
            break
    return biases


def _best_place(
    biases: FloatArray, k: int, of_class: list[tuple[_LossTable, int, float]]
) -> tuple[float, float]:
    """Return where one bias is best while the others stay, which is at a node, and the gain."""

    def total(places: FloatArray) -> FloatArray:
        losses = [t.at(sign * (places - biases[j])) for t, j, sign in of_class]
        return np.asarray(np.sum(losses, axis=0))

    places = np.sort(np.concatenate([biases[j] + sign * t.thresholds for t, j, sign in of_class]))
    thin = places[:: max(1, len(places) // _PLACES)]
    at = _middle_of_least(total(thin))
    low, high = thin[max(at - 1, 0)], thin[min(at + 1, len(thin) - 1)]
    close = places[(places >= low) & (places <= high)]
    losses = total(close)
    best = _middle_of_least(losses)
    return float(close[best]), float(total(biases[k : k + 1])[0] - losses[best])


def _middle_of_least(values: FloatArray, *, longest: bool = False) -> int:
    """Return the middle of the first run of least values, or of the longest one.

    Counted values are equal up to a relative error, and their runs are gaps between rows, of
    which the longest is taken.
    """
    same = _SAME * abs(values.min()) if longest else _SAME
    least = np.concatenate([[False], values <= values.min() + same, [False]])
    edges = np.flatnonzero(np.diff(least.astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    run = int(np.argmax(ends - starts)) if longest else 0
    return int((starts[run] + ends[run] - 1) // 2)


def _sample_of(
    is_positive: NDArray[np.bool_], scores: FloatArray, weights: FloatArray | None
) -> ScoreSample:
    return ScoreSample.from_labels(is_positive, scores, sample_weight=weights)


def _pair_samples(
    y: NDArray[np.intp], scores: FloatArray, weights: FloatArray | None
) -> Iterator[tuple[Pair, ScoreSample]]:
    """Yield each pair of classes that has rows, with the differences of their scores."""
    for i, j in combinations(range(scores.shape[1]), 2):
        difference = scores[:, j] - scores[:, i]
        rows = ((y == i) | (y == j)) & ~np.isnan(difference)
        is_second = y[rows] == j
        if 0 < np.count_nonzero(is_second) < len(is_second):
            mine = None if weights is None else weights[rows]
            yield (i, j), _sample_of(is_second, difference[rows], mine)


def _weights(pairs: Mapping[Pair, _PairProblem]) -> dict[Pair, float]:
    """Return pairs' weights: a threshold's variance falls with the rows of the smaller class."""
    sizes = {pair: problem.sample.n_samples for pair, problem in pairs.items()}
    return {pair: 1 / (1 / first + 1 / second) for pair, (first, second) in sizes.items()}


def _one_vs_rest_biases(
    y: NDArray[np.intp],
    scores: FloatArray,
    curve: ErrorCurve,
    rule: Rule,
    weights: FloatArray | None,
) -> tuple[FloatArray, list[Status]]:
    """Solve every class against the best of all others."""
    biases, statuses = np.zeros(scores.shape[1]), []
    known = ~np.isnan(scores)
    for k in range(scores.shape[1]):
        rows = known[:, k] & (known.sum(axis=1) > 1)
        is_k = y[rows] == k
        if 0 < np.count_nonzero(is_k) < len(is_k):
            mine = None if weights is None else weights[rows]
            margin = scores[rows, k] - np.nanmax(np.delete(scores[rows], k, axis=1), axis=1)
            sample = _sample_of(is_k, margin, mine)
            solution = curve.solve(sample, rule)
            # Both classes move their border, each half the way, so two classes have the binary
            # method's boundary.
            biases[k] = -sample.to_units(solution.found.threshold) / 2
            statuses.append(solution.status)
    return biases - biases.mean(), statuses


# Rules that name the classes: biases by counting rows.


def class_losses(
    y: IndexArray, scores: FloatArray, biases: FloatArray, costs: FloatArray
) -> FloatArray:
    """Return the mean loss of each class's rows at given biases, 0 for a class without rows.

    Examples
    --------
    >>> scores = np.array([[1.0, 0.0], [1.0, 0.5], [0.0, 3.0]])
    >>> class_losses(np.array([0, 1, 1]), scores, np.zeros(2), 1 - np.eye(2)).tolist()
    [0.0, 0.5]
    """
    winner = np.argmax(scores + biases, axis=1)
    totals = np.bincount(y, costs[y, winner], len(costs))
    return np.asarray(totals / np.maximum(np.bincount(y, minlength=len(costs)), 1))


def search_biases(
    y: IndexArray,
    scores: FloatArray,
    costs: FloatArray,
    value: Value,
    starts: Sequence[FloatArray] = (),
) -> FloatArray:
    """Return the best biases found by counting, for a value of all classes' mean losses.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class numbers.
    scores : array of shape (n_samples, n_classes)
        Scores of every class; minus infinity where a model did not know the class.
    costs : array of shape (n_classes, n_classes)
        What a row costs: true classes in rows, predicted ones in columns.
    value : callable
        Takes mean losses, classes in the last dimension, and returns what to minimise.
    starts : sequence of arrays
        Biases to start from, besides zeros.

    Examples
    --------
    >>> y = np.repeat([0, 1, 2], [6, 3, 1])
    >>> scores = np.eye(3)[[0, 0, 0, 0, 0, 1, 1, 1, 0, 0]] + [0.5, 0.0, 0.0]
    >>> biases = search_biases(y, scores, 1 - np.eye(3), lambda losses: losses.sum(axis=-1))
    >>> class_losses(y, scores, biases, 1 - np.eye(3)).round(2).tolist()
    [0.17, 0.33, 1.0]
    """
    counts = np.bincount(y, minlength=scores.shape[1])
    own = scores[np.arange(len(y)), y]
    sums = np.bincount(y, np.where(np.isfinite(own), own, 0.0), scores.shape[1])
    order = np.lexsort((sums, counts))
    number = np.argsort(order)
    rows = number[y], scores[:, order], costs[np.ix_(order, order)]
    starts = [np.zeros(len(costs)), *starts]
    found = []
    for start in starts:
        biases = start[order].astype(np.float64)
        counted = _CountedRows(*rows, lambda losses: value(losses[..., number]), biases)
        found.append(_descend(biases, counted.step)[number])
    # Where two classes have equal scores the first label wins, which the steps do not know.
    values = [
        float(value(class_losses(y, scores, biases, costs)[None])[0]) for biases in found + starts
    ]
    first = int(np.argmax(np.array(values) <= min(values) + _SAME * abs(min(values))))
    biases = (found + starts)[first]
    return np.asarray(biases - biases.mean())


class _CountedRows:
    """Rows whose losses are step functions of each bias, and the value reached so far."""

    def __init__(
        self, y: IndexArray, scores: FloatArray, costs: FloatArray, value: Value, start: FloatArray
    ) -> None:
        self.scores, self.costs, self.value = scores, costs, value
        self.rows = [np.flatnonzero(y == k) for k in range(len(costs))]
        self.reached = float(value(class_losses(y, scores, start, costs)[None])[0])

    def step(self, biases: FloatArray, k: int) -> tuple[float, float]:
        """Return where one bias is best while the others stay, and the relative gain."""
        shifted = self.scores + biases
        shifted[:, k] = -np.inf
        other = np.argmax(shifted, axis=1)
        with np.errstate(invalid="ignore"):
            steps = np.max(shifted, axis=1) - self.scores[:, k]
        finite = np.unique(steps[np.isfinite(steps)])
        if not len(finite):
            return float(biases[k]), 0.0
        profile = [
            self._profile(i, steps[rows], other[rows], k) for i, rows in enumerate(self.rows)
        ]
        reach = (finite[-1] - finite[0]) / 8 or abs(finite[0]) or 1.0
        ends = np.concatenate([[finite[0] - reach], finite, [finite[-1] + reach]])
        places = (ends[:-1] + ends[1:]) / 2
        every = max(1, len(places) // _COUNTED_PLACES)
        thin = places[::every]
        at = _middle_of_least(self._values(profile, thin), longest=True)
        if every > 1:
            low, high = thin[max(at - 1, 0)], thin[min(at + 1, len(thin) - 1)]
            thin = places[(places >= low) & (places <= high)]
            at = _middle_of_least(self._values(profile, thin), longest=True)
        best = float(self._values(profile, thin[at : at + 1])[0])
        gain = self.reached - best
        if not gain > _SAME * abs(self.reached):
            return float(thin[at]), 0.0
        self.reached = best
        return float(thin[at]), math.inf

    def _profile(
        self, i: int, steps: FloatArray, other: IndexArray, k: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return where rows of class i go over to class k, and its mean loss after each step."""
        if not len(steps):
            return np.empty(0), np.zeros(1)
        order = np.argsort(steps)  # NaN, where no model knew two classes, last
        change = (self.costs[i, k] - self.costs[i, other])[order]
        base = float(self.costs[i, other].sum())
        return steps[order], (base + np.concatenate([[0.0], np.cumsum(change)])) / len(steps)

    def _values(
        self, profile: list[tuple[FloatArray, FloatArray]], places: FloatArray
    ) -> FloatArray:
        losses = [after[np.searchsorted(steps, places)] for steps, after in profile]
        return np.asarray(self.value(np.stack(losses, axis=-1)))


# Recall floors per class.


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
    r"""Return biases whose floors hold on fresh rows with the rule's confidence, if there are any.

    Parameters
    ----------
    rows : ClassRows
        Rows that the model has not seen; minus infinity for the score of an unknown class.
    rule : ClassFloors
        What is asked for.
    labels : sequence
        The classes by number.
    guide : ClassRows, default=None
        Other rows to propose biases; None splits the rows given.

    Notes
    -----
    Biases move the recalls of all classes at once, so no single order statistic keeps a floor.
    The guide proposes biases, from cautious to daring. The other rows test the proposals in that
    order, each floor by Clopper and Pearson's bound at :math:`\delta`, until the first one fails.
    A proposal is wrong if some floor is broken; it passes only if the test of that very floor
    errs, which has a probability of at most :math:`\delta`. Of the wrong proposals only the first
    is tested unless it passes, so the floors of all proposals that pass hold together with a
    probability of at least :math:`1 - \delta`.

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
        guide, rows = _split(rows, np.maximum(np.ceil(counts / 2), least))
        counts = np.bincount(rows.y, minlength=len(labels))
    missing = [int(i) for i in np.flatnonzero(floors) if counts[i] < least[i]]
    if missing:
        i = missing[0]
        both = [np.concatenate(parts) for parts in zip(guide, rows, strict=True)]
        return FloorBiases(
            meet_floors(ClassRows(*both), rule, labels),
            Status.UNMET,
            f"The floor {floors[i]:g} of class {labels[i]!r} cannot be promised: that takes "
            f"{least[i]:.0f} rows of it, all of them found, and {counts[i]} are there to test. "
            "Collect more rows of the class, or lower its floor or the confidence.",
        )
    passed = None
    for biases in _proposals(guide, rule, labels, floors, counts):
        errors = class_losses(*rows, biases, rule.losses(labels))
        bounds = clopper_pearson(np.rint(errors * counts), np.maximum(counts, 1), delta)
        short = np.where(floors > 0, floors - (1.0 - bounds), 0.0)
        i = int(np.argmax(short))
        if short[i] > _ROUNDING:
            break
        passed = biases
    if passed is not None:
        return FloorBiases(passed, Status.SHARED, "")
    return FloorBiases(
        biases,
        Status.UNMET,
        f"No biases promise all floors: of class {labels[i]!r} at least {floors[i] - short[i]:.3g} "
        f"is found with {rule.confidence:.4g} confidence, {short[i]:.2g} below its floor "
        f"{floors[i]:g}. Collect more rows of it, or lower its floor, another one, or the "
        "confidence.",
    )


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
    return _reach_targets(rows, rule, labels, _floors(rule, labels))


def _floors(rule: ClassFloors, labels: Sequence[Any]) -> FloatArray:
    """Return the floor of each class, 0 for those without one."""
    return np.array([float(rule.recall.get(label, 0.0)) for label in labels])


def _split(rows: ClassRows, wanted: FloatArray) -> tuple[ClassRows, ClassRows]:
    """Return a guide, and the rows that test: as many of each class as wanted, but for one."""
    order = np.random.default_rng(0).permutation(len(rows.y))
    tests = np.zeros(len(rows.y), dtype=bool)
    for k, number in enumerate(wanted):
        of_class = order[rows.y[order] == k]
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
    """Return biases to test in this order: from high recalls of the guide down to the floors."""
    guided, found = np.bincount(guide.y, minlength=len(labels)), []
    for caution in _CAUTION:
        targets = _targets(floors, counts, guided, 1.0 - rule.confidence, caution)
        biases = _reach_targets(guide, rule, labels, targets)
        recalls = 1.0 - class_losses(*guide, biases, 1.0 - np.eye(len(biases)))
        if np.all(recalls >= targets - _ROUNDING) or caution == _CAUTION[-1]:
            found.append(biases)
    # The first proposal puts all classes with a floor ahead of the others, which breaks no floor.
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
    """Return the recalls to ask of the guide: what a test needs, plus standard errors."""
    targets = np.zeros(len(floors))
    for i in np.flatnonzero(floors):
        n = int(counts[i])
        bounds = clopper_pearson(np.arange(n + 1), n, delta)
        most = int(np.searchsorted(bounds, 1.0 - floors[i] + _ROUNDING, side="right")) - 1
        error = math.sqrt(floors[i] * (1 - floors[i]) * (1 / n + 1 / max(guided[i], 1)))
        targets[i] = min(max(1.0 - most / n + caution * error, 0.0), 1.0)
    return targets


def _reach_targets(
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
