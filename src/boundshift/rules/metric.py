"""Any metric of a confusion matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.rules.base import FloatArray, Rule
from boundshift.rules.prevalence import as_prevalence, frequencies

__all__ = ["Metric"]


@dataclass(frozen=True)
class Metric(Rule):
    """Maximise a scikit-learn metric of the confusion matrix that the curves expect.

    Meant for a curve that estimates the error, such as "smoothed". Each value calls the metric,
    which takes about a millisecond, so the search asks for a few hundred and finds the place of
    the best to a millionth of the scores' range; the rules "f1", "mcc" and their like are exact.

    Parameters
    ----------
    metric : callable or str
        A function of (y_true, y_pred, sample_weight), or the name of a scikit-learn scorer of
        predictions, such as "jaccard".
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

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
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
        return -sign * np.reshape(values, np.shape(negative))

    def _resolve(self) -> tuple[Callable[..., float], float]:
        """Return the metric as a function and the sign with which it is better."""
        if not isinstance(self.metric, str):
            return self.metric, 1.0 if self.greater_is_better else -1.0
        from sklearn.metrics import get_scorer

        scorer: Any = get_scorer(self.metric)
        if getattr(scorer, "_response_method", "predict") != "predict":
            raise InvalidInputError(
                f"`metric` must score predictions, got {self.metric!r}, which scores rankings or "
                "probabilities and has no boundary. Use 'f1' or 'balanced_accuracy', for example."
            )
        kwargs = scorer._kwargs
        return lambda y, p, **w: scorer._score_func(y, p, **kwargs, **w), float(scorer._sign)
