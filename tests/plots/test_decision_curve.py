"""Decision curves: net benefit as defined, on unseen rows, at any prevalence."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from boundshift import BoundShiftClassifier, InvalidInputError, find_boundary
from boundshift.plots import DecisionCurveDisplay


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 6, 800)
    return (rng.random(800) < p).astype(int), p


@pytest.mark.parametrize("standardised", [False, True])
def test_net_benefit_is_counted_by_its_definition(rows, standardised):
    y, p = rows
    display = DecisionCurveDisplay.from_predictions(
        y, p, standardised=standardised, limits=(0.01, 0.6)
    )
    scale = y.mean() if standardised else 1.0
    for i in range(0, 400, 37):
        t = display.thresholds[i]
        worth = np.mean((p > t) & (y == 1)) - np.mean((p > t) & (y == 0)) * t / (1 - t)
        everyone = y.mean() - (1 - y.mean()) * t / (1 - t)
        assert display.bands["model"].value[i] == pytest.approx(worth / scale, abs=1e-12)
        assert display.levels["flag all"][i] == pytest.approx(everyone / scale, abs=1e-12)


def test_a_prevalence_is_what_thinned_out_negatives_would_have_had(rows):
    y, p = rows
    kept = (y == 1) | (np.cumsum(y == 0) % 4 == 0)
    whole = DecisionCurveDisplay.from_predictions(y, p, limits=(0.01, 0.3))
    thin = DecisionCurveDisplay.from_predictions(
        y[kept], p[kept], prevalence=y.mean(), limits=(0.01, 0.3)
    )
    np.testing.assert_allclose(thin.levels["flag all"], whole.levels["flag all"])
    gap = np.abs(thin.bands["model"].value - whole.bands["model"].value)
    assert gap.max() < 0.1


def test_fixed_decisions_have_a_straight_line_in_the_odds(rows):
    y, p = rows
    decided = find_boundary(y, p).predict(p)
    display = DecisionCurveDisplay.from_predictions(y, p, decisions={"boundary": decided})
    odds = display.thresholds / (1 - display.thresholds)
    slope = np.diff(display.bands["boundary"].value) / np.diff(odds)
    np.testing.assert_allclose(slope, -np.mean((decided == 1) & (y == 0)) / y.mean())


def test_several_models_are_drawn_beside_each_other(rows):
    y, p = rows
    display = DecisionCurveDisplay.from_predictions(y, {"sharp": p, "blunt": p**0.5})
    assert list(display.bands) == ["sharp", "blunt"]
    assert display.bands["sharp"].value.mean() > display.bands["blunt"].value.mean()


def test_folds_draw_the_probabilities_of_models_that_have_not_seen_the_row():
    X, y = make_classification(400, weights=[0.8], flip_y=0.2, random_state=0)
    tree, cv = DecisionTreeClassifier(random_state=0), StratifiedKFold(5)
    unseen = cross_val_predict(tree, X, y, cv=cv, method="predict_proba")[:, 1]
    expected = DecisionCurveDisplay.from_predictions(y, unseen)
    found = DecisionCurveDisplay.from_estimator(tree, X, y, cv=cv)
    np.testing.assert_allclose(found.bands["model"].value, expected.bands["model"].value)
    flattered = DecisionCurveDisplay.from_estimator(tree.fit(X, y), X, y)
    assert flattered.bands["model"].value.mean() > found.bands["model"].value.mean() + 0.2


@pytest.mark.parametrize("cv", [None, 3])
def test_a_shifted_model_shows_its_own_probabilities_and_its_decisions(cv):
    X, y = make_classification(600, weights=[0.9], random_state=0)
    model = BoundShiftClassifier(LogisticRegression()).fit(X[:300], y[:300])
    display = DecisionCurveDisplay.from_estimator(model, X[300:], y[300:], cv=cv)
    assert list(display.bands) == ["model", "boundary"]
    if cv is None:
        own = model.estimator_.predict_proba(X[300:])[:, 1]
        expected = DecisionCurveDisplay.from_predictions(y[300:], own)
        np.testing.assert_allclose(display.bands["model"].value, expected.bands["model"].value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_proba": [0.1, 2.0, 0.3]}, "must be probabilities"),
        ({"limits": (0.5, 0.1)}, "`limits` must be"),
        ({"limits": (0.0, 1.0)}, "`limits` must be"),
        ({"prevalence": 0}, "`prevalence` must"),
        ({"decisions": {"x": [0, 1]}}, "`decisions` must hold"),
        ({"decisions": {"x": [0, 1, 7]}}, "`decisions` must hold"),
        ({"y_proba": {}}, "one model at least"),
    ],
)
def test_bad_requests_are_refused(given, message):
    whole = {"y_true": [0, 0, 1], "y_proba": [0.1, 0.2, 0.3]} | given
    with pytest.raises(InvalidInputError, match=message):
        DecisionCurveDisplay.from_predictions(**whole)


def test_a_model_without_probabilities_is_refused():
    X, y = make_classification(100, random_state=0)
    with pytest.raises(InvalidInputError, match="`estimator` must have probabilities"):
        DecisionCurveDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
