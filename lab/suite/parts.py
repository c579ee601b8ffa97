"""What a page is made of, and a page as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lab.harness.tables import Table, to_markdown

__all__ = ["Heading", "Page", "Part", "Picture"]


@dataclass(frozen=True)
class Heading:
    """A title of a section; deeper ones have a greater level."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Picture:
    """A picture in PNG, with what it shows in words."""

    name: str
    text: str
    png: bytes


Part = str | Heading | Table | Picture


@dataclass(frozen=True)
class Page:
    """A page: the name of its file, its title, and its parts in their order."""

    name: str
    title: str
    parts: Sequence[Part]

    @property
    def pictures(self) -> list[Picture]:
        """The pictures among the parts."""
        return [part for part in self.parts if isinstance(part, Picture)]

    def to_markdown(self, folder: str = "images/benchmark") -> str:
        """Write the page as Markdown; its pictures lie in a folder beside it."""
        write: dict[type, Callable[[Any], str]] = {
            str: str,
            Heading: lambda part: f"{'#' * part.level} {part.text}",
            Table: lambda part: to_markdown(part).rstrip("\n"),
            Picture: lambda part: f"![{part.text}]({folder}/{part.name}.png)",
        }
        written = [write[type(part)](part) for part in self.parts]
        return "\n\n".join([f"# {self.title}", *written]) + "\n"
