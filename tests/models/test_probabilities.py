"""Decision function, labels and probabilities shift together, and tools that mix them agree."""

import lightgbm
import numpy as np
import pytest
import skore
import xgboost
from catboost import CatBoostClassifier
from scipy.special import expit, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import classification_report, get_scorer, recall_score
from sklearn.model_selection import FixedThresholdClassifier, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from boundshift import BoundShiftClassifier

# The response that is the log-odds with two classes, and with three.
MARGIN, OWN, ODDS = "margin", "decision_function", "predict_proba"
MODELS = {
    "logistic regression": (LogisticRegression(), OWN, OWN),
    "stochastic gradient": (SGDClassifier(loss="log_loss", random_state=0), OWN, ODDS),
    "clipped gradient": (SGDClassifier(loss="modified_huber", random_state=0), ODDS, ODDS),
    "discriminant": (LinearDiscriminantAnalysis(), OWN, OWN),
    "quadratic discriminant": (QuadraticDiscriminantAnalysis(), OWN, OWN),
    "network": (
        MLPClassifier((4,), solver="lbfgs", alpha=9.0, max_iter=2000, random_state=0),
        MARGIN,
        MARGIN,
    ),
    "bayes": (GaussianNB(), MARGIN, MARGIN),
    "neighbours": (KNeighborsClassifier(), ODDS, ODDS),
    "forest": (RandomForestClassifier(20, random_state=0), ODDS, ODDS),
    "votes": (AdaBoostClassifier(n_estimators=5, random_state=0), OWN, ODDS),
    "boosting": (GradientBoostingClassifier(n_estimators=5, random_state=0), OWN, OWN),
    "histogram boosting": (HistGradientBoostingClassifier(max_iter=5), OWN, OWN),
    "XGBoost": (xgboost.XGBClassifier(n_estimators=5, n_jobs=1), MARGIN, MARGIN),
    "LightGBM": (lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1), MARGIN, MARGIN),
    "CatBoost": (
        CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False, thread_count=1),
        MARGIN,
        MARGIN,
    ),
    "calibrated": (CalibratedClassifierCV(GaussianNB(), cv=2), ODDS, ODDS),
    "pipeline": (make_pipeline(StandardScaler(), LogisticRegression()), OWN, OWN),
}


def draw(n_classes):
    return make_classification(
        900, n_features=5, n_informative=4, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=1, weights=[0.85] if n_classes == 2 else [0.7, 0.2], flip_y=0.05,
        random_state=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def rare():
    """Return rows of which few are positive and hard to tell: training and fresh."""
    X, y = make_classification(4000, weights=[0.95], flip_y=0.02, class_sep=0.8, random_state=3)
    return X[:2000], y[:2000], X[2000:], y[2000:]


@pytest.fixture(scope="module")
def shifted(rare):
    return BoundShiftClassifier(LogisticRegression()).fit(*rare[:2])


# The contract.


@pytest.mark.parametrize("name", MODELS)
def test_all_three_shift_together(problem, name):
    X, y = problem
    model, *responses = MODELS[name]
    clf = BoundShiftClassifier(model, cv=2, ensemble=False).fit(X, y)
    assert clf._response.method == responses[len(clf.classes_) - 2]
    p, decision = clf.predict_proba(X), clf.decision_function(X)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[p.argmax(axis=1)])
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    if decision.ndim == 1:
        np.testing.assert_array_equal(clf.predict(X), clf.classes_[(decision > 0).astype(int)])
        np.testing.assert_array_equal(p[:, 1] > 0.5, decision > 0)
        np.testing.assert_allclose(p[:, 1], expit(decision), rtol=1e-12)
    else:
        np.testing.assert_allclose(p, softmax(decision, axis=1), rtol=1e-12)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), p, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_log_odds_of_the_models_own_probabilities_that_shift(problem, name):
    X, y = problem
    clf = BoundShiftClassifier(MODELS[name][0], cv=None).fit(X, y)
    own = np.asarray(clf.estimator_.predict_proba(X), dtype=np.float64)
    inside = (own > (clf._response.floor or 1e-3)).all(axis=1)
    two = len(clf.classes_) == 2
    shift = np.array([0.0, -clf.threshold_]) if two else clf.biases_
    expected = softmax(np.log(own[inside]) + shift, axis=1)
    np.testing.assert_allclose(clf.predict_proba(X)[inside], expected, rtol=1e-3, atol=1e-6)
    assert np.any(shift)


def test_the_models_own_probabilities_stay(two):
    X, y = two
    clf = BoundShiftClassifier(LogisticRegression(), ensemble=False).fit(X, y)
    own = LogisticRegression().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(clf.estimator_.predict_proba(X), own)
    assert abs(clf.predict_proba(X) - own).max() > 0.1


