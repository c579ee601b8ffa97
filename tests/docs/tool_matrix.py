"""The table of docs/howto/deploy.md: which tools work, in how many lines, by which test.

A test that shows what becomes of a shifted classifier in a tool says so by a mark, with the lines
that a user writes besides imports and the model::

    @pytest.mark.tool("optuna", "BoundShiftClassifier(model)")

``python tests/docs/tool_matrix.py`` writes the table; the tests say whether it is true.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "howto" / "deploy.md"
HEAD = "| tool | works | lines | test |\n|:--|:--|--:|:--|\n"


class Marked(NamedTuple):
    """A test with the mark of a tool."""

    tool: str
    code: str
    works: str
    file: str

    def row(self) -> str:
        """Return the row of the table."""
        lines = len(self.code.splitlines()) or "–"
        return f"| {self.tool} | {self.works} | {lines} | `{self.file}` |\n"


def marked_tests() -> list[Marked]:
    """Return the marked tests by the name of their tool, read from the source."""
    found = [
        mark
        for path in TESTS.rglob("test_*.py")
        if "mark.tool(" in (text := path.read_text(encoding="utf-8"))
        for mark in read_marks(ast.parse(text), path.relative_to(TESTS).as_posix())
    ]
    return sorted(found, key=lambda mark: mark.tool.lower())


def read_marks(tree: ast.Module, file: str) -> Iterator[Marked]:
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for mark in function.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.tool":
                tool, code = (ast.literal_eval(value) for value in mark.args)
                said = {word.arg: ast.literal_eval(word.value) for word in mark.keywords}
                _check_shown(code, function, file)
                yield Marked(tool, code, said.get("works", "yes"), file)


def _check_shown(code: str, function: ast.FunctionDef, file: str) -> None:
    """Let no mark show lines that its test does not run."""
    body = " ".join(ast.unparse(part) for part in function.body)
    if file == "docs/test_tools_page.py":  # runs the blocks of the page
        shown = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
        body = " ".join(ast.unparse(ast.parse(block)) for block in shown)
    for statement in ast.parse(code).body:
        if ast.unparse(statement) not in body:
            raise ValueError(f"{file}, {function.name}: {ast.unparse(statement)!r} is not run.")


def table_of(page: str) -> str:
    """Return the table that stands on the page."""
    return HEAD + page.partition(HEAD)[2].partition("\n\n")[0] + "\n"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    table = HEAD + "".join(mark.row() for mark in marked_tests())
    PAGE.write_text(page.replace(table_of(page), table), encoding="utf-8")
