"""What a user asks of a boundary: the options of several commands, as a curve and a rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from boundshift.app.options import optional
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.curves import ErrorCurve
    from boundshift.rules import Rule

__all__ = ["Goal", "takes_goal"]

_CURVES = (
    "blend",
    "smoothed",
    "logistic",
    "empirical",
    "student-t",
    "kth-point",
    "clopper-pearson",
    "dkw",
    "bernstein",
    "support",
    "paper",
    "authors",
)
_RULES = (
    "g-mean",
    "sum",
    "minimax",
    "cost",
    "f0.5",
    "f1",
    "f2",
    "mcc",
    "kappa",
    "youden",
    "informedness",
    "markedness",
)
_RATES = ("recall", "specificity", "precision")
_SHARE = "SHARE"

_OPTIONS: dict[str, Any] = {
    "curve": typer.Option(
        help=f"Claim on each class's error: {', '.join(_CURVES)}. The last two are support with "
        "the settings of the paper's text and of its tables.",
        autocompletion=lambda: list(_CURVES),
        show_default="the rule's own, else blend",
    ),
    "rule": typer.Option(
        help=f"What to minimise, or of a metric to maximise: {', '.join(_RULES)}.",
        autocompletion=lambda: list(_RULES),
        show_default="the curve's own, else g-mean",
    ),
    "metric": optional(
        "Rule: the best value of a scikit-learn scorer of predictions, such as jaccard.",
        "NAME",
    ),
    "costs": optional(
        "Rule: the least expected cost, for costs of a false alarm and of a miss, as 1,20.", "A,B"
    ),
    "recall_floor": optional(
        "Rule: find at least this share of the positive class, then do the best for --then. "
        "Floors go together; the curve is clopper-pearson, and they are promised, unless --curve "
        "says otherwise.",
        _SHARE,
    ),
    "specificity_floor": optional(
        "Rule: leave at least this share of the negative class alone.", _SHARE
    ),
    "precision_floor": optional("Rule: at least this share of flagged rows is positive.", _SHARE),
    "npv_floor": optional("Rule: at least this share of rows not flagged is negative.", _SHARE),
    "max_flagged": optional("Rule: flag at most this share of all rows, such as 0.02.", _SHARE),
    "then": typer.Option(
        help=f"What is best where all floors are met: a rule, {', '.join(_RATES[:2])} or "
        f"{_RATES[2]}.",
        metavar="NAME",
        autocompletion=lambda: [*_RULES, *_RATES],
        show_default="g-mean",
    ),
    "prevalence": optional(
        "Share of the positive class where decisions will be made, if it is not that of the "
        "rows: 0.001 for one in a thousand. For costs, F1 and the like, precision, NPV and the "
        "share flagged; also where negatives were thinned out.",
        _SHARE,
    ),
    "confidence": typer.Option(
        help="Confidence of the certificate, and of curves that have one (clopper-pearson, dkw, "
        "bernstein); between 0 and 1."
    ),
}


@dataclass(frozen=True)
class Goal:
    """What the options of a command ask of a boundary; each field is an option.

    Examples
    --------
    >>> Goal(costs="1,20").claims()
    (Blend(rows=10.0), Cost(false_positive=1.0, false_negative=20.0, prevalence=None))
    >>> Goal(recall_floor=0.9, max_flagged=0.02, confidence=0.99).claims()
    (ClopperPearson(confidence=0.99), Floors(recall=0.9, flagged=0.02))
    """

    curve: str | None = None
    rule: str | None = None
    metric: str | None = None
    costs: str | None = None
    recall_floor: float | None = None
    specificity_floor: float | None = None
    precision_floor: float | None = None
    npv_floor: float | None = None
    max_flagged: float | None = None
    then: str | None = None
    prevalence: float | None = None
    confidence: float = 0.95

    @property
    def floors(self) -> dict[str, float]:
        """The floors and the cap that are asked for, by their names in `Floors`."""
        given = {
            "recall": self.recall_floor,
            "specificity": self.specificity_floor,
            "precision": self.precision_floor,
            "npv": self.npv_floor,
            "flagged": self.max_flagged,
        }
        return {name: share for name, share in given.items() if share is not None}

    @property
    def is_open(self) -> bool:
        """Whether nothing is asked of the boundary, so that costs by row may decide."""
        return self == Goal(confidence=self.confidence)

    def check_costs_by_row(self, cost_column: str | None) -> None:
        """Raise if costs by row are to go with a rule or a curve."""
        if cost_column is not None and not self.is_open:
            raise InvalidInputError(
                f"--cost-column must go without a rule or a curve, got '{cost_column}' with one: "
                "every row has its own cost. Leave them out."
            )

    def claims(self) -> tuple[ErrorCurve, Rule]:
        """Return the curve and the rule, as `find_boundary` takes them."""
        from boundshift.boundary import choose_claims
        from boundshift.curves.counts import ConfidenceCurve

        chosen, by = choose_claims(self.curve, self._rule())
        if isinstance(chosen, ConfidenceCurve):
            chosen = replace(chosen, confidence=self.confidence)
        return chosen, by

    def _rule(self) -> Rule | None:
        """Return the rule, None for that of the curve."""
        from boundshift.rules import Floors, Metric, as_rule

        wishes = (self.rule, self.metric, self.costs, self.floors or None)
        if sum(wish is not None for wish in wishes) > 1:
            raise InvalidInputError(
                "A boundary follows one rule: give only one of --rule, --metric, --costs, and "
                "floors such as --recall-floor. Where floors are met, --then f1 says what is best."
            )
        if self.then is not None and not self.floors:
            raise InvalidInputError(
                f"--then must go with a floor, got {self.then!r} alone. Use --rule {self.then}, or "
                "--recall-floor 0.9, for example."
            )
        wanted: Rule | None = None
        if self.floors:
            return Floors(**self.floors, then=self.then, prevalence=self.prevalence)
        if self.metric is not None:
            wanted = Metric(self.metric)
        elif self.costs is not None:
            wanted = _read_costs(self.costs)
        elif self.rule is not None:
            wanted = as_rule(self.rule)
        if self.prevalence is None:
            return wanted
        if wanted is None or "prevalence" not in {f.name for f in fields(wanted)}:
            raise InvalidInputError(
                "--prevalence must go with a rule that depends on it, got "
                f"{'none' if wanted is None else repr(wanted.name)}. Use --costs, --rule f1 or "
                "mcc, --metric, or a floor of precision, NPV or the share flagged."
            )
        return replace(wanted, prevalence=self.prevalence)  # type: ignore[call-arg]


def takes_goal(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command with a parameter `goal` an option for each field of `Goal` in its place."""
    signature = inspect.signature(command, eval_str=True)
    hints = get_type_hints(Goal)
    options = [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=f.default,
            annotation=Annotated[hints[f.name], _OPTIONS[f.name]],
        )
        for f in fields(Goal)
    ]
    parameters: list[inspect.Parameter] = []
    for own in signature.parameters.values():
        by_name = own.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        parameters += options if own.name == "goal" else [by_name]

    @wraps(command)
    def read(**given: Any) -> None:
        goal = Goal(**{f.name: given.pop(f.name) for f in fields(Goal)})
        command(**given, goal=goal)

    read.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    read.__annotations__ = {p.name: p.annotation for p in parameters}
    return read


def _read_costs(text: str) -> Rule:
    """Return the rule of costs written as ``1,20``."""
    from boundshift.rules import Cost

    try:
        alarm, miss = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        raise InvalidInputError(
            f"--costs must be two numbers, of a false alarm and of a miss, got '{text}'. "
            "Use --costs 1,20, for example."
        ) from None
    return Cost(false_positive=alarm, false_negative=miss)
