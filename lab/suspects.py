"""How many columns of real tables the search for leakage suspects: ``python -m lab.suspects``.

A column that the list of data sets drops because it gives the label away is a leak; any other
suspect is a false alarm.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import pandas as pd

from boundshift import BoundaryWarning
from boundshift._app.prepare import prepare_table
from lab.data.fresh import FRESH, fetch_fresh, read_table


@dataclass(frozen=True)
class Count:
    """What was found in a table."""

    name: str
    n_features: int
    leaks: tuple[str, ...]
    false_alarms: tuple[str, ...]


def count_suspects(name: str) -> Count:
    """Search a table for columns that give the label away."""
    entry = FRESH[name]
    if entry.package == "keel":
        X, y = fetch_fresh(name)
        frame = pd.DataFrame(X).rename(columns=str).assign(label=y)
        prepared = prepare_table(frame, "label", cluster="none")
    else:
        frame = read_table(entry)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundaryWarning)
            prepared = prepare_table(frame, entry.label, positive=str(entry.rare), cluster="none")
    suspects = [suspect.column for suspect in prepared.suspects]
    return Count(
        name,
        prepared.X.shape[1],
        tuple(column for column in suspects if column in entry.drop),
        tuple(column for column in suspects if column not in entry.drop),
    )


def main() -> None:
    """Print the suspects of every table, and their number."""
    counts = [count_suspects(name) for name in FRESH]
    for count in counts:
        leaks = ", ".join(count.leaks) or "none"
        others = ", ".join(count.false_alarms) or "none"
        print(f"{count.name}: {count.n_features} columns; leaks: {leaks}; others: {others}")
    n_false = sum(len(count.false_alarms) for count in counts)
    n_leaks = sum(len(count.leaks) for count in counts)
    n_features = sum(count.n_features for count in counts)
    print(
        f"{len(counts)} tables with {n_features} columns: {n_leaks} leaks found, {n_false} other "
        "columns suspected"
    )


if __name__ == "__main__":
    main()
