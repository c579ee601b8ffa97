"""What was asked for: whether it is met, by how much, and what decisions cost."""

from __future__ import annotations

from typing import Any

from boundshift.promises.certificate import Certificate
from boundshift.report.goal_costs import judge_cost, say_cost
from boundshift.report.goal_floors import judge_floors, say_floor, wish_for
from boundshift.report.goal_words import WORST, join_wishes, state_word
from boundshift.report.verdict import JudgedOn, part
from boundshift.result.boundary import Boundary
from boundshift.rules import Cost, Floors, Rule
from boundshift.scores.sample import ScoreSample
from boundshift.status import Status
from boundshift.view.words import Names

__all__ = ["judge_goal"]


def judge_goal(
    boundary: Boundary,
    judging: ScoreSample,
    shifted: Certificate,
    old_threshold: float,
    judged_on: JudgedOn,
    prevalence: float,
    names: Names,
) -> dict[str, Any] | None:
    """Say whether a rule of floors or costs got what it asked for; None for other rules.

    A floor is *met* where a bound shows it, or the choice itself has promised it; *reached* where
    only the rows at hand do; *missed* else. Costs are met where they are shown to be lower than at
    the model's own threshold.

    Returns
    -------
    dict or None
        ``wish``, ``state``, ``sentence`` with its ``parts``, ``floors`` (one dict each) and
        ``cost``.

    Examples
    --------
    >>> import boundshift
    >>> from boundshift.promises.certificate import certify_counts
    >>> from boundshift.view.words import read_names
    >>> y, s = [0] * 80 + [1] * 20, [*range(80), *range(70, 90)]
    >>> found = boundshift.find_boundary(y, s, rule=boundshift.Floors(recall=0.5))
    >>> sample = ScoreSample.from_labels(y, s)
    >>> fresh = certify_counts((10, 2), (800, 200), (0, 1))
    >>> goal = judge_goal(found, sample, fresh, 0.0, "test", 0.2, read_names(None, (0, 1)))
    >>> print(goal["sentence"])
    Goal: find at least 50% of rows of class 1. Met: 99.0% on the test rows; in the long run at
    least 96.8% with 95% confidence, 46.8 points above the goal.
    """
    rule = boundary.rule
    floors = rule if isinstance(rule, Floors) else None
    cost = _cost_in(rule)
    if floors is None and cost is None:
        return None
    wishes, parts, states = [], [], []
    items = []
    if floors is not None:
        items = judge_floors(floors, boundary, shifted, judged_on, prevalence)
        wishes += [wish_for(item, names) for item in items]
        states += [item["state"] for item in items]
    judged_cost = None
    if cost is not None:
        judged_cost = judge_cost(cost, boundary, judging, shifted, old_threshold, prevalence)
        if judged_on == "deciding" and judged_cost["state"] == "met":
            judged_cost["state"] = "reached"
        if floors is None:
            states.append(judged_cost["state"])
        first = "" if floors is None else "then "
        wishes.append(
            f"{first}the least cost, where a miss costs {cost.false_negative:g} and a false alarm "
            f"{cost.false_positive:g}"
        )
    state = WORST[min(WORST.index(s) for s in states)]
    wish = join_wishes(wishes)
    parts.append(part(f"Goal: {wish}."))
    for item in items:
        parts += say_floor(item, judged_on, shifted.confidence, len(items) > 1)
    if judged_cost is not None:
        parts += say_cost(judged_cost, shifted, judged_on, alone=floors is None)
    if state != "met" and boundary.status in (Status.UNMET, Status.NOT_PROMISED):
        parts.append(part(boundary.message))
    return {
        "wish": wish,
        "state": state,
        "word": state_word(state, floors is None),
        "sentence": " ".join(p["text"] for p in parts),
        "parts": parts,
        "floors": items,
        "cost": judged_cost,
    }


def _cost_in(rule: Rule) -> Cost | None:
    """Return the costs that a rule weighs, if it does."""
    objective = rule.objective if isinstance(rule, Floors) else rule
    return objective if isinstance(objective, Cost) else None
