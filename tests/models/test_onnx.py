"""Labels of onnxruntime are those of `predict`, row for row."""

import re
import sys
from pathlib import Path

import lightgbm
import numpy as np
import onnxruntime
import pandas
import pytest
import scipy.sparse
import xgboost
from catboost import CatBoostClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from boundshift import BoundShiftClassifier, InvalidInputError, MissingExtraError, to_onnx
from boundshift.models._parts import unwrap

ROWS = 2000
TRAINED = 600
KINDS = {
    "logistic regression": LogisticRegression(),
    "linear machine": LinearSVC(),
    "machine, by skl2onnx": SVC(),
    "stochastic gradient": SGDClassifier(random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
    "network": MLPClassifier((8, 4), solver="lbfgs", alpha=0.1, max_iter=3000, random_state=0),
    "naive Bayes, by skl2onnx": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "extra trees": ExtraTreesClassifier(5, max_depth=6, random_state=0),
    "gradient boosting": GradientBoostingClassifier(n_estimators=10, random_state=0),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=10, random_state=0),
    "XGBoost": xgboost.XGBClassifier(n_estimators=10, n_jobs=1),
    "LightGBM": lightgbm.LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1),
    "scaled logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "scaled XGBoost": make_pipeline(
        MinMaxScaler((0, 2), clip=True), xgboost.XGBClassifier(n_estimators=10, n_jobs=1)
    ),
    "rotated boosting": make_pipeline(
        PCA(5, random_state=0), HistGradientBoostingClassifier(max_iter=5)
    ),
    "adaptive boosting, by skl2onnx": AdaBoostClassifier(n_estimators=5, random_state=0),
    "calibrated, by skl2onnx": CalibratedClassifierCV(GaussianNB()),
}
# Models that compute in float32 themselves: their own scores have no more digits.
ROUNDED = {"XGBoost", "scaled XGBoost", "adaptive boosting, by skl2onnx", "machine, by skl2onnx"}


def draw(n_classes, dtype=np.float64):
    weights = [0.85] if n_classes == 2 else [0.75, 0.15]
    X, y = make_classification(
        ROWS + TRAINED, n_features=6, n_informative=5, n_redundant=0, n_classes=n_classes,
        weights=weights, class_sep=1.5, random_state=0,
    )  # fmt: skip
    return X.astype(dtype), y


def run(model, X):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    if not hasattr(X, "columns"):
        return session.run(None, {"X": X})
    kinds = {"tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(string)": object}
    feed = {i.name: np.asarray(X[i.name], dtype=kinds[i.type]) for i in session.get_inputs()}
    return session.run(None, {name: column.reshape(-1, 1) for name, column in feed.items()})


def fit(estimator, X, y, **options):
    return BoundShiftClassifier(estimator, **{"cv": 2, **options}).fit(X[:TRAINED], y[:TRAINED])


def decisive(clf, X):
    """Return the scores that a threshold or the largest one decides by."""
    parts = unwrap(clf)
    clf = parts.last
    X = parts.transform(X)
    if len(clf.classes_) == 2:
        return clf.positive_scores(X)
    return centred(clf._response.read(clf.estimator_, X, clf.classes_) + clf.biases_)


def centred(scores):
    """Return differences to the largest score, as far as a probability can tell them."""
    return np.maximum(scores - scores.max(axis=1, keepdims=True), -600.0)


@pytest.mark.tool("ONNX", "to_onnx(clf, X)")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_labels_and_scores_are_ours_on_every_row(name, n_classes):
    X, y = draw(n_classes)
    clf = fit(KINDS[name], X, y)
    label, score, *found = run(to_onnx(clf, X), X)
    ours = decisive(clf, X)
    # The biases of a forest may give two classes one score, to rounding.
    clear = np.sum(ours > -1e-12, axis=1) == 1 if n_classes > 2 else slice(None)
    np.testing.assert_array_equal(label[clear], clf.predict(X)[clear])
    tolerance = 3e-6 if name in ROUNDED else 1e-9
    score = score if n_classes == 2 else centred(score)
    np.testing.assert_allclose(score, ours, rtol=tolerance, atol=tolerance)
    assert bool(found) == hasattr(clf, "predict_proba")
    if found:
        np.testing.assert_allclose(found[0], clf.predict_proba(X), rtol=0, atol=tolerance)
        if n_classes == 2:
            np.testing.assert_array_equal(found[0][:, 1] > clf.threshold_, label == 1)
    own = 0.5 if hasattr(clf, "predict_proba") else 0.0
    assert np.any(clf.threshold_ - own if n_classes == 2 else clf.biases_)


# In float32 a converted rotation rounds otherwise than NumPy's: docs/reference/supported_models.md.
@pytest.mark.parametrize(
    "name", [name for name in KINDS if "by skl2onnx" not in name and name != "rotated boosting"]
)
def test_float32_rows_have_the_same_labels(name):
    X, y = draw(2, np.float32)
    clf = fit(KINDS[name], X, y)
    model = to_onnx(clf, X)
    assert model.graph.input[0].type.tensor_type.elem_type == 1
    np.testing.assert_array_equal(run(model, X)[0], clf.predict(X))


