"""Which scores decide, what is deployed and predicted, and what scikit-learn expects."""

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
import sklearn
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    Cost,
    Floors,
    InvalidInputError,
    SupportRadius,
    certify,
    find_boundary,
)

X, Y = make_classification(300, n_features=6, weights=[0.9], random_state=0)
LINEAR = LogisticRegression()
MODELS = {
    "logistic regression": LINEAR,
    "support vectors": SVC(),
    "network": MLPClassifier((4,), solver="lbfgs", max_iter=500, random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=5),
    "bayes": GaussianNB(),
    "pipeline": make_pipeline(StandardScaler(), LINEAR),
}


def fit(model=LINEAR, labels=Y, **options):
    return BoundShiftClassifier(model, **options).fit(X, labels)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier that scores by its first feature and remembers what it was fitted with."""

    fits = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        type(self).fits.append((X, y, sample_weight))
        return self

    def decision_function(self, X):
        return np.asarray(X[:, 0], dtype=float)

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.fixture
def fits():
    Recorder.fits = []
    return lambda: Recorder.fits


# Which scores decide.


@pytest.mark.parametrize("cv", [4, StratifiedKFold(4), KFold(3, shuffle=True, random_state=0)])
def test_a_splitter_decides_on_scores_of_rows_left_out(cv):
    scores = cross_val_predict(LINEAR, X, Y, cv=cv, method="predict_proba")[:, 1]
    assert fit(cv=cv).boundary_ == find_boundary(Y, scores)


def test_an_iterable_of_splits_is_a_cv():
    splits = list(StratifiedKFold(4).split(X, Y))
    masks = [tuple(np.isin(np.arange(len(Y)), part) for part in pair) for pair in splits]
    assert fit(cv=iter(splits)).threshold_ == fit(cv=masks).threshold_ == fit(cv=4).threshold_


def test_without_an_ensemble_the_final_model_is_trained_on_all_rows():
    own = LogisticRegression().fit(X, Y).coef_
    for cv in (None, 3):
        np.testing.assert_array_equal(fit(cv=cv, ensemble=False).estimator_.coef_, own)


def test_no_row_decides_twice():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    total = np.zeros(len(Y))
    for train, test in cv.split(X, Y):
        total[test] += LogisticRegression().fit(X[train], Y[train]).decision_function(X[test])
    model = fit(cv=cv)
    expected = find_boundary(Y, total / 2)
    assert model.boundary_.n_samples == expected.n_samples
    assert model.threshold_ == pytest.approx(expit(expected.threshold), rel=1e-12)


def test_a_splitter_may_leave_rows_out():
    cv = StratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    train, test = next(cv.split(X, Y))
    scores = LogisticRegression().fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
    assert fit(cv=cv).boundary_ == find_boundary(Y[test], scores)


def test_two_rows_of_a_class_suffice_for_five_folds():
    y = np.repeat([0, 1], [40, 2])
    rows = np.random.default_rng(0).normal(size=(42, 2)) + 6 * y[:, None]
    model = BoundShiftClassifier(LINEAR).fit(rows, y)
    assert model.boundary_.n_samples == (40, 2)
    with joblib.parallel_config("threading"):  # folds at once
        assert BoundShiftClassifier(LINEAR, n_jobs=2).fit(rows, y).boundary_ == model.boundary_


def test_prefit_decides_on_the_rows_given():
    trained = LogisticRegression().fit(X[:150], Y[:150])
    expected = find_boundary(Y[150:], trained.predict_proba(X[150:])[:, 1])
    for given in ({"estimator": FrozenEstimator(trained)}, {"estimator": trained, "cv": "prefit"}):
        model = BoundShiftClassifier(**given).fit(X[150:], Y[150:])
        assert model.boundary_ == expected
        assert model.estimator_ is given["estimator"]


@pytest.mark.parametrize("pos_label", [0, 1])
def test_the_deciding_sample_gives_the_boundary_again(pos_label):
    clf = fit(pos_label=pos_label)
    sample = clf.deciding_sample_
    again = find_boundary(sample.y, sample.scores, pos_label=pos_label, scale="probability")
    assert again.threshold == pytest.approx(clf.threshold_, abs=1e-12)
    assert sample.y.tolist() == Y[sample.rows].tolist()
    assert sample.origin == "out-of-fold"
    assert not hasattr(pickle.loads(pickle.dumps(clf)), "deciding_sample_")


MORE_X, MORE_Y = make_classification(1800, n_features=6, weights=[0.7], random_state=0)
CLUSTERS = np.arange(600) // 10
CERTIFIED = {
    "rows": {"joint": True, "confidence": 0.9},
    "clusters": {"cluster": CLUSTERS},
    "new clusters": {"cluster": CLUSTERS, "about": "new clusters"},
    "drawn": {"probability": np.full(600, 0.5), "least_probability": 0.5},
    "more rows": {"unlabelled": MORE_X[900:]},
}


@pytest.mark.parametrize("name", CERTIFIED)
def test_a_certificate_is_that_of_the_scores(name):
    asked = CERTIFIED[name]
    rows = MORE_X[300:900]
    labels = MORE_Y[300:900]
    model = BoundShiftClassifier(LINEAR).fit(MORE_X[:300], MORE_Y[:300])
    found = model.certify(rows, labels, **asked)
    if "unlabelled" in asked:
        asked = {"unlabelled": model.positive_scores(asked["unlabelled"])}
    assert found == certify(labels, model.positive_scores(rows), model.boundary_, **asked)


# What comes out.


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log")  # of a forest's zeros
def test_only_predict_moves_and_by_the_threshold(name, pos_label, ensemble):
    model = fit(MODELS[name], cv=2, pos_label=pos_label, ensemble=ensemble)
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        assert hasattr(model, method) == hasattr(model.estimator_, method)
        if hasattr(model, method):
            own = getattr(model.estimator_, method)(X)
            np.testing.assert_array_equal(getattr(model, method)(X), own)
    if hasattr(model, "predict_proba"):
        assert model.boundary_.scale == "probability"
        score = model.predict_proba(X)[:, pos_label]
    else:
        assert model.boundary_.scale == "raw"
        score = (1 if pos_label else -1) * model.decision_function(X)
    assert model.threshold_ == model.boundary_.threshold
    np.testing.assert_array_equal(model.positive_scores(X), score)
    expected = np.where(score > model.threshold_, pos_label, 1 - pos_label)
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.boundary_.predict(score), expected)


@pytest.mark.parametrize("method", ["decision_function", lambda m, X: m.decision_function(X)])
def test_a_margin_that_is_asked_for_has_a_threshold_of_its_own(method):
    model = fit(cv=None, response_method=method)
    own = LogisticRegression().fit(X, Y)
    assert model.boundary_ == find_boundary(Y, own.decision_function(X), scale="raw")
    np.testing.assert_array_equal(model.predict(X), own.decision_function(X) > model.threshold_)
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"curve": "paper"},
        {"curve": SupportRadius(gamma=2.0, alpha=(0.5, 2.0))},
        {"curve": "clopper-pearson", "rule": "minimax"},
        {"rule": Cost(false_negative=20)},
        {"curve": "smoothed", "rule": Floors(recall=0.8)},
    ],
    ids=str,
)
def test_options_reach_find_boundary_on_training_scores(options):
    scores = LogisticRegression().fit(X, Y).predict_proba(X)[:, 1]
    assert fit(cv=None, **options).boundary_ == find_boundary(Y, scores, **options)


def test_a_model_that_knows_nothing_is_no_better_than_chance():
    with pytest.warns(BoundaryWarning, match="may be no better than") as caught:
        model = BoundShiftClassifier(DummyClassifier()).fit(X, Y)
    assert caught[0].filename == __file__
    assert np.isfinite(model.threshold_)
    with pytest.warns(BoundaryWarning, match="lower scores"):
        fit(LogisticRegression().fit(X, 1 - Y), rule=Cost(false_negative=2), cv="prefit")


# Weights and routing.


@pytest.mark.parametrize("nested", [0, 1, 2])
def test_weights_reach_every_fit_and_the_boundary(fits, nested):
    weight = np.random.default_rng(0).uniform(0.5, 1, len(Y))
    inner = Recorder()
    name = "sample_weight"
    for k in range(nested):
        inner = make_pipeline("passthrough", inner)
        name = f"recorder__{name}" if k == 0 else f"pipeline__{name}"
    model = BoundShiftClassifier(inner, cv=3).fit(X, Y, **{name: weight})
    assert len(fits()) == 3
    for rows, _, seen in fits():
        expected = [weight[(row == X).all(axis=1)][0] for row in rows]
        np.testing.assert_array_equal(seen, expected)
    assert model.boundary_.n_samples[1] == pytest.approx(weight[Y == 1].sum())


@pytest.mark.parametrize(
    "cv", [None, 3, StratifiedShuffleSplit(4, test_size=0.25, random_state=0), "prefit"], ids=str
)
def test_rows_without_weight_do_not_decide(cv):
    weight = np.where(np.arange(len(Y)) % 2 == 0, 1.0, 0.0)
    inner = LogisticRegression().fit(X, Y)
    model = BoundShiftClassifier(inner, cv=cv).fit(X, Y, sample_weight=weight)
    decides = weight > 0
    if not isinstance(cv, int | str | None):
        left_out = np.concatenate([test for _, test in cv.split(X, Y)])
        decides &= np.isin(np.arange(len(Y)), left_out)
    expected = np.sum(decides & (Y == 0)), np.sum(decides & (Y == 1))
    assert model.boundary_.n_samples == expected


def test_groups_go_to_the_splitter(fits, routing):
    groups = np.arange(len(Y)) % 6
    BoundShiftClassifier(Recorder(), cv=GroupKFold(3)).fit(X, Y, groups=groups)
    group_of = {row.tobytes(): g for row, g in zip(X, groups, strict=True)}
    folds = [{group_of[row.tobytes()] for row in rows} for rows, _, _ in fits()]
    assert [len(seen) for seen in folds] == [4, 4, 4]
    with sklearn.config_context(enable_metadata_routing=False):
        found = BoundShiftClassifier(LINEAR, cv=GroupKFold(3)).fit(X, Y, groups=groups)
        splits = list(GroupKFold(3).split(X, Y, groups))
        assert found.threshold_ == fit(cv=splits).threshold_


# With the rest of scikit-learn.


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "pandas", "polars"])
def test_every_container_gives_the_same_boundary(kind):
    names = [f"x{i}" for i in range(X.shape[1])]
    if kind.startswith("csr"):
        rows = getattr(scipy.sparse, kind)(X)
        labels = Y
    else:
        library = pytest.importorskip(kind)
        rows = library.DataFrame(dict(zip(names, X.T, strict=True)))
        labels = library.Series(Y)
    model = BoundShiftClassifier(LINEAR).fit(rows, labels)
    assert model.threshold_ == pytest.approx(fit().threshold_, abs=1e-5)
    assert getattr(model, "feature_names_in_", np.array([])).tolist() in ([], names)


# Fitted again, or in vain.


def test_nothing_of_an_earlier_fit_stays():
    pandas = pytest.importorskip("pandas")
    model = BoundShiftClassifier(LINEAR, cv=2)
    model.fit(pandas.DataFrame(X, columns=list("abcdef")), Y).fit(X, np.where(X[:, 0] > 0.5, 2, Y))
    for name in ("threshold_", "boundary_", "feature_names_in_"):
        assert not hasattr(model, name)
    model.fit(X, Y)
    for name in ("biases_", "boundaries_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize(
    "spoil",
    [
        {"multi_class": "x"},
        {"response_method": "predict_proba", "estimator": LinearSVC()},
        {"curve": "x"},
        {"cv": "prefit", "estimator": LogisticRegression()},
    ],
    ids=str,
)
def test_a_fit_that_fails_changes_nothing(spoil):
    model = BoundShiftClassifier(LINEAR, cv=2).set_params(**spoil)
    with pytest.raises((InvalidInputError, NotFittedError)):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert not [name for name in vars(model) if name.endswith("_")]
    model = fit(cv=2).set_params(**spoil)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises((InvalidInputError, NotFittedError)):
        model.fit(X[:, :3], np.array(["a", "b"])[Y])
    assert {name: id(value) for name, value in vars(model).items()} == before


# The positive class, and classes in any order.

POSITIVE = [
    (["fraud", "ok"], None, "fraud"),
    (["fraud", "ok"], "ok", "ok"),
    (["ok", "suspect"], None, "ok"),
    ([0, 1], None, 1),
    ([0.0, 1.0], 0, 0),
    ([-1, 1], None, 1),
    ([False, True], None, True),
    ([1, 2], None, 1),
]


@pytest.mark.parametrize(("labels", "pos_label", "positive"), POSITIVE, ids=str)
def test_which_class_is_positive(labels, pos_label, positive):
    """The first label is rare here."""
    model = fit(labels=np.array(labels)[1 - Y], pos_label=pos_label, cv=3)
    assert model.boundary_.labels[1] == positive
    assert model.classes_.tolist() == labels
    np.testing.assert_array_equal(
        model.boundary_.predict(model.positive_scores(X)), model.predict(X)
    )


def test_a_row_at_the_very_boundary_is_negative():
    rows = np.arange(8.0)[:, None]
    y = np.repeat(["a", "b"], [3, 5])
    model = BoundShiftClassifier(
        lambda X: X[:, 0], cv="prefit", curve="empirical", rule="minimax"
    ).fit(rows, y)
    assert model.boundary_.labels == ("b", "a")
    at = -model.boundary_.threshold
    rows = np.array([np.nextafter(at, -9), at, np.nextafter(at, 9)])[:, None]
    assert model.predict(rows).tolist() == ["a", "b", "b"]
    assert model.boundary_.predict(model.positive_scores(rows)).tolist() == ["a", "b", "b"]


class Backwards(ClassifierMixin, BaseEstimator):
    """A logistic regression that names its classes from the last to the first."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_[::-1]  # and returns nothing

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, ::-1]

    def decision_function(self, X):
        found = self.inner_.decision_function(X)
        return -found if found.ndim == 1 else found[:, ::-1]


@pytest.mark.parametrize("cv", [3, None])
@pytest.mark.parametrize("labels", [["no", "yes"], ["a", "b", "c"]], ids=len)
@pytest.mark.parametrize("method", ["auto", "predict_proba"])
def test_classes_of_any_order_are_put_in_order(cv, labels, method):
    y = np.array(labels)[np.where(X[:, 0] > 0.5, len(labels) - 1, Y)]
    plain, backwards = (
        fit(model, y, cv=cv, response_method=method) for model in (LINEAR, Backwards())
    )
    assert backwards.classes_.tolist() == labels
    np.testing.assert_array_equal(backwards.predict(X), plain.predict(X))
    np.testing.assert_allclose(backwards.predict_proba(X), plain.predict_proba(X), atol=1e-12)
