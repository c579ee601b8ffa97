r"""Log-odds and probabilities: which margins are log-odds, and what shifted ones amount to.

A score is a log-odds where the logistic function of it, or the softmax of one per class, is the
model's probability. A shift of log-odds is a shift of probabilities: :math:`\sigma(s - t)`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

from boundshift.typing import FloatArray

__all__ = ["HIGH", "LOW", "are_log_odds", "find_winner", "log_probabilities", "probabilities"]


# The doubles next to one half that sum to 1: what a row at the very boundary is given.
HIGH = float(np.nextafter(0.5, 1.0))
LOW = 1.0 - HIGH
# Probabilities computed in float32, as XGBoost's are, differ by this much.
_ABSOLUTE, _RELATIVE = 1e-6, 1e-4


def are_log_odds(margins: FloatArray, found: FloatArray) -> bool:
    """Return whether margins are the log-odds of the probabilities found for the same rows.

    Columns of classes that a model did not know are NaN in both.

    Examples
    --------
    >>> p = np.array([[0.5, 0.5], [0.1, 0.9]])
    >>> log_odds = np.log(p[:, 1] / p[:, 0])
    >>> are_log_odds(log_odds, p), are_log_odds(2 * log_odds, p)
    (True, False)
    """
    if margins.ndim == 1:  # A logistic function is quicker than a softmax of two columns.
        high = expit(margins)
        high[np.isnan(high)] = 0.0
        return _are_alike(found[:, 1], high) and _are_alike(found[:, 0], 1.0 - high)
    known = ~np.isnan(margins).all(axis=1)
    return _are_alike(found[known], softmax(np.nan_to_num(margins[known], nan=-np.inf), axis=1))


def _are_alike(found: FloatArray, expected: FloatArray) -> bool:
    """Return whether probabilities, of which NaN is none at all, are those expected."""
    allowed = _ABSOLUTE + _RELATIVE * expected
    if (np.abs(found - expected) <= allowed).all():
        return True
    missing = np.isnan(found)
    return bool(missing.any()) and _are_alike(np.where(missing, 0.0, found), expected)


def find_winner(shifted: FloatArray) -> NDArray[np.intp]:
    """Return the number of the class that shifted scores speak for.

    Examples
    --------
    >>> find_winner(np.array([-1.0, 0.0, 2.0])).tolist()
    [0, 0, 1]
    """
    if shifted.ndim == 1:
        return (shifted > 0).astype(np.intp)
    return np.asarray(shifted.argmax(axis=1))


def probabilities(shifted: FloatArray) -> FloatArray:
    """Return each class's probability; the class that wins has the largest, however closely.

    Parameters
    ----------
    shifted : array of shape (n_samples,) or (n_samples, n_classes)
        Log-odds of the second of two classes, which wins iff above 0; or one number per class,
        of which the first of the largest wins.

    Examples
    --------
    >>> p = probabilities(np.array([0.0, 1e-300]))
    >>> p.round(3).tolist(), (p[:, 1] > 0.5).tolist(), (p[:, 1] == 0.5).any().tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [False, True], False)
    """
    if shifted.ndim == 1:
        return _settle_halves(expit, shifted, LOW, HIGH)
    return _settle_ties(softmax(shifted, axis=1), shifted)


def log_probabilities(shifted: FloatArray) -> FloatArray:
    """Return the logarithms of `probabilities`, exact where these underflow."""
    if shifted.ndim == 1:
        return _settle_halves(log_expit, shifted, float(np.log(LOW)), float(np.log(HIGH)))
    return _settle_ties(log_softmax(shifted, axis=1), shifted)


def _settle_halves(
    function: Callable[[FloatArray], FloatArray], shifted: FloatArray, low: float, high: float
) -> FloatArray:
    """Return a function of both classes' log-odds, off its value for one half."""
    columns = [
        np.where(wins, np.maximum(values, high), np.minimum(values, low))
        for values, wins in (
            (function(-shifted), ~(shifted > 0)),
            (function(shifted), shifted > 0),
        )
    ]
    return np.stack(columns, axis=1)


def _settle_ties(values: FloatArray, shifted: FloatArray) -> FloatArray:
    """Raise the winner above classes that rounding has made its equals."""
    rows, winner = np.arange(len(values)), shifted.argmax(axis=1)
    own = values[rows, winner]
    values[rows, winner] = -np.inf
    values[rows, winner] = np.maximum(own, np.nextafter(values.max(axis=1), np.inf))
    return values
