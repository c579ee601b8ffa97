"""Records as JSON and back: one codec over the fields of dataclasses and their type hints.

docs/reference/file_formats.md lists the fields. JSON has no infinity and no NaN, so these are
the strings "Infinity", "-Infinity" and "NaN", which most languages parse as numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from boundshift._scores import ScoreSample
from boundshift._search import ErrorsAt
from boundshift._typing import Label
from boundshift.curves import CURVES, Claim, ErrorCurve
from boundshift.curves._clusters import Betting
from boundshift.exceptions import InvalidInputError
from boundshift.rules import RULES, Rule

MOST_ROWS = 10**15
"""More rows than this are not believed."""
_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_REMEDY = "It was damaged or changed: compute it again and store it with to_json."
_KNOWN: dict[str, type[ErrorCurve | Rule]] = {**CURVES, Betting.name: Betting, **RULES}
"""Name → class of curves and rules."""


Json: TypeAlias = Any
"""A value as `json.loads` returns it."""
_Hint: TypeAlias = Any
"""The type of a field, such as ``tuple[float, ...]``."""


class Metadata(dict[str, bool | int | float | str]):
    """What users note about a record, by name; an object of JSON."""

    @classmethod
    def of(cls, notes: Mapping[str, object]) -> Self:
        """Return notes; raise if JSON cannot carry one."""
        return cls({name: as_label(value) for name, value in notes.items()})


class Record:
    """A dataclass that can be stored as JSON.

    Examples
    --------
    >>> import boundshift
    >>> labels = ["a", "a", "a", "b", "b"]
    >>> boundary = boundshift.find_boundary(labels, [0, 1, 2, 5, 6], pos_label="b")
    >>> stored = boundary.to_dict()
    >>> stored["format"], stored["version"], stored["labels"], stored["curve"]
    ('boundshift.boundary', 2, ['a', 'b'], {'name': 'blend', 'prior_rows': 10.0})
    >>> boundshift.Boundary.from_json(boundary.to_json()) == boundary
    True
    """

    _format: ClassVar[str]
    _version: ClassVar[int] = 1

    def to_dict(self) -> dict[str, Json]:
        """Return plain values that JSON can carry: tuples are lists, a status is its name.

        Labels must be strings, numbers or booleans.
        """
        return {"format": self._format, "version": self._version, **_encode_fields(self)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """Return the record that :meth:`to_dict` has given; unknown fields are ignored.

        A record is refused if it is another one or of another version, if a field is missing or of
        another kind, if a value is impossible, or if it does not follow from the others.
        """
        needed = [f.name for f in fields(cls) if f.default is MISSING]  # type: ignore[arg-type]
        check_format(stored, cls._format, cls._version, tuple(needed))
        record: Self = _decode_fields(cls, stored)
        try:
            record._check_values()
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInputError):
                raise
            raise InvalidInputError(
                f"The values of a {cls._format} must fit together, but they do not ({error}). "
                f"{_REMEDY}"
            ) from None
        return record

    def _check_values(self) -> None:
        """Raise if values that were read are impossible or contradict each other."""

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text that any language can read."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the record that :meth:`to_json` has written."""
        return cls.from_dict(read_json(text, f"A {cls._format}"))


def require(condition: object, name: str, rule: str, value: object) -> None:
    """Raise unless a field that was read keeps its rule."""
    if not condition:
        raise InvalidInputError(f"'{name}' must {rule}, got {str(value)[:100]}. {_REMEDY}")


def require_share(name: str, value: float) -> None:
    require(0.0 < value < 1.0, name, "be between 0 and 1", value)


def require_classes(labels: Sequence[Label], lists: Mapping[str, Sequence[object] | None]) -> None:
    """Raise unless there are two or more distinct labels, and each list has one value for each."""
    is_distinct = len(labels) >= 2 and len(set(labels)) == len(labels)
    require(is_distinct, "labels", "be two or more different ones", labels)
    for name, values in lists.items():
        n_values = len(labels) if values is None else len(values)
        require(n_values == len(labels), name, "have one value for each label", values)


