"""Rules: how two claimed error rates become one number to minimise.

Every rule grows with each of the two error rates; the search relies on it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from boundshift._validation import as_object
from boundshift.rules._base import Rule
from boundshift.rules._binary import MCC, Cost, FBeta, GMean, Kappa, Metric, Minimax, Sum
from boundshift.rules._classes import ClassFloors, ClassRule, CostMatrix
from boundshift.rules._floors import FLOORS, Floors

__all__ = [
    "MCC", "RULES", "ClassFloors", "ClassRule", "Cost", "CostMatrix", "FBeta", "Floors", "GMean",
    "Kappa", "Metric", "Minimax", "Rule", "Sum", "as_rule",
]  # fmt: skip

NAMED: dict[str, Callable[[], Rule]] = {
    "g-mean": GMean,
    "balanced_accuracy": Sum,
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
RULES: dict[str, type[Rule]] = {rule.name: rule for rule in _CLASSES} | {"sum": Sum}
"""Name → class of every rule, and the name of the sum in older records."""

# Other names of a rule: the paper's, and those of metrics and scorers in scikit-learn and
# imbalanced-learn.
_OTHER_NAMES = {
    "g-mean": ("geometric_mean", "geometric_mean_score"),
    "balanced_accuracy": ("sum", "balanced_accuracy_score", "youden", "informedness"),
    "cost": ("accuracy", "accuracy_score"),
    "f1": ("f1_score",),
    "mcc": ("matthews_corrcoef",),
    "kappa": ("cohen_kappa", "cohen_kappa_score"),
}
_KNOWN = NAMED | {other: NAMED[name] for name, names in _OTHER_NAMES.items() for other in names}
# What to write for rules that a name alone does not define.
_NEEDS = {
    "class-floors": "ClassFloors(recall={'rare': 0.9})",
    "cost-matrix": "CostMatrix(costs, labels)",
    "floors": "Floors(recall=0.9)",
    "f-beta": "FBeta(3), or 'f1' or 'f2'",
    "fbeta_score": "FBeta(3), or 'f1' or 'f2'",
    "metric": "Metric('jaccard')",
}


def as_rule(rule: str | Rule) -> Rule:
    """Return a rule given itself or its name.

    Examples
    --------
    >>> as_rule("g-mean"), as_rule("balanced_accuracy")
    (GMean(), Sum())
    """
    return as_object("rule", rule, Rule, _KNOWN, _remedy_of(rule))


def _remedy_of(given: object) -> str:
    """Return what to write instead of something that is no rule, or nothing."""
    if isinstance(given, type) and issubclass(given, Rule):
        return f"Use {_NEEDS.get(given.name, f'{given.__name__}()')}."
    if callable(given):
        name = getattr(given, "__name__", "scorer")
        return f"Use Metric({name}) from boundshift.rules, which maximises it."
    return _remedy_of_name(given) if isinstance(given, str) and given not in _KNOWN else ""


def _remedy_of_name(name: str) -> str:
    if name in _NEEDS:
        return f"Use {_NEEDS[name]}."
    if name in FLOORS:
        value = 0.1 if name == "flagged" else 0.9
        return f"Use Floors({name}={value}), or then={name!r} to make it best beside another floor."
    from sklearn.metrics import get_scorer, get_scorer_names

    if name not in get_scorer_names():
        return ""
    if getattr(get_scorer(name), "_response_method", "predict") != "predict":
        return (
            "This metric judges a ranking or probabilities, so it is the same at every threshold. "
            "Use a metric of predictions, such as 'f1' or 'balanced_accuracy'."
        )
    return f"Use Metric({name!r}) from boundshift.rules."
