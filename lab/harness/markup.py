"""Tables as Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import NamedTuple

from lab.harness.tables import Cell, Number, Table

__all__ = ["html_page", "html_table", "to_html", "to_latex", "to_markdown"]


def _share(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Round a share and leave out the zero before the point, as the paper does."""
    if value != value:
        return "–"
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def _number(cell: Number) -> str:
    """Write a number, or nothing."""
    if cell.value is None:
        return ""
    return _share(cell.value, cell.digits, signed=cell.signed).replace("-", "−")


class _Style(NamedTuple):
    """How one kind of markup writes text, marks the best of a column, and joins mean and spread."""

    text: Callable[[str], str]
    bold: str
    estimate: str = "{} ± {}"

    def cell(self, cell: Cell) -> str:
        """Write a cell."""
        if isinstance(cell, str):
            return self.text(cell)
        if isinstance(cell, Number):
            return self._mark(self.text(_number(cell)), cell.best)
        mean, sd = (self.text(_share(*v)) for v in ((cell.value.mean,), (cell.value.sd, 2)))
        return self.estimate.format(self._mark(mean, cell.best), sd)

    def _mark(self, text: str, best: bool) -> str:
        return self.bold.format(text) if best else text


_MARKDOWN = _Style(lambda text: text.replace("|", "\\|"), "**{}**")


def to_markdown(table: Table) -> str:
    """Write a table as Markdown, with section titles in italics.

    Examples
    --------
    >>> from lab.harness.tables import Section
    >>> section = Section("", (("SMOTE", Number(0.5)),))
    >>> print(to_markdown(Table("t", "Caption.", ("Method", "F1"), (section,))))
    Caption.
    <BLANKLINE>
    | Method | F1 |
    |:--|--:|
    | SMOTE | .500 |
    <BLANKLINE>
    """
    width = len(table.header)
    lines = [table.caption, "", f"| {' | '.join(table.header)} |", "|:--" + "|--:" * (width - 1)]
    lines[-1] += "|"
    for section in table.sections:
        if section.title:
            lines.append(f"| *{section.title}* |" + " |" * (width - 1))
        lines += [f"| {' | '.join(map(_MARKDOWN.cell, line))} |" for line in section.lines]
    return "\n".join(lines) + "\n"


_LATEX_LETTERS = {
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "±": r"$\pm$",
    "Δ": r"$\Delta$",
    "<": r"$<$",
    "−": "$-$",
    "–": "--",
}


def _latex_text(text: str) -> str:
    return "".join(_LATEX_LETTERS.get(letter, letter) for letter in text)


_LATEX = _Style(_latex_text, r"\textbf{{{}}}", r"${} \pm {}$")


def to_latex(table: Table) -> str:
    r"""Write a table as LaTeX; it needs the package booktabs.

    Examples
    --------
    >>> from lab.harness.tables import Section
    >>> section = Section("", (("SMOTE", Number(0.5)),))
    >>> print(to_latex(Table("t", "Caption.", ("Method", "F1"), (section,))))
    \begin{table}
    \caption{Caption.}
    \label{tab:t}
    \begin{center}
    \begin{tabular}{@{}lr@{}}
    \toprule
    Method & F1 \\
    \midrule
    SMOTE & .500 \\
    \bottomrule
    \end{tabular}
    \end{center}
    \end{table}
    <BLANKLINE>
    """
    width = len(table.header)
    lines = [
        r"\begin{table}",
        rf"\caption{{{_latex_text(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        r"\begin{center}",
        rf"\begin{{tabular}}{{@{{}}l{'r' * (width - 1)}@{{}}}}",
        r"\toprule",
        " & ".join(map(_latex_text, table.header)) + r" \\",
    ]
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            title = rf"\multicolumn{{{width}}}{{@{{}}l}}{{\textit{{{_latex_text(section.title)}}}}}"
            lines.append(title + r" \\")
        lines += [" & ".join(map(_LATEX.cell, line)) + r" \\" for line in section.lines]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{center}", r"\end{table}"]
    return "\n".join(lines) + "\n"


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:84rem;margin:2rem auto;padding:0 1rem;"
    "color:#1a1a1a}table{border-collapse:collapse;margin:0 0 2.5rem;font-variant-numeric:"
    "tabular-nums}caption{text-align:left;padding:.5rem 0;color:#444}th,td{padding:.2rem .6rem;"
    "text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}thead th{"
    "border-top:2px solid;border-bottom:1px solid}tbody:last-child tr:last-child td{border-bottom:"
    "2px solid}.section th{text-align:left;font-weight:400;font-style:italic;border-top:1px solid "
    "#bbb}.wide{overflow-x:auto}img{max-width:100%}p{max-width:48rem}"
)


_HTML = _Style(escape, "<strong>{}</strong>")


def html_table(table: Table) -> str:
    """Write one table as HTML."""
    head = "".join(f"<th>{escape(title)}</th>" for title in table.header)
    parts = [
        f'<div class="wide"><table id="{escape(table.name)}">',
        f"<caption>{escape(table.caption)}</caption><thead><tr>{head}</tr></thead>",
    ]
    for section in table.sections:
        parts.append("<tbody>")
        if section.title:
            span = f'<th colspan="{len(table.header)}">{escape(section.title)}</th>'
            parts.append(f'<tr class="section">{span}</tr>')
        for line in section.lines:
            cells = "".join(f"<td>{_HTML.cell(cell)}</td>" for cell in line)
            parts.append(f"<tr>{cells}</tr>")
        parts.append("</tbody>")
    return "\n".join([*parts, "</table></div>"])


def to_html(tables: Iterable[Table], title: str) -> str:
    """Write tables as one page that needs nothing else.

    Examples
    --------
    >>> from lab.harness.tables import Section
    >>> section = Section("", (("R & D", Number(0.5)),))
    >>> "<td>R &amp; D</td><td>.500</td>" in to_html([Table("t", "", ("", ""), (section,))], "T")
    True
    """
    return html_page("\n".join(map(html_table, tables)), title)


def html_page(body: str, title: str) -> str:
    """Put markup into a page that needs nothing else."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )
