"""What the scripts that gather evidence share: Markdown tables, two processors, one command line.

A script names a function that collects facts (plain values), one that renders them as a page, and
one that says whether the goal is met. `run` does the rest: without ``--quick`` it stores the facts
in ``lab/results`` and the page in ``docs/evidence``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed

from boundshift.writing import write_whole
from lab.harness.environment import environment

ROOT = Path(__file__).parents[2]

Facts = dict[str, Any]

# Scores of trained models outlive a run in the directory that this variable names, if any.
memory = Memory(os.environ.get("BOUNDSHIFT_SCORES"), verbose=0)


def in_parallel(function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], quick: bool) -> Any:
    """Call a function with each of some arguments, on two processors unless it is quick."""
    parallel = Parallel(n_jobs=1 if quick else min(2, os.cpu_count() or 1))
    return parallel(delayed(function)(*job) for job in jobs)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; numbers stand to the right, floats have three decimals."""
    body = [list(row) for row in rows]
    numeric = [all(_is_number(row[i]) for row in body) for i in range(len(header))]
    lines = [header, ["---:" if is_number else "---" for is_number in numeric]]
    lines += [[_cell(value) for value in row] for row in body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) or value == "–"


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | np.floating) else str(value)


def run(
    script: str,
    collect: Callable[[bool], Facts],
    page: Callable[[Facts], str],
    is_met: Callable[[Facts], bool],
    arguments: Sequence[str] | None = None,
) -> int:
    """Collect, print and store; return 1 if the goal is missed."""
    parser = argparse.ArgumentParser(prog=script)
    parser.add_argument("--quick", action="store_true", help="a small part, in seconds")
    parser.add_argument("--out", type=Path, help="directory for both files, instead of the docs")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("error")
    name = Path(script).stem
    facts = {"quick": chosen.quick, "environment": environment()} | collect(chosen.quick)
    facts["goal_met"] = is_met(facts)
    text = page(facts)
    print(text)
    if chosen.out or not chosen.quick:
        _store(name, facts, text, chosen.out)
    return 0 if facts["goal_met"] else 1


def _store(name: str, facts: Facts, text: str, out: Path | None) -> None:
    """Write facts and page, the command that made them on top of the page."""
    command = f"python -m lab.evidence.{name}" + (" --quick" if facts["quick"] else "")
    head = f"<!-- Written by a command; do not edit. -->\nMade by `{command}`.\n\n"
    results, pages = (out, out) if out else (ROOT / "lab/results", ROOT / "docs/evidence")
    write_whole(results / f"{name}.json", json.dumps(facts, indent=1) + "\n")
    write_whole(pages / f"{name}.md", head + text + "\n")
    print(f"\nStored {name}.json and {name}.md", file=sys.stderr)
