"""What a rule makes best: in words, and as a number of both error rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boundshift.metrics import metrics_of_errors
from boundshift.report.goal_words import amount_text
from boundshift.rules import Cost, FBeta, Floors, GMean, Metric, Minimax, Rule, Sum
from boundshift.typing import FloatArray
from boundshift.view.words import percent

__all__ = ["PER", "Aim", "aim_of"]


PER = 1000
"""Decisions whose cost is told."""

_TITLES = {
    "mcc": "Matthews correlation (MCC)",
    "kappa": "Cohen's kappa",
    "youden": "Youden's J",
    "markedness": "markedness",
}


@dataclass(frozen=True)
class Aim:
    """What is to be best about a decision.

    Parameters
    ----------
    title : str
        What the number is called, such as "F1".
    wish : str
        What is asked for, such as "the greatest F1".
    greater : bool
        Whether more of it is better.
    measure : callable
        The number, from the error rates of the negative and the positive class and the share of
        positives.
    text : callable
        The number in words.
    by_share : bool
        Whether the number depends on the share of positives.
    amounts : bool
        Whether the number is what 1,000 decisions cost.
    grows : bool
        Whether the number is known to get worse with each of the two error rates, wherever a
        decision is better than a guess, so that bounds of both bound it.
    slow : bool
        Whether the number takes long to compute.
    """

    title: str
    wish: str
    greater: bool
    measure: Callable[[FloatArray, FloatArray, float], FloatArray]
    text: Callable[[float], str]
    by_share: bool = True
    amounts: bool = False
    grows: bool = True
    slow: bool = False


def aim_of(rule: Rule) -> Aim:
    """Return what a rule makes best; of floors, what is best among the boundaries that keep them.

    Examples
    --------
    >>> import boundshift
    >>> aim = aim_of(boundshift.FBeta())
    >>> aim.wish, aim.text(float(aim.measure(np.array(0.2), np.array(0.3), 0.1)))
    ('the greatest F1', '0.400')
    """
    if isinstance(rule, Floors):
        return aim_of(rule.objective)
    if isinstance(rule, Cost):
        return _least_cost(rule)
    if isinstance(rule, Minimax):
        return Aim(
            title="the larger of the two error rates",
            wish="the larger of the two error rates as low as possible",
            greater=False,
            measure=lambda u, v, share: np.maximum(u, v),
            text=_percent,
            by_share=False,
        )
    if isinstance(rule, GMean):
        return _greatest("G-mean", lambda u, v, share: _named(u, v, share, "g_mean"), False)
    if isinstance(rule, Sum):
        return _greatest(
            "balanced accuracy", lambda u, v, share: _named(u, v, share, "balanced_accuracy"), False
        )
    if isinstance(rule, FBeta):
        plain: Any = replace(rule, prevalence=None)
        return _greatest(f"F{rule.beta:g}", lambda u, v, share: -_at_share(plain, u, v, share))
    if rule.name in _TITLES:
        key = rule.name
        return _greatest(
            _TITLES[key], lambda u, v, share: _named(u, v, share, key), key != "youden"
        )
    return _any_rule(rule)


def _least_cost(rule: Cost) -> Aim:
    """Return the aim of costs, for so many decisions."""
    miss, alarm = rule.false_negative, rule.false_positive
    return Aim(
        title="cost of 1,000 decisions",
        wish=f"the least cost, where a miss costs {miss:g} and a false alarm {alarm:g}",
        greater=False,
        measure=lambda u, v, share: PER * (alarm * (1 - share) * u + miss * share * v),
        text=amount_text,
        amounts=True,
    )


def _greatest(
    title: str,
    measure: Callable[[FloatArray, FloatArray, float], FloatArray],
    by_share: bool = True,
) -> Aim:
    """Return the aim of a metric from 0 or -1 to 1."""
    return Aim(title, f"the greatest {title}", True, measure, _three_digits, by_share)


def _any_rule(rule: Rule) -> Aim:
    """Return the aim of scikit-learn's metrics and of rules that users write."""
    plain: Any = rule
    if hasattr(rule, "prevalence"):
        plain = replace(plain, prevalence=None)
    if not isinstance(rule, Metric):
        return Aim(
            title=f"“{rule.name}”",
            wish=f"the least value of the rule “{rule.name}”",
            greater=False,
            measure=lambda u, v, share: _at_share(plain, u, v, share),
            text=_three_digits,
            grows=False,
            slow=rule.costly,
        )
    title = _metric_name(rule)
    _, sign = rule._resolve()  # a scorer knows better than the argument
    greater = sign > 0
    return Aim(
        title=title,
        wish=f"the {'greatest' if greater else 'least'} {title}",
        greater=greater,
        measure=lambda u, v, share: -sign * _at_share(plain, u, v, share),
        text=_three_digits,
        grows=False,
        slow=True,
    )


def _metric_name(rule: Metric) -> str:
    """Return what a metric of scikit-learn is called."""
    given: Any = rule.metric
    function = getattr(given, "_score_func", given)
    name = given if isinstance(given, str) else getattr(function, "__name__", "metric")
    return str(name).removesuffix("_score").replace("_", " ")


def _at_share(rule: Rule, negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    """Return a rule's value where so many are positive."""
    return rule.value(np.asarray(negative), np.asarray(positive), (1 - share, share))


def _named(negative: FloatArray, positive: FloatArray, share: float, name: str) -> FloatArray:
    """Return a metric where so many are positive."""
    return metrics_of_errors(negative, positive, (1 - share, share))[name]


def _percent(value: float) -> str:
    """Return a share in percent with a true minus."""
    return percent(value).replace("-", "−")


def _three_digits(value: float) -> str:
    """Return a metric with three digits and a true minus."""
    return f"{value:.3f}".replace("-", "−")
