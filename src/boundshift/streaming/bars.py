"""Bars that show how much of a pass has been read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming.source import Progress

__all__ = ["draw_bars", "show_progress"]


@contextmanager
def show_progress(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """Yield what a pass calls: the function given, one that draws bars for True, or None.

    Examples
    --------
    >>> with show_progress(print) as show:
    ...     show("pass 1", 3, 4)
    pass 1 3 4
    """
    if progress is True:
        with draw_bars() as show:
            yield show
    elif progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    else:
        raise InvalidInputError(
            "`progress` must be True, None or a function of a name, the parts read and all parts, "
            f"got {progress!r}. Use True for a bar on the error stream."
        )


@contextmanager
def draw_bars(*, only_in_terminal: bool = False) -> Iterator[Progress]:
    """Yield a function that draws a bar for each pass on the error stream, or in a notebook.

    With `only_in_terminal` there is none elsewhere, and none is left when all is done.
    """
    try:
        from rich import progress as bars
        from rich.console import Console
    except ImportError as error:
        raise MissingExtraError("rich", "cli") from error
    columns = (
        bars.TextColumn("{task.description:<9}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    is_hidden = only_in_terminal and not console.is_terminal
    with bars.Progress(
        *columns, console=console, disable=is_hidden, transient=only_in_terminal
    ) as drawn:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = drawn.add_task(what)
            drawn.update(tasks[what], completed=done, total=total)

        yield show
