"""Classifiers decide as `classifiers.json` says; run this file to write it anew.

The file was made on one machine: thresholds are compared to 1e-6, predictions by their hash.
"""

import json
import sys
import warnings
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from boundshift import BoundShiftClassifier, ClassFloors, Cost, CostMatrix, Floors

GOLDEN = Path(__file__).parent / "classifiers.json"
MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "ridge": RidgeClassifier(),
    "linear svc": LinearSVC(random_state=0),
    "svc": SVC(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(20, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=10),
    "bayes": GaussianNB(),
    "neighbours": KNeighborsClassifier(),
    "network": MLPClassifier((8,), max_iter=30, random_state=0),
}
COSTS = [[0, 1, 4], [5, 0, 3], [50, 10, 0]]
SETTINGS = {"default": {}, "floors": {"rule": Floors(recall=0.8)}}
# Name: model, classes, settings, whether rows have weights.
OTHERS = {
    "training rows": ("logistic", 2, {"cv": None, "rule": Cost(false_negative=7)}, False),
    "mean": ("boosting", 2, {"ensemble": True, "rule": "f1"}, False),
    "one model": ("boosting", 2, {"ensemble": False, "pos_label": 0, "rule": "f1"}, False),
    "margin": ("network", 2, {"response_method": "margin"}, False),
    "weights": ("logistic", 2, {}, True),
    "three weights": ("logistic", 3, {}, True),
    "three": ("logistic", 3, {}, False),
    "three pairwise": ("svc", 3, {"multi_class": "pairwise"}, False),
    "three costs": ("logistic", 3, {"rule": CostMatrix(COSTS, (0, 1, 2))}, False),
    "three floors": ("bayes", 3, {"rule": ClassFloors(recall={2: 0.5})}, False),
    "three mean": ("boosting", 3, {"ensemble": True}, False),
}
NAMES = [*(f"{m}, {s}" for m in MODELS for s in SETTINGS), *OTHERS]


def draw(n_classes):
    return make_classification(
        800, n_features=6, n_informative=5, n_redundant=0, n_classes=n_classes,
        weights=[0.8] if n_classes == 2 else [0.6, 0.25], class_sep=0.8, random_state=7,
    )  # fmt: skip


def decide(name):
    """Return threshold or biases, bounds and statuses, and a hash of what is predicted."""
    model, _, setting = name.partition(", ")
    given = OTHERS.get(name) or (model, 2, SETTINGS[setting], False)
    X, y = draw(given[1])
    weights = {"sample_weight": 1.0 + np.arange(600) % 3}
    if given[0] == "logistic":
        weights = {f"logisticregression__{key}": value for key, value in weights.items()}
    clf = BoundShiftClassifier(MODELS[given[0]], **{"cv": 3, **given[2]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X[:600], y[:600], **(weights if given[3] else {}))
        predicted = clf.predict(X).astype(np.int64)
    if given[1] == 2:
        numbers = [clf.threshold_]
        status = clf.boundary_.status.name
    else:
        numbers = clf.biases_.tolist()
        status = "|".join(b.status.name for b in clf.boundaries_.values())
    certificate = clf.certificate_
    bounds = dict(zip(certificate.labels, certificate.error_bounds, strict=True))
    return {
        "numbers": numbers,
        "bounds": [bounds[label] for label in clf.classes_.tolist()],
        "said": [status, clf.certificate_.status, type(clf.estimator_).__name__],
        "predicted": blake2b(predicted.tobytes(), digest_size=8).hexdigest(),
    }


@pytest.fixture(scope="module")
def golden():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_classifiers_decide_as_the_golden_file_says(golden, name):
    found = decide(name)
    expected = golden[name]
    np.testing.assert_allclose(found.pop("numbers"), expected.pop("numbers"), rtol=1e-6, atol=1e-9)
    # Of many classes a row may stand on a boundary, where rounding decides on its side.
    rtol = 0.02 if len(expected["bounds"]) > 2 else 1e-6
    np.testing.assert_allclose(found.pop("bounds"), expected.pop("bounds"), rtol=rtol)
    assert found == expected


if __name__ == "__main__":
    answers = {name: decide(name) for name in NAMES}
    GOLDEN.write_text(json.dumps(answers, indent=0) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(answers)} classifiers\n")
