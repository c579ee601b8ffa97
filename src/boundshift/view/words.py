"""Numbers and names in words that need no statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from boundshift.exceptions import InvalidInputError

__all__ = ["Names", "at_most", "out_of", "per_hundred", "percent", "read_names", "score_text"]

_KEYS = ("positive", "negative", "title", "unit")


@dataclass(frozen=True)
class Names:
    """What the two classes and their rows are called.

    Parameters
    ----------
    positives, negatives : str
        Phrases such as "sick patients" or "rows of class 1".
    positive, negative : str
        Short names, such as "sick" or "class 1".
    title : str
        Of the page.
    unit : str
        What a row is, in the plural.
    """

    positives: str
    negatives: str
    positive: str
    negative: str
    title: str
    unit: str


def read_names(names: Mapping[str, object] | None, labels: tuple[Any, Any]) -> Names:
    """Complete the names that were given from the labels.

    Examples
    --------
    >>> read_names({"positive": "sick", "unit": "patients"}, (0, 1)).positives
    'sick patients'
    >>> read_names(None, (0, 1)).positives
    'rows of class 1'
    """
    given = dict(names or {})
    unknown = sorted(set(given) - set(_KEYS))
    if unknown:
        raise InvalidInputError(
            f"`names` must have the keys {', '.join(map(repr, _KEYS))}, got {unknown[0]!r}. "
            "Leave out what needs no name."
        )
    told = {key: str(value) for key, value in given.items() if value not in (None, "")}
    unit = told.get("unit", "rows")
    phrases, short = [], []
    for key, label in zip(("negative", "positive"), labels, strict=True):
        phrases.append(f"{told[key]} {unit}" if key in told else f"{unit} of class {label}")
        short.append(told.get(key, f"class {label}"))
    title = told.get("title", f"Telling {short[1]} from {short[0]}")
    return Names(phrases[1], phrases[0], short[1], short[0], title, unit)


def percent(share: float) -> str:
    """Return a share in percent with one digit.

    Examples
    --------
    >>> percent(0.0934)
    '9.3%'
    """
    return f"{100 * share:.1f}%"


def score_text(value: float) -> str:
    """Return a score with four significant digits and a true minus.

    Examples
    --------
    >>> score_text(-4.19816)
    '−4.198'
    """
    return f"{value:.4g}".replace("-", "−")


def at_most(share: float) -> str:
    """Return an upper bound in percent, rounded up so that it still bounds.

    Examples
    --------
    >>> at_most(0.1691)
    '17.0%'
    """
    return f"{ceil(1000 * share - 1e-9) / 10:.1f}%"


def out_of(shares: tuple[float, ...]) -> int:
    """Return of how many to speak: 100, or more if a share would vanish.

    Examples
    --------
    >>> out_of((0.09, 0.31)), out_of((0.004, 0.31))
    (100, 1000)
    """
    smallest = min((abs(s) for s in shares if s), default=1.0)
    return next((base for base in (100, 1000, 10_000) if smallest * base >= 0.95), 100_000)


def per_hundred(share: float, base: int, *, up: bool = False) -> int:
    """Return a share as whole rows out of `base`; a bound is rounded up."""
    return ceil(share * base - 1e-9) if up else round(share * base)
