"""The application that the commands join."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import CommandFunctionType

from boundshift.app.terminal import print_line

__all__ = ["app", "examples"]


class _Command(TyperCommand):
    """A command whose help has paragraphs that the terminal breaks, and not the source code."""

    def __init__(self, *args: Any, help: str | None = None, **options: Any) -> None:
        paragraphs = (help or "").split("\n\n")
        joined = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        super().__init__(*args, help=joined or None, **options)


class _Application(typer.Typer):
    """An application whose commands are all of that kind."""

    def command(
        self, *args: Any, **options: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        return super().command(*args, **{"cls": _Command, **options})


app = _Application(
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


def examples(*lines: str) -> str:
    """Return the end of a command's help: examples, one a line.

    Examples
    --------
    >>> examples("boundshift datasets").splitlines()
    ['[bold]Examples[/bold]', '', 'boundshift datasets']
    """
    return "\n\n".join(["[bold]Examples[/bold]", *(line.replace("[", "\\[") for line in lines)])
