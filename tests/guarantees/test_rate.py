"""The rate of the positive class from few labels and many scores."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest, norm

from boundshift import (
    BoundaryWarning,
    Certificate,
    InvalidInputError,
    certify,
    estimate_rate,
    find_boundary,
)

DRAWS = 150
# One sample in a thousand looks like another population by chance.
by_chance = pytest.mark.filterwarnings("ignore:The labelled rows should be a random sample")


def draw(rng, n, rate, distance):
    y = rng.random(n) < rate
    return y, rng.normal(distance * y)


def count_covered(estimates, rate):
    return sum(low <= rate <= high for low, high in (e.interval for e in estimates))


def assert_covers(covered, draws, confidence=0.95):
    """Accept what a coverage equal to the confidence would give in 999 of 1,000 runs."""
    assert binomtest(covered, draws, confidence, alternative="less").pvalue > 1e-3


def width(interval):
    return interval[1] - interval[0]


@by_chance
@pytest.mark.parametrize(
    ("rate", "distance"),
    [(0.05, 0.0), (0.5, 0.0), (0.05, 4.0), (0.5, 4.0), (0.15, 2.0), (0.5, -2.0)],
)
def test_covers_and_is_never_wider_than_the_labels_alone(rate, distance):
    rng = np.random.default_rng(1)
    estimates = []
    for _ in range(DRAWS):
        y, s = draw(rng, 2000, rate, distance)
        estimates.append(estimate_rate(y[:100], s[:100], s[100:], pos_label=True))
    assert_covers(count_covered(estimates, rate), DRAWS)
    mean_width = np.mean([width(e.interval) for e in estimates])
    mean_alone = np.mean([width(e.labels_alone) for e in estimates])
    assert mean_width <= 1.01 * mean_alone
    if distance == 4.0 and rate == 0.5:
        assert mean_width < 0.5 * mean_alone


@by_chance
def test_clusters_widen_the_interval_and_keep_its_coverage():
    rng = np.random.default_rng(2)
    rate = expit(-1.0 + 1.5 * rng.normal(size=500_000)).mean()
    estimates = []
    naive = []
    for _ in range(DRAWS):
        effect = rng.normal(size=300)
        cluster = np.repeat(np.arange(300), 8)
        y = rng.random(2400) < expit(-1.0 + 1.5 * effect[cluster])
        s = rng.normal(1.0 * y)
        few = cluster < 30
        ids = {"cluster": cluster[few], "unlabelled_cluster": cluster[~few]}
        estimates.append(estimate_rate(y[few], s[few], s[~few], **ids))
        naive.append(estimate_rate(y[few], s[few], s[~few]))
    assert_covers(count_covered(estimates, rate), DRAWS)
    assert count_covered(naive, rate) < 0.9 * DRAWS


@by_chance
def test_unequal_probabilities_are_undone():
    rng = np.random.default_rng(3)
    estimates = []
    naive = []
    for _ in range(DRAWS):
        y, s = draw(rng, 2000, 0.15, 2.0)
        probability = np.where(s > 1.0, 0.2, 0.05)
        drawn = rng.random(2000) < probability
        estimates.append(estimate_rate(y[drawn], s[drawn], s, probability=probability[drawn]))
        naive.append(np.mean(y[drawn]))
    assert_covers(count_covered(estimates, 0.15), DRAWS)
    assert np.mean([e.rate for e in estimates]) == pytest.approx(0.15, abs=0.01)
    assert np.mean(naive) > 0.2


@by_chance
def test_a_labelled_row_counts_once_if_it_is_among_all_rows():
    rng = np.random.default_rng(9)
    estimates = []
    for _ in range(DRAWS):
        y, s = draw(rng, 1000, 0.2, 4.0)
        probability = np.where(s > 2.4, 1.0, 0.8)
        drawn = rng.random(1000) < probability
        estimates.append(estimate_rate(y[drawn], s[drawn], s, probability=probability[drawn]))
    assert_covers(count_covered(estimates, 0.2), DRAWS)


def test_few_labels_of_a_class_give_the_exact_interval():
    y = np.repeat([0, 1], [96, 4])
    estimate = estimate_rate(y, np.arange(100.0) + 0.05, np.arange(1000.0) / 10)
    exact = binomtest(4, 100).proportion_ci(0.95, method="exact")
    assert estimate.method == "exact"
    assert estimate.interval == pytest.approx((exact.low, exact.high))


def test_labels_of_one_class_alone_need_the_positive_one():
    scores = np.zeros(20)
    estimate = estimate_rate(np.ones(20), scores, scores, pos_label=1)
    assert estimate.interval[1] == 1.0
    assert estimate.interval[0] == pytest.approx(0.025 ** (1 / 20))
    marks = np.repeat([0.0, 1.0], 10)
    recall = certify(np.ones(20), marks, 0.5, pos_label=1, unlabelled=marks).estimate("recall")
    assert recall.is_exact
    assert recall.interval == recall.labels_alone


@pytest.mark.parametrize("change", [np.exp, np.cbrt, lambda s: 3.0 * s - 7.0])
def test_only_the_order_of_the_scores_counts(change):
    rng = np.random.default_rng(4)
    y, s = draw(rng, 1000, 0.3, 2.0)
    expected = estimate_rate(y[:100], s[:100], s[100:])
    changed = change(s)
    assert estimate_rate(y[:100], changed[:100], changed[100:]) == expected


def test_warns_of_labels_that_are_no_random_sample():
    rng = np.random.default_rng(5)
    y, s = draw(rng, 4000, 0.15, 2.0)
    top = np.argsort(s)[::-1]
    with pytest.warns(BoundaryWarning, match="random sample"):
        estimate_rate(y[top[:200]], s[top[:200]], s[top[200:]])


@by_chance
def test_the_test_of_one_population_holds_its_level():
    rng = np.random.default_rng(6)
    p_values = []
    for _ in range(400):
        y, s = draw(rng, 1000, 0.2, 2.0)
        p_values.append(estimate_rate(y[:60], s[:60], s[60:]).p_value)
    assert binomtest(int(np.sum(np.array(p_values) < 0.05)), 400, 0.05).pvalue > 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probability": np.zeros(10)}, "`probability` must be positive and finite, got 0"),
        ({"cluster": np.arange(10)}, "`cluster` must go with `unlabelled_cluster`"),
        ({"unlabelled_cluster": np.arange(50)}, "`unlabelled_cluster` must go with `cluster`"),
        ({"confidence": 1.5}, "`confidence` must be between 0 and 1"),
        ({"pos_label": 2}, "`pos_label`"),
        ({"probability": np.full(10, 0.5), "unlabelled_score": [3.0]}, "Add the labelled rows"),
    ],
)
def test_refuses(options, message):
    y = np.arange(10) % 2
    with pytest.raises(InvalidInputError, match=message):
        estimate_rate(y, np.arange(10.0), **{"unlabelled_score": np.arange(50.0), **options})


# Rates of a decision: certify(..., unlabelled=scores).

NAMES = ("recall", "specificity", "precision", "npv", "flagged")


def true_rates(rate, distance, threshold):
    recall = norm.sf(threshold - distance)
    false = norm.sf(threshold)
    flagged = rate * recall + (1 - rate) * false
    precision = rate * recall / flagged
    return recall, 1 - false, precision, (1 - rate) * (1 - false) / (1 - flagged), flagged


def draw_labels(rng, design, rate, distance):
    """Return labelled rows, other scores, and how labels were drawn."""
    y, s = draw(rng, 2000, rate, distance)
    if design == "clusters":
        ids = np.arange(2000) // 4
        options = {"cluster": ids[:200], "unlabelled_cluster": ids[200:]}
        return y[:200], s[:200], s[200:], options
    if design == "random":
        return y[:200], s[:200], s[200:], {}
    probability = (0.06, 0.3)
    drawn = rng.random(2000) < np.where(s > 1.2, 0.3, 0.06)
    return y[drawn], s[drawn], s, {"probability": probability}


@by_chance
@pytest.mark.parametrize("design", ["random", "clusters", "by side"])
@pytest.mark.parametrize(("rate", "distance"), [(0.3, 2.0), (0.05, 0.0)])
def test_rates_of_a_decision_cover_and_gain_on_average(design, rate, distance):
    rng = np.random.default_rng(10)
    truth = true_rates(rate, distance, 1.2)
    covered = np.zeros(len(NAMES))
    widths = np.zeros((len(NAMES), 2))
    for _ in range(60):
        y, s, others, options = draw_labels(rng, design, rate, distance)
        certificate = certify(y, s, 1.2, unlabelled=others, **options)
        for i, estimate in enumerate(certificate.estimates):
            covered[i] += estimate.interval[0] <= truth[i] <= estimate.interval[1]
            widths[i] += width(estimate.interval), width(estimate.labels_alone)
    for count in covered:
        assert_covers(int(count), 60)
    assert np.all(widths[:, 0] <= 1.01 * widths[:, 1])
    assert widths[4, 0] < 0.5 * widths[4, 1]


def test_bounds_and_status_rest_on_the_labels_alone():
    y, s = draw(np.random.default_rng(11), 3000, 0.3, 2.0)
    plain = certify(y[:200], s[:200], 1.2, pos_label=True)
    powered = certify(y[:200], s[:200], 1.2, pos_label=True, unlabelled=s[200:])
    assert powered.error_bounds == plain.error_bounds
    assert powered.reason == plain.reason
    recall = powered.estimate("recall")
    assert not recall.is_exact
    assert powered.estimate("flagged").is_exact
    assert str(recall) in str(powered)
    assert Certificate.from_json(powered.to_json()).estimates == powered.estimates
    with pytest.raises(InvalidInputError, match=r"unlabelled=scores"):
        plain.estimate("recall")


def test_says_if_there_is_nothing_to_gain():
    y, s = draw(np.random.default_rng(12), 3000, 0.01, 2.0)
    recall = certify(y[:200], s[:200], 1.2, pos_label=True, unlabelled=s[200:]).estimate("recall")
    hits = int(np.sum(y[:200] & (s[:200] > 1.2)))
    exact = binomtest(hits, int(y[:200].sum())).proportion_ci(0.95, method="exact")
    assert recall.interval == pytest.approx((exact.low, exact.high))
    assert "do not narrow" in str(recall)


def test_labels_that_chose_the_threshold_estimate_nothing():
    y, s = draw(np.random.default_rng(13), 500, 0.3, 2.0)
    boundary = find_boundary(y[:200], s[:200])
    for options in ({"threshold": boundary}, {"threshold": 1.0, "chosen_here": True}):
        with pytest.raises(InvalidInputError, match="have not chosen the threshold"):
            certify(y[:200], s[:200], unlabelled=s[200:], **options)
    with pytest.raises(InvalidInputError, match="origin='training'"):
        certify(y[:200], s[:200], 1.0, unlabelled=s[200:], origin="training")
