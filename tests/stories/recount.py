"""The rows that judge a fit by the command line, found a second way, from the files alone.

It knows the table, what `boundshift predict` wrote and boundary.json. Three rows in ten of each
class judge, by scikit-learn's split, copies beside the row that they copy. It shares no code with
the package.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np
import openpyxl
from sklearn.model_selection import train_test_split

from tests.stories.truth import Second

GAPS = ("", "NA")


def read_column(path, name, separator=","):
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("cp1252")
    lines = io.StringIO(text, newline="")
    return np.array([row[name] for row in csv.DictReader(lines, delimiter=separator)])


def sheet_as_csv(path, sheet, first_row, out):
    """Write the cells of an Excel sheet, from a row on, as CSV."""
    cells = openpyxl.load_workbook(path)[sheet].iter_rows(min_row=first_row, values_only=True)
    with Path(out).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(cells)


class Judged:
    """Labels and scores of the rows that judge, and what a second program makes of them."""

    def __init__(self, table, scores, folder, target, positive, separator=",", *, features=(),
                 ignore=(), **goal):  # fmt: skip
        self.table = table
        self.separator = separator
        labels = read_column(table, target, separator)
        self.known = (labels != "") & ~np.isin(labels, ignore)
        self.features = features
        y = (labels == positive)[self.known]
        s = read_column(scores, "score").astype(float)[self.known]
        first, self.copied = self._first_of(y)
        drawn = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)[1]
        self.test = np.isin(first, drawn)
        boundary = json.loads((Path(folder) / "boundary.json").read_text(encoding="utf-8"))
        self.n_held_out = sum(boundary["n_samples"])
        self.n_training = int(np.sum(~self.test))
        others = read_column(Path(folder) / "comparison.csv", "threshold").astype(float)
        methods = read_column(Path(folder) / "comparison.csv", "method")
        self.second = Second(
            y[self.test],
            s[self.test],
            boundary["threshold"],
            own=0.5 if s.min() >= 0 and s.max() <= 1 else 0.0,
            probability=read_column(scores, "probability").astype(float)[self.known][self.test],
            others=others[methods != "boundshift"],
            **goal,
        )

    def _first_of(self, y):
        """Return the first row with each row's features, and how many rows are copies."""
        rows = np.arange(len(y))
        cells = [self.column(name)[self.known] for name in self.features]
        seen = {}
        groups = {}
        for row, key in enumerate(zip(*cells, strict=True)):
            seen.setdefault(key, row)
            groups.setdefault(key, []).append(y[row])
        mixed = sum(len(g) for g in groups.values() if len(set(g)) == 2)
        alike = sum(len(g) for g in groups.values() if len(g) > 1 and len(set(g)) == 1)
        if not self.features or mixed > alike:
            return rows, 0
        first = np.array([seen[key] for key in zip(*cells, strict=True)])
        return first, int(np.sum(first != rows))

    def column(self, name):
        return read_column(self.table, name, self.separator)

    def missing(self, name):
        """Return how many cells of a column are missing, as a page prints it."""
        count = int(np.isin(self.column(name)[self.known], GAPS).sum())
        return f"{count:,} of {int(self.known.sum()):,}" if count else ""
