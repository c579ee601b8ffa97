import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
import sklearn
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    Cost,
    Floors,
    InvalidInputError,
    SupportRadius,
    find_boundary,
)
from boundshift.curves import StudentT


@pytest.fixture(scope="module")
def data():
    return make_classification(300, n_features=6, weights=[0.9], random_state=0)


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


def test_none_decides_on_training_scores(data):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression(), cv=None).fit(X, y)
    scores = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    assert model.boundary_ == find_boundary(y, scores)


@pytest.mark.parametrize("cv", [4, StratifiedKFold(4), KFold(3, shuffle=True, random_state=0)])
def test_a_splitter_decides_on_scores_of_rows_left_out(data, cv):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression(), cv=cv).fit(X, y)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=cv, method="predict_proba")[:, 1]
    assert model.boundary_ == find_boundary(y, scores)


def test_an_iterable_of_splits_will_do(data):
    X, y = data
    splits = list(StratifiedKFold(4).split(X, y))
    model = BoundShiftClassifier(LogisticRegression(), cv=iter(splits)).fit(X, y)
    expected = BoundShiftClassifier(LogisticRegression(), cv=4).fit(X, y)
    assert model.threshold_ == expected.threshold_


@pytest.mark.parametrize("cv", [None, 3])
def test_without_an_ensemble_the_final_model_is_trained_on_all_rows(data, cv):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression(), cv=cv, ensemble=False).fit(X, y)
    np.testing.assert_array_equal(model.estimator_.coef_, LogisticRegression().fit(X, y).coef_)


def test_no_row_decides_twice(data):
    X, y = data
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = BoundShiftClassifier(LogisticRegression(), cv=cv).fit(X, y)
    total = np.zeros(len(y))
    for train, test in cv.split(X, y):
        total[test] += LogisticRegression().fit(X[train], y[train]).decision_function(X[test])
    expected = find_boundary(y, total / 2)
    assert model.boundary_.n_samples == expected.n_samples
    assert model.threshold_ == pytest.approx(expit(expected.threshold), rel=1e-12)


def test_a_splitter_may_leave_rows_out(data):
    X, y = data
    cv = StratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    model = BoundShiftClassifier(LogisticRegression(), cv=cv).fit(X, y)
    train, test = next(cv.split(X, y))
    scores = LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    assert model.boundary_ == find_boundary(y[test], scores)


def test_a_training_part_with_one_class_is_refused(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    model = BoundShiftClassifier(RandomForestClassifier(5), cv=KFold(3))
    with pytest.raises(InvalidInputError, match=r"got only \[0\] in part 3 of 3. Use an int"):
        model.fit(X[order], y[order])


def test_two_rows_of_a_class_suffice_for_five_folds():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 2])
    X = rng.normal(size=(42, 2)) + 6 * y[:, None]
    model = BoundShiftClassifier(LogisticRegression()).fit(X, y)
    assert model.boundary_.n_samples == (40, 2)
    assert (model.predict(X) == y).all()


# A trained model stays as it is.


@pytest.mark.parametrize("frozen", [False, True])
def test_prefit_decides_on_the_rows_given(data, frozen):
    X, y = data
    trained = LogisticRegression().fit(X[:150], y[:150])
    model = (
        BoundShiftClassifier(FrozenEstimator(trained))
        if frozen
        else BoundShiftClassifier(trained, cv="prefit")
    )
    expected = find_boundary(y[150:], trained.predict_proba(X[150:])[:, 1])
    assert model.fit(X[150:], y[150:]).boundary_ == expected
    assert model.estimator_ is model.estimator


def test_prefit_wants_a_fitted_model(data):
    with pytest.raises(NotFittedError):
        BoundShiftClassifier(LogisticRegression(), cv="prefit").fit(*data)


def test_prefit_wants_labels_the_model_knows(data):
    X, y = data
    trained = LogisticRegression().fit(X, y)
    with pytest.raises(InvalidInputError, match=r"knows \(\[0, 1\]\), got \[2\] too. Encode"):
        BoundShiftClassifier(trained, cv="prefit").fit(X, y + 1)


