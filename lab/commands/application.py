"""The application that the laboratory's commands join."""

import typer

__all__ = ["app"]

app = typer.Typer(
    name="python -m lab",
    help="The laboratory of boundshift: the paper's reproduction and the suite of real data.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
)
