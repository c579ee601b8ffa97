"""Where rows come from: what the reader of every library offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from boundshift.streaming.chunk import Chunk

__all__ = ["ColumnNames", "OnProgress", "Progress", "Request", "Source"]

OnProgress = Callable[[int, int], None]
"""Called with the number of parts read, and of all parts."""

Progress = Callable[[str, int, int], None]
"""Called with the name of the pass, the number of parts read, and of all parts."""


@dataclass(frozen=True)
class ColumnNames:
    """Which columns of the data are read.

    Parameters
    ----------
    label : str, default="label"
        Labels.
    score : str or tuple of str, default="score"
        Scores; several columns where each class has its own.
    weight : str, default=None
        How often each row counts; None for once.
    by : str, default=None
        Groups of rows; None for none.
    """

    label: str = "label"
    score: str | tuple[str, ...] = "score"
    weight: str | None = None
    by: str | None = None

    @property
    def scores(self) -> tuple[str, ...]:
        """All columns of scores."""
        return self.score if isinstance(self.score, tuple) else (self.score,)

    @property
    def all(self) -> list[str]:
        """All columns: labels, scores, weights, groups."""
        rest = [name for name in (self.weight, self.by) if name is not None]
        return [self.label, *self.scores, *rest]

    @property
    def numbers(self) -> list[tuple[str, str]]:
        """Columns that must be numbers, and what an error calls what they hold."""
        found = [(name, "y_score") for name in self.scores]
        return found if self.weight is None else [*found, (self.weight, "sample_weight")]

    @property
    def numbered(self) -> ColumnNames:
        """The same columns under names of our own, for an engine that renames them."""
        several = isinstance(self.score, tuple)
        return ColumnNames(
            "label",
            tuple(f"score_{i}" for i in range(len(self.scores))) if several else "score",
            None if self.weight is None else "weight",
            None if self.by is None else "by",
        )


class Request(Protocol):
    """What to find out in one pass."""

    def tally(self, chunks: Iterable[Chunk]) -> Any:
        """Return what is found in some chunks; findings of different rows have a ``merge``."""


class Source(Protocol):
    """Labelled scores that are read in passes, the same rows in each."""

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""

    def peek(self) -> Iterable[Chunk]:
        """Return a few rows, for a first idea of the range of the scores; there may be none."""

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
