"""A boundary recognises the rows that chose it, and no bound forgets the price of the choice."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from boundshift import (
    Audit,
    Boundary,
    BoundaryWarning,
    BoundShiftClassifier,
    Cost,
    Floors,
    InvalidInputError,
    certify,
    compare_boundaries,
    find_boundaries,
    find_boundary,
    metric_intervals,
    metrics_at,
    streaming,
)
from boundshift._result.rows import ChoosingRows
from boundshift._scores import ScoreSample
from tests.problems import two_normals

Y, S = two_normals(400, 100, 2.0)
Y_NEW = Y
S_NEW = np.random.default_rng(1).normal(2.0 * Y)
BOUNDARY = find_boundary(Y, S)
ORDER = np.random.default_rng(0).permutation(500)
HALF = ORDER[:250]
SEEN = "the boundary was chosen on these rows, or on some of them"


SAME_ROWS = {
    "as they were": lambda: certify(Y, S, BOUNDARY),
    "as series": lambda: certify(pd.Series(Y), pd.Series(S, index=ORDER), BOUNDARY),
    "by other labels": lambda: certify(
        np.array(["no", "yes"])[Y],
        S,
        find_boundary(np.array(["no", "yes"])[Y], S, pos_label="yes"),
    ),
    "a part": lambda: certify(Y[HALF], S[HALF], BOUNDARY),
    "more rows": lambda: certify(Y, S, find_boundary(Y[HALF], S[HALF])),
    "half of them fresh": lambda: certify(
        np.concatenate([Y[HALF], Y_NEW[HALF]]), np.concatenate([S[HALF], S_NEW[HALF]]), BOUNDARY
    ),
    "probabilities": lambda: certify(Y, expit(S), find_boundary(Y, expit(S))),
    "by costs of rows": lambda: certify(Y, S, find_boundary(Y, S, row_cost=1.0 + Y)),
    "by weights": lambda: certify(Y, S, find_boundary(Y, S, sample_weight=1.0 + Y)),
    "by a group": lambda: certify(
        Y[HALF],
        S[HALF],
        find_boundaries(Y, S, np.isin(np.arange(500), HALF))[True],
    ),
    "by a group towards which it is shrunk": lambda: certify(
        Y[HALF],
        S[HALF],
        find_boundaries(Y, S, np.isin(np.arange(500), HALF))[False],
    ),
    "in passes": lambda: streaming.scan_certificate([(Y, S)], BOUNDARY),
    "found in passes": lambda: certify(Y, S, streaming.scan_boundary([(Y, S)])),
    "both in passes": lambda: streaming.scan_certificate(
        [(Y, S)], streaming.scan_boundary([(Y, S)])
    ),
    "probabilities in passes": lambda: streaming.scan_certificate(
        [(Y, expit(S))], streaming.scan_boundary([(Y, expit(S))])
    ),
}


@pytest.mark.parametrize("call", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_that_chose_the_boundary_pay_for_the_choice(call):
    certificate = call()
    assert certificate.method == "uniform"
    assert certificate.reason.endswith(SEEN)


def test_the_price_is_that_of_a_threshold_chosen_here():
    paid = certify(Y, S, BOUNDARY)
    stated = certify(Y, S, BOUNDARY, chosen_here=True)
    assert paid.error_bounds == stated.error_bounds
    assert certify(Y, S, BOUNDARY.threshold).error_bounds < paid.error_bounds


@pytest.mark.parametrize("decimals", [None, 0, 1, 2, 3])
def test_fresh_rows_are_not_taken_for_others(decimals):
    rng = np.random.default_rng(3)
    y = np.repeat([False, True], [200, 50])
    mistaken = 0
    for _ in range(200):
        old, new = (rng.normal(2.0 * y) for _ in range(2))
        if decimals is not None:
            old, new = (scores.round(decimals) for scores in (old, new))
        rows = ChoosingRows.of(ScoreSample.from_rows(y, old, (0, 1)))
        assert rows.include(old, y)
        mistaken += rows.include(new, y)
    assert mistaken <= 1


def test_fresh_rows_are_certified_for_one_threshold():
    certificate = certify(Y_NEW, S_NEW, BOUNDARY)
    assert (certificate.status, certificate.method) == ("certified", "clopper-pearson")


def test_repeated_scores_are_recognised_in_full_and_in_part():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], [3000, 1000])
    s = rng.binomial(300, 0.3 + 0.2 * y) / 300
    boundary = find_boundary(y, s)
    part = rng.permutation(4000)[:2000]
    assert certify(y, s, boundary).method == "uniform"
    assert certify(y[part], s[part], boundary).method == "uniform"
    fresh = rng.binomial(300, 0.3 + 0.2 * y) / 300
    assert certify(y, fresh, boundary).method == "clopper-pearson"


def test_the_bounds_hold_on_the_rows_that_chose():
    rng = np.random.default_rng(5)
    runs = 300
    y = np.repeat([0, 1], [100, 40])
    broken = np.zeros(2)
    for _ in range(runs):
        s = rng.normal(1.5 * y)
        boundary = find_boundary(y, s, curve="empirical")
        true = norm.sf(boundary.threshold), norm.cdf(boundary.threshold - 1.5)
        broken += np.array(true) > certify(y, s, boundary).error_bounds
    assert (broken / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5).all()


@pytest.mark.parametrize(
    "options", [{"cluster": np.arange(500)}, {"probability": (0.5, 1.0)}], ids=["clusters", "drawn"]
)
def test_other_bounds_are_nominal_on_the_rows_that_chose(options):
    certificate = certify(Y, S, BOUNDARY, **options)
    assert (certificate.status, certificate.certified) == ("nominal", False)
    assert "the boundary was chosen on these rows" in certificate.reason.lower()
    assert certify(Y_NEW, S_NEW, BOUNDARY, **options).certified


def test_a_large_sample_keeps_few_hashes():
    rng = np.random.default_rng(6)
    y = rng.random(200_000) < 0.1
    s = rng.normal(2.0 * y)
    boundary = find_boundary(y, s, curve="empirical")
    assert len(boundary.to_json()) < 6000
    part = rng.permutation(200_000)[:20_000]
    assert boundary._find_origin(s[part], y[part]) == "held-out"
    assert boundary._find_origin(rng.normal(2.0 * y), y) is None


def test_what_is_remembered_comes_back_from_json():
    again = Boundary.from_json(BOUNDARY.to_json())
    assert again.chosen_on == BOUNDARY.chosen_on


@pytest.mark.parametrize("decimals", [3, 5])
def test_scores_that_were_rounded_since_are_recognised_and_fresh_ones_are_not(decimals):
    """Chance is computed for continuous scores; tied, heavy-tailed and few ones come near it."""
    rng = np.random.default_rng(9)
    y = np.repeat([False, True], [300, 60])
    draws = (
        lambda: rng.normal(2.0 * y),
        lambda: rng.standard_cauchy(360) + y,
        lambda: rng.normal(2.0 * y).round(1),
        lambda: rng.binomial(40, 0.3 + 0.2 * y) / 40,
    )
    for draw in draws:
        for _ in range(50):
            old = draw()
            rows = ChoosingRows.of(ScoreSample.from_rows(y, old, (0, 1)))
            assert rows.include(old.round(decimals), y)
            fresh = draw().round(decimals)
            assert not rows._are_rounded((fresh[~y], fresh[y]))


# --- Comparison -----------------------------------------------------------------------------------


def test_a_comparison_pays_for_a_boundary_chosen_on_its_rows():
    fixed = compare_boundaries(Y, S, 0.0, S, BOUNDARY.threshold, cost=Cost(prevalence=0.5))
    chosen = compare_boundaries(Y, S, 0.0, S, BOUNDARY)
    both = compare_boundaries(Y, S, BOUNDARY, S, BOUNDARY)
    assert fixed.reason == ""
    assert "new boundary was chosen on these rows" in str(chosen)
    assert "Both boundaries were chosen on these rows" in str(both)
    assert chosen.cost_difference == pytest.approx(fixed.cost_difference)
    assert all(math.isnan(p) for p in chosen.p_values + both.p_values)
    assert chosen.cost_interval[0] < fixed.cost_interval[0]
    assert chosen.cost_interval[1] > fixed.cost_interval[1]


@pytest.mark.filterwarnings("ignore:These rows do not show")  # one of the 300 draws is poor
def test_a_comparison_with_a_chosen_boundary_is_rarely_wrong():
    rng = np.random.default_rng(7)
    runs = 300
    y = np.repeat([0, 1], [100, 40])
    missed = 0
    for _ in range(runs):
        s = rng.normal(1.0 * y)
        boundary = find_boundary(y, s, curve="empirical")
        found = compare_boundaries(y, s, 0.5, s, boundary)
        ends = np.array([0.5, boundary.threshold])
        old, new = (norm.sf(ends) + norm.cdf(ends - 1.0)) / 2
        missed += not found.cost_interval[0] <= new - old <= found.cost_interval[1]
    assert missed / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


# --- Audit ----------------------------------------------------------------------------------------


def test_an_audit_refuses_rows_that_chose_the_boundary():
    with pytest.raises(InvalidInputError, match="did not choose the boundary"):
        Audit(S, BOUNDARY, Floors(recall=0.9))
    assert Audit(S_NEW, BOUNDARY, Floors(recall=0.9)).status == "open"


# --- Scale ----------------------------------------------------------------------------------------

MARGINS = S - 0.9  # the threshold lies in (0, 1), as one of probabilities would
BY_MARGIN = find_boundary(Y, MARGINS)
OTHER_SCALE = {
    "certify": lambda s: certify(Y, s, BY_MARGIN),
    "certify in passes": lambda s: streaming.scan_certificate([(Y, s)], BY_MARGIN),
    "metrics": lambda s: metrics_at(Y, s, BY_MARGIN),
    "new scores": lambda s: compare_boundaries(Y, MARGINS, 0.0, s, BY_MARGIN),
    "old scores": lambda s: compare_boundaries(Y, s, BY_MARGIN, MARGINS, 0.0),
    "unlabelled rows": lambda s: certify(Y_NEW, S_NEW - 0.9, BY_MARGIN, unlabelled=s),
    "audit": lambda s: Audit(s, BY_MARGIN, Floors(recall=0.9)),
}


@pytest.mark.parametrize("call", OTHER_SCALE.values(), ids=OTHER_SCALE)
def test_a_boundary_of_margins_between_0_and_1_refuses_probabilities(call):
    assert 0.0 < BY_MARGIN.threshold < 1.0
    with pytest.raises(InvalidInputError, match="must be on the scale of the scores that chose"):
        call(expit(MARGINS))


def test_predictions_on_another_scale_warn():
    groups = find_boundaries(Y, MARGINS, np.resize(["a", "b"], 500))
    with pytest.warns(BoundaryWarning, match="must be on the scale"):
        BY_MARGIN.predict(expit(MARGINS))
    with pytest.warns(BoundaryWarning, match="must be on the scale"):
        groups.predict(expit(MARGINS), np.resize(["a", "b"], 500))
    with pytest.warns(
        BoundaryWarning, match=r"but the scores given lie between 995.* \(median 999"
    ):
        BY_MARGIN.predict(MARGINS + 1000)
    with pytest.warns(BoundaryWarning, match="must be on the scale"):
        certify(Y, MARGINS * 1000, BY_MARGIN)


def test_raw_scores_from_0_to_1_refuse_margins():
    boundary = find_boundary(Y, expit(MARGINS), scale="raw")
    with pytest.raises(InvalidInputError, match=r"lie between 0\.0"):
        certify(Y, MARGINS, boundary)
    with pytest.warns(BoundaryWarning, match="hard labels"):
        labels = find_boundary(Y, (S > 1).astype(float))
    with pytest.raises(InvalidInputError, match="lie between 0 and 1"):
        certify(Y, MARGINS, labels)


def test_scores_of_the_same_scale_are_not_refused():
    rng = np.random.default_rng(8)
    for k in range(200):
        n = int(rng.integers(2, 300))
        y = np.arange(n) % 4 == 0
        draw = (
            lambda y: rng.normal(2.0 * y),
            lambda y: rng.standard_cauchy(len(y)) + y,
            lambda y: expit(rng.normal(2.0 * y - 1.0)),
            lambda y: rng.integers(0, 4, len(y)) + y,
            lambda y: rng.uniform(size=len(y)) * (1.0 + 0.1 * y),
        )[k % 5]
        old = draw(y)
        rows = ChoosingRows.of(ScoreSample.from_rows(y, old, (0, 1)))
        new = draw(y)
        assert not rows.find_other_scale(new, None, y)
        assert not rows.find_other_scale(new, None, None)
        assert not rows.find_shift(new)


# --- One class ------------------------------------------------------------------------------------


def test_a_label_called_not_sick_is_a_label():
    words = np.array(["not sick", "sick"])[Y]
    boundary = find_boundary(words, S, pos_label="sick")
    with pytest.raises(InvalidInputError, match="'not sick' and 'sick', got 'cured'"):
        certify(np.array(["cured", "sick"])[Y_NEW], S_NEW, boundary)


def test_a_class_that_was_never_given_may_have_any_name():
    sick = find_boundary(["sick"] * 100, S[Y == 1], rule=Floors(recall=0.7), pos_label="sick")
    assert not sick.names_negative
    found = certify(np.array(["cured", "sick"])[Y_NEW], S_NEW, sick)
    assert found.labels == ("cured", "sick")


def test_ones_alone_accept_minus_one_later():
    ones = find_boundary(np.ones(100, int), S[Y == 1], rule=Floors(recall=0.7))
    found = certify(2 * Y_NEW - 1, S_NEW, ones)
    assert found.labels == (-1, 1)
    assert found.wrong == certify(Y_NEW, S_NEW, ones).wrong


def test_rates_of_positives_alone_are_refused():
    found = certify(np.ones(100, int), S[Y == 1], 0.0)
    for name in ("precision", "npv", "flagged", "cost", "net_benefit"):
        with pytest.raises(InvalidInputError, match="must have rows of both classes"):
            found.rate(name)
    assert found.rate("precision", 0.1) < 0.2


@pytest.mark.parametrize("origin", ["training", "out-of-fold"])
def test_rates_of_certificates_that_are_not_certified_warn(origin):
    found = certify(Y, S, 1.0, origin=origin)
    with pytest.warns(BoundaryWarning, match="`rate` should have a certified certificate"):
        found.rate("precision")


@pytest.mark.parametrize(("cv", "status"), [(None, "nominal"), (5, "cross-fitted")])
def test_scores_of_training_rows_are_not_certified_with_the_boundary_of_a_classifier(cv, status):
    clf = BoundShiftClassifier(LogisticRegression(), cv=cv).fit(S[:, None], Y)
    deciding = clf.deciding_sample_
    boundary = Boundary.from_json(clf.boundary_.to_json())
    assert certify(deciding.y, deciding.scores, boundary).status == status
    assert certify(Y_NEW, clf.positive_scores(S_NEW[:, None]), boundary).certified


@pytest.mark.parametrize("options", [{}, {"rule": Floors(recall=0.7)}, {"ensemble": True}], ids=str)
def test_training_rows_are_known_by_the_scores_of_their_model(options):
    """Other scores of these rows chose the boundary: out-of-fold ones, or none of these rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3)) + np.tile(Y, 2)[:, None]
    train = np.arange(1000) < 500
    clf = BoundShiftClassifier(LogisticRegression(), random_state=0, **options).fit(X[train], Y)
    boundary = Boundary.from_json(clf.boundary_.to_json())
    seen = clf.positive_scores(X[train])
    assert certify(Y, seen, boundary).status == "nominal"
    assert certify(Y[ORDER][:300], seen[ORDER][:300], boundary).status == "nominal"
    with pytest.raises(InvalidInputError, match="or train its model"):
        Audit(seen, boundary, Floors(recall=0.7))
    with pytest.raises(InvalidInputError, match="it was trained on some of these rows"):
        compare_boundaries(Y, seen, 0.0, seen, boundary, cost=Cost())
    assert certify(Y, clf.positive_scores(X[~train]), boundary).certified


def test_intervals_of_metrics_warn_of_rows_that_chose_the_boundary():
    with pytest.warns(BoundaryWarning, match="the intervals are too narrow"):
        table = metric_intervals(Y, S, BOUNDARY)
    assert not table["exact"].any()
    assert metric_intervals(Y, S_NEW, BOUNDARY)["exact"].any()
