"""What a method is: a function from the scores of one split to a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from boundshift.boundary import find_boundary
from lab.harness.fitted import Decision, Fitted, Scored, Source
from lab.harness.quiet import quiet
from lab.harness.tuner import Quality, tune_as_scikit_learn

Group = Literal["paper", "rival", "ours", "other aim", "clairvoyant"]

Decide = Callable[[Any], Decision]


@dataclass(frozen=True)
class Method:
    """One way to decide.

    Parameters
    ----------
    name : str
        Name in rows.
    group : {"paper", "rival", "ours", "other aim", "clairvoyant"}
        The paper's own table; what there is without this library; curves and rules of this library
        that treat both classes alike; rules that are meant for something else; the best threshold
        on the test rows, which nobody knows.
    decide : callable
        From :class:`Fitted` to a decision.
    source : str, default="training"
        "training", "out-of-fold", "fold-models", "held-out", "smote" or "balanced": which training
        it needs, and so which model predicts.
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
