"""What pooling the scores of fold models costs, and what mends it.

Usage: ``python -m lab.evidence.fold_scales [--quick]``.

Stratified half/half splits of public data; five models are fitted on the first half, each without
one fold, and their mean decides the second half. Ways differ in how the folds' scores are put on
one scale before they are pooled, and in when the model's own boundary stays:

- *as they are*: pooled untouched;
- *median and quartiles*: each fold's scores moved and stretched to the pooled median and
  interquartile range, whatever the labels;
- *quartiles*: stretched only, about zero;
- *quartiles, if wild*: the same where the widest fold is ten times as wide as the narrowest;
- *keep if 0, 1, 2*: pooled as they are, and the model's own boundary stays where left-out folds
  say that the shift loses by more than that many standard errors;
- *wild, keep if 2*: both.

The last columns tell how far the threshold, chosen on scores of single models, is from the best
one for their mean: `narrower` is the ratio of the scores' spreads, mean to single, and `regret`
what the best threshold on the judging rows would gain, for the mean and for single models.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from boundshift.boundary import choose_claims, make_decision
from boundshift.datasets import load_heart, load_hepatitis, load_pima
from boundshift.models import nested
from boundshift.models.log_odds import find_winner
from boundshift.models.mean import mean_scores
from boundshift.models.response import Response, choose_method, read_responses
from boundshift.multiclass import find_biases
from boundshift.scores.sample import ScoreSample
from boundshift.typing import FloatArray
from lab.evidence.evidence import in_parallel, table
from lab.harness.training import fit_quietly

IntArray = NDArray[np.intp]
Parts = list[FloatArray]

FOLDS = 5
SEEDS = tuple(range(5))
WILD = 10.0
MODELS: dict[str, Callable[[], Any]] = {
    "naive Bayes": GaussianNB,
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "machine": lambda: make_pipeline(StandardScaler(), SVC()),
    "network": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((20,), max_iter=300, random_state=0)
    ),
    "forest": lambda: RandomForestClassifier(100, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=50),
}


def data_sets() -> dict[str, tuple[FloatArray, IntArray]]:
    """Return small public data sets: of many classes, of two, and of two with one rare."""
    digits, digit = load_digits(return_X_y=True)
    found = {
        "digits": (digits, digit),
        "digits, 8 or not": (digits, (digit == 8).astype(int)),
        "digits, odd or even": (digits, digit % 2),
        "wine": load_wine(return_X_y=True),
        "iris": load_iris(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
    }
    X, y = load_diabetes(return_X_y=True)
    found["diabetes, worst tenth"] = X, (y > np.quantile(y, 0.9)).astype(int)
    for name, load in (("pima", load_pima), ("heart", load_heart), ("hepatitis", load_hepatitis)):
        X, y = load(return_X_y=True)
        found[name] = np.nan_to_num(X), np.unique(y, return_inverse=True)[1]
    X, y = found["breast cancer"]
    rows = np.r_[np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:30]]
    found["breast cancer, few"] = X[rows], 1 - y[rows]
    return found


def fold_scores(
    X: FloatArray, y: IntArray, model: Any, fresh: FloatArray, seed: int
) -> tuple[list[IntArray], Parts, Parts]:
    """Return the folds, each model's scores of its own, and each model's scores of fresh rows."""
    classes = np.unique(y)
    tests, own, later = [], [], []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
        fitted = fit_quietly(model(), X[train], y[train])
        tests.append(test)
        own.append(read_responses(fitted, X[test], "auto", classes))
        later.append(read_responses(fitted, fresh, "auto", classes))
    method, is_log_odds = choose_method(own)
    response = Response.learn(
        method, np.concatenate([part[method] for part in own]), is_log_odds=is_log_odds
    )
    return (
        tests,
        [response.scores(part[method]) for part in own],
        [response.scores(part[method]) for part in later],
    )


def spread(scores: FloatArray) -> tuple[float, float]:
    """Return the middle and the interquartile range of scores, of many classes about their rows."""
    if scores.ndim == 2:
        scores = scores - scores.mean(axis=1, keepdims=True)
    low, middle, high = np.quantile(scores, [0.25, 0.5, 0.75])
    return (0.0 if scores.ndim == 2 else float(middle)), float(high - low) or 1.0


def scale(own: Parts, later: Parts, *, move: bool, wild: float = 1.0) -> tuple[Parts, Parts]:
    """Put the scores of all folds on one scale."""
    found = [spread(part) for part in own]
    widths = np.array([width for _, width in found])
    if widths.max() < wild * widths.min():
        return own, later
    common, middle = np.exp(np.log(widths).mean()), np.mean([m for m, _ in found])
    maps = [(common / width, middle - m * common / width if move else 0.0) for m, width in found]

    def put(side: Parts) -> Parts:
        return [a * s + b for (a, b), s in zip(maps, side, strict=True)]

    return put(own), put(later)


WAYS: dict[str, Callable[[Parts, Parts], tuple[Parts, Parts]]] = {
    "as they are": lambda own, later: (own, later),
    "median and quartiles": lambda own, later: scale(own, later, move=True),
    "quartiles": lambda own, later: scale(own, later, move=False),
    "quartiles, if wild": lambda own, later: scale(own, later, move=False, wild=WILD),
}


def choose(y: IntArray, scores: FloatArray) -> Any:
    """Return the threshold, or the biases, of the default curve and rule."""
    curve, rule = choose_claims()
    if scores.ndim == 1:
        return make_decision(curve, rule)(ScoreSample.from_labels(y == 1, scores)).threshold
    return find_biases(y, scores, curve, rule).biases


def recalls(y: IntArray, scores: FloatArray, shift: Any) -> FloatArray:
    """Return each class's recall."""
    answer = find_winner(scores - shift if scores.ndim == 1 else scores + shift)
    return np.array([(answer == k)[y == k].mean() for k in np.unique(y)])


