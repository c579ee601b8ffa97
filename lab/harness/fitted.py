"""What a method sees of one split, and what it answers: a threshold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.typing import FloatArray, IntArray

__all__ = ["Decision", "Fitted", "Sample", "Scored", "Source"]

Scored = Literal["training", "out-of-fold", "held-out"]
Source = Scored | Literal["fold-models", "smote", "balanced"]
_NAN = float("nan")


class Sample(NamedTuple):
    """Labels 0 and 1, and scores."""

    y: IntArray
    s: FloatArray


@dataclass(frozen=True)
class Decision:
    """A threshold and what is known about it.

    Pairs are (negative, positive). Positive is predicted above the threshold, which is one of
    probabilities if `probability` says so, and of scores otherwise.

    Parameters
    ----------
    threshold, probability : float and bool
        The threshold, and what it is compared with.
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
    "fold-models" has the out-of-fold scores and predicts by the mean of the models that gave them;
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
