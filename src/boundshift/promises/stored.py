"""A certificate as plain values that JSON can carry, and back; docs/formats.md has the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from boundshift.exceptions import InvalidInputError
from boundshift.promises.certificate import Certificate
from boundshift.result.json_values import as_label, as_numbers, check_format

__all__ = ["certificate_from_dict", "certificate_to_dict"]

_FORMAT, _VERSION = "boundshift.certificate", 1


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
        return Certificate(**values)
    except TypeError as error:
        raise InvalidInputError(
            f"A {_FORMAT} must have all fields of a Certificate, got {', '.join(values)} "
            f"({error}). Certify again."
        ) from error


def _thawed(name: str, value: Any) -> Any:
    """Return a field as its record has it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_thawed(name, item) for item in value)
    is_number = name != "labels" and value in ("NaN", "Infinity", "-Infinity")
    return float(value) if is_number else value
