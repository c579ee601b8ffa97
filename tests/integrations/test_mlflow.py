import json
import subprocess
import sys

import mlflow
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from boundshift import Boundary, BoundShiftClassifier, InvalidInputError
from boundshift.integrations.mlflow_ import load_model, log_model
from boundshift.promises.certificate import Certificate
from tests.tracking import tracked_in

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own, of what it will change


@pytest.fixture(autouse=True)
def local_store(tmp_path):
    with tracked_in(tmp_path):
        yield


def fitted(model, n_classes=2):
    X, y = make_classification(400, n_informative=4, n_classes=n_classes, random_state=0)
    return BoundShiftClassifier(model).fit(X, y), X


def log(model, **options):
    with mlflow.start_run() as run:
        info = log_model(model, **options)
    return info, run.info.run_id


def read(run, name):
    return mlflow.artifacts.load_text(f"runs:/{run}/{name}")


class Page:
    def save(self, path):
        path.write_text("<p>report</p>", encoding="utf-8")


def test_a_model_comes_back_with_all_that_belongs_to_it():
    shifted, X = fitted(LogisticRegression())
    info, run = log(shifted, report=Page())
    np.testing.assert_array_equal(load_model(info.model_uri).predict(X), shifted.predict(X))
    assert Boundary.from_json(read(run, "model-boundary/boundary.json")) == shifted.boundary_
    stored = json.loads(read(run, "model-boundary/certificate.json"))
    assert Certificate.from_dict(stored) == shifted.certificate_
    assert read(run, "model-boundary/report.html") == "<p>report</p>"
    assert mlflow.get_run(run).data.metrics["threshold"] == shifted.threshold_


def test_many_classes_have_a_bias_each():
    shifted, X = fitted(LogisticRegression(), n_classes=3)
    info, run = log(shifted)
    np.testing.assert_array_equal(load_model(info.model_uri).predict(X), shifted.predict(X))
    assert mlflow.get_run(run).data.metrics["bias_2"] == pytest.approx(shifted.biases_[2])


def test_types_that_nobody_trusts_are_named_and_then_taken():
    shifted, X = fitted(KNeighborsClassifier(algorithm="kd_tree"))
    with pytest.raises(InvalidInputError, match=r"sklearn\.neighbors\._kd_tree\.KDTree"):
        log(shifted)
    names = [
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
    ]
    info, _ = log(shifted, trusted=names)
    np.testing.assert_array_equal(load_model(info.model_uri).predict(X), shifted.predict(X))


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (LogisticRegression(), {}, "must be a fitted BoundShiftClassifier"),
        (BoundShiftClassifier(LogisticRegression()), {}, "Fit it first"),
        (fitted(LogisticRegression())[0], {"report": "page"}, r"must have a method save"),
    ],
)
def test_what_is_no_fitted_classifier_is_refused(model, options, words):
    with pytest.raises(InvalidInputError, match=words):
        log(model, **options)


def test_other_models_are_not_ours_to_load():
    with mlflow.start_run():
        plain = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
        info = mlflow.sklearn.log_model(plain, name="plain", pip_requirements=["scikit-learn"])
    with pytest.raises(InvalidInputError, match="got a LogisticRegression"):
        load_model(info.model_uri)


AUTOLOG = """
import sys
import mlflow
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from boundshift import BoundShiftClassifier

mlflow.set_tracking_uri("sqlite:///" + sys.argv[1] + "/autolog.db")
number = mlflow.create_experiment("autolog", artifact_location="file://" + sys.argv[1] + "/autolog")
mlflow.sklearn.autolog(silent=True)
with mlflow.start_run(experiment_id=number):
    BoundShiftClassifier(LogisticRegression(), cv=2).fit(*make_classification(200, random_state=0))
for model in mlflow.search_logged_models(experiment_ids=[number], output_format="list"):
    print(type(mlflow.sklearn.load_model(model.model_uri)).__name__)
"""


def test_autolog_keeps_the_models_inside_and_never_ours(tmp_path):
    # In a process of its own, since autolog changes every class of scikit-learn for good.
    command = [sys.executable, "-W", "ignore", "-c", AUTOLOG, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert set(said.split()) == {"LogisticRegression"}
