"""Copy tables from the laboratory's pages to the documentation: ``python docs/copy_tables.py``.

A table of ``lab/docs/PAGE.md`` stands between ``<!-- from lab/docs/PAGE.md: name -->`` and
``<!-- /from lab/docs/PAGE.md: name -->``. The copy has a zero before each decimal point.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPY = re.compile(r"<!-- from (\S+): ([\w -]+?) -->\n(.*?)<!-- /from \1: \2 -->", re.DOTALL)


def read_table(page: str, name: str) -> str:
    """Return a table of the laboratory, with leading zeros."""
    text = (ROOT / page).read_text(encoding="utf-8")
    table = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", text, flags=re.DOTALL)
    if table is None:
        raise ValueError(f"{page} has no table {name!r}.")
    return re.sub(r"(?<![\d.])\.(?=\d)", "0.", table[1])


def copy_tables(text: str) -> str:
    """Return the text of a page with every copied table renewed."""

    def copied(match: re.Match[str]) -> str:
        page, name, _ = match.groups()
        mark = f"from {page}: {name}"
        return f"<!-- {mark} -->\n{read_table(page, name)}<!-- /{mark} -->"

    return COPY.sub(copied, text)


if __name__ == "__main__":
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        path.write_text(copy_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
