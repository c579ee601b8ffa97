"""What stands on the pages: their text, their blocks of code, and what is between two marks."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def read(page):
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(text, language="python"):
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def between(text, start, end=None):
    """Return what follows a mark, up to the mark that closes it or another one."""
    return text.partition(f"<!-- {start} -->\n")[2].partition(f"<!-- /{end or start} -->")[0]


def run(code, page):
    """Return the names that some code of a page leaves."""
    names: dict[str, object] = {}
    exec(compile(code, page, "exec"), names)
    return names
