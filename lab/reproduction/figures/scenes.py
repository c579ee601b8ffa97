"""The two synthetic scenes of the figures: far apart, and overlapping."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from boundshift.boundary import find_boundary
from boundshift.datasets import make_gaussians
from boundshift.result.boundary import Boundary
from boundshift.typing import FloatArray
from lab.data import PaperSplit
from lab.reproduction.classifiers import ClassifierOptions
from lab.reproduction.collect import MODELS, FittedScores, ModelName, collect_scores
from lab.reproduction.fitted import FittedSeed
from lab.reproduction.problems import PROBLEMS

__all__ = [
    "FarApart",
    "far_apart",
    "fitted_on_rows",
    "fitted_on_scene",
    "fitted_seed",
    "overlapping",
]


class FarApart(NamedTuple):
    """Two classes with means ∓(5, 5), a linear machine, and its moved boundary."""

    X: FloatArray
    y: NDArray[np.int64]
    direction: FloatArray
    bias: float
    scores: FloatArray
    boundary: Boundary


@cache
def far_apart() -> FarApart:
    """Return the scene of the first two figures."""
    X, y = make_gaussians((1000, 10), mean=(5.0, 5.0), random_state=10)
    machine = SVC(kernel="linear").fit(X, y)
    norm = float(np.linalg.norm(machine.coef_))
    direction = machine.coef_[0] / norm
    scores = X @ direction
    boundary = find_boundary(y, scores, curve="authors")
    return FarApart(X, y, direction, float(machine.intercept_[0]) / norm, scores, boundary)


@cache
def overlapping() -> PaperSplit:
    """Return the paper's synthetic problem on raw features, with an independent test draw."""
    return PROBLEMS["synthetic-raw"].split(0, "honest")


@cache
def fitted_on_scene(model: ModelName) -> FittedScores:
    """Return logistic regression's scores on the overlapping scene."""
    return _fitted(model, overlapping())


def fitted_on_rows(model: ModelName, rows: FloatArray) -> FittedScores:
    """Return the same models' scores on rows of one's own, in place of the test rows."""
    labels = np.zeros(len(rows), dtype=np.int64)
    return _fitted(model, overlapping()._replace(X_test=rows, y_test=labels))


def fitted_seed(rows: FloatArray | None = None) -> FittedSeed:
    """Return what methods see of the scene, or of rows of one's own in place of its test rows."""
    models = {m: fitted_on_scene(m) if rows is None else fitted_on_rows(m, rows) for m in MODELS}
    return FittedSeed(models, "binary")


def _fitted(model: ModelName, split: PaperSplit) -> FittedScores:
    """Train on the split."""
    return collect_scores(split, "logistic-regression", model, 0, ClassifierOptions())
