"""Pipelines as people have them."""

import numpy as np
import pandas
import polars
import pytest
import sklearn
import sklearn.ensemble
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from imblearn.under_sampling import RandomUnderSampler
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from boundshift import BoundShiftClassifier, find_boundary, load, save


@pytest.fixture(scope="module")
def data():
    return make_classification(
        900, n_features=6, n_informative=4, n_clusters_per_class=1, weights=[0.9], class_sep=1.5,
        random_state=0,
    )  # fmt: skip


def frame_of(library):
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.15).astype(int)
    age = rng.normal(50, 10, 600) + 12 * y
    age[::17] = np.nan
    town = np.where(rng.random(600) < 0.3 + 0.4 * y, "harbour", "hill")
    colour = rng.choice(["red", "green", "blue"], 600)
    frame = library.DataFrame({"age": age, "town": town, "colour": colour})
    if library is pandas:
        return frame.astype({"town": "category"}), y
    return frame.with_columns(polars.col("town").cast(polars.Categorical)), y


def before():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_column_transformer(
        (numbers, ["age"]),
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["town", "colour"]),
    )


def test_a_sampler_inside_sees_training_rows_only(data):
    X, y = data
    inner = make_sampling_pipeline(
        StandardScaler(), RandomUnderSampler(random_state=0), LogisticRegression()
    )
    clf = BoundShiftClassifier(inner, cv=StratifiedKFold(3)).fit(X, y)
    scores = np.empty(len(y))
    for train, test in StratifiedKFold(3).split(X, y):
        part = sklearn.base.clone(inner).fit(X[train], y[train])
        scores[test] = part.predict_proba(X[test])[:, 1]
    assert clf.boundary_ == find_boundary(y, scores)
    assert sum(clf.boundary_.n_samples) == len(y)


@pytest.mark.parametrize("library", [pandas, polars])
@pytest.mark.parametrize(
    "inner",
    [LogisticRegression(), LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)],
    ids=["linear", "boosted"],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_frame_with_categories_and_missing_values(library, inner, tmp_path):
    frame, y = frame_of(library)
    inside = BoundShiftClassifier(make_pipeline(before(), inner), cv=3).fit(frame, y)
    outside = make_pipeline(before(), BoundShiftClassifier(inner, cv=3)).fit(frame, y)
    assert inside.feature_names_in_.tolist() == ["age", "town", "colour"]
    for model in (inside, outside):
        assert recall_score(y, model.predict(frame)) > 0.6
    copy = load(save(inside, tmp_path / "model.skops"), trusted=True)
    np.testing.assert_array_equal(copy.predict(frame), inside.predict(frame))
