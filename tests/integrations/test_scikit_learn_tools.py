"""Tools that support scikit-learn's TunedThresholdClassifierCV support ours: the real packages."""

import mlflow
import numpy as np
import pytest
import skore
from sklearn.calibration import CalibrationDisplay
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
from boundshift.integrations.mlflow_ import load_model, log_model
from tests.tracking import tracked_in

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


@pytest.mark.parametrize("scorer", ["recall", "precision", "f1", "balanced_accuracy"])
def test_scorers_of_labels_are_those_of_predict(rows, shifted, scorer):
    *_, X, y = rows
    score, model = get_scorer(scorer), shifted["linear"]
    by_hand = (model.estimator_.predict_proba(X)[:, 1] > model.threshold_).astype(int)
    assert score(model, X, y) == score._score_func(y, by_hand, **score._kwargs)


def test_a_calibration_curve_is_that_of_the_model(rows, shifted):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    *_, X, y = rows
    model = shifted["linear"]
    ours, own = (CalibrationDisplay.from_estimator(m, X, y) for m in (model, model.estimator_))
    np.testing.assert_array_equal(ours.prob_true, own.prob_true)
    np.testing.assert_array_equal(ours.prob_pred, own.prob_pred)
    pyplot.close("all")


@pytest.mark.filterwarnings("ignore")  # MLflow's own, of what it will change
def test_mlflow_stores_the_threshold_that_decides(rows, shifted, tmp_path):
    *_, X, _ = rows
    model = shifted["linear"]
    with tracked_in(tmp_path), mlflow.start_run() as run:
        loaded = load_model(log_model(model).model_uri)
        threshold = mlflow.get_run(run.info.run_id).data.metrics["threshold"]
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), loaded.predict_proba(X)[:, 1] > threshold)
