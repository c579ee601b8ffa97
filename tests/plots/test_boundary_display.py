import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from scipy.stats import binomtest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    InvalidInputError,
    MissingExtraError,
    find_boundary,
)
from boundshift.curves import ClopperPearson
from boundshift.plots import BoundaryDisplay
from boundshift.rules import Cost, NeymanPearson


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [300, 30])
    return y, rng.normal(3.0 * y)


def test_error_rates_are_those_counted_by_hand(problem):
    y, scores = problem
    display = BoundaryDisplay.from_predictions(y, scores)
    for i in range(0, len(display.thresholds), 97):
        t = display.thresholds[i]
        assert display.errors[0].rate[i] == np.mean(scores[y == 0] > t)
        assert display.errors[1].rate[i] == np.mean(scores[y == 1] <= t)


def test_bands_are_exact_binomial_intervals(problem):
    y, scores = problem
    display = BoundaryDisplay.from_predictions(y, scores, confidence=0.9)
    for i in range(0, len(display.thresholds), 97):
        k = int(np.sum(scores[y == 1] <= display.thresholds[i]))
        interval = binomtest(k, 30).proportion_ci(0.9)
        assert display.errors[1].low[i] == pytest.approx(interval.low, abs=1e-9)
        assert display.errors[1].high[i] == pytest.approx(interval.high, abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"preset": "authors"},
        {"preset": "paper"},
        {"constant": 2.0, "radius": "two-sided"},
        {"alpha": 3.0},
        {"class_weight": (1.0, 4.0)},
        {"slack": "continuous"},
        {"rule": "minimax"},
        {"rule": "sum", "bound": "smoothed"},
        {"rule": "g-mean", "bound": "dkw"},
        {"rule": Cost(costs=(1, 20)), "bound": ClopperPearson(0.8)},
        {"rule": NeymanPearson(floor=0.8), "bound": "kth-point"},
    ],
    ids=str,
)
def test_the_rule_is_nowhere_below_its_value_at_the_boundary(problem, options):
    display = BoundaryDisplay.from_predictions(*problem, **options)
    at = np.flatnonzero(display.thresholds == display.boundary.threshold)[0]
    assert display.rule_values[at] == pytest.approx(display.boundary.loss, rel=1e-6)
    assert np.nanmin(display.rule_values) >= display.boundary.loss * (1 - 1e-9)


def test_reversed_scores_have_a_rule_too(problem):
    y, scores = problem
    with pytest.warns(BoundaryWarning):
        display = BoundaryDisplay.from_predictions(y, -scores)
    at = np.flatnonzero(display.thresholds == display.boundary.threshold)[0]
    assert display.rule_values[at] == pytest.approx(display.boundary.loss)


def test_a_problem_without_solution_is_drawn_without_a_rule():
    y, scores = np.repeat([0, 1], 20), np.tile(np.arange(20.0), 2)
    with pytest.warns(BoundaryWarning):
        display = BoundaryDisplay.from_predictions(y, scores)
    assert np.isnan(display.rule_values).all()


def test_plateau_and_interval_are_drawn_where_they_are(problem):
    y, scores = problem
    display = BoundaryDisplay.from_predictions(
        y, np.round(scores), bound="clopper-pearson", interval=(0.5, 2.5)
    )
    texts = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert {"plateau", "where the boundary may fall"} <= set(texts)
    thick = [line for line in display.axes_[1].lines if line.get_linewidth() == 5]
    assert tuple(thick[0].get_xdata()) == display.boundary.plateau
    spans = [p.get_extents().x1 for p in display.axes_[0].patches]
    assert len(spans) == 1


def test_from_estimator_uses_the_models_own_scores_and_options():
    X, y = make_classification(400, weights=[0.9], random_state=0)
    model = BoundShiftClassifier(LogisticRegression(), cv=None, preset="authors").fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert display.old_threshold == 0.0
    assert display.boundary.threshold == model.threshold_
    at = np.flatnonzero(display.thresholds == model.threshold_)[0]
    assert display.rule_values[at] == pytest.approx(model.boundary_.loss, rel=1e-6)
    missed = np.mean(model.predict(X[y == 1]) == 0)
    assert display.errors[1].rate[at] == missed


def test_one_far_outlier_does_not_squeeze_the_picture(problem):
    y, scores = problem
    scores[0] = 1e9
    display = BoundaryDisplay.from_predictions(y, scores)
    low, high = display.axes_[0].get_xlim()
    assert high - low < 100


def test_panels_take_the_place_of_given_axes(problem):
    left, right = Figure().subplots(1, 2)
    display = BoundaryDisplay.from_predictions(*problem, ax=right)
    assert display.figure_ is left.figure
    assert not right.axison
    assert len(left.figure.axes) == 4


def test_axes_without_a_grid_are_refused(problem):
    ax = Figure().add_axes((0, 0, 1, 1))
    with pytest.raises(InvalidInputError, match="must belong to a grid of subplots"):
        BoundaryDisplay.from_predictions(*problem, ax=ax)


def test_a_boundary_of_another_rule_brings_its_name(problem):
    boundary = find_boundary(*problem, rule="minimax", bound="dkw")
    display = BoundaryDisplay.from_predictions(*problem, boundary=boundary)
    at = np.flatnonzero(display.thresholds == boundary.threshold)[0]
    assert display.rule_values[at] == pytest.approx(boundary.loss)


def test_missing_matplotlib_is_named_with_its_extra(problem, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "boundshift\[plot\]"'):
        BoundaryDisplay.from_predictions(*problem)


def test_wrong_confidence_is_refused(problem):
    with pytest.raises(InvalidInputError, match="`confidence` must be between 0 and 1"):
        BoundaryDisplay.from_predictions(*problem, confidence=95)
