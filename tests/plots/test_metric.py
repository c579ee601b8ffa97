"""Metrics and costs against the threshold, and the curves with both operating points."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    f1_score,
    recall_score,
)

from boundshift import BoundShiftClassifier, Cost, InvalidInputError, find_boundary
from boundshift.plots import CostDisplay, MetricDisplay, RecordDisplay


def test_metrics_are_scikit_learns_at_every_threshold(problem):
    y, scores = problem
    display = MetricDisplay.from_predictions(y, scores, metrics=["recall", "f1"])
    for i in range(0, len(display.thresholds), 97):
        flagged = scores > display.thresholds[i]
        assert display.bands["recall"].value[i] == pytest.approx(recall_score(y, flagged))
        assert display.bands["f1"].value[i] == pytest.approx(f1_score(y, flagged))


def test_a_prevalence_moves_the_precision_but_not_the_recall(problem):
    here, rare = (
        MetricDisplay.from_predictions(*problem, metrics=("recall", "precision"), prevalence=p)
        for p in (None, 0.001)
    )
    np.testing.assert_array_equal(here.bands["recall"].value, rare.bands["recall"].value)
    assert np.mean(rare.bands["precision"].value < here.bands["precision"].value) > 0.5


def test_both_boundaries_are_marked_on_every_line(problem):
    display = MetricDisplay.from_predictions(*problem, old_threshold=2.5)
    places = {line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() == "o"}
    assert places == {2.5, display.boundary.threshold}


def test_the_cost_is_counted_and_least_at_the_boundary_of_counts(problem):
    y, scores = problem
    costs = Cost(false_negative=20)
    display = CostDisplay.from_predictions(y, scores, costs=costs, curve="empirical", rule=costs)
    for i in range(0, len(display.thresholds), 97):
        flagged = scores > display.thresholds[i]
        mean = np.mean(np.where(y == 1, 20 * ~flagged, flagged))
        assert display.bands["cost"].value[i] == pytest.approx(mean)
    assert display.bands["cost"].value.min() == pytest.approx(display.boundary.loss)
    assert display.levels["flag none"] == pytest.approx(20 * 30 / 330)


def test_the_costs_of_the_rule_are_drawn_where_none_are_given(problem):
    display = CostDisplay.from_predictions(*problem, rule=Cost(false_negative=5))
    assert display.levels["flag none"] == pytest.approx(5 * 30 / 330)


def test_costs_by_row_are_summed(problem):
    y, scores = problem
    amounts = np.random.default_rng(1).lognormal(size=330)
    display = CostDisplay.from_predictions(y, scores, row_cost=amounts)
    assert display.boundary == find_boundary(y, scores, row_cost=amounts)
    for i in range(0, len(display.thresholds), 97):
        is_wrong = (scores > display.thresholds[i]) != (y == 1)
        assert display.bands["cost"].value[i] == pytest.approx(np.mean(amounts * is_wrong))
    assert display.bands["cost"].value.min() == pytest.approx(display.boundary.loss)
    column = CostDisplay.from_predictions(y[:, None], scores[:, None], row_cost=amounts[:, None])
    np.testing.assert_array_equal(column.bands["cost"].value, display.bands["cost"].value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"costs": Cost(false_negative=2), "row_cost": np.ones(330)}, "`costs` must be left out"),
        ({"row_cost": np.ones(3)}, "`row_cost` must have one value"),
        ({"costs": 3}, "`costs` must be a Cost|`rule` must"),
        ({"confidence": 1.5}, "`confidence` must"),
    ],
)
def test_costs_that_contradict_are_refused(problem, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        CostDisplay.from_predictions(*problem, **settings)


@pytest.mark.parametrize("display", [MetricDisplay, CostDisplay])
def test_a_fitted_classifier_is_drawn_with_its_own_boundary(display):
    X, y = make_classification(400, weights=[0.9], random_state=0)
    model = BoundShiftClassifier(LogisticRegression()).fit(X, y)
    assert display.from_estimator(model, X, y).boundary == model.boundary_


def test_a_record_alone_shows_its_counts(problem):
    boundary = find_boundary(*problem)
    display = boundary.plot(confidence=0.9)
    assert isinstance(display, RecordDisplay)
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert f"{boundary.wrong[1]:,} of 30 rows" in names[1]


def test_a_boundary_with_scores_shows_every_threshold(problem):
    display = find_boundary(*problem).plot(*problem, old_threshold=2.0)
    assert display.old_threshold == 2.0
    assert len(display.axes_) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_true": [0, 1]}, "must be given together"),
        ({"old_threshold": 1.0}, "to draw old_threshold"),
    ],
)
def test_what_cannot_be_drawn_is_asked_for(problem, given, message):
    with pytest.raises(InvalidInputError, match=message):
        find_boundary(*problem).plot(**given)
