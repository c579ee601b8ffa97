"""The unsure zone of bins: its limits are order statistics, whose bins are looked into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boundshift._guarantees.zone import Zone, zone_of
from boundshift._scores import Scale
from boundshift._typing import BoolArray
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.rules._guarantee import Guarantee
from boundshift.streaming._joint import JointBins
from boundshift.streaming._looks import Passes


def decide_zone(
    bins: JointBins,
    errors: tuple[float, float],
    confidence: float,
    scale: Scale,
    passes: Passes | None = None,
) -> Zone:
    """Return the zone of the rows that were counted.

    Without further `passes` each limit is moved away from the other one, to the end of its bin.
    """
    guarantees = [Guarantee("error", error, 1.0 - confidence, is_cap=True) for error in errors]
    allowed = tuple(
        guarantee.allowed_errors(n, clopper_pearson)
        for guarantee, n in zip(guarantees, bins.n_samples, strict=True)
    )
    if passes is None:
        return _zone_between_bins(bins, errors, confidence, scale, allowed)
    while True:
        doubtful = bins.holding_both_medians() | _holding_limits(bins, allowed)
        if not doubtful.any():
            try:
                zone = zone_of(bins.sample(), errors, confidence, scale, allowed)
                doubtful = bins.holding(zone.low) | bins.holding(zone.high)
            except InvalidInputError:
                doubtful = bins.holding_medians()
                if not doubtful.any():
                    raise
            else:
                if not doubtful.any():
                    return zone
        bins = passes.look_into(bins, doubtful)


def _zone_between_bins(
    bins: JointBins,
    errors: tuple[float, float],
    confidence: float,
    scale: Scale,
    allowed: tuple[int, ...],
) -> Zone:
    """Return the zone of bins whose rows lie as unfavourably as they may.

    So the limits are at most a bin too far apart, and no guarantee is broken.
    """
    badly = bins.badly_separated()
    sample = bins.sample()
    zone = zone_of(badly, errors, confidence, scale, allowed, sample.is_reversed)
    if zone.low == zone.high and bins.holding(zone.low).any():
        raise InvalidInputError(
            "The limits of a zone must stand between two bins of a tally, but both guarantees "
            f"overlap inside the bin at {zone.low:.6g}. Use streaming.scan_zone on the rows, or "
            "allow fewer errors."
        )
    # Inside a bin all rows that may be wrong stand on the far side of a limit.
    low = bins.move_out(zone.low, upwards=True)
    high = bins.move_out(zone.high, upwards=False)
    unsure = [
        float(c.count_at_most(high) - c.count_at_most(low)) / max(c.n, 1) for c in sample.classes
    ]
    return replace(zone, low=low, high=high, unsure=(unsure[0], unsure[1]))


def _holding_limits(bins: JointBins, allowed: tuple[int, ...]) -> BoolArray:
    """Return the open bins with the scores beyond which so many rows of a class lie."""
    negatives, positives = bins.rows
    up_to = np.cumsum(negatives)
    rank = bins.n_samples[0] - 1 - allowed[0]
    holds_high = (up_to > rank) & (up_to - negatives <= rank)
    up_to = np.cumsum(positives)
    holds_low = (up_to > allowed[1]) & (up_to - positives <= allowed[1])
    return np.asarray(bins.is_open & (holds_high | holds_low))
