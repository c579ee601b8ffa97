"""Records as JSON and back: one codec over the fields of dataclasses and their type hints.

docs/formats.md lists the fields. JSON has no infinity and no NaN, so these are the strings
"Infinity", "-Infinity" and "NaN", which most languages parse as numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from boundshift._scores import ScoreSample
from boundshift._search import ErrorsAt
from boundshift._status import Status
from boundshift.curves import CURVES, SLSQP, Claim, ErrorCurve, Exact
from boundshift.curves._clusters import Betting
from boundshift.exceptions import InvalidInputError
from boundshift.rules import RULES, Rule

_HUGE = 10**300  # Integers of JSON are unbounded; floats are not.
_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_REMEDY = "It was damaged or changed: compute it again and store it with to_json."
_KINDS = {float: "a number", int: "a count", str: "text", bool: "true or false"}
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can carry: tuples are lists, a status is its name.

        Raises
        ------
        InvalidInputError
            If a label is neither a string nor a number nor a boolean.
        """
        return {"format": self._format, "version": self._version, **_encode_fields(self)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the record that :meth:`to_dict` has given; unknown fields are ignored.

        Raises
        ------
        InvalidInputError
            If it is another record, one of another release, or a field is missing or impossible.
        """
        check_format(stored, cls._format, cls._version)
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


class _Unknown:
    """Settings that are kept as stored, since this installation has no class for their name."""

    name = "unknown"
    settings: tuple[tuple[str, Any], ...]

    def _refuse(self) -> InvalidInputError:
        return InvalidInputError(
            f"A stored curve or rule must be one of {', '.join([*CURVES, *RULES])} to be "
            f"evaluated, got {dict(self.settings)!r}. Pass the object of the module that has it."
        )


@dataclass(frozen=True)
class _UnknownCurve(_Unknown, ErrorCurve):
    claim = Claim.NOMINAL
    settings: tuple[tuple[str, Any], ...] = ()

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        raise self._refuse()


@dataclass(frozen=True)
class _UnknownRule(_Unknown, Rule):
    settings: tuple[tuple[str, Any], ...] = ()

    def value(self, negative: Any, positive: Any, n_samples: tuple[float, float]) -> Any:
        raise self._refuse()


def _encode(value: Any, *, as_text: bool = False) -> Any:
    """Return a value as JSON can carry it; as text, if asked for, where it cannot."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, _Unknown):
        return dict(value.settings)
    if isinstance(value, Status):
        return value.name
    if is_dataclass(value) and hasattr(value, "name"):
        # A curve, a rule or a solver, which is found again by its name.
        return {"name": value.name, **_encode_fields(value, as_text=True)}
    if is_dataclass(value):
        return _encode_fields(value, as_text=as_text)
    if isinstance(value, Mapping):
        items = [_encode(item) for item in value.values()]
        return {"labels": [as_label(key) for key in value], "values": items}
    if isinstance(value, tuple | list):
        return [_encode(item, as_text=as_text) for item in value]
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


def _encode_fields(value: Any, *, as_text: bool = False) -> dict[str, Any]:
    return {f.name: _encode(getattr(value, f.name), as_text=as_text) for f in fields(value)}


def as_label(label: Any) -> bool | int | float | str:
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool | int | str) or (isinstance(label, float) and math.isfinite(label)):
        return label
    raise InvalidInputError(
        "Labels and groups must be strings, finite numbers or booleans to be stored as JSON, got "
        f"{str(label)[:100]!r}. Name them by text, for example "
        "dataclasses.replace(boundary, labels=('no', 'yes'))."
    )


