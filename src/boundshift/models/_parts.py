"""The parts of a model: the classifier, and the steps and searches around it.

Libraries are recognised by the name of a model's class, so that none is imported needlessly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from sklearn.frozen import FrozenEstimator

from boundshift._typing import Model, Rows

_Entry = TypeVar("_Entry")


def is_a(model: Model, library: str, name: str) -> bool:
    """Return whether a model's class, or a base class of it, has this name in this library."""
    classes = type(model).__mro__
    return any(c.__name__ == name and c.__module__.split(".")[0] == library for c in classes)


def look_up(model: Model, table: Mapping[tuple[str, str], _Entry]) -> _Entry | None:
    """Return the entry of a table for a model's library and class, None if there is none."""
    return next((entry for key, entry in table.items() if is_a(model, *key)), None)


class Unwrapped(NamedTuple):
    """A model in its parts; `whole` is without the search or the frozen estimator around it."""

    whole: Model
    transformers: list[Model]  # A sampler, without transform, sees only training rows.
    last: Model  # the classifier

    def transform(self, X: Rows) -> Rows:
        """Return the rows that the classifier gets."""
        for step in self.transformers:
            X = step.transform(X)
        return X


def unwrap(model: Model) -> Unwrapped:
    """Take pipelines, searches and frozen estimators apart."""
    whole = None
    transformers = []
    while True:
        if isinstance(getattr(model, "steps", None), list) and hasattr(model, "named_steps"):
            whole = model if whole is None else whole
            transformers += [s for _, s in model.steps[:-1] if hasattr(s, "transform")]
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, FrozenEstimator) or all(
            hasattr(model, name) for name in ("estimator", "refit", "error_score")
        ):
            model = model.estimator  # frozen, or of a search that has not been fitted
        else:
            return Unwrapped(model if whole is None else whole, transformers, model)
