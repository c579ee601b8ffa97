"""Symptoms of code that is hard to read, counted: `make size` prints them.

They are symptoms and not aims. If a number and readability disagree, readability wins.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
BRANCHES = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.match_case)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


@dataclass
class Measures:
    """Counts over the Python files of a folder."""

    files: int = 0
    lines: int = 0
    tokens: int = 0
    parallel_assignments: int = 0
    any_types: int = 0

    @property
    def parallel_per_1000_lines(self) -> float:
        """Parallel assignments in 1,000 lines."""
        return 1000 * self.parallel_assignments / max(self.lines, 1)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that belong to docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return lines


def is_parallel_assignment(node: ast.AST) -> bool:
    """Return whether a statement assigns a tuple to a tuple."""
    if not isinstance(node, ast.Assign):
        return False
    return isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def measure(folder: Path) -> Measures:
    """Count the symptoms in all Python files below a folder."""
    total = Measures()
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        skipped = docstring_lines(tree)
        total.files += 1
        total.lines += source.count("\n")
        total.parallel_assignments += sum(map(is_parallel_assignment, ast.walk(tree)))
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in LAYOUT or token.start[0] in skipped:
                continue
            total.tokens += 1
            total.any_types += token.string == "Any"
    return total


def long_functions(folder: Path, most_lines: int = 60, most_branches: int = 12) -> Iterator[str]:
    """Yield each function whose body has too many lines or branches, docstring excluded."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if not body:
                continue
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
            branches = sum(isinstance(inner, BRANCHES) for part in body for inner in ast.walk(part))
            if lines > most_lines or branches > most_branches:
                name = f"{path.relative_to(folder)}:{node.name}"
                yield f"{name} has {lines} lines and {branches} branches"


def main() -> None:
    """Print a row of measures for package, laboratory and tests, then the long functions."""
    print(f"{'':<8}{'files':>7}{'lines':>9}{'tokens':>10}{'parallel':>10}{'Any':>7}")
    for name in ("src", "lab", "tests"):
        found = measure(ROOT / name)
        print(
            f"{name:<8}{found.files:>7}{found.lines:>9,}{found.tokens:>10,}"
            f"{found.parallel_per_1000_lines:>10.1f}{found.any_types:>7}"
        )
    for line in long_functions(ROOT / "src" / "boundshift"):
        print(line)


if __name__ == "__main__":
    main()
