"""Errors, rule, metrics, costs and net benefit against the threshold, counted a second way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import binomtest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, recall_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from boundshift import BoundaryWarning, BoundShiftClassifier, InvalidInputError, find_boundary
from boundshift.curves import SLSQP, ClopperPearson, SupportRadius
from boundshift.metrics import METRICS, metrics_of_errors
from boundshift.plots import BoundaryDisplay, CostDisplay, DecisionCurveDisplay, MetricDisplay
from boundshift.plots.threshold import error_band, metric_bands
from boundshift.rules import Cost, Floors

RUNS = 2000
SETTINGS = {"prevalence": 0.05, "costs": Cost(false_negative=7), "odds": 1 / 7}


def at_boundary(display):
    return np.flatnonzero(display.thresholds == display.boundary.threshold)[0]


def some(display):
    return range(0, len(display.thresholds), 97)


@pytest.mark.parametrize(("n", "errors"), [((60, 12), (0.1, 0.2)), ((400, 30), (0.02, 0.6))])
def test_the_band_of_every_metric_covers_at_least_nominally(n, errors):
    rng = np.random.default_rng(0)
    wrong = tuple(rng.binomial(size, p, RUNS) for size, p in zip(n, errors, strict=True))
    true = metrics_of_errors(*errors, n, **SETTINGS)
    bands = metric_bands(wrong, n, METRICS, confidence=0.9, **SETTINGS)
    for name, band in bands.items():
        inside = np.mean((band.low <= true[name] + 1e-12) & (true[name] <= band.high + 1e-12))
        assert inside >= 0.9 - 2 * (0.09 / RUNS) ** 0.5, name


counted = st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(counted, counted, st.floats(0.001, 0.999))
def test_no_pair_of_errors_inside_has_a_metric_outside(negative, positive, prevalence):
    n, wrong = (negative[0], positive[0]), (np.array([negative[1]]), np.array([positive[1]]))
    settings = SETTINGS | {"prevalence": prevalence}
    bands = metric_bands(wrong, n, METRICS, confidence=0.9, **settings)
    ends = [error_band(k, size, 0.9**0.5) for k, size in zip(wrong, n, strict=True)]
    # Just inside: where no row is flagged, or all are, some metrics jump by convention.
    first, second = (np.clip(np.linspace(e.low[0], e.high[0], 9), 1e-9, 1 - 1e-9) for e in ends)
    inside = metrics_of_errors(*np.meshgrid(first, second), n, **settings)
    for name in set(METRICS) - {"recall", "specificity"}:
        assert bands[name].low[0] <= inside[name].min() + 1e-6
        assert inside[name].max() <= bands[name].high[0] + 1e-6


def test_error_rates_are_counted_and_their_bands_exact(problem):
    y, scores = problem
    display = BoundaryDisplay.from_predictions(y, scores, confidence=0.9)
    assert display.boundary == find_boundary(*problem)
    flagged, missed = display.bands.values()
    for i in some(display):
        t = display.thresholds[i]
        assert flagged.value[i] == np.mean(scores[y == 0] > t)
        assert missed.value[i] == np.mean(scores[y == 1] <= t)
        interval = binomtest(int(np.sum(scores[y == 1] <= t)), 30).proportion_ci(0.9)
        ends = (missed.low[i], missed.high[i])
        assert ends == pytest.approx((interval.low, interval.high), abs=1e-9)


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
    loss = display.boundary.loss
    assert display.rule_values[at_boundary(display)] == pytest.approx(loss, rel=1e-6)
    tolerance = getattr(display.boundary.rule, "tolerance", 0)
    assert np.nanmin(display.rule_values) >= loss * (1 - 1e-9) - tolerance


@pytest.mark.parametrize("curve", ["logistic", "support", "clopper-pearson"])
def test_reversed_scores_have_a_rule_too(problem, curve):
    y, scores = problem
    with pytest.warns(BoundaryWarning):
        display = BoundaryDisplay.from_predictions(y, -scores, curve=curve)
    value = display.rule_values[at_boundary(display)]
    assert value == pytest.approx(display.boundary.loss)


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
    assert len(display.axes_[0].patches) == 1


def test_one_far_outlier_does_not_squeeze_the_picture(problem):
    y, scores = problem
    scores[0] = 1e9
    low, high = BoundaryDisplay.from_predictions(y, scores).axes_[0].get_xlim()
    assert high - low < 100


def test_panels_take_the_place_of_given_axes(problem):
    left, right = Figure().subplots(1, 2)
    display = BoundaryDisplay.from_predictions(*problem, ax=right)
    assert display.figure_ is left.figure
    assert not right.axison
    assert len(left.figure.axes) == 4


def test_a_boundary_brings_its_curve_and_its_rule_stored_or_not(problem):
    boundary = find_boundary(*problem, rule="minimax", curve=ClopperPearson(0.7))
    stored = type(boundary).from_json(boundary.to_json())
    for known in (boundary, stored):
        display = BoundaryDisplay.from_predictions(*problem, boundary=known)
        assert display.rule_values[at_boundary(display)] == pytest.approx(boundary.loss)


def test_what_the_claims_are_worth_is_said(problem):
    for curve, worth in (
        ("logistic", "“logistic”: an estimate of the error, not a bound on it."),
        ("clopper-pearson", "“clopper-pearson”: holds with the stated confidence"),
    ):
        display = BoundaryDisplay.from_predictions(*problem, curve=curve)
        title = display.axes_[1].get_legend().get_title().get_text()
        assert worth in " ".join(title.split())


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=str)
@pytest.mark.parametrize("names", [(0, 1), ("healthy", "a sick one")], ids=["codes", "mirrored"])
def test_a_classifier_draws_its_boundary_on_these_rows(model, names):
    X, y = make_classification(600, weights=[0.8], flip_y=0.1, random_state=0)
    y = np.array(names)[y]
    shifted = BoundShiftClassifier(model).fit(X[:300], y[:300])
    assert isinstance(shifted.plot(X[300:], y[300:], theme="light"), BoundaryDisplay)
    display = BoundaryDisplay.from_estimator(shifted, X[300:], y[300:])
    assert display.boundary == shifted.boundary_
    assert display.old_threshold == (0.5 if hasattr(model, "predict_proba") else 0.0)
    negative, positive = shifted.boundary_.labels
    missed = np.mean(shifted.predict(X[300:][y[300:] == positive]) == negative)
    assert list(display.bands.values())[1].value[at_boundary(display)] == missed


@pytest.mark.parametrize("display", [MetricDisplay, CostDisplay])
def test_a_fitted_classifier_is_drawn_with_its_own_boundary(display):
    X, y = make_classification(400, weights=[0.9], random_state=0)
    model = BoundShiftClassifier(LogisticRegression()).fit(X, y)
    assert display.from_estimator(model, X, y).boundary == model.boundary_


def test_metrics_are_scikit_learns_at_every_threshold(problem):
    y, scores = problem
    display = MetricDisplay.from_predictions(y, scores, metrics=["recall", "f1"], old_threshold=2.5)
    for i in some(display):
        flagged = scores > display.thresholds[i]
        assert display.bands["recall"].value[i] == pytest.approx(recall_score(y, flagged))
        assert display.bands["f1"].value[i] == pytest.approx(f1_score(y, flagged))
    places = {line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() == "o"}
    assert places == {2.5, display.boundary.threshold}


def test_a_prevalence_moves_the_precision_but_not_the_recall(problem):
    here, rare = (
        MetricDisplay.from_predictions(*problem, metrics=("recall", "precision"), prevalence=p)
        for p in (None, 0.001)
    )
    np.testing.assert_array_equal(here.bands["recall"].value, rare.bands["recall"].value)
    assert np.mean(rare.bands["precision"].value < here.bands["precision"].value) > 0.5


def test_the_cost_is_counted_and_least_at_the_boundary_of_counts(problem):
    y, scores = problem
    costs = Cost(false_negative=20)
    display = CostDisplay.from_predictions(y, scores, costs=costs, curve="empirical", rule=costs)
    cost = display.bands["cost"].value
    for i in some(display):
        flagged = scores > display.thresholds[i]
        assert cost[i] == pytest.approx(np.mean(np.where(y == 1, 20 * ~flagged, flagged)))
    assert cost.min() == pytest.approx(display.boundary.loss)
    assert display.levels["flag none"] == pytest.approx(20 * 30 / 330)
    by_rule = CostDisplay.from_predictions(*problem, rule=Cost(false_negative=5))
    assert by_rule.levels["flag none"] == pytest.approx(5 * 30 / 330)


def test_costs_by_row_are_summed(problem):
    y, scores = problem
    amounts = np.random.default_rng(1).lognormal(size=330)
    display = CostDisplay.from_predictions(y, scores, row_cost=amounts)
    assert display.boundary == find_boundary(y, scores, row_cost=amounts)
    cost = display.bands["cost"].value
    for i in some(display):
        is_wrong = (scores > display.thresholds[i]) != (y == 1)
        assert cost[i] == pytest.approx(np.mean(amounts * is_wrong))
    assert cost.min() == pytest.approx(display.boundary.loss)
    column = CostDisplay.from_predictions(y[:, None], scores[:, None], row_cost=amounts[:, None])
    np.testing.assert_array_equal(column.bands["cost"].value, cost)


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


SMALL = {"y_true": [0, 0, 1], "y_proba": [0.1, 0.2, 0.3]}
KNOWN = find_boundary([0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6])


@pytest.mark.parametrize(
    ("display", "given", "message"),
    [
        (BoundaryDisplay, {"confidence": 95}, "`confidence` must be between 0 and 1"),
        (BoundaryDisplay, {"boundary": KNOWN, "curve": "dkw"}, "`curve` and `rule` must be left"),
        (BoundaryDisplay, {"boundary": KNOWN, "rule": "sum"}, "`curve` and `rule` must be left"),
        (BoundaryDisplay, {"ax": Figure().add_axes((0, 0, 1, 1))}, "belong to a grid of subplots"),
        (MetricDisplay, {"metrics": ["f3"]}, "`metrics` must be one of"),
        (CostDisplay, {"costs": Cost(), "row_cost": np.ones(330)}, "`costs` must be left out"),
        (CostDisplay, {"row_cost": np.ones(3)}, "`row_cost` must have one value"),
        (CostDisplay, {"costs": 3}, "`costs` must be a Cost|`rule` must"),
        (CostDisplay, {"confidence": 1.5}, "`confidence` must"),
        (DecisionCurveDisplay, SMALL | {"y_proba": [0.1, 2.0, 0.3]}, "must be probabilities"),
        (DecisionCurveDisplay, SMALL | {"limits": (0.5, 0.1)}, "`limits` must be"),
        (DecisionCurveDisplay, SMALL | {"limits": (0.0, 1.0)}, "`limits` must be"),
        (DecisionCurveDisplay, SMALL | {"prevalence": 0}, "`prevalence` must"),
        (DecisionCurveDisplay, SMALL | {"decisions": {"x": [0, 1]}}, "`decisions` must hold"),
        (DecisionCurveDisplay, SMALL | {"decisions": {"x": [0, 1, 7]}}, "`decisions` must hold"),
        (DecisionCurveDisplay, SMALL | {"y_proba": {}}, "one model at least"),
    ],
)
def test_wrong_requests_are_refused(problem, display, given, message):
    rows = () if "y_true" in given else problem
    with pytest.raises(InvalidInputError, match=message):
        display.from_predictions(*rows, **given)


def test_a_model_without_probabilities_is_refused():
    X, y = make_classification(100, random_state=0)
    with pytest.raises(InvalidInputError, match="`estimator` must have probabilities"):
        DecisionCurveDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
