"""Errors, rule, metrics and costs against the threshold, counted a second way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import binomtest
from sklearn.metrics import f1_score, recall_score

from boundshift import InvalidInputError, find_boundary
from boundshift._view import error_band
from boundshift.curves import ClopperPearson
from boundshift.metrics import METRICS, metrics_of_errors
from boundshift.plots import ThresholdDisplay
from boundshift.plots._threshold import metric_bands
from boundshift.rules import Cost, Floors

RUNS = 2000
SETTINGS = {"prevalence": 0.05, "costs": Cost(false_negative=7)}


def at_boundary(display):
    return np.flatnonzero(display.thresholds == display.boundary.threshold)[0]


def some(display):
    return range(0, len(display.thresholds), 97)


counted = st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(counted, counted, st.floats(0.001, 0.999))
def test_no_pair_of_errors_inside_has_a_metric_outside(negative, positive, prevalence):
    n = (negative[0], positive[0])
    wrong = (np.array([negative[1]]), np.array([positive[1]]))
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
    display = ThresholdDisplay.from_predictions(y, scores, confidence=0.9)
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
        {"rule": "g-mean", "curve": "clopper-pearson"},
        {"rule": Cost(false_negative=20), "curve": ClopperPearson(0.8)},
        {"rule": Floors(recall=0.8), "curve": "empirical"},
    ],
    ids=str,
)
def test_the_rule_is_nowhere_better_than_at_the_boundary(problem, claims):
    display = ThresholdDisplay.from_predictions(*problem, **claims)
    rule = display.boundary.rule
    sign = -1.0 if rule.maximised else 1.0
    at_threshold = sign * display.rule_values[at_boundary(display)]
    assert np.min(sign * display.rule_values) >= at_threshold - 1e-9
    if not rule.maximised:
        assert at_threshold == pytest.approx(display.boundary.loss, rel=1e-6)
    else:
        assert -at_threshold == pytest.approx(1.0 - display.boundary.loss, rel=1e-6)


def test_plateau_and_interval_are_drawn_where_they_are(problem):
    y, scores = problem
    display = ThresholdDisplay.from_predictions(
        y, np.round(scores), curve="clopper-pearson", interval=(0.5, 2.5)
    )
    texts = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert {"plateau", "where the boundary may fall"} <= set(texts)
    thick = [line for line in display.axes_[1].lines if line.get_linewidth() == 5]
    assert tuple(thick[0].get_xdata()) == display.boundary.plateau
    assert len(display.axes_[0].patches) == 1


def test_a_stored_boundary_has_its_curve_and_its_rule(problem):
    assert ThresholdDisplay.from_predictions(*problem, curve="paper").rule_values is None
    boundary = find_boundary(*problem, rule="minimax", curve=ClopperPearson(0.7))
    stored = type(boundary).from_json(boundary.to_json())
    display = stored.plot(*problem, old_threshold=2.0)
    assert display.rule_values[at_boundary(display)] == pytest.approx(boundary.loss)
    assert display.old_threshold == 2.0


def test_metrics_are_scikit_learns_at_every_threshold(problem):
    y, scores = problem
    display = ThresholdDisplay.metrics(y, scores, metrics=["recall", "f1"], old_threshold=2.5)
    for i in some(display):
        flagged = scores > display.thresholds[i]
        assert display.bands["recall"].value[i] == pytest.approx(recall_score(y, flagged))
        assert display.bands["f1"].value[i] == pytest.approx(f1_score(y, flagged))
    places = {line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() == "o"}
    assert places == {2.5, display.boundary.threshold}


def test_the_cost_is_counted_and_least_at_the_boundary_of_counts(problem):
    y, scores = problem
    costs = Cost(false_negative=20)
    settings = {"metrics": "cost", "curve": "empirical", "rule": costs}
    display = ThresholdDisplay.metrics(y, scores, costs=costs, **settings)
    cost = display.bands["cost"].value
    for i in some(display):
        flagged = scores > display.thresholds[i]
        assert cost[i] == pytest.approx(np.mean(np.where(y == 1, 20 * ~flagged, flagged)))
    assert cost.min() == pytest.approx(display.boundary.loss)
    by_rule = ThresholdDisplay.metrics(y, scores, **settings)
    np.testing.assert_array_equal(by_rule.bands["cost"].value, cost)


KNOWN = find_boundary([0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6])


@pytest.mark.parametrize(
    ("made_by", "given", "message"),
    [
        ("from_predictions", {"confidence": 95}, "`confidence` must be between 0 and 1"),
        (
            "from_predictions",
            {"boundary": KNOWN, "curve": "clopper-pearson"},
            "`curve` and `rule` must be",
        ),
        ("from_predictions", {"ax": Figure().add_axes((0, 0, 1, 1))}, "to a grid of subplots"),
        ("metrics", {"metrics": ["f3"]}, "`metrics` must be one of"),
        ("metrics", {"costs": 3}, "`costs` must be a Cost"),
        ("metrics", {"prevalence": 0}, "`prevalence` must"),
    ],
)
def test_wrong_requests_are_refused(problem, made_by, given, message):
    with pytest.raises(InvalidInputError, match=message):
        getattr(ThresholdDisplay, made_by)(*problem, **given)
