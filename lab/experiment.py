"""The rig of every experiment: collect facts, lay them out as tables, fill a page with these."""

from __future__ import annotations

import gzip
import json
import os
import platform
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

import boundshift
from boundshift._writing import write_whole
from boundshift.exceptions import BoundaryWarning
from lab.markdown import Column, columns, fill

Facts = dict[str, Any]
Tables = dict[str, str]

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "lab" / "results"
STAMPS = ROOT / "lab" / "docs" / "evidence" / "README.md"
# Facts with more characters are stored compressed.
_MOST_CHARACTERS = 50_000


@dataclass(frozen=True)
class Experiment:
    """An experiment: `collect(quick)` returns facts, `tables(facts)` lays them out by name.

    Its page is ``lab/docs/evidence/NAME.md``, or `home`. The page's words are written by hand; a
    table stands between ``<!-- name -->`` and ``<!-- /name -->``. Facts are kept in
    ``lab/results/NAME.json`` where `is_stored`, or compressed in ``NAME.json.gz`` if they are
    large, with version, commit, date and the seconds that they took. The facts of a `tidy`
    experiment hold rows, which are kept beside it in ``NAME.csv.gz``.
    """

    collect: Callable[[bool], Facts]
    tables: Callable[[Facts], Tables]
    is_met: Callable[[Facts], bool] = lambda facts: True
    home: str = ""
    is_stored: bool = True
    tidy: bool = False

    def run(
        self, name: str, *, quick: bool = False, out: Path | None = None, stored: bool = False
    ) -> bool:
        """Collect facts, or read the stored ones; print the tables and fill the page.

        A quick run is stored only in `out`. Returns whether the goal is met.
        """
        results = (out or RESULTS) / f"{name}.json"
        if stored and not self.is_stored:
            print(f"{name} stores no results; run it without --stored.")
            return True
        if stored:
            facts = self.read(results)
        else:
            start = time.perf_counter()
            stamp = {"quick": quick, "environment": environment(), "date": str(date.today())}
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                facts = stamp | self.collect(quick)
            facts["took_seconds"] = round(time.perf_counter() - start, 1)
            facts["goal_met"] = self.is_met(facts)
            if self.is_stored and (out or not quick):
                self._write(results, facts)
        tables = self.tables(facts)
        print("\n\n".join(tables.values()))
        if out or not quick:
            home = self.page(name)
            text = fill(home.read_text(encoding="utf-8"), tables)
            write_whole(out / f"{name}.md" if out else home, text)
        if not (out or quick):
            write_whole(STAMPS, fill(STAMPS.read_text(encoding="utf-8"), {"stamps": stamps()}))
        return bool(facts.get("goal_met", True))

    def read(self, results: Path) -> Facts:
        """Return stored facts, given the name of the file that is not compressed."""
        facts = read_facts(results)
        if self.tidy:
            facts["rows"] = pd.read_csv(results.with_suffix(".csv.gz"), keep_default_na=False)
        return facts

    def _write(self, results: Path, facts: Facts) -> None:
        if self.tidy:
            rows = pd.DataFrame(facts["rows"]).to_csv(index=False, lineterminator="\n")
            _write_compressed(results.with_suffix(".csv.gz"), rows)
            facts = {name: fact for name, fact in facts.items() if name != "rows"}
        text = json.dumps(facts, indent=1) + "\n"
        is_large = len(text) > _MOST_CHARACTERS
        (results if is_large else _compressed(results)).unlink(missing_ok=True)
        if is_large:
            _write_compressed(_compressed(results), text)
        else:
            write_whole(results, text)

    def page(self, name: str) -> Path:
        """Return the page that has the tables."""
        return ROOT / (self.home or f"lab/docs/evidence/{name}.md")


def read_facts(results: Path) -> Facts:
    """Return the facts of a file that may be compressed, given its name without ``.gz``."""
    compressed = _compressed(results)
    is_large = compressed.exists()
    raw = gzip.decompress(compressed.read_bytes()) if is_large else results.read_bytes()
    facts: Facts = json.loads(raw)
    return facts


def stamps(folder: Path = RESULTS) -> str:
    """Return which code made each stored result, when, and in how many minutes."""
    names = {path.name.partition(".")[0] for path in folder.glob("*.json*")} - {"scale"}
    stored = [{"name": name, **read_facts(folder / f"{name}.json")} for name in sorted(names)]
    spec: dict[str, Column] = {
        "result": "name",
        "version": lambda facts: facts["environment"]["boundshift"],
        "commit": lambda facts: facts["environment"].get("commit"),
        "date": lambda facts: facts.get("date"),
        "minutes": lambda facts: f"{facts['took_seconds'] / 60:.1f}" if "date" in facts else None,
    }
    return columns(stored, spec)


def _compressed(results: Path) -> Path:
    return results.with_name(f"{results.name}.gz")


def _write_compressed(path: Path, text: str) -> None:
    # Without a time in it, the same text gives the same file.
    write_whole(path, gzip.compress(text.encode(), mtime=0))


def commit(root: Path = ROOT) -> str:
    """Return the commit of a repository, with "+" if files under ``src`` differ from it.

    Elsewhere it is empty.
    """

    def git(*command: str) -> str:
        try:
            done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True)
        except FileNotFoundError:
            return ""
        return done.stdout.strip()

    if git("rev-parse", "--show-prefix") or not (found := git("rev-parse", "--short", "HEAD")):
        return ""
    return found + "+" * bool(git("status", "--porcelain", "--", "src"))


def environment(*more: str) -> dict[str, Any]:
    """Return the version of the code, those of Python and its libraries, and the machine's kind."""
    return {
        "boundshift": boundshift.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", *more)},
        "machine": platform.machine(),
        "system": platform.system(),
        "processors": os.cpu_count(),
    }


@cache
def describe_environment() -> str:
    """Return the environment in a line, for a column of tidy rows."""
    known = environment()
    del known["processors"]  # the only one that no number depends on
    return "; ".join(f"{name} {value}" for name, value in known.items())


@contextmanager
def quiet(category: type[Warning] = BoundaryWarning) -> Iterator[None]:
    """Ignore a kind of warning; by default those of boundaries, whose status says the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


def in_parallel(function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], quick: bool) -> Any:
    """Call a function with each tuple of arguments, in two processes unless it is quick."""
    parallel = Parallel(n_jobs=1 if quick else min(2, os.cpu_count() or 1))
    return parallel(delayed(function)(*job) for job in jobs)


def rows_in_parallel(function: Callable[..., Any], jobs: Iterable[Any], quick: bool) -> list[Facts]:
    """Do the same with a function that returns rows; return all of these."""
    return [row for part in in_parallel(function, jobs, quick) for row in part]
