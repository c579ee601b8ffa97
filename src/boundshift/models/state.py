"""A fitted classifier's state as plain values, so that a file of it holds no type of ours.

Safe formats know numbers, strings, arrays and scikit-learn's estimators. A record becomes a dict
with its class's name under "record"; a dict with tuples as keys, which JSON cannot have, a list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from boundshift.models.response import Response
from boundshift.models.version_1 import upgrade, upgrade_certificate
from boundshift.promises.certificate import Certificate
from boundshift.result.boundary import Boundary

__all__ = ["pack", "unpack"]

_PLAIN: dict[str, Any] = {"Certificate": Certificate, "Response": Response}


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
    state = upgrade(state)
    unpacked = {name: _unpack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        unpacked["boundaries_"] = {(i, j): _unpack_record(b) for i, j, b in state["boundaries_"]}
    return unpacked


def _pack_record(value: Any) -> Any:
    if isinstance(value, Boundary):
        return _pack_boundary(value)
    if isinstance(value, tuple(_PLAIN.values())):
        return {"record": type(value).__name__} | vars(value)
    return value


def _unpack_record(value: Any) -> Any:
    if not isinstance(value, dict) or "record" not in value:
        return value
    fields = {name: field for name, field in value.items() if name != "record"}
    if value["record"] == "Boundary":
        return _unpack_boundary(fields)
    if value["record"] == "Certificate":
        fields = upgrade_certificate(fields)
    return _PLAIN[value["record"]](**fields)


def _pack_boundary(boundary: Boundary) -> dict[str, Any]:
    """Return a boundary as JSON has it, and beside it what JSON cannot have."""
    stored = replace(boundary, labels=(0, 1)).to_dict()
    restored = Boundary.from_dict(stored)
    own: dict[str, Any] = {"labels": boundary.labels}
    for name in ("curve", "rule"):
        if getattr(restored, name) != getattr(boundary, name):  # somebody's own class
            own[name] = getattr(boundary, name)
    return {"record": "Boundary", "stored": stored, "own": own}


def _unpack_boundary(fields: dict[str, Any]) -> Boundary:
    return replace(Boundary.from_dict(fields["stored"]), **fields["own"])
