"""A model card by skops, with the certificate and the rows that decided."""

from __future__ import annotations

from typing import Any

from boundshift.classifier import BoundShiftClassifier
from boundshift.exceptions import InvalidInputError, MissingExtraError

__all__ = ["model_card"]


def model_card(model: BoundShiftClassifier) -> Any:
    """Return a card of skops that says how the boundary was found and what is known there.

    Parameters
    ----------
    model : BoundShiftClassifier
        Fitted.

    Returns
    -------
    skops.card.Card
        With the sections "Decision boundary" and "Certificate"; ``card.save("README.md")`` writes
        it, and ``card.add(...)`` adds what only you know, such as the intended use.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift import BoundShiftClassifier
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> card = model_card(BoundShiftClassifier(LogisticRegression()).fit(X, y))
    >>> "status: cross-fitted" in card.render()
    True
    """
    try:
        from skops.card import Card
    except ImportError:
        raise MissingExtraError("skops", "files") from None
    if not isinstance(model, BoundShiftClassifier) or not hasattr(model, "classes_"):
        raise InvalidInputError(
            f"`model` must be a fitted BoundShiftClassifier, got {type(model).__name__}. "
            "Fit it first."
        )
    certificate = model.certificate_
    card = Card(model)
    card.add(
        **{
            "Decision boundary": _boundary_text(model),
            "Certificate": f"status: {certificate.status}\n\n{certificate}",
        }
    )
    return card


def _boundary_text(model: BoundShiftClassifier) -> str:
    """Return how the boundary was found, as Markdown."""
    if len(model.classes_) == 2:
        boundary = model.boundary_
        rows = " and ".join(
            f"{n:g} of {label!r}"
            for n, label in zip(boundary.n_samples, boundary.labels, strict=True)
        )
        return (
            f"Threshold {boundary.threshold:.6g} on the score of {boundary.labels[1]!r}, by the "
            f"curve {boundary.curve!r} and the rule {boundary.rule!r}. Rows that decided: {rows}. "
            f"{boundary.message}"
        )
    biases = ", ".join(
        f"{label!r}: {bias:.6g}"
        for label, bias in zip(model.classes_.tolist(), model.biases_.tolist(), strict=True)
    )
    rows = ", ".join(map(str, model.certificate_.n_samples))
    return f"One bias for each class: {biases}. Rows that decided, class by class: {rows}."
