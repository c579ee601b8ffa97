"""The rivals as scikit-learn estimators."""

import sys

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

import boundshift.rivals
from boundshift.datasets import make_gaussians
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.metrics import geometric_mean_score
from boundshift.rivals import (
    BalancedWeights,
    BayesMinimumRisk,
    CostThresholding,
    SMOTEClassifier,
    TunedThreshold,
    Untouched,
)
from lab.rivals import RIVALS, THRESHOLD_RULES, PriorThreshold

X, Y = make_gaussians((200, 20), random_state=0)
X_TEST, Y_TEST = make_gaussians((500, 500), random_state=1)
THRESHOLD_MOVERS = (BayesMinimumRisk, CostThresholding, TunedThreshold)
POSTHOC = (Untouched, *THRESHOLD_MOVERS, PriorThreshold)
every_rival = pytest.mark.parametrize("rival", RIVALS.values(), ids=RIVALS)
every_mover = pytest.mark.parametrize("rival", THRESHOLD_MOVERS)
every_posthoc = pytest.mark.parametrize("rival", POSTHOC)


def _expected_failures(estimator):
    if isinstance(estimator, THRESHOLD_MOVERS):
        return {
            "check_classifiers_train": "the largest probability is not the prediction once the "
            "threshold has moved; scikit-learn's tuned classifier fails it too"
        }
    return {}


def _contract_subject(rival):
    subject = rival(LogisticRegression())
    # The default of five folds and scikit-learn's scorer would take a minute here.
    return subject.set_params(cv=2, metric="g_mean") if rival is TunedThreshold else subject


@parametrize_with_checks(
    [_contract_subject(rival) for rival in RIVALS.values()],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_public_names():
    assert set(boundshift.rivals.__all__) == {
        "RIVALS",
        "THRESHOLD_RULES",
        "BalancedWeights",
        "BayesMinimumRisk",
        "CostThresholding",
        "HullCalibration",
        "SMOTEClassifier",
        "TunedThreshold",
        "Untouched",
        "bayes_risk_threshold",
        "calibrate_by_roc_hull",
        "cost_threshold",
        "tuned_threshold",
    }


def test_every_threshold_rule_has_its_classifier():
    assert THRESHOLD_RULES.keys() < RIVALS.keys()


@pytest.mark.parametrize("name", [name for name in RIVALS if name != "untouched"])
def test_rival_beats_the_untouched_classifier(name):
    rival = RIVALS[name](LogisticRegression())
    if name == "smote":
        rival.set_params(random_state=0)
    untouched = Untouched(LogisticRegression()).fit(X, Y).predict(X_TEST)
    moved = rival.fit(X, Y).predict(X_TEST)
    assert geometric_mean_score(Y_TEST, moved) > geometric_mean_score(Y_TEST, untouched) + 0.05


@every_rival
def test_words_as_labels(rival):
    words = np.array(["healthy", "ill"])[Y]
    fitted = rival(LogisticRegression()).fit(X, words)
    assert set(fitted.predict(X)) == {"healthy", "ill"}


@every_rival
def test_given_estimator_is_not_fitted(rival):
    base = LogisticRegression()
    rival(base).fit(X, Y)
    assert not hasattr(base, "coef_")


@every_posthoc
def test_prefit_keeps_the_model(rival):
    base = LogisticRegression().fit(X, Y)
    coefficients = base.coef_.copy()
    fitted = rival(base, cv="prefit").fit(X_TEST, Y_TEST)
    assert fitted.estimator_ is base
    np.testing.assert_array_equal(base.coef_, coefficients)


@every_posthoc
def test_prefit_model_must_be_fitted(rival):
    with pytest.raises(NotFittedError):
        rival(LogisticRegression(), cv="prefit").fit(X, Y)


@pytest.mark.parametrize("rival", [BayesMinimumRisk, CostThresholding])
def test_frozen_model_gives_the_prefit_threshold(rival):
    base = LogisticRegression().fit(X, Y)
    prefit = rival(base, cv="prefit").fit(X_TEST, Y_TEST)
    frozen = rival(FrozenEstimator(base)).fit(X_TEST, Y_TEST)
    assert frozen.threshold_ == prefit.threshold_


@pytest.mark.parametrize("name", ["bayes_minimum_risk", "cost_thresholding"])
def test_classifier_and_function_find_the_same_threshold(name):
    fitted = RIVALS[name](LogisticRegression()).fit(X, Y)
    p = LogisticRegression().fit(X, Y).predict_proba(X)[:, 1]
    assert fitted.threshold_ == THRESHOLD_RULES[name](Y, p)


@pytest.mark.parametrize("name", ["bayes_minimum_risk", "cost_thresholding"])
def test_cv_decides_on_out_of_fold_scores(name):
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    fitted = RIVALS[name](LogisticRegression(), cv=folds).fit(X, Y)
    p = cross_val_predict(LogisticRegression(), X, Y, cv=folds, method="predict_proba")[:, 1]
    assert fitted.threshold_ == THRESHOLD_RULES[name](Y, p)


def test_prior_classifier_and_function_predict_the_same():
    fitted = PriorThreshold(LogisticRegression()).fit(X, Y)
    p = fitted.estimator_.predict_proba(X_TEST)[:, 1]
    threshold = THRESHOLD_RULES["prior_threshold"](Y, p[: len(Y)])
    np.testing.assert_array_equal(fitted.predict(X_TEST), p > threshold)


@every_mover
def test_prediction_is_the_sign_of_the_decision_function(rival):
    fitted = rival(LogisticRegression()).fit(X, Y)
    np.testing.assert_array_equal(fitted.decision_function(X) > 0, fitted.predict(X) == 1)


@every_mover
def test_probabilities_are_the_models(rival):
    fitted = rival(LogisticRegression()).fit(X, Y)
    expected = LogisticRegression().fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(fitted.predict_proba(X), expected)


@pytest.mark.parametrize(
    "rival",
    [
        BayesMinimumRisk(LinearSVC()),
        BayesMinimumRisk(LinearSVC(), cv=3),
        CostThresholding(LinearSVC(), placement="midpoint"),
        TunedThreshold(LinearSVC()),
    ],
    ids=repr,
)
def test_scores_without_probabilities_will_do(rival):
    assert rival.fit(X, Y).score(X_TEST, Y_TEST) > 0.8
    assert not hasattr(rival, "predict_proba")


@every_mover
def test_three_classes_are_refused(rival):
    with pytest.raises(ValueError, match="Only binary classification"):
        rival(LogisticRegression()).fit(X, np.arange(len(X)) % 3)


def test_smote_bears_a_tiny_minority():
    few = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:3]])
    fitted = SMOTEClassifier(LogisticRegression(), random_state=0).fit(X[few], Y[few])
    assert fitted.predict(X_TEST).any()


