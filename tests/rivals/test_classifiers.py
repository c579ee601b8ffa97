"""The rivals that train anew, as scikit-learn estimators."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

import boundshift.rivals
from boundshift.datasets import make_gaussians
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.metrics import geometric_mean_score
from boundshift.rivals import BalancedWeights, SMOTEClassifier

X, Y = make_gaussians((200, 20), random_state=0)
X_TEST, Y_TEST = make_gaussians((500, 500), random_state=1)
RIVALS = {"SMOTE": SMOTEClassifier, "balanced weights": BalancedWeights}
every_rival = pytest.mark.parametrize("rival", RIVALS.values(), ids=RIVALS)


@parametrize_with_checks([rival(LogisticRegression()) for rival in RIVALS.values()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_public_names():
    names = "BalancedWeights SMOTEClassifier bayes_risk_threshold tuned_threshold"
    assert set(boundshift.rivals.__all__) == {*names.split()}


@every_rival
def test_rival_beats_the_untouched_classifier(rival):
    untouched = LogisticRegression().fit(X, Y).predict(X_TEST)
    retrained = rival(LogisticRegression())
    if rival is SMOTEClassifier:
        retrained.set_params(random_state=0)
    found = geometric_mean_score(Y_TEST, retrained.fit(X, Y).predict(X_TEST))
    assert found > geometric_mean_score(Y_TEST, untouched) + 0.05


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
    with pytest.raises(MissingExtraError, match=r"imbalanced-learn.*\.\[rivals\]"):
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