@pytest.mark.parametrize("name", ["logistic regression", "network"])
def test_rows_closer_to_the_boundary_than_float32_can_tell(name):
    X, y = draw(2)
    clf = fit(KINDS[name], X, y)
    low = X[clf.predict(X) == 0][:200]
    high = X[clf.predict(X) == 1][:200]
    low, high = low[: len(high)], high[: len(low)]
    for _ in range(30):  # halve the way to the boundary again and again
        middle = (low + high) / 2
        above = clf.predict(middle)[:, None] == 1
        low = np.where(above, low, middle)
        high = np.where(above, middle, high)
    rows = np.concatenate([low, high])
    away = np.abs(clf.positive_scores(rows) - clf.threshold_)
    assert np.median(away) < 1e-8
    rows = rows[away > 1e-12]
    assert len(rows) > 100
    label, score, *_ = run(to_onnx(clf, X), rows)
    np.testing.assert_array_equal(label, clf.predict(rows))
    np.testing.assert_array_equal(label == 1, score > clf.threshold_)


@pytest.mark.parametrize("in_training", [True, False])
@pytest.mark.parametrize("name", ["forest", "histogram boosting", "XGBoost", "LightGBM"])
def test_missing_values_take_the_same_branch(name, in_training):
    X, y = draw(2)
    spoiled = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    clf = fit(KINDS[name], spoiled if in_training or name == "forest" else X, y)
    X = spoiled
    # A mean of tied log-odds may fall on the threshold, to rounding.
    clear = np.abs(clf.positive_scores(X) - clf.threshold_) > 1e-12
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(run(to_onnx(clf, X), X)[0][clear], clf.predict(X)[clear])


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_early_stopping_stops_there_too():
    X, y = draw(2)
    rows = {"eval_set": [(X[TRAINED:1000], y[TRAINED:1000])]}
    first = xgboost.XGBClassifier(n_estimators=60, learning_rate=0.9, early_stopping_rounds=2)
    first.fit(X[:TRAINED], y[:TRAINED], verbose=False, **rows)
    second = lightgbm.LGBMClassifier(n_estimators=60, learning_rate=0.9, verbose=-1)
    stop = lightgbm.early_stopping(2, verbose=False)
    second.fit(X[:TRAINED], y[:TRAINED], callbacks=[stop], **rows)
    for trained in (first, second):
        clf = BoundShiftClassifier(trained, cv="prefit").fit(X[1000:2000], y[1000:2000])
        np.testing.assert_array_equal(run(to_onnx(clf, X), X)[0], clf.predict(X))


LABELS = {
    "logistic regression": ["no", "yes"],
    "linear machine": [False, True],
    "forest": [-1.0, 2.0],
    "XGBoost": [0, 1],
    "LightGBM": [7, 300],
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_any_kind_and_either_class_positive(name):
    X, y = draw(2)
    for positive in LABELS[name]:
        clf = fit(KINDS[name], X, np.array(LABELS[name])[y], pos_label=positive)
        label, score, *_ = run(to_onnx(clf, X), X)
        assert label.tolist() == clf.predict(X).tolist()
        np.testing.assert_allclose(score, clf.positive_scores(X), atol=3e-6)
        np.testing.assert_array_equal(label == positive, score > clf.threshold_)


@pytest.mark.parametrize("cv", [4, 5])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_the_median_of_models_that_are_too_sure(cv):
    X, y = draw(2)
    X[:, 3] = np.where(y == 1, 0.2 * np.round(X[:, 3]), X[:, 3])
    keep = np.concatenate([np.flatnonzero(y == 0)[:300], np.flatnonzero(y == 1)[:7]])
    clf = BoundShiftClassifier(GaussianNB(), cv=cv, ensemble=True).fit(X[keep], y[keep])
    label, score, *_ = run(to_onnx(clf, X), X)
    np.testing.assert_array_equal(label, clf.predict(X))
    np.testing.assert_allclose(score, clf.positive_scores(X), atol=1e-9)


def test_the_last_step_of_a_pipeline_in_a_search():
    X, y = draw(2)
    inner = make_pipeline(MinMaxScaler(), AdaBoostClassifier(n_estimators=3))
    last = BoundShiftClassifier(inner, cv=2)
    search = GridSearchCV(make_pipeline(StandardScaler(), last), {}, cv=2)
    search.fit(X[:TRAINED], y[:TRAINED])
    label, score, _ = run(to_onnx(search, X), X)
    np.testing.assert_array_equal(label, search.predict(X))
    np.testing.assert_allclose(score, decisive(search, X), rtol=1e-5, atol=1e-5)


def test_the_page_on_models_counts_them():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "supported_models.md").read_text(
        encoding="utf-8"
    )
    assert f"{ROWS + TRAINED:,} rows of {len(KINDS)} kinds of models" in page


# What cannot be.

