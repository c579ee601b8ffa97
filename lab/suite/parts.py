"""What a page is made of, and a page as Markdown and HTML."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from lab.harness.markup import html_page, html_table, to_markdown
from lab.harness.tables import Table

__all__ = ["Heading", "Page", "Part", "Picture", "pages_to_html"]


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
    """A page: the name of its file, its title, and its parts in their order.

    Paragraphs are Markdown, of which HTML keeps the code and the names of links.
    """

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

    def to_html(self) -> str:
        """Write the page as a part of HTML, which needs nothing else."""
        write: dict[type, Callable[[Any], str]] = {
            str: lambda part: f"<p>{_plain(part)}</p>",
            Heading: lambda part: f"<h{part.level + 1}>{escape(part.text)}</h{part.level + 1}>",
            Table: html_table,
            Picture: _html_picture,
        }
        written = [write[type(part)](part) for part in self.parts]
        return "\n".join([f"<h2>{escape(self.title)}</h2>", *written])


def pages_to_html(pages: Sequence[Page], title: str) -> str:
    """Write all pages as one document that needs nothing else."""
    return html_page("\n".join(page.to_html() for page in pages), title)


def _plain(text: str) -> str:
    """Escape a text, set what stands between backticks as code, and leave out where links lead."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{p}</code>" if i % 2 else _without_links(p) for i, p in enumerate(pieces)
    )


def _without_links(text: str) -> str:
    """Keep the words of links."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("**", "")


def _html_picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode("ascii")
    text = escape(picture.text)
    return f'<p><img alt="{text}" src="data:image/png;base64,{data}"></p>'
