"""Check guarantees for the model that is deployed, in the cases where they used to be broken.

The goal is missed if a floor that is guaranteed is kept less often than its confidence, beyond two
Monte-Carlo standard errors, or if out-of-fold scores carry the word certified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC

from boundshift import BoundShiftClassifier, Floors, Status, find_boundary
from boundshift._typing import FloatArray
from lab.claims.simulation import binomial_error, generator
from lab.experiment import Experiment, Facts, Tables, in_parallel, quiet, rows_in_parallel
from lab.markdown import table

CONFIDENCE = 0.95
FLOOR = 0.9
# Fresh rows of each class (negative, positive): the floor is about the positive one.
FRESH = (4000, 20_000)
RUNS = 2000

# Errors are known exactly for a threshold of the margin.
MARGINS: dict[str, Any] = {"response_method": "decision_function"}


class Case(NamedTuple):
    """A model, rows of both classes, features, and how far apart the classes lie."""

    make: Callable[[], Any]
    n_samples: tuple[int, int]
    features: int
    distance: float


FLOORS = {
    "linear SVC, 300 features": Case(LinearSVC, (190, 100), 300, 2.0),
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


def fresh_rows(name: str, case: Case) -> list[FloatArray]:
    """Draw fresh rows of both classes, for models whose errors have no formula."""
    rng = generator("deployed fresh", name)
    rows = [rng.standard_normal((n, case.features)) for n in FRESH]
    rows[1][:, 0] += case.distance
    return rows


def true_errors(model: Any, case: Case, fresh: list[FloatArray]) -> Callable[[float], FloatArray]:
    """Return both error rates of `score > t` as a function of t: exact for a linear model."""
    if hasattr(model, "coef_"):
        weights = model.coef_[0]
        bias = float(np.ravel(model.intercept_)[0])
        centres = weights[0] * np.array([0.0, case.distance]) + bias
        spread = np.linalg.norm(weights)
        return lambda t: np.array([norm.sf(t, centres[0], spread), norm.cdf(t, centres[1], spread)])
    scores = [model.decision_function(rows) for rows in fresh]
    return lambda t: np.array([np.mean(scores[0] > t), np.mean(scores[1] <= t)])


def shifted_errors(
    model: BoundShiftClassifier, case: Case, fresh: list[FloatArray]
) -> Callable[[float], FloatArray]:
    """Return both error rates of a shifted classifier; as it is deployed, t is 0."""
    errors = true_errors(model.estimator_, case, fresh)
    return lambda t: errors(model.threshold_ + t)


def fits(key: str, name: str, case: Case, runs: int) -> Iterator[Any]:
    rng = generator(key, name)
    for _ in range(runs):
        yield draw(case, rng)


def floor_runs(name: str, runs: int) -> dict[str, Any]:
    """Ask for a recall floor, as today, and as a floor met on out-of-fold scores."""
    case = FLOORS[name]
    fresh = fresh_rows(name, case)
    kept: dict[str, list[bool]] = {"guaranteed": [], "out-of-fold": []}
    alarms: dict[str, list[float]] = {"guaranteed": [], "out-of-fold": []}
    not_guaranteed = apart = 0
    for X, y in fits("deployed floor", name, case, runs):
        with quiet():
            model = BoundShiftClassifier(
                case.make(), rule=Floors(recall=FLOOR), cv=3, **MARGINS
            ).fit(X, y)
            scores = cross_val_predict(case.make(), X, y, cv=5, method="decision_function")
            old = find_boundary(y, scores, rule=Floors(recall=FLOOR)).threshold
        is_guaranteed = model.boundary_.status is not Status.NOT_GUARANTEED
        not_guaranteed += not is_guaranteed
        errors = {"out-of-fold": true_errors(clone(case.make()).fit(X, y), case, fresh)(old)}
        if is_guaranteed:
            errors["guaranteed"] = shifted_errors(model, case, fresh)(0.0)
            apart = model.boundary_.n_samples[1]
        for key, (alarm, miss) in errors.items():
            kept[key].append(bool(1.0 - miss >= FLOOR))
            alarms[key].append(float(alarm))
    return {
        "case": name,
        "rows": f"{case.n_samples[0]} : {case.n_samples[1]}",
        "runs": runs,
        "not_guaranteed": not_guaranteed,
        "kept_apart": apart,
        **{f"kept_{key}": float(np.mean(values)) for key, values in kept.items()},
        **{f"alarms_{key}": float(np.mean(values)) for key, values in alarms.items()},
        "passes": _passes(kept["guaranteed"]),
    }


def certificate_runs(name: str, runs: int) -> list[dict[str, Any]]:
    """Return how often the certificate of out-of-fold scores holds for what is deployed."""
    case = CERTIFICATES[name]
    fresh = fresh_rows(name, case)
    holds: dict[tuple[str, str], list[NDArray[np.bool_]]] = {}
    for X, y in fits("deployed certificate", name, case, runs):
        with quiet():
            model = BoundShiftClassifier(case.make(), ensemble=True, **MARGINS).fit(X, y)
        refitted = case.make().fit(X, y)  # what `ensemble=False` deploys at the same threshold
        crossed = model.certificate_.error_bounds
        word = model.certificate_.status
        deployed = {
            "out-of-fold scores, refitted on all rows": true_errors(refitted, case, fresh)(
                model.threshold_
            ),
            "out-of-fold scores, mean of the folds' models": shifted_errors(model, case, fresh)(
                0.0
            ),
        }
        for claim, truth in deployed.items():
            holds.setdefault((claim, word), []).append(truth <= np.array(crossed))
    return [
        {
            "case": name,
            "claim": claim,
            "word": word,
            "runs": len(held),
            "held": np.mean(held, axis=0).tolist(),
        }
        for (claim, word), held in holds.items()
    ]


def _passes(kept: list[Any]) -> bool:
    return bool(np.mean(kept) >= CONFIDENCE - 2 * binomial_error(CONFIDENCE, len(kept)))


def collect(quick: bool) -> Facts:
    floors, certificates = (
        ([*FLOORS][1:2], [*CERTIFICATES][:1]) if quick else ([*FLOORS], [*CERTIFICATES])
    )
    runs = 2 if quick else RUNS
    return {
        "floors": in_parallel(floor_runs, [(name, runs) for name in floors], quick),
        "certificates": rows_in_parallel(
            certificate_runs, [(name, runs) for name in certificates], quick
        ),
    }


def is_met(facts: Facts) -> bool:
    claims_nothing = all(row["word"] != "certified" for row in facts["certificates"])
    return claims_nothing and all(row["passes"] for row in facts["floors"])


def tables(facts: Facts) -> Tables:
    def share(value: float, runs: int) -> str:
        # Of two more runs on each side, as Agresti and Coull do: a share of 1 is not certain.
        middle = (value * runs + 2) / (runs + 4)
        return f"{value:.3f} ± {np.sqrt(middle * (1 - middle) / (runs + 4)):.3f}"

    floors = [
        [
            f["case"],
            f["rows"],
            f["runs"],
            share(f["kept_out-of-fold"], f["runs"]),
            share(f["kept_guaranteed"], f["runs"] - f["not_guaranteed"]),
            f"{f['alarms_out-of-fold']:.3f}",
            f"{f['alarms_guaranteed']:.3f}",
            f["kept_apart"],
        ]
        for f in facts["floors"]
    ]
    certificates = [
        [c["case"], c["claim"], c["word"], *(share(h, c["runs"]) for h in c["held"]), c["runs"]]
        for c in facts["certificates"]
    ]
    floors_head = (
        "model | rows | fits | kept, out-of-fold | kept, guaranteed | "
        "false alarms, out-of-fold | false alarms, guaranteed | positive rows kept apart"
    )
    return {
        "floors": table(floors_head, floors),
        "certificates": table("model | claim | word | negative | positive | fits", certificates),
    }


EXPERIMENT = Experiment(collect, tables, is_met)
