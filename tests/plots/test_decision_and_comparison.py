import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score

from boundshift import BoundShiftClassifier, InvalidInputError
from boundshift.plots import ComparisonDisplay, DecisionDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


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


def test_metrics_are_those_of_scikit_learn(plane):
    X, y = plane
    labels = np.where(y == 1, "sick", "well")
    models = {
        "untouched": LogisticRegression().fit(X, labels),
        "shifted": fitted(X, labels),
    }
    display = ComparisonDisplay.from_estimator(models, X, labels, pos_label="sick")
    for i, model in enumerate(models.values()):
        predicted = model.predict(X)
        recalls = recall_score(labels, predicted, average=None)
        assert display.metrics["f1"][i] == pytest.approx(
            f1_score(labels, predicted, pos_label="sick")
        )
        assert display.metrics["balanced_accuracy"][i] == pytest.approx(
            balanced_accuracy_score(labels, predicted)
        )
        assert display.metrics["g_mean"][i] == pytest.approx(np.sqrt(np.prod(recalls)))
        assert display.metrics["recall_positive"][i] == pytest.approx(recalls[0])


def test_runs_of_a_method_become_mean_and_deviation():
    rows = [{"method": "a", "f1": v} for v in (0.2, 0.4, 0.9)] + [{"method": "b", "f1": 0.7}]
    display = ComparisonDisplay.from_rows(rows, metrics=["f1"])
    assert display.metrics["f1"] == pytest.approx([0.5, 0.7])
    assert display.spreads["f1"] == pytest.approx([np.std([0.2, 0.4, 0.9], ddof=1), 0.0])


def test_a_method_that_lacks_a_metric_keeps_its_line():
    rows = [{"method": "a", "f1": 0.5, "mcc": 0.1}, {"method": "b", "f1": 0.6, "mcc": None}]
    display = ComparisonDisplay.from_rows(rows, metrics=["f1", "mcc"])
    assert np.isnan(display.metrics["mcc"][1])
    assert [t.get_text() for t in display.axes_[0].get_yticklabels()] == ["a", "b"]


@pytest.mark.parametrize(
    ("rows", "metrics", "message"),
    [
        ([], ["f1"], "must not be empty"),
        ([{"method": "a", "f1": 1.0}], [], "must not be empty"),
        ([{"method": "a", "f1": 1.0}], ["auc"], "`metrics` must be among 'f1', got 'auc'"),
    ],
)
def test_nothing_to_compare_is_refused(rows, metrics, message):
    with pytest.raises(InvalidInputError, match=message):
        ComparisonDisplay.from_rows(rows, metrics=metrics)
