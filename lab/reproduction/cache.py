"""Fitted scores on disk: one file per problem, seed and model; decisions beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import sklearn

from lab.harness.cache import ScoreCache
from lab.reproduction.classifiers import ClassifierOptions
from lab.reproduction.collect import FittedScores, ModelName, collect_scores
from lab.reproduction.fitted import SlackKind
from lab.reproduction.problems import Problem, Protocol
from lab.reproduction.source import source_digest

__all__ = ["PROTOCOL_VERSION", "ReproductionCache", "Run"]

# Raise it when splits, classifiers or what is kept of them change: old files are then ignored.
PROTOCOL_VERSION = 1


class Run(NamedTuple):
    """One training."""

    problem: Problem
    protocol: Protocol
    seed: int
    model: ModelName


@dataclass(frozen=True)
class ReproductionCache(ScoreCache[Run, FittedScores]):
    """Scores of the paper's classifiers.

    Names of files hold the version of the protocol, of scikit-learn and a digest of the options,
    so that a change of any of these trains anew.
    """

    options: ClassifierOptions

    kind = FittedScores

    def path(self, training: Run) -> Path:
        """Return the file of one training."""
        return self._folder(training) / f"{training.seed:04d}-{training.model}.npz"

    def rows_path(self, training: Run, slack: SlackKind) -> Path:
        """Return the file of what all methods decided; a change of the code changes its name."""
        return self._folder(training) / f"{training.seed:04d}-{slack}-{source_digest()}.csv.gz"

    def train(self, training: Run) -> FittedScores:
        """Train on the split of the seed."""
        problem, protocol, seed, model = training
        split, state = problem.split(seed, protocol), problem.smote_state(seed, protocol)
        return collect_scores(split, problem.classifier, model, state, self.options)

    def _folder(self, training: Run) -> Path:
        release = ".".join(sklearn.__version__.split(".")[:2])
        digest = self.options.digest(training.problem.classifier)
        version = f"v{PROTOCOL_VERSION}-sklearn{release}-{digest}"
        return self.folder / f"{training.problem.key}-{training.protocol}-{version}"
