"""Settings of the paper's method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.validation import as_choice, as_pair, as_positive, as_weight

__all__ = ["SupportSettings"]

Pair = tuple[float, float]

_CHOICES: dict[str, tuple[object, ...]] = {
    "radius": ("one-sided", "two-sided"),
    "slack": ("binary", "continuous"),
    "penalty": ("proportional", "count"),
    "centre": ("median", "mean"),
    "stop_at_zero": (True, False),
}


@dataclass(frozen=True)
class SupportSettings:
    """Settings of the paper's method, explained in :class:`~boundshift.curves.SupportRadius`."""

    gamma: float = 1.0
    constant: float = 0.0
    radius: Literal["one-sided", "two-sided"] = "one-sided"
    slack: Literal["binary", "continuous"] = "binary"
    penalty: Literal["proportional", "count"] = "proportional"
    alpha: float | Pair = (1.0, 1.0)
    budget: int | float | Literal["all"] = "all"
    class_weight: float | Pair | Mapping[Any, float] = field(default=(1.0, 1.0), hash=False)
    centre: Literal["median", "mean"] = "median"
    stop_at_zero: bool = False

    def __post_init__(self) -> None:
        cure = "The paper has 2, Hoeffding's bound 0."
        checked: dict[str, Any] = {
            "gamma": as_positive("gamma", self.gamma, "The paper has 1 and 2."),
            "constant": as_positive("constant", self.constant, cure, zero=True),
            "alpha": as_pair("alpha", self.alpha, "Use alpha=1 for the paper's setting."),
            "budget": _as_budget(self.budget),
        }
        if not isinstance(self.class_weight, Mapping):
            checked["class_weight"] = _as_weights(self.class_weight)
        for name, choices in _CHOICES.items():
            as_choice(name, getattr(self, name), choices)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def resolve(self, n_rows: int, labels: tuple[Any, Any]) -> Self:
        """Return the settings for one sample: weights by class, a budget that the rows allow."""
        budget, weight = self.budget, self.class_weight
        if isinstance(budget, int) and budget > n_rows:
            raise _bad_budget(budget, f" to {n_rows} (the rows given)")
        if not isinstance(weight, Mapping):
            return self
        if set(weight) != set(labels):
            raise InvalidInputError(
                f"`class_weight` must have the labels {labels[0]!r} and {labels[1]!r} as keys, "
                f"got {sorted(weight, key=str)!r}. Use class_weight=1 for the paper's loss."
            )
        return replace(self, class_weight=_as_weights([weight[label] for label in labels]))


def _as_weights(weight: object) -> Pair:
    """Return class weights as (negative, positive)."""
    cure = "Use class_weight=1 for the paper's loss."
    negative, positive = as_pair("class_weight", weight, cure)
    return as_weight("class_weight", negative, cure), as_weight("class_weight", positive, cure)


def _as_budget(budget: object) -> int | float | Literal["all"]:
    """Return a budget as a number of points, a share, or "all"."""
    if isinstance(budget, str) and budget == "all":
        return "all"
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool):
        if budget >= 0:
            return int(budget)
    elif isinstance(budget, float | np.floating) and 0 < budget <= 1:
        return float(budget)
    raise _bad_budget(budget, "")


def _bad_budget(budget: object, most: str) -> InvalidInputError:
    """Return the error for a budget that cannot be used."""
    return InvalidInputError(
        f"`budget` must be a number of points from 0{most}, a share in (0, 1], or 'all', got "
        f"{budget!r}. Use budget='all' for no limit."
    )
