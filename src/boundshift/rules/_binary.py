r"""Rules of two classes: balanced rates, costs, metrics of the confusion matrix.

Metrics are functions of both error rates and of the prevalence :math:`\pi`, the share of the
positive class. With the share that is flagged, :math:`q = \pi\,(1 - u_+) + (1 - \pi)\,u_-`, and
:math:`J = 1 - u_- - u_+`,

.. math:: F_\beta = \frac{(1 + \beta^2)\,\pi\,(1 - u_+)}{\beta^2 \pi + q}, \quad
          \mathrm{MCC} = J \sqrt{\frac{\pi (1 - \pi)}{q (1 - q)}}, \quad
          \kappa = \frac{2 \pi (1 - \pi) J}{\pi (1 - q) + (1 - \pi) q}.

All grow as either error falls, as long as :math:`J > 0`. Below chance, a small penalty
proportional to :math:`-J` keeps MCC and kappa monotone, which the search relies on.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from boundshift._typing import FloatArray
from boundshift._validation import as_positive, as_share, nearest_name
from boundshift._words import METRIC_TITLES
from boundshift.exceptions import InvalidInputError
from boundshift.rules._base import Rule, Sizes

_COSTS = "Use Cost(false_positive=1, false_negative=20) where a miss costs 20 false alarms."
# Penalty per unit of J below 0.
_BELOW_CHANCE = 1e-3
# Metrics of scikit-learn that are called by a proper name.
_NAMES = {
    "cohen_kappa": METRIC_TITLES["kappa"],
    "fowlkes_mallows": "Fowlkes–Mallows index",
    "jaccard": "Jaccard index",
    "matthews_corrcoef": "Matthews correlation coefficient",
}


def as_prevalence(value: object) -> float | None:
    """Return the share of the positive class where decisions are made, None for the sample's."""
    if value is None:
        return None
    return as_share("prevalence", value, "Use 0.001 for one in a thousand, None for the sample's.")


def frequencies(prevalence: float | None, n_samples: Sizes) -> Sizes:
    """Return the weights of the negative and the positive class, which need not sum to 1."""
    return n_samples if prevalence is None else (1.0 - prevalence, prevalence)


@dataclass(frozen=True)
class Sum(Rule):
    """Sum of both error rates; its minimum maximises the balanced accuracy.

    Examples
    --------
    >>> float(Sum().value(np.array(0.2), np.array(0.1), (90, 10)).round(3))
    0.3
    """

    name = "balanced_accuracy"
    title = METRIC_TITLES["balanced_accuracy"]
    maximised = True
    symmetric = True

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the sum."""
        return negative + positive

    def measure(self, negative: FloatArray, positive: FloatArray, prevalence: float) -> FloatArray:
        """Return the balanced accuracy."""
        return np.asarray(((1.0 - negative) + (1.0 - positive)) / 2)


@dataclass(frozen=True)
class Minimax(Rule):
    """The larger of both error rates.

    Examples
    --------
    >>> float(Minimax().value(np.array(0.2), np.array(0.1), (90, 10)))
    0.2
    """

    name = "minimax"
    title = "the larger of the two error rates"
    in_percent = True
    symmetric = True

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the maximum."""
        return np.maximum(negative, positive)


@dataclass(frozen=True)
class GMean(Rule):
    """One minus the G-mean, the geometric mean of recall and specificity.

    A compromise between the sum of both errors, which can be low although one of them is high, and
    the larger error.

    Examples
    --------
    >>> float(GMean().value(np.array(0.19), np.array(0.0), (90, 10)).round(3))
    0.1
    """

    name = "g-mean"
    title = METRIC_TITLES["g_mean"]
    maximised = True
    symmetric = True

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return one minus the geometric mean of the recalls."""
        return 1.0 - self.measure(negative, positive, 0.5)

    def measure(self, negative: FloatArray, positive: FloatArray, prevalence: float) -> FloatArray:
        """Return the geometric mean of the recalls."""
        return np.asarray(np.sqrt((1.0 - negative) * (1.0 - positive)))


@dataclass(frozen=True, kw_only=True)
class Cost(Rule):
    """Expected cost of a decision: costs of errors times class frequencies.

    Parameters
    ----------
    false_positive : float, default=1
        Cost of a false alarm: a negative called positive.
    false_negative : float, default=1
        Cost of a miss: a positive called negative.
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's. Give
        it where negatives were subsampled.

    Examples
    --------
    A miss costs 20 false alarms:

    >>> rule = Cost(false_positive=1, false_negative=20)
    >>> float(rule.value(np.array(0.2), np.array(0.1), (90, 10)).round(3))
    0.38
    """

    name = "cost"

    false_positive: float = 1.0
    false_negative: float = 1.0
    prevalence: float | None = None

    def __post_init__(self) -> None:
        for name in ("false_positive", "false_negative"):
            object.__setattr__(self, name, as_positive(name, getattr(self, name), _COSTS))
        object.__setattr__(self, "prevalence", as_prevalence(self.prevalence))

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the expected cost of one decision."""
        first, second = frequencies(self.prevalence, n_samples)
        risk = self.false_positive * first * negative + self.false_negative * second * positive
        return np.asarray(risk / (first + second))