# What comes out.

INNER = {
    "logistic regression": LogisticRegression(),
    "support vectors": SVC(),
    "network": MLPClassifier((4,), solver="lbfgs", max_iter=500, random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=5),
    "bayes": GaussianNB(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}


@pytest.fixture(scope="module")
def fitted(data):
    X, y = data
    return {name: BoundShiftClassifier(e, cv=3).fit(X, y) for name, e in INNER.items()}


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("ensemble", ["auto", True, False])
@pytest.mark.parametrize("name", INNER)
def test_the_threshold_is_on_the_scale_of_the_models_own_answer(data, name, pos_label, ensemble):
    X, y = data
    options = {"cv": 3, "pos_label": pos_label, "ensemble": ensemble}
    model = BoundShiftClassifier(INNER[name], **options).fit(X, y)
    if hasattr(model.estimator_, "predict_proba"):
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


@pytest.mark.parametrize("name", INNER)
@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba", "decision_function"])
def test_only_predict_moves(data, fitted, name, method):
    X, _ = data
    model = fitted[name]
    assert hasattr(model, method) == hasattr(model.estimator_, method)
    if hasattr(model, method):
        own = getattr(model.estimator_, method)(X)
        np.testing.assert_array_equal(getattr(model, method)(X), own)


def test_what_the_model_has_not_is_missing(data):
    for model in (BoundShiftClassifier(SVC()), BoundShiftClassifier(SVC()).fit(*data)):
        assert hasattr(model, "decision_function")
        assert not hasattr(model, "predict_proba")
        assert not hasattr(model, "predict_log_proba")
    assert not hasattr(BoundShiftClassifier(RandomForestClassifier()), "decision_function")


@pytest.mark.parametrize("method", ["decision_function", lambda m, X: m.decision_function(X)])
def test_a_margin_that_is_asked_for_has_a_threshold_of_its_own(data, method):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression(), cv=None, response_method=method).fit(X, y)
    own = LogisticRegression().fit(X, y)
    assert model.boundary_ == find_boundary(y, own.decision_function(X), scale="raw")
    np.testing.assert_array_equal(model.predict(X), own.decision_function(X) > model.threshold_)
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))


@pytest.mark.parametrize("name", ["logistic regression", "forest", "boosting"])
def test_the_rare_class_is_found_more_often(name):
    X, y = make_classification(2000, weights=[0.95], flip_y=0.02, random_state=3)
    inner = clone(INNER[name]).fit(X[:1000], y[:1000])
    shifted = BoundShiftClassifier(INNER[name]).fit(X[:1000], y[:1000])
    before = balanced_accuracy_score(y[1000:], inner.predict(X[1000:]))
    assert balanced_accuracy_score(y[1000:], shifted.predict(X[1000:])) > before + 0.02


@pytest.mark.parametrize("kind", [bool, str, float])
def test_labels_of_any_kind_are_predicted(data, kind):
    X, y = data
    labels = np.array([kind(0), kind(1)])[y]
    model = BoundShiftClassifier(LogisticRegression(), cv=3).fit(X, labels)
    plain = BoundShiftClassifier(LogisticRegression(), cv=3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), np.array([kind(0), kind(1)])[plain.predict(X)])
    assert model.boundary_.labels == (kind(0), kind(1))


@pytest.mark.parametrize(
    "options",
    [
        {"curve": "paper"},
        {"curve": SupportRadius(gamma=2.0, alpha=(0.5, 2.0), class_weight={0: 1.0, 1: 3.0})},
        {"curve": "dkw", "rule": "minimax"},
        {"rule": Cost(false_negative=20)},
        {"curve": "smoothed", "rule": Floors(recall=0.8)},
    ],
    ids=str,
)
def test_options_reach_find_boundary(data, options):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression(), cv=None, **options).fit(X, y)
    scores = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    assert model.boundary_ == find_boundary(y, scores, **options)


