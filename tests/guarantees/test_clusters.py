"""Certificates, next rows and monitors of rows that come in clusters."""

import itertools
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn import config_context
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from boundshift import (
    Boundary,
    BoundaryWarning,
    BoundShiftClassifier,
    Certificate,
    Cost,
    Floors,
    InvalidInputError,
    Monitor,
    Status,
    certify,
    find_boundary,
    find_zone,
    rows_needed,
)
from boundshift._guarantees.certificate import certify_counts
from boundshift.curves._clusters import bound_mean, choose_bets, most_wrong_rows


def draw_clusters(rng, n, size, rate, correlation):
    """Return scores of a class at the threshold 0, wrong if above it, and the ids of clusters."""
    if correlation == 0:
        rates = np.full(n, rate)
    else:
        a = (1 - correlation) / correlation
        rates = rng.beta(a * rate, a * (1 - rate), n)
    return np.where(rng.random(n * size) < np.repeat(rates, size), 1.0, -1.0)


@pytest.mark.parametrize(
    ("n", "size", "rate", "correlation"),
    [(60, 10, 0.1, 0.5), (30, 5, 0.3, 0.9), (100, 1, 0.1, 0), (80, 4, 0.02, 0.3)],
)
def test_the_bound_of_clusters_holds(n, size, rate, correlation):
    rng = np.random.default_rng(0)
    runs = 120
    broken = 0
    naive = 0
    ids = np.repeat(np.arange(n), size)
    y = np.append(np.zeros(n * size), 1)
    for _ in range(runs):
        s = np.append(draw_clusters(rng, n, size, rate, correlation), 1.0)
        broken += certify(y, s, 0.0, cluster=np.append(ids, n)).error_bounds[0] < rate
        naive += certify(y, s, 0.0).error_bounds[0] < rate
    assert stats.binom.sf(broken - 1, runs, 0.05) > 1e-3
    if size == 10:
        assert stats.binom.sf(naive - 1, runs, 0.05) < 1e-6


@pytest.mark.parametrize("mean", [0.02, 0.3, 0.6])
def test_the_capital_has_a_mean_of_one_where_the_claim_is_true(mean):
    """All 2^8 outcomes of clusters right or wrong as a whole, each with its probability."""
    bets = choose_bets(mean, 8, 0.05)
    total = 0.0
    for outcome in itertools.product([0.0, 1.0], repeat=8):
        chance = math.prod(mean if x else 1 - mean for x in outcome)
        factors = (math.prod(1 - c + c * (1 - x) / (1 - mean) for x in outcome) for _, c in bets)
        total += chance * sum(w * f for (w, _), f in zip(bets, factors, strict=True))
    assert total == pytest.approx(0.05)


