"""Facts become a page: one file that needs no network and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from boundshift._typing import Facts, FloatArray
from boundshift._view import ScoreAxis
from boundshift._words import at_least, at_most, number, percent
from boundshift._writing import is_special, write_whole
from boundshift.exceptions import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import jinja2

# Parts of the page's one script, in the order in which they need each other.
_SCRIPT = ("rates.js", "threshold.js", "goals.js", "take.js")
_WIDTH = 1000
_PLOT = 240
_LANE = 108
# In a script element these could end it, open a comment, or end a line of the program.
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def _render(facts: Facts) -> str:
    if facts["kind"] == "classes":
        return str(_template("classes.html.jinja").render(**facts, style=_read("page.css")))
    script = "".join(_read(name) for name in _SCRIPT)
    axis = ScoreAxis(*(facts["axis"][key] for key in ("kind", "low", "high")))
    page = _template("page.html.jinja").render(
        **facts,
        style=_read("page.css"),
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=_for_script(facts),
        picture=_draw_lanes(facts["projection"]),
        plot=_draw_errors(facts["stops"], facts["n"]),
        place=lambda score: f"{100 * float(axis.place(score)):.3f}%",
    )
    return str(page)


@cache
def _template(name: str) -> jinja2.Template:
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError("jinja2", "report") from error

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=jinja2.FunctionLoader(_read)
    )

    def cell(value: object, form: str) -> str:
        if isinstance(value, float):
            return number(value, ",.4g" if 100 <= abs(value) < 1e6 else form)
        return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

    environment.filters |= {
        "percent": percent,
        "at_least": at_least,
        "at_most": at_most,
        "number": lambda value: cell(value, ".3f"),
        "short": lambda value: cell(value, ".4g"),
    }
    return environment.get_template(name)


def _read(name: str) -> str:
    return resources.files("boundshift.report").joinpath("markup", name).read_text(encoding="utf-8")


def _for_script(facts: Facts) -> str:
    """Return what the slider needs, as JSON that is safe inside a script element."""
    keys = ("stops", "names", "certificate", "confidence", "shell", "top", "n", "prevalence")
    shown = {key: facts[key] for key in keys}
    shown["floors"] = [] if facts["goal"] is None else facts["goal"]["floors"]
    return json.dumps(shown, allow_nan=False, ensure_ascii=False).translate(_UNSAFE)


# The box of a picture is stretched unevenly, so text stands outside the SVG.
def _draw_lanes(classes: Sequence[Facts]) -> Facts:
    """Return the lanes of both classes, the positive one first."""
    lanes = []
    for shown in reversed(classes):
        unit = (_LANE - 2) / max(*shown["counts"], 1)
        x = np.repeat(np.linspace(0, _WIDTH, len(shown["counts"]) + 1), 2)
        outline, filled = (
            _path(x, _LANE - unit * np.repeat([0, *shown[key], 0], 2)[1:-1])
            for key in ("counts", "solid")
        )
        lanes.append({"outline": outline, "filled": f"{filled}Z"})
    return {"height": _LANE, "lanes": lanes}


def _draw_errors(stops: Facts, n: Sequence[int]) -> Facts:
    """Return the error curve of each class with the area up to its bound."""
    x = _WIDTH * np.array(stops["at"])
    curves = []
    for i in (0, 1):
        line = _path(x, _PLOT * (1 - np.array(stops["wrong"][i]) / n[i]))
        back = _path(x[::-1], _PLOT * (1 - np.array(stops["bounds"][i][::-1])))
        curves.append({"line": line, "band": f"{line}L{back[1:]}Z"})
    return {"height": _PLOT, "curves": curves, "grid": [_PLOT * i / 4 for i in (1, 2, 3)]}


def _path(x: FloatArray, y: FloatArray) -> str:
    """Return a path through points, leaving out those on a level stretch."""
    x = np.round(x, 1)
    y = np.round(y, 1)
    level = (y[:-2] == y[1:-1]) & (y[1:-1] == y[2:])
    kept = np.concatenate([[True], ~level, [True]])
    return "M" + "L".join(f"{a} {b}" for a, b in zip(x[kept], y[kept], strict=True))


class Report:
    """Facts of a report, and the page that they make.

    Parameters
    ----------
    facts : mapping
        From :func:`~boundshift.report.collect_facts`, or read back from JSON.

    Examples
    --------
    >>> from boundshift.report import Report, collect_facts
    >>> facts = collect_facts([0, 0, 0, 1, 1], [0, 1, 2, 4, 5], title="<b>")
    >>> "<title>&lt;b&gt;</title>" in Report(facts).html
    True
    """

    def __init__(self, facts: Mapping[str, object]) -> None:
        self.facts: Facts = dict(facts)

    @cached_property
    def html(self) -> str:
        """The page: a whole HTML document that needs no network.

        It takes Jinja2; where that is not installed, MissingExtraError names the extra.
        """
        return _render(self.facts)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the page, whole or not at all.

        Parameters
        ----------
        path : str or Path
            File to write.
        overwrite : bool, default=False
            Whether an existing file may be replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidInputError
            If the file exists and may not be replaced.
        """
        path = Path(path)
        if path.is_dir() or (path.exists() and not overwrite and not is_special(path)):
            raise InvalidInputError(
                f"must be a new file, got {path}, which exists. Use another name, or "
                "overwrite=True to replace a file.",
                argument="path",
            )
        return write_whole(path, self.html, new=not overwrite)

    def __repr__(self) -> str:
        statements = (self.facts["goal"], self.facts["verdict"])
        return " ".join(each["sentence"] for each in statements if each is not None)

    def _repr_html_(self) -> str:
        """Return the page in a frame, which separates its style and script from the notebook's."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.facts["names"]["title"])}" '
            f'style="width:100%;height:900px;border:0"></iframe>'
        )
