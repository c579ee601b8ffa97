"""Fitted scores on disk: one file per problem, seed and model; decisions beside them."""

from __future__ import annotations

from pathlib import Path

import sklearn

from lab.reproduction.arrays import read_arrays, write_arrays
from lab.reproduction.classifiers import ClassifierOptions
from lab.reproduction.collect import FittedScores, ModelName, collect_scores
from lab.reproduction.decisions import SlackKind
from lab.reproduction.problems import Problem, Protocol
from lab.reproduction.source import source_digest

__all__ = ["PROTOCOL_VERSION", "ScoreCache"]

# Raise it when splits, classifiers or what is kept of them change: old files are then ignored.
PROTOCOL_VERSION = 1


class ScoreCache:
    """Fitted scores, from disk where they are there and otherwise by training.

    Parameters
    ----------
    folder : path
        Where the files are. Their names hold the version of the protocol, of scikit-learn and a
        digest of the options, so that a change of any of these trains anew.
    options : ClassifierOptions
        Grid and network.
    """

    def __init__(self, folder: Path, options: ClassifierOptions) -> None:
        self.folder = folder
        self.options = options

    def path(self, problem: Problem, protocol: Protocol, seed: int, model: ModelName) -> Path:
        """Return the file of one training."""
        release = ".".join(sklearn.__version__.split(".")[:2])
        version = f"v{PROTOCOL_VERSION}-sklearn{release}-{self.options.digest(problem.classifier)}"
        return self.folder / f"{problem.key}-{protocol}-{version}" / f"{seed:04d}-{model}.npz"

    def rows_path(self, problem: Problem, protocol: Protocol, seed: int, slack: SlackKind) -> Path:
        """Return the file of what all methods decided; a change of the code changes its name."""
        folder = self.path(problem, protocol, seed, "untouched").parent
        return folder / f"{seed:04d}-{slack}-{source_digest()}.csv.gz"

    def get(
        self, problem: Problem, protocol: Protocol, seed: int, model: ModelName
    ) -> FittedScores | None:
        """Return stored scores; None where there are none, or where the file is broken."""
        return read_arrays(self.path(problem, protocol, seed, model), FittedScores)

    def has(self, problem: Problem, protocol: Protocol, seed: int, model: ModelName) -> bool:
        """Say whether the scores are there, without reading them."""
        return self.path(problem, protocol, seed, model).is_file()

    def make(
        self, problem: Problem, protocol: Protocol, seed: int, model: ModelName
    ) -> FittedScores:
        """Train and store, or read what is stored."""
        stored = self.get(problem, protocol, seed, model)
        if stored is not None:
            return stored
        split = problem.split(seed, protocol)
        state = problem.smote_state(seed, protocol)
        scores = collect_scores(split, problem.classifier, model, state, self.options)
        write_arrays(self.path(problem, protocol, seed, model), scores)
        return scores
