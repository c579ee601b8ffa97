"""Options that several commands share, so that they are spelled, explained and read alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.app.workflow.feature_columns import Role
    from boundshift.curves import ErrorCurve
    from boundshift.rules import Rule

__all__ = [
    "CategoryOption",
    "ConfidenceOption",
    "CostsOption",
    "CurveOption",
    "DropOption",
    "ForceOption",
    "IdOption",
    "JsonOption",
    "LabelOption",
    "NegativeNameOption",
    "NumericOption",
    "PositiveNameOption",
    "PositiveOption",
    "RecallFloorOption",
    "RuleOption",
    "ScoreOption",
    "SeedOption",
    "TableArgument",
    "TablesArgument",
    "TrustOption",
    "read_claims",
    "read_roles",
]

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

_KINDS = "CSV, TSV, Parquet, Feather or JSON lines (also .gz, .bz2, .zst); - reads a pipe."
TableArgument = Annotated[Path, typer.Argument(help=_KINDS, metavar="FILE", show_default=False)]
TablesArgument = Annotated[
    list[Path], typer.Argument(help=_KINDS, metavar="FILE...", show_default=False)
]
ScoreOption = Annotated[
    str, typer.Option(help="Column of scores, higher for the positive class.", show_default=False)
]
LabelOption = Annotated[str, typer.Option(help="Column of labels.", show_default=False)]
PositiveOption = Annotated[
    str | None,
    typer.Option(
        help="Label of the class to be found; all others are negative. Default: the greater of 0 "
        "and 1, -1 and 1, false and true; of any other two the rarer.",
        show_default=False,
    ),
]
CurveOption = Annotated[
    str | None,
    typer.Option(
        help=f"Claim on each class's error: {', '.join(_CURVES)}. The last two are support with "
        "the settings of the paper's text and of its tables.",
        autocompletion=lambda: list(_CURVES),
        show_default="the rule's own, else blend",
    ),
]
RuleOption = Annotated[
    str | None,
    typer.Option(
        help=f"What to minimise: {', '.join(_RULES)}.",
        autocompletion=lambda: list(_RULES),
        show_default="the curve's own, else g-mean",
    ),
]
RecallFloorOption = Annotated[
    float | None,
    typer.Option(
        help="Rule: find at least this share of the positive class, then spare the negative one. "
        "The curve is clopper-pearson unless --curve says otherwise.",
        show_default=False,
    ),
]
CostsOption = Annotated[
    str | None,
    typer.Option(
        help="Rule: the least expected cost, for costs of a false alarm and of a miss, as 1,20.",
        metavar="A,B",
        show_default=False,
    ),
]
ConfidenceOption = Annotated[
    float,
    typer.Option(
        help="Confidence of the certificate, and of curves that have one (clopper-pearson, dkw, "
        "bernstein); between 0 and 1."
    ),
]
PositiveNameOption = Annotated[
    str | None, typer.Option(help="What the positive class is called.", show_default=False)
]
NegativeNameOption = Annotated[
    str | None, typer.Option(help="What the negative class is called.", show_default=False)
]
SeedOption = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")]
_COLUMN = "COLUMN"
NumericOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Column of numbers, whatever it looks like; may be repeated.", metavar=_COLUMN
    ),
]
CategoryOption = Annotated[
    list[str] | None,
    typer.Option(help="Column of categories, such as codes; may be repeated.", metavar=_COLUMN),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(help="Column not to learn from; may be repeated.", metavar=_COLUMN),
]
IdOption = Annotated[
    list[str] | None,
    typer.Option("--id", help="Column that names rows; may be repeated.", metavar=_COLUMN),
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust", help="The model's file is your own: a pickle, or of another library."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def read_claims(
    curve: str | None = None,
    rule: str | None = None,
    recall_floor: float | None = None,
    costs: str | None = None,
    confidence: float = 0.95,
) -> tuple[ErrorCurve, Rule]:
    """Return the curve and the rule that options ask for, as `find_boundary` takes them.

    Parameters
    ----------
    curve, rule : str, default=None
        Names; None is what :func:`~boundshift.find_boundary` takes for None.
    recall_floor : float, default=None
        The rule ``Floors(recall=recall_floor)``.
    costs : str, default=None
        The rule ``Cost(false_positive=1, false_negative=20)``, written as "1,20".
    confidence : float, default=0.95
        Of the curve, if it has one.

    Examples
    --------
    >>> read_claims(costs="1,20")
    (Blend(rows=10.0), Cost(false_positive=1.0, false_negative=20.0, prevalence=None))
    >>> read_claims(recall_floor=0.9, confidence=0.99)
    (ClopperPearson(confidence=0.99), Floors(recall=0.9))
    """
    from boundshift.boundary import choose_claims
    from boundshift.curves.confidence import ConfidenceCurve
    from boundshift.rules import Floors

    if sum(wish is not None for wish in (rule, recall_floor, costs)) > 1:
        raise InvalidInputError(
            "A boundary follows one rule: give only one of --rule, --recall-floor and --costs."
        )
    wanted: str | Rule | None = rule
    if recall_floor is not None:
        wanted = Floors(recall=recall_floor)
    elif costs is not None:
        wanted = _read_costs(costs)
    chosen, by = choose_claims(curve, wanted)
    if isinstance(chosen, ConfidenceCurve):
        chosen = replace(chosen, confidence=confidence)
    return chosen, by


def read_roles(
    numeric: Sequence[str] | None,
    category: Sequence[str] | None,
    drop: Sequence[str] | None,
    row_id: Sequence[str] | None,
) -> dict[str, Role]:
    """Return what the options say of columns, by their names.

    Examples
    --------
    >>> read_roles(["dose"], None, ["note"], None)
    {'dose': 'number', 'note': 'drop'}
    """
    said: tuple[tuple[Role, Sequence[str] | None], ...] = (
        ("number", numeric),
        ("category", category),
        ("drop", drop),
        ("id", row_id),
    )
    roles: dict[str, Role] = {}
    for role, names in said:
        for name in names or ():
            if roles.setdefault(name, role) != role:
                raise InvalidInputError(
                    f"A column must be said to be one thing, got '{name}' in two of --numeric, "
                    "--category, --drop and --id. Leave one out."
                )
    return roles


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
