"""Records as JSON and back: one codec over the fields of dataclasses and their type hints.

docs/formats.md lists the fields. JSON has no infinity and no NaN, so these are the strings
"Infinity", "-Infinity" and "NaN", which most languages parse as numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from boundshift.curves import CURVES, SLSQP, Claim, ErrorCurve, Exact
from boundshift.exceptions import InvalidInputError
from boundshift.rules import RULES, Rule
from boundshift.scores import ScoreSample
from boundshift.search import ErrorsAt
from boundshift.status import Status

__all__ = [
    "Record",
    "UnknownCurve",
    "UnknownRule",
    "as_label",
    "check_format",
    "decode",
    "encode",
    "read_json",
]

_HUGE = 10**300  # Integers of JSON are unbounded; floats are not.
_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_REMEDY = "It was damaged or changed: compute it again and store it with to_json."
_SOLVERS = {"exact": Exact, "slsqp": SLSQP}


class Record:
    """A dataclass that can be stored as JSON.

    Examples
    --------
    >>> import boundshift
    >>> boundary = boundshift.find_boundary(["a", "a", "a", "b", "b"], [0, 1, 2, 5, 6])
    >>> stored = boundary.to_dict()
    >>> stored["format"], stored["version"], stored["labels"], stored["curve"]
    ('boundshift.boundary', 2, ['a', 'b'], {'name': 'blend', 'rows': 10.0})
    >>> boundshift.Boundary.from_json(boundary.to_json()) == boundary
    True
    """

    _format: ClassVar[str]
    _version: ClassVar[int] = 1
    _oldest: ClassVar[int] = 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can carry: tuples are lists, a status is its name.

        Raises
        ------
        InvalidInputError
            If a label is neither a string nor a number nor a boolean.
        """
        return {"format": self._format, "version": self._version, **encode(self, fields_only=True)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the record that :meth:`to_dict` has given; unknown fields are ignored.

        Raises
        ------
        InvalidInputError
            If it is another record, one of another release, or a field is missing or impossible.
        """
        check_format(stored, cls._format, cls._version, oldest=cls._oldest)
        found: Self = _decode_fields(cls, stored, f"A {cls._format}")
        wrong = found._impossible()
        if wrong:
            raise InvalidInputError(
                f"'{wrong}' of a {cls._format} cannot be {str(stored.get(wrong))[:100]}. {_REMEDY}"
            )
        return found

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text that any language can read."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the record that :meth:`to_json` has written."""
        return cls.from_dict(read_json(text, f"A {cls._format}"))

    def _impossible(self) -> str | None:
        """Return the name of the first field with an impossible value."""
        return None


@dataclass(frozen=True)
class UnknownCurve(ErrorCurve):
    """A stored curve that this installation does not know; it claims nothing."""

    claim = Claim.NOMINAL
    name = "unknown"

    settings: tuple[tuple[str, Any], ...] = ()

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Raise: the formula is not known here."""
        raise InvalidInputError(
            f"A stored curve must be one of {', '.join(CURVES)} to be drawn, got "
            f"{dict(self.settings)!r}. Import the module that defines it and pass its object."
        )


@dataclass(frozen=True)
class UnknownRule(Rule):
    """A stored rule that this installation does not know; it has no value."""

    name = "unknown"

    settings: tuple[tuple[str, Any], ...] = ()

    def value(self, negative: Any, positive: Any, n_samples: tuple[float, float]) -> Any:
        """Raise: the formula is not known here."""
        raise InvalidInputError(
            f"A stored rule must be one of {', '.join(RULES)} to be evaluated, got "
            f"{dict(self.settings)!r}. Import the module that defines it and pass its object."
        )


def encode(value: Any, *, fields_only: bool = False, as_text: bool = False) -> Any:
    """Return a value as JSON can carry it.

    Parameters
    ----------
    value : object
        A record, a curve or rule, a number, a label, or tuples of these.
    fields_only : bool, default=False
        Return the fields of a record without its format and version.
    as_text : bool, default=False
        Return what JSON cannot carry, such as a function, as text. Otherwise refuse it.

    Examples
    --------
    >>> encode((1.5, (float("inf"), 2)))
    [1.5, ['Infinity', 2]]
    """
    if isinstance(value, Record) and not fields_only:
        return value.to_dict()
    if isinstance(value, UnknownCurve | UnknownRule):
        return dict(value.settings)
    if isinstance(value, Status):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        # Curves, rules and solvers have a name, by which they are found again.
        name = {"name": value.name} if hasattr(value, "name") else {}
        as_text = as_text or bool(name)
        values = {f.name: getattr(value, f.name) for f in fields(value)}
        return name | {key: encode(item, as_text=as_text) for key, item in values.items()}
    if isinstance(value, Mapping):
        items = [encode(item) for item in value.values()]
        return {"labels": [as_label(key) for key in value], "values": items}
    if isinstance(value, tuple | list):
        return [encode(item, as_text=as_text) for item in value]
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None:
        return None
    try:
        return as_label(value)
    except InvalidInputError:
        if as_text:
            return repr(value)
        raise


def as_label(label: Any) -> bool | int | float | str:
    """Return a label as JSON can carry it."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool | int | str) or (isinstance(label, float) and math.isfinite(label)):
        return label
    raise InvalidInputError(
        "Labels and groups must be strings, finite numbers or booleans to be stored as JSON, got "
        f"{str(label)[:100]!r}. Name them by text, for example "
        "dataclasses.replace(boundary, labels=('no', 'yes'))."
    )


def decode(hint: Any, value: Any, name: str) -> Any:
    """Return the value of a type hint that `encode` was given; raise if it has another type.

    Examples
    --------
    >>> decode(tuple[float, int], ["Infinity", 2], "limits")
    (inf, 2)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return as_label(value)
    if origin in (Union, UnionType):
        if value is None and NoneType in inner:
            return None
        return _decode_union([member for member in inner if member is not NoneType], value, name)
    if origin in (tuple, list) or hasattr(hint, "_fields"):
        return _decode_items(hint, value, name)
    if origin is Literal:
        if value in inner:
            return value
        raise _refuse(name, f"one of {', '.join(map(repr, inner))}", value)
    if hint in (str, bool):
        if isinstance(value, hint):
            return value
        raise _refuse(name, "text" if hint is str else "true or false", value)
    if hint in (float, int):
        return _decode_number(hint, value, name)
    if hint is Status:
        if isinstance(value, str) and value in Status.__members__:
            return Status[value]
        raise _refuse(name, f"one of {', '.join(Status.__members__)}", value)
    if issubclass(hint, ErrorCurve | Rule):
        return _restore(name, value, ErrorCurve if issubclass(hint, ErrorCurve) else Rule)
    return hint.from_dict(value) if issubclass(hint, Record) else _decode_fields(hint, value, name)


def _decode_fields(cls: type[Any], stored: Any, name: str) -> Any:
    """Return the dataclass of stored fields; a record may lack those that have a default."""
    known = {f.name: f for f in fields(cls)}
    may_lack = issubclass(cls, Record)
    needed = [name for name, f in known.items() if f.default is MISSING or not may_lack]
    if not isinstance(stored, Mapping) or set(needed) - set(stored):
        raise _refuse(name, f"an object with the fields {', '.join(needed)}", stored)
    hints = get_type_hints(cls)
    return cls(**{n: decode(hints[n], stored[n], n) for n in known if n in stored})


def _decode_union(members: list[Any], value: Any, name: str) -> Any:
    """Return the value of the first type that it has."""
    for member in members[:-1]:
        try:
            return decode(member, value, name)
        except InvalidInputError:
            continue
    return decode(members[-1], value, name)


def _decode_items(hint: Any, value: Any, name: str) -> Any:
    """Return a tuple, a list or a named tuple."""
    inner = tuple(get_type_hints(hint).values()) if hasattr(hint, "_fields") else get_args(hint)
    is_open = get_origin(hint) is list or inner[-1:] == (Ellipsis,)
    if not isinstance(value, list | tuple) or not (is_open or len(value) == len(inner)):
        raise _refuse(name, "a list" if is_open else f"a list of {len(inner)} values", value)
    hints = inner[:1] * len(value) if is_open else inner
    found = [decode(part, item, name) for part, item in zip(hints, value, strict=True)]
    if hasattr(hint, "_fields"):
        return hint(*found)
    return found if get_origin(hint) is list else tuple(found)


def _decode_number(kind: type, value: Any, name: str) -> Any:
    """Return a number; sums of weights may stand where rows are counted."""
    if isinstance(value, str) and kind is float and value in _WORDS:
        return _WORDS[value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _HUGE:
        return kind(value)
    if isinstance(value, float) and (kind is float or math.isfinite(value)):
        return value
    raise _refuse(name, "a number" if kind is float else "a count", value)


def _refuse(name: str, rule: str, value: Any) -> InvalidInputError:
    shown = name if name.startswith("A ") else f"'{name}'"
    return InvalidInputError(f"{shown} must be {rule}, got {str(value)[:100]!r}. {_REMEDY}")


def _restore(name: str, stored: Any, kind: type) -> Any:
    """Return the curve or the rule of stored settings."""
    if not isinstance(stored, Mapping) or not isinstance(stored.get("name"), str):
        raise _refuse(name, "a name with its settings", stored)
    known: Mapping[str, type] = CURVES if kind is ErrorCurve else RULES
    if stored["name"] not in known or stored["name"] == "metric":
        unknown = UnknownCurve if kind is ErrorCurve else UnknownRule
        return unknown(tuple(stored.items()))
    cls: Any = known[stored["name"]]
    taken = {f.name for f in fields(cls)} & set(stored)
    try:
        return cls(**{key: _restore_setting(stored[key]) for key in taken})
    except TypeError as error:
        raise _refuse(name, f"the settings of {cls.__name__} ({error})", stored) from None


def _restore_setting(value: Any) -> Any:
    """Return a setting of a curve or a rule."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, Mapping) and value.get("name") in _SOLVERS:
        return _SOLVERS[value["name"]](**{k: v for k, v in value.items() if k != "name"})
    if isinstance(value, Mapping) and value.get("name") in RULES:
        return _restore("then", value, Rule)
    if isinstance(value, Mapping) and set(value) == {"labels", "values"}:
        return dict(zip(value["labels"], value["values"], strict=True))
    return value


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


def check_format(
    given: Any, name: str, version: int, needed: tuple[str, ...] = (), *, oldest: int = 1
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
    missing = [field for field in needed if field not in given]
    if missing:
        raise InvalidInputError(
            f"A {name} must have the fields {', '.join(needed)}; missing: {', '.join(missing)}. "
            f"{_REMEDY}"
        )
