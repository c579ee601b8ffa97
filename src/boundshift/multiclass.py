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

from collections.abc import Iterator, Mapping, Sequence
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
from boundshift.scores.sample import ScoreSample
from boundshift.search.found import ErrorsAt
from boundshift.search.gaps import count_wrong
from boundshift.status import QUIET, Status

__all__ = ["ClassBiases", "class_biases", "find_biases"]

FloatArray = NDArray[np.float64]
Pair = tuple[int, int]
Strategy = Literal["joint", "pairwise", "one-vs-rest"]

# A pair's loss is looked up between this many thresholds.
_NODES = 513
# A pair that is always wrong must not weigh infinitely.
_LEAST_RIGHT = 1e-9
# From a quarter of the widest range of scores down to this share of it.
_FINEST_STEP = 1e-4


class ClassBiases(NamedTuple):
    """One bias per class, and what they decide.

    Parameters
    ----------
    biases : array of shape (n_classes,)
        They sum to zero; a class that no problem could use has bias zero.
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
    strategy : {"joint", "pairwise", "one-vs-rest"}, default="joint"
        Which problems are solved. "joint" is "pairwise" for the curve "support", whose optimum is
        not that of a curve.
    labels : sequence, default=None
        Names of the classes; None are their numbers.

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
    _check_alike(curve, rule)
    if strategy == "joint" and isinstance(curve, SupportRadius):
        strategy = "pairwise"
    if strategy == "joint" and isinstance(rule, GMean):
        rule = GMean(tolerance=0)
    n_classes = scores.shape[1]
    names = list(range(n_classes)) if labels is None else list(labels)
    pairs = {
        (i, j): _PairProblem(replace(sample, labels=(names[i], names[j])), curve, rule)
        for (i, j), sample in _pair_samples(y, scores)
    }
    if strategy == "one-vs-rest":
        biases, statuses = _one_vs_rest_biases(y, scores, curve, rule)
    elif strategy == "joint":
        biases = _joint_biases(n_classes, pairs)
    else:
        own = {pair: problem.solve() for pair, problem in pairs.items()}
        biases = class_biases(n_classes, own, _weights(pairs))
    if strategy != "one-vs-rest":
        statuses = [problem.status for problem in pairs.values()]
    found = {
        (names[i], names[j]): problem.boundary_at(float(biases[i] - biases[j]))
        for (i, j), problem in pairs.items()
    }
    return ClassBiases(biases, found, statuses)


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
            f"{rule!r}, which is about one positive class. Use 'g-mean', 'sum' or 'minimax', or a "
            "classifier for each class that matters, fitted on y == label."
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

    def errors_at(self, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the curve claims at each threshold."""
        if self._errors is None:
            self._errors = self.curve.errors(self.sample)
        return self._errors(np.ldexp(thresholds, -self.sample.exponent))

    def boundary_at(self, threshold: float) -> Boundary:
        """Return the record of a threshold, which need not be the best one for this pair."""
        sample, at = self.sample, np.array([threshold])
        errors = self.errors_at(at)
        wrong = count_wrong(sample, np.ldexp(at, -sample.exponent))
        return Boundary(
            threshold=threshold,
            status=Status.SHARED if self.status in QUIET else self.status,
            errors=(float(errors[0][0]), float(errors[1][0])),
            wrong=(int(wrong[0][0]), int(wrong[1][0])),
            loss=float(self.rule.value(*errors, sample.n_samples)[0]),
            n_samples=sample.n_samples,
            labels=sample.labels,
            curve=self.curve,
            rule=self.rule,
            plateau=(threshold, threshold),
        )


