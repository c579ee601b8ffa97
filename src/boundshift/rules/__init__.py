"""Rules: how two claimed error rates become one number to minimise.

Every rule grows with each of the two error rates; the search relies on it.
"""

from __future__ import annotations

from boundshift.exceptions import InvalidInputError
from boundshift.rules.balanced import GMean, Minimax, Sum
from boundshift.rules.base import Rule
from boundshift.rules.cost import Cost
from boundshift.rules.floors import Floors
from boundshift.rules.metric import Metric
from boundshift.validation import nearest_name

__all__ = ["RULES", "Cost", "Floors", "GMean", "Metric", "Minimax", "Rule", "Sum", "as_rule"]

RULES: dict[str, type[Rule]] = {
    rule.name: rule for rule in (Cost, Floors, GMean, Metric, Minimax, Sum)
}
"""Name → class of every rule."""

_NEEDS = {
    "floors": "which floor: pass Floors(recall=0.9), for example",
    "metric": "which metric: pass Metric('jaccard'), for example",
}


def as_rule(rule: str | Rule) -> Rule:
    """Return a rule given itself or its name.

    Examples
    --------
    >>> as_rule("g-mean")
    GMean(f1_weight=0.08)
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in _NEEDS:
        raise InvalidInputError(f"`rule` {rule!r} must be told {_NEEDS[rule]}, got the name alone.")
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]()
    names = [name for name in RULES if name not in _NEEDS]
    raise InvalidInputError(
        f"`rule` must be a Rule or one of {', '.join(map(repr, names))}, got {rule!r}."
        f"{nearest_name(rule, names)}"
    )
