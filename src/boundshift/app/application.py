"""The application that the commands join."""

from __future__ import annotations

import typer

from boundshift.app.terminal import print_line

__all__ = ["app", "examples"]

app = typer.Typer(
    name="boundshift",
    help="Move a trained classifier's decision boundary to where class-wise error curves put it.",
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
    """Move a trained classifier's decision boundary to where class-wise error curves put it."""


def examples(*lines: str) -> str:
    """Return the end of a command's help: examples, one a line.

    Examples
    --------
    >>> examples("boundshift datasets").splitlines()
    ['[bold]Examples[/bold]', '', 'boundshift datasets']
    """
    return "\n\n".join(["[bold]Examples[/bold]", *(line.replace("[", "\\[") for line in lines)])
