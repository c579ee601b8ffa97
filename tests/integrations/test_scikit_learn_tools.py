"""Tools that support scikit-learn's TunedThresholdClassifierCV support ours: the real packages."""

import subprocess
import sys

import pytest
import skore
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    precision_score,
    recall_score,
)
from sklearn.svm import SVC

from boundshift import BoundShiftClassifier

MODELS = {
    "linear": LogisticRegression(),
    "mean of forests": RandomForestClassifier(10, random_state=0),
    "machine": SVC(),
}


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(3000, weights=[0.95], flip_y=0.02, class_sep=0.8, random_state=3)
    return X[:1500], y[:1500], X[1500:], y[1500:]


@pytest.fixture(scope="module")
def shifted(rows):
    return {
        name: BoundShiftClassifier(model, cv=3, ensemble=True).fit(*rows[:2])
        for name, model in MODELS.items()
    }


@pytest.mark.filterwarnings("ignore")  # of what skore's own checks find
@pytest.mark.parametrize("name", MODELS)
def test_skore_reports_the_labels_of_predict(rows, shifted, name):
    *_, X, y = rows
    model = shifted[name]
    predicted = model.predict(X)
    assert (predicted != model.estimator_.predict(X)).any()
    metrics = skore.EstimatorReport(model, X_test=X, y_test=y, pos_label=1).metrics
    assert metrics.recall() == pytest.approx(recall_score(y, predicted))
    assert metrics.precision() == pytest.approx(precision_score(y, predicted))
    assert metrics.accuracy() == pytest.approx(accuracy_score(y, predicted))


@pytest.mark.parametrize("scorer", ["roc_auc", "average_precision", "neg_brier_score"])
@pytest.mark.parametrize("name", MODELS)
def test_scorers_of_scores_are_those_of_the_model(rows, shifted, name, scorer):
    *_, X, y = rows
    model = shifted[name]
    score = get_scorer(scorer)
    if scorer == "neg_brier_score" and name == "machine":  # which has no probabilities
        with pytest.raises(AttributeError):
            score(model, X, y)
        return
    assert score(model, X, y) == score(model.estimator_, X, y)


AUTOLOG = """
import sys
import mlflow
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
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
