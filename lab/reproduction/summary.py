"""Means, spreads and paired tests of tidy rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from lab.reproduction.problems import Protocol
from lab.reproduction.rows import Row

__all__ = ["Counts", "Mean", "Paired", "Results", "compare"]

FloatArray = NDArray[np.float64]


class Mean(NamedTuple):
    """Mean and sample standard deviation over seeds."""

    mean: float
    sd: float
    n: int

    @property
    def standard_error(self) -> float:
        """Return the standard error of the mean."""
        return self.sd / float(np.sqrt(self.n))


class Counts(NamedTuple):
    """How many seeds: tried, kept, solved by a method, and failed."""

    tried: int
    kept: int
    solved: int
    failed: int


class Paired(NamedTuple):
    """One method less another, seed by seed."""

    difference: Mean
    p_value: float
    wins: int
    ties: int
    losses: int


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

    def values(self, problem: str, method: str, metric: str) -> FloatArray:
        """Return a metric on the kept seeds, in their order."""
        rows = self._rows[problem, method]
        return np.array([getattr(row, metric) for row in rows if row.kept], dtype=np.float64)

    def mean(self, problem: str, method: str, metric: str) -> Mean:
        """Return the mean of a metric over the kept seeds; failed ones have no value."""
        values = self.values(problem, method, metric)
        values = values[~np.isnan(values)]
        if len(values) == 0:
            return Mean(float("nan"), float("nan"), 0)
        sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        return Mean(float(values.mean()), sd, len(values))

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


def compare(ours: FloatArray, theirs: FloatArray) -> Paired:
    """Compare two methods on the same seeds by Wilcoxon's signed-rank test, two-sided.

    Seeds without a difference are ranked with the others and then left out (Pratt).

    Examples
    --------
    >>> pair = compare(np.array([0.8, 0.9, 0.7]), np.array([0.7, 0.9, 0.8]))
    >>> pair.wins, pair.ties, pair.losses, pair.p_value
    (1, 1, 1, 1.0)
    """
    both = ~(np.isnan(ours) | np.isnan(theirs))
    # A difference of the last digit is none.
    difference = np.round(ours[both] - theirs[both], 12)
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    p_value = 1.0
    if wins + losses:
        p_value = float(wilcoxon(difference, zero_method="pratt", method="approx").pvalue)
    sd = float(difference.std(ddof=1)) if len(difference) > 1 else 0.0
    mean = Mean(float(difference.mean()), sd, len(difference))
    return Paired(mean, p_value, wins, len(difference) - wins - losses, losses)
