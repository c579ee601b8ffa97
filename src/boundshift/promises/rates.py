"""What a certificate says where decisions are made: precision, alarms, cost and net benefit."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

from boundshift.curves.uniform import clopper_pearson, uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.validation import as_positive, as_share

__all__ = ["Prevalence", "RateBounds", "bound_rates"]

Prevalence = float | tuple[int, int] | None


@dataclass(frozen=True)
class RateBounds:
    """Bounds that hold together, with the confidence of the certificate that they come from.

    Parameters
    ----------
    precision : float
        Of the rows called positive, at least this share is.
    npv : float
        Of the rows called negative, at least this share is.
    flagged : float
        At most this share of all rows is called positive.
    cost : float
        At most what errors cost for each row, in units of what was given.
    net_benefit : float
        At least this much is won for each row, in true positives: each false positive counts
        against it by the ratio of the costs.
    prevalence : tuple of float
        Between which the share of the positive class lies; equal if it was given.
    confidence : float
        Of all of them together.
    status : {"certified", "cross-fitted", "nominal"}
        That of the certificate.
    """

    precision: float
    npv: float
    flagged: float
    cost: float
    net_benefit: float
    prevalence: tuple[float, float]
    confidence: float
    status: str


def bound_rates(
    wrong: tuple[int, ...],
    n_samples: tuple[int, ...],
    confidence: float,
    *,
    chosen_here: bool,
    status: str,
    prevalence: Prevalence = None,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
) -> RateBounds:
    """Bound what depends on the prevalence, from counts of two classes (negative, positive).

    See :meth:`boundshift.Certificate.rates`.
    """
    if len(n_samples) != 2:
        raise InvalidInputError(
            f"`rates` must have a certificate of two classes, got {len(n_samples)}. Certify one "
            "class against the rest."
        )
    as_positive("false_positive", false_positive, "Use 1.")
    as_positive("false_negative", false_negative, "Use 1.")
    if prevalence is None and not chosen_here:
        costs = (false_positive, false_negative)
        return _count_directly(wrong, n_samples, confidence, costs=costs, status=status)
    counted = _read_prevalence(prevalence, n_samples)
    # Each error from above, misses from below, and both ends of a counted prevalence.
    delta = (1.0 - confidence) / (3 if isinstance(counted, float) else 5)

    def most(count: int, n: int) -> float:
        if n == 0:
            return 1.0
        return float((uniform_bound if chosen_here else clopper_pearson)(count, n, delta))

    alarms, misses = most(wrong[0], n_samples[0]), most(wrong[1], n_samples[1])
    hits = most(n_samples[1] - wrong[1], n_samples[1])
    if isinstance(counted, float):
        low = high = counted
    else:
        positive, rows = counted
        low = 1.0 - float(clopper_pearson(rows - positive, rows, delta))
        high = float(clopper_pearson(positive, rows, delta))
    found, cleared = low * (1.0 - misses), (1.0 - high) * (1.0 - alarms)
    ends = (low, high)  # what is linear in the prevalence is worst at one of them
    odds = false_positive / false_negative
    return RateBounds(
        precision=_share(found, (1.0 - low) * alarms),
        npv=_share(cleared, high * misses),
        flagged=max(p * hits + (1.0 - p) * alarms for p in ends),
        cost=max(p * misses * false_negative + (1.0 - p) * alarms * false_positive for p in ends),
        net_benefit=min(p * (1.0 - misses) - odds * (1.0 - p) * alarms for p in ends),
        prevalence=ends,
        confidence=confidence,
        status=status,
    )


def _count_directly(
    wrong: tuple[int, ...],
    n_samples: tuple[int, ...],
    confidence: float,
    *,
    costs: tuple[float, float],
    status: str,
) -> RateBounds:
    """Bound the same for rows drawn as they come, in which each share can be counted by itself."""
    rows, positive = sum(n_samples), n_samples[1]
    false_alarms, missed = wrong
    found = positive - missed
    flagged = found + false_alarms
    # Both shares among rows that are called alike, the share flagged, those of false alarms and
    # misses from above and of what is found from below, and both ends of the prevalence.
    delta = (1.0 - confidence) / 8

    def most(count: int, n: int) -> float:
        return float(clopper_pearson(count, n, delta))

    alarms = most(false_alarms, rows)
    return RateBounds(
        precision=1.0 - most(false_alarms, flagged),
        npv=1.0 - most(missed, rows - flagged),
        flagged=most(flagged, rows),
        cost=costs[0] * alarms + costs[1] * most(missed, rows),
        net_benefit=1.0 - most(rows - found, rows) - costs[0] / costs[1] * alarms,
        prevalence=(1.0 - most(rows - positive, rows), most(positive, rows)),
        confidence=confidence,
        status=status,
    )


def _share(part: float, other: float) -> float:
    """Return a part's share of both, 0 where nothing is shown."""
    return part / (part + other) if part > 0.0 else 0.0


def _read_prevalence(prevalence: Prevalence, n_samples: tuple[int, ...]) -> float | tuple[int, int]:
    """Return a prevalence that is known, or rows in which it was counted."""
    if prevalence is None:
        return n_samples[1], sum(n_samples)
    if not isinstance(prevalence, tuple):
        return as_share("prevalence", prevalence, "Use 0.02, or (positives, rows) as counted.")
    whole = len(prevalence) == 2 and all(isinstance(k, numbers.Integral) for k in prevalence)
    if not whole or not 0 <= prevalence[0] <= prevalence[1] or prevalence[1] < 1:
        raise InvalidInputError(
            "`prevalence` must be a share, or (positives, rows) as counted where decisions are "
            f"made, got {prevalence!r}. Use (12, 800), for example."
        )
    return int(prevalence[0]), int(prevalence[1])
