"""The boundary of a rule on two error curves, as a record."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from boundshift.curves import ErrorCurve
from boundshift.curves.support import SupportRadius
from boundshift.support.decide import fall_back
from boundshift.scores.orientation import is_reversed, turned
from boundshift.result.boundary import Boundary, Status
from boundshift.rules import Rule
from boundshift.scores.sample import OrderedScores, ScoreSample
from boundshift.search.minimum import Found, find_minimum
from boundshift.support.levels import Support, SupportProblem

__all__ = ["minimise"]

Pair = tuple[float, float]


def minimise(sample: ScoreSample, curve: ErrorCurve, rule: Rule, fallback: str | float) -> Boundary:
    """Return the boundary at the rule's minimum on the curves."""
    if rule.is_balanced and sample.positive.median < sample.negative.median:
        return turned(minimise(sample.reversed(), curve, rule, fallback))
    found = find_minimum(curve, rule, sample)
    if isinstance(curve, SupportRadius) and found.errors == (1.0, 1.0):
        problem = SupportProblem(sample, Support())
        return replace(fall_back(sample, problem, fallback), bound=curve.name, rule=rule.name)
    return _claim(sample, curve, rule, found)


def _claim(sample: ScoreSample, curve: ErrorCurve, rule: Rule, found: Found) -> Boundary:
    """Put what was found into a record; points on the wrong side count as given up."""
    t, units = found.threshold, sample.to_units
    wrong = (
        sample.negative.n - int(sample.negative.count_at_most(t)),
        int(sample.positive.count_at_most(t)),
    )
    kept = (
        _Kept.below(sample.negative, t),
        _Kept.below(sample.positive.mirrored(), -t).mirrored(),
    )
    log_deltas = (kept[0].log_delta, kept[1].log_delta)
    if not np.isnan(curve.delta):
        log_deltas = (float(np.log(curve.delta)),) * 2
    return Boundary(
        threshold=units(t),
        status=_status(sample, wrong) if rule.met(*found.errors) else Status.UNMET,
        deltas=(float(np.exp(log_deltas[0])), float(np.exp(log_deltas[1]))),
        error_bounds=found.errors,
        loss=found.value,
        slack=wrong,
        n_samples=sample.n_samples,
        labels=sample.labels,
        log_deltas=log_deltas,
        means=(units(kept[0].mean), units(kept[1].mean)),
        radii=(units(kept[0].radius), units(kept[1].radius)),
        confidence_radii=(units(abs(t - kept[0].mean)), units(abs(t - kept[1].mean))),
        supports=(
            (units(kept[0].support[0]), units(kept[0].support[1])),
            (units(kept[1].support[0]), units(kept[1].support[1])),
        ),
        plateau=(units(found.plateau[0]), units(found.plateau[1])),
        bound=curve.name,
        rule=rule.name,
    )


def _status(sample: ScoreSample, wrong: tuple[int, int]) -> Status:
    """Return what is to be said about a boundary from curves other than the paper's."""
    negative, positive = sample.negative, sample.positive
    if negative.median == positive.median and positive.mean <= negative.mean:
        return Status.CHANCE
    if is_reversed(sample):
        return Status.REVERSED
    if min(sample.n_samples) == 1:
        return Status.LONE_ROW
    return Status.RELAXED if any(wrong) else Status.OPTIMAL


class _Kept(NamedTuple):
    """The points of a class below a boundary, and ln δ of the paper's radius that ends there."""

    support: Pair
    mean: float
    radius: float
    log_delta: float

    @classmethod
    def below(cls, scores: OrderedScores, t: float) -> _Kept:
        """Describe what is kept if the points above are given up; everything, if all are."""
        kept = int(scores.count_at_most(t)) or scores.n
        edge = float(scores.at(kept - 1))
        sums = scores.sums_from(kept - 1)
        inward = float(sums(np.array([kept]))[0] - sums(np.array([0]))[0]) / kept
        radius, support = max(-inward, 0.0), (scores.minimum, edge)
        distance = max(t - edge, 0.0)
        if distance == 0.0 or radius == 0.0:  # on the edge nothing is claimed; one point is certain
            return cls(support, edge + inward, radius, -np.inf if distance else 0.0)
        u = math.sqrt(kept) * (distance / radius)
        return cls(support, edge + inward, radius, -0.5 * u * u)

    def mirrored(self) -> _Kept:
        """Return the same for scores whose sign is changed."""
        low, high = self.support
        return self._replace(support=(-high, -low), mean=-self.mean)
