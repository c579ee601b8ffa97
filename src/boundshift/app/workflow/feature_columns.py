"""Which columns of a table a model may learn from, what each is read as, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from boundshift.app.tables.cells import (
    Spelling,
    find_spelling,
    holds_dates,
    read_cells,
    with_gaps,
)
from boundshift.exceptions import InvalidInputError
from boundshift.streaming.sources.batches import check_names

__all__ = [
    "OPTIONS",
    "Columns",
    "Kind",
    "Role",
    "as_features",
    "choose_columns",
    "read_numbers",
    "take_columns",
]

Kind = Literal["number", "category"]
Role = Literal["number", "category", "drop", "id", "weight", "cost"]

# The last word of a name that says that a column names rows; words end where a capital begins.
_ID_WORDS = frozenset(
    {"id", "ids", "uuid", "guid", "index", "idx", "key", "rownames", "mrn", "ssn"}
)
_NUMBER_WORDS = frozenset({"no", "nr", "num", "number", "record", "account", "row"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Text with more different values than this share of the rows names rows instead of grouping them.
_NAMING_SHARE = 0.5
_FEW_ROWS = 20
_COUNTS = "it counts or names the rows"
_DIFFERENT = "most of its values are different, as names or free text are"
OPTIONS: dict[str, str] = {
    "number": "--numeric",
    "category": "--category",
    "drop": "--drop",
    "id": "--id",
    "weight": "--weight",
    "cost": "--cost-column",
}
"""The option that gives a column its role."""
# What is said of columns that are no features and yet of use, and what these are called.
_BESIDE = {
    "weight": ("how often the row counts; not needed to predict", "weight"),
    "cost": (
        "what is lost if the row is decided wrongly; not needed to predict",
        "cost of the row",
    ),
}


@dataclass(frozen=True)
class Columns:
    """What is read from a table.

    Parameters
    ----------
    kinds : dict from str to {"number", "category"}
        Columns to learn from.
    left_out : dict from str to str, default={}
        The others, and why.
    spellings : dict from str to Spelling, default={}
        How the cells of each column to learn from are understood.
    why : dict from str to str, default={}
        What in the cells of each column speaks for that.
    complete : tuple of str, default=()
        Columns to learn from that have a value in every row.
    """

    kinds: Mapping[str, Kind]
    left_out: Mapping[str, str] = field(default_factory=dict)
    spellings: Mapping[str, Spelling] = field(default_factory=dict, repr=False)
    why: Mapping[str, str] = field(default_factory=dict, repr=False)
    complete: tuple[str, ...] = field(default=(), repr=False)

    def of(self, kind: Kind) -> list[str]:
        """Return the names of one kind."""
        return [name for name, found in self.kinds.items() if found == kind]

    def spelling(self, name: str) -> Spelling:
        """Return how a column is spelled; by its kind alone where nothing else is known."""
        plain = Spelling("number" if self.kinds[name] == "number" else "word")
        return self.spellings.get(name, plain)

    @property
    def ids(self) -> list[str]:
        """Columns left out because they name rows."""
        return [
            name
            for name, why in self.left_out.items()
            if why in (_COUNTS, f"{OPTIONS['id']} says so") or (why == _DIFFERENT and _is_id(name))
        ]

    def described(self) -> list[tuple[str, str, str]]:
        """Return every column, what was made of it, and why."""
        used = [(name, kind, self.why.get(name, "")) for name, kind in self.kinds.items()]
        called = dict(_BESIDE.values())
        return used + [
            (name, called.get(why, "left out"), why) for name, why in self.left_out.items()
        ]


def choose_columns(
    frame: Any, target: str, roles: Mapping[str, Role] | None = None, *, codes: bool = True
) -> Columns:
    """Sort a table's columns into numbers, categories and what a model cannot learn from.

    Left out are dates, columns that never vary or are empty, and columns that name rows: numbers
    that count them or are called an id, and text of which most values are different.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, rows without a target among them.
    target : str
        Column to be predicted, which is no feature.
    roles : mapping from str to {"number", "category", "drop", "id", "weight", "cost"}, default=None
        What the user says of some columns, whatever they look like.
    codes : bool, default=True
        Whether whole numbers with leading zeros are categories.

    Returns
    -------
    Columns

    Raises
    ------
    InvalidInputError
        If no column is left, or one cannot be what it is said to be.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": [1, 2, 3], "age": [40, 50, None], "ill": [0, 1, 0]})
    >>> choose_columns(frame, "ill")
    Columns(kinds={'age': 'number'}, left_out={'id': 'it counts or names the rows'})
    """
    roles = dict(roles or {})
    names = [str(name) for name in frame.columns]
    check_names("The table", names, list(roles))
    if target in roles:
        raise InvalidInputError(
            f"{OPTIONS[roles[target]]} must name a column to learn from, got '{target}', which is "
            "to be predicted. Leave it out."
        )
    labelled = with_gaps(frame[target]).notna()
    kinds: dict[str, Kind] = {}
    left_out: dict[str, str] = {}
    spellings: dict[str, Spelling] = {}
    why: dict[str, str] = {}
    complete = []
    for name in names:
        if name == target:
            continue
        column = with_gaps(frame[name])
        found = _understand(column, labelled, name, roles.get(name), codes)
        if isinstance(found, str):
            left_out[name] = found
            continue
        spellings[name], why[name] = found
        kinds[name] = "number" if spellings[name].kind == "number" else "category"
        if column[labelled].notna().all():
            complete.append(name)
    if not kinds:
        raise InvalidInputError(
            f"A model needs at least one column to learn from besides '{target}', got none: "
            + "; ".join(f"'{name}': {reason}" for name, reason in left_out.items())
        )
    return Columns(kinds, left_out, spellings, why, tuple(complete))


def take_columns(frame: Any, names: list[str], roles: Mapping[str, Role] | None = None) -> Columns:
    """Return columns that a trained model reads, whatever they look like.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    names : list of str
        The columns.
    roles : mapping from str to {"weight", "cost"}, default=None
        Columns beside them.
    """
    spellings, why = {}, {}
    for name in names:
        given = with_gaps(frame[name]).dropna()
        spellings[name], why[name] = find_spelling(given, codes=False)
    kinds: dict[str, Kind] = {
        name: "number" if spelling.kind == "number" else "category"
        for name, spelling in spellings.items()
    }
    full = tuple(name for name in names if with_gaps(frame[name]).notna().all())
    beside = {name: _BESIDE[role][0] for name, role in (roles or {}).items()}
    return Columns(kinds, beside, spellings, why, full)


def _understand(
    column: Any, labelled: Any, name: str, role: Role | None, codes: bool
) -> tuple[Spelling, str] | str:
    """Return how a column is spelled and why, or why it is left out."""
    if role in ("drop", "id"):
        return f"{OPTIONS[role]} says so"
    if role in ("weight", "cost"):
        return _BESIDE[role][0]
    given = column[labelled].dropna()
    if given.empty:
        return "it is empty"
    if _holds_containers(given):
        return "it holds lists or records"
    if any(isinstance(value, bytes) for value in given):
        return "it holds bytes that are no UTF-8 text"
    if role == "category":
        return Spelling("word"), "--category says so"
    if role == "number":
        return _as_number(given, name)
    if holds_dates(given):
        return "it holds dates; turn them into numbers, such as an age in days, to use them"
    distinct = given.nunique()
    if distinct == 1:
        return "it never varies"
    spelling, why = find_spelling(given, codes=codes)
    if spelling.kind == "number":
        numbers = read_cells(column, spelling, name).dropna()
        return _COUNTS if _counts(numbers, name) else (spelling, why)
    if distinct > _NAMING_SHARE * len(given) and (len(given) > _FEW_ROWS or _is_id(name)):
        return _DIFFERENT
    return spelling, why


def read_numbers(column: Any, name: str) -> Any:
    """Return a column as floats, a missing one as NaN; raise if a cell is no number.

    Examples
    --------
    >>> import pandas as pd
    >>> read_numbers(pd.Series(["1.5", None]), "dose").tolist()
    [1.5, nan]
    """
    column = with_gaps(column)
    return read_cells(column, _as_number(column.dropna(), name)[0], name)


def _as_number(given: Any, name: str) -> tuple[Spelling, str]:
    """Return how a column of numbers is spelled; raise if one is none."""
    spelling, why = find_spelling(given, codes=False)
    if spelling.kind != "number":
        read_cells(given, Spelling("number"), name)
    return (spelling if spelling.kind == "number" else Spelling("number")), f"{why}; --numeric"


def _holds_containers(given: Any) -> bool:
    """Return whether values are nested, as JSON's and Parquet's may be."""
    if given.dtype != object:
        return False
    return any(
        isinstance(value, list | dict | tuple | set) or getattr(value, "ndim", 0) > 0
        for value in given
    )


def _is_id(name: str, words: frozenset[str] = _ID_WORDS) -> bool:
    """Return whether a name's last word says that it names rows: patient_id, PatientID, MRN."""
    found = _WORD.findall(name)
    if not found or name.casefold() == "unnamed: 0":
        return not name.strip() or name.casefold() == "unnamed: 0"
    return found[-1].casefold() in words or name.casefold() in words


