r"""Scores out of a fitted model: the log-odds where it has probabilities, else its margin.

The log-odds are the margin where the logistic function of it (the softmax of several) is what
``predict_proba`` returns, since a margin has digits that a probability near 0 or 1 has lost. Where
it is not, as for a boosted sum of votes or a calibrated machine, they are computed from the
probabilities: :math:`\ln p_k`, whose difference for two classes is the logit. A forest gives many
probabilities of exactly 0: these count as half the smallest positive one seen, a floor that is
learned with the boundary and kept with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.models.log_odds import are_log_odds
from boundshift.models.margins import as_array, has_margin, is_native, raw_margin
from boundshift.typing import FloatArray

__all__ = [
    "Response",
    "ResponseMethod",
    "check_response_method",
    "choose_method",
    "class_columns",
    "find_methods",
    "known_classes",
    "read_response",
    "read_responses",
]

Method = Literal["margin", "decision_function", "predict_proba"] | Callable[[Any, Any], Any]
ResponseMethod = Literal["auto"] | Method

_NAMES = ("auto", "margin", "decision_function", "predict_proba")
_SMALLEST = float(np.finfo(np.float64).tiny)


def check_response_method(asked: ResponseMethod, model: Any) -> None:
    """Raise unless a response method is known, and a model, fitted or not, may come to have it."""
    if asked not in _NAMES and not callable(asked):
        raise InvalidInputError(
            "`response_method` must be 'auto', 'margin', 'decision_function', 'predict_proba' or a "
            f"function of (estimator, X), got {asked!r}."
        )
    # Some have their methods only once they are fitted, but their classes name them.
    if not any(hasattr(type(model), name) for name in ("decision_function", "predict_proba")):
        find_methods(model, asked)


def find_methods(model: Any, asked: ResponseMethod = "auto") -> tuple[Method, ...]:
    """Return which responses of a fitted model to read: a margin, probabilities, or both.

    Probabilities come last. They are read beside a margin to find out whether it is their log-odds.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> find_methods(RandomForestClassifier()), find_methods(LogisticRegression())
    (('predict_proba',), ('decision_function', 'predict_proba'))
    """
    margin = _find_margin(model, asked)
    found: tuple[Method, ...] = () if margin is None else (margin,)
    if hasattr(model, "predict_proba"):
        found = (*found, "predict_proba")
    if not found or (margin is None and asked not in ("auto", "predict_proba")):
        wanted = {"auto": "decision_function or predict_proba", "margin": "known margins"}
        raise InvalidInputError(
            f"`estimator` must have {wanted.get(str(asked), asked)}, got {type(model).__name__} "
            "without. Use a classifier that scores its rows (for SVC, decision_function is always "
            "there), or pass a function of (estimator, X) as `response_method`."
        )
    return found


def _find_margin(model: Any, asked: ResponseMethod) -> Method | None:
    """Return how to read the margin that is asked for, or None if there is none."""
    if callable(asked):
        return asked
    if asked in ("auto", "margin") and has_margin(model):
        return "margin"
    if asked in ("auto", "decision_function") and hasattr(model, "decision_function"):
        return "decision_function"
    is_only_way = asked == "margin" or (asked == "auto" and not hasattr(model, "predict_proba"))
    return "margin" if is_only_way and is_native(model) else None


def read_responses(
    model: Any, X: Any, asked: ResponseMethod, classes: NDArray[Any]
) -> dict[Method, FloatArray]:
    """Return the responses of a fitted model that may become the score."""
    methods = find_methods(model, asked)
    return {method: read_response(model, X, method, classes) for method in methods}


def read_response(model: Any, X: Any, method: Method, classes: NDArray[Any]) -> FloatArray:
    """Return a model's response: one column for a margin of two classes, else one per class.

    Columns are in the order of `classes`, whichever order the model has them in, and the one
    column is a margin of the second class. A model that was fitted without some of `classes` gets
    NaN in their columns.
    """
    if callable(method):
        found = method(model, X)
    else:
        found = raw_margin(model, X) if method == "margin" else getattr(model, method)(X)
    response = as_array(found).astype(np.float64, copy=False)
    if response.ndim == 2 and response.shape[1] == 1:
        response = response[:, 0]
    places = class_columns(model, classes)
    if response.ndim == 1:
        return _spread_column(response, places, len(classes), method)
    if response.shape[1] != len(places):
        raise InvalidInputError(
            f"The response of {type(model).__name__} must have one column per class "
            f"({len(places)}: {classes[places].tolist()}), got {response.shape[1]}. Pass `fit` "
            "rows of every class that the model knows; for SVC use decision_function_shape='ovr'."
        )
    if np.array_equal(places, np.arange(len(classes))):
        return response
    ordered = np.full((len(response), len(classes)), np.nan)
    ordered[:, places] = response
    return ordered


def known_classes(model: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes that a model names, or those given where it names none."""
    known = getattr(model, "classes_", None)
    return classes if known is None or len(known) == 0 else np.asarray(known)


