"""Options that several commands share, so that they are spelled, explained and read alike."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.app.workflow.feature_columns import Role

__all__ = [
    "ByOption",
    "CategoryOption",
    "CostColumnOption",
    "DropOption",
    "ForceOption",
    "IdOption",
    "JsonOption",
    "LabelOption",
    "NegativeNameOption",
    "NumericOption",
    "PositiveNameOption",
    "PositiveOption",
    "ScoreOption",
    "SeedOption",
    "TableArgument",
    "TablesArgument",
    "TrustOption",
    "ZoneOption",
    "optional",
    "read_roles",
    "read_zone_errors",
]


class ScaleName(StrEnum):
    """What scores are."""

    auto = "auto"
    probability = "probability"
    raw = "raw"


def optional(text: str, metavar: str | None = None) -> Any:
    """Return an option that is left out unless it is asked for, so that no default is shown."""
    return typer.Option(help=text, metavar=metavar, show_default=False)


_COLUMN = "COLUMN"
_KINDS = "CSV, TSV, Parquet, Feather, JSON lines (also .gz, .bz2, .zst) or Excel; - reads a pipe."
TableArgument = Annotated[Path, typer.Argument(help=_KINDS, metavar="FILE", show_default=False)]
TablesArgument = Annotated[
    list[Path], typer.Argument(help=_KINDS, metavar="FILE...", show_default=False)
]
ScoreOption = Annotated[str, optional("Column of scores, higher for the positive class.")]
LabelOption = Annotated[str, optional("Column of labels.")]
PositiveOption = Annotated[
    str | None,
    optional(
        "Label of the class to be found. Default: the greater of 0 and 1, -1 and 1, false and "
        "true; of any other two the rarer."
    ),
]
ScaleOption = Annotated[
    ScaleName,
    typer.Option(
        help="What the scores are. Probabilities are decided on their log-odds; auto holds them to "
        "be probabilities if all lie in [0, 1]."
    ),
]
PositiveNameOption = Annotated[str | None, optional("What the positive class is called.")]
NegativeNameOption = Annotated[str | None, optional("What the negative class is called.")]
SeedOption = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")]
NumericOption = Annotated[
    list[str] | None,
    optional("Column of numbers, whatever it looks like; may be repeated.", _COLUMN),
]
CategoryOption = Annotated[
    list[str] | None, optional("Column of categories, such as codes; may be repeated.", _COLUMN)
]
DropOption = Annotated[
    list[str] | None, optional("Column not to learn from; may be repeated.", _COLUMN)
]
IdOption = Annotated[
    list[str] | None,
    typer.Option("--id", help="Column that names rows; may be repeated.", metavar=_COLUMN),
]
ByOption = Annotated[
    list[str] | None,
    optional(
        "Column with few values, for the report's table of groups, all decided by one boundary; "
        "may be repeated. Boundaries by group: threshold --by.",
        _COLUMN,
    ),
]
CostColumnOption = Annotated[
    str | None,
    optional(
        "Column of what is lost if the row is decided wrongly; with no rule or curve.", _COLUMN
    ),
]
ZoneOption = Annotated[
    str | None,
    optional(
        "Also find an unsure zone, two limits between which nobody should decide by the score "
        "alone: most of the negative and of the positive class that may be decided wrongly, as "
        "0.05,0.05.",
        "A,B",
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust", help="The model's file is your own: a pickle, or of another library."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


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


def read_zone_errors(text: str) -> tuple[float, float]:
    """Return errors written as ``0.05,0.05``."""
    from boundshift.promises.zone import as_errors

    try:
        negative, positive = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInputError(
            f"--zone must be two shares, of the negative and of the positive class, got '{text}'. "
            "Use --zone 0.05,0.05, for example."
        ) from None
    return as_errors((negative, positive))