def require_counts(name: str, counts: Sequence[float], most: Sequence[float] | None = None) -> None:
    """Raise unless all are numbers of rows, each at most that of another list."""
    for k, count in enumerate(counts):
        limit = MOST_ROWS if most is None else most[k]
        require(0 <= count <= limit, name, f"be from 0 to {limit:,}", counts)


@dataclass(frozen=True)
class _Unknown(ErrorCurve, Rule):
    """A curve or rule kept as stored, since this installation has no class for its name."""

    name = "unknown"
    claim = Claim.NOMINAL
    settings: tuple[tuple[str, Json], ...] = ()

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        raise InvalidInputError(
            f"A stored curve or rule must be one of {', '.join(_KNOWN)} to be evaluated, got "
            f"{dict(self.settings)!r}. Pass the object of the module that has it."
        )

    def value(self, negative: Any, positive: Any, n_samples: tuple[float, float]) -> Any:
        return self.errors(None)  # type: ignore[arg-type]


def _encode(value: object) -> Json:
    """Return a value as JSON can carry it."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, _Unknown):
        return dict(value.settings)
    if isinstance(value, ErrorCurve | Rule):
        return _encode_settings(value)
    if is_dataclass(value):
        return _encode_fields(value)
    if isinstance(value, Metadata):
        return dict(value)
    if isinstance(value, Mapping):
        items = [_encode(item) for item in value.values()]
        return {"labels": [as_label(key) for key in value], "values": items}
    if isinstance(value, tuple | list):
        return [_encode(item) for item in value]
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        return json.dumps(float(value))
    return None if value is None else as_label(value)


def _encode_fields(value: Any) -> dict[str, Json]:
    return {f.name: _encode(getattr(value, f.name)) for f in fields(value)}


def _encode_settings(claim: ErrorCurve | Rule) -> dict[str, Json]:
    """Return a curve or a rule by its name and its settings; as text if JSON cannot carry one."""
    settings: dict[str, Json] = {"name": claim.name}
    for each in fields(claim):
        value = getattr(claim, each.name)
        try:
            settings[each.name] = _encode(value)
        except InvalidInputError:
            settings[each.name] = repr(value)
    return settings


def as_label(label: object) -> bool | int | float | str:
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, StrEnum):
        return label.value
    if isinstance(label, bool | int | str) or (isinstance(label, float) and math.isfinite(label)):
        return label
    raise InvalidInputError(
        "Labels and notes must be strings, finite numbers or booleans to be stored as JSON, got "
        f"{str(label)[:100]!r}. Name them by text, for example "
        "dataclasses.replace(boundary, labels=('no', 'yes'))."
    )


def _decode_fields(cls: _Hint, stored: Json) -> Any:
    hints = get_type_hints(cls)
    given = {f.name: stored[f.name] for f in fields(cls) if f.name in stored}
    return cls(**{name: _decode(hints[name], value, name) for name, value in given.items()})


def _decode(hint: _Hint, value: Json, name: str) -> Any:
    """Return the value that was encoded, of this type; raise if it is of another kind."""
    try:
        return _parse(hint, value, name)
    except InvalidInputError:
        raise
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        kind = getattr(hint, "__name__", hint)
        raise InvalidInputError(
            f"'{name}' must be of the type {kind}, got {str(value)[:100]!r} ({error}). {_REMEDY}"
        ) from None


def _parse(hint: _Hint, value: Json, name: str) -> Any:
    """Return a value of the type that a hint names; raise any error if it is of another kind."""
    origin: object = get_origin(hint)
    if hint is Any:
        return as_label(value)
    if origin in (Union, UnionType):
        return _parse_union(get_args(hint), value, name)
    if origin in (list, tuple, dict) or hasattr(hint, "_fields"):
        return _parse_container(hint, value, name)
    if origin is Literal:
        choices = get_args(hint)
        return choices[choices.index(value)]
    if hint in (float, int):
        return _parse_number(hint, value)
    if hint in (str, bool):
        if not isinstance(value, hint):
            raise TypeError("another type")
        return value
    return _parse_object(hint, value)


def _parse_union(members: Sequence[_Hint], value: Json, name: str) -> Any:
    """Return a value of the first type of a union that it fits."""
    *others, last = [member for member in members if member is not NoneType]
    if value is None and NoneType in members:
        return None
    for member in others:
        with suppress(InvalidInputError):
            return _decode(member, value, name)
    return _decode(last, value, name)


def _parse_container(hint: _Hint, value: Json, name: str) -> Any:
    """Return a list, a tuple, a named tuple, or a mapping from labels."""
    origin: object = get_origin(hint)
    inner = get_args(hint)
    if origin is list:
        return [_decode(inner[0], item, name) for item in value]
    if origin is dict:
        items = [_decode(inner[1], item, name) for item in value["values"]]
        decoded = dict(zip(map(as_label, value["labels"]), items, strict=True))
        if len(decoded) < len(items):
            raise ValueError("a label occurs twice")
        return decoded
    parts = inner if origin is tuple else tuple(get_type_hints(hint).values())
    if parts[-1] is Ellipsis:
        parts = parts[:1] * len(value)
    decoded_parts = [_decode(*pair, name) for pair in zip(parts, value, strict=True)]
    return tuple(decoded_parts) if origin is tuple else hint(*decoded_parts)


def _parse_number(hint: _Hint, value: Json) -> float:
    if hint is float and isinstance(value, str):
        return _WORDS[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("no number")
    return float(value) if hint is float else value  # a count may be a sum of weights


def _parse_object(hint: _Hint, value: Json) -> Any:
    """Return a status, a curve, a rule, a record, or another dataclass."""
    if issubclass(hint, StrEnum):
        return hint(value)
    if issubclass(hint, Metadata):
        return hint.of(value)
    if issubclass(hint, ErrorCurve | Rule):
        restored = _restore(value)
        if not isinstance(restored, hint):
            raise TypeError(f"not a {hint.__name__}")
        return restored
    if issubclass(hint, Record):
        return hint.from_dict(value)
    return _decode_fields(hint, value)


def _restore(stored: Json) -> ErrorCurve | Rule:
    """Return the curve or rule of a name and its settings."""
    if stored["name"] not in _KNOWN or stored["name"] == "metric":
        return _Unknown(tuple(stored.items()))
    cls = _KNOWN[stored["name"]]
    taken = {f.name for f in fields(cls)} & set(stored)
    return cls(**{key: _restore_setting(stored[key]) for key in taken})


def _restore_setting(value: Json) -> Any:
    if isinstance(value, Mapping):
        if "name" in value:
            return _restore(value)
        return dict(zip(value["labels"], value["values"], strict=True))
    return tuple(value) if isinstance(value, list) else value


def read_json(text: str | bytes, what: str) -> Json:
    """Return what JSON text holds; raise a sentence about `what` if it is none."""
    try:
        return json.loads(text)
    except (RecursionError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{what} must be JSON text, got what cannot be read: {str(error)[:200]}. Pass what "
            "boundshift has written."
        ) from None


def check_format(given: Json, name: str, version: int, needed: tuple[str, ...] = ()) -> None:
    """Raise unless `given` is a record of that name and version, with all its fields."""
    if not isinstance(given, Mapping) or given.get("format") != name:
        got = given.get("format") if isinstance(given, Mapping) else type(given).__name__
        raise InvalidInputError(
            f"The record must have 'format': {name!r}, got {got!r}. "
            "Pass what boundshift.save or to_dict has written."
        )
    if given.get("version") != version:
        raise InvalidInputError(
            f"'version' of a {name} must be {version} for this release, got "
            f"{given.get('version')!r}. Write it again with this release, or upgrade boundshift to "
            "read a newer one."
        )
    missing = [field for field in needed if field not in given]
    if missing:
        raise InvalidInputError(
            f"A {name} must have the fields {', '.join(needed)}; missing: {', '.join(missing)}. "
            f"{_REMEDY}"
        )