@pytest.mark.parametrize(("n", "rate"), [(30, 0.01), (30, 0.1), (60, 0.5), (60, 0.97)])
def test_the_bound_holds_over_all_counts_of_whole_clusters_and_is_little_wider(n, rate):
    k = np.arange(n + 1)
    bounds = np.array([bound_mean(np.repeat([1.0, 0.0], [i, n - i]), 0.05) for i in k])
    assert np.sum(stats.binom.pmf(k, n, rate)[bounds < rate]) <= 0.05
    exact = stats.beta.ppf(0.95, k[:-1] + 1, n - k[:-1])
    single = certify([0] * n, np.arange(n) < n // 10, 0.5, cluster=np.arange(n), pos_label=1)
    assert single.error_bounds[0] == pytest.approx(exact[n // 10])
    assert np.all((exact <= bounds[:-1] + 1e-3) & (bounds[:-1] <= 1.3 * exact + 0.01))


def test_clusters_without_errors_show_what_rows_without_errors_do():
    for n in (5, 59, 400):
        assert bound_mean(np.zeros(n), 0.05) == pytest.approx(1 - 0.05 ** (1 / n), rel=1e-3)
    ids = np.repeat(np.arange(59), 3)
    assert [most_wrong_rows(each, 0.05, 0.05) for each in (ids, ids[3:])] == [0, -1]
    assert rows_needed(0.05, clustered=True) == 59
    for error, share in ((0.1, 0.04), (0.05, 0.02)):
        n = rows_needed(error, wrong_share=share, clustered=True)
        wrong = int(share * n)
        assert bound_mean(np.repeat([0.0, 1.0], [n - wrong, wrong]), 0.05) <= error + 1e-3
        assert rows_needed(error, wrong_share=share) < n


def draw_sizes(rng, n, kind, correlation):
    """Return normal scores of clusters with 1 to 50 rows; the average over clusters is normal."""
    effect = rng.normal(size=n) * correlation**0.5
    sizes = rng.integers(1, 51, n) if kind == "mixed" else np.where(effect > 0, 1, 50)
    ids = np.repeat(np.arange(n), sizes)
    return ids, effect[ids] + rng.normal(size=len(ids)) * (1 - correlation) ** 0.5


@pytest.mark.parametrize("kind", ["mixed", "informative"])
@pytest.mark.parametrize(("correlation", "errors"), [(0.0, 0.1), (0.5, 0.1), (1.0, 0.3)])
def test_floors_and_zones_of_clusters_are_kept(kind, correlation, errors):
    rng = np.random.default_rng(2)
    runs = 150
    broken = np.zeros(3)
    rule = Floors(recall=1 - errors)
    for _ in range(runs):
        ids, s = draw_sizes(rng, 80, kind, correlation)
        other, low = draw_sizes(rng, 80, kind, correlation)
        y = np.repeat([1, 0], [len(s), len(low)])
        all_ids = np.append(ids, 80 + other)
        scores = np.append(s, -low - 3)
        zone = find_zone(y, scores, errors, cluster=all_ids)
        floor = find_boundary(y, scores, rule=rule, cluster=all_ids)
        misses = stats.norm.cdf([zone.low, floor.threshold])
        broken += [*(misses > errors), stats.norm.cdf(-zone.high - 3) > errors]
    assert stats.binom.sf(broken - 1, runs, 0.05).min() > 1e-3


def test_floors_of_clusters_stand_where_their_test_does():
    rng = np.random.default_rng(3)
    ids, s = draw_sizes(rng, 120, "mixed", 0.4)
    y = (np.arange(len(s)) % 2).astype(int)
    s = s + 3 * y
    found = find_boundary(y, s, rule=Floors(recall=0.8), cluster=ids)
    allowed = most_wrong_rows(ids[y == 1][np.argsort(s[y == 1])], 0.2, 0.05)
    assert found.wrong[1] <= allowed
    assert found.errors[1] == pytest.approx(0.2)
    rule = Floors(recall=0.8, then="specificity")
    assert find_boundary(y, s, rule=rule, cluster=ids).wrong[1] == allowed
    assert "averages over 120 negative and 119 positive clusters" in found.message
    assert Boundary.from_json(found.to_json()) == found
    assert find_zone(y, s, 0.2, cluster=ids).n_clusters == (120, 119)
    with pytest.warns(UserWarning, match="needs at least 299 positive clusters, .*there are 119"):
        unmet = find_boundary(y, s, rule=Floors(recall=0.99), cluster=ids)
    assert unmet.status is Status.UNMET
    with pytest.warns(BoundaryWarning):
        assert find_boundary(y, s, rule=Floors(recall=1.0), cluster=ids).status is Status.UNMET


def test_clusters_say_which_class_lies_higher():
    """One positive cluster of many rows lies low; the other nine lie high."""
    ids = np.concatenate([np.repeat(0, 90), np.arange(1, 100), np.arange(100, 200)])
    y = np.repeat([1, 0], [189, 100])
    s = np.concatenate([np.full(90, -9.0), np.linspace(4, 5, 99), np.linspace(-1, 1, 100)])
    s[90:100] = -8.0
    assert np.median(s[y == 1]) < np.median(s[y == 0])
    assert find_zone(y, s, 0.3, cluster=ids).high < 4
    with pytest.raises(InvalidInputError, match="must be higher for the positive class"):
        find_zone(y, s, 0.3)


def test_the_rate_is_the_average_over_clusters():
    y = np.repeat([0, 1], [12, 4])
    s = np.concatenate([[1.0] * 9, [-1.0] * 3, [1.0] * 4])  # nine wrong rows in one cluster
    ids = np.concatenate([[7] * 9, [1, 2, 3], [7, 7, 8, 9]])
    found = certify(y, s, 0.0, cluster=ids)
    assert found.errors == (0.25, 0.0)
    assert (found.n_clusters, found.n_samples, found.wrong) == ((4, 3), (12, 4), (9, 0))
    assert "averages over them" in found.reason
    assert Certificate.from_json(found.to_json()) == found
    shuffled = np.random.default_rng(0).permutation(16)
    assert certify(y[shuffled], s[shuffled], 0.0, cluster=ids[shuffled]) == found


FOUR = {"y_true": [0, 0, 1, 1], "y_score": [0, 1, 0, 1], "cluster": [1, 2, 3, 4]}
SINGLE = certify_counts((1, 1), (50, 50), (0, 1))


def certify_four(**change):
    return certify(**(FOUR | {"threshold": 0.5} | change))


def decide_four(**change):
    return find_boundary(**(FOUR | {"rule": Floors(recall=0.5)} | change))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: certify_four(cluster=[1, 2]), "one value for each of 4 rows, got 2"),
        (lambda: certify_four(chosen_here=True), "must go without each other"),
        (lambda: certify_four(cluster=[1, None, 2, 3]), "`cluster` must hold an id"),
        (lambda: certify_four().rate("npv"), "certificate of single rows"),
        (lambda: certify_four().at(0.9), "certificate of single rows"),
        (lambda: certify_four().next_rows(9), "certificate of single rows"),
        (lambda: decide_four(rule=Cost()), "guaranteed floors of recall"),
        (lambda: decide_four(rule=Floors(precision=0.5)), "guaranteed floors of recall"),
        (lambda: decide_four(rule=Floors(recall=0.5, confidence=None)), "guaranteed floors of"),
        (lambda: decide_four(sample_weight=[1.0] * 4), "cannot be combined"),
        (lambda: decide_four(cluster=["a", "A ", "b", "c"]), "blanks or case"),
        *((lambda m=m: SINGLE.next_rows(m), "`m` must be a whole") for m in (0, 2.5, True, 10**12)),
        (lambda: certify_four(cluster=None, chosen_here=True).next_rows(10), "fixed before"),
    ],
)
def test_what_clusters_and_next_rows_cannot_answer_is_refused(ask, words):
    with pytest.raises(InvalidInputError, match=words):
        ask()


