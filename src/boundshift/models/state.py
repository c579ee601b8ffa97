"""A fitted classifier's state as plain values, so that a file of it holds no type of ours.

Safe formats know numbers, strings, arrays and scikit-learn's estimators. A record becomes a dict
with its class's name under "record"; a dict with tuples as keys, which JSON cannot have, a list.
"""

from __future__ import annotations

from typing import Any

from boundshift.models.response import Response
from boundshift.promises.certificate import Certificate
from boundshift.result.boundary import Boundary
from boundshift.status import Status

__all__ = ["pack", "unpack"]

_RECORDS: dict[str, Any] = {cls.__name__: cls for cls in (Boundary, Certificate, Response)}


def pack(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state with plain values in place of records.

    Examples
    --------
    >>> pack({"_response": Response((0.5, 0.25))})
    {'_response': {'record': 'Response', 'floor': (0.5, 0.25)}}
    """
    packed = {name: _pack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        packed["boundaries_"] = [(*k, _pack_record(b)) for k, b in state["boundaries_"].items()]
    return packed


def unpack(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state that `pack` was given.

    Examples
    --------
    >>> unpack(pack({"_response": Response((0.5, 0.25))}))["_response"].floor
    (0.5, 0.25)
    """
    unpacked = {name: _unpack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        unpacked["boundaries_"] = {(i, j): _unpack_record(b) for i, j, b in state["boundaries_"]}
    return unpacked


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
