r"""More than two classes: one bias per class, from the boundaries between pairs.

The prediction is :math:`\arg\max_k (s_k + b_k)`, so that a pair of classes is decided on
:math:`s_j - s_i` at the threshold :math:`b_i - b_j`. With two classes that is the binary method.

"pairwise" gives each pair its own threshold :math:`t_{ij}` and finds biases with
:math:`b_i - b_j \approx t_{ij}` by weighted least squares, a small Laplacian system. It treats a
pair whose classes lie far apart, where the threshold hardly matters, like one whose classes
overlap. "joint" asks the curves instead: its biases minimise

.. math:: \sum_{i<j} -\ln\left(1 - V_{ij}(b_i - b_j)\right),

with the rule's value :math:`V_{ij}` of a pair, from 0 where no error is claimed to 1 where all is
wrong. With the rule "g-mean" that is the product of all recalls between pairs; with two classes
the minimum is that of the rule itself, whichever it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.curves import ErrorCurve, SupportRadius
from boundshift.curves.base import status_of
from boundshift.exceptions import InvalidInputError
from boundshift.result.boundary import Boundary
from boundshift.rules import GMean, Rule
from boundshift.scores import ScoreSample
from boundshift.search import ErrorsAt
from boundshift.status import QUIET, Status
from boundshift.typing import FloatArray

__all__ = [
    "ClassBiases",
    "boundary_at",
    "class_biases",
    "decide_biases",
    "find_biases",
    "pair_boundaries",
]

Pair = tuple[int, int]
Strategy = Literal["joint", "pairwise", "one-vs-rest", "own"]

# A pair's loss is looked up at this many quantiles of either class, and between its neighbours
# at the best of them.
_QUANTILES, _REFINED = 257, 65
# A pair that is always wrong must not weigh infinitely.
_LEAST_RIGHT = 1e-9
# Places that one bias is tried at, before those next to the best of them; and rounds of all.
_PLACES, _ROUNDS = 2049, 100
# Losses that differ by less are the same.
_SAME = 1e-9
# A class of no more rows than these is never held back.
_FEW_ROWS = 3


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
        treat classes alike; "g-mean" leaves out its part for F1 where the biases are joint, since
        no class is the rare one in every pair.
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
    >>> from boundshift import GMean, StudentT
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
    _check_alike(curve, rule)
    pairs = _pair_problems(samples, curve, rule, names)
    biases, statuses = _one_vs_rest_biases(y, scores, curve, rule, weights)
    _favour_few(biases, counts, pairs)
    return _record(biases, pairs, names, statuses)


def _check_rows(y: NDArray[np.intp], scores: FloatArray) -> None:
    """Raise unless every row has a class and scores; some may be NaN, but not all of them."""
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
    _check_alike(curve, rule)
    if strategy == "joint" and isinstance(curve, SupportRadius):
        strategy = "pairwise"
    if strategy == "joint" and isinstance(rule, GMean):
        rule = GMean(tolerance=0)
    n_classes = len(counts)
    pairs = _pair_problems(samples, curve, rule, names)
    if strategy == "own":
        biases = np.zeros(n_classes)
    elif strategy == "joint":
        biases = _joint_biases(counts, pairs)
    else:
        own = {pair: problem.solve() for pair, problem in pairs.items()}
        biases = class_biases(n_classes, own, _weights(pairs))
    if strategy != "own":
        _favour_few(biases, counts, pairs)
    found = _record(biases, pairs, names, [problem.status for problem in pairs.values()])
    if strategy == "own":
        kept = {pair: replace(b, status=Status.KEPT) for pair, b in found.boundaries.items()}
        found = found._replace(boundaries=kept, statuses=[Status.KEPT])
    return found


def _pair_problems(
    samples: Mapping[Pair, ScoreSample], curve: ErrorCurve, rule: Rule, names: Sequence[Any]
) -> dict[Pair, _PairProblem]:
    """Return what is to be decided between each two classes, under their names."""
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
    return {
        (labels[i], labels[j]): boundary_at(
            replace(sample, labels=(labels[i], labels[j])),
            curve,
            rule_of(labels[i], labels[j]),
            float(biases[i] - biases[j]),
        )
        for (i, j), sample in _pair_samples(y, scores, None)
    }


def _favour_few(biases: FloatArray, counts: NDArray[Any], pairs: Mapping[Pair, Any]) -> None:
    """Give a class of very few rows no smaller a bias than any other.

    Where so few rows are found by luck, their scores would take from the class what the model
    alone gives it; and the only row of a class decides nothing, as no fold can leave it out.
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


