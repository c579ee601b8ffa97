"""A fitted classifier's state as plain values, so that a file of it holds no type of ours.

Safe formats know numbers, strings, arrays and scikit-learn's estimators. A record becomes a dict
with its class's name under "record"; a dict with tuples as keys, which JSON cannot have, a list.
"""

from __future__ import annotations

from typing import Any

from boundshift.models.response import Response
from boundshift.promises.certificate import Certificate
from boundshift.result.boundary import Boundary, Status

__all__ = ["pack", "unpack"]

_RECORDS: dict[str, Any] = {cls.__name__: cls for cls in (Boundary, Certificate, Response)}


def pack(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state with plain values in place of records.

    Examples
    --------
    >>> pack({"_response": Response("margin")})["_response"]
    {'record': 'Response', 'method': 'margin', 'floor': None, 'is_log_odds': False}
    """
    packed = {name: _pack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        packed["boundaries_"] = [(*k, _pack_record(b)) for k, b in state["boundaries_"].items()]
    return packed


def unpack(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state that `pack` was given.

    Examples
    --------
    >>> unpack(pack({"_response": Response("margin")}))["_response"]
    Response(method='margin', floor=None, is_log_odds=False)
    """
    state = _upgrade(state)
    unpacked = {name: _unpack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        unpacked["boundaries_"] = {(i, j): _unpack_record(b) for i, j, b in state["boundaries_"]}
    return unpacked


def _upgrade(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a first version's file as today's; its scores may be no log-odds."""
    if "_method" not in state:
        return state
    state = {name: value for name, value in state.items() if name != "keep_balanced"}
    state["_response"] = state["_response"] | {"method": state.pop("_method")}
    return state


def _pack_record(value: Any) -> Any:
    if not isinstance(value, tuple(_RECORDS.values())):
        return value
    fields = {k: v.name if isinstance(v, Status) else v for k, v in vars(value).items()}
    return {"record": type(value).__name__} | fields


def _unpack_record(value: Any) -> Any:
    if not isinstance(value, dict) or value.get("record") not in _RECORDS:
        return value
    fields = {k: v for k, v in value.items() if k != "record"}
    if value["record"] == "Boundary":
        fields["status"] = Status[fields["status"]]
    return _RECORDS[value["record"]](**fields)
