"""Precision against recall, and net benefit against what a false alarm costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.typing import FloatArray

__all__ = ["collect_decision_curve", "collect_precision_recall"]


_STEPS = 100


def collect_precision_recall(
    stops: dict[str, Any], n_samples: tuple[int, int], prevalence: float
) -> dict[str, Any]:
    """Return recall and precision at every stop that flags a row, and at both thresholds.

    Returns
    -------
    dict
        ``recall`` and ``precision``, of falling thresholds; ``points``, a pair for each mark, None
        where it flags nothing; ``chance``, the precision of flagging everything.
    """
    alarms, misses = (np.array(w)[::-1] / n for w, n in zip(stops["wrong"], n_samples, strict=True))
    recall = 1 - misses
    precision = _precision(recall, alarms, prevalence)
    last = len(recall) - 1
    points = {}
    for name, stop in stops["marks"].items():
        here = precision[last - stop]
        points[name] = None if np.isnan(here) else [recall[last - stop], here]
    shown = np.flatnonzero(~np.isnan(precision))
    # Neighbouring stops often have the same counts.
    same = (np.diff(recall[shown]) == 0) & (np.diff(precision[shown]) == 0)
    shown = shown[np.concatenate([[True], ~same])] if len(shown) else shown
    return {
        "recall": recall[shown].tolist(),
        "precision": precision[shown].tolist(),
        "points": points,
        "chance": prevalence,
    }


def _precision(recall: FloatArray, alarms: FloatArray, prevalence: float) -> FloatArray:
    """Return the share of alarms that are right, NaN where there are none."""
    hits, false = prevalence * recall, (1 - prevalence) * alarms
    flagged = hits + false
    share = np.full(len(hits), np.nan)
    np.divide(hits, flagged, out=share, where=flagged > 0)
    return share


def collect_decision_curve(
    errors: dict[str, tuple[float, float]],
    prevalence: float,
    own: tuple[NDArray[np.bool_], FloatArray] | None = None,
) -> dict[str, Any]:
    r"""Return the net benefit of both thresholds, of flagging all rows, and of none.

    At a threshold probability p, where one hit is worth :math:`(1 - p)/p` false alarms, the net
    benefit is the share of hits minus :math:`p/(1 - p)` times the share of false alarms.

    Parameters
    ----------
    errors : dict from str to pair of float
        Error rates (negative, positive) of each threshold.
    prevalence : float
        Share of the positive class where decisions are made.
    own : pair of arrays, default=None
        Which rows are positive, and the model's own probabilities: what acting on these at each p
        would bring.

    Examples
    --------
    >>> curve = collect_decision_curve({"shifted": (0.1, 0.2)}, 0.2)
    >>> round(curve["curves"]["all"][0], 3), curve["curves"]["shifted"][0] < 0.16
    (0.195, True)
    """
    # Beyond three times the prevalence little is left to win.
    most = min(0.95, max(3 * prevalence, 0.02))
    chance = np.linspace(most / _STEPS, most, _STEPS)
    odds = chance / (1 - chance)

    def benefit(alarms: FloatArray | float, misses: FloatArray | float) -> list[float]:
        gain = prevalence * (1 - misses) - (1 - prevalence) * odds * alarms
        return [float(g) for g in gain]

    curves = {name: benefit(*pair) for name, pair in errors.items()} | {"all": benefit(1.0, 0.0)}
    if own is not None:
        is_positive, probability = own
        negative, positive = np.sort(probability[~is_positive]), np.sort(probability[is_positive])
        below = np.searchsorted(negative, chance, side="right") / len(negative)
        curves["own"] = benefit(
            1 - below, np.searchsorted(positive, chance, side="right") / len(positive)
        )
    return {"probability": chance.tolist(), "curves": curves, "top": prevalence}
