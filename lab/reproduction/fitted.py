"""What a method sees of one seed of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lab.harness.fitted import Decision, Fitted, Sample, Scored, Source
from lab.reproduction.collect import FittedScores, ModelName, folds_of

__all__ = ["FittedSeed", "SlackKind"]

SlackKind = Literal["binary", "continuous"]

_MODELS: dict[Source, ModelName] = {"smote": "smote", "balanced": "balanced-weights"}


class FittedSeed(Fitted):
    """Scores of all models of one seed.

    Parameters
    ----------
    models : mapping
        Name → scores, or the error that stood in the way, which those meet who ask for the scores.
    slack : {"binary", "continuous"}
        Kind of slack that the paper's method is to use.
    """

    has_probabilities = False

    def __init__(
        self, models: Mapping[ModelName, FittedScores | Exception], slack: SlackKind
    ) -> None:
        self.models = models
        self.slack = slack

    def scores(self, source: Source) -> FittedScores:
        """Return the scores of the model that a source is about."""
        found = self.models[_MODELS.get(source, "untouched")]
        if isinstance(found, Exception):
            raise found
        return found

    @property
    def unit(self) -> float:
        """The weight norm, by which the authors divide: continuous slack has the scores' unit."""
        return self.scores("training").unit

    @property
    def folds(self) -> list[NDArray[np.intp]]:
        """Training rows of each fold of the out-of-fold scores."""
        return folds_of(self.scores("out-of-fold").y_train)

    def sample(self, source: Source) -> Sample:
        """Return the scores to decide on."""
        found = self.scores(source)
        return Sample(found.y_train, found.out_of_fold if source == "out-of-fold" else found.train)

    def probabilities(self, source: Scored) -> NDArray[np.float64]:
        """Return probabilities of the positive class for the training rows."""
        return self.scores(source).train_probability

    def at_probability(self, probability: float) -> Decision:
        """Return the decision that predicts positive above a probability."""
        return Decision(probability, probability=True)

    def predict(
        self, source: Source, decision: Decision
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return labels of the test rows, and whether each is predicted positive."""
        found = self.scores(source)
        return found.y_test, found.tested(decision.probability) > decision.threshold

    def training_seconds(self, source: Source) -> float:
        """Return the time of the training, grid search included."""
        return self.scores(source).seconds
