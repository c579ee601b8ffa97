"""The paper's family of methods, as `find_boundary` takes it: presets, and checked arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.scores.sample import ScoreSample
from boundshift.support.levels import Support
from boundshift.validation import as_choice, as_pair, as_positive

__all__ = ["PRESETS", "as_start", "read_options"]

Pair = tuple[float, float]

PRESETS: dict[str, Support] = {
    "paper": Support(constant=2.0, radius="two-sided", penalty="count", centre="mean"),
    "authors": Support(
        constant=2.0, radius="two-sided", centre="mean", budget=0.5, stop_at_zero=True
    ),
}


def read_options(preset: str | None, given: dict[str, Any], sample: ScoreSample) -> Support:
    """Check the arguments given and put them over the preset."""
    base = PRESETS[as_choice("preset", preset, tuple(PRESETS))] if preset else Support()
    one = "Use alpha=1 for the paper's setting."
    if "gamma" in given:
        given["gamma"] = as_positive("gamma", given["gamma"], "The paper has 1 and 2.")
    if "constant" in given:
        given["constant"] = as_positive(
            "constant", given["constant"], "The paper has 2, Hoeffding's bound 0.", zero=True
        )
    if "alpha" in given:
        given["alpha"] = as_pair("alpha", given["alpha"], one)
    if "budget" in given:
        given["budget"] = _as_budget(given["budget"], sum(sample.n_samples))
    if "class_weight" in given:
        given["class_weight"] = _as_class_weight(given["class_weight"], sample.labels)
    for name, choices in _CHOICES.items():
        if name in given:
            as_choice(name, given[name], choices)
    return replace(base, **given)


_CHOICES: dict[str, tuple[object, ...]] = {
    "radius": ("one-sided", "two-sided"),
    "slack": ("binary", "continuous"),
    "penalty": ("proportional", "count"),
    "centre": ("median", "mean"),
    "stop_at_zero": (True, False),
}


def _as_budget(budget: object, n_rows: int) -> int | float | Literal["all"]:
    """Return a budget as a number of points, a share, or "all"."""
    if budget == "all":
        return "all"
    if isinstance(budget, int | np.integer) and not isinstance(budget, bool):
        if 0 <= budget <= n_rows:
            return int(budget)
    elif isinstance(budget, float | np.floating) and 0 < budget <= 1:
        return float(budget)
    raise InvalidInputError(
        f"`budget` must be a number of points from 0 to {n_rows} (the rows given), a share in "
        f"(0, 1], or 'all', got {budget!r}. Use budget='all' for no limit."
    )


def _as_class_weight(weight: object, labels: tuple[Any, Any]) -> Pair:
    """Return class weights as (negative, positive)."""
    cure = "Use class_weight=1 for the paper's loss."
    if isinstance(weight, Mapping):
        if set(weight) != set(labels):
            raise InvalidInputError(
                f"`class_weight` must have the labels {labels[0]!r} and {labels[1]!r} as keys, "
                f"got {sorted(weight, key=str)!r}. {cure}"
            )
        weight = [weight[label] for label in labels]
    return as_pair("class_weight", weight, cure)


def as_start(start: object) -> float:
    """Return SLSQP's first guess."""
    number = as_positive("start", start, "Use start=1, as the authors do.")
    if number > 1:
        raise InvalidInputError(
            f"`start` must be a confidence in (0, 1], got {start!r}. Use start=1 as the authors do."
        )
    return number
