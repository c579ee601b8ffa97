"""Put the tables of a reproduction into docs/reproduction*.md, and its rows beside it.

``make reproduce`` runs it last. Each table stands between `<!-- table NAME -->` and `<!-- end -->`
and is written anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from boundshift.writing import write_whole
from lab.canvas import save
from lab.experiment import RESULTS, ROOT
from lab.markdown import Estimate, Line, Table
from lab.methods import Group
from lab.records import read_records, write_records
from lab.reproduction.figures import FIGURES
from lab.reproduction.methods import DEFAULT, METHODS, title_of
from lab.reproduction.problems import PROBLEMS
from lab.reproduction.tables import (
    Results,
    Row,
    comparison_table,
    dataset_table,
    deviation_table,
    result_table,
)

DOCS, ROWS = ROOT / "docs", RESULTS / "reproduction"
BLOCK = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
GROUPS: tuple[Group, ...] = ("paper", "rival", "ours")
FIVE = ("synthetic", "pima", "breast-cancer", "hepatitis", "heart")


RUNS = ("paper-binary", "paper-continuous", "honest-binary")


def main(folder: Path) -> int:
    """Store the rows of a folder, fill the pages and draw the figures."""
    for name in RUNS:
        rows = read_records(folder / f"rows-all-{name}.csv", Row)
        if name == "paper-continuous":
            # Continuous slack changes the paper's family only.
            rows = [row for row in rows if _in_family(row.method)]
        write_records(ROWS / f"rows-{name}.csv.gz", rows, digits=6)
    for page in DOCS.glob("reproduction*.md"):
        write_whole(page, fill(page.read_text("utf-8")))
    for name, draw in FIGURES.items():
        save(draw(), DOCS / "images" / "reproduction" / f"{name}.png")
    return 0


def fill(page: str) -> str:
    """Write every table of a page anew from the rows in lab/results/reproduction."""
    tables = _tables()
    return BLOCK.sub(lambda match: match[1] + tables[match[2]] + match[3], page)


def _in_family(method: str) -> bool:
    return method.startswith("boundshift-support") or METHODS[method].group == "paper"


@cache
def _tables() -> dict[str, str]:
    """Return every table, by the name that it has in the pages."""
    rows = {n: read_records(ROWS / f"rows-{n}.csv.gz", Row) for n in RUNS}
    results = {name: Results(mine) for name, mine in rows.items()}
    honest = results["honest-binary"]
    return {
        "versions": _versions([row for mine in rows.values() for row in mine]),
        "datasets": str(dataset_table(PROBLEMS.values(), "paper")),
        "paper-binary": _all(results["paper-binary"], ("paper",)),
        "paper-continuous": _all(results["paper-continuous"], ("paper",)),
        "deviations": str(deviation_table(results["paper-binary"]))
        + "\n"
        + str(deviation_table(results["paper-continuous"])),
        "honest-synthetic": _all(honest, GROUPS, ("synthetic", "synthetic-raw")),
        "honest-medical": _all(honest, GROUPS, FIVE[1:]),
        "comparison": str(comparison_table(honest, DEFAULT)),
        "comparison-out-of-fold": str(comparison_table(honest, f"{DEFAULT}-oof")),
        "ranking": str(_ranking(honest)),
    }


def _all(results: Results, groups: Sequence[Group], problems: Sequence[str] | None = None) -> str:
    shown = (result_table(results, problem, groups) for problem in problems or results.problems)
    return "\n".join(map(str, shown))


def _versions(rows: Sequence[Row]) -> str:
    """Say what computed the rows, as they say it."""
    known = Counter(row.environment or "versions not stored in the rows" for row in rows)
    return "\n".join(f"- {count} rows: {text}" for text, count in known.items()) + "\n"


def _ranking(results: Results) -> Table:
    """Mean G-mean of every post-hoc method on the five problems, and over them; then F1."""
    methods = results.known([m.name for m in METHODS.values() if m.post_hoc])
    sections = {}
    for metric, title in (("g_mean", "G-mean"), ("f1", "F1")):
        best = {p: results.best(p, methods, metric) for p in FIVE}
        lines: list[Line] = []
        for name in methods:
            means = [results.mean(p, name, metric) for p in FIVE]
            over = sum(m.mean for m in means) / len(FIVE)
            cells = [Estimate(m, best[p] == name) for p, m in zip(FIVE, means, strict=True)]
            solved = [results.counts(p, name) for p in FIVE]
            share = sum(c.solved for c in solved) / sum(c.tried for c in solved)
            lines.append((title_of(name), *cells, f"{over:.3f}"[1:], f"{share:.0%}"))
        lines.sort(key=lambda line: str(line[-2]), reverse=True)
        sections[title] = lines
    titles = [PROBLEMS[p].title for p in FIVE]
    return Table(
        "Every method that trains nothing, by its mean over the five problems (synthetic: scaled "
        "features), all seeds kept; best of each column in bold.",
        ("Method", *titles, "Mean", "Solved"),
        sections,
    )
