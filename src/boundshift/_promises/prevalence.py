r"""The prevalence among new rows whose labels are not known.

If only the frequency of the classes has changed, new scores are a mixture of the two classes'
scores. The share of new rows above a threshold then gives the prevalence. If something else has
changed, no prevalence explains the new scores; that is reported, not followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import fisher_exact

from boundshift._boundary import Boundary, find_boundary
from boundshift._promises.certificate import bound_error, read_threshold
from boundshift._typing import FloatArray
from boundshift._validation import as_generator, as_rows, as_scores, as_share
from boundshift.exceptions import InvalidInputError

_DRAWS = 200
"""Bootstrap draws behind the standard error and the test of the fit."""


@dataclass(frozen=True)
class PrevalenceEstimate:
    """The share of the positive class among new rows, and whether it can be believed.

    Parameters
    ----------
    prevalence : float
        The adjusted count: (flagged share − false positive rate) / (recall − false positive
        rate), between 0 and 1.
    interval : pair of float
        Covers the true prevalence with at least the stated confidence if only the frequency of
        the classes has changed; (0, 1) where the threshold does not separate the classes.
    known_prevalence : float
        Share of the positive class among the labelled rows.
    shift_p_value : float
        Of Fisher's exact test that labelled and new rows are flagged equally often.
    fit_p_value : float
        Of the test that the new scores are a mixture of both classes' scores; small if more has
        changed than the prevalence.
    threshold : float
        Rows with a greater score are counted.
    n_samples : tuple of int
        Labelled rows of the (negative, positive) class.
    n_new : int
        New rows.
    confidence : float
        Of the interval.
    standard_error : float
        Of the estimate, by the bootstrap.
    """

    prevalence: float
    interval: tuple[float, float]
    known_prevalence: float
    shift_p_value: float
    fit_p_value: float
    threshold: float
    n_samples: tuple[int, int]
    n_new: int
    confidence: float
    standard_error: float

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"Prevalence among {self.n_new} new rows: {self.prevalence:.4g}, between {low:.4g} and "
            f"{high:.4g} at {self.confidence:.4g} if nothing else has changed; among the labelled "
            f"rows {self.known_prevalence:.4g}. P-value of no shift: {self.shift_p_value:.3g}; of "
            f"a shift of the prevalence alone: {self.fit_p_value:.3g}."
        )


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
    threshold: float | Boundary | None = None,
    pos_label: object = None,
    random_state: int | np.random.Generator | None = 0,
) -> PrevalenceEstimate:
    r"""Estimate the share of the positive class among new rows from their scores alone.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labelled rows that the model was not fitted on, a random sample of the earlier rows.
    y_score_new : array-like of shape (n_new,)
        Scores of new rows by the same model.
    confidence : float, default=0.95
        Of the interval.
    threshold : float or Boundary, default=None
        The deployed boundary, fixed before these rows were seen. None chooses the one of the
        rule "sum" on the labelled rows, and the interval pays for the choice.
    pos_label : label, default=None
        The positive class; None takes that of the boundary, or the greater label.
    random_state : int, Generator or None, default=0
        Seed of the bootstrap.

    Returns
    -------
    PrevalenceEstimate

    See Also
    --------
    guard_prevalence : Follow the estimate only if a shift is shown.

    Notes
    -----
    A share :math:`q = \pi r + (1 - \pi) f` of the new rows lies above the threshold, with the
    recall r, the false positive rate f and the prevalence :math:`\pi`. Each end of the interval
    takes the worst of q, r and f within Clopper and Pearson's bounds at :math:`\delta/6`; with a
    threshold chosen here, r and f have the band that holds for every threshold. Nothing is
    assumed of the scores but that each class scores as before.

    Fisher's test is exact for a given threshold; one chosen here rejects slightly too often. With
    fewer than about ten labelled rows of a class the test of the fit rejects too often, so the
    guard then errs towards the labelled rows' prevalence.

    The test of the fit compares the greatest distance between the distribution of the new scores
    and the mixture at the estimate with those of 200 bootstrap draws.

    References
    ----------
    .. [1] G. Forman, Quantifying counts and costs via classification, Data Mining and Knowledge
       Discovery 17, 2008.

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
    delta = 1.0 - as_share("confidence", confidence)
    new, chosen_here = _finite("y_score_new", y_score_new), threshold is None
    scores = _finite("y_score", y_score)
    if len(new) == 0 or len(scores) == 0:
        name = "y_score" if len(new) else "y_score_new"
        raise InvalidInputError(f"`{name}` must have rows, got none. Pass scores of some rows.")
    if isinstance(threshold, Boundary):
        threshold.check_scale(float(scores.min()), float(scores.max()), len(scores))
        threshold.check_scale(float(new.min()), float(new.max()), len(new))
    if threshold is not None:
        t, pos_label = read_threshold(threshold, pos_label)
    is_positive, scores, _ = as_rows(y_true, scores, pos_label)
    negative, positive = scores[~is_positive], scores[is_positive]
    if threshold is None:
        t = find_boundary(
            np.repeat([0, 1], [len(negative), len(positive)]),
            np.concatenate([negative, positive]),
            rule="sum",
        ).threshold
    sample = _Sample(np.sort(negative), np.sort(positive), np.sort(new))
    flagged, sizes = [int(np.sum(s > t)) for s in sample], [len(s) for s in sample]

    def bounds(k: int, n: int, chosen_here: bool) -> tuple[float, float]:
        high, rest = (bound_error(m, n, delta / 6, chosen_here=chosen_here) for m in (k, n - k))
        return 1.0 - rest, high

    false, hits = (bounds(flagged[i], sizes[i], chosen_here) for i in (0, 1))
    share = bounds(flagged[2], sizes[2], False)
    known = sizes[1] / (sizes[0] + sizes[1])
    found = _adjusted_count(sample, t, known)
    random = as_generator(random_state)
    draws = [_draw(sample, found, random) for _ in range(_DRAWS)]
    estimates = [_adjusted_count(draw, t, known) for draw in draws]
    distance = _distance(sample, found)
    reached = sum(_distance(d, e) >= distance for d, e in zip(draws, estimates, strict=True))
    labelled = flagged[0] + flagged[1]
    table = [
        [labelled, sizes[0] + sizes[1] - labelled],
        [flagged[2], sizes[2] - flagged[2]],
    ]
    return PrevalenceEstimate(
        prevalence=found,
        interval=(
            _solve(share[0], hits[1], false[1], otherwise=0.0),
            _solve(share[1], hits[0], false[0], otherwise=1.0),
        ),
        known_prevalence=known,
        shift_p_value=float(fisher_exact(np.array(table)).pvalue),
        fit_p_value=(1 + reached) / (1 + _DRAWS),
        threshold=t,
        n_samples=(sizes[0], sizes[1]),
        n_new=sizes[2],
        confidence=float(confidence),
        standard_error=float(np.std(estimates, ddof=1)),
    )


