"""From a data set, a model and a seed to fitted scores: the only step that takes time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.rivals import BalancedWeights, SMOTEClassifier
from boundshift.typing import FloatArray, IntArray
from lab.suite.data import Rows, Split, folds_of
from lab.suite.models import Model

__all__ = ["RawScores", "train"]

Scorer = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class RawScores:
    """What models say of the rows of one split, as they say it.

    The first model is trained on the whole training part, the held-out one on three quarters of
    it, five more each without a fold of it, and two rivals in their own way on all of it.

    Parameters
    ----------
    y_train, y_test : ndarray of int
        Labels.
    train, test : ndarray
        Of the first model.
    out_of_fold, fold : ndarray
        Of the training rows, each by the model that left its fold out; and the fold.
    fold_tests : ndarray of shape (5, n_test)
        Of the test rows, by each of these five models.
    held : ndarray of int
        Positions of the training rows that are held out.
    held_part, held_test : ndarray
        Of the training rows and the test rows, by the model without the rows held out.
    smote_test, balanced_test : ndarray
        Of the test rows, by models trained with SMOTE and with balanced weights.
    seconds : ndarray of shape (6,)
        To choose parameters; to train the first model, the held-out one, the five folds', SMOTE's
        and the one with balanced weights.
    parameters : str
        What was chosen.
    """

    y_train: IntArray
    y_test: IntArray
    train: FloatArray
    test: FloatArray
    out_of_fold: FloatArray
    fold: IntArray
    fold_tests: FloatArray
    held: NDArray[np.intp]
    held_part: FloatArray
    held_test: FloatArray
    smote_test: FloatArray
    balanced_test: FloatArray
    seconds: FloatArray
    parameters: str

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray) and not np.isfinite(value).all():
                raise ValueError(f"The scores `{field.name}` are not finite.")


def train(model: Model, split: Split, seed: int) -> RawScores:
    """Train a model in every way that a method may ask for, and keep the scores."""
    clock = _Clock()
    rows, X_test = split.train, split.test.X
    chosen = clock.time(lambda: model.search(rows, seed))
    first = clock.time(lambda: model.fit(rows, seed, chosen))
    kept = np.setdiff1d(np.arange(len(rows.y)), split.held)
    without = clock.time(lambda: model.fit(_part(rows, kept), seed, chosen))
    fold = folds_of(rows.y)
    out_of_fold, fold_tests = clock.time(
        lambda: _cross_fit(model, rows, X_test, fold, seed, chosen)
    )
    smote = clock.time(
        lambda: model.fit(rows, seed, chosen, lambda c: SMOTEClassifier(c, random_state=seed))
    )
    balanced = clock.time(lambda: model.fit(rows, seed, chosen, BalancedWeights))
    return RawScores(
        y_train=rows.y,
        y_test=split.test.y,
        train=first(rows.X),
        test=first(X_test),
        out_of_fold=out_of_fold,
        fold=fold,
        fold_tests=fold_tests,
        held=split.held,
        held_part=without(rows.X),
        held_test=without(X_test),
        smote_test=smote(X_test),
        balanced_test=balanced(X_test),
        seconds=np.array(clock.laps),
        parameters=", ".join(f"{name}={value}" for name, value in chosen.items()),
    )


class _Clock:
    """Remembers how long each call took."""

    def __init__(self) -> None:
        self.laps: list[float] = []

    def time(self, call: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = call()
        self.laps.append(time.perf_counter() - start)
        return result


def _part(rows: Rows, positions: NDArray[Any]) -> Rows:
    return Rows(rows.X[positions], rows.y[positions])


def _cross_fit(
    model: Model, rows: Rows, X_test: FloatArray, fold: IntArray, seed: int, chosen: dict[str, Any]
) -> tuple[FloatArray, FloatArray]:
    """Score every row by a model that has not seen it, and the test rows by all these models."""
    scores = np.empty(len(rows.y))
    tests = []
    for number in np.unique(fold):
        unseen = fold == number
        score = model.fit(_part(rows, ~unseen), seed, chosen)
        scores[unseen] = score(rows.X[unseen])
        tests.append(score(X_test))
    return scores, np.stack(tests)
