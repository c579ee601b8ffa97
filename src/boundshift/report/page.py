"""Facts become a page: one file, no network, nothing in it runs but its own script."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.report.drawing import (
    draw_calibration,
    draw_decision_curve,
    draw_precision_recall,
    draw_projection,
    draw_threshold_plot,
)
from boundshift.view.axis import ScoreAxis
from boundshift.words import at_least, at_most, number, percent
from boundshift.writing import is_special, write_whole

__all__ = ["Report", "render_report", "write_report"]

# Parts of the page's one script, in the order in which they need each other.
_SCRIPT = ("rates.js", "threshold.js", "goals.js", "take.js")
_FRAME_HEIGHT = 900
# In a script element these could end it, open a comment, or end a line of the program.
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render_report(facts: Mapping[str, Any]) -> str:
    """Return the page for facts from :func:`~boundshift.report.collect_facts`.

    Parameters
    ----------
    facts : mapping
        As collected, or read back from JSON.

    Returns
    -------
    str
        A whole HTML document.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.

    Examples
    --------
    >>> from boundshift.report import collect_facts, render_report
    >>> facts = collect_facts([0, 0, 0, 1, 1], [0, 1, 2, 4, 5], names={"title": "<b>"})
    >>> page = render_report(facts)
    >>> "<title>&lt;b&gt;</title>" in page
    True
    """
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError("jinja2", "report") from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=jinja2.FunctionLoader(_read)
    )
    environment.filters |= {
        "percent": percent,
        "at_least": at_least,
        "at_most": at_most,
        "number": _number,
        "short": _short,
    }
    script = "".join(_read(name) for name in _SCRIPT)
    n = facts["rows"][facts["judged_on"]]
    return environment.get_template("page.html.jinja").render(
        **facts,
        style=_read("page.css"),
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=_embed(_for_script(facts)),
        picture=draw_projection(facts["projection"]),
        paper_picture=facts["paper"] and draw_projection(facts["paper"]),
        plot=draw_threshold_plot(facts["stops"], n),
        precision_recall_chart=draw_precision_recall(facts),
        decision_curve_chart=draw_decision_curve(facts),
        calibration_chart=draw_calibration(facts),
        n=n,
        place=lambda score: _place(facts, score),
    )


def write_report(facts: Mapping[str, Any], path: str | Path, force: bool = False) -> Path:
    """Write the page, whole or not at all.

    Parameters
    ----------
    facts : mapping
        From :func:`~boundshift.report.collect_facts`.
    path : str or Path
        File to write.
    force : bool, default=False
        Whether a file that is there already may be replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidInputError
        If there is such a file already.

    Examples
    --------
    >>> import tempfile
    >>> from boundshift.report import collect_facts, write_report
    >>> facts = collect_facts([0, 0, 0, 1, 1], [0, 1, 2, 4, 5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(facts, f"{folder}/report.html").name
    'report.html'
    """
    path = Path(path)
    _check_new(path, force)
    return write_whole(path, render_report(facts), new=not force)


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
            f'style="width:100%;height:{_FRAME_HEIGHT}px;border:0"></iframe>'
        )


def _check_new(path: Path, force: bool) -> None:
    """Raise if a file would be lost."""
    if path.is_dir():
        raise InvalidInputError(f"`path` must be a file, got the folder {path}. Name a file in it.")
    if path.exists() and not force and not is_special(path):
        raise InvalidInputError(
            f"`path` must not exist yet, got {path}, which does. Use force=True to replace it."
        )


def _read(name: str) -> str:
    """Return a template, a style or a script that is shipped with this package."""
    return resources.files("boundshift.report").joinpath("markup", name).read_text(encoding="utf-8")


def _for_script(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the slider needs."""
    stops = facts["stops"]
    marks = {
        name: {
            "stop": stops["marks"][name],
            "bounds": facts["certificates"][name]["error_bounds"],
            "together": facts["rates"][name]["together"],
            "fixed": facts["certificates"][name]["method"] == "clopper-pearson",
        }
        for name in ("old", "shifted")
    }
    return {
        "threshold": stops["threshold"],
        "at": stops["at"],
        "wrong": stops["wrong"],
        "bounds": stops["bounds"],
        "together": stops["together"],
        "n": facts["rows"][facts["judged_on"]],
        "marks": marks,
        "status": facts["certificates"]["shifted"]["status"],
        "confidence": facts["confidence"],
        "prevalence": facts["prevalence"]["share"],
        "positives": facts["names"]["positives"],
        "negatives": facts["names"]["negatives"],
        "unit": facts["names"]["unit"],
        "shell": facts["shell"],
        "top": facts["top"],
    }


def _embed(data: object) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def _place(facts: Mapping[str, Any], score: float) -> str:
    """Return where a score stands, in percent of the axis."""
    axis = facts["axis"]
    at = ScoreAxis(axis["kind"], axis["low"], axis["high"]).place(score)
    return f"{100 * float(at):.3f}%"


def _number(value: object) -> str:
    """Return a number or text for a cell."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return number(value, ".3f")
    return f"{value:,}" if isinstance(value, int) else str(value)


def _short(value: object) -> str:
    """Return a number with four significant digits and a true minus."""
    if isinstance(value, float):
        return number(value)
    return "–" if value is None else _number(value)
