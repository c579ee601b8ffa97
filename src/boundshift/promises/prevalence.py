r"""How frequent the positive class is among new rows whose labels are not known.

If only the frequency of the classes changes, and not what rows of a class look like, new scores
are a mixture of the two classes' scores, and the share of the positive one can be estimated. If
something else changes, no share explains the new scores; that is reported, not adapted to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from boundshift.exceptions import InvalidInputError
from boundshift.typing import FloatArray
from boundshift.validation import as_generator, as_rows, as_scores, as_share

__all__ = ["PrevalenceEstimate", "estimate_prevalence", "guard_prevalence"]


# Steps of Newton's method, and the longest one: scores are standardised.
_STEPS, _LONGEST = 40, 2.0
# Keeps the slope finite where the classes do not overlap.
_RIDGE = 0.01


@dataclass(frozen=True)
class PrevalenceEstimate:
    """The share of the positive class among new rows, and whether it can be believed.

    Parameters
    ----------
    prevalence : float
        The estimate.
    interval : pair of float
        Where the true share lies, with the stated confidence, if `fit_p_value` does not speak
        against the estimate.
    known_prevalence : float
        Share of the positive class among the labelled rows.
    shift_p_value : float
        Of the test that both shares are the same; small if there is a shift.
    fit_p_value : float
        Of the test that the new scores are a mixture of both classes' scores; small if something
        else has changed than the share of the classes.
    n_samples : tuple of int
        Labelled rows of the (negative, positive) class.
    n_new : int
        New rows.
    confidence : float
        Of the interval.
    standard_error : float
        Of the estimate.
    """

    prevalence: float
    interval: tuple[float, float]
    known_prevalence: float
    shift_p_value: float
    fit_p_value: float
    n_samples: tuple[int, int]
    n_new: int
    confidence: float
    standard_error: float

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"Among {self.n_new} new rows {self.prevalence:.4g} are positive, between {low:.4g} "
            f"and {high:.4g} at {self.confidence:.4g}; among the labelled ones "
            f"{self.known_prevalence:.4g}. That nothing has shifted has the p-value "
            f"{self.shift_p_value:.3g}; that only the share of the classes has, "
            f"{self.fit_p_value:.3g}."
        )


class _Shares(NamedTuple):
    """The positive class's share among labelled rows, and its estimate among new ones."""

    known: float
    found: float
    # How much more likely the new scores are at the estimate than at the known share: a logarithm.
    gain: float


class _Sample(NamedTuple):
    """Scores of both classes and of new rows, each sorted."""

    negative: FloatArray
    positive: FloatArray
    new: FloatArray


