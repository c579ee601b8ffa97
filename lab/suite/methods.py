"""Every method of the suite, by name: ``curve/rule@source``, and rivals.

To try a curve or a rule, add it to `CURVES_TRIED` or `RULES_TRIED`; to try anything else, add a
:class:`~lab.harness.methods.Method` with a function from
:class:`~lab.suite.fitted.FittedSplit` to a decision. The scores are there already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import get_args

from boundshift.boundary import choose_claims
from boundshift.classifier import BoundShiftClassifier
from boundshift.curves import CURVES, ErrorCurve, SupportRadius
from boundshift.exceptions import InvalidInputError
from boundshift.rivals import bayes_risk_threshold, cost_threshold, tuned_threshold
from boundshift.rules import Cost, Floors, GMean, Metric, Minimax, Rule, Sum
from lab.harness.fitted import Decision, Sample, Scored, Source
from lab.harness.methods import (
    Decide,
    Group,
    Method,
    by_boundary,
    by_probability,
    by_tuner,
    keep_boundary,
)
from lab.harness.tuner import QUALITIES
from lab.rivals import prior_threshold

__all__ = [
    "CURVES_TRIED",
    "METHODS",
    "RIVAL_PANEL",
    "RULES_TRIED",
    "choose_methods",
    "default_method",
]

SCORED: tuple[Scored, ...] = get_args(Scored)


def f1_of_weights(y: object, predicted: object, sample_weight: Sequence[float]) -> float:
    """Return F1 of four cells; a scikit-learn metric would take a hundred times as long."""
    _, alarms, misses, hits = sample_weight
    return 2 * hits / (2 * hits + alarms + misses) if hits > 0 else 0.0


CURVES_TRIED: dict[str, ErrorCurve] = {name: curve() for name, curve in CURVES.items()}
"""Name → error curve."""

RULES_TRIED: dict[str, Rule] = {
    "sum": Sum(),
    "minimax": Minimax(),
    "g-mean": GMean(),
    "cost": Cost(),
    "floors": Floors(recall=0.9),
    "f1": Metric(f1_of_weights),
}
"""Name → rule: costs 1 and 1, a floor of 0.9 for the minority's recall, and F1 as the metric."""

# The authors' follow-up: a distribution-free bound of the larger error.
_FOLLOW_UP = {("clopper-pearson", "minimax"), ("dkw", "minimax")}


def _ours() -> list[Method]:
    """Return every curve with every rule on every source."""
    return [
        Method(
            f"{curve}/{rule}@{source}",
            _group(curve, rule),
            by_boundary(source, curve=CURVES_TRIED[curve], rule=RULES_TRIED[rule]),
            source,
        )
        for source in SCORED
        for curve in CURVES_TRIED
        for rule in RULES_TRIED
    ]


def _group(curve: str, rule: str) -> Group:
    if (curve, rule) in _FOLLOW_UP:
        return "rival"
    return "ours" if RULES_TRIED[rule].alike else "other aim"


def _paper() -> list[Method]:
    """Return the paper's method as its authors run it: without a solution the model stays."""
    return [
        Method(
            f"paper/{curve.__name__}@{source}",
            "rival",
            by_boundary(source, curve=curve(fallback=0.0)),
            source,
        )
        for curve in (SupportRadius.authors, SupportRadius.paper)
        for source in SCORED
    ]


def _rivals() -> list[Method]:
    """Return what there is without this library."""
    methods = [
        Method("untouched", "rival", keep_boundary, "training", fixed=True),
        Method("untouched@held-out", "rival", keep_boundary, "held-out", fixed=True),
        Method("smote", "rival", keep_boundary, "smote"),
        Method("balanced-weights", "rival", keep_boundary, "balanced"),
        Method("prior-threshold", "rival", by_probability(prior_threshold, "training"), "training"),
    ]
    methods += [
        Method(f"tuned/{name}", "rival", by_tuner(quality), "out-of-fold")
        for name, quality in QUALITIES.items()
    ]
    of_probabilities = {"bmr": bayes_risk_threshold, "thresholding": cost_threshold}
    known: tuple[Scored, ...] = ("training", "out-of-fold")
    methods += [
        Method(f"{name}@{source}", "rival", by_probability(rule, source), source)
        for name, rule in of_probabilities.items()
        for source in known
    ]
    methods += [
        Method(f"best-cut/{name}@{source}", "rival", _by_scores(rule, source), source)
        for name, rule in _best_cuts().items()
        for source in SCORED
    ]
    return methods


def _by_scores(rule: Callable[[Sample], float], source: Source) -> Decide:
    """Return a rule from labelled scores to a threshold, on scores of a source."""
    return lambda fitted: Decision(rule(fitted.sample(source)))


def _best_cuts() -> dict[str, Callable[[Sample], float]]:
    """Return what a tuner would do that looked at every cut of the pooled scores."""
    return {
        "balanced-accuracy": lambda sample: tuned_threshold(*sample, metric="balanced_accuracy"),
        "g-mean": lambda sample: tuned_threshold(*sample, metric="g_mean"),
    }


METHODS: dict[str, Method] = {m.name: m for m in (*_rivals(), *_paper(), *_ours())}
"""Name → method, in the order of the tables."""

RIVAL_PANEL = (
    "untouched",
    "smote",
    "balanced-weights",
    "tuned/balanced-accuracy",
    "tuned/g-mean",
    "tuned/f1",
    "best-cut/balanced-accuracy@out-of-fold",
    "best-cut/g-mean@out-of-fold",
    "prior-threshold",
    "bmr@training",
    "bmr@out-of-fold",
    "thresholding@training",
    "thresholding@out-of-fold",
    "clopper-pearson/minimax@out-of-fold",
    "dkw/minimax@out-of-fold",
    "paper/authors@training",
)
"""The rivals that the default is tested against, each on the scores that it is meant for."""


def default_method() -> str:
    """Return the method that `BoundShiftClassifier` uses by default.

    Examples
    --------
    >>> default_method() in METHODS
    True
    """
    source = "training" if BoundShiftClassifier(None).cv is None else "out-of-fold"
    curve, rule = choose_claims()
    return f"{curve.name}/{rule.name}@{source}"


def choose_methods(patterns: Sequence[str] = ("*",)) -> list[Method]:
    """Return all methods whose name one of the patterns matches.

    Parameters
    ----------
    patterns : sequence of str, default=("*",)
        Names with ``*`` and ``?`` for any letters.

    Examples
    --------
    >>> [method.name for method in choose_methods(["smote", "smoothed/sum@*fold"])]
    ['smote', 'smoothed/sum@out-of-fold']
    """
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in METHODS):
            raise InvalidInputError(
                f"`methods` must be names or patterns of methods, got {pattern!r}, which matches "
                f"none of {len(METHODS)}. Use 'smote', 'tuned/*' or 'smoothed/*@out-of-fold', for "
                "example."
            )
    return [m for name, m in METHODS.items() if any(fnmatchcase(name, p) for p in patterns)]