@dataclass(frozen=True)
class ConfusionRule(Rule):
    """A metric of the confusion matrix, to be maximised.

    Unless it is of one class it is 0 by chance, and symmetric at the sample's own prevalence.
    """

    maximised = True
    of_one_class: ClassVar[bool] = False

    prevalence: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", as_prevalence(self.prevalence))

    @property
    def symmetric(self) -> bool:
        """Whether the metric is symmetric in both classes; a given prevalence breaks that."""
        return self.prevalence is None and not self.of_one_class

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return minus the metric; below chance, a small penalty that grows with each error."""
        first, second = frequencies(self.prevalence, n_samples)
        metric = self.measure(negative, positive, second / (first + second))
        youden = np.asarray(1.0 - negative - positive)
        is_below = (youden < 0) & (not self.of_one_class)
        return np.where(is_below, -_BELOW_CHANCE * youden, -metric)


def _flagged(negative: FloatArray, positive: FloatArray, prevalence: float) -> FloatArray:
    """Return the share of all rows that is flagged."""
    return np.asarray(prevalence * (1.0 - positive) + (1.0 - prevalence) * negative)


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return top over bottom, 0 where the bottom is not above 0."""
    return np.divide(top, bottom, out=np.zeros_like(bottom), where=bottom > 0)


@dataclass(frozen=True)
class FBeta(ConfusionRule):
    """F-beta of the positive class: the harmonic mean of precision and recall.

    Parameters
    ----------
    beta : float, default=1
        Recall counts `beta` times as much as precision. The names "f1" and "f2" stand for 1 and 2.
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's.

    Examples
    --------
    10 positives and 90 negatives, 7 hits, 18 false alarms, 3 misses:

    >>> float(FBeta().value(np.array(0.2), np.array(0.3), (90, 10)).round(3))
    -0.4
    """

    name = "f-beta"
    of_one_class = True

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", as_positive("beta", self.beta, "Use 1 for F1."))

    @property
    def title(self) -> str:
        """Name of the metric, such as "F1"."""
        return f"F{self.beta:g}"

    def measure(self, negative: FloatArray, positive: FloatArray, prevalence: float) -> FloatArray:
        """Return F-beta."""
        flagged = _flagged(negative, positive, prevalence)
        square = self.beta**2
        return _ratio((1.0 + square) * prevalence * (1.0 - positive), square * prevalence + flagged)


@dataclass(frozen=True)
class MCC(ConfusionRule):
    """Matthews correlation coefficient; `prevalence` as in :class:`FBeta`.

    Examples
    --------
    >>> float(MCC().value(np.array(0.2), np.array(0.3), (90, 10)).round(3))
    -0.346
    """

    name = "mcc"
    title = METRIC_TITLES["mcc"]

    def measure(self, negative: FloatArray, positive: FloatArray, prevalence: float) -> FloatArray:
        """Return the correlation."""
        youden = 1.0 - negative - positive
        flagged = _flagged(negative, positive, prevalence)
        spread = np.asarray(np.sqrt(flagged * (1.0 - flagged)))
        return _ratio(youden * np.sqrt(prevalence * (1.0 - prevalence)), spread)


@dataclass(frozen=True)
class Kappa(ConfusionRule):
    """Cohen's kappa: agreement beyond chance; `prevalence` as in :class:`FBeta`.

    Examples
    --------
    >>> float(Kappa().value(np.array(0.2), np.array(0.3), (90, 10)).round(3))
    -0.3
    """

    name = "kappa"
    title = METRIC_TITLES["kappa"]

    def measure(self, negative: FloatArray, positive: FloatArray, prevalence: float) -> FloatArray:
        """Return kappa."""
        youden = 1.0 - negative - positive
        flagged = _flagged(negative, positive, prevalence)
        by_chance = prevalence * (1.0 - flagged) + (1.0 - prevalence) * flagged
        return _ratio(2.0 * prevalence * (1.0 - prevalence) * youden, np.asarray(by_chance))


