"""From the arguments of `find_boundary` to the function that decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from boundshift.curves import ErrorCurve, as_curve
from boundshift.curves.support import SupportRadius
from boundshift.exceptions import InvalidInputError
from boundshift.search.decide import minimise
from boundshift.support.decide import solve_sample
from boundshift.support.settings import as_start, read_options
from boundshift.result.boundary import Boundary
from boundshift.rules import NeymanPearson, Rule, Sum, as_rule
from boundshift.scores.sample import ScoreSample
from boundshift.validation import as_choice, as_fallback

__all__ = ["DEFAULT_BOUND", "DEFAULT_RULE", "choose_claims", "decision"]

Pair = tuple[float, float]

DEFAULT_BOUND = "logistic"
DEFAULT_RULE = "g-mean"


def decision(
    *,
    bound: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    preset: Literal["paper", "authors"] | None = None,
    gamma: float | None = None,
    constant: float | None = None,
    radius: Literal["one-sided", "two-sided"] | None = None,
    slack: Literal["binary", "continuous"] | None = None,
    penalty: Literal["proportional", "count"] | None = None,
    alpha: float | Pair | None = None,
    budget: int | float | Literal["all"] | None = None,
    class_weight: float | Pair | Mapping[Any, float] | None = None,
    centre: Literal["median", "mean"] | None = None,
    stop_at_zero: bool | None = None,
    solver: Literal["exact", "slsqp"] = "exact",
    start: float = 1.0,
    fallback: Literal["edges", "means"] | float = "edges",
) -> Callable[[ScoreSample], Boundary]:
    """Return the function from a sample to its boundary; arguments as in `find_boundary`."""
    given: dict[str, Any] = {
        "preset": preset,
        "gamma": gamma,
        "constant": constant,
        "radius": radius,
        "slack": slack,
        "penalty": penalty,
        "alpha": alpha,
        "budget": budget,
        "class_weight": class_weight,
        "centre": centre,
        "stop_at_zero": stop_at_zero,
        "solver": None if solver == "exact" else solver,
    }
    given = {name: value for name, value in given.items() if value is not None}
    curve, rule = choose_claims(bound, rule, bool(given))
    as_choice("solver", solver, ("exact", "slsqp"))
    start = as_start(start)
    fallback = as_fallback(fallback)
    if isinstance(curve, SupportRadius):
        given = {k: v for k, v in vars(curve).items() if isinstance(bound, ErrorCurve)} | given
    is_paper = isinstance(curve, SupportRadius) and isinstance(rule, Sum)
    if not is_paper:
        curve = _plain_curve(curve, rule, given)

    def decide(sample: ScoreSample) -> Boundary:
        """Return the boundary of a sample."""
        if not is_paper:
            return minimise(sample, curve, rule, fallback)
        wanted = {k: v for k, v in given.items() if k not in ("solver", "preset")}
        options = read_options(given.get("preset"), wanted, sample)
        return solve_sample(sample, options, solver, start, fallback)

    return decide


def choose_claims(
    bound: str | ErrorCurve | None, rule: str | Rule | None, has_options: bool = False
) -> tuple[ErrorCurve, Rule]:
    """Return the curve and the rule, each the default for the other where none is named."""
    if bound is None:
        floor = rule is not None and isinstance(as_rule(rule), NeymanPearson)
        bound = "support" if has_options else "clopper-pearson" if floor else DEFAULT_BOUND
    curve = as_curve(bound)
    if rule is None:
        rule = "sum" if isinstance(curve, SupportRadius) else DEFAULT_RULE
    return curve, as_rule(rule)


def _plain_curve(curve: ErrorCurve, rule: Rule, given: dict[str, Any]) -> ErrorCurve:
    """Return the curve with the arguments it takes; raise for those that it cannot use."""
    taken = {"gamma", "constant", "radius", "centre"} if isinstance(curve, SupportRadius) else set()
    extra = sorted(set(given) - taken)
    if extra:
        raise InvalidInputError(
            f"`{extra[0]}` must be left out unless bound='support' and rule='sum', got "
            f"{given[extra[0]]!r} with bound={curve.name!r} and rule={rule.name!r}. "
            "Give the arguments of a curve or a rule to its object, for example "
            "bound=ClopperPearson(confidence=0.9)."
        )
    return SupportRadius(**given) if taken else curve
