"""The application that the commands join, and how they speak: errors, progress, tables, JSON."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError

__all__ = [
    "Show",
    "app",
    "check_new",
    "errors",
    "examples",
    "print_json",
    "print_line",
    "print_note",
    "print_table",
    "progress",
]

Show = Callable[[str, int, int], None]

app = typer.Typer(
    name="boundshift",
    help="Move a trained classifier's decision boundary to where confidence bounds put it.",
    epilog=(
        "Exit codes: 0 done, 1 something in the data or files is wrong (a sentence says what), "
        "2 the command was not understood. Results go to standard output, all else to standard "
        "error. Shell completion: boundshift --install-completion."
    ),
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
)


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
    """Move a trained classifier's decision boundary to where confidence bounds put it."""


def examples(*lines: str) -> str:
    """Return the end of a command's help: examples, one a line.

    Examples
    --------
    >>> examples("python -m lab.demo").splitlines()
    ['[bold]Examples[/bold]', '', 'python -m lab.demo']
    """
    return "\n\n".join(["[bold]Examples[/bold]", *(line.replace("[", "\\[") for line in lines)])


@contextmanager
def errors() -> Iterator[None]:
    """Turn a user's mistake into its message and exit code 1, and a warning into a note."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", BoundaryWarning)
            yield
    except (InvalidInputError, MissingExtraError) as error:
        _print_error(str(error))
        raise typer.Exit(1) from error
    except BrokenPipeError:  # The reader of the pipe has seen enough.
        raise
    except OSError as error:
        place = f"'{error.filename}': " if error.filename else ""
        _print_error(f"{place}{error.strerror or error}.")
        raise typer.Exit(1) from error
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print_note(message)


def _print_error(text: str) -> None:
    console = Console(stderr=True)
    console.print(text, style="red", markup=False, highlight=False, soft_wrap=True)


def check_new(path: Path, force: bool) -> None:
    """Raise if something is there already and may not be replaced."""
    if path.exists() and not force:
        raise InvalidInputError(
            f"'{path}' exists already and is left as it is. Choose another name, or use --force "
            "to replace it."
        )


@contextmanager
def progress() -> Iterator[Show]:
    """Show bars on the error stream, so that what is piped stays clean."""
    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    bars = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
    with bars as bar:
        tasks: dict[str, int] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what)
            bar.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

        yield show


def print_line(text: object) -> None:
    """Print a line as it is, without markup."""
    Console().print(str(text), markup=False, highlight=False, soft_wrap=True)


def print_note(text: str) -> None:
    """Print a remark on the error stream, so that what is piped stays clean."""
    Console(stderr=True).print(
        f"Note: {text}", style="yellow", markup=False, highlight=False, soft_wrap=True
    )


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; names and labels out of a file are shown as they are, never as markup."""
    table = Table(box=box.SIMPLE)
    for number, name in enumerate(head):
        table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console()
    if not console.is_terminal:  # A file has no edge at which lines must be broken.
        console = Console(width=200)
    console.print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def print_json(values: Mapping[str, Any]) -> None:
    """Print a JSON object; JSON has no infinity and no NaN, which become null."""
    typer.echo(json.dumps(_plain(values), indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
