import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier, InvalidInputError, find_boundary
from boundshift.plots import DecisionDisplay


@pytest.fixture
def plane():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [300, 20])
    return rng.normal(size=(320, 2)) + 1.8 * y[:, None], y


def fitted(X, y):
    return BoundShiftClassifier(LogisticRegression(), cv=None).fit(X, y)


def titles(display):
    return [ax.get_title().splitlines()[1:] for ax in display.axes_]


def test_titles_count_the_errors_before_and_after(plane):
    X, y = plane
    model = fitted(X, y)
    display = DecisionDisplay.from_estimator(model, X, y)
    expected = [
        [
            f"{np.sum(p[y == 1] == 0)} of 20 class 1 missed",
            f"{np.sum(p[y == 0] == 1)} of 300 class 0 flagged",
        ]
        for p in (model.estimator_.predict(X), model.predict(X))
    ]
    assert titles(display) == expected
    assert expected[0] != expected[1]


def test_the_surface_is_what_the_model_decides(plane):
    X, y = plane
    model = fitted(X, y)
    display = DecisionDisplay.from_estimator(model, X, y, grid_resolution=20)
    (across, up), surface = display.grid, display.grid_scores
    for i, j in ((0, 0), (3, 17), (19, 19), (12, 4)):
        row = np.array([[across[j], up[i]]])
        assert (surface[i, j] > model.threshold_) == (model.predict(row)[0] == 1)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dataframes_keep_their_names(plane, frame):
    X, y = plane
    table = frame({"age": X[:, 0], "dose": X[:, 1]})
    model = BoundShiftClassifier(LogisticRegression(), cv=None).fit(table, y)
    display = DecisionDisplay.from_estimator(model, table, y)
    assert display.axes_[0].get_xlabel() == "age"
    assert display.axes_[0].get_ylabel() == "dose"


def test_more_than_two_features_are_refused(plane):
    X, y = plane
    X = np.column_stack([X, X])
    with pytest.raises(InvalidInputError, match="`X` must have two columns"):
        DecisionDisplay.from_estimator(fitted(X, y), X, y)


def test_a_grid_of_another_shape_is_refused(plane):
    X, y = plane
    model = fitted(X, y)
    with pytest.raises(InvalidInputError, match=r"must have the shape \(3, 2\) of the grid"):
        DecisionDisplay.from_predictions(
            X, y, X[:, 0], grid=([0, 1], [0, 1, 2]), grid_scores=np.zeros((2, 3)),
            boundary=model.boundary_,
        )  # fmt: skip


@pytest.mark.parametrize("steps", [1, 2.5, "many"])
def test_a_wrong_resolution_is_refused(plane, steps):
    X, y = plane
    with pytest.raises(InvalidInputError, match="`grid_resolution` must be a whole number"):
        DecisionDisplay.from_estimator(fitted(X, y), X, y, grid_resolution=steps)


def test_scores_of_ones_own_need_an_old_threshold(plane):
    X, y = plane
    model = BoundShiftClassifier(
        LogisticRegression(), cv=None, response_method=lambda m, X: m.decision_function(X) + 1
    ).fit(X, y)
    with pytest.raises(InvalidInputError, match="`old_threshold` must be given"):
        DecisionDisplay.from_estimator(model, X, y)
    display = DecisionDisplay.from_estimator(model, X, y, old_threshold=1.0)
    missed = np.sum(model.estimator_.predict(X[y == 1]) == 0)
    assert titles(display)[0][0] == f"{missed} of 20 class 1 missed"


def test_labels_that_the_boundary_does_not_know_are_refused(plane):
    X, y = plane
    boundary = find_boundary(y, X[:, 0])
    with pytest.raises(InvalidInputError, match="`y_true` must hold the labels 0 and 1"):
        DecisionDisplay.from_predictions(
            X, y + 1, X[:, 0], grid=([0, 1], [0, 1]), grid_scores=np.eye(2), boundary=boundary
        )
