"""The prevalence among new rows whose labels are not known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from boundshift._boundary import find_boundary
from boundshift._guarantees.certificate import bound_error
from boundshift._guarantees.certify import have_chosen, read_scores, read_threshold
from boundshift._result.boundary import Boundary
from boundshift._typing import FloatArray
from boundshift._validation import as_rows, as_share


@dataclass(frozen=True)
class PrevalenceEstimate:
    """The share of the positive class among new rows, and whether it can be believed.

    Parameters
    ----------
    prevalence : float
        The adjusted count: (flagged share − false positive rate) / (recall − false positive
        rate), between 0 and 1.
    interval, confidence : pair of float, and float
        Covers the true prevalence with at least the stated confidence if only the frequency of
        the classes has changed; (0, 1) where the threshold does not separate the classes.
    known_prevalence : float
        Share of the positive class among the labelled rows.
    explained : bool
        False if no prevalence explains the new scores: something else has changed, and the
        estimate is not to be used. Where nothing else has changed it is False with a probability
        of at most one minus the confidence.
    threshold : float
        Rows with a greater score are counted.
    n_samples, n_new : tuple of int, and int
        Labelled rows of the (negative, positive) class, and new rows.
    """

    prevalence: float
    interval: tuple[float, float]
    known_prevalence: float
    explained: bool
    threshold: float
    n_samples: tuple[int, int]
    n_new: int
    confidence: float

    def __str__(self) -> str:
        low, high = self.interval
        doubt = "" if self.explained else " No prevalence explains the new scores: do not use it."
        return (
            f"Prevalence among {self.n_new} new rows: {self.prevalence:.4g}, between {low:.4g} and "
            f"{high:.4g} at {self.confidence:.4g} if nothing else has changed; among the labelled "
            f"rows {self.known_prevalence:.4g}.{doubt}"
        )


def estimate_prevalence(
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_score_new: ArrayLike,
    confidence: float = 0.95,
    *,
    threshold: float | Boundary | None = None,
    pos_label: object = None,
) -> PrevalenceEstimate:
    r"""Estimate the share of the positive class among new rows from their scores alone.

    Following an estimate where nothing has shifted adds its error to every decision. So follow it
    only if the interval excludes the labelled rows' prevalence.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labelled rows that the model was not fitted on, a random sample of the earlier rows.
    y_score_new : array-like of shape (n_new,)
        Scores of new rows by the same model.
    confidence : float, default=0.95
        Of the interval.
    threshold : float or Boundary, default=None
        The deployed boundary. None chooses the one of the rule "balanced_accuracy" on the labelled
        rows. The interval is wider if the labelled rows chose the boundary.
    pos_label : label, default=None
        As in :func:`~boundshift.certify`.

    Returns
    -------
    PrevalenceEstimate

    Notes
    -----
    If only the frequency of the classes has changed, new scores are a mixture of both classes'
    scores (Forman 2008, Data Mining and Knowledge Discovery 17). A share
    :math:`q = \pi r + (1 - \pi) f` of them is above the threshold, with the recall r, the false
    positive rate f and the prevalence :math:`\pi`. Each end of the interval takes the worst of q,
    r and f within Clopper and Pearson's bounds at :math:`\delta/6`; with a
    threshold chosen here, r and f have the band that holds for every threshold. The assumption
    that each class scores as before is tested: the three distribution functions lie within the
    bands of Dvoretzky, Kiefer, Wolfowitz and Massart at :math:`\delta/3`, so some mixture of the
    classes must be as close to the new scores as the bands together allow.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import estimate_prevalence
    >>> rng = np.random.default_rng(0)
    >>> y, y_new = rng.random(2000) < 0.1, rng.random(1000) < 0.4
    >>> found = estimate_prevalence(y, rng.normal(2 * y), rng.normal(2 * y_new))
    >>> round(found.prevalence, 2), [round(end, 2) for end in found.interval], found.explained
    (0.38, [0.27, 0.53], True)
    """
    delta = 1.0 - as_share("confidence", confidence)
    scores = read_scores("y_score", y_score)
    new = read_scores("y_score_new", y_score_new)
    boundary = threshold
    if threshold is not None:
        threshold, pos_label = read_threshold(threshold, pos_label, y_true)
    is_positive, scores, _ = as_rows(y_true, scores, pos_label, symmetric=False)
    is_chosen = threshold is None
    if isinstance(boundary, Boundary):
        is_chosen = have_chosen(boundary, scores, is_positive)
        boundary._check_scale(new, name="y_score_new")
    if threshold is None:
        threshold = find_boundary(is_positive, scores, rule="balanced_accuracy").threshold
    negative = scores[~is_positive]
    positive = scores[is_positive]
    false_alarms = _Rate.above(threshold, negative, delta / 6, is_chosen)
    recall = _Rate.above(threshold, positive, delta / 6, is_chosen)
    flagged = _Rate.above(threshold, new, delta / 6, False)
    known = len(positive) / len(scores)
    least = _solve(flagged.low, recall.high, false_alarms.high, otherwise=0.0)
    most = _solve(flagged.high, recall.low, false_alarms.low, otherwise=1.0)
    return PrevalenceEstimate(
        prevalence=_solve(flagged.value, recall.value, false_alarms.value, otherwise=known),
        interval=(least, most),
        known_prevalence=known,
        explained=_is_mixture([np.sort(each) for each in (negative, positive, new)], delta),
        threshold=threshold,
        n_samples=(len(negative), len(positive)),
        n_new=len(new),
        confidence=float(confidence),
    )


class _Rate(NamedTuple):
    """The share of scores above a threshold, and the bounds of the true share."""

    value: float
    low: float
    high: float

    @classmethod
    def above(cls, threshold: float, scores: FloatArray, delta: float, chosen_here: bool) -> _Rate:
        n_above = int(np.sum(scores > threshold))
        n = len(scores)
        low = 1.0 - bound_error(n - n_above, n, delta, chosen_here=chosen_here)
        high = bound_error(n_above, n, delta, chosen_here=chosen_here)
        return cls(n_above / n, low, high)


def _solve(share: float, recall: float, false: float, otherwise: float) -> float:
    """Return the prevalence at which this share is flagged, for rates that separate classes."""
    if recall <= false:
        return otherwise
    return min(max((share - false) / (recall - false), 0.0), 1.0)


def _is_mixture(sample: list[FloatArray], delta: float) -> bool:
    """Return whether the last of three sorted samples may be a mixture of the others."""
    places = np.concatenate(sample)
    negative, positive, new = (np.searchsorted(s, places, side="right") / len(s) for s in sample)
    bands = [math.sqrt(math.log(6.0 / delta) / (2 * len(s))) for s in sample]

    def excess(share: float) -> float:  # convex
        distance = np.max(np.abs((1 - share) * negative + share * positive - new))
        return float(distance - (1 - share) * bands[0] - share * bands[1] - bands[2])

    inside = minimize_scalar(excess, bounds=(0.0, 1.0), method="bounded")
    return bool(min(inside.fun, excess(0.0), excess(1.0)) <= 1e-4)
