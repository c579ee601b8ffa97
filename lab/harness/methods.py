"""What a method is: a function from the scores of one split to a threshold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import find_boundary
from lab.harness.quiet import quiet
from lab.harness.tuner import Quality, tune_as_scikit_learn

__all__ = [
    "Decide",
    "Decision",
    "Fitted",
    "Group",
    "Method",
    "Sample",
    "Scored",
    "Source",
    "by_boundary",
    "by_probability",
    "by_tuner",
    "decide_boundary",
    "keep_boundary",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Scored = Literal["training", "out-of-fold", "held-out"]
Source = Scored | Literal["smote", "balanced"]
Group = Literal["paper", "rival", "ours", "other aim"]
_NAN = float("nan")


class Sample(NamedTuple):
    """Labels 0 and 1, and scores."""

    y: IntArray
    s: FloatArray


@dataclass(frozen=True)
class Decision:
    """A threshold and what is known about it; pairs are (negative, positive).

    Parameters
    ----------
    threshold : float
        Predict positive above it.
    probability : bool, default=False
        Whether the threshold is one of probabilities instead of scores.
    status : str, default="DECIDED"
        Name of the boundary's status, for methods that have one.
    solved : bool, default=True
        Whether the method had an answer of its own.
    claims : tuple of float
        Errors as the method's own curve claims them; NaN where it claims none.
    deltas : tuple of float
        The paper's confidence levels; NaN where the method has none.
    slack : tuple of int
        Points given up.
    loss : float
        What was minimised; NaN where nothing was.
    """

    threshold: float
    probability: bool = False
    status: str = "DECIDED"
    solved: bool = True
    claims: tuple[float, float] = (_NAN, _NAN)
    deltas: tuple[float, float] = (_NAN, _NAN)
    slack: tuple[int, int] = (0, 0)
    loss: float = _NAN


class Fitted(ABC):
    """What a method sees of one split: labelled scores to decide on, and test rows.

    A source says how a model was trained and which rows it scored: "training" and "out-of-fold"
    are scores of the training rows, "held-out" those of rows that a second model has not seen;
    "smote" and "balanced" are models that were trained otherwise, which have test rows only.
    """

    @property
    @abstractmethod
    def has_probabilities(self) -> bool:
        """Whether scikit-learn's tuner works on probabilities of this model."""

    @property
    def unit(self) -> float:
        """What scores are divided by before a boundary is looked for."""
        return 1.0

    @property
    @abstractmethod
    def folds(self) -> list[NDArray[np.intp]]:
        """Training rows of each fold of the out-of-fold scores."""

    @abstractmethod
    def sample(self, source: Source) -> Sample:
        """Return the scores to decide on."""

    @abstractmethod
    def probabilities(self, source: Scored) -> FloatArray:
        """Return probabilities of the positive class for the training rows."""

    @abstractmethod
    def at_probability(self, probability: float) -> Decision:
        """Return the decision that predicts positive above a probability."""

    @abstractmethod
    def predict(self, source: Source, decision: Decision) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return labels of the test rows, and whether each is predicted positive."""

    @abstractmethod
    def training_seconds(self, source: Source) -> float:
        """Return the time of all training that a decision from a source needs."""


Decide = Callable[[Any], Decision]


@dataclass(frozen=True)
class Method:
    """One way to decide.

    Parameters
    ----------
    name : str
        Name in rows.
    group : {"paper", "rival", "ours", "other aim"}
        The paper's own table; what there is without this library; curves and rules of this library
        that treat both classes alike; rules that are meant for something else.
    decide : callable
        From :class:`Fitted` to a decision.
    source : {"training", "out-of-fold", "held-out", "smote", "balanced"}, default="training"
        Which training it needs, and so which model predicts.
    title : str, default=""
        Name in tables that do not show `name`.
    fixed : bool, default=False
        Whether its threshold does not depend on the scores.
    """

    name: str
    group: Group
    decide: Decide
    source: Source = "training"
    title: str = ""
    fixed: bool = False

    @property
    def post_hoc(self) -> bool:
        """Whether it works on a model trained as usual."""
        return self.source not in ("smote", "balanced")


def keep_boundary(fitted: Fitted) -> Decision:
    """Leave the boundary where the model has it."""
    return Decision(0.0)


def by_boundary(source: Source, **options: Any) -> Decide:
    """Return :func:`~boundshift.find_boundary` on scores of a source."""
    return lambda fitted: decide_boundary(fitted, source, **options)


def decide_boundary(fitted: Fitted, source: Source, **options: Any) -> Decision:
    """Find a boundary on scores of a source; that there is none is said by the decision."""
    y, s = fitted.sample(source)
    with quiet():
        found = find_boundary(y, s / fitted.unit, **options)
    decision = Decision(
        threshold=found.threshold * fitted.unit,
        status=found.status.name,
        solved=found.status.solved,
        claims=found.errors,
        loss=found.loss,
    )
    if found.geometry is None:
        return decision
    return replace(decision, deltas=found.geometry.deltas, slack=found.geometry.slack)


def by_probability(rule: Callable[..., float], source: Scored) -> Decide:
    """Return a rival's rule on probabilities of the training rows."""

    def decide(fitted: Fitted) -> Decision:
        y = fitted.sample(source).y
        return fitted.at_probability(rule(y, fitted.probabilities(source)))

    return decide


def by_tuner(quality: Quality) -> Decide:
    """Return scikit-learn's tuner: on probabilities where the model has them, as is its habit."""

    def decide(fitted: Fitted) -> Decision:
        y, s = fitted.sample("out-of-fold")
        if not fitted.has_probabilities:
            return Decision(tune_as_scikit_learn(y, s, fitted.folds, quality))
        probabilities = fitted.probabilities("out-of-fold")
        return fitted.at_probability(tune_as_scikit_learn(y, probabilities, fitted.folds, quality))

    return decide
