import pytest
import skore
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier
from boundshift.integrations.skore_ import ThresholdCheck

pytestmark = pytest.mark.filterwarnings("ignore")  # of what skore's own checks find


def reported(model, weights):
    X, y = make_classification(3000, weights=weights, class_sep=0.7, random_state=1)
    report = skore.EstimatorReport(model.fit(X[:1500], y[:1500]), X_test=X[1500:], y_test=y[1500:])
    report.checks.add([ThresholdCheck()])
    return report


def test_a_threshold_that_nobody_moved_is_found_and_the_cure_named():
    report = reported(LogisticRegression(), [0.93])
    said = ThresholdCheck().check_function(report)
    assert "are missed" in said
    assert "boundshift.BoundShiftClassifier(LogisticRegression(" in said


def test_the_finding_stands_beside_skore_s_own():
    report = reported(LogisticRegression(), [0.93])
    assert "BOUND001 - Decision threshold" in " ".join(report.checks.available())
    assert "BOUND001" in repr(report.checks.summarize())


def test_a_moved_threshold_is_left_alone():
    report = reported(BoundShiftClassifier(LogisticRegression()), [0.93])
    assert ThresholdCheck().check_function(report) is None


def test_balanced_classes_are_left_alone():
    report = reported(LogisticRegression(), [0.5])
    assert ThresholdCheck().check_function(report) is None
