"""Two halves of the families: one to choose defaults on, one to report them on, once.

The list in ``halves.json`` was drawn before any method was compared: families in the order of
their minority rows, and of every two neighbours a coin sent one to each half. It stays.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Literal, get_args

from boundshift.validation import as_choice

__all__ = ["Half", "HalfChoice", "half_of", "in_half"]

Half = Literal["choose", "report"]
HalfChoice = Literal["choose", "report", "both"]


@cache
def _stored() -> dict[str, Half]:
    """Return the half of each family as it was fixed."""
    text = resources.files("lab.suite").joinpath("halves.json").read_text()
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
