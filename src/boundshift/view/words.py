"""Numbers and names in words that need no statistics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from boundshift.exceptions import InvalidInputError
from boundshift.result.boundary import Boundary
from boundshift.status import Status

__all__ = [
    "METRICS_COMPARED",
    "METRIC_TITLES",
    "OUR_METHODS",
    "Names",
    "at_least",
    "at_most",
    "choose_base",
    "claim",
    "claim_text",
    "decision_text",
    "error_text",
    "metric_title",
    "minus",
    "part",
    "percent",
    "read_names",
    "score_text",
    "sentence",
    "sure",
]

METRIC_TITLES = {
    "g_mean": "G-mean",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "Matthews correlation (MCC)",
    "accuracy": "accuracy",
    "recall_positive": "recall, positive",
    "recall_negative": "recall, negative",
    "kappa": "Cohen's kappa",
    "youden": "Youden's J",
    "markedness": "markedness",
    "flagged": "share flagged",
}
"""What metrics are called."""
METRICS_COMPARED = tuple(METRIC_TITLES)[:7]
"""Metrics of which more is better, in the order of the columns of a comparison."""
OUR_METHODS = ("boundshift", "shifted")
"""Methods that are set off from the others in a comparison."""

# Words that end like a plural and are none.
_NO_PLURALS = ("yes", "diabetes", "rabies", "measles", "mumps", "herpes", "always", "overseas")
_KEYS = ("positive", "negative", "title", "unit")


@dataclass(frozen=True)
class Names:
    """What the two classes and their rows are called.

    Parameters
    ----------
    positives, negatives : str
        Phrases such as "sick patients" or "rows of class 1".
    positive, negative : str
        Short names, such as "sick", "churners" or "class 1".
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

    A name such as "sick" goes before the unit; one that names rows by itself stands alone: a
    plural, such as "churners", or a phrase with "with", "of" or "who", or with the unit in it.
    Where only the positive class has a name, the negative one are the others.

    Examples
    --------
    >>> read_names({"positive": "sick", "unit": "patients"}, (0, 1)).positives
    'sick patients'
    >>> told = read_names({"positive": "churners", "unit": "customers"}, (0, 1))
    >>> told.positives, told.negatives
    ('churners', 'other customers')
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
    if "positive" in told and "negative" not in told:
        told["negative"] = "other"
    phrases, short = [], []
    for key, label in zip(("negative", "positive"), labels, strict=True):
        name = told.get(key)
        phrases.append(f"{unit} of class {label}" if name is None else _phrase(name, unit))
        short.append(f"class {label}" if name is None else name)
    if short[0] == "other":
        short[0] = phrases[0]
    title = told.get("title", f"Telling {short[1]} from {short[0]}")
    return Names(phrases[1], phrases[0], short[1], short[0], title, unit)


def _phrase(name: str, unit: str) -> str:
    """Return a class's rows in words: a plural or a phrase by itself, else before the unit."""
    words = name.lower().split()
    plural = re.fullmatch(r".*[^siu]s", words[-1]) if words else None
    alone = (
        (plural and words[-1] not in _NO_PLURALS)
        or unit.lower() in name.lower()
        or {"with", "of", "who"} & set(words)
    )
    return name if alone else f"{name} {unit}"


def percent(share: float) -> str:
    """Return a share in percent with one digit, ties to even, so that complements add up to 100%.

    Examples
    --------
    >>> percent(0.0934)
    '9.3%'
    >>> percent(0.1235), percent(0.8765)
    ('12.4%', '87.6%')
    """
    return f"{round(round(1000 * share, 6)) / 10:.1f}%"


def minus(text: str) -> str:
    """Return a number in words with a true minus."""
    return text.replace("-", "−")


def sure(confidence: float) -> str:
    """Return a confidence in words."""
    return f"{100 * confidence:.6g}% confidence"


def claim(bound: str, confidence: float, given: str = "") -> str:
    """Return a bound on what happens in the long run, in words.

    Examples
    --------
    >>> claim("at most 5.0%", 0.95)
    'in the long run at most 5.0% with 95% confidence'
    """
    return f"in the long run{given} {bound} with {sure(confidence)}"


def part(text: str, status: str | None = None) -> dict[str, Any]:
    """Return a part of a sentence, with the status of what it claims."""
    return {"text": text, "status": status}


def sentence(text: str) -> str:
    """Return a reason as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def score_text(value: float) -> str:
    """Return a score with four significant digits and a true minus.

    Examples
    --------
    >>> score_text(-4.19816)
    '−4.198'
    """
    return minus(f"{value:.4g}")


def at_least(share: float) -> str:
    """Return a lower bound in percent, rounded down so that it still bounds.

    Examples
    --------
    >>> at_least(0.8309)
    '83.0%'
    """
    return f"{floor(1000 * share + 1e-9) / 10:.1f}%"


def at_most(share: float) -> str:
    """Return an upper bound in percent, rounded up so that it still bounds.

    Examples
    --------
    >>> at_most(0.1691)
    '17.0%'
    """
    return f"{ceil(1000 * share - 1e-9) / 10:.1f}%"


def choose_base(shares: tuple[float, ...]) -> int:
    """Return out of how many to count: 100, or more if a share would vanish.

    Examples
    --------
    >>> choose_base((0.09, 0.31)), choose_base((0.004, 0.31))
    (100, 1000)
    """
    smallest = min((abs(s) for s in shares if s), default=1.0)
    return next((base for base in (100, 1000, 10_000) if smallest * base >= 0.95), 100_000)


def metric_title(key: str) -> str:
    """Return what a metric is called.

    Examples
    --------
    >>> metric_title("g_mean"), metric_title("log_loss")
    ('G-mean', 'log loss')
    """
    return METRIC_TITLES.get(key, key.replace("_", " "))


def decision_text(boundary: Boundary) -> str:
    """Return what a boundary decides.

    Examples
    --------
    >>> import boundshift
    >>> decision_text(boundshift.find_boundary([0, 0, 1, 1], [0, 1, 4, 5], curve="dkw"))
    'Predict 1 if score > 2.5, else 0'
    """
    negative, positive = boundary.labels
    return f"Predict {positive} if score > {score_text(boundary.threshold)}, else {negative}"


def claim_text(boundary: Boundary) -> str:
    """Return which curve claims the errors of a boundary, and what its claim is worth.

    Examples
    --------
    >>> import boundshift
    >>> claim_text(boundshift.find_boundary([0, 0, 1, 1], [0, 1, 4, 5]))
    'Claim of the curve “blend”: an estimate of the error, not a bound on it.'
    """
    claim = boundary.curve.claim.value
    negated = ", once the scores are negated" if boundary.status is Status.REVERSED else ""
    return f"Claim of the curve “{boundary.curve.name}”{negated}: {claim[0].lower()}{claim[1:]}"


def error_text(share: float) -> str:
    """Return a claimed error in percent with three significant digits.

    Examples
    --------
    >>> error_text(0.0001234)
    '0.0123%'
    """
    return f"{100 * share:.3g}%"
