"""What is not claimed, and how it fails: training scores, and curves that only estimate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from boundshift import BoundShiftClassifier, Certificate
from boundshift.curves import CURVES
from boundshift.promises.certificate import certify_counts
from boundshift.scores import ScoreSample
from boundshift.typing import FloatArray
from lab.evidence.claims import Cell, cell, generator
from lab.evidence.models import MODELS
from lab.evidence.shapes import SHAPES, Problem
from lab.harness.quiet import quiet

ROWS = (360, 40)
FRESH = 10_000
FEATURES = 10
ESTIMATES = ("support", "student-t", "smoothed", "kth-point")


def draw(n_samples: tuple[int, int], rng: np.random.Generator) -> tuple[FloatArray, Any]:
    """Draw two normal classes whose means and spreads differ."""
    y = np.repeat([0, 1], n_samples)
    X = rng.standard_normal((len(y), FEATURES))
    X[y == 1] = 1.3 * X[y == 1] + 0.7
    return X, y


def model_scores(kind: str, replications: int, confidence: float = 0.95) -> list[Cell]:
    """Certificates from training, out-of-fold and held-out scores of one kind of model."""
    rng = generator("model", kind)
    holds: dict[tuple[str, str, int], list[bool]] = {}
    X_fresh, y_fresh = draw((FRESH, FRESH), rng)
    for _ in range(replications):
        X, y = draw(ROWS, rng)
        held = rng.permuted(np.arange(len(y)) % 3) == 0
        for source, (model, record) in _certificates(kind, X, y, held).items():
            wrong = model.predict(X_fresh) != y_fresh
            record = record.at(confidence)
            if source.startswith("training"):
                record = replace(record, status="nominal")
            for label in (0, 1):
                truth = float(wrong[y_fresh == label].mean())
                is_held = truth <= record.error_bounds[label]
                holds.setdefault((source, record.status, label), []).append(is_held)
    return [
        cell(source, kind, ROWS[label], confidence, np.array(held), word == "certified")
        | {"class": ("negative", "positive")[label], "word": word}
        for (source, word, label), held in holds.items()
    ]


def _certificates(
    kind: str, X: FloatArray, y: NDArray[Any], held: NDArray[np.bool_]
) -> dict[str, tuple[Any, Certificate]]:
    """Return models and what they say of themselves, by where the scores come from."""
    with quiet():
        unseen = BoundShiftClassifier(MODELS[kind]()).fit(X, y)
        trained = BoundShiftClassifier(MODELS[kind](), cv=None).fit(X, y)
        part = BoundShiftClassifier(MODELS[kind](), cv=None).fit(X[~held], y[~held])
        decided = BoundShiftClassifier(FrozenEstimator(part.estimator_)).fit(X[held], y[held])
    return {
        "training scores, as if the boundary were fixed": (trained, _as_if_fixed(trained, X, y)),
        "training scores, paying for the choice": (trained, trained.certificate_),
        "out-of-fold scores, paying for the choice": (unseen, unseen.certificate_),
        "held-out scores, paying for the choice": (decided, decided.certificate_),
        "held-out scores, boundary fixed before": (part, _as_if_fixed(part, X[held], y[held])),
    }


def _as_if_fixed(model: Any, X: FloatArray, y: NDArray[Any]) -> Certificate:
    """Certify a model's predictions as of a boundary fixed before."""
    wrong = model.predict(X) != y
    counts = tuple(int(np.sum(wrong[y == label])) for label in (0, 1))
    return certify_counts(counts, tuple(np.bincount(y).tolist()), (0, 1))


def estimates(shape: str, n: int, replications: int, true_error: float = 0.1) -> list[Cell]:
    """Curves that estimate or assume: mean claim, and how often it was not too small."""
    rng = generator("estimate", shape, n)
    problem = Problem.with_error(SHAPES[shape], true_error)
    t = np.array([problem.distance / 2])
    claims: dict[str, list[float]] = {name: [] for name in ESTIMATES}
    for _ in range(replications):
        sample = ScoreSample.from_labels(*problem.draw((n, n), rng))
        for name, found in claims.items():
            found.append(float(CURVES[name]().errors(sample)(t)[0][0]))
    return [
        {
            "curve": name,
            "shape": shape,
            "rows": n,
            "true_error": true_error,
            "mean_claim": float(np.mean(found)),
            "not_too_small": float(np.mean(np.array(found) >= true_error)),
        }
        for name, found in claims.items()
    ]
