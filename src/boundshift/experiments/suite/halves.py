"""Two halves of the families: one to choose defaults on, one to report them on, once.

``python -m boundshift.experiments.suite.halves`` prints the stored list anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from statistics import median
from typing import Literal, get_args

import numpy as np

from boundshift.datasets.common import CommonDataset
from boundshift.experiments.suite.data import suite_datasets
from boundshift.validation import as_choice

__all__ = ["Half", "HalfChoice", "draw_halves", "half_of", "in_half"]

Half = Literal["choose", "report"]
HalfChoice = Literal["choose", "report", "both"]


def draw_halves(datasets: Iterable[CommonDataset], seed: int = 0) -> dict[str, list[str]]:
    """Divide the families, alike in size: of two neighbours by minority size one goes each way.

    Parameters
    ----------
    datasets : iterable of CommonDataset
        All data sets.
    seed : int, default=0
        Which of two neighbours goes where.
    """
    sizes: dict[str, list[int]] = {}
    for entry in datasets:
        sizes.setdefault(entry.family, []).append(entry.n_minority)
    ordered = sorted(sizes, key=lambda family: (median(sizes[family]), family))
    swaps = np.random.default_rng(seed).integers(2, size=(len(ordered) + 1) // 2)
    halves: dict[str, list[str]] = {"choose": [], "report": []}
    for position, family in enumerate(ordered):
        to_report = (position % 2) ^ int(swaps[position // 2])
        halves["report" if to_report else "choose"].append(family)
    return {name: sorted(families) for name, families in halves.items()}


@cache
def _stored() -> dict[str, Half]:
    """Return the half of each family as it was fixed."""
    text = resources.files("boundshift.experiments.suite").joinpath("halves.json").read_text()
    return {family: half for half, families in json.loads(text).items() for family in families}


def half_of(family: str) -> Half:
    """Return the half that a family was drawn into.

    Examples
    --------
    >>> half_of("yeast")
    'choose'
    """
    return _stored()[family]


def in_half(family: str, half: HalfChoice) -> bool:
    """Say whether a family is in a half, or wanted anyway."""
    as_choice("half", half, get_args(HalfChoice))
    return half in ("both", half_of(family))


if __name__ == "__main__":
    print(json.dumps(draw_halves(suite_datasets()), indent=2))
