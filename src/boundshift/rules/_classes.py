"""Rules for many classes: a cost matrix, and a recall floor per class.

They name the classes, so the order of the labels does not matter.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from boundshift._typing import FloatArray, Label
from boundshift._validation import as_choice, as_positive, as_share
from boundshift.exceptions import InvalidInputError
from boundshift.rules._base import Rule, Settings, Sizes
from boundshift.rules._binary import Cost, Sum
from boundshift.rules._floors import Floors
from boundshift.rules._guarantee import Guarantee

# Shares of classes that are written with three digits need not sum to 1 exactly.
_SUM_TOLERANCE = 1e-3
# A class that is always wrong must not weigh infinitely.
_LEAST_RIGHT = 1e-9


@dataclass(frozen=True)
class ClassRule(Rule):
    """A rule about more than two classes, for :class:`~boundshift.BoundShiftClassifier`."""

    own_curve = "empirical"

    @abstractmethod
    def losses(self, labels: Sequence[Label]) -> FloatArray:
        """Return the loss matrix, true classes in rows and predicted ones in columns."""

    @abstractmethod
    def total(
        self, losses: FloatArray, labels: Sequence[Label], n_samples: Sequence[int]
    ) -> FloatArray:
        """Return the number to minimise, from each class's mean loss in the last dimension."""

    @abstractmethod
    def for_pair(self, negative: Label, positive: Label) -> Rule:
        """Return the rule for two of the classes."""

    @abstractmethod
    def check_classes(self, labels: Sequence[Label]) -> None:
        """Raise if the rule is not about these classes."""

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Raise: the rule is for more than two classes."""
        raise InvalidInputError(
            f"must be about two classes here, got {type(self).__name__}, which is for "
            "BoundShiftClassifier with more than two. Use Cost or Floors.",
            argument="rule",
        )


@dataclass(frozen=True)
class CostMatrix(ClassRule):
    r"""Minimise the expected cost of a decision between many classes.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes)
        Cost of a decision: true classes in rows, predicted ones in columns. A negative cost is a
        gain. The diagonal need not be 0.
    labels : sequence
        The classes, in the order of rows and columns.
    prevalence : sequence, default=None
        Share of each class where decisions will be made, in the order of `labels`; None takes the
        sample's.

    Notes
    -----
    The biases minimise the empirical cost of the rows that decide. Biases alone cannot always
    reach the Bayes risk. With calibrated probabilities :math:`p_i` the decision
    :math:`\arg\min_j \sum_i p_i c_{ij}` does, which is not a shift of a boundary.

    Examples
    --------
    Sending an intensive-care patient home costs fifty times as much as an unneeded bed:

    >>> from boundshift import CostMatrix
    >>> labels = "home", "ward", "intensive"
    >>> rule = CostMatrix([[0, 1, 4], [5, 0, 3], [50, 10, 0]], labels)
    >>> rule.losses(["intensive", "home", "ward"])[0].tolist()
    [0.0, 50.0, 10.0]
    """

    name = "cost-matrix"

    costs: Sequence[Sequence[float]] | FloatArray
    labels: Sequence[Label]
    prevalence: Sequence[float] | FloatArray | None = None

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels, object).ravel().tolist()
        size = len(set(labels))
        if size < 3 or size < len(labels):
            raise InvalidInputError(
                f"must be three or more distinct classes, got {self.labels!r}. Name the "
                "classes in the order of rows and columns; for two classes use Cost.",
                argument="labels",
            )
        costs = _as_numbers(self.costs)
        if costs.shape != (size, size) or np.all(costs == costs[:, :1]):
            raise InvalidInputError(
                f"must be a matrix of finite numbers with {size} rows and columns, one for "
                f"each label, that differ within a row, got {self.costs!r}. Rows are true classes, "
                "columns predicted ones: 0 on the diagonal, and the costs of mistakes beside it.",
                argument="costs",
            )
        # Nested tuples can be compared and stored.
        object.__setattr__(self, "labels", tuple(labels))
        object.__setattr__(self, "costs", tuple(map(tuple, costs.tolist())))
        if self.prevalence is not None:
            shares = _as_numbers(self.prevalence)
            total = shares.sum()
            if shares.shape != (size,) or shares.min() <= 0 or abs(total - 1) > _SUM_TOLERANCE:
                raise InvalidInputError(
                    f"must have a share above 0 for each of {size} labels, which sum "
                    f"to 1, got {self.prevalence!r}. Use [0.9, 0.08, 0.02], for example, in the "
                    "order of the labels.",
                    argument="prevalence",
                )
            object.__setattr__(self, "prevalence", tuple((shares / total).tolist()))

    def losses(self, labels: Sequence[Label]) -> FloatArray:
        """Return the costs in the order of other labels."""
        places = [self.labels.index(label) for label in labels]
        return np.array(self.costs)[np.ix_(places, places)]

    def total(
        self, losses: FloatArray, labels: Sequence[Label], n_samples: Sequence[int]
    ) -> FloatArray:
        """Return the expected cost of one decision."""
        weights = np.array(n_samples, dtype=np.float64)
        if self.prevalence is not None:
            weights = np.array([self.prevalence[self.labels.index(label)] for label in labels])
            weights[np.array(n_samples) == 0] = 0.0
        return np.asarray(losses @ weights / weights.sum())

    def for_pair(self, negative: Label, positive: Label) -> Rule:
        """Return the costs of both errors between two classes."""
        costs = self.losses((negative, positive))
        false_positive = costs[0, 1] - costs[0, 0]
        false_negative = costs[1, 0] - costs[1, 1]
        if min(false_positive, false_negative) <= 0:
            return Sum()
        prevalence = None
        if self.prevalence is not None:
            first = self.prevalence[self.labels.index(negative)]
            second = self.prevalence[self.labels.index(positive)]
            prevalence = second / (first + second)
        return Cost(
            false_positive=false_positive, false_negative=false_negative, prevalence=prevalence
        )

    def check_classes(self, labels: Sequence[Label]) -> None:
        """Raise unless the labels are those of the matrix."""
        if set(labels) != set(self.labels):
            raise InvalidInputError(
                f"of the CostMatrix must be the classes of y, {list(labels)!r}, got "
                f"{list(self.labels)!r}. Name each class once, in the order of rows and columns.",
                argument="labels",
            )


@dataclass(frozen=True)
class ClassFloors(ClassRule):
    """Meet a recall floor for each class named, then optimise an objective over all classes.

    :class:`~boundshift.BoundShiftClassifier` holds out rows. With the given confidence, all floors
    then hold together for new rows from the same distribution. If there are too few rows to hold
    out, the status is NOT_GUARANTEED.

    Parameters
    ----------
    recall : mapping from labels to float
        Least recall of each class named.
    then : {"g-mean", "balanced_accuracy", "minimax"}, default="g-mean"
        What to maximise among the biases that meet all floors: the geometric mean, the mean or
        the minimum of the recalls.
    confidence : float, default=0.95
        Joint confidence of all floors.

    Examples
    --------
    >>> from boundshift import ClassFloors
    >>> ClassFloors(recall={"rare": 0.9}).for_pair("common", "rare")
    Floors(recall=0.9, confidence=0.95)
    """

    name = "class-floors"

    recall: Mapping[Label, float] = field(default_factory=dict)
    then: str = "g-mean"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        remedy = "Use ClassFloors(recall={'rare': 0.9}), for example."
        if not isinstance(self.recall, Mapping) or not self.recall:
            raise InvalidInputError(
                f"must be a mapping from labels to floors, got {self.recall!r}. {remedy}",
                argument="recall",
            )
        for label, floor in self.recall.items():
            if as_positive(f"recall[{label!r}]", floor, remedy) >= 1:
                raise InvalidInputError(
                    f"`recall[{label!r}]` must be below 1, got {floor!r}, which no number of rows "
                    f"can guarantee for a class. {remedy}"
                )
        as_choice("then", self.then, ("g-mean", "balanced_accuracy", "sum", "minimax"))
        as_share("confidence", self.confidence)

    __repr__ = Settings.changed_repr

    def guarantees(self, delta: float | None = None) -> tuple[Guarantee, ...]:
        r"""Return a guarantee for each floor, with the whole :math:`\delta` of this rule.

        Candidate biases are tested in order until one fails. Biases that break a floor pass only if
        the test of this floor errs, so :math:`\delta` need not be divided among the floors.
        """
        whole = 1.0 - self.confidence
        return tuple(Guarantee(label, floor, whole) for label, floor in self.recall.items())

    def losses(self, labels: Sequence[Label]) -> FloatArray:
        """Return 1 for every mistake."""
        return 1.0 - np.eye(len(labels))

    def total(
        self, losses: FloatArray, labels: Sequence[Label], n_samples: Sequence[int]
    ) -> FloatArray:
        """Return the objective from each class's error, whether or not floors are met."""
        errors = losses[..., np.array(n_samples) > 0]
        if self.then == "minimax":
            return np.asarray(errors.max(axis=-1))
        if self.then in ("balanced_accuracy", "sum"):
            return np.asarray(errors.mean(axis=-1))
        return np.asarray(-np.log(np.maximum(1.0 - errors, _LEAST_RIGHT)).mean(axis=-1))

    def for_pair(self, negative: Label, positive: Label) -> Rule:
        """Return the floors of two classes."""
        recall = self.recall.get(positive)
        specificity = self.recall.get(negative)
        if recall is None and specificity is None:
            return Sum()
        return Floors(recall, specificity, confidence=self.confidence)

    def check_classes(self, labels: Sequence[Label]) -> None:
        """Raise if a floor names an unknown class."""
        unknown = [label for label in self.recall if label not in labels]
        if unknown:
            raise InvalidInputError(
                f"must name classes of y, {list(labels)!r}, got {unknown!r} too. "
                "Use the labels as y has them.",
                argument="recall",
            )


def _as_numbers(values: ArrayLike) -> FloatArray:
    """Return an array of finite numbers, empty if some value is none."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
    return numbers if np.isfinite(numbers).all() else np.empty(0)