@pytest.mark.parametrize(("n", "m", "rate"), [(300, 100, 0.1), (30, 50, 0.2), (59, 500, 0.01)])
def test_next_rows_hold_over_all_outcomes(n, m, rate):
    """Summed over both binomial counts, each with its probability."""
    k = np.arange(n + 1)
    limits = np.array([certify_counts((i, 0), (n, 1), (0, 1)).next_rows(m)[0] for i in k])
    failed = np.sum(stats.binom.pmf(k, n, rate) * stats.binom.sf(limits, m, rate))
    assert failed <= 0.05
    # One error less would break the limit somewhere: at a count that it was computed for.
    kept, more = (stats.hypergeom.cdf(3, n + m, limits[3] + 3 + j, n) for j in (0, 1))
    assert kept > 0.05 >= more


def certified_clusters(n=400):
    """Return a certificate of clusters with an error rate of 0.1 in both classes."""
    y = np.repeat([0, 1], [2 * n, 2 * n])
    s = np.tile(np.repeat([1.0, -1.0], [20, 180]), 8)[: 4 * n] * np.where(y, -1, 1)
    return certify(y, s, 0.0, cluster=np.repeat(np.arange(2 * n), 2))


@pytest.mark.parametrize("correlation", [0.5, 0.9])
def test_a_monitor_of_clusters_raises_few_false_alarms_and_a_true_one(correlation):
    certificate = certified_clusters()
    bound = certificate.error_bounds[0]
    size = 10
    n = 400
    alarms = {1.0: 0, 2.5: 0}
    for times in alarms:
        rng = np.random.default_rng(0)
        for _ in range(40):
            s = draw_clusters(rng, n, size, times * bound, correlation)
            ids = np.repeat(np.arange(n), size)
            monitor = Monitor(certificate).update(np.zeros(n * size), s, cluster=ids)
            alarms[times] += monitor.alarm is not None
    assert alarms[1.0] <= 3
    assert alarms[2.5] >= 35


def test_clusters_count_whole_in_any_order_of_their_rows():
    certificate = certified_clusters()
    rng = np.random.default_rng(1)
    ids = np.repeat(np.arange(60), 3)
    dates = np.arange(180)
    y = (rng.random(180) < 0.4).astype(int)
    s = rng.normal(size=180)
    whole = Monitor(certificate).update(y, s, dates, cluster=ids)
    rows = rng.permutation(180)
    assert Monitor(certificate).update(y[rows], s[rows], dates[rows], cluster=ids[rows]) == whole
    assert whole.n_samples == (int(np.sum(y == 0)), int(np.sum(y == 1)))
    assert Monitor.from_json(whole.to_json()) == whole
    of_rows = certify(y, s, 0.0)
    of_clusters = certify(y, s, 0.0, cluster=np.arange(180))
    of_rows = replace(of_rows, error_bounds=of_clusters.error_bounds)
    by_row = Monitor(of_rows).update(y, s)
    by_cluster = Monitor(of_clusters).update(y, s, cluster=np.arange(180))
    assert by_cluster.e_values == pytest.approx(by_row.e_values)
    assert by_cluster.errors == pytest.approx(by_row.errors)
    with pytest.raises(InvalidInputError, match="certificate of clusters, got None"):
        Monitor(certificate).update(y, s)