def test_smote_repeats_a_single_minority_row():
    few = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:1]])
    fitted = SMOTEClassifier(GaussianNB(), random_state=0).fit(X[few], Y[few])
    assert fitted.estimator_.class_count_.tolist() == [200, 200]


def test_smote_fills_every_class_up():
    labels = np.repeat([0, 1, 2], [150, 50, 20])
    fitted = SMOTEClassifier(GaussianNB(), random_state=0).fit(X, labels)
    assert fitted.estimator_.class_count_.tolist() == [150, 150, 150]


def test_smote_leaves_balanced_classes_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn.over_sampling", None)
    fitted = SMOTEClassifier(GaussianNB()).fit(X_TEST, Y_TEST)
    assert fitted.estimator_.class_count_.tolist() == [500, 500]


def test_smote_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn.over_sampling", None)
    with pytest.raises(MissingExtraError, match=r"imbalanced-learn.*boundshift\[rivals\]"):
        SMOTEClassifier(LogisticRegression()).fit(X, Y)


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(),
        HistGradientBoostingClassifier(max_iter=5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
    ],
    ids=lambda base: type(base).__name__,
)
def test_balanced_weights_sets_class_weight_wherever_it_is(base):
    fitted = BalancedWeights(base).fit(X, Y).estimator_
    params = fitted.get_params()
    weights = [value for name, value in params.items() if name.endswith("class_weight")]
    assert weights == ["balanced"]


def test_balanced_weights_passes_sample_weight():
    fitted = BalancedWeights(GaussianNB()).fit(X, Y).estimator_
    expected = GaussianNB().fit(X, Y, compute_sample_weight("balanced", Y))
    np.testing.assert_array_equal(fitted.class_prior_, expected.class_prior_)


def test_balanced_weights_passes_sample_weight_into_a_pipeline():
    fitted = BalancedWeights(make_pipeline(StandardScaler(), GaussianNB())).fit(X, Y).estimator_
    np.testing.assert_allclose(fitted[-1].class_prior_, [0.5, 0.5])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_balanced_weights_trains_a_network():
    network = MLPClassifier((4,), solver="lbfgs", max_iter=50, random_state=0)
    assert BalancedWeights(network).fit(X, Y).score(X_TEST, Y_TEST) > 0.8


def test_balanced_weights_needs_a_way_in():
    with pytest.raises(InvalidInputError, match="got KNeighborsClassifier"):
        BalancedWeights(KNeighborsClassifier()).fit(X, Y)


def test_tuned_threshold_reduces_the_folds_for_a_tiny_minority():
    few = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:3]])
    fitted = TunedThreshold(LogisticRegression(), cv=5).fit(X[few], Y[few])
    assert np.isfinite(fitted.threshold_)


def test_tuned_threshold_says_what_to_do_with_one_minority_row():
    few = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:1]])
    with pytest.raises(InvalidInputError, match="Use cv='prefit'"):
        TunedThreshold(LogisticRegression()).fit(X[few], Y[few])


def test_tuned_threshold_offers_the_g_mean():
    fitted = TunedThreshold(LogisticRegression(), metric="g_mean", random_state=0).fit(X, Y)
    assert geometric_mean_score(Y_TEST, fitted.predict(X_TEST)) > 0.8


def test_prior_threshold_of_many_classes_is_logit_adjustment():
    labels = np.repeat([0, 1, 2], [150, 50, 20])
    fitted = PriorThreshold(GaussianNB()).fit(X, labels)
    p = GaussianNB().fit(X, labels).predict_proba(X)
    expected = (p / (np.bincount(labels) / len(labels))).argmax(axis=1)
    np.testing.assert_array_equal(fitted.predict(X), expected)


def test_prior_threshold_without_strength_changes_nothing():
    fitted = PriorThreshold(LogisticRegression(), tau=0).fit(X, Y)
    expected = LogisticRegression().fit(X, Y).predict(X_TEST)
    np.testing.assert_array_equal(fitted.predict(X_TEST), expected)


def test_prior_threshold_of_an_uninformed_model_is_indifferent():
    fitted = PriorThreshold(DummyClassifier()).fit(X, Y)
    np.testing.assert_allclose(fitted.predict_proba(X), 0.5)


def test_prior_threshold_misses_a_class():
    base = LogisticRegression().fit(X, Y)
    with pytest.raises(InvalidInputError, match=r"got none of \[1\]"):
        PriorThreshold(base, cv="prefit").fit(X[Y == 0], Y[Y == 0])
