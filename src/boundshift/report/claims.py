"""What is certified and what is nominal, claim by claim."""

from __future__ import annotations

from typing import Any

from boundshift.curves import as_curve
from boundshift.promises.certificate import Certificate
from boundshift.report.verdict import Source
from boundshift.result.boundary import Boundary
from boundshift.view.words import Names, at_most, percent

__all__ = ["collect_claims"]


def collect_claims(
    shifted: Certificate,
    baseline: Certificate,
    boundary: Boundary,
    source: Source,
    origin: str,
    names: Names,
) -> list[dict[str, Any]]:
    """Return each claim of the report with its status and the reason for it."""
    bounds = [
        _bound(certificate, i, model, names)
        for certificate, model in ((shifted, "shifted model"), (baseline, "model as it was"))
        for i in (1, 0)
    ]
    return [*bounds, _rates(source, origin), _slider(source, origin), _method(boundary, names)]


def _claim(claim: str, status: str, reason: str) -> dict[str, Any]:
    return {"claim": claim, "status": status, "reason": reason}


def _bound(certificate: Certificate, i: int, model: str, names: Names) -> dict[str, Any]:
    """State one bound of one class."""
    verb = ("flags", "misses")[i]
    phrase = (names.negatives, names.positives)[i]
    claim = (
        f"The {model} {verb} at most {at_most(certificate.error_bounds[i])} of {phrase} "
        f"({100 * certificate.confidence:.6g}% confidence; {certificate.wrong[i]:,} of "
        f"{certificate.n_samples[i]:,} seen)"
    )
    return _claim(claim, certificate.status, f"{certificate.reason}.")


def _rates(source: Source, origin: str) -> dict[str, Any]:
    """State what the observed error rates are worth."""
    claim = "The observed error rates, and the table of methods if it was made from the same rows"
    if source == "test":
        return _claim(claim, "estimate", "Fair guesses: these rows were used for nothing else.")
    reason = "The boundary was chosen on these rows, so they flatter it."
    if origin == "training":
        reason = "The model was trained on these rows, and the boundary chosen on them."
    return _claim(claim, "nominal", reason)


def _slider(source: Source, origin: str) -> dict[str, Any]:
    """State what the bounds beside the slider are worth."""
    claim = "The bounds beside the slider, wherever it stands"
    if source == "deciding" and origin == "training":
        return _claim(claim, "nominal", "The model was trained on these rows.")
    reason = "They hold for all thresholds together, so one may be chosen by looking at them."
    return _claim(claim, "certified", reason)


def _method(boundary: Boundary, names: Names) -> dict[str, Any]:
    """State what the method itself claims, which only decides."""
    flagged, missed = boundary.error_bounds
    claim = (
        f"The method's own bounds, which placed the boundary: {percent(missed)} of "
        f"{names.positives} missed, {percent(flagged)} of {names.negatives} flagged"
    )
    kind = as_curve(boundary.bound).claim.value
    reason = f"{kind} They decided where the boundary goes; quote the certified ones instead."
    return _claim(claim, "nominal", reason)
