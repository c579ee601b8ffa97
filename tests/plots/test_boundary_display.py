import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import binomtest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    InvalidInputError,
    MissingExtraError,
    find_boundary,
)
from boundshift.curves import SLSQP, ClopperPearson, SupportRadius
from boundshift.plots import BoundaryDisplay
from boundshift.rules import Cost, Floors


def test_error_rates_are_those_counted_by_hand(problem):
    y, scores = problem
    display = BoundaryDisplay.from_predictions(y, scores)
    for i in range(0, len(display.thresholds), 97):
        t, (flagged, missed) = display.thresholds[i], display.bands.values()
        assert flagged.value[i] == np.mean(scores[y == 0] > t)
        assert missed.value[i] == np.mean(scores[y == 1] <= t)


def test_bands_are_exact_binomial_intervals(problem):
    y, scores = problem
    display = BoundaryDisplay.from_predictions(y, scores, confidence=0.9)
    for i in range(0, len(display.thresholds), 97):
        k = int(np.sum(scores[y == 1] <= display.thresholds[i]))
        interval = binomtest(k, 30).proportion_ci(0.9)
        assert display.bands["class 1 missed"].low[i] == pytest.approx(interval.low, abs=1e-9)
        assert display.bands["class 1 missed"].high[i] == pytest.approx(interval.high, abs=1e-9)


def test_the_boundary_is_the_one_that_find_boundary_finds_by_default(problem):
    display = BoundaryDisplay.from_predictions(*problem)
    assert display.boundary == find_boundary(*problem)


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"curve": "support"},
        {"curve": "authors"},
        {"curve": "paper"},
        {"curve": SupportRadius(constant=2.0, radius="two-sided")},
        {"curve": SupportRadius(alpha=3.0)},
        {"curve": SupportRadius(class_weight={0: 1.0, 1: 4.0})},
        {"curve": SupportRadius(slack="continuous")},
        {"curve": "support", "rule": "minimax"},
        {"rule": "minimax"},
        {"rule": "sum", "curve": "smoothed"},
        {"rule": "g-mean", "curve": "dkw"},
        {"rule": Cost(false_negative=20), "curve": ClopperPearson(0.8)},
        {"rule": Floors(recall=0.8), "curve": "kth-point"},
    ],
    ids=str,
)
def test_the_rule_is_nowhere_below_its_value_at_the_boundary(problem, claims):
    display = BoundaryDisplay.from_predictions(*problem, **claims)
    at = np.flatnonzero(display.thresholds == display.boundary.threshold)[0]
    assert display.rule_values[at] == pytest.approx(display.boundary.loss, rel=1e-6)
    tolerance = getattr(display.boundary.rule, "tolerance", 0)
    assert np.nanmin(display.rule_values) >= display.boundary.loss * (1 - 1e-9) - tolerance


@pytest.mark.parametrize("curve", ["logistic", "support", "clopper-pearson"])
def test_reversed_scores_have_a_rule_too(problem, curve):
    y, scores = problem
    with pytest.warns(BoundaryWarning):
        display = BoundaryDisplay.from_predictions(y, -scores, curve=curve)
    at = np.flatnonzero(display.thresholds == display.boundary.threshold)[0]
    assert display.rule_values[at] == pytest.approx(display.boundary.loss)


def test_a_problem_without_solution_is_drawn_without_a_rule():
    y, scores = np.repeat([0, 1], 20), np.tile(np.arange(20.0), 2)
    with pytest.warns(BoundaryWarning):
        display = BoundaryDisplay.from_predictions(y, scores, curve="support")
    assert np.isnan(display.rule_values).all()


def test_a_local_optimum_is_drawn_on_the_true_loss(problem):
    curve = SupportRadius(solver=SLSQP(start=1))
    display = BoundaryDisplay.from_predictions(*problem, curve=curve)
    best = find_boundary(*problem, curve="support")
    assert np.nanmin(display.rule_values) == pytest.approx(best.loss, abs=1e-3)
    assert display.boundary.loss >= best.loss


def test_plateau_and_interval_are_drawn_where_they_are(problem):
    y, scores = problem
    display = BoundaryDisplay.from_predictions(
        y, np.round(scores), curve="clopper-pearson", interval=(0.5, 2.5)
    )
    texts = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert {"plateau", "where the boundary may fall"} <= set(texts)
    thick = [line for line in display.axes_[1].lines if line.get_linewidth() == 5]
    assert tuple(thick[0].get_xdata()) == display.boundary.plateau
    spans = [p.get_extents().x1 for p in display.axes_[0].patches]
    assert len(spans) == 1


def test_from_estimator_uses_the_models_own_scores_curve_and_rule():
    X, y = make_classification(400, weights=[0.9], random_state=0)
    model = BoundShiftClassifier(LogisticRegression(), cv=None, curve="authors").fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert display.old_threshold == 0.5
    assert display.boundary.threshold == model.threshold_
    at = np.flatnonzero(display.thresholds == model.threshold_)[0]
    assert display.rule_values[at] == pytest.approx(model.boundary_.loss, rel=1e-6)
    missed = np.mean(model.predict(X[y == 1]) == 0)
    assert display.bands["class 1 missed"].value[at] == missed


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


def test_a_boundary_brings_its_curve_and_its_rule(problem):
    boundary = find_boundary(*problem, rule="minimax", curve=ClopperPearson(0.7))
    display = BoundaryDisplay.from_predictions(*problem, boundary=boundary)
    at = np.flatnonzero(display.thresholds == boundary.threshold)[0]
    assert display.rule_values[at] == pytest.approx(boundary.loss)


def test_a_stored_boundary_is_drawn_as_the_one_that_was_stored(problem):
    boundary = find_boundary(*problem, curve=ClopperPearson(0.9))
    stored = type(boundary).from_json(boundary.to_json())
    values = [
        BoundaryDisplay.from_predictions(*problem, boundary=known).rule_values
        for known in (boundary, stored)
    ]
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("claim", [{"curve": "dkw"}, {"rule": "sum"}])
def test_a_boundary_with_another_curve_or_rule_is_refused(problem, claim):
    boundary = find_boundary(*problem)
    with pytest.raises(InvalidInputError, match="`curve` and `rule` must be left out"):
        BoundaryDisplay.from_predictions(*problem, boundary=boundary, **claim)


def test_what_the_claims_are_worth_is_said(problem):
    for curve, worth in (
        ("logistic", "“logistic”: an estimate of the error, not a bound on it."),
        ("clopper-pearson", "“clopper-pearson”: holds with the stated confidence"),
    ):
        display = BoundaryDisplay.from_predictions(*problem, curve=curve)
        title = display.axes_[1].get_legend().get_title().get_text()
        assert worth in " ".join(title.split())


def test_missing_matplotlib_is_named_with_its_extra(problem, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[plot\]"'):
        BoundaryDisplay.from_predictions(*problem)


def test_wrong_confidence_is_refused(problem):
    with pytest.raises(InvalidInputError, match="`confidence` must be between 0 and 1"):
        BoundaryDisplay.from_predictions(*problem, confidence=95)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=str)
@pytest.mark.parametrize("names", [(0, 1), ("healthy", "a sick one")], ids=["codes", "mirrored"])
def test_a_classifier_draws_its_boundary_on_these_rows(model, names):
    X, y = make_classification(600, weights=[0.8], flip_y=0.1, random_state=0)
    y = np.array(names)[y]
    shifted = BoundShiftClassifier(model).fit(X[:300], y[:300])
    display = shifted.plot(X[300:], y[300:], theme="light")
    assert isinstance(display, BoundaryDisplay)
    assert display.boundary == shifted.boundary_
