"""Which class lies above, and the boundary of a problem that was turned around."""

from __future__ import annotations

from dataclasses import replace

from boundshift.result.boundary import Boundary, Status
from boundshift.scores.sample import ScoreSample

__all__ = ["is_reversed", "turned"]


def is_reversed(sample: ScoreSample) -> bool:
    """Return whether the positive class lies below; medians decide, since an outlier may not."""
    negative, positive = sample.negative, sample.positive
    if positive.median == negative.median:
        return positive.mean < negative.mean
    return positive.median < negative.median


def turned(boundary: Boundary) -> Boundary:
    """Return the boundary of the problem with scores negated."""
    (a, b), (c, d) = boundary.supports
    return replace(
        boundary,
        threshold=-boundary.threshold,
        plateau=(-boundary.plateau[1], -boundary.plateau[0]),
        status=Status.REVERSED if boundary.status.solved else boundary.status,
        means=(-boundary.means[0], -boundary.means[1]),
        supports=((-b, -a), (-d, -c)),
    )
