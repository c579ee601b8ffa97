"""Rules: how two claimed error rates become one number to minimise.

Every rule grows with each of the two error rates; the search relies on it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from boundshift._validation import as_object
from boundshift.exceptions import InvalidInputError
from boundshift.rules._base import Rule
from boundshift.rules._binary import (
    MCC,
    Cost,
    FBeta,
    GMean,
    Kappa,
    Markedness,
    Metric,
    Minimax,
    Sum,
    Youden,
)
from boundshift.rules._classes import ClassFloors, ClassRule, CostMatrix
from boundshift.rules._floors import Floors

__all__ = [
    "MCC",
    "RULES",
    "ClassFloors",
    "ClassRule",
    "Cost",
    "CostMatrix",
    "FBeta",
    "Floors",
    "GMean",
    "Kappa",
    "Markedness",
    "Metric",
    "Minimax",
    "Rule",
    "Sum",
    "Youden",
    "as_rule",
]

NAMED: dict[str, Callable[[], Rule]] = {
    "g-mean": GMean,
    "sum": Sum,
    "minimax": Minimax,
    "cost": Cost,
    "f0.5": partial(FBeta, 0.5),
    "f1": FBeta,
    "f2": partial(FBeta, 2.0),
    "mcc": MCC,
    "kappa": Kappa,
    "youden": Youden,
    "informedness": Youden,
    "markedness": Markedness,
}
"""Rules that a name alone defines, in the order in which the command line lists them."""
_CLASSES: tuple[type[Rule], ...] = (
    ClassFloors, Cost, CostMatrix, FBeta, Floors, GMean, Kappa, Markedness, MCC, Metric, Minimax,
    Sum, Youden,
)  # fmt: skip
RULES: dict[str, type[Rule]] = {rule.name: rule for rule in _CLASSES}
"""Name → class of every rule."""

# Names of metrics and scorers in scikit-learn and imbalanced-learn.
_SCORERS: dict[str, Callable[[], Rule]] = {
    "accuracy": Cost,
    "accuracy_score": Cost,
    "balanced_accuracy": Sum,
    "balanced_accuracy_score": Sum,
    "cohen_kappa": Kappa,
    "cohen_kappa_score": Kappa,
    "f1_score": FBeta,
    "geometric_mean": GMean,
    "geometric_mean_score": GMean,
    "matthews_corrcoef": MCC,
}
# Rules that a name alone does not define.
_NEEDS = {
    "class-floors": "floors: pass ClassFloors(recall={'rare': 0.9}), for example",
    "cost-matrix": "costs: pass CostMatrix(costs, labels)",
    "floors": "a floor: pass Floors(recall=0.9), for example",
    "f-beta": "a beta: pass FBeta(3), or use 'f1' or 'f2'",
    "fbeta_score": "a beta: pass FBeta(3), or use 'f1' or 'f2'",
    "metric": "a metric: pass Metric('jaccard'), for example",
}


def as_rule(rule: str | Rule) -> Rule:
    """Return a rule given itself or its name.

    Examples
    --------
    >>> as_rule("g-mean"), as_rule("balanced_accuracy")
    (GMean(tolerance=0.0025), Sum())
    """
    if isinstance(rule, str) and rule in _NEEDS:
        raise InvalidInputError(f"`rule` {rule!r} must have {_NEEDS[rule]}, got the name alone.")
    return as_object("rule", rule, Rule, NAMED | _SCORERS)
