"""How commands speak: results and tables, JSON, errors, notes and progress."""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
from boundshift.streaming.bars import draw_bars
from boundshift.writing import is_special

__all__ = [
    "Show",
    "check_new",
    "errors",
    "in_options",
    "print_json",
    "print_line",
    "print_notes",
    "print_table",
    "progress",
    "visible",
]

Show = Callable[[str, int, int], None]

# Letters by which a label or a name could move the cursor, colour what follows, or turn it around:
# control characters, the marks of right-to-left text, and bytes of a name that are no UTF-8.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)

# Arguments of Python, and the options by which a user has given them.
_OPTIONS = {
    "by": "--by",
    "confidence": "--confidence",
    "curve": "--curve",
    "false_negative": "--costs",
    "false_positive": "--costs",
    "flagged": "--max-flagged",
    "keep": "--keep",
    "metric": "--metric",
    "npv": "--npv-floor",
    "pos_label": "--positive",
    "precision": "--precision-floor",
    "prevalence": "--prevalence",
    "recall": "--recall-floor",
    "row_cost": "--cost-column",
    "rule": "--rule",
    "sample_weight": "--weight",
    "specificity": "--specificity-floor",
    "then": "--then",
    "threshold": "--threshold",
    "top": "--top",
    "y_score": "--score",
    "y_true": "--label",
}


@contextmanager
def errors() -> Iterator[None]:
    """Turn a user's mistake into its message and exit code 1, and a warning into a note."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", BoundaryWarning)
            yield
    except (InvalidInputError, MissingExtraError) as error:
        _print_aside(in_options(str(error)), "red")
        raise typer.Exit(1) from error
    except BrokenPipeError:  # The reader of the pipe has seen enough.
        raise
    except OSError as error:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        place = f"'{name}': " if name else ""
        _print_aside(f"{place}{error.strerror or error}.", "red")
        raise typer.Exit(1) from error
    except MemoryError as error:
        _print_aside(
            "There must be memory for the table, and there is not enough. Use fewer rows or "
            "columns, or scores of your own model with `boundshift threshold`.",
            "red",
        )
        raise typer.Exit(1) from error
    print_notes(dict.fromkeys(str(warning.message) for warning in caught))


def visible(text: str) -> str:
    r"""Return a text with letters that a terminal would obey written out.

    Examples
    --------
    >>> visible("\x1b[2Jfraud")
    '\\x1b[2Jfraud'
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def in_options(text: str) -> str:
    """Return a message about arguments of Python in terms of the options of a command.

    Examples
    --------
    >>> in_options("`rule` must be one of 'sum', 'cost': pass the other label as pos_label.")
    "--rule must be one of 'sum', 'cost': pass the other label as --positive."
    """
    return re.sub(
        r"`(\w+)`|\b(pos_label)\b",
        lambda found: _OPTIONS.get(found[1] or found[2], found[0]),
        text,
    )


def check_new(path: Path, force: bool) -> None:
    """Raise if something is there already and may not be replaced."""
    if os.path.lexists(path) and not force and not is_special(path):
        raise InvalidInputError(
            f"'{path}' exists already and is left as it is. Choose another name, or use --force "
            "to replace it."
        )


def progress() -> AbstractContextManager[Show]:
    """Show bars on the error stream, so that what is piped stays clean."""
    return draw_bars(only_in_terminal=True)


def print_line(text: object) -> None:
    """Print a line as it is, without markup."""
    Console().print(visible(str(text)), markup=False, highlight=False, soft_wrap=True)


def print_notes(texts: Iterable[str]) -> None:
    """Print remarks on the error stream, so that what is piped stays clean."""
    for text in texts:
        _print_aside(f"Note: {in_options(text)}", "yellow")


def _print_aside(text: str, style: str) -> None:
    """Print what is no result on the error stream, as it is."""
    console = Console(stderr=True)
    console.print(visible(text), style=style, markup=False, highlight=False, soft_wrap=True)


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; names and labels out of a file are shown as they are, never as markup."""
    table = Table(box=box.SIMPLE)
    for number, name in enumerate(head):
        table.add_column(
            Text(visible(name)), justify="right" if number else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console()
    if not console.is_terminal:  # A file has no edge at which lines must be broken.
        console = Console(width=200)
    console.print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return visible(str(value))


def print_json(values: Mapping[str, Any]) -> None:
    """Print a JSON object; JSON has no infinity and no NaN, which become null."""
    text = json.dumps(_plain(values), indent=2, ensure_ascii=False)
    typer.echo(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