REFUSED = {
    "a function": (
        LogisticRegression(),
        {"response_method": lambda m, X: m.decision_function(X)},
        "must not be a function for ONNX, got <function",
    ),
    "CatBoost, whose exporter loses the shift": (
        CatBoostClassifier(iterations=3, verbose=0, allow_writing_files=False, thread_count=1),
        {},
        "got CatBoostClassifier. Keep the classifier itself.* may lose the shift",
    ),
    "no converter": (QuadraticDiscriminantAnalysis(), {}, "that skl2onnx can convert, got Quadr"),
    "an estimator as start": (
        GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()),
        {},
        "sum of trees .* got init=LogisticRegression",
    ),
    "dart": (xgboost.XGBClassifier(n_estimators=3, booster="dart"), {}, "got booster='dart'"),
}


def refuses(clf, X, message):
    with pytest.raises(InvalidInputError, match=message):
        to_onnx(clf, X)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written_is_refused(name):
    X, y = draw(2)
    model, options, message = REFUSED[name]
    refuses(fit(model, X, y, **options), X, message)


def test_rows_that_no_graph_takes():
    X, y = draw(2)
    refuses(LogisticRegression().fit(X, y), X, "or end in one, got LogisticRegression")
    clf = fit(LogisticRegression(), X, y)
    refuses(clf, scipy.sparse.csr_array(X), "must be dense rows and columns for ONNX, got a sparse")
    refuses(clf, np.array(["good fine", "bad poor"]), "got 1 dimension")


@pytest.mark.parametrize("library", ["histogram", "xgboost", "lightgbm"])
def test_categorical_splits(library):
    X, y = draw(2)
    codes = np.clip(X[:, 2].round() + 4, 0, 8).astype(int)
    frame = pandas.DataFrame({"a": X[:, 0], "c": pandas.Categorical(codes)})
    model = {
        "histogram": HistGradientBoostingClassifier(max_iter=3),
        "xgboost": xgboost.XGBClassifier(n_estimators=3, enable_categorical=True),
        "lightgbm": lightgbm.LGBMClassifier(n_estimators=3, min_data_per_group=5, verbose=-1),
    }[library]
    refuses(fit(model, frame, y), frame, "got categorical features")


def test_a_converter_that_is_wrong_is_found_out(monkeypatch):
    X, y = draw(2)
    clf = fit(LogisticRegression(), X, y)
    monkeypatch.setattr(clf, "positive_scores", lambda X: np.full(len(X), 99.0))
    refuses(clf, X, "a converter that is right, got scores off by")


@pytest.mark.parametrize(
    ("package", "estimator"),
    [
        ("onnx", LogisticRegression()),
        ("onnxruntime", LogisticRegression()),
        ("skl2onnx", AdaBoostClassifier(n_estimators=2)),
    ],
)
def test_without_the_extra_it_is_named(monkeypatch, package, estimator):
    X, y = draw(2)
    clf = fit(estimator, X, y)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=re.escape(f"{package} is needed here")):
        to_onnx(clf, X)


def frame_of_sizes(rows=3000):
    """Return a frame with whole numbers, gaps and words."""
    rng = np.random.default_rng(0)
    few = rng.integers(0, 4, rows)
    frame = pandas.DataFrame(
        {
            "near": rng.normal(size=rows),
            "whole": rng.integers(0, 50_000, rows),
            "gaps": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows).round(1)),
            "few": few,
            "word": np.array(["ab", "c d", "é"])[few % 3],
        }
    )
    score = frame.near + frame.whole / 2.5e4 + frame.gaps.fillna(0.5) + (few == 2)
    return frame, (score + 0.3 * rng.normal(size=rows) > 2.5).astype(int)


@pytest.mark.parametrize(
    "inner",
    [
        LogisticRegression(max_iter=2000),
        GradientBoostingClassifier(n_estimators=10, random_state=0),
        HistGradientBoostingClassifier(max_iter=10, random_state=0),
    ],
)
def test_columns_of_a_frame(inner):
    frame, y = frame_of_sizes()
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["gaps", "near"]),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["word", "few"]),
        ("passthrough", ["whole"]),
    )
    clf = fit(make_pipeline(columns, StandardScaler(), inner), frame, y)
    label, *_ = run(to_onnx(clf, frame[:TRAINED]), frame)
    # skl2onnx imputes in float32.
    near = np.abs(clf.positive_scores(frame) - clf.threshold_) < 1e-5
    np.testing.assert_array_equal(label[~near], clf.predict(frame)[~near])
    assert near.mean() < 0.01


def test_one_input_without_a_pipeline_and_no_column_called_like_an_output():
    frame, y = frame_of_sizes()
    frame = frame[["near", "few"]].rename(columns={"few": "label"})
    clf = fit(LogisticRegression(), frame, y)
    label, *_ = run(to_onnx(clf, frame), frame.to_numpy())
    np.testing.assert_array_equal(label, clf.predict(frame))
    clf = fit(make_pipeline(StandardScaler(), LogisticRegression()), frame, y)
    refuses(clf, frame, "rename columns called label")
