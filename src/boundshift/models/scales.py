"""Scores of fold models on one scale.

Models that were fitted on different parts of the same rows may score on scales of their own: naive
Bayes, whose variances are small by chance, or machines and networks that nothing holds back. Their
test parts are samples of the same rows, so that equal models would spread them equally.

Only wild differences are mended: on public data, stretching every fold to one spread gained nothing
on average (``lab/evidence/fold_scales.py``), and :mod:`boundshift.models.nested` undoes what harms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boundshift.typing import FloatArray

__all__ = ["find_factors", "spread"]


# How many times wider one fold may be than another, beyond what chance makes of few rows.
_WILD, _CHANCE = 10.0, 4.0


def find_factors(parts: Sequence[FloatArray]) -> tuple[float, ...] | None:
    """Return what to multiply each fold's scores by, or None if they are on one scale as it is.

    Parameters
    ----------
    parts : sequence of arrays of shape (n_samples,) or (n_samples, n_classes)
        The scores of each fold's test part.

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(size=(2, 500))
    >>> find_factors(scores) is None
    True
    >>> np.round(find_factors([scores[0], 100 * scores[0]]), 1).tolist()
    [10.0, 0.1]
    """
    widths = np.array([spread(part) for part in parts])
    if len(widths) < 2 or not (widths > 0).all() or not np.isfinite(widths).all():
        return None
    logs = np.log(widths)
    fewest = min(len(part) for part in parts)
    if np.ptp(logs) <= np.log(_WILD) + _CHANCE / np.sqrt(fewest):
        return None
    return tuple(np.exp(logs.mean() - logs).tolist())


def spread(scores: FloatArray) -> float:
    """Return the range of the middle four fifths; of many classes, about the mean of each row."""
    if scores.ndim == 2:
        scores = scores - np.nanmean(scores, axis=1, keepdims=True)
    known = scores[~np.isnan(scores)]
    if not known.size:
        return 0.0
    low, high = np.quantile(known, [0.1, 0.9])
    return float(high - low)
