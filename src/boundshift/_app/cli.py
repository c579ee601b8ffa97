"""The application: how commands are added, what they print, and how mistakes are answered."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from boundshift._app.options import find_option
from boundshift._writing import is_special
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
from boundshift.streaming._driver import draw_bars

Show = Callable[[str, int, int], None]

# Characters by which a label could move the cursor, change colours or reverse the text: control
# characters, marks of right-to-left text, and bytes of a file name that are not UTF-8.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)

# Arguments in Python whose option has another name, and those with the same.
_OPTIONS = {
    "false_negative": "costs",
    "false_positive": "costs",
    "flagged": "max-flagged",
    "npv": "npv-floor",
    "pos_label": "positive",
    "precision": "precision-floor",
    "recall": "recall-floor",
    "row_cost": "cost-column",
    "specificity": "specificity-floor",
    "y_score": "score",
    "y_true": "label",
}
_SAME = "by cluster confidence curve keep metric prevalence rule then threshold top zone"
_OPTIONS |= {name: name for name in _SAME.split()}


class Command(TyperCommand):
    """A command whose help is wrapped by the terminal, not by the source code."""

    def __init__(self, *args: Any, help: str | None = None, **options: Any) -> None:
        paragraphs = (help or "").split("\n\n")
        joined = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        super().__init__(*args, help=joined or None, **options)


app = typer.Typer(
    name="boundshift",
    help="Move a classifier's decision boundary to where both classes' errors are best balanced.",
    epilog=(
        "Exit codes: 0 done, 1 something in the data or files is wrong (a sentence says what), "
        "2 the command was not understood, 3 an alarm (monitor --exit-code). Results go to "
        "standard output, all else to standard error. Shell completion: boundshift "
        "--install-completion."
    ),
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
)


def command(*examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command to the application, with examples at the end of its help.

    Its parameters are the options, described in `HELP`; a parameter that is a dataclass stands for
    one option per field.
    """
    lines = ["[bold]Examples[/bold]", *(line.replace("[", "\\[") for line in examples)]

    def add(function: Callable[..., None]) -> Callable[..., None]:
        app.command(cls=Command, epilog="\n\n".join(lines))(_with_options(function))
        return function

    return add


def _with_options(function: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(function, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for own in signature.parameters.values():
        wanted = [(own.name, own.annotation, own.default)]
        if is_dataclass(own.annotation):
            groups[own.name], hints = own.annotation, get_type_hints(own.annotation)
            wanted = [
                (f.name, hints[f.name], own.empty if f.default is MISSING else f.default)
                for f in fields(own.annotation)
            ]
        for name, kind, default in wanted:
            option: Any = Annotated[kind, find_option(function.__name__, name, default)]
            parameters.append(
                inspect.Parameter(name, own.KEYWORD_ONLY, default=default, annotation=option)
            )

    @wraps(function)
    def call(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def _version(asked: bool) -> None:
    if asked:
        from boundshift import __version__

        print_line(f"boundshift {__version__}")
        raise typer.Exit


@app.callback()
def _commands(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Move a classifier's decision boundary to where both classes' errors are best balanced."""


@contextmanager
def errors() -> Iterator[None]:
    """Turn a user's mistake into its message and exit code 1, and a warning into a note."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", BoundaryWarning)
            yield
    except (InvalidInputError, MissingExtraError) as error:
        raise _refuse(in_options(str(error))) from error
    except BrokenPipeError:  # The reader of the pipe has seen enough.
        raise
    except OSError as error:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        place = f"'{name}': " if name else ""
        raise _refuse(f"{place}{error.strerror or error}.") from error
    except MemoryError as error:
        raise _refuse(
            "There must be memory for the table, and there is not enough. Use fewer rows or "
            "columns, or scores of your own model with `boundshift threshold`."
        ) from error
    print_notes(dict.fromkeys(str(warning.message) for warning in caught))


def _refuse(text: str) -> typer.Exit:
    print_line(text, "red", stderr=True)
    return typer.Exit(1)


def in_options(text: str) -> str:
    """Return a message about arguments in Python in terms of the options of a command."""

    def option(found: re.Match[str]) -> str:
        name = _OPTIONS.get(found[1] or found[2])
        return found[0] if name is None else f"--{name}"

    return re.sub(r"`(\w+)`|\b(pos_label)\b", option, text)


def check_new(path: Path, force: bool) -> None:
    """Raise if something is there already and may not be replaced."""
    if os.path.lexists(path) and not force and not is_special(path):
        raise InvalidInputError(
            f"'{path}' exists already and is left as it is. Choose another name, or use --force "
            "to replace it."
        )


@contextmanager
def progress(*, stages: bool = False) -> Iterator[Show]:
    """Show bars on the error stream; with `stages`, where it is no terminal, a line for each."""
    if Console(stderr=True).is_terminal or not stages:
        with draw_bars(only_in_terminal=True) as show:
            yield show
        return
    said: set[str] = set()

    def say(what: str, done: int, total: int) -> None:
        if what not in said:
            said.add(what)
            print_line(f"{what} …", stderr=True)

    yield say


def visible(text: str) -> str:
    r"""Return a text in which control characters are escaped."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def print_line(text: object, style: str | None = None, *, stderr: bool = False) -> None:
    """Print a line without markup."""
    console, shown = Console(stderr=stderr), visible(str(text))
    console.print(shown, style=style, markup=False, highlight=False, soft_wrap=True)


def print_notes(texts: Iterable[str]) -> None:
    """Print notes on the error stream."""
    for text in texts:
        print_line(f"Note: {in_options(text)}", "yellow", stderr=True)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; names and labels out of a file are never read as markup."""
    table = Table(box=box.SIMPLE)
    for number, name in enumerate(head):
        side: Any = "right" if number else "left"
        table.add_column(Text(visible(name)), justify=side, overflow="fold")
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
    """Print a JSON object; infinity and NaN, which JSON lacks, become null."""
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
