"""The application that the commands join, and how they speak: errors, progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from boundshift.exceptions import InvalidInputError, MissingExtraError

__all__ = ["Show", "app", "errors", "print_line", "progress"]

Show = Callable[[str, int, int], None]

app = typer.Typer(
    name="boundshift",
    help="Move a trained classifier's decision boundary to where confidence bounds put it.",
    no_args_is_help=True,
)


@app.callback()
def _commands() -> None:
    """Move a trained classifier's decision boundary to where confidence bounds put it."""


@contextmanager
def errors() -> Iterator[None]:
    """Turn a user's mistake into its message and exit code 1."""
    try:
        yield
    except (InvalidInputError, MissingExtraError) as error:
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(1) from error


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
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        tasks: dict[str, int] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what)
            bar.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

        yield show


def print_line(text: object) -> None:
    """Print a line as it is, without markup."""
    Console().print(str(text), markup=False, highlight=False, soft_wrap=True)
