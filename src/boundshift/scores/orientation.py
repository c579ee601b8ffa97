"""Which class lies above."""

from __future__ import annotations

from boundshift.scores.sample import ScoreSample

__all__ = ["is_reversed"]


def is_reversed(sample: ScoreSample) -> bool:
    """Return whether the positive class lies below; medians decide, since an outlier may not."""
    negative, positive = sample.negative, sample.positive
    if positive.median == negative.median:
        return positive.mean < negative.mean
    return positive.median < negative.median
