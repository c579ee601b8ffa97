r"""Scores out of a fitted estimator: margins as they are, probabilities as log-odds.

A probability near 0 or 1 says little by its distance to its neighbours and much by its ratio, so
probabilities :math:`p_k` become :math:`\ln p_k`, whose difference for two classes is the logit.
A forest gives many probabilities of exactly 0: these count as half the smallest positive one
seen, a floor that is learned with the boundary and kept with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.models.margins import as_array, has_margin, is_a, is_native, raw_margin

__all__ = ["Response", "ResponseMethod", "choose_response", "known_classes", "read_response"]

FloatArray = NDArray[np.float64]
ResponseMethod = (
    Literal["auto", "margin", "decision_function", "predict_proba"] | Callable[[Any, Any], Any]
)

_SMALLEST = float(np.finfo(np.float64).tiny)


def choose_response(estimator: Any, method: ResponseMethod) -> ResponseMethod:
    """Return the response to use: a margin where there is one, else probabilities.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> choose_response(RandomForestClassifier(), "auto")
    'predict_proba'
    """
    if callable(method):
        return method
    if method not in ("auto", *_CHECKS):
        raise InvalidInputError(
            "`response_method` must be 'auto', 'margin', 'decision_function', 'predict_proba' or a "
            f"function of (estimator, X), got {method!r}."
        )
    for name, has in _CHECKS.items():
        if method in ("auto", name) and has(estimator):
            return name  # type: ignore[return-value]
    if method in ("auto", "margin") and is_native(estimator):
        return raw_margin
    wanted = "decision_function or predict_proba" if method == "auto" else method
    raise InvalidInputError(
        f"`estimator` must have {_WANTED.get(wanted, wanted)}, got {type(estimator).__name__} "
        "without. Use a classifier that scores its rows (for SVC, decision_function is always "
        "there), or pass a function of (estimator, X) as `response_method`."
    )


_WANTED = {"margin": "margins that are known how to read"}
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "margin": has_margin,
    "decision_function": lambda estimator: (
        hasattr(estimator, "decision_function") or _will_stack(estimator)
    ),
    "predict_proba": lambda estimator: hasattr(estimator, "predict_proba"),
}


def _will_stack(estimator: Any) -> bool:
    """Return whether a stack is to be fitted with its usual last step, a logistic regression."""
    return is_a(estimator, "sklearn", "StackingClassifier") and estimator.final_estimator is None


def read_response(
    estimator: Any, X: Any, method: ResponseMethod, classes: NDArray[Any]
) -> FloatArray:
    """Return the model's raw response, one column for two classes' margins, else one per class.

    A model that was fitted without some of `classes` gets NaN in their columns.
    """
    if callable(method):
        raw = method(estimator, X)
    else:
        raw = raw_margin(estimator, X) if method == "margin" else getattr(estimator, method)(X)
    response = as_array(raw).astype(np.float64, copy=False)
    if response.ndim == 2 and response.shape[1] == 1:
        response = response[:, 0]
    seen = known_classes(estimator, classes)
    if response.ndim == 1:
        response = _signed_column(response, seen, classes, method)
    elif response.shape[1] != len(seen):
        raise InvalidInputError(
            f"The response of {type(estimator).__name__} must have one column per class "
            f"({len(seen)}: {seen.tolist()}), got {response.shape[1]}. Pass `fit` rows of every "
            "class that the model knows; for SVC use decision_function_shape='ovr'."
        )
    elif len(seen) != len(classes):
        full = np.full((len(response), len(classes)), np.nan)
        full[:, np.searchsorted(classes, seen)] = response
        response = full
    return response


def known_classes(estimator: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes that a model names, or those given where it names none."""
    seen = getattr(estimator, "classes_", None)
    return classes if seen is None or len(seen) == 0 else np.asarray(seen)


def _signed_column(
    response: FloatArray, seen: NDArray[Any], classes: NDArray[Any], method: ResponseMethod
) -> FloatArray:
    """Return one column as it is, or as a margin for each of more classes."""
    if len(classes) == 2 and len(seen) == 2:
        return np.stack([1 - response, response], axis=1) if method == "predict_proba" else response
    full = np.full((len(response), len(classes)), np.nan)
    if len(seen) == 2:
        full[:, np.searchsorted(classes, seen)] = np.stack([-response, response], axis=1) / 2
    return full


@dataclass(frozen=True)
class Response:
    """From raw responses to scores, with what had to be learned for it.

    Parameters
    ----------
    floor : tuple of float or None
        Stand-in for a probability of zero, for each class; None for margins.
    """

    floor: tuple[float, ...] | None = None

    @classmethod
    def learn(cls, raw: FloatArray, method: ResponseMethod) -> Response:
        """Learn the floors from the responses that decide.

        Examples
        --------
        >>> Response.learn(np.array([[0.0, 1.0], [0.9, 0.1]]), "predict_proba").floor
        (0.45, 0.05)
        """
        if method != "predict_proba":
            return cls()
        positive = np.where(raw > 0, raw, np.inf).min(axis=0, initial=1.0)
        return cls(tuple(np.maximum(positive / 2, _SMALLEST).tolist()))

    def scores(self, raw: FloatArray) -> FloatArray:
        """Return scores: one column for two classes, else one per class.

        Examples
        --------
        >>> Response((0.05, 0.05)).scores(np.array([[0.5, 0.5], [1.0, 0.0]])).round(2).tolist()
        [0.0, -3.0]
        """
        if self.floor is not None:
            raw = np.log(np.maximum(raw, self.floor))
        if raw.ndim == 2 and raw.shape[1] == 2:
            return np.asarray(raw[:, 1] - raw[:, 0])
        return raw
