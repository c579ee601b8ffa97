"""Every method of the benchmark: from the scores of one training to labels of its test rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift import Cost, find_boundary
from boundshift._typing import FloatArray
from boundshift.curves import ErrorCurve, SupportRadius
from boundshift.rules import Minimax
from lab.baselines import QUALITIES, Quality, best_cut, prior_threshold, tune_as_scikit_learn
from lab.benchmark.train import Response, Trained
from lab.curves import DKW
from lab.experiment import quiet

Labels = NDArray[np.bool_]
# What a miss costs if a false alarm costs 1.
MISS = 10.0


def _kappa(specificity: FloatArray, recall: FloatArray, share: float) -> FloatArray:
    flagged = recall * share + (1 - specificity) * (1 - share)
    agreed = recall * share + specificity * (1 - share)
    by_chance = flagged * share + (1 - flagged) * (1 - share)
    return np.asarray((agreed - by_chance) / (1 - by_chance))


def _saving(specificity: FloatArray, recall: FloatArray, share: float) -> FloatArray:
    """Return minus the cost of a row."""
    return np.asarray(-MISS * share * (1 - recall) - (1 - share) * (1 - specificity))


METRICS: dict[str, Quality] = {**QUALITIES, "kappa": _kappa, "cost": _saving}
"""Name → metric of specificity, recall and the prevalence; more is better."""

_RULES: dict[str, Any] = {
    "f1": "f1",
    "mcc": "mcc",
    "kappa": "kappa",
    "cost": Cost(false_negative=MISS),
}


@dataclass(frozen=True)
class Method:
    """A way to decide, its title in tables, and the metric that it aims at, if it aims at one."""

    title: str
    label: Callable[[Trained], Labels]
    goal: str = ""


def _untouched(trained: Trained) -> Labels:
    scores = trained.plain[trained.scale].test
    return scores > (0.5 if trained.scale == "probability" else 0.0)


def _retrained(kind: str) -> Callable[[Trained], Labels]:
    def label(trained: Trained) -> Labels:
        labels = trained.retrained[kind]
        if isinstance(labels, str):
            raise ValueError(labels)
        return labels

    return label


def _adjust_logits(trained: Trained) -> Labels:
    """Predict positive above the prevalence, as post-hoc logit adjustment does."""
    if "probability" not in trained.plain:
        raise ValueError("The model must have probabilities.")
    scores = trained.plain["probability"]
    return scores.test > prior_threshold(trained.y_train, scores.out_of_fold)


def _tune(metric: str, response: Response | None = None) -> Callable[[Trained], Labels]:
    """Return `TunedThresholdClassifierCV`, by default or asked for `decision_function`."""

    def label(trained: Trained) -> Labels:
        asked = response if response in trained.plain else trained.scale
        scores = trained.plain[asked or trained.scale]
        cut = tune_as_scikit_learn(
            trained.y_train, scores.out_of_fold, trained.folds, METRICS[metric]
        )
        return scores.test > cut

    return label


def _cut_best(metric: str) -> Callable[[Trained], Labels]:
    def label(trained: Trained) -> Labels:
        cut = best_cut(trained.y_train, trained.deciding, METRICS[metric], trained.share)
        return trained.deployed > cut

    return label


def _shift(rule: Any, curve: str | ErrorCurve | None = None) -> Callable[[Trained], Labels]:
    """Return :func:`~boundshift.find_boundary` on the scores that the classifier decides on."""
    options: dict[str, Any] = {} if curve is None else {"curve": curve}

    def label(trained: Trained) -> Labels:
        with quiet():
            boundary = find_boundary(
                trained.y_train, trained.deciding, rule=rule, scale=trained.scale, **options
            )
            return np.asarray(boundary.predict(trained.deployed) == 1)

    return label


def _shift_as_the_authors(trained: Trained) -> Labels:
    """Decide on the training scores by margins; without a solution the model stays as it is."""
    response: Response = "raw" if "raw" in trained.plain else "probability"
    scores = trained.plain[response]
    with quiet():
        boundary = find_boundary(
            trained.y_train, scores.train, curve=SupportRadius.authors(), scale=response
        )
        if not boundary.status.solved:
            return _untouched(trained)
        return np.asarray(boundary.predict(scores.test) == 1)


def _know(deployed: bool) -> Callable[[Trained], Labels]:
    def label(trained: Trained) -> Labels:
        scores = trained.deployed if deployed else trained.plain[trained.scale].test
        return scores > best_cut(trained.y_test, scores, METRICS["g-mean"], trained.share)

    return label


_AIMS = {"f1": "F1", "mcc": "MCC", "kappa": "kappa", "cost": "cost"}

METHODS: dict[str, Method] = {
    "untouched": Method("untouched model", _untouched),
    "smote": Method("retrained with SMOTE", _retrained("smote")),
    "balanced-weights": Method("retrained with class weights", _retrained("balanced")),
    "logit-adjustment": Method("logit adjustment (above the prevalence)", _adjust_logits),
    "tuned/balanced-accuracy": Method(
        "scikit-learn, tuned for balanced accuracy", _tune("balanced-accuracy")
    ),
    "tuned/g-mean": Method("scikit-learn, tuned for the G-mean", _tune("g-mean")),
    "tuned-margins/g-mean": Method(
        "scikit-learn, tuned on margins (`decision_function`)", _tune("g-mean", "raw")
    ),
    "authors/clopper-pearson": Method(
        "the authors' follow-up, Clopper–Pearson", _shift(Minimax(), "clopper-pearson")
    ),
    "authors/dkw": Method("the authors' follow-up, DKW", _shift(Minimax(), DKW())),
    "paper": Method("the paper's method, as its authors run it", _shift_as_the_authors),
    "best-cut/g-mean": Method("best cut on the same scores and model", _cut_best("g-mean")),
    "ours": Method("boundshift, default", lambda trained: trained.ours),
    "known": Method("best threshold of one model, known afterwards", _know(deployed=False)),
    "known/deployed": Method(
        "best threshold of the deployed model, known afterwards", _know(deployed=True)
    ),
    **{
        f"{name}/{goal}": Method(title.format(aim=aim), label, goal)
        for goal, aim in _AIMS.items()
        for name, title, label in (
            ("tuned", "scikit-learn, tuned for {aim}", _tune(goal)),
            ("tuned-margins", "scikit-learn, tuned on margins for {aim}", _tune(goal, "raw")),
            ("best-cut", "best cut for {aim}", _cut_best(goal)),
            ("ours", "boundshift for {aim}", _shift(_RULES[goal])),
        )
    },
}
"""Name → method, in the order of the tables."""