# Where there are none.


def why(clf):
    assert not hasattr(clf, "predict_log_proba")
    with pytest.raises(AttributeError) as caught:
        clf.predict_proba  # noqa: B018
    return str(caught.value)


def test_no_probabilities_where_the_model_has_none(two):
    clf = BoundShiftClassifier(SVC())
    assert "SVC has none. Calibrate it with CalibratedClassifierCV" in why(clf)
    assert "SVC has none" in why(clf.fit(*two))


@pytest.mark.parametrize(
    ("model", "method", "named"),
    [
        (LogisticRegression(), lambda m, X: 2 * m.decision_function(X), "<lambda>"),
        (
            GradientBoostingClassifier(loss="exponential", n_estimators=3),
            "decision_function",
            "'decision_function'",
        ),
    ],
    ids=["a function", "half the log-odds"],
)
def test_no_probabilities_where_the_score_is_no_log_odds(two, model, method, named):
    clf = BoundShiftClassifier(model, cv=2, response_method=method)
    assert hasattr(clf, "predict_proba")  # not known before
    message = why(clf.fit(*two))
    assert "are not the log-odds of" in message
    assert named in message
    assert "estimator_.predict_proba" in message


def test_a_margin_that_is_asked_for_and_is_the_log_odds_keeps_them(two):
    X, y = two
    asked = BoundShiftClassifier(LogisticRegression(), response_method="decision_function")
    auto = BoundShiftClassifier(LogisticRegression())
    np.testing.assert_array_equal(asked.fit(X, y).predict_proba(X), auto.fit(X, y).predict_proba(X))


# Tools that read labels off one and scores off another.


def test_skore_reports_the_recall_of_predict(rare, shifted):
    *_, X, y = rare
    expected = recall_score(y, shifted.predict(X))
    own = recall_score(y, shifted.estimator_.predict(X))
    assert expected > 0.6 > 0.3 > own
    report = skore.EstimatorReport(shifted, X_test=X, y_test=y, pos_label=1)
    assert report.metrics.recall() == pytest.approx(expected)
    assert report.metrics.summarize().frame().loc["recall"] == pytest.approx(expected)


def test_half_of_the_probability_is_the_boundary(rare, shifted):
    *_, X, _ = rare
    fixed = FixedThresholdClassifier(
        FrozenEstimator(shifted), threshold=0.5, response_method="predict_proba"
    )
    np.testing.assert_array_equal(fixed.fit(*rare[:2]).predict(X), shifted.predict(X))


@pytest.mark.parametrize("name", ["recall", "precision", "f1", "balanced_accuracy"])
def test_scorers_agree_with_predict(rare, shifted, name):
    *_, X, y = rare
    scorer = get_scorer(name)
    from_probabilities = shifted.predict_proba(X).argmax(axis=1)
    expected = scorer._score_func(y, from_probabilities, **scorer._kwargs)
    assert scorer(shifted, X, y) == pytest.approx(expected)


def test_the_order_of_rows_stays(rare, shifted):
    *_, X, y = rare
    found = get_scorer("roc_auc")(shifted, X, y)
    assert found == pytest.approx(get_scorer("roc_auc")(shifted.estimator_, X, y))


def test_cross_validation_agrees_with_predict(two):
    X, y = two
    found = cross_validate(
        BoundShiftClassifier(LogisticRegression(), cv=3),
        X,
        y,
        cv=StratifiedKFold(3),
        scoring=["recall", "neg_log_loss", "roc_auc"],
        return_estimator=True,
        error_score="raise",
    )
    splits = StratifiedKFold(3).split(X, y)
    for model, (_, test), recall, loss in zip(
        found["estimator"], splits, found["test_recall"], found["test_neg_log_loss"], strict=True
    ):
        p = model.predict_proba(X[test])
        assert recall == recall_score(y[test], p[:, 1] > 0.5)
        assert loss == pytest.approx(np.mean(np.log(p[np.arange(len(test)), y[test]])))


def test_the_classification_report_agrees(rare, shifted):
    *_, X, y = rare
    by_labels = classification_report(y, shifted.predict(X), output_dict=True)
    by_chances = classification_report(
        y, (shifted.predict_proba(X)[:, 1] > 0.5).astype(int), output_dict=True
    )
    assert by_labels == by_chances


def test_calibration_around_the_shift_takes_it_back(rare, shifted):
    X, y, fresh, _ = rare
    around = CalibratedClassifierCV(FrozenEstimator(shifted)).fit(X, y)
    own = CalibratedClassifierCV(FrozenEstimator(shifted.estimator_)).fit(X, y)
    np.testing.assert_allclose(around.predict_proba(fresh), own.predict_proba(fresh), atol=1e-3)
    assert (around.predict(fresh) != shifted.predict(fresh)).any()
