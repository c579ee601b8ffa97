"""Rules: how two claimed error rates become one number to minimise.

Every rule grows with each of the two error rates; the search relies on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.validation import as_choice, as_pair, as_positive, as_share

__all__ = ["RULES", "Cost", "GMean", "Metric", "Minimax", "NeymanPearson", "Rule", "Sum", "as_rule"]

FloatArray = NDArray[np.float64]


class Rule(ABC):
    """Combines the error rates of the negative and the positive class."""

    name: ClassVar[str]
    is_balanced: ClassVar[bool] = False
    """Whether both classes count alike, whatever their frequencies."""

    @abstractmethod
    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[int, int]
    ) -> FloatArray:
        """Return what to minimise.

        Parameters
        ----------
        negative, positive : arrays
            Claimed error rates of the two classes.
        n_samples : tuple of int
            Rows of each class, for rules that use their frequencies.
        """

    def met(self, negative: float, positive: float) -> bool:
        """Return whether the rule's condition holds, if it has one."""
        return True

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in vars(self).items())
        return f"{type(self).__name__}({arguments})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), tuple(vars(self).items())))


class Sum(Rule):
    """Sum of both error rates: the least balanced error.

    Examples
    --------
    >>> float(Sum().value(np.array(0.2), np.array(0.1), (90, 10)).round(3))
    0.3
    """

    name = "sum"
    is_balanced = True

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[int, int]
    ) -> FloatArray:
        """Return the sum."""
        return negative + positive


class Minimax(Rule):
    """The larger of both error rates.

    Examples
    --------
    >>> float(Minimax().value(np.array(0.2), np.array(0.1), (90, 10)))
    0.2
    """

    name = "minimax"
    is_balanced = True

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[int, int]
    ) -> FloatArray:
        """Return the maximum."""
        return np.maximum(negative, positive)


class GMean(Rule):
    """Shortfall of the G-mean, the geometric mean of both recalls.

    Between the sum, which may give up a class, and the larger error, which looks at one only.

    Parameters
    ----------
    f1_weight : float, default=0.08
        At least 0. The G-mean is multiplied by the F1 of the class with fewer rows to this power.
        Around its best the G-mean is flat, and a little weight finds the place there that has
        fewer false alarms, which are many where one class is large. Equally frequent classes have
        none.

    Examples
    --------
    >>> float(GMean(f1_weight=0).value(np.array(0.19), np.array(0.0), (90, 10)).round(3))
    0.1
    """

    name = "g-mean"
    is_balanced = True

    def __init__(self, f1_weight: float = 0.08) -> None:
        self.f1_weight = as_positive("f1_weight", f1_weight, "Use 0 for the plain one.", zero=True)

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[int, int]
    ) -> FloatArray:
        """Return one minus the geometric mean of the recalls, times a power of F1."""
        g_mean = np.sqrt((1.0 - negative) * (1.0 - positive))
        if not self.f1_weight or n_samples[0] == n_samples[1]:
            return np.asarray(1.0 - g_mean)
        rare, common = (positive, negative) if n_samples[0] > n_samples[1] else (negative, positive)
        ratio = max(n_samples) / min(n_samples)
        f1 = 2.0 * (1.0 - rare) / (2.0 - rare + ratio * common)
        return np.asarray(1.0 - g_mean * f1**self.f1_weight)


class Cost(Rule):
    """Expected cost of a decision: misclassification costs times class frequencies.

    Parameters
    ----------
    costs : pair of float, default=(1, 1)
        Cost of a false alarm (a negative called positive) and of a miss (a positive called
        negative).
    priors : pair of float, default=None
        Frequencies of the classes (negative, positive) where decisions will be made; None takes
        those of the sample. They are scaled to sum to 1.

    Examples
    --------
    A miss costs 20 false alarms:

    >>> rule = Cost(costs=(1, 20))
    >>> float(rule.value(np.array(0.2), np.array(0.1), (90, 10)).round(3))
    0.38
    """

    name = "cost"

    def __init__(
        self, costs: tuple[float, float] = (1.0, 1.0), priors: tuple[float, float] | None = None
    ) -> None:
        self.costs = as_pair("costs", costs, "Pass (cost of a false alarm, cost of a miss).")
        self.priors = None if priors is None else as_pair("priors", priors, "Pass frequencies.")

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[int, int]
    ) -> FloatArray:
        """Return the expected cost."""
        first, second = self.priors or n_samples
        risk = self.costs[0] * first * negative + self.costs[1] * second * positive
        return np.asarray(risk / (first + second))


