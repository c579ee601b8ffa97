"""Rows as tables of blocks by methods, families averaged so that none counts many times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from boundshift.typing import FloatArray
from lab.harness.rows import METRICS
from lab.suite.rows import SuiteRow

__all__ = ["USELESS", "Blocks", "FitFacts", "Results", "Unit"]

Unit = Literal["family and model", "family"]

USELESS = {"g_mean": 0.0, "f1": 0.0, "balanced_accuracy": 0.5, "mcc": 0.0}
"""What a failed method counts as: a classifier that tells the classes apart not at all."""


class FitFacts(NamedTuple):
    """One training; `auc` is the mean over the seeds of its data set and model."""

    dataset: str
    family: str
    half: str
    model: str
    seed: int
    n_minority: int
    auc: float


class Blocks(NamedTuple):
    """A metric of every method in every block."""

    names: list[tuple[str, ...]]
    methods: list[str]
    values: FloatArray


class Results:
    """Tidy rows of a run.

    Parameters
    ----------
    rows : iterable of SuiteRow
        One per training and method; every training has the same methods.
    """

    def __init__(self, rows: Iterable[SuiteRow]) -> None:
        self.rows = list(rows)
        self.methods = list(dict.fromkeys(row.method for row in self.rows))
        firsts = [row for row in self.rows if row.method == self.methods[0]]
        means = _mean_auc(firsts)
        self.fits = [
            FitFacts(
                r.dataset,
                r.family,
                r.half,
                r.model,
                r.seed,
                r.n_minority,
                means[r.dataset, r.model],
            )
            for r in firsts
        ]
        place = {(f.dataset, f.model, f.seed): i for i, f in enumerate(self.fits)}
        column = {name: i for i, name in enumerate(self.methods)}
        shape = (len(self.fits), len(self.methods))
        self._values = {name: np.full(shape, bad) for name, bad in USELESS.items()}
        for row in self.rows:
            if row.status != "FAILED":
                at = place[row.dataset, row.model, row.seed], column[row.method]
                for name in METRICS:
                    self._values[name][at] = getattr(row, name)

    def of(self, method: str) -> list[SuiteRow]:
        """Return the rows of a method."""
        return [row for row in self.rows if row.method == method]

    def only(self, methods: Container[str]) -> Results:
        """Return the results of some methods only."""
        return Results(row for row in self.rows if row.method in methods)

    def where(self, wanted: Callable[[FitFacts], bool]) -> Results:
        """Return the results of some trainings only."""
        kept = {(f.dataset, f.model, f.seed) for f in self.fits if wanted(f)}
        return Results(r for r in self.rows if (r.dataset, r.model, r.seed) in kept)

    def blocks(
        self, metric: str, methods: Sequence[str] | None = None, unit: Unit = "family and model"
    ) -> Blocks:
        """Average a metric over seeds, then data sets of a family, then models if asked.

        Parameters
        ----------
        metric : str
            Which.
        methods : sequence of str, default=None
            Which; None is all.
        unit : {"family and model", "family"}, default="family and model"
            What a block is.
        """
        methods = self.methods if methods is None else methods
        names, weights = self._weights(unit)
        columns = [self.methods.index(name) for name in methods]
        return Blocks(names, list(methods), weights @ self._values[metric][:, columns])

    def _weights(self, unit: Unit) -> tuple[list[tuple[str, ...]], FloatArray]:
        """Return the blocks and the weight of every training in each."""
        fits = self.fits
        seeds = Counter((f.dataset, f.model) for f in fits)
        datasets = Counter(key[:2] for key in {(f.family, f.model, f.dataset) for f in fits})
        models = Counter(key[0] for key in {(f.family, f.model) for f in fits})
        together = unit == "family"
        keys = [(f.family,) if together else (f.family, f.model) for f in fits]
        names: list[tuple[str, ...]] = list(dict.fromkeys(keys))
        weights = np.zeros((len(names), len(fits)))
        for i, (f, key) in enumerate(zip(fits, keys, strict=True)):
            alike = seeds[f.dataset, f.model] * datasets[f.family, f.model]
            weights[names.index(key), i] = 1 / (alike * (models[f.family] if together else 1))
        return names, weights


def _mean_auc(rows: Iterable[SuiteRow]) -> dict[tuple[str, str], float]:
    """Return the mean over seeds for each data set and model; what failed has none."""
    known: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        known.setdefault((row.dataset, row.model), []).append(row.auc)
    return {key: float(np.mean(values)) for key, values in known.items()}