def guard_prevalence(
    estimate: PrevalenceEstimate, level: float = 0.05, fit_level: float = 0.01
) -> float | None:
    """Return the prevalence that a rule should use, or None to stay with the labelled rows'.

    Following an estimate where nothing has shifted adds its error to every decision. So a shift
    must be shown, and the prevalence alone must explain the new scores. The value returned is one
    standard error closer to the labelled rows' prevalence than the estimate: too small a step
    costs less than too large a one.

    Parameters
    ----------
    estimate : PrevalenceEstimate
        From :func:`estimate_prevalence`.
    level : float, default=0.05
        A shift is shown if the p-value of no shift is at most this.
    fit_level : float, default=0.01
        Nothing is followed if the p-value of the fit is at most this.

    Returns
    -------
    float or None
        What ``Cost(prevalence=...)`` and other rules take: None is the labelled rows' prevalence.

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
    followed = float(np.clip(estimate.known_prevalence, found - error, found + error))
    # Rules take prevalences strictly between 0 and 1.
    least = 0.5 / (estimate.n_new + 1)
    return min(max(followed, least), 1.0 - least)


def _finite(name: str, values: ArrayLike) -> FloatArray:
    scores = as_scores(values)
    if not np.isfinite(scores).all():
        raise InvalidInputError(
            f"`{name}` must be finite, got {int((~np.isfinite(scores)).sum())} values that are "
            "not. Drop those rows."
        )
    return scores


def _solve(share: float, recall: float, false: float, otherwise: float) -> float:
    """Return the prevalence at which this share is flagged, for rates that separate classes."""
    if recall <= false:
        return otherwise
    return min(max((share - false) / (recall - false), 0.0), 1.0)


def _adjusted_count(sample: _Sample, t: float, known: float) -> float:
    false, recall, share = (1.0 - np.searchsorted(s, t, side="right") / len(s) for s in sample)
    return _solve(float(share), float(recall), float(false), otherwise=known)


def _distance(sample: _Sample, prevalence: float) -> float:
    """Return the greatest distance of the new scores' distribution from the mixture."""
    places = np.concatenate(sample)
    below: list[Any] = [np.searchsorted(s, places, side="right") / len(s) for s in sample]
    mixture = (1 - prevalence) * below[0] + prevalence * below[1]
    return float(np.max(np.abs(mixture - below[2])))


def _draw(sample: _Sample, prevalence: float, random: np.random.Generator) -> _Sample:
    """Draw labelled rows with their prevalence, and new rows from the mixture."""
    n0, n1, m = (len(s) for s in sample)
    positives = int(np.clip(random.binomial(n0 + n1, n1 / (n0 + n1)), 1, n0 + n1 - 1))
    new = int(random.binomial(m, prevalence))
    counts = (n0 + n1 - positives, positives, m - new, new)
    sources = (sample.negative, sample.positive, sample.negative, sample.positive)
    drawn = [np.sort(random.choice(s, k)) for s, k in zip(sources, counts, strict=True)]
    return _Sample(drawn[0], drawn[1], np.sort(np.concatenate(drawn[2:])))
