"""Check promises for the model that is deployed, in the cases where they used to be broken.

Usage: ``python -m lab.evidence.deployed [--quick] [--out DIR]``.

The exit code is 1 if what carries the word certified, or a floor that is promised, is kept less
often than its confidence, beyond two Monte-Carlo standard errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.svm import LinearSVC

from boundshift import BoundShiftClassifier, Floors, Status, certify, find_boundary
from lab.evidence.claims import generator
from lab.evidence.evidence import Facts, run, table
from lab.harness.quiet import quiet

FloatArray = NDArray[np.float64]
Draw = tuple[FloatArray, NDArray[np.intp], np.random.Generator]

CONFIDENCE, FLOOR = 0.95, 0.9
FRESH = 20_000
# Fits of a case at most, and seconds of a processor; rows kept apart again for each model.
RUNS, SECONDS, REDRAWN = 2000, 150.0, 10


class Case(NamedTuple):
    """A model, rows of both classes, features, and how far apart the classes lie."""

    make: Callable[[], Any]
    n_samples: tuple[int, int]
    features: int
    distance: float


FLOORS = {
    "linear SVC, 300 features": Case(LinearSVC, (400, 200), 300, 2.0),
    "logistic C=1e4, 200 features": Case(
        lambda: LogisticRegression(C=1e4, max_iter=300), (400, 200), 200, 2.0
    ),
    "logistic, 500 features": Case(LogisticRegression, (400, 200), 500, 2.0),
    "boosting, 10 features": Case(
        lambda: HistGradientBoostingClassifier(max_iter=30), (400, 100), 10, 2.0
    ),
}
CERTIFICATES = {
    "logistic, 5000:10 rows, 30 features": Case(LogisticRegression, (5000, 10), 30, 2.0),
    "LDA, 5000:10 rows, 30 features": Case(LinearDiscriminantAnalysis, (5000, 10), 30, 2.0),
    "logistic, 20000:10 rows, 30 features": Case(LogisticRegression, (20_000, 10), 30, 2.0),
}


def draw(case: Case, rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.intp]]:
    """Draw two normal classes whose means lie apart along the first feature."""
    y = np.repeat([0, 1], case.n_samples)
    X = rng.standard_normal((len(y), case.features))
    X[y == 1, 0] += case.distance
    return X, y


def true_errors(model: Any, case: Case, fresh: FloatArray) -> Callable[[float], FloatArray]:
    """Return both error rates of `score > t` as a function of t: exact for a linear model."""
    shift = np.array([0.0, case.distance])
    if hasattr(model, "coef_"):
        weights, bias = model.coef_[0], float(np.ravel(model.intercept_)[0])
        centres, spread = weights[0] * shift + bias, np.linalg.norm(weights)
        return lambda t: np.array([norm.sf(t, centres[0], spread), norm.cdf(t, centres[1], spread)])
    scores = [model.decision_function(fresh + np.eye(case.features)[0] * d) for d in shift]
    return lambda t: np.array([np.mean(scores[0] > t), np.mean(scores[1] <= t)])


def shifted_errors(
    model: BoundShiftClassifier, case: Case, fresh: FloatArray
) -> Callable[[float], FloatArray]:
    """Return both error rates of a shifted classifier; as it is deployed, t is 0."""
    if hasattr(model.estimator_, "coef_"):
        errors = true_errors(model.estimator_, case, fresh)
        return lambda t: errors(model.threshold_ + t)
    return true_errors(model, case, fresh)


def fits(key: str, name: str, case: Case, most: int, seconds: float) -> Iterator[Draw]:
    """Yield training rows and a generator, until there are enough or the time is used up.

    Time is looked at before each draw and never at what came out of the last one.
    """
    rng, start = generator(key, name), process_time()
    for done in range(most):
        if done and process_time() - start > seconds:
            return
        yield (*draw(case, rng), rng)


def floor_runs(name: str, most: int, seconds: float) -> dict[str, Any]:
    """Ask for a recall floor, as today, and as a floor met on out-of-fold scores."""
    case = FLOORS[name]
    fresh = generator("deployed fresh", name).standard_normal((FRESH, case.features))
    kept: dict[str, list[bool]] = {"promised": [], "redrawn": [], "out-of-fold": []}
    alarms: dict[str, list[float]] = {"promised": [], "out-of-fold": []}
    not_promised = apart = 0
    for X, y, rng in fits("deployed floor", name, case, most, seconds):
        with quiet():
            model = BoundShiftClassifier(case.make(), rule=Floors(recall=FLOOR), cv=3).fit(X, y)
            scores = cross_val_predict(case.make(), X, y, cv=5, method="decision_function")
            old = find_boundary(y, scores, rule=Floors(recall=FLOOR)).threshold
        is_promised = model.boundary_.status is not Status.NOT_PROMISED
        not_promised += not is_promised
        errors = {"out-of-fold": true_errors(clone(case.make()).fit(X, y), case, fresh)(old)}
        if is_promised:
            deployed = shifted_errors(model, case, fresh)
            errors["promised"] = deployed(0.0)
            apart = model.boundary_.n_samples[1]
            kept["redrawn"] += redrawn_floors(model, case, deployed, rng)
        for key, (alarm, miss) in errors.items():
            kept[key].append(bool(1.0 - miss >= FLOOR))
            alarms[key].append(float(alarm))
    return {
        "case": name,
        "runs": len(kept["out-of-fold"]),
        "not_promised": not_promised,
        "kept_apart": apart,
        "redrawn": len(kept["redrawn"]),
        **{f"kept_{key}": float(np.mean(values)) for key, values in kept.items()},
        **{f"alarms_{key}": float(np.mean(values)) for key, values in alarms.items()},
        "passes": _passes(kept["promised"]) and _passes(kept["redrawn"]),
    }


def redrawn_floors(
    model: BoundShiftClassifier,
    case: Case,
    errors: Callable[[float], FloatArray],
    rng: np.random.Generator,
) -> list[bool]:
    """Keep other rows apart for the same model: a promise must hold for each model by itself."""
    sizes, kept = model.boundary_.n_samples, []
    held = case._replace(n_samples=sizes)
    for _ in range(REDRAWN):
        X, y = draw(held, rng)
        with quiet():
            found = find_boundary(y, model.positive_scores(X), rule=Floors(recall=FLOOR))
        miss = errors(found.threshold - model.threshold_)[1]
        kept.append(bool(1.0 - miss >= FLOOR))
    return kept


def certificate_runs(name: str, most: int, seconds: float) -> list[dict[str, Any]]:
    """Compare the certificate of out-of-fold scores with one of rows kept apart, by class."""
    case = CERTIFICATES[name]
    holds: dict[tuple[str, str], list[NDArray[np.bool_]]] = {}
    fresh = generator("deployed fresh", name).standard_normal((FRESH, case.features))
    for X, y, rng in fits("deployed certificate", name, case, most, seconds):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.3, stratify=y, random_state=int(rng.integers(2**31))
        )
        with quiet():
            model = BoundShiftClassifier(case.make()).fit(X, y)
            part = BoundShiftClassifier(case.make()).fit(X_train, y_train)
            fixed = certify(y_test, part.decision_function(X_test), 0.0)
        refitted = case.make().fit(X, y)  # what `ensemble=False` deploys at the same threshold
        crossed, word = model.certificate_.error_bounds, model.certificate_.status
        judged = {
            ("out-of-fold scores, refitted on all rows", word): (
                true_errors(refitted, case, fresh)(model.threshold_),
                crossed,
            ),
            ("out-of-fold scores, mean of the folds' models", word): (
                shifted_errors(model, case, fresh)(0.0),
                crossed,
            ),
            ("three rows in ten, kept apart", fixed.status): (
                shifted_errors(part, case, fresh)(0.0),
                fixed.error_bounds,
            ),
        }
        for key, (truth, bounds) in judged.items():
            holds.setdefault(key, []).append(truth <= np.array(bounds))
    return [
        {
            "case": name,
            "claim": claim,
            "word": word,
            "runs": len(held),
            "negative": float(np.mean([h[0] for h in held])),
            "positive": float(np.mean([h[1] for h in held])),
            "passes": word != "certified" or all(_passes([h[i] for h in held]) for i in (0, 1)),
        }
        for (claim, word), held in holds.items()
    ]


def _error(runs: int) -> float:
    """Return the Monte-Carlo standard error of a share that is as large as the confidence."""
    return float(np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / max(runs, 1)))


def _passes(kept: list[Any]) -> bool:
    """Return whether a promise is kept often enough, beyond two Monte-Carlo standard errors."""
    return bool(np.mean(kept) >= CONFIDENCE - 2 * _error(len(kept)))


def collect(quick: bool) -> Facts:
    most, seconds = (5, 60.0) if quick else (RUNS, SECONDS)
    floors = [(name, most, seconds) for name in FLOORS]
    certificates = [(name, most, seconds) for name in CERTIFICATES]
    if quick:
        floors, certificates = floors[1:2], certificates[:1]
    return {
        "floors": [floor_runs(*job) for job in floors],
        "certificates": [row for job in certificates for row in certificate_runs(*job)],
    }


def is_met(facts: Facts) -> bool:
    """Say whether every promise is kept as often as stated."""
    return all(row["passes"] for row in [*facts["floors"], *facts["certificates"]])


def page(facts: Facts) -> str:
    def share(value: float, runs: int) -> str:
        return f"{value:.3f} ± {_error(runs):.3f}"

    floors = [
        [
            f["case"],
            f["runs"],
            f"{f['kept_out-of-fold']:.3f}",
            share(f["kept_promised"], f["runs"] - f["not_promised"]),
            f["redrawn"],
            share(f["kept_redrawn"], f["redrawn"]),
            f"{f['alarms_out-of-fold']:.3f}",
            f"{f['alarms_promised']:.3f}",
            f["kept_apart"],
        ]
        for f in facts["floors"]
    ]
    certificates = [
        [
            c["case"],
            c["claim"],
            c["word"],
            share(c["negative"], c["runs"]),
            share(c["positive"], c["runs"]),
            c["runs"],
        ]
        for c in facts["certificates"]
    ]
    return "\n\n".join(
        [
            "# The deployed model",
            "Cases in which promises made on out-of-fold scores may be broken by the model that is "
            "deployed, and what is promised instead. Two normal classes two standard deviations "
            "apart; true errors are exact for linear models, from "
            f"{FRESH:,} fresh rows of each class for boosting. Behind ± stands the Monte-Carlo "
            f"standard error of a share of {CONFIDENCE}. A case is fitted {RUNS:,} times, or as "
            f"often as {SECONDS:.0f} seconds of a processor allow.",
            f"**{'Every' if is_met(facts) else 'Not every'} floor that is promised, and bound that "
            "is certified, is kept as often as stated, within two of these errors.**",
            *([facts["note"]] if "note" in facts else []),
            f"## A recall floor of {FLOOR} at {CONFIDENCE:.0%}",
            "Share of fits in which the deployed model keeps the floor. *Out-of-fold*: the floor "
            "is met on out-of-fold scores, and a model fitted on all rows is deployed; "
            "`BoundShiftClassifier` calls that `NOT_PROMISED`. *Promised*: it keeps rows apart "
            "for the boundary. *Redrawn*: for each model that was fitted, other rows are drawn and "
            f"kept apart, {REDRAWN} times.",
            table(
                [
                    "model",
                    "fits",
                    "kept, out-of-fold",
                    "kept, promised",
                    "redrawn",
                    "kept, redrawn",
                    "false alarms, out-of-fold",
                    "false alarms, promised",
                    "positive rows kept apart",
                ],
                floors,
            ),
            f"## Certificates at {CONFIDENCE:.0%}",
            "Share of fits in which the deployed model's error rate is at most the bound, class by "
            "class. What is deployed is one model fitted on all rows (`ensemble=False`), or the "
            "mean of the models of the folds (the default). The "
            "bound of a large class is narrow, while a few rows of the other class decide how far "
            "what is deployed is from what was measured: whatever the share, out-of-fold scores "
            "certify nothing.",
            table(["model", "claim", "word", "negative", "positive", "fits"], certificates),
        ]
    )


if __name__ == "__main__":
    sys.exit(run(__file__, collect, page, is_met))