@dataclass(frozen=True)
class Metric(Rule):
    """Maximise a scikit-learn metric of predictions.

    The metric is computed from the error rates that the curve estimates. The search calls it a few
    hundred times and finds the optimum up to a millionth of the range of the scores. If a named
    rule optimises the same metric, such as "f1" or "mcc", use it: it is exact.

    Parameters
    ----------
    metric : str, scorer or callable
        The name of a scikit-learn scorer of predictions, such as "jaccard", a scorer as
        ``make_scorer`` returns it, or a function of (y_true, y_pred, sample_weight). It gets 1
        for the positive class and 0 for the negative one, whatever the labels are.
    greater_is_better : bool, default=True
        Whether a function is to be maximised; a scorer states this itself.
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
    monotone = False

    metric: Callable[..., float] | str
    greater_is_better: bool = True
    prevalence: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", as_prevalence(self.prevalence))
        function, _ = self.resolve()
        if {"pos_label", "labels"} & set(getattr(function, "keywords", ())):
            raise InvalidInputError(
                f"must not name pos_label or labels, got {self.metric!r}: it gets 1 for "
                "the positive class and 0 for the other. Leave them out, and name the positive "
                "class by pos_label of find_boundary or of the classifier.",
                argument="metric",
            )
        parameters = inspect.signature(function).parameters.values()
        if not any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
            raise InvalidInputError(
                "must take sample_weight, by which it counts the rows that a curve "
                f"expects, got {self.metric!r}. Give it that argument: "
                "metric(y_true, y_pred, sample_weight=None).",
                argument="metric",
            )

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the metric, negated if more of it is better."""
        from sklearn import config_context

        function, sign = self.resolve()
        first, second = frequencies(self.prevalence, n_samples)
        truth = np.array([0, 0, 1, 1])
        predicted = np.array([0, 1, 0, 1])
        # The four rows are valid by construction, and checking them takes longer than the metric.
        with config_context(skip_parameter_validation=True, assume_finite=True):
            values = [
                function(
                    truth,
                    predicted,
                    sample_weight=[first * (1 - u), first * u, second * v, second * (1 - v)],
                )
                for u, v in zip(np.ravel(negative), np.ravel(positive), strict=True)
            ]
        if not all(isinstance(value, numbers.Real) for value in values):
            raise InvalidInputError(
                f"must give one number, got {values[0]!r} from {self.metric!r}. Name the "
                "average, as in make_scorer(f1_score, average='macro').",
                argument="metric",
            )
        return -sign * np.reshape(np.asarray(values, dtype=np.float64), np.shape(negative))

    @property
    def title(self) -> str:
        """Name of the metric."""
        given = getattr(self.metric, "_score_func", self.metric)
        name = given if isinstance(given, str) else getattr(given, "__name__", "metric")
        name = str(name).removesuffix("_score")
        return _NAMES.get(name) or METRIC_TITLES.get(name) or name.replace("_", " ")

    @property
    def maximised(self) -> bool:
        """Whether more is better; a scorer knows better than the argument."""
        return self.resolve()[1] > 0

    def resolve(self) -> tuple[Callable[..., float], float]:
        """Return the metric as a function, and 1 if it is to be maximised, else -1."""
        scorer: Any = self.metric
        remedy = " Use 'f1' or 'balanced_accuracy', for example."
        if isinstance(scorer, str):
            from sklearn.metrics import get_scorer, get_scorer_names

            known = get_scorer_names()
            if scorer in known:
                scorer = get_scorer(scorer)
            else:
                remedy = nearest_name(scorer, known) or remedy
        if not callable(scorer) or getattr(scorer, "_response_method", "predict") != "predict":
            raise InvalidInputError(
                "must be a function of labels and predictions, a scorer of predictions "
                f"or its name, got {self.metric!r}. Rankings and probabilities have no boundary."
                f"{remedy}",
                argument="metric",
            )
        if hasattr(scorer, "_score_func"):
            return partial(scorer._score_func, **scorer._kwargs), float(scorer._sign)
        return scorer, 1.0 if self.greater_is_better else -1.0
