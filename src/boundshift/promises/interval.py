"""How variable a boundary is: a bootstrap interval of the threshold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boundshift.boundary import find_boundary
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.scores.sample import ScoreSample
from boundshift.validation import as_share

__all__ = ["threshold_interval"]


def threshold_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    n_resamples: int = 200,
    random_state: int | np.random.Generator | None = None,
    **options: Any,
) -> tuple[float, float]:
    """Return where the threshold would fall had other rows of the same kind been drawn.

    Rows are drawn anew within each class, as often as there are of it, and the boundary is found
    again; the interval holds the middle share of the thresholds. The model is not refitted, so
    the interval says nothing about the model's own variability.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        As in :func:`~boundshift.find_boundary`.
    confidence : float, default=0.95
        Share of the thresholds inside.
    pos_label : label, default=None
        The positive class; None takes the greater label.
    n_resamples : int, default=200
        Number of draws, at least 2.
    random_state : int, Generator or None, default=None
        Seed of the draws.
    **options : dict
        Passed to :func:`~boundshift.find_boundary`.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, s = np.repeat([0, 1], [500, 20]), rng.normal(size=520)
    >>> low, high = threshold_interval(y, s + 3 * y, random_state=0)
    >>> round(low, 1), round(high, 1)
    (1.5, 2.2)
    """
    share = as_share("confidence", confidence)
    if not isinstance(n_resamples, int | np.integer) or n_resamples < 2:
        raise InvalidInputError(
            f"`n_resamples` must be a whole number of at least 2, got {n_resamples!r}. Use 200."
        )
    sample = ScoreSample.from_labels(y_true, y_score, pos_label)
    random = np.random.default_rng(random_state)
    classes = [
        np.ldexp(c.at(np.arange(c.n)), sample.exponent) for c in (sample.negative, sample.positive)
    ]
    labels = np.repeat([0, 1], sample.n_samples)
    thresholds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        for _ in range(n_resamples):
            drawn = np.concatenate([random.choice(c, len(c)) for c in classes])
            thresholds.append(find_boundary(labels, drawn, **options).threshold)
    low, high = np.quantile(thresholds, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)
