"""What a method sees of one split: labelled scores to decide on, and their scale."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from boundshift.models.scoring import Response
from boundshift.typing import FloatArray, IntArray
from lab.harness.fitted import Decision, Fitted, Sample, Scored, Source
from lab.suite.models import ScoreKind
from lab.suite.train import RawScores

__all__ = ["FittedSplit", "platt"]


class FittedSplit(Fitted):
    """Scores of one split on one scale.

    Margins are as the model gives them. Probabilities of a forest become log-odds as in
    `BoundShiftClassifier`, with the floor that the out-of-fold scores give.

    Parameters
    ----------
    raw : RawScores
        What was stored.
    kind : {"log-odds", "margin", "probability"}
        What the model's scores are.
    """

    def __init__(self, raw: RawScores, kind: ScoreKind) -> None:
        self.raw = raw
        self.kind = kind

    @cached_property
    def training(self) -> Sample:
        """Scores of the training rows by the model trained on them."""
        return Sample(self.raw.y_train, self._scores(self.raw.train))

    @cached_property
    def out_of_fold(self) -> Sample:
        """Scores of the training rows by models that had not seen them."""
        return Sample(self.raw.y_train, self._scores(self.raw.out_of_fold))

    @cached_property
    def held_out(self) -> Sample:
        """Scores of the rows held out, by the model trained on the other training rows."""
        held = self.raw.held
        return Sample(self.raw.y_train[held], self._scores(self.raw.held_part[held]))

    @property
    def folds(self) -> list[NDArray[np.intp]]:
        """Rows of each fold."""
        return [np.flatnonzero(self.raw.fold == k) for k in np.unique(self.raw.fold)]

    def sample(self, source: Source) -> Sample:
        """Return the scores to decide on."""
        known = {
            "out-of-fold": "out_of_fold",
            "fold-models": "out_of_fold",
            "held-out": "held_out",
        }
        return getattr(self, known.get(source, "training"))  # type: ignore[no-any-return]

    def test(self, source: Source) -> Sample:
        """Return scores of the test rows by the model that a threshold is meant for."""
        return Sample(self.raw.y_test, self._tests[source])

    @cached_property
    def fold_test_scores(self) -> FloatArray:
        """Scores of the test rows by each of the folds' models, of shape (5, n_test)."""
        return np.array([self._scores(scores) for scores in self.raw.fold_tests])

    @cached_property
    def _tests(self) -> dict[Source, FloatArray]:
        first = self._scores(self.raw.test)
        return {
            "training": first,
            "out-of-fold": first,
            "fold-models": np.mean(self.fold_test_scores, axis=0),
            "held-out": self._scores(self.raw.held_test),
            "smote": self._scores(self.raw.smote_test),
            "balanced": self._scores(self.raw.balanced_test),
        }

    def training_seconds(self, source: Source) -> float:
        """Return the time of all training that a decision from a source needs."""
        _, first, held, folds, smote, balanced = self.raw.seconds.tolist()
        needs = {
            "training": first,
            "out-of-fold": first + folds,
            "fold-models": folds,
            "held-out": held,
            "smote": smote,
            "balanced": balanced,
        }
        return float(needs[source])

    @property
    def has_probabilities(self) -> bool:
        """Whether scikit-learn's tuner works on probabilities of this model."""
        return self.kind != "margin"

    def probabilities(self, source: Scored) -> FloatArray:
        """Return probabilities of the training rows; of margins by Platt's sigmoid."""
        raw = self.raw.out_of_fold if source == "out-of-fold" else self.raw.train
        return self._probability(raw)

    def at_probability(self, probability: float) -> Decision:
        """Return the decision that predicts positive above a probability."""
        return Decision(self.threshold_at(probability))

    def predict(self, source: Source, decision: Decision) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return labels of the test rows, and whether each is predicted positive."""
        y, s = self.test(source)
        return y, s > decision.threshold

    def threshold_at(self, probability: float) -> float:
        """Return a score that divides all rows as a threshold of probabilities divides them.

        The score of that probability itself may round to the wrong side of a row.
        """
        raw = np.concatenate([self.raw.train, self.raw.out_of_fold, self.raw.test])
        scores, above = self._scores(raw), self._probability(raw) > probability
        low = scores[~above].max(initial=-np.inf)
        high = scores[above].min(initial=np.inf)
        with np.errstate(divide="ignore"):
            slope, shift = self._sigmoid
            exact = (logit(np.clip(probability, 0, 1)) - shift) / slope
        return float(np.clip(exact, low, np.nextafter(high, -np.inf)))

    def _probability(self, raw: FloatArray) -> FloatArray:
        if self.kind == "probability":
            return raw
        slope, shift = self._sigmoid
        return np.asarray(expit(slope * raw + shift))

    @cached_property
    def _sigmoid(self) -> tuple[float, float]:
        return (1.0, 0.0) if self.kind != "margin" else platt(*self.out_of_fold)

    def _scores(self, raw: FloatArray) -> FloatArray:
        if self.kind != "probability":
            return raw
        return self._response.scores(_both(raw))

    @cached_property
    def _response(self) -> Response:
        return Response.learn("predict_proba", _both(self.raw.out_of_fold))


def _both(probability: FloatArray) -> FloatArray:
    """Return probabilities of both classes."""
    return np.stack([1 - probability, probability], axis=1)


def platt(y: IntArray, s: FloatArray) -> tuple[float, float]:
    """Fit Platt's sigmoid: slope and shift of the log-odds, with his targets.

    A slope that would not rise is set to a small one, so that it can be inverted.

    Examples
    --------
    >>> slope, shift = platt(np.array([0, 0, 0, 1, 1]), np.array([-2.0, -1, 1, 0, 2]))
    >>> bool(slope > 0)
    True
    """
    n_positive = int(y.sum())
    n_negative = len(y) - n_positive
    target = np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    unit = float(np.std(s)) or 1.0

    def loss(line: FloatArray) -> tuple[float, FloatArray]:
        odds = line[0] * s / unit + line[1]
        error = expit(odds) - target
        value = -np.sum(target * log_expit(odds) + (1 - target) * log_expit(-odds))
        return float(value), np.array([np.sum(error * s / unit), np.sum(error)])

    start = np.array([1.0, np.log((n_positive + 1) / (n_negative + 1))])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(1e-6, None), (None, None)])
    return float(found.x[0]) / unit, float(found.x[1])
