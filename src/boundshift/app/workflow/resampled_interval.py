"""Where a boundary may fall, found anew on rows drawn again, if that takes seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boundshift.curves import ErrorCurve
    from boundshift.rules import Rule
    from boundshift.scores import Scale, ScoreSample

__all__ = ["MOST_ROWS", "resampled_interval"]

MOST_ROWS = 20_000
"""With more rows the interval would take longer than about three seconds."""
_RESAMPLES = 100


def resampled_interval(
    sample: ScoreSample,
    curve: str | ErrorCurve | None,
    rule: str | Rule | None,
    scale: Scale = "raw",
) -> tuple[float, float] | None:
    """Return the interval of the threshold on a sample; None if there are too many rows.

    Examples
    --------
    >>> from boundshift.scores import ScoreSample
    >>> sample = ScoreSample.from_labels([0, 0, 0, 1, 1], [0.0, 1.0, 2.0, 5.0, 6.0])
    >>> low, high = resampled_interval(sample, "kth-point", None)
    >>> low < 3.5 < high
    True
    """
    import numpy as np

    from boundshift.promises.interval import threshold_interval

    if sum(sample.n_samples) > MOST_ROWS:
        return None
    is_positive, scores = np.repeat([False, True], sample.n_samples), sample.to_rows()[1]
    return threshold_interval(
        is_positive,
        scores,
        curve=curve,
        rule=rule,
        n_resamples=_RESAMPLES,
        random_state=0,
        scale=scale,
    )
