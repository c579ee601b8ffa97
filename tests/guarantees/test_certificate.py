import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    Floors,
    InvalidInputError,
    certify,
    find_boundary,
)
from boundshift._guarantees.certificate import certify_counts

Y = np.repeat([0, 1], [60, 15])
S = np.concatenate([np.linspace(-1, 0.4, 60), np.linspace(-0.2, 1, 15)])


def exact(k: int, n: int, confidence: float) -> float:
    interval = stats.binomtest(k, n, alternative="less").proportion_ci(confidence, "exact")
    return float(interval.high)


def test_a_threshold_fixed_before_has_the_exact_binomial_bounds() -> None:
    certificate = certify(Y, S, threshold=0.1).at(0.9)
    wrong = (int(np.sum(S[:60] > 0.1)), int(np.sum(S[60:] <= 0.1)))
    expected = (exact(wrong[0], 60, 0.9), exact(wrong[1], 15, 0.9))
    assert (certificate.wrong, certificate.status) == (wrong, "certified")
    assert certificate.error_bounds == pytest.approx(expected)
    joint = certify(Y, S, 0.1, joint=True)
    assert joint.error_bounds == pytest.approx(certify(Y, S, 0.1, 0.975).error_bounds)


def test_three_classes_pay_for_every_orthant_that_rows_can_span() -> None:
    certificate = certify_counts((1, 0, 5), (30, 2, 7), (0, 1, 2), chosen_here=True)
    expected = exact(1, 28, 1 - 0.05 / (30 * 29 / 2))
    assert certificate.error_bounds == pytest.approx((expected, 1.0, 1.0))


@pytest.mark.parametrize("n", [3, 5, 12])
def test_biases_chosen_to_break_the_certificate_of_three_classes_do_not(n: int) -> None:
    """Every orthant that rows span is tried: none may break the bound."""
    rng = np.random.default_rng(n)
    records = [
        certify_counts((k, 0, 0), (n,) * 3, (0, 1, 2), chosen_here=True) for k in range(n + 1)
    ]
    bounds = np.array([record.error_bounds[0] for record in records])
    failed = 0
    for _ in range(2000):
        rows = rng.random((n, 2))  # of the class: right iff below both thresholds
        cuts = np.stack(np.meshgrid(rows[:, 0], rows[:, 1]), axis=-1).reshape(-1, 2)
        wrong = np.sum(np.any(rows[None] > cuts[:, None], axis=2), axis=1)
        failed += bool(np.any(1 - cuts.prod(axis=1) > bounds[wrong]))
    assert failed / 2000 <= 0.05


def test_the_floor_is_the_least_that_so_many_rows_can_show() -> None:
    certificate = certify([0] * 100 + [1] * 30, [0.0] * 100 + [1.0] * 30, 0.5)
    expected = (1 - 0.05 ** (1 / 100), 1 - 0.05 ** (1 / 30))
    assert certificate.error_bounds == certificate.lowest_bounds == pytest.approx(expected)
    for chosen_here in (False, True):
        reason = certify(Y, S, 0.1, chosen_here=chosen_here).reason
        assert reason.startswith("It holds if the model has not seen these rows")
        assert ("for every threshold" in reason) == chosen_here


def test_the_uniform_bound_covers_a_threshold_chosen_on_the_same_scores() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 20])
    missed = 0
    for _ in range(300):
        s = rng.normal(size=60) + 2 * y
        t = find_boundary(y, s, curve="empirical").threshold
        bounds = certify(y, s, t, 0.8, chosen_here=True).error_bounds
        missed += stats.norm.sf(t) > bounds[0] or stats.norm.cdf(t - 2) > bounds[1]
    assert missed / 300 <= 0.4  # two claims at 0.8 each


def test_a_classifier_says_what_its_rows_are_worth() -> None:
    X, y = make_classification(400, weights=[0.9], flip_y=0.1, random_state=0)
    folds = BoundShiftClassifier(LogisticRegression()).fit(X, y).certificate_
    assert (folds.status, folds.certified, folds.method) == ("cross-fitted", False, "uniform")
    assert "nothing is guaranteed for the deployed model" in folds.reason
    frozen = FrozenEstimator(LogisticRegression().fit(X[:200], y[:200]))
    model = BoundShiftClassifier(frozen).fit(X[200:], y[200:])
    wrong = model.predict(X[200:]) != y[200:]
    expected = tuple(int(np.sum(wrong & (y[200:] == k))) for k in (0, 1))
    assert (model.certificate_.wrong, model.certificate_.labels) == (expected, (0, 1))


