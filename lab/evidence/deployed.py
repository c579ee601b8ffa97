"""Check promises for the model that is deployed, in the cases where they used to be broken.

Usage: ``python -m lab.evidence.deployed [--quick] [--out DIR]``.

The exit code is 1 if what carries the word certified, or a floor that is promised, is kept less
often than its confidence, beyond two Monte-Carlo standard errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
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
from lab.evidence.evidence import Facts, in_parallel, run, table
from lab.harness.quiet import quiet

FloatArray = NDArray[np.float64]

CONFIDENCE, FLOOR = 0.95, 0.9
FRESH = 20_000


class Case(NamedTuple):
    """A model, rows of both classes, features, their distance, and simulated fits."""

    make: Callable[[], Any]
    n_samples: tuple[int, int]
    features: int
    distance: float
    runs: int


FLOORS = {
    "linear SVC, 300 features": Case(LinearSVC, (400, 200), 300, 2.0, 30),
    "logistic C=1e4, 200 features": Case(
        lambda: LogisticRegression(C=1e4, max_iter=300), (400, 200), 200, 2.0, 150
    ),
    "logistic, 500 features": Case(LogisticRegression, (400, 200), 500, 2.0, 60),
    "boosting, 10 features": Case(
        lambda: HistGradientBoostingClassifier(max_iter=30), (400, 100), 10, 2.0, 40
    ),
}
CERTIFICATES = {
    "logistic, 5000:10 rows, 30 features": Case(LogisticRegression, (5000, 10), 30, 2.0, 100),
    "LDA, 5000:10 rows, 30 features": Case(LinearDiscriminantAnalysis, (5000, 10), 30, 2.0, 100),
    "logistic, 20000:10 rows, 30 features": Case(LogisticRegression, (20_000, 10), 30, 2.0, 30),
}


def draw(case: Case, rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.intp]]:
    """Draw two normal classes whose means lie apart along the first feature."""
    y = np.repeat([0, 1], case.n_samples)
    X = rng.standard_normal((len(y), case.features))
    X[y == 1, 0] += case.distance
    return X, y


def true_errors(model: Any, threshold: float, case: Case, fresh: FloatArray) -> FloatArray:
    """Return both error rates of `score > threshold`: exact for a linear model, else on rows."""
    shift = np.array([0.0, case.distance])
    if hasattr(model, "coef_"):
        weights, bias = model.coef_[0], float(np.ravel(model.intercept_)[0])
        centre = weights[0] * shift + bias
        above = norm.sf(threshold, centre, np.linalg.norm(weights))
    else:
        rows = [fresh + np.eye(case.features)[0] * d for d in shift]
        above = np.array([np.mean(model.decision_function(X) > threshold) for X in rows])
    return np.array([above[0], 1.0 - above[1]])


def shifted_errors(model: BoundShiftClassifier, case: Case, fresh: FloatArray) -> FloatArray:
    """Return both error rates of a shifted classifier, as it is deployed."""
    if hasattr(model.estimator_, "coef_"):
        return true_errors(model.estimator_, model.threshold_, case, fresh)
    return true_errors(model, 0.0, case, fresh)


def floor_runs(name: str, runs: int) -> dict[str, Any]:
    """Ask for a recall floor, as today, and as a floor met on out-of-fold scores."""
    case, rng = FLOORS[name], generator("deployed floor", name)
    fresh = rng.standard_normal((FRESH, case.features))
    kept: dict[str, list[bool]] = {"promised": [], "out-of-fold": []}
    alarms: dict[str, list[float]] = {"promised": [], "out-of-fold": []}
    not_promised = 0
    for _ in range(runs):
        X, y = draw(case, rng)
        with quiet():
            model = BoundShiftClassifier(case.make(), rule=Floors(recall=FLOOR), cv=3).fit(X, y)
            scores = cross_val_predict(case.make(), X, y, cv=5, method="decision_function")
            old = find_boundary(y, scores, rule=Floors(recall=FLOOR)).threshold
        is_promised = model.boundary_.status is not Status.NOT_PROMISED
        not_promised += not is_promised
        errors = {"out-of-fold": true_errors(clone(case.make()).fit(X, y), old, case, fresh)}
        if is_promised:
            errors["promised"] = shifted_errors(model, case, fresh)
        for key, (alarm, miss) in errors.items():
            kept[key].append(bool(1.0 - miss >= FLOOR))
            alarms[key].append(float(alarm))
    return {
        "case": name,
        "runs": runs,
        "not_promised": not_promised,
        "kept_apart": model.boundary_.n_samples[1],
        **{f"kept_{key}": float(np.mean(values)) for key, values in kept.items()},
        **{f"alarms_{key}": float(np.mean(values)) for key, values in alarms.items()},
        "passes": _passes(kept["promised"]),
    }


def certificate_runs(name: str, runs: int) -> list[dict[str, Any]]:
    """Compare the certificate of out-of-fold scores with one of rows kept apart, by class."""
    case, rng = CERTIFICATES[name], generator("deployed certificate", name)
    holds: dict[tuple[str, str], list[NDArray[np.bool_]]] = {}
    fresh = rng.standard_normal((FRESH, case.features))
    for _ in range(runs):
        X, y = draw(case, rng)
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.3, stratify=y, random_state=int(rng.integers(2**31))
        )
        with quiet():
            model = BoundShiftClassifier(case.make()).fit(X, y)
            part = BoundShiftClassifier(case.make()).fit(X_train, y_train)
            fixed = certify(y_test, part.decision_function(X_test), 0.0)
        judged = {
            ("certificate_ of out-of-fold scores", model.certificate_.status): (model, model),
            ("certify on three rows in ten, kept apart", fixed.status): (part, None),
        }
        for key, (fitted, own) in judged.items():
            bounds = fixed.error_bounds if own is None else own.certificate_.error_bounds
            truth = shifted_errors(fitted, case, fresh)
            holds.setdefault(key, []).append(truth <= np.array(bounds))
    return [
        {
            "case": name,
            "claim": claim,
            "word": word,
            "runs": runs,
            "negative": float(np.mean([h[0] for h in held])),
            "positive": float(np.mean([h[1] for h in held])),
            "passes": word != "certified" or all(_passes([h[i] for h in held]) for i in (0, 1)),
        }
        for (claim, word), held in holds.items()
    ]


def _passes(kept: list[Any]) -> bool:
    """Return whether a promise is kept often enough, beyond two Monte-Carlo standard errors."""
    error = np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / max(len(kept), 1))
    return bool(np.mean(kept) >= CONFIDENCE - 2 * error)


def collect(quick: bool) -> Facts:
    floors = [(name, 5 if quick else case.runs) for name, case in FLOORS.items()]
    certificates = [(name, 5 if quick else case.runs) for name, case in CERTIFICATES.items()]
    if quick:
        floors, certificates = floors[1:2], certificates[:1]
    return {
        "floors": in_parallel(floor_runs, floors, quick),
        "certificates": [
            row for part in in_parallel(certificate_runs, certificates, quick) for row in part
        ],
    }


def is_met(facts: Facts) -> bool:
    """Say whether every promise is kept as often as stated."""
    return all(row["passes"] for row in [*facts["floors"], *facts["certificates"]])


def page(facts: Facts) -> str:
    floors = [
        [
            f["case"],
            f["runs"],
            f"{f['kept_out-of-fold']:.3f}",
            f"{f['kept_promised']:.3f}",
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
            c["runs"],
            f"{c['negative']:.3f}",
            f"{c['positive']:.3f}",
        ]
        for c in facts["certificates"]
    ]
    return "\n\n".join(
        [
            "# The deployed model",
            "Cases in which promises made on out-of-fold scores may be broken by the model that is "
            "deployed, and what is promised instead. Two normal classes two standard deviations "
            "apart; true errors are exact for linear models, from "
            f"{FRESH:,} fresh rows of each class for boosting.",
            *([facts["note"]] if "note" in facts else []),
            f"## A recall floor of {FLOOR} at {CONFIDENCE:.0%}",
            "Share of fits in which the deployed model keeps the floor. *Out-of-fold*: the floor "
            "is met on out-of-fold scores, and a model fitted on all rows is deployed; "
            "`BoundShiftClassifier` now calls that `NOT_PROMISED`. *Promised*: it keeps rows apart "
            "for the boundary.",
            table(
                [
                    "model",
                    "runs",
                    "kept, out-of-fold",
                    "kept, promised",
                    "false alarms, out-of-fold",
                    "false alarms, promised",
                    "positive rows kept apart",
                ],
                floors,
            ),
            f"## Certificates at {CONFIDENCE:.0%}",
            "Share of fits in which the deployed model's error rate is at most the bound, class by "
            "class. `BoundShiftClassifier` deploys the mean of the models of the folds here. The "
            "bound of a large class is narrow, while a few rows of the other class decide how far "
            "what is deployed is from what was measured: whatever the share, it is not certified.",
            table(["model", "claim", "word", "runs", "negative", "positive"], certificates),
        ]
    )


if __name__ == "__main__":
    sys.exit(run(__file__, collect, page, is_met))
