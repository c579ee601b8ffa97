"""Tools that support scikit-learn's TunedThresholdClassifierCV support ours: the real packages."""

import pytest
import skore
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, precision_score, recall_score
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