def class_columns(model: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return where in the sorted `classes` each column of a model's response belongs."""
    return np.searchsorted(classes, known_classes(model, classes))


def _spread_column(
    response: FloatArray, places: NDArray[np.intp], n_classes: int, method: Method
) -> FloatArray:
    """Return one column as a margin of the second class, or of each of more classes."""
    if len(places) == 2 and places[0] > places[1]:
        response = 1 - response if method == "predict_proba" else -response
        places = places[::-1]
    if n_classes == 2 and len(places) == 2:
        return np.stack([1 - response, response], axis=1) if method == "predict_proba" else response
    spread = np.full((len(response), n_classes), np.nan)
    if len(places) == 2:
        spread[:, places] = np.stack([-response, response], axis=1) / 2
    return spread


def choose_method(
    parts: Sequence[Mapping[Method, FloatArray]], asked: ResponseMethod = "auto"
) -> tuple[Method, bool]:
    """Choose among the responses that were read, part by part, to the rows that decide.

    Returns
    -------
    method : str or callable
        The margin if it is asked for, or is the log-odds, or has no probabilities beside it.
    is_log_odds : bool
        Whether scores are the log-odds of the model's probabilities.

    Examples
    --------
    >>> p = np.array([[0.2, 0.8], [0.5, 0.5]])
    >>> votes = np.array([3.0, 0.0])
    >>> choose_method([{"decision_function": votes, "predict_proba": p}])
    ('predict_proba', True)
    """
    first, *others = parts[0]
    if first == "predict_proba":
        return first, True
    same = bool(others) and all(are_log_odds(part[first], part["predict_proba"]) for part in parts)
    return ("predict_proba", True) if others and not same and asked == "auto" else (first, same)


@dataclass(frozen=True)
class Response:
    """How a model's response becomes a score, with what had to be learned for it.

    Parameters
    ----------
    method : {"margin", "decision_function", "predict_proba"} or callable
        The response that is read.
    floor : tuple of float or None, default=None
        Stand-in for a probability of zero, for each class; None for margins.
    is_log_odds : bool, default=False
        Whether the score is the log-odds of the model's probabilities.
    """

    method: Method
    floor: tuple[float, ...] | None = None
    is_log_odds: bool = False

    @classmethod
    def learn(cls, method: Method, response: FloatArray, *, is_log_odds: bool = False) -> Response:
        """Learn the floors from the responses that decide.

        Examples
        --------
        >>> Response.learn("predict_proba", np.array([[0.0, 1.0], [0.9, 0.1]])).floor
        (0.45, 0.05)
        """
        if method != "predict_proba":
            return cls(method, is_log_odds=is_log_odds)
        positive = np.where(response > 0, response, np.inf).min(axis=0, initial=1.0)
        return cls(method, tuple(np.maximum(positive / 2, _SMALLEST).tolist()), is_log_odds)

    def read(self, model: Any, X: Any, classes: NDArray[Any]) -> FloatArray:
        """Return a model's scores: one column for two classes, else one per class."""
        return self.scores(read_response(model, X, self.method, classes))

    def scores(self, response: FloatArray) -> FloatArray:
        """Return the scores of a response.

        Examples
        --------
        >>> forest = Response("predict_proba", (0.05, 0.05))
        >>> forest.scores(np.array([[0.5, 0.5], [1.0, 0.0]])).round(2).tolist()
        [0.0, -3.0]
        """
        if self.floor is not None:
            response = np.log(np.maximum(response, self.floor))
        if response.ndim == 2 and response.shape[1] == 2:
            return np.asarray(response[:, 1] - response[:, 0])
        return response
