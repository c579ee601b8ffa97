"""A copy of the model that carries the shift itself predicts the same, row for row.

The usual models are compared in `test_matrix.py`; here are unusual settings.
"""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from boundshift import BoundShiftClassifier

ROWS = 2000
MODELS = {
    "no intercept": LogisticRegression(fit_intercept=False),
    "ridge": RidgeClassifier(fit_intercept=False),
    "search": GridSearchCV(make_pipeline(StandardScaler(), LinearSVC(random_state=0)), {}, cv=2),
}


def draw(n_classes):
    weights = [0.9] if n_classes == 2 else [0.75, 0.15]
    return make_classification(
        ROWS + 600, n_features=6, n_informative=5, n_redundant=0, n_classes=n_classes,
        weights=weights, class_sep=1.2, random_state=1,
    )  # fmt: skip


X, Y = draw(2)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_the_copy_predicts_the_same_and_the_model_stays(name, n_classes):
    X, y = draw(n_classes)
    clf = BoundShiftClassifier(MODELS[name], cv=2, ensemble=False).fit(X[-600:], y[-600:])
    before = clf.estimator_.predict(X)
    copied = clf.shifted_estimator()
    found = copied.predict(X)
    np.testing.assert_array_equal(found, clf.predict(X))
    np.testing.assert_array_equal(clf.estimator_.predict(X), before)
    two = len(clf.classes_) == 2
    on_probabilities = two and clf.boundary_.scale == "probability"
    unmoved = 0.5 if on_probabilities else 0.0
    assert (found != before).any() == np.any(clf.threshold_ != unmoved if two else clf.biases_)
    if on_probabilities:
        log_odds = logit(np.clip(clf.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12))
        expected = expit(log_odds - logit(clf.threshold_))
        np.testing.assert_allclose(copied.predict_proba(X)[:, 1], expected, rtol=1e-3, atol=1e-6)


def test_the_intercept_is_the_papers_and_the_first_class_may_be_positive():
    frozen = FrozenEstimator(LogisticRegression().fit(X[ROWS:], Y[ROWS:]))
    for pos_label, sign in ((1, 1), (0, -1)):
        clf = BoundShiftClassifier(frozen, pos_label=pos_label).fit(X[:600], Y[:600])
        linear = clf.shifted_estimator()
        own = frozen.estimator
        assert type(linear) is LogisticRegression
        np.testing.assert_array_equal(linear.predict(X), clf.predict(X))
        np.testing.assert_array_equal(linear.coef_, own.coef_)
        moved = own.intercept_ - sign * logit(clf.threshold_)
        np.testing.assert_allclose(linear.intercept_, moved)