def test_random_state_makes_fits_repeatable(data):
    X, y = data
    model = BoundShiftClassifier(RandomForestClassifier(5), random_state=7, cv=3)
    assert model.fit(X, y).threshold_ == clone(model).fit(X, y).threshold_


def test_folds_can_be_fitted_at_once(data):
    X, y = data
    with joblib.parallel_config("threading"):
        model = BoundShiftClassifier(LogisticRegression(), n_jobs=2).fit(X, y)
    expected = BoundShiftClassifier(LogisticRegression()).fit(X, y).threshold_
    assert model.threshold_ == pytest.approx(expected, rel=1e-9)


# Weights and routing.


def test_sample_weight_reaches_every_fit(data, fits):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.5, 1, len(y))
    BoundShiftClassifier(Recorder(), cv=3).fit(X, y, sample_weight=weight)
    assert len(fits()) == 3
    for rows, _, seen in fits():
        expected = [weight[(row == X).all(axis=1)][0] for row in rows]
        np.testing.assert_array_equal(seen, expected)


def test_sample_weight_none_is_no_weight(data):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression()).fit(X, y, sample_weight=None)
    assert model.threshold_ == BoundShiftClassifier(LogisticRegression()).fit(X, y).threshold_


def weighted_half(n):
    return np.where(np.arange(n) % 2 == 0, 1.0, 0.0)


@pytest.mark.parametrize(
    "cv", [None, 3, StratifiedShuffleSplit(4, test_size=0.25, random_state=0), "prefit"], ids=str
)
def test_rows_without_weight_do_not_decide(data, cv):
    X, y = data
    weight = weighted_half(len(y))
    inner = LogisticRegression()
    if cv == "prefit":
        inner.fit(X, y)
    model = BoundShiftClassifier(inner, cv=cv).fit(X, y, sample_weight=weight)
    decides = weight > 0
    if not isinstance(cv, int | str | None):
        left_out = np.concatenate([test for _, test in cv.split(X, y)])
        decides &= np.isin(np.arange(len(y)), left_out)
    expected = np.sum(decides & (y == 0)), np.sum(decides & (y == 1))
    assert model.boundary_.n_samples == expected


def test_sample_weight_that_nobody_asked_for_is_refused(data, routing):
    X, y = data
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
        BoundShiftClassifier(Recorder()).fit(X, y, sample_weight=np.ones(len(y)))


def test_groups_are_routed_to_the_splitter(data, fits, routing):
    X, y = data
    groups = np.arange(len(y)) % 6
    BoundShiftClassifier(Recorder(), cv=GroupKFold(3)).fit(X, y, groups=groups)
    group_of = {row.tobytes(): g for row, g in zip(X, groups, strict=True)}
    folds = [{group_of[row.tobytes()] for row in rows} for rows, _, _ in fits()]
    assert [len(seen) for seen in folds] == [4, 4, 4]


def test_routing_goes_through_a_search(data, fits, routing):
    X, y = data
    inner = Recorder().set_fit_request(sample_weight=True)
    model = BoundShiftClassifier(inner, cv=2).set_score_request(sample_weight=True)
    search = GridSearchCV(model, {"curve": [None]}, cv=2)
    search.fit(X, y, sample_weight=np.ones(len(y)))
    assert all(weight is not None for _, _, weight in fits())


# With the rest of scikit-learn.


def test_searched_over_its_own_and_the_inner_parameters(data):
    X, y = data
    grid = {"curve": ["logistic", StudentT(), "support"], "estimator__C": [0.1, 1.0]}
    model = BoundShiftClassifier(LogisticRegression(), cv=2)
    search = GridSearchCV(model, grid, cv=2, scoring="balanced_accuracy", error_score="raise")
    search.fit(X, y)
    assert search.best_params_["curve"] in grid["curve"]
    assert search.best_estimator_.curve == search.best_params_["curve"]


