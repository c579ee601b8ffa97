"""Options that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundshift.exceptions import InvalidInputError

__all__ = [
    "Bound",
    "Confidence",
    "Costs",
    "Force",
    "Json",
    "Label",
    "Positive",
    "RecallFloor",
    "Rule",
    "Score",
    "TableFile",
    "TableFiles",
    "read_costs",
]


def _rules() -> list[str]:
    from boundshift.rules import RULES

    return list(RULES)


def _curves() -> list[str]:
    from boundshift.curves import CURVES

    return list(CURVES)


_KINDS = "CSV, TSV, Parquet, Feather or JSON lines (also .gz, .bz2, .zst); - reads a pipe."
TableFile = Annotated[Path, typer.Argument(help=_KINDS, metavar="FILE", show_default=False)]
TableFiles = Annotated[
    list[Path], typer.Argument(help=_KINDS, metavar="FILE...", show_default=False)
]
Score = Annotated[
    str, typer.Option(help="Column of scores, higher for the positive class.", show_default=False)
]
Label = Annotated[str, typer.Option(help="Column of labels.", show_default=False)]
Positive = Annotated[
    str | None,
    typer.Option(
        help="Label of the class to be found; all others are negative. Default: the greater of "
        "two numbers, the rarer of two words.",
        show_default=False,
    ),
]
Rule = Annotated[
    str | None,
    typer.Option(
        help="What to minimise: sum, minimax, g-mean, cost, neyman-pearson or metric.",
        autocompletion=_rules,
        show_default="the library's",
    ),
]
Bound = Annotated[
    str | None,
    typer.Option(
        help="Claim on each class's error: logistic, smoothed, student-t, kth-point, "
        "clopper-pearson, dkw, bernstein or support (the paper).",
        autocompletion=_curves,
        show_default="the library's",
    ),
]
RecallFloor = Annotated[
    float | None,
    typer.Option(
        help="Find at least this share of the positive class, then spare the negative one.",
        show_default=False,
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        help="Costs of a false alarm and of a miss, as 1,20.", metavar="A,B", show_default=False
    ),
]
Confidence = Annotated[float, typer.Option(help="Of what is certified, between 0 and 1.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def read_costs(text: str | None) -> tuple[float, float] | None:
    """Return costs written as ``1,20``.

    Examples
    --------
    >>> read_costs("1,20")
    (1.0, 20.0)
    """
    if text is None:
        return None
    try:
        alarm, miss = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        raise InvalidInputError(
            f"--costs must be two numbers, of a false alarm and of a miss, got '{text}'. "
            "Use --costs 1,20, for example."
        ) from None
    return alarm, miss
