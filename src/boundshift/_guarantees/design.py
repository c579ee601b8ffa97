"""How rows were drawn, and the bounds that fit: clusters, new clusters, known probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._guarantees.certificate import Certificate
from boundshift._guarantees.new_clusters import bound_new_cluster, fewest_clusters
from boundshift._typing import BoolArray, FloatArray, IndexArray
from boundshift._validation import as_clusters, as_pair, as_real_column, is_finite
from boundshift.curves._clusters import bound_mean, cluster_means
from boundshift.exceptions import InvalidInputError


@dataclass(frozen=True)
class Design:
    """How rows were drawn: in whole clusters, or one by one with known probabilities.

    A pair of probabilities is that of rows predicted negative and of rows predicted positive.
    """

    cluster: ArrayLike | None = None
    probability: ArrayLike | None = None
    least_probability: float | None = None

    @property
    def is_plain(self) -> bool:
        """Whether rows came by themselves, all with the same probability."""
        return self.cluster is None and not self.is_drawn

    @property
    def is_drawn(self) -> bool:
        """Whether rows were drawn with known probabilities."""
        return self.probability is not None or self.least_probability is not None

    @property
    def is_by_side(self) -> bool:
        """Whether rows were drawn by their side of the threshold."""
        is_pair = isinstance(self.probability, tuple | list) and len(self.probability) == 2
        return is_pair and self.least_probability is None

    def sides(self) -> tuple[float, float]:
        """Return the probabilities of rows predicted negative and positive."""
        remedy = "Pass (negative, positive), the probability of being drawn on each side, above 0."
        negative, positive = as_pair("probability", self.probability, remedy)
        if max(negative, positive) > 1.0:
            raise InvalidInputError(
                f"must be at most 1 on each side, got {self.probability!r}. {remedy}",
                argument="probability",
            )
        return negative, positive

    def probabilities(self, is_flagged: BoolArray) -> FloatArray:
        """Return the probability with which each row was drawn."""
        if self.is_by_side:
            return np.array(self.sides())[is_flagged.astype(np.intp)]
        remedy = "Pass the probability with which each row was drawn, 1 if all of its kind were."
        if self.probability is None:
            raise InvalidInputError(
                f"must be given with `least_probability`. {remedy}", argument="probability"
            )
        drawn = as_real_column("probability", self.probability, remedy, len(is_flagged))
        least = self._least()
        is_bad = ~((drawn >= least) & (drawn <= 1.0))
        if is_bad.any():
            raise InvalidInputError(
                f"must be from `least_probability`, {least:g}, to 1, got {drawn[is_bad][0]:g}. "
                f"{remedy}",
                argument="probability",
            )
        return drawn

    def ratios(self, is_flagged: BoolArray) -> FloatArray:
        """Return the least drawing probability over that of each row."""
        return np.asarray(self._least() / self.probabilities(is_flagged))

    def _least(self) -> float:
        """Return the least probability that any row had."""
        if self.is_by_side:
            return min(self.sides())
        least = self.least_probability
        if least is None or not is_finite(least) or not 0.0 < least <= 1.0:
            raise InvalidInputError(
                "must be given with `probability`, above 0 and at most 1, got "
                f"{least!r}. Pass the least probability that any row had of being drawn.",
                argument="least_probability",
            )
        return least


def bound_by_design(
    certificate: Certificate,
    design: Design,
    about: str,
    is_positive: BoolArray,
    is_flagged: BoolArray,
) -> Certificate:
    """Return the certificate with the bounds that fit how its rows were drawn."""
    if design.is_by_side:
        return _bound_sides(certificate, *design.sides())

    def by_class(values: NDArray[Any]) -> list[NDArray[Any]]:
        return [values[~is_positive], values[is_positive]]

    is_wrong = by_class(is_flagged != is_positive)
    if design.cluster is not None:
        clusters = by_class(as_clusters(design.cluster, len(is_positive)))
        bound = _bound_new_clusters if about == "new clusters" else _bound_clusters
        return bound(certificate, is_wrong, clusters)
    if design.is_drawn:
        return _bound_drawn(certificate, is_wrong, by_class(design.ratios(is_flagged)))
    return certificate


def _bound_clusters(
    certificate: Certificate, is_wrong: list[BoolArray], ids: list[IndexArray]
) -> Certificate:
    """Return a certificate of the average error rate over clusters."""
    means = [cluster_means(x, of_class) for x, of_class in zip(is_wrong, ids, strict=True)]
    assumption = "clusters are independent, and the rates are averages over them"
    bets = _bet_on_means(certificate, means, [np.ones(len(x)) for x in means], assumption)
    n_clusters = tuple(map(len, means))
    # Single rows are right or wrong as a whole, so counting them is tighter.
    is_single = np.equal(n_clusters, certificate.n_samples)
    return replace(
        bets,
        error_bounds=tuple(
            np.where(is_single, certificate.error_bounds, bets.error_bounds).tolist()
        ),
        lowest_bounds=tuple(
            np.where(is_single, certificate.lowest_bounds, bets.lowest_bounds).tolist()
        ),
        n_clusters=n_clusters,
    )


def _bound_new_clusters(
    certificate: Certificate, is_wrong: list[BoolArray], ids: list[IndexArray]
) -> Certificate:
    """Return a certificate of the error rate that a new cluster will have."""
    delta = certificate.delta
    bounds = []
    lowest_bounds = []
    errors = []
    sizes = []
    for wrong, of_class in zip(is_wrong, ids, strict=True):
        _, cluster, n = np.unique(of_class, return_inverse=True, return_counts=True)
        k = np.bincount(cluster, wrong, minlength=len(n)).astype(np.intp)
        bounds.append(bound_new_cluster(k, n, delta))
        lowest_bounds.append(bound_new_cluster(np.zeros_like(k), n, delta))
        errors.append(float(np.mean(k / n)) if len(n) else math.nan)
        sizes.append(len(n))
    reason = (
        f"{certificate.reason}; a new cluster is drawn like these, as months with a trend are not"
    )
    fewest = fewest_clusters(delta)
    for label, size in zip(certificate.labels, sizes, strict=True):
        if 0 < size < fewest:
            reason += (
                f"; {size} clusters of class {label} support a confidence of at most "
                f"{size / (size + 1):.2g} for a new one: {fewest} are needed"
            )
    return replace(
        certificate,
        error_bounds=tuple(bounds),
        errors=tuple(errors),
        lowest_bounds=tuple(lowest_bounds),
        method="new clusters",
        reason=reason,
        n_clusters=tuple(sizes),
    )


def _bound_drawn(
    certificate: Certificate, is_wrong: list[BoolArray], ratios: list[FloatArray]
) -> Certificate:
    """Return a certificate of rows that were drawn with probabilities of their own."""
    errors = [wrong.astype(np.float64) for wrong in is_wrong]
    assumption = "rows were drawn with the probabilities given"
    return _bet_on_means(certificate, errors, ratios, assumption)


def _bet_on_means(
    certificate: Certificate, values: list[FloatArray], ratios: list[FloatArray], assumption: str
) -> Certificate:
    """Return a certificate whose bounds are bets; see `bound_mean`."""
    delta = certificate.delta
    parts = list(zip(values, ratios, strict=True))
    return replace(
        certificate,
        error_bounds=tuple(bound_mean(x, delta, r) for x, r in parts),
        errors=tuple(float(x @ r / r.sum()) if len(x) else math.nan for x, r in parts),
        lowest_bounds=tuple(bound_mean(np.zeros(len(x)), delta, r) for x, r in parts),
        method="betting",
        reason=f"{certificate.reason}; {assumption}",
    )


def _bound_sides(certificate: Certificate, negative: float, positive: float) -> Certificate:
    """Return a certificate of rows that were drawn by their side of the threshold."""
    # Wrong rows of the negative class are predicted positive, and the other way round.
    odds = (negative / positive, positive / negative)

    def among_all(rates: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(a * r / (a * r + 1.0 - a) for a, r in zip(rates, odds, strict=True))

    return replace(
        certificate,
        error_bounds=among_all(certificate.error_bounds),
        errors=among_all(certificate.errors),
        lowest_bounds=among_all(certificate.lowest_bounds),
        method="drawn",
        reason=f"{certificate.reason}; rows of each side were drawn with the probabilities given",
    )
