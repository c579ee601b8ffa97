"""How each method turns fitted scores into a threshold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import find_boundary
from boundshift.exceptions import BoundaryWarning
from lab.harness.tuner import Quality, tune_as_scikit_learn
from lab.suite.fitted import Fitted, Sample, Source

__all__ = [
    "Decide",
    "Decision",
    "by_boundary",
    "by_probability",
    "by_scores",
    "by_tuner",
    "keep_boundary",
]

FloatArray = NDArray[np.float64]
_NAN = float("nan")


@dataclass(frozen=True)
class Decision:
    """A threshold and what is claimed about it; pairs are (negative, positive).

    Parameters
    ----------
    threshold : float
        Predict positive above it, on the scale of :class:`Fitted`.
    status : str, default="DECIDED"
        Name of the boundary's status, for methods that have one.
    solved : bool, default=True
        Whether the method had an answer of its own.
    bounds : tuple of float
        Errors as the method's own curve claims them; NaN where it claims none.
    """

    threshold: float
    status: str = "DECIDED"
    solved: bool = True
    bounds: tuple[float, float] = (_NAN, _NAN)


Decide = Callable[[Fitted], Decision]


def keep_boundary(fitted: Fitted) -> Decision:
    """Leave the boundary where the model has it."""
    return Decision(0.0)


def by_scores(rule: Callable[[Sample], float], source: Source) -> Decide:
    """Return a rule from labelled scores to a threshold, on scores of a source."""
    return lambda fitted: Decision(rule(fitted.sample(source)))


def by_boundary(source: Source, **options: Any) -> Decide:
    """Return :func:`~boundshift.find_boundary` on scores of a source."""

    def decide(fitted: Fitted) -> Decision:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundaryWarning)
            found = find_boundary(*fitted.sample(source), **options)
        return Decision(found.threshold, found.status.name, found.status.solved, found.error_bounds)

    return decide


def by_probability(
    rule: Callable[..., float], source: Literal["training", "out-of-fold"]
) -> Decide:
    """Return a rival's rule on probabilities."""

    def decide(fitted: Fitted) -> Decision:
        threshold = rule(fitted.raw.y_train, fitted.probabilities(source))
        return Decision(fitted.threshold_at(threshold))

    return decide


def by_tuner(quality: Quality) -> Decide:
    """Return scikit-learn's tuner: on probabilities where the model has them, as is its habit."""

    def decide(fitted: Fitted) -> Decision:
        y, s = fitted.out_of_fold
        if fitted.kind == "margin":
            return Decision(tune_as_scikit_learn(y, s, fitted.folds, quality))
        probabilities = fitted.probabilities("out-of-fold")
        chosen = tune_as_scikit_learn(y, probabilities, fitted.folds, quality)
        return Decision(fitted.threshold_at(chosen))

    return decide
