"""What is certified, what is cross-fitted and what is nominal, claim by claim."""

from __future__ import annotations

from typing import Any

from boundshift.promises.certificate import Certificate, Scores
from boundshift.report.verdict import JudgedOn
from boundshift.result.boundary import Boundary
from boundshift.view.words import Names, at_most, claim_text, error_text

__all__ = ["collect_claims"]


def collect_claims(
    shifted: Certificate,
    old: Certificate,
    boundary: Boundary,
    judged_on: JudgedOn,
    origin: Scores,
    names: Names,
) -> list[dict[str, Any]]:
    """Return each claim of the report with its status and the reason for it."""
    bounds = [
        _bound(certificate, i, model, names)
        for certificate, model in ((shifted, "shifted model"), (old, "model as it was"))
        for i in (1, 0)
    ]
    # The paper's claimed errors say nothing without its geometry, which stands among the details.
    method = [] if boundary.geometry else [_method(boundary, names)]
    return [*bounds, _rates(judged_on, origin), _slider(shifted), *method]


def _claim(claim: str, status: str, reason: str) -> dict[str, Any]:
    return {"claim": claim, "status": status, "reason": reason}


def _bound(certificate: Certificate, i: int, model: str, names: Names) -> dict[str, Any]:
    """State one bound of one class."""
    verb = ("flags", "misses")[i]
    phrase = (names.negatives, names.positives)[i]
    claim = (
        f"The {model} {verb} at most {at_most(certificate.error_bounds[i])} of {phrase} in the "
        "long run "
        f"({100 * certificate.confidence:.6g}% confidence; {certificate.wrong[i]:,} of "
        f"{certificate.n_samples[i]:,} seen)"
    )
    return _claim(claim, certificate.status, f"{certificate.reason}.")


def _rates(judged_on: JudgedOn, origin: Scores) -> dict[str, Any]:
    """State what the observed error rates are worth."""
    claim = "The observed error rates, and the table of methods if it was made from the same rows"
    if judged_on == "test":
        return _claim(claim, "estimate", "Fair estimates: these rows were used for nothing else.")
    reason = "The boundary was chosen on these rows, so they flatter it."
    if origin == "training":
        reason = "The model was trained on these rows, and the boundary chosen on them."
    return _claim(claim, "nominal", reason)


def _slider(certificate: Certificate) -> dict[str, Any]:
    """State what the bounds beside the slider are worth."""
    claim = "The bounds beside the slider, wherever it stands"
    reason = "They hold for all thresholds together, so one may be chosen by looking at them."
    if certificate.status == "nominal":
        reason = "The model was trained on these rows."
    if certificate.status == "cross-fitted":
        reason = "They are about the models of the folds, for all thresholds together."
    return _claim(claim, certificate.status, reason)


def _method(boundary: Boundary, names: Names) -> dict[str, Any]:
    """State what the curve itself claims, which only decides."""
    flagged, missed = boundary.errors
    claim = (
        f"The errors by which the boundary was placed: {error_text(missed)} of {names.positives} "
        f"missed, {error_text(flagged)} of {names.negatives} flagged"
    )
    reason = f"{claim_text(boundary)} It decided where the boundary goes; quote the bounds above."
    return _claim(claim, "nominal", reason)
