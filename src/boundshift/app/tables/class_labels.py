"""Labels as files write them, and which of two classes is the positive one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from boundshift.exceptions import InvalidInputError
from boundshift.validation import are_signs, order_labels

__all__ = ["label_values", "match_label", "order_classes", "positive_note"]

_TRUTH = {"false": False, "true": True}
_MOST_SHOWN = 8
# What a float holds exactly; a number that is longer, or begins with 0, is a name.
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,14})")
_NUMBER = re.compile(r"(?=.*\d)[+-]?(0|[1-9]\d{0,14})?(\.\d{0,15})?(e[+-]?\d{1,2})?", re.IGNORECASE)


def label_values(texts: Sequence[str]) -> list[Any]:
    """Return labels read as text as the numbers or booleans they are, if they all are.

    Examples
    --------
    >>> label_values(["0", "1"]), label_values(["False", "true"]), label_values(["no", "1"])
    ([0, 1], [False, True], ['no', '1'])
    >>> label_values(["01", "02"])
    ['01', '02']
    """
    bare = [text.strip() for text in texts]
    if all(_WHOLE.fullmatch(text) for text in bare):
        return [int(text) for text in bare]
    if all(text.casefold() in _TRUTH for text in bare):
        return [_TRUTH[text.casefold()] for text in bare]
    if all(_NUMBER.fullmatch(text) for text in bare):
        return [float(text) for text in bare]
    return list(texts)


def order_classes(
    values: Sequence[Any],
    counts: Sequence[int],
    positive: str | None,
    column: str,
    *,
    alike: bool = True,
) -> tuple[Any, Any]:
    """Return the two labels of a column (negative, positive).

    Parameters
    ----------
    values, counts : sequences
        Labels, and how many rows have each.
    positive : str or None
        The positive label, as text. None leaves the choice to
        :func:`~boundshift.validation.order_labels`, which is told how frequent each label is.
    column : str
        Where the labels stand.
    alike : bool, default=True
        Whether the rule treats both classes alike.

    Examples
    --------
    >>> order_classes(["malignant", "benign"], [10, 90], None, "finding")
    ('benign', 'malignant')
    >>> order_classes(["benign", "malignant", "unclear"], [80, 10, 10], "malignant", "finding")
    Traceback (most recent call last):
        ...
    boundshift.exceptions.InvalidInputError: Two classes are needed, but column 'finding' ...
    """
    totals: Counter[Any] = Counter()
    for value, count in zip(values, counts, strict=True):
        totals[value] += count
    distinct = sorted(totals, key=lambda value: (str(type(value)), value))
    _check_spellings(distinct, column)
    if len(distinct) == 1:
        raise InvalidInputError(
            f"Two classes are needed, but column '{column}' holds only {distinct[0]!r}. A boundary "
            "needs rows on either side."
        )
    chosen = None if positive is None else match_label(positive, distinct, column)
    if len(distinct) > 2:
        raise InvalidInputError(
            f"Two classes are needed, but column '{column}' holds {len(distinct)}: "
            f"{_shown(distinct, totals)}. Leave out rows whose label is none, by `fit --ignore "
            "LABEL`, or write one label for all classes that are not to be found. For one decision "
            "among many classes use BoundShiftClassifier in Python."
        )
    low, high = distinct
    if chosen is not None:
        low, high = (high, low) if chosen == low else (low, high)
        return _storable(low), _storable(high)
    if not alike and totals[low] == totals[high] and not are_signs((low, high)):
        raise InvalidInputError(
            f"The positive class must be named where a rule does not treat {low!r} and {high!r} "
            f"alike, got neither, and both have {totals[low]} rows. Use --positive {high}, for "
            "example."
        )
    low, high = order_labels(distinct, counts=totals, alike=alike)
    return _storable(low), _storable(high)


def _check_spellings(distinct: Sequence[Any], column: str) -> None:
    """Raise if a label is infinite, or two labels differ by nothing but blanks or case."""
    groups: dict[str, list[Any]] = {}
    for value in distinct:
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidInputError(
                f"Labels must be words or finite numbers, but column '{column}' holds {value!r}. "
                "Choose the column that says which class a row has."
            )
        if not str(value).strip():
            raise InvalidInputError(
                f"Every row must have a label, but column '{column}' holds blanks in some. Drop "
                "those rows."
            )
        groups.setdefault(" ".join(str(value).split()).casefold(), []).append(value)
    for same in groups.values():
        if len(same) > 1:
            raise InvalidInputError(
                f"Labels must differ by more than blanks or case, but column '{column}' holds "
                f"{_shown(same)}. Spell each class in one way."
            )


def _storable(label: Any) -> Any:
    """Return a label as JSON knows it: a date, for one, as text."""
    return label if isinstance(label, str | int | float) else str(label)


def _shown(labels: Sequence[Any], counts: Mapping[Any, int] | None = None) -> str:
    """Return the first few labels, with their numbers of rows where these are known."""
    more = ", …" if len(labels) > _MOST_SHOWN else ""
    rows = {label: f" ({count:,} rows)" for label, count in (counts or {}).items()}
    return ", ".join(f"{label!r}{rows.get(label, '')}" for label in labels[:_MOST_SHOWN]) + more


def match_label(text: str, labels: Iterable[Any], column: str) -> Any:
    """Return the label that is written so.

    Examples
    --------
    >>> match_label("1", [0, 1], "ill"), match_label("true", [False, True], "ill")
    (1, True)
    >>> match_label("yes", ["Yes", "yes"], "ill")
    'yes'
    """
    labels = list(labels)
    alike: list[Callable[[Any], bool]] = [
        lambda label: text == str(label),
        lambda label: text.casefold() == str(label).casefold(),
        lambda label: isinstance(label, int | float) and _equal(text, label),
    ]
    for is_alike in alike:
        for label in labels:
            if is_alike(label):
                return label
    raise InvalidInputError(
        f"A label must be one of those in column '{column}' ({_shown(labels)}), got '{text}'. Use "
        "one of them."
    )


def _equal(text: str, number: float) -> bool:
    """Return whether a text is a number."""
    try:
        return float(text) == number
    except ValueError:
        return False


def positive_note(
    positive: str | None, labels: tuple[Any, Any], n_samples: tuple[int, int]
) -> list[str]:
    """Return what has to be said of a positive class that neither the user nor its name chose.

    Examples
    --------
    >>> positive_note(None, ("ok", "fraud"), (90, 10))
    ["The positive class is 'fraud', the rarer one (10 of 100 rows). Use --positive to choose."]
    >>> positive_note(None, (0, 1), (10, 90)), positive_note("ok", ("fraud", "ok"), (10, 90))
    ([], [])
    """
    if positive is not None or are_signs(labels):
        return []
    few, all_rows = n_samples[1], sum(n_samples)
    why = "the rarer one" if few < n_samples[0] else "the greater of two equally frequent ones"
    return [
        f"The positive class is {labels[1]!r}, {why} ({few} of {all_rows} rows). Use --positive "
        "to choose."
    ]