def _counts(numbers: Any, name: str) -> bool:
    """Return whether whole numbers are called an id, or count the rows."""
    if (numbers % 1 != 0).any():
        return False
    distinct = numbers.nunique()
    if _is_id(name) and distinct > _NAMING_SHARE * len(numbers):
        return True
    if distinct < len(numbers):
        return False
    steps = numbers.diff().dropna()
    step = steps.iloc[0] if len(steps) else 0
    is_counter = step == 1 or (step > 0 and len(numbers) > _FEW_ROWS)
    return (is_counter and bool((steps == step).all())) or _is_id(name, _NUMBER_WORDS)


def as_features(frame: Any, columns: Columns, where: str = "the table") -> Any:
    """Return the columns to learn from: numbers as floats, categories as text.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    columns : Columns
        What is read from it, and how.
    where : str, default="the table"
        What an error calls the table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [40, 50], "smokes": [True, None]})
    >>> as_features(frame, Columns({"age": "number", "smokes": "category"})).values.tolist()
    [[40.0, 'true'], [50.0, nan]]
    """
    import numpy as np
    import pandas as pd

    features = {}
    for name, kind in columns.kinds.items():
        features[name] = read_cells(frame[name], columns.spelling(name), name, where)
        if kind == "number" and np.isinf(features[name]).any():
            raise InvalidInputError(
                f"Numbers must be finite, but column '{name}' holds infinity. Leave those "
                "cells empty, or clip them."
            )
    return pd.DataFrame(features, index=frame.index)
