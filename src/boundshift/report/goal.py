"""What was asked for: whether it is met, by how much, and what decisions cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from boundshift.promises.certificate import Certificate
from boundshift.report.aims import Aim, aim_of
from boundshift.report.goal_costs import judge_cost, say_cost
from boundshift.report.goal_floors import judge_floors, say_floor, wish_for
from boundshift.report.goal_metrics import aim_word, judge_aim, say_aim
from boundshift.report.goal_words import WORST, join_wishes, state_word
from boundshift.report.paired_rows import PairedRows
from boundshift.report.verdict import JudgedOn, part
from boundshift.result.boundary import Boundary
from boundshift.rules import Cost, Floors, GMean, Rule
from boundshift.status import Status
from boundshift.view.words import Names

__all__ = ["judge_goal"]


def judge_goal(
    boundary: Boundary,
    rows: PairedRows,
    shifted: Certificate,
    judged_on: JudgedOn,
    prevalence: float,
    names: Names,
    column: str | None = None,
) -> dict[str, Any] | None:
    """Say whether a rule got what it asked for; None for the rule of those who ask for none.

    A floor is *met* where a bound shows it, or the choice itself has promised it; *reached* where
    only the rows at hand do; *missed* else. Costs and metrics are met where they are better than
    at the model's own threshold, and that is not by chance.

    Parameters
    ----------
    boundary : Boundary
        What was chosen.
    rows : PairedRows
        The rows that judge, decided by the model's own threshold and by the boundary, with their
        weights or costs.
    shifted : Certificate
        Of the boundary on these rows.
    judged_on : {"test", "deciding"}
        Which rows these are.
    prevalence : float
        Share of the positive class where decisions are made.
    names : Names
        Of both classes.
    column : str, default=None
        What the weights or costs are called.

    Returns
    -------
    dict or None
        ``wish``, ``state``, ``word``, ``sentence`` with its ``parts``, ``floors`` (one dict each),
        ``cost`` and ``aim``, whatever was to be best.

    Examples
    --------
    >>> import boundshift
    >>> import numpy as np
    >>> from boundshift.promises.certificate import certify_counts
    >>> from boundshift.view.words import read_names
    >>> y, s = np.repeat([0, 1], [80, 20]), np.array([*range(80), *range(70, 90)])
    >>> found = boundshift.find_boundary(y, s, rule=boundshift.Floors(recall=0.5))
    >>> rows = PairedRows(y == 1, s > 0, s > found.threshold)
    >>> fresh = certify_counts((10, 2), (800, 200), (0, 1))
    >>> goal = judge_goal(found, rows, fresh, "test", 0.2, read_names(None, (0, 1)))
    >>> print(goal["sentence"])
    Goal: find at least 50% of rows of class 1. Met: 99.0% on the test rows; in the long run at
    least 96.8% with 95% confidence, 46.8 points above the goal.
    """
    floors = boundary.rule if isinstance(boundary.rule, Floors) else None
    objective = boundary.rule if floors is None else floors.objective
    default = GMean() if floors is not None else boundary.curve.default_rule
    wanted = not isinstance(objective, type(default))
    if floors is None and not wanted and rows.amount is None:
        return None
    items: list[dict[str, Any]] = []
    if floors is not None:
        weighted = None if rows.amount is None else rows.errors("new")
        items = judge_floors(floors, boundary, shifted, judged_on, prevalence, weighted)
    aim, best, told, word = _judge_best(
        objective, rows, shifted, judged_on, prevalence, names, column, alone=floors is None
    )
    states = [item["state"] for item in items] or [best["state"]]
    state = WORST[min(WORST.index(s) for s in states)]
    wishes = [wish_for(item, names) for item in items]
    if wanted or floors is None:
        wishes.append(aim.wish if floors is None else f"then {aim.wish}")
    wish = join_wishes(wishes) + _counted_by(rows, column)
    parts = [part(f"Goal: {wish}.")]
    for item in items:
        parts += say_floor(item, judged_on, shifted.confidence, len(items) > 1)
    if wanted or floors is None:
        parts += told
    if state != "met" and boundary.status in (Status.UNMET, Status.NOT_PROMISED):
        parts.append(part(boundary.message))
    return {
        "wish": wish,
        "state": state,
        "word": word if floors is None else state_word(state),
        "sentence": " ".join(p["text"] for p in parts),
        "parts": parts,
        "floors": items,
        "cost": best if "false_negative" in best else None,
        "aim": best,
    }


def _judge_best(
    objective: Rule,
    rows: PairedRows,
    shifted: Certificate,
    judged_on: JudgedOn,
    prevalence: float,
    names: Names,
    column: str | None,
    *,
    alone: bool,
) -> tuple[Aim, dict[str, Any], list[dict[str, Any]], str]:
    """Return what was to be best, what is reached of it, and both in words."""
    aim = aim_of(objective)
    if isinstance(objective, Cost) and rows.amount is None:
        cost = judge_cost(objective, rows, shifted, prevalence)
        cost["state"] = _as_shown(cost["state"], judged_on)
        told = say_cost(cost, shifted, judged_on, alone=alone)
        return aim, cost, told, state_word(cost["state"], cost=True)
    if not rows.shares:
        by = f"by column '{column}'" if column else "by what each row costs"
        aim = replace(aim, wish=f"the least cost of wrong decisions, {by}")
    best = judge_aim(aim, rows, shifted, prevalence)
    best["state"] = _as_shown(best["state"], judged_on)
    told = say_aim(aim, best, shifted.confidence, judged_on, prevalence, names, alone=alone)
    return aim, best, told, aim_word(aim, best)


def _as_shown(state: Any, judged_on: JudgedOn) -> Any:
    """Return a state, by one less where the rows that judge have chosen the threshold."""
    return "reached" if state == "met" and judged_on == "deciding" else state


def _counted_by(rows: PairedRows, column: str | None) -> str:
    """Say by what rows are counted, where that is not by their number."""
    if rows.amount is None or not rows.shares:
        return ""
    by = f"its weight in column '{column}'" if column else "its weight"
    return f", each row counted by {by}"