def draw_patients(rng, n, size=20):
    """Return rows of patients who hardly differ within one, their labels and ids."""
    ill = rng.random(n) < 0.3
    x = np.repeat(rng.normal(size=n) + 2 * ill, size) + 0.1 * rng.normal(size=n * size)
    return x[:, None], np.repeat(ill, size).astype(int), np.repeat(np.arange(n), size)


@pytest.mark.parametrize("routed", [False, True])
def test_a_trained_classifier_counts_patients(routed):
    rng = np.random.default_rng(1)
    trained = LogisticRegression().fit(*draw_patients(rng, 300)[:2])
    X, y, patient = draw_patients(rng, 150)
    rule = Floors(recall=0.8, then="specificity")
    scores = trained.predict_proba(X)[:, 1]
    expected = find_boundary(y, scores, rule=rule, cluster=patient)
    for model, options in (trained, {"cv": "prefit"}), (FrozenEstimator(trained), {}):
        with config_context(enable_metadata_routing=routed):
            found = BoundShiftClassifier(model, rule=rule, **options).fit(X, y, groups=patient)
        assert found.threshold_ == pytest.approx(expected.threshold)
        assert found.certificate_.certified
        assert found.certificate_.error_bounds == pytest.approx((1.0, 0.2))
        patients = tuple(len(set(patient[y == label])) for label in (0, 1))
        assert found.certificate_.n_clusters == patients


def test_a_classifier_holds_out_whole_patients_and_counts_them():
    X, y, patient = draw_patients(np.random.default_rng(5), 300, 4)
    options = {"cv": StratifiedGroupKFold(5), "rule": Floors(recall=0.8)}
    model = BoundShiftClassifier(LogisticRegression(), **options).fit(X, y, groups=patient)
    held = model.deciding_sample_.rows
    assert not set(patient[held]) & set(np.delete(patient, held))
    rows = y[held], model.positive_scores(X[held])
    expected = find_boundary(*rows, rule=options["rule"], cluster=patient[held])
    for fitted in (model, pickle.loads(pickle.dumps(model))):
        assert fitted.boundary_.threshold == pytest.approx(expected.threshold)
    assert model.certificate_.error_bounds == pytest.approx((1.0, 0.2))
    assert (model.certificate_.method, model.certificate_.status) == ("betting", "certified")
    assert "averages over" in model.boundary_.message


@pytest.mark.parametrize(
    ("options", "classes"),
    [
        ({"cv": StratifiedGroupKFold(5)}, 2),
        ({"cv": StratifiedGroupKFold(5)}, 3),
        ({"cv": StratifiedGroupKFold(5), "rule": Floors(precision=0.5, confidence=None)}, 2),
        ({"cv": "prefit"}, 2),
    ],
)
def test_bounds_that_count_rows_of_patients_are_nominal(options, classes):
    X, y, patient = draw_patients(np.random.default_rng(1), 100, 5)
    y = y if classes == 2 else y + (X[:, 0] > 3)
    trained = LogisticRegression().fit(X, y)
    found = BoundShiftClassifier(trained, **options).fit(X, y, groups=patient).certificate_
    assert found.status == "nominal"
    assert "resemble each other" in found.reason
    alone = BoundShiftClassifier(trained, **options | {"cv": 5}).fit(X, y).certificate_
    assert alone.status == "cross-fitted"


@pytest.mark.parametrize(("n", "wrong"), [(699, 75), (743, 150), (252, 14)])
def test_the_order_of_clusters_does_not_matter(n, wrong):
    # A fixed order with looks on the way would break the guarantee if IDs are sorted by score.
    y = np.ones(n, dtype=int)
    is_wrong = np.arange(n) < wrong
    bounds = [
        certify(y, 1.0 - m, 0.5, cluster=np.arange(n)).error_bounds[1]
        for m in (is_wrong, is_wrong[::-1], np.random.default_rng(0).permutation(is_wrong))
    ]
    assert bounds == pytest.approx([bounds[0]] * 3)
    assert bounds[0] >= stats.beta.ppf(0.95, wrong + 1, n - wrong)
