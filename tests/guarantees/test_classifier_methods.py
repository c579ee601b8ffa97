"""The classifier's methods score the rows themselves, so nobody passes a wrong scale."""

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from boundshift import BoundaryWarning, BoundShiftClassifier, InvalidInputError, Monitor

X, Y = make_classification(1200, weights=[0.8], flip_y=0.1, random_state=0)
NAMES = np.where(Y, "a sick one", "healthy")  # the positive class is the first by name
FIT = slice(0, 600)
FRESH = slice(600, 1200)


@pytest.fixture(scope="module", params=["probability", "margin", "mirrored"])
def case(request):
    """Return a fitted classifier, its fresh rows, their labels and the positive one."""
    model = LinearSVC() if request.param == "margin" else LogisticRegression()
    y = NAMES if request.param == "mirrored" else Y
    positive = "a sick one" if request.param == "mirrored" else 1
    return BoundShiftClassifier(model).fit(X[FIT], y[FIT]), X[FRESH], y[FRESH], positive


def test_certify_and_a_monitor_count_the_errors_of_predict(case):
    shifted, rows, y, positive = case
    certificate = shifted.certify(rows, y, 0.9, joint=True)
    is_positive = y == positive
    is_wrong = shifted.predict(rows) != y
    wrong = tuple(int(np.sum(is_wrong[mine])) for mine in (~is_positive, is_positive))
    monitor = Monitor(certificate).update(y, shifted.positive_scores(rows))
    assert certificate.wrong == monitor.wrong == wrong
    assert certificate.labels == shifted.boundary_.labels == (*{*y} - {positive}, positive)
    assert (certificate.status, certificate.confidence) == ("certified", 0.9)
    assert certificate.joint is True
    assert certificate.scale == shifted.certificate_.scale == shifted.boundary_.scale


def test_find_zone_counts_the_rows_that_it_leaves_unsure(case):
    shifted, rows, y, positive = case
    zone = shifted.find_zone(rows, y, errors=(0.1, 0.2), confidence=0.9)
    assert (zone.error_bounds, zone.confidence, zone.labels[1]) == ((0.1, 0.2), 0.9, positive)
    decided = zone.predict(shifted.positive_scores(rows), unsure="ask")
    share = [np.mean(decided[y == label] == "ask") for label in zone.labels]
    assert share == pytest.approx(zone.unsure)


@pytest.mark.parametrize("method", ["certify", "find_zone"])
@pytest.mark.parametrize("new", [["no", "yes"], [1, 2]], ids=str)
def test_labels_other_than_those_of_fit_are_refused(method, new):
    shifted = BoundShiftClassifier(LogisticRegression()).fit(X[FIT], Y[FIT])
    with pytest.raises(InvalidInputError, match=r"must hold labels of `fit`, .* got .*2|yes"):
        getattr(shifted, method)(X[FRESH], np.array(new)[Y[FRESH]])


@pytest.fixture(scope="module")
def three():
    rows, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    return BoundShiftClassifier(LogisticRegression(max_iter=1000)).fit(rows[::2], y[::2]), rows, y


def test_many_classes_are_certified_class_by_class(three):
    fitted, rows, y = three
    fresh = slice(1, None, 2)
    certificate = fitted.certify(rows[fresh], y[fresh], 0.9)
    assert (certificate.status, certificate.labels) == ("certified", ("a", "b", "c"))
    predicted = fitted.predict(rows[fresh])
    for label, bound in zip("abc", certificate.error_bounds, strict=True):
        of_class = y[fresh] == label
        wrong = np.sum(predicted[of_class] != label)
        n = np.sum(of_class)
        assert bound == pytest.approx(beta.ppf(0.9, wrong + 1, n - wrong))
    with pytest.warns(BoundaryWarning, match="used in fit"):
        assert fitted.certify(rows[::2], y[::2]).status == "nominal"


def test_what_needs_two_classes_says_so(three):
    fitted, rows, y = three
    with pytest.raises(InvalidInputError, match="must be two"):
        fitted.find_zone(rows, y)
    with pytest.raises(InvalidInputError, match="`cluster` must go with two classes, got 3"):
        fitted.certify(rows, y, cluster=y)
    with pytest.raises(AttributeError, match="read `biases_`"):
        fitted.threshold_  # noqa: B018
