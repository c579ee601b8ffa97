"""A boundary as plain values that JSON can carry, and back; docs/formats.md has the fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from boundshift.curves import CURVES, SLSQP, Claim, ErrorCurve, Exact, SupportRadius
from boundshift.exceptions import InvalidInputError
from boundshift.paper import SupportGeometry
from boundshift.result.json_values import as_label, as_numbers, check_format, from_numbers
from boundshift.rules import RULES, Rule
from boundshift.scores.sample import ScoreSample
from boundshift.search.found import ErrorsAt
from boundshift.status import Status

__all__ = ["UnknownCurve", "UnknownRule", "from_stored", "to_stored"]

_FORMAT = "boundshift.boundary"
_VERSION = 2
_PAIR = (0.0, 0.0)
# Fields of numbers, and what each is like.
_NUMBERS: dict[str, Any] = {
    "threshold": 0.0,
    "errors": _PAIR,
    "wrong": (0, 0),
    "loss": 0.0,
    "n_samples": (0, 0),
    "plateau": _PAIR,
    "resolution": 0.0,
}
_GEOMETRY: dict[str, Any] = {
    "deltas": _PAIR,
    "log_deltas": _PAIR,
    "means": _PAIR,
    "radii": _PAIR,
    "confidence_radii": _PAIR,
    "supports": (_PAIR, _PAIR),
    "slack": (0, 0),
}
_SOLVERS = {"exact": Exact, "slsqp": SLSQP}


@dataclass(frozen=True)
class UnknownCurve(ErrorCurve):
    """Stands for a stored curve that this installation does not know; it claims nothing."""

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
    """Stands for a stored rule that this installation does not know; it has no value."""

    name = "unknown"

    settings: tuple[tuple[str, Any], ...] = ()

    def value(self, negative: Any, positive: Any, n_samples: tuple[float, float]) -> Any:
        """Raise: the formula is not known here."""
        raise InvalidInputError(
            f"A stored rule must be one of {', '.join(RULES)} to be evaluated, got "
            f"{dict(self.settings)!r}. Import the module that defines it and pass its object."
        )


def to_stored(boundary: Any) -> dict[str, Any]:
    """Return a boundary as plain values."""
    geometry = boundary.geometry
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "labels": [as_label(label) for label in boundary.labels],
        "status": boundary.status.name,
        "curve": _settings(boundary.curve),
        "rule": _settings(boundary.rule),
        **{name: as_numbers(getattr(boundary, name)) for name in _NUMBERS},
        "detail": boundary.detail,
        "scale": boundary.scale,
        "geometry": geometry and {name: as_numbers(getattr(geometry, name)) for name in _GEOMETRY},
    }


def from_stored(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the boundary that `to_stored` was given."""
    check_format(stored, _FORMAT, _VERSION, ())
    if stored["version"] == 1:
        stored = _from_version_1(stored)
    check_format(
        stored, _FORMAT, _VERSION, ("labels", "status", "curve", "rule", "geometry", *_NUMBERS)
    )
    labels, status, geometry = stored["labels"], stored["status"], stored["geometry"]
    if stored["threshold"] == "NaN" or stored["threshold"] != stored["threshold"]:
        raise InvalidInputError(
            "'threshold' must be a number, got NaN. Find the boundary again and store it."
        )
    if not isinstance(labels, list | tuple) or len(labels) != 2:
        raise InvalidInputError(f"'labels' must be two labels, got {labels!r}.")
    if not isinstance(status, str) or status not in Status.__members__:
        known = ", ".join(Status.__members__)
        raise InvalidInputError(f"'status' must be one of {known}, got {status!r}.")
    return {
        "labels": (as_label(labels[0]), as_label(labels[1])),
        "status": Status[status],
        "curve": _restore("curve", stored["curve"], CURVES, UnknownCurve),
        "rule": _restore("rule", stored["rule"], RULES, UnknownRule),
        **_numbers(stored, _NUMBERS),
        "geometry": None if geometry is None else SupportGeometry(**_numbers(geometry, _GEOMETRY)),
        "detail": str(stored.get("detail", "")),
        "scale": _read_scale(stored.get("scale", "raw")),
    }


