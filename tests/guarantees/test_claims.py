"""What a boundary claims with high probability holds at the threshold that the rows chose."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier, ClopperPearson, Floors, Status, find_boundary
from boundshift.curves._base import Claim
from boundshift.curves._clusters import most_wrong_rows
from boundshift.rules import MCC, Cost, FBeta, GMean, Kappa, Metric, Minimax, Sum
from tests.guarantees.test_clusters import draw_sizes

RUNS = 200
CONFIDENCE = 0.8
RULES = [
    Sum(),
    GMean(),
    GMean(),
    Minimax(),
    Cost(false_negative=5),
    FBeta(),
    FBeta(2, prevalence=0.1),
    MCC(),
    Kappa(),
    Floors(recall=0.8),
    Floors(recall=0.8, then="specificity"),
    Floors(recall=0.7, specificity=0.7),
    Floors(recall=0.8, specificity=0.85),
    Floors(precision=0.5),
    Floors(npv=0.8, then="recall"),
    Floors(recall=0.6, precision=0.4),
    Floors(recall=0.75, flagged=0.3),
    Floors(recall=0.75, precision=0.4, prevalence=0.2),
    Floors(flagged=0.5, confidence=CONFIDENCE),
]


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_each_claimed_error_holds_as_often_as_stated(rule):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [80, 25])
    curve = ClopperPearson(CONFIDENCE)
    assert curve.claim is Claim.HIGH_PROBABILITY
    broken = np.zeros(2)
    for _ in range(RUNS):
        found = find_boundary(y, rng.normal(size=105) + 1.5 * y, curve=curve, rule=rule)
        truth = stats.norm.sf(found.threshold), stats.norm.cdf(found.threshold - 1.5)
        broken += np.array(truth) > found.errors
    assert stats.binom.sf(broken - 1, RUNS, 1 - CONFIDENCE).min() > 1e-3


def test_a_metric_of_predictions_claims_the_same():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [80, 25])
    s = rng.normal(size=105) + 1.5 * y
    by_metric = find_boundary(y, s, curve=ClopperPearson(0.8), rule=Metric("f1"))
    by_rule = find_boundary(y, s, curve=ClopperPearson(0.8), rule=FBeta())
    assert by_metric.errors == pytest.approx(by_rule.errors)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("floors", [{"recall": 0.8}, {"recall": 0.7, "specificity": 0.7}], ids=str)
def test_each_claimed_error_of_clusters_holds_as_often_as_stated(floors):
    rng = np.random.default_rng(2)
    broken = np.zeros(2)
    for _ in range(100):
        ids, positive = draw_sizes(rng, 40, "mixed", 0.5)
        other, negative = draw_sizes(rng, 40, "mixed", 0.5)
        y = np.repeat([1, 0], [len(positive), len(negative)])
        s = np.append(positive, negative - 1.5)
        rule = Floors(**floors, confidence=CONFIDENCE)
        found = find_boundary(y, s, rule=rule, cluster=np.append(ids, 40 + other))
        truth = stats.norm.sf(found.threshold + 1.5), stats.norm.cdf(found.threshold)
        broken += np.array(truth) > found.errors
    assert stats.binom.sf(broken - 1, 100, 1 - CONFIDENCE).min() > 1e-3


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("short", [1e-9, -1e-9])
def test_floors_of_clusters_are_kept_if_and_only_if_their_tests_passed(short):
    """The positive class is shifted until both tests just pass, or just fail."""
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(120), 3)
    y = np.repeat([0, 1], 180)
    for _ in range(20):
        s = (rng.normal(size=120)[ids] + rng.normal(size=360)) / 2
        down = np.argsort(-s[:180], kind="stable")
        up = np.argsort(s[180:], kind="stable")
        alarms = most_wrong_rows(ids[:180][down], 0.1, 0.025)
        misses = most_wrong_rows(ids[180:][up], 0.1, 0.025)
        s[180:] += s[:180][down[alarms]] - s[180:][up[misses]] - short
        rule = Floors(recall=0.9, specificity=0.9)
        found = find_boundary(y, s, rule=rule, cluster=ids)
        is_passed = found.wrong[0] <= alarms and found.wrong[1] <= misses
        assert is_passed == (short < 0)
        assert (found.status is Status.OPTIMAL) == is_passed
        assert ("Every floor is kept" in found.message) == is_passed


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize(
    "rule",
    [
        Floors(recall=0.85, flagged=0.3),
        Floors(recall=0.7, specificity=0.7),
        Floors(recall=0.7, precision=0.3),
        Floors(specificity=0.9),
    ],
    ids=repr,
)
def test_a_certificate_shows_every_floor_that_is_guaranteed(rule):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [900, 300])
    X = rng.normal(size=(1200, 1)) + 2.5 * y[:, None]
    trained = LogisticRegression().fit(X, y)
    X = rng.normal(size=(1200, 1)) + 2.5 * y[:, None]
    model = BoundShiftClassifier(trained, cv="prefit", rule=rule).fit(X, y)
    assert model.boundary_.status is Status.OPTIMAL
    assert model.certificate_.certified
    bounds = dict(zip(("specificity", "recall"), model.certificate_.error_bounds, strict=True))
    for name in bounds.keys() & rule.asked.keys():
        assert bounds[name] <= 1 - rule.asked[name] + 1e-12
    scores = model.positive_scores(X)
    assert find_boundary(y, scores, rule=rule).errors == model.certificate_.error_bounds
