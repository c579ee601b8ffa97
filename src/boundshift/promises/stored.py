"""A certificate as plain values that JSON can carry, and back; docs/formats.md has the fields."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

from boundshift.exceptions import InvalidInputError
from boundshift.promises.certificate import Certificate, CertificateStatus
from boundshift.result.json_values import as_label, as_numbers, check_format

__all__ = ["certificate_from_dict", "certificate_to_dict"]

_FORMAT, _VERSION = "boundshift.certificate", 1
_HUGE = 10**300  # Whole numbers of JSON have no end, and a float has.


def certificate_to_dict(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as plain values.

    Examples
    --------
    >>> from boundshift import certify
    >>> certificate = certify([0, 0, 1], [0.1, 0.2, 0.9], 0.5)
    >>> certificate_from_dict(certificate_to_dict(certificate)) == certificate
    True
    """
    stored: dict[str, Any] = {"format": _FORMAT, "version": _VERSION}
    for name, value in ((f.name, getattr(certificate, f.name)) for f in fields(certificate)):
        if name == "labels":
            stored[name] = [as_label(label) for label in value]
        else:
            is_number = isinstance(value, tuple | float)
            stored[name] = as_numbers(value) if is_number else value
    return stored


def certificate_from_dict(stored: Mapping[str, Any]) -> Certificate:
    """Return the certificate of plain values."""
    check_format(stored, _FORMAT, _VERSION, ())
    known = {f.name for f in fields(Certificate)}
    values = {name: _thawed(name, value) for name, value in stored.items() if name in known}
    try:
        certificate = Certificate(**values)
    except TypeError as error:
        raise InvalidInputError(
            f"A {_FORMAT} must have all fields of a Certificate, got {', '.join(values)} "
            f"({error}). Certify again."
        ) from error
    wrong = _find_wrong(certificate)
    if wrong:
        raise InvalidInputError(
            f"'{wrong}' of a {_FORMAT} cannot be {str(values[wrong])[:100]}. It was damaged or "
            "changed: certify again."
        )
    return certificate


def _find_wrong(given: Certificate) -> str | None:
    """Return the first field that no certificate has, None if all can be."""
    labels = given.labels
    if not isinstance(labels, tuple) or len(labels) < 2 or not all(map(_is_label, labels)):
        return "labels"
    if len(set(labels)) < len(labels):
        return "labels"
    for name in ("error_bounds", "errors", "floors", "wrong", "n_samples"):
        values = getattr(given, name)
        if not isinstance(values, tuple) or len(values) != len(labels):
            return name
        most = math.inf if name in ("wrong", "n_samples") else 1
        # The error of a class without rows is unknown.
        if not all(_is_number(v) and (0 <= v <= most or name == "errors") for v in values):
            return name
    if any(k > n * (1 + 1e-9) for k, n in zip(given.wrong, given.n_samples, strict=True)):
        return "wrong"
    if not _is_number(given.confidence) or not 0 < given.confidence < 1:
        return "confidence"
    if given.threshold is not None and not (
        _is_number(given.threshold) and math.isfinite(given.threshold)
    ):
        return "threshold"
    if given.scale not in (None, "raw", "probability"):
        return "scale"
    texts = {"method": str, "reason": str, "joint": bool}
    for name, kind in texts.items():
        if not isinstance(getattr(given, name), kind):
            return name
    return None if given.status in get_args(CertificateStatus) else "status"


def _is_label(value: Any) -> bool:
    return isinstance(value, bool | int | float | str) and value == value


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that a float holds."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (isinstance(value, float) or abs(value) < _HUGE)
    )


def _thawed(name: str, value: Any) -> Any:
    """Return a field as its record has it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_thawed(name, item) for item in value)
    is_number = name != "labels" and value in ("NaN", "Infinity", "-Infinity")
    return float(value) if is_number else value