def _read_scale(stored: Any) -> str:
    """Return the scale on which a boundary was decided."""
    if stored not in ("raw", "probability"):
        raise InvalidInputError(f"'scale' must be 'raw' or 'probability', got {stored!r}.")
    return str(stored)


def _numbers(stored: Any, like: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of numbers of a stored record."""
    if not isinstance(stored, Mapping) or set(like) - set(stored):
        raise InvalidInputError(
            f"'geometry' must have the fields {', '.join(like)}, got {stored!r}. "
            "Store the boundary again with to_dict or boundshift.save."
        )
    return {name: from_numbers(name, stored[name], kind) for name, kind in like.items()}


def _settings(claim: Any) -> dict[str, Any]:
    """Return a curve, a rule or a solver as its name and its settings."""
    if isinstance(claim, UnknownCurve | UnknownRule):
        return dict(claim.settings)
    values = {f.name: getattr(claim, f.name) for f in fields(claim)}
    return {"name": claim.name, **{name: _plain(value) for name, value in values.items()}}


def _plain(value: Any) -> Any:
    """Return a setting as JSON can carry it; what it cannot carry, as text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, tuple) and any(isinstance(item, str) for item in value):
        return [as_label(item) for item in value]
    if isinstance(value, int | float | tuple):
        return as_numbers(value)
    if isinstance(value, Mapping):
        return {
            "labels": [as_label(k) for k in value],
            "values": [as_numbers(v) for v in value.values()],
        }
    if hasattr(value, "name") and hasattr(value, "__dataclass_fields__"):
        return _settings(value)
    return repr(value)


def _restore(what: str, stored: Any, known: Mapping[str, type], unknown: type) -> Any:
    """Return the curve or the rule of stored settings."""
    if not isinstance(stored, Mapping) or not isinstance(stored.get("name"), str):
        raise InvalidInputError(
            f"'{what}' must be a name with its settings, got {stored!r}. "
            "Store the boundary again with to_dict or boundshift.save."
        )
    settings = {name: _thawed(value) for name, value in stored.items() if name != "name"}
    if stored["name"] not in known or stored["name"] == "metric":
        return unknown(tuple(stored.items()))
    cls = known[stored["name"]]
    taken = {f.name for f in fields(cls)}
    return cls(**{name: value for name, value in settings.items() if name in taken})


def _thawed(value: Any) -> Any:
    """Return a setting as its object has it."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, Mapping) and value.get("name") in _SOLVERS:
        rest = {name: inner for name, inner in value.items() if name != "name"}
        return _SOLVERS[value["name"]](**rest)
    if isinstance(value, Mapping) and value.get("name") in RULES:
        return _restore("then", value, RULES, UnknownRule)
    if isinstance(value, Mapping) and set(value) == {"labels", "values"}:
        return dict(zip(value["labels"], value["values"], strict=True))
    return value


def _from_version_1(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of version 1 as one of version 2.

    It named the curve without its settings and gave every curve the paper's quantities; they are
    kept for the paper's method only. Its status BALANCED is no more.
    """
    shared = [name for name in _NUMBERS if name not in ("errors", "wrong")]
    check_format(stored, _FORMAT, _VERSION, ("bound", "rule", "error_bounds", *shared, *_GEOMETRY))
    if not isinstance(stored["bound"], str) or not isinstance(stored["rule"], str):
        raise InvalidInputError(
            f"'bound' and 'rule' must be names, got {stored['bound']!r} and {stored['rule']!r}."
        )
    is_paper = stored["bound"] == SupportRadius.name and stored["rule"] == "sum"
    status = "OPTIMAL" if stored.get("status") == "BALANCED" else stored.get("status")
    if status == "RELAXED" and not is_paper:
        status = "OPTIMAL"
    rule = {"name": stored["rule"]}
    if stored["rule"] == "neyman-pearson":
        rule = {"name": "floors of version 1"}
    return {
        **stored,
        "curve": {"name": stored["bound"]},
        "rule": rule,
        "status": status,
        "errors": stored["error_bounds"],
        "wrong": stored["slack"],
        "geometry": {name: stored[name] for name in _GEOMETRY} if is_paper else None,
    }
