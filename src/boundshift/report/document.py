"""A report as an object: shown in a notebook, saved as a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from boundshift.report.page import render_report, write_report

__all__ = ["Report"]

_HEIGHT = 900


class Report:
    """Facts of a report, and the page that they make.

    Parameters
    ----------
    facts : mapping
        From :func:`~boundshift.report.collect_facts`.

    Examples
    --------
    >>> from boundshift.report import Report, collect_facts
    >>> report = Report(collect_facts([0, 0, 0, 1, 1], [0, 1, 2, 4, 5]))
    >>> report.html.startswith("<!doctype html>")
    True
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.facts = dict(facts)

    @cached_property
    def html(self) -> str:
        """The page: a whole HTML document that needs no network."""
        return render_report(self.facts)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the page, whole or not at all, as :func:`~boundshift.report.write_report` does."""
        return write_report(self.facts, path, force=force)

    def __repr__(self) -> str:
        goal = self.facts["goal"]
        sentences = [] if goal is None else [goal["sentence"]]
        return " ".join([*sentences, self.facts["verdict"]["sentence"]])

    def _repr_html_(self) -> str:
        """Return the page in a frame, so that its style and script keep to themselves."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.facts["names"]["title"])}" '
            f'style="width:100%;height:{_HEIGHT}px;border:0"></iframe>'
        )
