"""What a user wants of the boundary, in words of the command line, as options of the search."""

from __future__ import annotations

from typing import Any

from boundshift.curves import as_curve
from boundshift.curves.clopper_pearson import ClopperPearson
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Cost, NeymanPearson, as_rule
from boundshift.validation import as_share

__all__ = ["choose_decision"]


def choose_decision(
    *,
    rule: str | None = None,
    bound: str | None = None,
    recall_floor: float | None = None,
    costs: tuple[float, float] | None = None,
    preset: str | None = None,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Return the options of :func:`~boundshift.find_boundary` for a wish.

    Parameters
    ----------
    rule, bound, preset : str, default=None
        Names, as :func:`~boundshift.find_boundary` takes them; None leaves its default.
    recall_floor : float, default=None
        Least share of the positive class to be found, between 0 and 1: the rule
        "neyman-pearson". Unless `bound` says otherwise it is a promise at `confidence`, by the
        bound of Clopper and Pearson.
    costs : pair of float, default=None
        What a false alarm and what a miss cost: the rule "cost". Unless `bound` says otherwise
        it is the expected cost, by the bound "smoothed".
    confidence : float, default=0.95
        Of the promise.

    Returns
    -------
    dict

    Examples
    --------
    >>> choose_decision(costs=(1, 20))
    {'rule': Cost(costs=(1.0, 20.0), priors=None), 'bound': 'smoothed'}
    >>> choose_decision(recall_floor=0.9)["bound"]
    ClopperPearson(confidence=0.95)
    """
    options: dict[str, Any] = {"rule": rule, "bound": bound, "preset": preset}
    options = {name: value for name, value in options.items() if value is not None}
    if sum(wish is not None for wish in (rule, recall_floor, costs)) > 1:
        raise InvalidInputError(
            "A boundary follows one rule: give only one of --rule, --recall-floor and --costs."
        )
    if recall_floor is not None:
        floor = as_share("recall_floor", recall_floor, "Use 0.9 to find 9 of 10, for example.")
        options |= {"rule": NeymanPearson(floor=floor)}
        options.setdefault("bound", ClopperPearson(confidence=as_share("confidence", confidence)))
    if costs is not None:
        options |= {"rule": Cost(costs=costs)}
        options.setdefault("bound", "smoothed")
    as_rule(options.get("rule", "sum"))
    as_curve(options.get("bound", "support"))
    return options