@dataclass(frozen=True)
class _LossTable:
    """The loss of one pair of classes at many thresholds."""

    thresholds: FloatArray
    losses: FloatArray

    @classmethod
    def tabulate(cls, problem: _PairProblem) -> _LossTable:
        """Evaluate the rule on the curves, from below all scores to above."""
        sample, rule = problem.sample, problem.rule
        ends = [(c.minimum, c.maximum) for c in (sample.negative, sample.positive)]
        low, high = (sample.to_units(end) for end in (np.min(ends), np.max(ends)))
        reach = (high - low) / 8 or abs(low) or 1.0
        thresholds = np.linspace(low - reach, high + reach, _NODES)
        extremes = np.array([0.0, 1.0])
        best, worst = rule.value(extremes, extremes, sample.n_samples)
        errors = problem.errors_at(thresholds)
        share = (rule.value(*errors, sample.n_samples) - best) / (worst - best)
        return cls(thresholds, -np.log(np.maximum(1 - share, _LEAST_RIGHT)))

    @property
    def best(self) -> float:
        """Threshold with the least loss."""
        return float(self.thresholds[self.losses.argmin()])

    def at(self, threshold: FloatArray) -> FloatArray:
        """Return the loss at each threshold."""
        return np.interp(threshold, self.thresholds, self.losses)


def _joint_biases(n_classes: int, pairs: Mapping[Pair, _PairProblem]) -> FloatArray:
    """Return the biases that are best for all pairs of classes together."""
    tables = {pair: _LossTable.tabulate(problem) for pair, problem in pairs.items()}
    start = {pair: table.best for pair, table in tables.items()}
    return _descend(class_biases(n_classes, start, _weights(pairs)), tables)


def _descend(biases: FloatArray, tables: Mapping[Pair, _LossTable]) -> FloatArray:
    """Move one bias after the other, by ever smaller steps, while the loss falls."""
    widest = max((float(np.ptp(table.thresholds)) for table in tables.values()), default=0.0)
    step, places = widest / 4, np.linspace(-1, 1, 17)
    while step > _FINEST_STEP * widest:
        moved = False
        for k in range(len(biases)):
            tried = biases[k] + step * places
            total = np.zeros(len(places))
            for (i, j), table in tables.items():
                if k in (i, j):
                    total += table.at(tried - biases[j] if k == i else biases[i] - tried)
            best = int(total.argmin())
            if total[best] < total[len(places) // 2] - 1e-9:
                biases[k], moved = tried[best], True
        step = step if moved else step / 4
    seen = [k for k in range(len(biases)) if any(k in pair for pair in tables)]
    biases[seen] -= biases[seen].mean() if seen else 0.0
    return biases


def _pair_samples(y: NDArray[np.intp], scores: FloatArray) -> Iterator[tuple[Pair, ScoreSample]]:
    """Yield each pair of classes that has rows, with the differences of their scores."""
    for i, j in combinations(range(scores.shape[1]), 2):
        difference = scores[:, j] - scores[:, i]
        rows = ((y == i) | (y == j)) & ~np.isnan(difference)
        is_second = y[rows] == j
        if 0 < np.count_nonzero(is_second) < len(is_second):
            yield (i, j), ScoreSample.from_labels(is_second, difference[rows])


def _weights(pairs: Mapping[Pair, _PairProblem]) -> dict[Pair, float]:
    """Return pairs' weights: a threshold's variance falls with the rows of the smaller class."""
    sizes = {pair: problem.sample.n_samples for pair, problem in pairs.items()}
    return {pair: 1 / (1 / first + 1 / second) for pair, (first, second) in sizes.items()}


def _one_vs_rest_biases(
    y: NDArray[np.intp], scores: FloatArray, curve: ErrorCurve, rule: Rule
) -> tuple[FloatArray, list[Status]]:
    """Solve every class against all others, on its own score."""
    biases, statuses = np.zeros(scores.shape[1]), []
    known = ~np.isnan(scores)
    for k in range(scores.shape[1]):
        rows = known[:, k] & (known.sum(axis=1) > 1)
        is_k = y[rows] == k
        if 0 < np.count_nonzero(is_k) < len(is_k):
            sample = ScoreSample.from_labels(is_k, _margin(scores[rows], k))
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