def estimate_prevalence(
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_score_new: ArrayLike,
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    n_resamples: int = 200,
    random_state: int | np.random.Generator | None = 0,
) -> PrevalenceEstimate:
    r"""Estimate the share of the positive class among new rows from their scores alone.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labelled rows that the model was not fitted on, a random sample of those before.
    y_score_new : array-like of shape (n_new,)
        Scores of new rows by the same model.
    confidence : float, default=0.95
        Of the interval.
    pos_label : label, default=None
        The positive class; None takes the greater label.
    n_resamples : int, default=200
        Draws of the bootstrap behind the interval and both tests, at least 100.
    random_state : int, Generator or None, default=0
        Seed of the draws.

    Returns
    -------
    PrevalenceEstimate

    See Also
    --------
    guard_prevalence : Follow the estimate only if a shift is shown.

    Notes
    -----
    A sigmoid of the score, fitted to the labelled rows with their share :math:`\pi_0`, gives
    probabilities p and the ratios of the classes' densities :math:`r = p (1 - \pi_0) / ((1 - p)
    \pi_0)`. The estimate maximises :math:`\sum_i \ln(1 - \pi + \pi r_i)` over the new rows, where
    the EM algorithm of Saerens et al. ends; the sum is concave, so its slope is searched for 0.

    All rows are then drawn anew, the new ones out of the mixture of both classes' scores at the
    estimate. The interval is normal on the scale of log-odds, with the spread of these draws. The
    test of the fit compares the greatest distance of the new scores' distribution from the mixture
    with those of the draws. For the test of a shift the new rows are drawn out of the mixture at
    :math:`\pi_0`: how much likelier the new scores are at the estimate than at :math:`\pi_0` is
    compared with the same of these draws.

    References
    ----------
    .. [1] M. Saerens, P. Latinne, C. Decaestecker, Adjusting the outputs of a classifier to new a
       priori probabilities, Neural Computation 14, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import estimate_prevalence, guard_prevalence
    >>> rng = np.random.default_rng(0)
    >>> y, y_new = rng.random(2000) < 0.1, rng.random(1000) < 0.4
    >>> found = estimate_prevalence(y, rng.normal(2 * y), rng.normal(2 * y_new))
    >>> round(found.prevalence, 2), found.shift_p_value < 0.01, found.fit_p_value > 0.05
    (0.38, True, True)
    """
    as_share("confidence", confidence)
    if not isinstance(n_resamples, int | np.integer) or n_resamples < 100:
        raise InvalidInputError(
            f"`n_resamples` must be a whole number of at least 100, got {n_resamples!r}. Use 200."
        )
    is_positive, scores, _ = as_rows(y_true, _finite("y_score", y_score), pos_label)
    negative, positive = scores[~is_positive], scores[is_positive]
    new = _finite("y_score_new", y_score_new)
    if len(new) == 0:
        raise InvalidInputError("`y_score_new` must have rows, got none.")
    sample = _Sample(np.sort(negative), np.sort(positive), np.sort(new))
    known, found, gain = _shares(sample)
    distance = _distance(sample, found)
    random = as_generator(random_state)
    draws = [_draw(sample, found, random) for _ in range(n_resamples)]
    shares = np.array([_shares(draw).found for draw in draws])
    reached = sum(
        _distance(draw, share) >= distance
        for draw, share in zip(draws, shares.tolist(), strict=True)
    )
    exceeded = sum(_shares(_draw(sample, known, random)).gain >= gain for _ in range(n_resamples))
    reach = float(norm.ppf((1 + confidence) / 2) * np.std(logit(shares), ddof=1))
    return PrevalenceEstimate(
        prevalence=found,
        interval=(float(expit(logit(found) - reach)), float(expit(logit(found) + reach))),
        known_prevalence=known,
        shift_p_value=(1 + exceeded) / (1 + n_resamples),
        fit_p_value=(1 + reached) / (1 + n_resamples),
        n_samples=(len(negative), len(positive)),
        n_new=len(new),
        confidence=float(confidence),
        standard_error=float(np.std(shares, ddof=1)),
    )


def guard_prevalence(
    estimate: PrevalenceEstimate, level: float = 0.05, fit_level: float = 0.01
) -> float | None:
    """Return the prevalence that a rule should follow, or None to stay with the labelled rows'.

    Following an estimate where nothing has shifted adds its error to every decision. So a shift
    must be shown, and the share of the classes must explain the new scores. Then the share that is
    followed lies one standard error nearer to the labelled rows' than the estimate: too short a
    way costs less than one too far.

    Parameters
    ----------
    estimate : PrevalenceEstimate
        From :func:`estimate_prevalence`.
    level : float, default=0.05
        A shift is shown if the p-value of none is at most this.
    fit_level : float, default=0.01
        The share of the classes does not explain the new scores if the p-value of the fit is at
        most this; nothing is adapted to then.

    Returns
    -------
    float or None
        What ``Cost(prevalence=...)`` and other rules take: None is the labelled rows' share.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import estimate_prevalence, guard_prevalence
    >>> rng = np.random.default_rng(0)
    >>> y, y_new = rng.random(2000) < 0.1, rng.random(1000) < 0.1
    >>> guard_prevalence(estimate_prevalence(y, rng.normal(2 * y), rng.normal(2 * y_new))) is None
    True
    """
    is_shown = estimate.shift_p_value <= as_share("level", level, "Use 0.05.")
    is_explained = estimate.fit_p_value > as_share("fit_level", fit_level, "Use 0.01.")
    if not (is_shown and is_explained):
        return None
    found, error = estimate.prevalence, estimate.standard_error
    return float(np.clip(estimate.known_prevalence, found - error, found + error))