def _check_alike(curve: ErrorCurve, rule: Rule) -> None:
    """Raise if the answer would hang on the order of the labels."""
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
        """Return the threshold that is best for this pair, and remember how it was found."""
        solution = self.curve.solve(self.sample, self.rule)
        self.status = solution.status
        return self.sample.to_units(solution.found.threshold)

    def mirrored(self) -> _PairProblem:
        """Return the problem with the classes in the other order."""
        return _PairProblem(self.sample.mirrored(), self.curve, self.rule)

    def errors_at(self, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the curve claims at each threshold."""
        return self.errors_in_units(np.ldexp(thresholds, -self.sample.exponent))

    def errors_in_units(self, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the same for thresholds in the sample's own units."""
        if self._errors is None:
            self._errors = self.curve.errors(self.sample)
        return self._errors(thresholds)

    def boundary_at(self, threshold: float) -> Boundary:
        """Return the record of a threshold, which need not be the best one for this pair."""
        sample, at = self.sample, np.array([threshold])
        errors = self.errors_at(at)
        wrong = sample.count_wrong(np.ldexp(at, -sample.exponent))
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


def boundary_at(sample: ScoreSample, curve: ErrorCurve, rule: Rule, threshold: float) -> Boundary:
    """Return the record of a threshold that was not chosen by the rule."""
    return _PairProblem(sample, curve, rule).boundary_at(threshold)


@dataclass(frozen=True)
class _LossTable:
    """The loss of one pair of classes at many thresholds."""

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
        nodes = np.concatenate([[scores[0] - reach], scores, [scores[-1] + reach]])
        nodes = _between(nodes, 3)
        coarse = cls(nodes, _losses(problem, nodes))
        low, high = coarse.around_best()
        nodes = np.union1d(nodes, np.linspace(low, high, _REFINED))
        return cls(np.ldexp(nodes, sample.exponent), _losses(problem, nodes))

    def around_best(self) -> tuple[float, float]:
        """Return the nodes on either side of those with the least loss."""
        at = np.flatnonzero(self.losses <= self.losses.min() + _SAME)
        low, high = max(at[0] - 1, 0), min(at[-1] + 1, len(self.thresholds) - 1)
        return float(self.thresholds[low]), float(self.thresholds[high])

    @property
    def best(self) -> float:
        """Threshold with the least loss."""
        return float(self.thresholds[_middle_of_least(self.losses)])

    def at(self, threshold: FloatArray) -> FloatArray:
        """Return the loss at each threshold."""
        return np.interp(threshold, self.thresholds, self.losses)


def _losses(problem: _PairProblem, nodes: FloatArray) -> FloatArray:
    """Return the loss of one pair at thresholds in the sample's own units."""
    sample, rule = problem.sample, problem.rule
    extremes = np.array([0.0, 1.0])
    best, worst = rule.value(extremes, extremes, sample.n_samples)
    errors = problem.errors_in_units(nodes)
    share = (rule.value(*errors, sample.n_samples) - best) / (worst - best)
    return np.asarray(-np.log(np.maximum(1 - share, _LEAST_RIGHT)))


def _between(nodes: FloatArray, times: int) -> FloatArray:
    """Return nodes with as many more, less one, between each two."""
    steps = np.arange(times) / times
    between = nodes[:-1, None] + np.diff(nodes)[:, None] * steps
    return np.unique(np.append(between.ravel(), nodes[-1]))


def _middle_of_least(losses: FloatArray) -> int:
    """Return the middle of the first run of places with the least loss."""
    least = losses <= losses.min() + _SAME
    first = int(least.argmax())
    run = int(np.argmin(np.append(least[first:], False)))
    return first + (run - 1) // 2


def _joint_biases(counts: NDArray[Any], pairs: Mapping[Pair, _PairProblem]) -> FloatArray:
    """Return the biases that are best for all pairs of classes together.

    A descent may end in another minimum if the classes come in another order. They come by size,
    those of one size by their scores, so that other labels have the same answer.
    """
    number = np.argsort(_order(counts, pairs))
    ordered = {}
    for (i, j), problem in pairs.items():
        first, second = int(number[i]), int(number[j])
        if first < second:
            ordered[first, second] = problem
        else:
            ordered[second, first] = problem.mirrored()
    ordered = dict(sorted(ordered.items()))
    tables = {pair: _LossTable.tabulate(problem) for pair, problem in ordered.items()}
    start = {pair: table.best for pair, table in tables.items()}
    return _descend(class_biases(len(counts), start, _weights(ordered)), tables)[number]


def _order(counts: NDArray[Any], pairs: Mapping[Pair, _PairProblem]) -> NDArray[np.intp]:
    """Return the classes from the largest to the smallest, then by how far they stand out."""
    margins: list[list[float]] = [[] for _ in counts]
    for (i, j), problem in pairs.items():
        margins[i].append(-problem.sample.unscale(problem.sample.negative.median))
        margins[j].append(problem.sample.unscale(problem.sample.positive.median))
    # fsum does not depend on the order of the terms.
    return np.lexsort((np.array([math.fsum(values) for values in margins]), -counts))


def _descend(biases: FloatArray, tables: Mapping[Pair, _LossTable]) -> FloatArray:
    """Move one bias after the other to where the loss is least, while it falls.

    The loss is linear between nodes, so that the least one is at a node of some pair.
    """
    own: list[list[tuple[_LossTable, int, float]]] = [[] for _ in biases]
    for (i, j), table in tables.items():
        own[i].append((table, j, 1.0))
        own[j].append((table, i, -1.0))
    for _ in range(_ROUNDS):
        moved = False
        for k, of_class in enumerate(own):
            if of_class:
                place, gain = _best_place(biases, k, of_class)
                if gain > _SAME:
                    biases[k], moved = place, True
        if not moved:
            break
    seen = [k for k, of_class in enumerate(own) if of_class]
    biases[seen] -= biases[seen].mean() if seen else 0.0
    return biases


def _best_place(
    biases: FloatArray, k: int, of_class: list[tuple[_LossTable, int, float]]
) -> tuple[float, float]:
    """Return where one bias is best while the others stay, and by how much."""

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


def _sample_of(
    is_positive: NDArray[np.bool_], scores: FloatArray, weights: FloatArray | None
) -> ScoreSample:
    """Return the scores of two classes, each row as often as it counts."""
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
    """Solve every class against all others, on its own score."""
    biases, statuses = np.zeros(scores.shape[1]), []
    known = ~np.isnan(scores)
    for k in range(scores.shape[1]):
        rows = known[:, k] & (known.sum(axis=1) > 1)
        is_k = y[rows] == k
        if 0 < np.count_nonzero(is_k) < len(is_k):
            mine = None if weights is None else weights[rows]
            sample = _sample_of(is_k, _margin(scores[rows], k), mine)
            solution = curve.solve(sample, rule)
            # The border of two classes is moved from both sides: each moves it half the way, and
            # two classes have the binary method's boundary.
            biases[k] = -sample.to_units(solution.found.threshold) / 2
            statuses.append(solution.status)
    return biases - biases.mean(), statuses


def _margin(scores: FloatArray, k: int) -> FloatArray:
    """Return a class's score over the best of the others: its sign is what argmax decides by."""
    others: FloatArray = np.nanmax(np.delete(scores, k, axis=1), axis=1)
    return scores[:, k] - others
