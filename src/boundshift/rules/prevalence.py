"""How frequent both classes are where decisions are made."""

from __future__ import annotations

from boundshift.validation import as_share

__all__ = ["as_prevalence", "frequencies"]


def as_prevalence(value: object) -> float | None:
    """Return the share of the positive class where decisions are made, None for the sample's."""
    if value is None:
        return None
    return as_share("prevalence", value, "Use 0.001 for one in a thousand, None for the sample's.")


def frequencies(prevalence: float | None, n_samples: tuple[float, float]) -> tuple[float, float]:
    """Return the weights of the negative and the positive class, which need not sum to 1."""
    return n_samples if prevalence is None else (1.0 - prevalence, prevalence)
