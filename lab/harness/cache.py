"""Fitted scores on disk, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from joblib import Parallel, delayed

from lab.harness.records import read_arrays, write_arrays

__all__ = ["Progress", "ScoreCache", "say_nothing"]

Training = TypeVar("Training")
Scores = TypeVar("Scores")

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how many steps are done, and how many there are."""


def say_nothing(what: str, done: int, total: int) -> None:
    """Tell nobody about the progress."""


@dataclass(frozen=True)
class ScoreCache(ABC, Generic[Training, Scores]):
    """Fitted scores, from disk where they are there and otherwise by training.

    Parameters
    ----------
    folder : path
        Where the files are. Their names hold whatever changes the scores, so that a change trains
        anew what it concerns and nothing else.
    """

    folder: Path

    kind: ClassVar[type[Any]]
    """Class of the stored scores."""

    @abstractmethod
    def path(self, training: Training) -> Path:
        """Return the file of one training."""

    @abstractmethod
    def train(self, training: Training) -> Scores:
        """Train, whatever is stored."""

    def has(self, training: Training) -> bool:
        """Say whether the scores are there, without reading them."""
        return self.path(training).is_file()

    def get(self, training: Training) -> Scores | None:
        """Return stored scores; None where there are none, or where the file is broken."""
        return read_arrays(self.path(training), self.kind)

    def make(self, training: Training) -> Scores:
        """Train and store, or read what is stored."""
        stored = self.get(training)
        if stored is not None:
            return stored
        scores = self.train(training)
        write_arrays(self.path(training), scores)
        return scores

    def attempt(self, training: Training) -> Scores | Exception:
        """Return the scores, or the error that stood in the way."""
        try:
            return self.make(training)
        except Exception as error:
            return error

    def fill(
        self,
        trainings: Iterable[Training],
        *,
        jobs: int = 1,
        progress: Progress = say_nothing,
    ) -> None:
        """Train what is not there; what fails is tried again, and reported, where it is read."""
        absent = [training for training in trainings if not self.has(training)]
        # Progress stays behind, since a terminal cannot be sent to another process.
        trained = Parallel(jobs, return_as="generator_unordered")(
            delayed(self._store)(training) for training in absent
        )
        for done, _ in enumerate(trained, 1):
            progress("training", done, len(absent))

    def _store(self, training: Training) -> None:
        """Train and send nothing back."""
        self.attempt(training)