def test_inside_one_vs_rest_its_own_scores_decide():
    X, y = make_classification(
        400, n_classes=3, n_informative=4, weights=[0.8, 0.15], random_state=0
    )
    model = OneVsRestClassifier(BoundShiftClassifier(LogisticRegression(), cv=3)).fit(X, y)
    own = np.stack([m.estimator_.decision_function(X) for m in model.estimators_], axis=1)
    np.testing.assert_array_equal(model.decision_function(X), own)


class Careless(Recorder):
    """A classifier that says it scores poorly and checks nothing."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.classifier_tags.poor_score = True
        return tags


@pytest.mark.parametrize(("inner", "expected"), [(Careless(), True), (Recorder(), False)])
def test_tags_of_the_model_are_handed_on(inner, expected):
    tags = get_tags(BoundShiftClassifier(inner))
    assert tags.no_validation is expected
    assert tags.classifier_tags.poor_score is expected


@pytest.mark.parametrize("nested", [False, True])
def test_weights_reach_the_last_step_of_a_pipeline(data, fits, nested):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.5, 1, len(y))
    inner = make_pipeline("passthrough", Recorder())
    inner = make_pipeline("passthrough", inner) if nested else inner
    unnamed = BoundShiftClassifier(inner, cv=2).fit(X, y, sample_weight=weight)
    seen = [w for _, _, w in fits()]
    assert len(seen) == 2
    assert all(np.isin(w, weight).all() for w in seen)
    name = "pipeline__recorder__sample_weight" if nested else "recorder__sample_weight"
    named = BoundShiftClassifier(inner, cv=2).fit(X, y, **{name: weight})
    assert unnamed.boundary_ == named.boundary_
    assert unnamed.boundary_.n_samples[1] == pytest.approx(weight[y == 1].sum())


def test_weights_that_the_last_step_does_not_take_are_refused(data):
    X, y = data
    model = BoundShiftClassifier(make_pipeline(StandardScaler(), KNeighborsClassifier()))
    with pytest.raises(InvalidInputError, match="weights for KNeighborsClassifier, which takes"):
        model.fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("container", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
def test_sparse_rows_give_the_same_boundary(data, container):
    X, y = data
    sparse = BoundShiftClassifier(LogisticRegression()).fit(container(X), y)
    dense = BoundShiftClassifier(LogisticRegression()).fit(X, y)
    assert sparse.threshold_ == pytest.approx(dense.threshold_, abs=1e-5)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dataframes_give_names_and_the_same_boundary(data, library):
    module = pytest.importorskip(library)
    X, y = data
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = module.DataFrame(dict(zip(names, X.T, strict=True)))
    model = BoundShiftClassifier(LogisticRegression()).fit(frame, module.Series(y))
    assert model.feature_names_in_.tolist() == names
    expected = BoundShiftClassifier(LogisticRegression()).fit(X, y).threshold_
    assert model.threshold_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["logistic regression", "forest"])
def test_pickled_whole(data, fitted, name):
    X, _ = data
    copy = pickle.loads(pickle.dumps(fitted[name]))
    np.testing.assert_array_equal(copy.predict(X), fitted[name].predict(X))
    assert copy.boundary_ == fitted[name].boundary_


# Fitted again on something else.


def test_nothing_of_an_earlier_fit_stays(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    three = np.where(X[:, 0] > 1, 2, y)
    model = BoundShiftClassifier(LogisticRegression(), cv=2)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model.fit(frame, y).fit(X, three)
    for name in ("threshold_", "boundary_", "feature_names_in_"):
        assert not hasattr(model, name)
    model.fit(X, y)
    for name in ("biases_", "boundaries_"):
        assert not hasattr(model, name)


# Bad input.


def test_an_estimator_without_a_score_is_refused(data):
    with pytest.raises(InvalidInputError, match="got LinearRegression without"):
        BoundShiftClassifier(LinearRegression()).fit(*data)


def test_one_class_is_refused(data):
    X, y = data
    with pytest.raises(InvalidInputError, match=r"at least two classes, got 1 class\(es\): \[0\]"):
        BoundShiftClassifier(LogisticRegression()).fit(X, y * 0)


def test_missing_features_are_left_to_models_that_take_them(data):
    X, y = data
    spoiled = np.where(X > 2, np.nan, X)
    model = BoundShiftClassifier(HistGradientBoostingClassifier(max_iter=5), cv=3).fit(spoiled, y)
    assert model.boundary_.status.solved


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curve": "x"}, "`curve` must be an ErrorCurve or one of"),
        ({"rule": "x"}, "`rule` must be a Rule or one of"),
        ({"pos_label": 2}, "`pos_label` must be one of the labels 0 and 1, got 2"),
        (
            {"curve": SupportRadius(budget=10_000)},
            "`budget` must be a number of points from 0 to 300",
        ),
        (
            {"multi_class": "x"},
            "`multi_class` must be one of 'joint', 'pairwise', 'one-vs-rest', got 'x'",
        ),
        ({"response_method": "x"}, "`response_method` must be 'auto'"),
    ],
)
def test_bad_options_are_refused(data, options, message):
    with pytest.raises(InvalidInputError) as caught:
        BoundShiftClassifier(LogisticRegression(), **options).fit(*data)
    assert message in str(caught.value)


def test_a_model_that_knows_nothing_is_said_to_guess(data):
    with pytest.warns(BoundaryWarning, match="may be no better than a guess") as caught:
        model = BoundShiftClassifier(DummyClassifier()).fit(*data)
    assert caught[0].filename == __file__
    assert np.isfinite(model.threshold_)


# The positive class.


@pytest.fixture(scope="module")
def named(data):
    """Return rows of which the rare class has the smaller label."""
    X, y = data
    return X, np.where(y == 1, "fraud", "ok")


POSITIVE = [
    (["fraud", "ok"], None, "fraud"),
    (["fraud", "ok"], "ok", "ok"),
    (["ok", "suspect"], None, "ok"),
    ([0, 1], None, 1),
    ([0, 1], 0, 0),
    ([-1, 1], None, 1),
    ([False, True], None, True),
    ([1, 2], None, 1),
]


@pytest.mark.parametrize(("labels", "pos_label", "positive"), POSITIVE, ids=str)
def test_which_class_is_positive(data, labels, pos_label, positive):
    """The first label is rare here."""
    X, y = data
    y = np.array(labels)[1 - y]
    model = BoundShiftClassifier(LogisticRegression(), pos_label=pos_label, cv=3).fit(X, y)
    assert model.boundary_.labels[1] == positive
    assert model.classes_.tolist() == labels
    np.testing.assert_array_equal(
        model.boundary_.predict(model.positive_scores(X)), model.predict(X)
    )


def test_a_row_at_the_very_boundary_is_negative_in_both():
    X = np.arange(8.0)[:, None]
    y = np.repeat(["a", "b"], [3, 5])
    model = BoundShiftClassifier(
        lambda X: X[:, 0], cv="prefit", curve="kth-point", rule="minimax"
    ).fit(X, y)
    assert model.boundary_.labels == ("b", "a")
    at = -model.boundary_.threshold
    rows = np.array([np.nextafter(at, -9), at, np.nextafter(at, 9)])[:, None]
    assert model.predict(rows).tolist() == ["a", "b", "b"]
    assert model.boundary_.predict(model.positive_scores(rows)).tolist() == ["a", "b", "b"]


def test_a_floor_protects_the_rare_class_whatever_its_name(named):
    X, y = named
    model = BoundShiftClassifier(LogisticRegression(), rule=Floors(recall=0.6), cv=3).fit(X, y)
    found = (model.predict(X) == "fraud")[y == "fraud"].mean()
    assert model.boundary_.errors[1] <= 0.4
    assert found >= 0.6
    same = BoundShiftClassifier(LogisticRegression(), rule=Floors(recall=0.6), cv=3)
    same.fit(X, (y == "fraud").astype(int))
    np.testing.assert_array_equal(model.predict(X) == "fraud", same.predict(X) == 1)


def test_a_rule_that_does_not_treat_classes_alike_asks_where_they_are_equally_frequent():
    X, y = make_classification(200, flip_y=0, random_state=0)
    y = np.array(["a", "b"])[y]
    model = BoundShiftClassifier(LogisticRegression(), rule=Cost(false_negative=2))
    with pytest.raises(InvalidInputError, match="both are equally frequent"):
        model.fit(X, y)
    assert model.set_params(pos_label="a").fit(X, y).boundary_.labels == ("b", "a")


def test_scores_that_point_the_wrong_way_are_a_status_and_no_error(named):
    X, y = named
    model = BoundShiftClassifier(
        LogisticRegression().fit(X, np.where(y == "ok", "fraud", "ok")),
        rule=Cost(false_negative=2),
        cv="prefit",
    )
    with pytest.warns(BoundaryWarning, match="lower scores"):
        model.fit(X, y)


def test_the_positive_class_has_no_score_of_its_own_among_many(data):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression()).fit(X, np.where(X[:, 0] > 1, 2, y))
    with pytest.raises(InvalidInputError, match="must be two for one class to be positive, got 3"):
        model.positive_scores(X)


# A fit that fails.


def attributes(model):
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.parametrize(
    "spoil",
    [
        {"multi_class": "x"},
        {"response_method": "x"},
        {"response_method": "predict_proba", "estimator": LinearSVC()},
        {"curve": "x"},
        {"cv": "prefit", "estimator": LogisticRegression()},
    ],
    ids=str,
)
def test_a_fit_that_fails_leaves_what_there_was(data, spoil):
    X, y = data
    model = BoundShiftClassifier(LogisticRegression(), cv=2)
    model.set_params(**spoil)
    with pytest.raises((InvalidInputError, NotFittedError)):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert not [name for name in vars(model) if name.endswith("_")]
    model = BoundShiftClassifier(LogisticRegression(), cv=2).fit(X, y).set_params(**spoil)
    before = attributes(model)
    with pytest.raises((InvalidInputError, NotFittedError)):
        model.fit(X[:, :3], np.array(["a", "b"])[y])
    assert attributes(model) == before


# Classes in an order of the model's own.


class Backwards(ClassifierMixin, BaseEstimator):
    """A logistic regression that names its classes from the last to the first."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_[::-1]
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, ::-1]

    def decision_function(self, X):
        found = self.inner_.decision_function(X)
        return -found if found.ndim == 1 else found[:, ::-1]