def best_g_mean(y: IntArray, scores: FloatArray) -> float:
    """Return the G-mean of the best threshold."""
    tried = np.quantile(scores, np.linspace(0, 1, 401))
    return max(float(np.sqrt(recalls(y, scores, t).prod())) for t in tried)


def compare(name: str, kind: str, seed: int) -> dict[str, float]:
    """Return the mean recall of every way on one split."""
    X, y = data_sets()[name]
    X, fresh, y, truth = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    tests, own, later = fold_scores(X, y, MODELS[kind], fresh, seed)
    rows = np.concatenate(tests)
    number = np.repeat(np.arange(FOLDS), [len(test) for test in tests])
    rule = choose_claims()[1]
    found: dict[str, float] = {}
    for way, put in WAYS.items():
        scaled, after = put(own, later)
        mean = mean_scores(after)
        chosen = choose(y[rows], np.concatenate(scaled))
        found[way] = float(recalls(truth, mean, chosen).mean())
        if way == "quartiles, if wild":
            nested.STANDARD_ERRORS = 2.0
            scores = np.concatenate(scaled)
            loses = nested.shift_loses(y[rows], scores, number, choose, rule)
            own_boundary = float(recalls(truth, mean, 0.0).mean())
            found["wild, keep if 2"] = own_boundary if loses else found[way]
        if way == "as they are":
            found["untouched"] = float(recalls(truth, mean, 0.0).mean())
            for errors in (0.0, 1.0, 2.0):
                nested.STANDARD_ERRORS = errors
                loses = nested.shift_loses(y[rows], np.concatenate(scaled), number, choose, rule)
                found[f"keep if {errors:g}"] = found["untouched" if loses else way]
            if mean.ndim == 1:
                found["narrower"] = spread(mean)[1] / float(np.mean([spread(s)[1] for s in after]))
                found["regret, mean"] = best_g_mean(truth, mean) - float(
                    np.sqrt(recalls(truth, mean, chosen).prod())
                )
                found["regret, single"] = float(
                    np.mean(
                        [
                            best_g_mean(truth, s) - np.sqrt(recalls(truth, s, chosen).prod())
                            for s in after
                        ]
                    )
                )
    widths = [spread(part)[1] for part in own]
    found["widest/narrowest"] = max(widths) / min(widths)
    return found


def blocks(quick: bool) -> Iterator[tuple[str, str]]:
    """Return what to compare on."""
    for name in data_sets():
        for kind in MODELS:
            if not quick or kind in ("naive Bayes", "logistic"):
                yield name, kind


def main(quick: bool) -> None:
    """Print one line for each data set and model, and their means."""
    pairs = list(blocks(quick))
    seeds = SEEDS[:3] if quick else SEEDS
    jobs = [(*pair, seed) for pair in pairs for seed in seeds]
    found = dict(zip(jobs, in_parallel(compare, jobs, quick), strict=True))
    names = [*dict.fromkeys(name for one in found.values() for name in one)]
    lines: list[list[object]] = []
    for pair in pairs:
        runs = [found[*pair, seed] for seed in seeds]
        lines.append(
            [*pair] + [float(np.mean([r[n] for r in runs])) if n in runs[0] else "–" for n in names]
        )
    columns = zip(*[line[2:] for line in lines], strict=True)
    lines.append(
        ["mean", ""] + [float(np.mean([v for v in column if v != "–"])) for column in columns]
    )
    print(table(["data", "model", *names], lines))


if __name__ == "__main__":
    main("--quick" in sys.argv)
