"""Any metric of a confusion matrix."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.rules.base import Rule, Sizes
from boundshift.rules.prevalence import as_prevalence, frequencies
from boundshift.typing import FloatArray
from boundshift.validation import nearest_name

__all__ = ["Metric", "bind_labels"]


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
        ``make_scorer`` returns it, or a function of (y_true, y_pred, sample_weight). It gets 1 for
        the positive class and 0 for the other, unless `labels` says otherwise.
    greater_is_better : bool, default=True
        Whether the metric is to be maximised; a scorer's name settles it.
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's.
    labels : tuple, default=None
        What the metric gets for the (negative, positive) class. None is (0, 1); but a scorer that
        names a ``pos_label`` or ``labels`` gets the labels of the rows.

    Examples
    --------
    >>> rule = Metric("f1")
    >>> float(rule.value(np.array([0.0]), np.array([0.5]), (90, 10))[0].round(3))
    -0.667

    F1 of the healthy, although the sick are the positive class:

    >>> from boundshift import find_boundary
    >>> from sklearn.metrics import f1_score, make_scorer
    >>> rule = Metric(make_scorer(f1_score, pos_label="healthy"))
    >>> y = ["healthy", "healthy", "sick", "healthy", "sick"]
    >>> found = find_boundary(y, [1, 2, 3, 4, 5], rule=rule, curve="empirical", pos_label="sick")
    >>> found.threshold, round(-found.loss, 3)
    (4.5, 0.857)
    """

    name = "metric"
    costly = True

    metric: Callable[..., float] | str
    greater_is_better: bool = True
    prevalence: float | None = None
    labels: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", as_prevalence(self.prevalence))
        function, _ = self._resolve()
        _check_weights(function, self.metric)
        if self.labels is not None:
            self._check_labels(self.labels)

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the metric, negated if more of it is better."""
        function, sign = self._resolve()
        first, second = frequencies(self.prevalence, n_samples)
        names = np.array((0, 1) if self.labels is None else self.labels)
        true, predicted = names[[0, 0, 1, 1]], names[[0, 1, 0, 1]]
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

    def bound_to(self, labels: tuple[Any, Any]) -> Metric:
        """Return the metric of these labels (negative, positive), if it names any of its own.

        Parameters
        ----------
        labels : tuple
            Of the rows, (negative, positive).
        """
        return replace(self, labels=labels) if self.labels is None and self._named() else self

    def _named(self) -> list[Any]:
        """Return the labels that the arguments of the metric name."""
        keywords = getattr(self._resolve()[0], "keywords", {})
        positive, more = keywords.get("pos_label"), keywords.get("labels")
        return (
            [] if positive is None and more is None else [positive, *(() if more is None else more)]
        )

    def _check_labels(self, labels: tuple[Any, Any]) -> None:
        """Raise unless there are two labels, those that the metric names among them."""
        if not isinstance(labels, tuple) or len(labels) != 2 or labels[0] == labels[1]:
            raise InvalidInputError(
                f"`labels` must be two different labels (negative, positive), got {labels!r}. "
                "Leave it out for 0 and 1."
            )
        for named in self._named():
            if named is not None and named not in labels:
                raise InvalidInputError(
                    f"`metric` must name labels of the rows, {labels[0]!r} and {labels[1]!r}, got "
                    f"{named!r} in {self.metric!r}. Leave out pos_label for the positive class."
                )

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


def bind_labels(rule: Rule, labels: tuple[Any, Any]) -> Rule:
    """Return a rule whose metric gets the labels of the rows where it names any."""
    if isinstance(rule, Metric):
        return rule.bound_to(labels)
    then = getattr(rule, "then", None)
    if isinstance(then, Metric):
        return replace(rule, then=then.bound_to(labels))  # type: ignore[call-arg]
    return rule


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