@pytest.mark.parametrize("cv", [3, None, "prefit"])
@pytest.mark.parametrize("labels", [["no", "yes"], ["a", "b", "c"]], ids=len)
@pytest.mark.parametrize("method", ["auto", "predict_proba"])
def test_classes_of_any_order_are_put_in_order(data, cv, labels, method):
    X, y = data
    y = np.array(labels)[np.where(X[:, 0] > 1, len(labels) - 1, y)]
    models = [LogisticRegression().fit(X, y), Backwards().fit(X, y)]
    options = {"cv": cv, "response_method": method}
    plain, backwards = (BoundShiftClassifier(m, **options).fit(X, y) for m in models)
    assert backwards.classes_.tolist() == labels
    np.testing.assert_array_equal(backwards.predict(X), plain.predict(X))
    np.testing.assert_allclose(backwards.predict_proba(X), plain.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_the_deciding_sample_gives_the_boundary_again(data, pos_label):
    X, y = data
    clf = BoundShiftClassifier(LogisticRegression(), pos_label=pos_label).fit(X, y)
    sample = clf.deciding_sample_
    again = find_boundary(sample.y, sample.scores, pos_label=pos_label, scale="probability")
    assert again.threshold == pytest.approx(clf.threshold_, abs=1e-12)
    assert sample.y.tolist() == y[sample.rows].tolist()
    assert sample.origin == "out-of-fold"
    assert not hasattr(pickle.loads(pickle.dumps(clf)), "deciding_sample_")
