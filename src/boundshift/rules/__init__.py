"""Rules: how two claimed error rates become one number to minimise.

Every rule grows with each of the two error rates; the search relies on it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from boundshift._validation import as_object
from boundshift.exceptions import InvalidInputError
from boundshift.rules._base import Rule
from boundshift.rules._binary import MCC, Cost, FBeta, GMean, Kappa, Metric, Minimax, Sum
from boundshift.rules._classes import ClassFloors, ClassRule, CostMatrix
from boundshift.rules._floors import Floors

__all__ = [
    "MCC", "RULES", "ClassFloors", "ClassRule", "Cost", "CostMatrix", "FBeta", "Floors", "GMean",
    "Kappa", "Metric", "Minimax", "Rule", "Sum", "as_rule",
]  # fmt: skip

NAMED: dict[str, Callable[[], Rule]] = {
    "g-mean": GMean,
    "sum": Sum,
    "minimax": Minimax,
    "cost": Cost,
    "f1": FBeta,
    "f2": partial(FBeta, 2.0),
    "mcc": MCC,
    "kappa": Kappa,
}
"""Rules that a name alone defines, in the order in which the command line lists them."""
_CLASSES: tuple[type[Rule], ...] = (
    ClassFloors, Cost, CostMatrix, FBeta, Floors, GMean, Kappa, MCC, Metric, Minimax, Sum
)  # fmt: skip
RULES: dict[str, type[Rule]] = {rule.name: rule for rule in _CLASSES}
"""Name → class of every rule."""

# Other names of a rule: those of metrics and scorers in scikit-learn and imbalanced-learn.
_OTHER_NAMES = {
    "g-mean": ("geometric_mean", "geometric_mean_score"),
    "sum": ("balanced_accuracy", "balanced_accuracy_score", "youden", "informedness"),
    "cost": ("accuracy", "accuracy_score"),
    "f1": ("f1_score",),
    "mcc": ("matthews_corrcoef",),
    "kappa": ("cohen_kappa", "cohen_kappa_score"),
}
_KNOWN = NAMED | {other: NAMED[name] for name, names in _OTHER_NAMES.items() for other in names}
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
    (GMean(), Sum())
    """
    if isinstance(rule, str) and rule in _NEEDS:
        raise InvalidInputError(f"`rule` {rule!r} must have {_NEEDS[rule]}, got the name alone.")
    return as_object("rule", rule, Rule, _KNOWN)
