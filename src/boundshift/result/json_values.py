"""Records as plain values that JSON can carry, and back.

JSON has no infinity and no NaN, so these are the strings "Infinity", "-Infinity" and "NaN", which
most languages turn into numbers as they are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError

__all__ = ["as_label", "as_numbers", "check_format", "from_numbers", "read_json"]

_HUGE = 10**300  # Whole numbers of JSON have no end, and a float has.
_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def read_json(text: str | bytes, what: str) -> Any:
    """Return what JSON text holds; raise a sentence about `what` if it is none.

    Examples
    --------
    >>> read_json("[1, 2", "A stored boundary")
    Traceback (most recent call last):
    boundshift.exceptions.InvalidInputError: A stored boundary must be JSON text, got what ...
    """
    try:
        return json.loads(text)
    except RecursionError:
        reason = "it is nested without end"
    except (TypeError, ValueError) as error:
        reason = str(error)[:200]
    raise InvalidInputError(
        f"{what} must be JSON text, got what cannot be read: {reason}. Pass what boundshift has "
        "written."
    )


def as_numbers(value: Any) -> Any:
    """Return a number, or a nest of tuples of them, as JSON can carry it.

    Examples
    --------
    >>> as_numbers((1.5, (float("inf"), 2)))
    [1.5, ['Infinity', 2]]
    """
    if isinstance(value, tuple):
        return [as_numbers(item) for item in value]
    if isinstance(value, int | np.integer):
        return int(value)
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def from_numbers(name: str, value: Any, like: Any) -> Any:
    """Return what `as_numbers` was given, if it has the shape and the type of `like`.

    Examples
    --------
    >>> from_numbers("loss", "Infinity", 0.0)
    inf
    """
    if isinstance(like, tuple):
        if isinstance(value, list | tuple) and len(value) == len(like):
            return tuple(from_numbers(name, v, part) for v, part in zip(value, like, strict=True))
    elif isinstance(value, str):
        if isinstance(like, float) and value in _WORDS:
            return _WORDS[value]
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) < _HUGE:
        return type(like)(value)
    elif isinstance(value, float) and isinstance(like, int) and math.isfinite(value):
        return value  # rows with weights
    elif isinstance(value, float) and isinstance(like, float):
        return value
    kind = "pairs" if isinstance(like, tuple) else "an int" if isinstance(like, int) else "a number"
    raise InvalidInputError(
        f"`{name}` must be {kind} as a stored boundary has it, got {value!r}. "
        "Store the boundary again with to_dict or boundshift.save."
    )


def as_label(label: Any) -> bool | int | float | str:
    """Return a label as JSON can carry it."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool | int | str) or (isinstance(label, float) and math.isfinite(label)):
        return label
    raise InvalidInputError(
        f"Labels must be strings, numbers or booleans to be stored as JSON, got {label!r}. "
        "Use dataclasses.replace(boundary, labels=('no', 'yes')) to name them."
    )


def check_format(
    given: Any, name: str, version: int, fields: Sequence[str], *, oldest: int = 1
) -> None:
    """Raise unless `given` is a record of that name, of a known version, with all its fields."""
    if not isinstance(given, Mapping) or given.get("format") != name:
        got = given.get("format") if isinstance(given, Mapping) else type(given).__name__
        raise InvalidInputError(
            f"The record must have 'format': {name!r}, got {got!r}. "
            "Pass what boundshift.save or to_dict has written."
        )
    found = given.get("version")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise InvalidInputError(f"'version' must be a number from 1, got {found!r} in a {name}.")
    if found > version:
        raise InvalidInputError(
            f"'version' of a {name} must be at most {version} for this release, got {found}. "
            "It was written by a newer boundshift: upgrade to read it."
        )
    if found < oldest:
        raise InvalidInputError(
            f"'version' of a {name} must be at least {oldest} for this release, got {found}, "
            "which an older boundshift wrote. Write it again with this release."
        )
    missing = [field for field in fields if field not in given]
    if missing:
        raise InvalidInputError(
            f"A {name} must have the fields {', '.join(fields)}; missing: {', '.join(missing)}. "
            "Store the boundary again with to_dict or boundshift.save."
        )
