"""Bars that show how far a command has come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich import progress as bars
from rich.console import Console

from boundshift.streaming._looks import Progress


@contextmanager
def draw_bars() -> Iterator[Progress]:
    """Yield a function that draws a bar for each pass, in a terminal, with the time left."""
    console = Console(stderr=True)
    drawn = bars.Progress(console=console, disable=not console.is_terminal, transient=True)
    tasks: dict[str, bars.TaskID] = {}

    def show(what: str, done: int, total: int) -> None:
        if what not in tasks:
            drawn.start()  # Not before: what is printed until then goes to standard output.
            tasks[what] = drawn.add_task(what)
        drawn.update(tasks[what], completed=done, total=total)

    try:
        yield show
    finally:
        drawn.stop()
