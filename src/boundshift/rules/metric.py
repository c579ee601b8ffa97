"""Any metric of a confusion matrix."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.rules.base import Rule, Sizes
from boundshift.rules.prevalence import as_prevalence, frequencies
from boundshift.typing import FloatArray
from boundshift.validation import nearest_name

__all__ = ["Metric"]


@dataclass(frozen=True)
class Metric(Rule):
    """Maximise a scikit-learn metric of the confusion matrix that the curves expect.

    Meant for a curve that estimates the error, such as "smoothed". Each value calls the metric,
    which takes about a millisecond, so the search asks for a few hundred and finds the place of
    the best to a millionth of the scores' range; the rules "f1", "mcc" and their like are exact.

    Parameters
    ----------
    metric : str, scorer or callable
        The name of a scikit-learn scorer of predictions, such as "jaccard", a scorer as
        ``make_scorer`` returns it, or a function of (y_true, y_pred, sample_weight).
    greater_is_better : bool, default=True
        Whether the metric is to be maximised; a scorer's name settles it.
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's.

    Examples
    --------
    >>> rule = Metric("f1")
    >>> float(rule.value(np.array([0.0]), np.array([0.5]), (90, 10))[0].round(3))
    -0.667
    """

    name = "metric"
    costly = True

    metric: Callable[..., float] | str
    greater_is_better: bool = True
    prevalence: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", as_prevalence(self.prevalence))
        function, _ = self._resolve()
        _check_weights(function, self.metric)

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the metric, negated if more of it is better."""
        function, sign = self._resolve()
        first, second = frequencies(self.prevalence, n_samples)
        true, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
        from sklearn import config_context

        # The four rows are valid by construction, and checking them takes longer than the metric.
        with config_context(skip_parameter_validation=True, assume_finite=True):
            values = [
                function(
                    true,
                    predicted,
                    sample_weight=[first * (1 - u), first * u, second * v, second * (1 - v)],
                )
                for u, v in zip(np.ravel(negative), np.ravel(positive), strict=True)
            ]
        if not all(isinstance(value, numbers.Real) for value in values):
            raise InvalidInputError(
                f"`metric` must give one number, got {values[0]!r} from {self.metric!r}. Name the "
                "average, as in make_scorer(f1_score, average='macro')."
            )
        return -sign * np.reshape(np.asarray(values, dtype=np.float64), np.shape(negative))

    def _resolve(self) -> tuple[Callable[..., float], float]:
        """Return the metric as a function and the sign with which it is better."""
        scorer: Any = self.metric
        if isinstance(scorer, str):
            scorer = _named_scorer(scorer)
        if not hasattr(scorer, "_score_func"):
            if not callable(scorer):
                raise InvalidInputError(
                    "`metric` must be a function of labels and predictions, a scorer or its name, "
                    f"got {scorer!r}. Use Metric('jaccard'), for example."
                )
            return scorer, 1.0 if self.greater_is_better else -1.0
        if getattr(scorer, "_response_method", "predict") != "predict":
            raise InvalidInputError(
                f"`metric` must score predictions, got {self.metric!r}, which scores rankings or "
                "probabilities and has no boundary. Use 'f1' or 'balanced_accuracy', for example."
            )
        function: Any = partial(scorer._score_func, **scorer._kwargs)
        return function, float(scorer._sign)


def _named_scorer(name: str) -> Any:
    """Return a scorer of scikit-learn by its name, or raise with the nearest one."""
    from sklearn.metrics import get_scorer, get_scorer_names

    known = get_scorer_names()
    if name not in known:
        cure = nearest_name(name, known) or " Use 'jaccard', for example."
        raise InvalidInputError(
            f"`metric` must be the name of a scorer of scikit-learn, got {name!r}.{cure}"
        )
    return get_scorer(name)


def _check_weights(function: Callable[..., float], given: object) -> None:
    """Raise if a metric takes no weights, by which expected rows are counted."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # A compiled function does not say.
        return
    if not any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise InvalidInputError(
            "`metric` must take sample_weight, by which it counts the rows that a curve expects, "
            f"got {given!r}. Give it that argument: metric(y_true, y_pred, sample_weight=None)."
        )
