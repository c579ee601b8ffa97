"""Means and counts of the reproduction's rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from boundshift.typing import FloatArray
from lab.harness.statistics import Mean
from lab.reproduction.problems import Protocol
from lab.reproduction.rows import Row

__all__ = ["Counts", "Results"]


class Counts(NamedTuple):
    """How many seeds: tried, kept, solved by a method, and failed."""

    tried: int
    kept: int
    solved: int
    failed: int


class Results:
    """Tidy rows of one run, by problem and method.

    Parameters
    ----------
    rows : iterable of Row
        Rows of one protocol and one kind of slack.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            self._rows.setdefault((row.problem, row.method), []).append(row)
        first = next(iter(self._rows.values()))[0]
        self.protocol: Protocol = "paper" if first.protocol == "paper" else "honest"
        self.slack = first.slack_kind

    @property
    def problems(self) -> list[str]:
        """Return the problems, in the order of the rows."""
        return list(dict.fromkeys(problem for problem, _ in self._rows))

    def known(self, methods: Iterable[str]) -> list[str]:
        """Return those of some methods that the rows tell of."""
        there = {method for _, method in self._rows}
        return [method for method in methods if method in there]

    def values(self, problem: str, method: str, metric: str) -> FloatArray:
        """Return a metric on the kept seeds, in their order."""
        rows = self._rows[problem, method]
        return np.array([getattr(row, metric) for row in rows if row.kept], dtype=np.float64)

    def mean(self, problem: str, method: str, metric: str) -> Mean:
        """Return the mean of a metric over the kept seeds; failed ones have no value."""
        values = self.values(problem, method, metric)
        return Mean.of(values[~np.isnan(values)])

    def counts(self, problem: str, method: str) -> Counts:
        """Return how many seeds were tried, kept, solved and failed."""
        rows = self._rows[problem, method]
        return Counts(
            tried=len(rows),
            kept=sum(row.kept for row in rows),
            solved=sum(row.solved for row in rows),
            failed=sum(row.status == "FAILED" for row in rows),
        )

    def best(self, problem: str, methods: Sequence[str], metric: str) -> str:
        """Return the method with the highest mean."""
        means = [self.mean(problem, method, metric).mean for method in methods]
        return methods[int(np.nanargmax(means))]
