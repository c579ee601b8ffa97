"""How variable a boundary is: a bootstrap interval of the threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boundshift.boundary import choose_claims, make_decision
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule
from boundshift.scores.sample import ClassScores, ScoreSample
from boundshift.validation import as_share

__all__ = ["threshold_interval"]


def threshold_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    confidence: float = 0.95,
    *,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    pos_label: object = None,
    n_resamples: int = 200,
    random_state: int | np.random.Generator | None = None,
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
    curve, rule, pos_label
        As in :func:`~boundshift.find_boundary`.
    n_resamples : int, default=200
        Number of draws, at least 2.
    random_state : int, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, s = np.repeat([0, 1], [500, 20]), rng.normal(size=520)
    >>> low, high = threshold_interval(y, s + 3 * y, random_state=0)
    >>> round(low, 1), round(high, 1)
    (1.4, 2.0)
    """
    share = as_share("confidence", confidence)
    if not isinstance(n_resamples, int | np.integer) or n_resamples < 2:
        raise InvalidInputError(
            f"`n_resamples` must be a whole number of at least 2, got {n_resamples!r}. Use 200."
        )
    alike = choose_claims(curve, rule)[1].alike
    sample = ScoreSample.from_labels(y_true, y_score, pos_label, alike=alike)
    random = np.random.default_rng(random_state)
    decide = make_decision(curve, rule)
    classes = [c.at(np.arange(c.n)) for c in (sample.negative, sample.positive)]
    thresholds = []
    for _ in range(n_resamples):
        low, high = (ClassScores(np.sort(random.choice(c, len(c)))) for c in classes)
        resampled = ScoreSample(low, high, sample.exponent, sample.labels)
        thresholds.append(decide(resampled).threshold)
    ends = np.quantile(thresholds, [(1 - share) / 2, (1 + share) / 2])
    return float(ends[0]), float(ends[1])