class NeymanPearson(Rule):
    """Meet a floor for one class's recall, then do the best for the other class.

    With a curve of high probability the floor is met with that probability: a boundary that
    leaves a fixed number of a class's points on the wrong side is an order statistic of that
    class, and the binomial bound for the count holds for it as it is.

    Parameters
    ----------
    floor : float, default=0.9
        Least recall, between 0 and 1.
    protect : {"positive", "negative"}, default="positive"
        Class whose recall has the floor.

    Examples
    --------
    >>> rule = NeymanPearson(floor=0.9)
    >>> error = np.array([0.05, 0.2])
    >>> rule.value(np.array([0.4, 0.1]), error, (90, 10)).round(3).tolist()
    [0.4, 2.2]
    """

    name = "neyman-pearson"

    def __init__(
        self, floor: float = 0.9, protect: Literal["positive", "negative"] = "positive"
    ) -> None:
        self.floor = as_share("floor", floor, "Use 0.9, for example.")
        self.protect = as_choice("protect", protect, ("positive", "negative"))

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[int, int]
    ) -> FloatArray:
        """Return the other class's error, or something above 2 where the floor is not met."""
        protected, other = (
            (positive, negative) if self.protect == "positive" else (negative, positive)
        )
        # Beyond the floor the protected class comes first, the other one breaks ties.
        beyond = 2.0 + protected + 1e-6 * other
        return np.where(protected <= self._most, other, beyond)

    def met(self, negative: float, positive: float) -> bool:
        """Return whether the floor is met."""
        return (positive if self.protect == "positive" else negative) <= self._most

    @property
    def _most(self) -> float:
        """Largest error of the protected class; a rounding error must not break the floor."""
        return 1.0 - self.floor + 1e-12


class Metric(Rule):
    """Maximise a scikit-learn metric of the confusion matrix that the curves expect.

    Meant for a curve that estimates the error, such as "smoothed".

    Parameters
    ----------
    metric : callable or str
        A function of (y_true, y_pred, sample_weight), or the name of a scikit-learn scorer of
        predictions, such as "f1".
    greater_is_better : bool, default=True
        Whether the metric is to be maximised; a scorer's name settles it.
    priors : pair of float, default=None
        Frequencies of the classes (negative, positive); None takes those of the sample.

    Examples
    --------
    >>> rule = Metric("f1")
    >>> float(rule.value(np.array([0.0]), np.array([0.5]), (90, 10))[0].round(3))
    -0.667
    """

    name = "metric"

    def __init__(
        self,
        metric: Callable[..., float] | str = "balanced_accuracy",
        greater_is_better: bool = True,
        priors: tuple[float, float] | None = None,
    ) -> None:
        self.metric = metric
        self.greater_is_better = greater_is_better
        self.priors = None if priors is None else as_pair("priors", priors, "Pass frequencies.")

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[int, int]
    ) -> FloatArray:
        """Return the metric, negated if more of it is better."""
        function, sign = self._resolve()
        first, second = self.priors or n_samples
        true, predicted = [0, 0, 1, 1], [0, 1, 0, 1]
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


RULES: dict[str, type[Rule]] = {
    r.name: r for r in (Cost, GMean, Metric, Minimax, NeymanPearson, Sum)
}


def as_rule(rule: str | Rule) -> Rule:
    """Return a rule given itself or its name.

    Examples
    --------
    >>> as_rule("neyman-pearson")
    NeymanPearson(floor=0.9, protect='positive')
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]()
    raise InvalidInputError(
        f"`rule` must be a Rule or one of {', '.join(map(repr, RULES))}, got {rule!r}."
    )
