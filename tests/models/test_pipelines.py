"""Pipelines as people have them."""

import numpy as np
import pandas
import polars
import pytest
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from boundshift import BoundShiftClassifier, load, save


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