def _finite(name: str, values: ArrayLike) -> FloatArray:
    """Return finite scores."""
    scores = as_scores(values)
    if not np.isfinite(scores).all():
        raise InvalidInputError(
            f"`{name}` must be finite, got {int((~np.isfinite(scores)).sum())} values that are "
            "not. Drop those rows."
        )
    return scores


def _shares(sample: _Sample) -> _Shares:
    """Return the share among labelled rows, and that at which the new scores are likeliest."""
    n = len(sample.negative) + len(sample.positive)
    known = len(sample.positive) / n
    log_odds = _calibrate(sample)
    excess = np.expm1(np.clip(log_odds - logit(known), -700, 700))
    least = 0.5 / (len(sample.new) + 1)

    def slope(share: float) -> float:
        return float((excess / (1 + share * excess)).sum())

    if slope(least) <= 0:
        found = least
    elif slope(1 - least) >= 0:
        found = 1 - least
    else:
        found = float(brentq(slope, least, 1 - least, xtol=1e-9))
    gain = np.sum(np.log1p(found * excess) - np.log1p(known * excess))
    return _Shares(known, found, float(gain))


def _calibrate(sample: _Sample) -> FloatArray:
    """Return the log-odds of new rows by a sigmoid fitted to the labelled ones."""
    scores = np.concatenate([sample.negative, sample.positive])
    y = np.repeat([0.0, 1.0], [len(sample.negative), len(sample.positive)])
    middle, spread = float(np.mean(scores)), float(np.std(scores)) or 1.0
    x = (scores - middle) / spread
    design = np.stack([np.ones_like(x), x])
    base, slope = float(logit(np.mean(y))), 0.0
    for _ in range(_STEPS):
        p = expit(base + slope * x)
        (a, b), (_, c) = ((design * (p * (1 - p))) @ design.T).tolist()
        a, c = a + 1e-9, c + _RIDGE
        down, across = (design @ (y - p)).tolist()
        across -= _RIDGE * slope
        scale = 1.0 / max(a * c - b * b, 1e-12)
        steps = scale * (c * down - b * across), scale * (a * across - b * down)
        length = max(abs(step) for step in steps)
        shorter = min(1.0, _LONGEST / max(length, 1e-12))
        base, slope = base + shorter * steps[0], slope + shorter * steps[1]
        if length < 1e-8:
            break
    log_odds: FloatArray = base + slope * (sample.new - middle) / spread
    return log_odds


def _distance(sample: _Sample, share: float) -> float:
    """Return the greatest distance of the new scores' distribution from the mixture."""
    places = np.concatenate([sample.negative, sample.positive, sample.new])
    below: list[Any] = [
        np.searchsorted(scores, places, side="right") / len(scores) for scores in sample
    ]
    return float(np.max(np.abs((1 - share) * below[0] + share * below[1] - below[2])))


def _draw(sample: _Sample, share: float, random: np.random.Generator) -> _Sample:
    """Draw all rows anew: labelled ones as they were, new ones out of the mixture."""
    n = len(sample.negative) + len(sample.positive)
    n_positive = int(np.clip(random.binomial(n, len(sample.positive) / n), 1, n - 1))
    m = int(random.binomial(len(sample.new), share))
    counts = (n - n_positive, n_positive, len(sample.new) - m, m)
    sources = (sample.negative, sample.positive, sample.negative, sample.positive)
    drawn = [random.choice(source, k) for source, k in zip(sources, counts, strict=True)]
    return _Sample(np.sort(drawn[0]), np.sort(drawn[1]), np.sort(np.concatenate(drawn[2:])))