def test_a_notebook_shows_the_word_the_bounds_and_escaped_labels() -> None:
    certificate = certify_counts((1, 2), (50, 40), ("<b>", "sick"))
    for text in ("certified at 0.95", "&lt;b&gt;", f"{certificate.error_bounds[1]:.4f}"):
        assert text in certificate._repr_html_()


MODEL = lambda X: np.asarray(X)[:, 0]  # noqa: E731
FLOORS = [{"recall": 0.8}, {"recall": 0.8, "specificity": 0.6}, {"recall": 0.7, "precision": 0.3}]


def guaranteed(asked: dict[str, float], seed: int, gap: float = 1.6) -> BoundShiftClassifier:
    """Return a classifier whose boundary guarantees floors, decided on 250 and 80 rows."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [250, 80])
    rule = Floors(**asked)  # type: ignore[arg-type]
    model = BoundShiftClassifier(MODEL, cv="prefit", rule=rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        return model.fit((rng.normal(size=330) + gap * y)[:, None], y)


@pytest.mark.parametrize("asked", FLOORS)
def test_floors_are_guaranteed_with_one_number(asked: dict[str, float]) -> None:
    model = guaranteed(asked, 0, gap=2.5)
    assert model.boundary_.errors == model.certificate_.error_bounds
    assert f"{model.certificate_.error_bounds[1]:.4g}" in model.boundary_.summary()
    assert model.certificate_.error_bounds[1] <= 1 - asked["recall"]
    assert model.certificate_.at(0.95) == model.certificate_
    # The most misses that the floor allows, counted by hand; one row more would break it.
    delta = 0.05 / len(asked)
    allowed = max(k for k in range(80) if exact(k, 80, 1 - delta) <= 1 - asked["recall"])
    assert model.certificate_.error_bounds[1] == pytest.approx(exact(allowed, 80, 1 - delta))


@pytest.mark.parametrize("gap", [1.2, 2.0])
@pytest.mark.parametrize("asked", FLOORS)
def test_certificates_of_floors_hold(asked: dict[str, float], gap: float) -> None:
    """At both gaps the true error rates are known; some of the floors are met by luck only."""
    broken = np.zeros(2)
    for seed in range(200):
        certificate = guaranteed(asked, seed, gap).certificate_
        t = certificate.threshold
        assert t is not None
        broken += np.array([stats.norm.sf(t), stats.norm.cdf(t - gap)]) > certificate.error_bounds
    assert stats.binom.sf(broken - 1, 200, 0.05).min() > 1e-3


# Precision, alarms, cost and net benefit.

RATES = ("precision", "npv", "flagged", "cost", "net_benefit")


def upper(k: int, n: int, delta: float) -> float:
    return 1.0 if k == n else float(stats.beta.isf(delta, k + 1, n - k))


def share(right: float, wrong: float) -> float:
    return right / (right + wrong)


def test_rates_by_hand() -> None:
    """At a known prevalence, and of rows drawn as they come."""
    alarms, misses, hits = (upper(*kn, 0.05 / 2) for kn in ((20, 1000), (5, 100), (95, 100)))
    known = (
        share(0.02 * (1 - misses), 0.98 * alarms),
        share(0.98 * (1 - alarms), 0.02 * misses),
        0.02 * hits + 0.98 * alarms,
        0.02 * 20 * misses + 0.98 * alarms,
        0.02 * (1 - misses) - 0.98 * alarms / 20,
    )
    drawn = (
        1 - upper(20, 115, 0.05),
        1 - upper(5, 985, 0.05),
        upper(115, 1100, 0.05),
        upper(20, 1100, 0.025) + 20 * upper(5, 1100, 0.025),
        1 - upper(1005, 1100, 0.025) - upper(20, 1100, 0.025) / 20,
    )
    certificate = certify_counts((20, 5), (1000, 100), (0, 1))
    for prevalence, expected in ((0.02, known), (None, drawn)):
        found = [certificate.rate(name, prevalence, false_negative=20) for name in RATES]
        assert found == pytest.approx(expected)


@pytest.mark.parametrize(("wrong", "name"), [((0, 5), "precision"), ((50, 0), "npv")])
def test_nothing_is_shown_of_rows_that_are_not_there(wrong, name) -> None:
    assert certify_counts(wrong, (50, 5), (0, 1)).rate(name) == 0.0


@pytest.mark.parametrize("chosen_here", [False, True])
def test_each_rate_holds(chosen_here) -> None:
    rng = np.random.default_rng(0)
    p = 0.2
    alarm = 0.1
    miss = 0.2
    runs = 400
    flagged = p * (1 - miss) + (1 - p) * alarm
    cost = p * miss * 3 + (1 - p) * alarm
    precision = p * (1 - miss) / flagged
    npv = (1 - p) * (1 - alarm) / (1 - flagged)
    truth = np.array([precision, npv, -flagged, -cost, p * (1 - miss) - (1 - p) * alarm / 3])
    broken = np.zeros(5)
    for _ in range(runs):
        positive = int(rng.binomial(300, p))
        wrong = int(rng.binomial(300 - positive, alarm)), int(rng.binomial(positive, miss))
        rows = (300 - positive, positive)
        record = certify_counts(wrong, rows, (0, 1), confidence=0.8, chosen_here=chosen_here)
        known = {"prevalence": p if chosen_here else None, "false_negative": 3}
        found = np.array([record.rate(name, **known) for name in RATES])
        broken += found * [1, 1, -1, -1, 1] > truth
    assert stats.binom.sf(broken - 1, runs, 0.2).min() > 1e-3


THREE = certify_counts((1, 1, 1), (50, 50, 50), (0, 1, 2))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        *((lambda c, p=p: c.rate("npv", p), "`prevalence` must be") for p in (0.0, 1.5, (3, 9))),
        (lambda c: certify(Y, S, 0.1, chosen_here=True).rate("npv"), "`prevalence` must be"),
        (lambda c: THREE.rate("npv", 0.5), "two classes, got 3"),
        (lambda c: c.rate("recall"), "`name` must be one of 'precision'"),
        (lambda c: c.rate("cost", false_negative=0), "`false_negative` must be a positive"),
        (lambda c: certify(Y, S, np.nan), "`threshold` must be a finite number"),
        (lambda c: certify(Y, S, [0.5]), "`threshold` must be a finite number"),
        (lambda c: certify(Y, S, 0.1, joint="no"), "`joint` must be True or False"),
        (lambda c: certify(Y, S, 0.1, chosen_here=1), "`chosen_here` must be True or False"),
        (lambda c: certify(Y, S, 0.1, origin="fresh"), "`origin` must be one of"),
        (lambda c: certify(Y, S, 0.1, sample_weight=S), "pass the `probability` with which"),
    ],
)
def test_wrong_requests_get_a_sentence(ask, words) -> None:
    with pytest.raises(InvalidInputError, match=words):
        ask(certify_counts((1, 1), (50, 50), (0, 1)))


def test_what_is_no_guarantee_is_warned_of():
    nominal = certify([0] * 50 + [1] * 50, [0.1] * 50 + [0.9] * 50, 0.5, origin="training")
    with pytest.warns(BoundaryWarning, match="a nominal one, so the result is no guarantee"):
        nominal.next_rows(10)
    for threshold in (-1.7, 2.0):
        with pytest.warns(BoundaryWarning, match="both sides of the threshold"):
            certify(Y, S, threshold)


def test_copies_of_rows_are_no_further_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 60])
    s = rng.normal(2.0 * y)
    assert certify(y, s, 1.0).status == "certified"
    for n in (2, 3):
        copied = certify(np.tile(y, n), np.tile(s, n), 1.0)
        assert copied.status == "nominal"
        assert f"multiple of {n}" in copied.reason
    in_clusters = certify(np.tile(y, 2), np.tile(s, 2), 1.0, cluster=np.tile(np.arange(360), 2))
    assert in_clusters.status == "certified"
    # Few distinct scores may well occur in even numbers.
    assert certify(np.repeat([0, 1], [40, 20]), np.repeat([0.1, 0.9], [40, 20]), 0.5).certified