def _decode(hint: Any, value: Any, name: str) -> Any:
    """Return the value that was encoded, of this type; raise if it has another type."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return as_label(value)
    if origin in (Union, UnionType):
        *others, last = [member for member in inner if member is not NoneType]
        if value is None and NoneType in inner:
            return None
        for member in others:
            with suppress(InvalidInputError):
                return _decode(member, value, name)
        return _decode(last, value, name)
    if origin is list and isinstance(value, list):
        return [_decode(inner[0], item, name) for item in value]
    if origin is tuple or hasattr(hint, "_fields"):
        parts = inner if origin is tuple else tuple(get_type_hints(hint).values())
        if isinstance(value, list | tuple):
            parts = parts[:1] * len(value) if parts[-1:] == (Ellipsis,) else parts
            if len(parts) == len(value):
                found = [_decode(*pair, name) for pair in zip(parts, value, strict=True)]
                return tuple(found) if origin is tuple else hint(*found)
    elif origin is dict and isinstance(value, Mapping) and set(value) == {"labels", "values"}:
        keys = _decode(list[Any], value["labels"], name)
        values = _decode(list[inner[1]], value["values"], name)  # type: ignore[valid-type]
        if len(keys) == len(values) == len(set(keys)):
            return dict(zip(keys, values, strict=True))
    elif origin is Literal:
        if value in inner:
            return value
    elif hint in (str, bool):
        if isinstance(value, hint):
            return value
    elif hint in (float, int):  # a count may be a sum of weights
        if isinstance(value, str) and hint is float and value in _WORDS:
            return _WORDS[value]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _HUGE:
            return hint(value)
        if isinstance(value, float) and (hint is float or math.isfinite(value)):
            return value
    elif hint is Status:
        if isinstance(value, str) and value in Status.__members__:
            return Status[value]
    elif isinstance(hint, type):
        if issubclass(hint, ErrorCurve):
            return _restore(name, value, CURVES | {Betting.name: Betting}, _UnknownCurve)
        if issubclass(hint, Rule):
            return _restore(name, value, RULES, _UnknownRule)
        if issubclass(hint, Record):
            return hint.from_dict(value)
        return _decode_fields(hint, value, name)
    raise _refuse(name, _KINDS.get(hint, f"of the type {hint}"), value)


def _decode_fields(cls: type[Any], stored: Any, name: str) -> Any:
    """Return the dataclass of stored fields; a record may lack those that have a default."""
    known = {f.name: f for f in fields(cls)}
    may_lack = issubclass(cls, Record)
    needed = [name for name, f in known.items() if f.default is MISSING or not may_lack]
    if not isinstance(stored, Mapping) or set(needed) - set(stored):
        raise _refuse(name, f"an object with the fields {', '.join(needed)}", stored)
    hints = get_type_hints(cls)
    return cls(**{n: _decode(hints[n], stored[n], n) for n in known if n in stored})


def _refuse(name: str, rule: str, value: Any) -> InvalidInputError:
    shown = name if name.startswith("A ") else f"'{name}'"
    return InvalidInputError(f"{shown} must be {rule}, got {str(value)[:100]!r}. {_REMEDY}")


def _restore(name: str, stored: Any, known: Mapping[str, type], unknown: type) -> Any:
    if not isinstance(stored, Mapping) or not isinstance(stored.get("name"), str):
        raise _refuse(name, "a name with its settings", stored)
    if stored["name"] not in known or stored["name"] == "metric":
        return unknown(tuple(stored.items()))
    cls: Any = known[stored["name"]]
    taken = {f.name for f in fields(cls)} & set(stored)
    try:
        return cls(**{key: _restore_setting(stored[key]) for key in taken})
    except TypeError as error:
        raise _refuse(name, f"the settings of {cls.__name__} ({error})", stored) from None


def _restore_setting(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, Mapping):
        return value
    if value.get("name") in _SOLVERS:
        return _SOLVERS[value["name"]](**{k: v for k, v in value.items() if k != "name"})
    if value.get("name") in RULES:
        return _restore("then", value, RULES, _UnknownRule)
    if set(value) == {"labels", "values"}:
        return dict(zip(value["labels"], value["values"], strict=True))
    return value


def read_json(text: str | bytes, what: str) -> Any:
    """Return what JSON text holds; raise a sentence about `what` if it is none."""
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


def check_format(given: Any, name: str, version: int, needed: tuple[str, ...] = ()) -> None:
    """Raise unless `given` is a record of that name and version, with all its fields."""
    if not isinstance(given, Mapping) or given.get("format") != name:
        got = given.get("format") if isinstance(given, Mapping) else type(given).__name__
        raise InvalidInputError(
            f"The record must have 'format': {name!r}, got {got!r}. "
            "Pass what boundshift.save or to_dict has written."
        )
    found = given.get("version")
    if found != version or isinstance(found, bool):
        raise InvalidInputError(
            f"'version' of a {name} must be {version} for this release, got {found!r}. Write it "
            "again with this release, or upgrade boundshift to read a newer one."
        )
    missing = [field for field in needed if field not in given]
    if missing:
        raise InvalidInputError(
            f"A {name} must have the fields {', '.join(needed)}; missing: {', '.join(missing)}. "
            f"{_REMEDY}"
        )
