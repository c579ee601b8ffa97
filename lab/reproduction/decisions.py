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
from lab.reproduction.authors_grid import solve_on_grid
from lab.reproduction.collect import FittedScores
from lab.rivals import THRESHOLD_RULES

__all__ = [
    "Decide",
    "Decision",
    "SlackKind",
    "Source",
    "by_boundary",
    "by_grid",
    "by_rule",
    "by_support",
    "by_tuner",
    "keep_boundary",
]

SlackKind = Literal["binary", "continuous"]
Source = Literal["training", "out-of-fold"]
_NAN = float("nan")


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
    deltas : tuple of float
        Confidence levels; NaN where the method has none.
    slack : tuple of int
        Points given up.
    loss : float
        What was minimised; NaN where nothing was.
    """

    threshold: float
    probability: bool = False
    status: str = "DECIDED"
    solved: bool = True
    deltas: tuple[float, float] = (_NAN, _NAN)
    slack: tuple[int, int] = (0, 0)
    loss: float = _NAN

    def predict(self, fitted: FittedScores) -> NDArray[np.int64]:
        """Return predictions of the test rows."""
        scores = fitted.test_probability if self.probability else fitted.test
        return (scores > self.threshold).astype(np.int64)


Decide = Callable[[FittedScores, SlackKind], Decision]


def keep_boundary(fitted: FittedScores, slack: SlackKind) -> Decision:
    """Leave the boundary where the model has it."""
    return Decision(0.0)


def by_rule(name: str) -> Decide:
    """Return a rival's rule on the probabilities of the training rows."""

    def decide(fitted: FittedScores, slack: SlackKind) -> Decision:
        rule = THRESHOLD_RULES[name]
        return Decision(rule(fitted.y_train, fitted.train_probability), probability=True)

    return decide


def by_tuner(position: int) -> Decide:
    """Return scikit-learn's tuner, which ran when the scores were collected."""

    def decide(fitted: FittedScores, slack: SlackKind) -> Decision:
        return Decision(float(fitted.tuned[position]))

    return decide


def by_boundary(source: Source, **options: Any) -> Decide:
    """Return :func:`~boundshift.find_boundary` with options of its own, whatever the slack."""

    def decide(fitted: FittedScores, slack: SlackKind) -> Decision:
        return _found(fitted, source, options)

    return decide


def by_support(source: Source, **options: Any) -> Decide:
    """Return the paper's bound and rule with the kind of slack that was asked for."""

    def decide(fitted: FittedScores, slack: SlackKind) -> Decision:
        paper = {"bound": "support", "rule": "sum", "slack": slack}
        return _found(fitted, source, paper | options)

    return decide


def _found(fitted: FittedScores, source: Source, options: dict[str, Any]) -> Decision:
    """Return the boundary on training or out-of-fold scores.

    Continuous slack has the unit of the scores, so these are divided by the weight norm, as the
    authors do; other boundaries do not depend on the unit.
    """
    scores = (fitted.train if source == "training" else fitted.out_of_fold) / fitted.unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        found = find_boundary(fitted.y_train, scores, **options)
    return Decision(
        threshold=found.threshold * fitted.unit,
        status=found.status.name,
        solved=found.status.solved,
        deltas=found.deltas,
        slack=found.slack,
        loss=found.loss,
    )


def by_grid(fitted: FittedScores, slack: SlackKind) -> Decision:
    """Search as the authors' program does; without a solution the model stays as it is."""
    scores = fitted.train / fitted.unit
    found = solve_on_grid(fitted.y_train, scores, slack=slack)
    if found is None:
        return Decision(0.0, status="INFEASIBLE", solved=False)
    return Decision(
        threshold=found.threshold * fitted.unit,
        status="RELAXED" if any(found.slack) else "OPTIMAL",
        deltas=found.deltas,
        slack=found.slack,
        loss=found.loss,
    )
