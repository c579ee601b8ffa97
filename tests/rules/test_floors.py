"""Floors by brute force where they are estimates, by simulation where they are promises."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm

from boundshift import (
    Boundary,
    BoundaryWarning,
    Floors,
    Status,
    find_boundary,
)
from boundshift._boundary import choose_claims
from boundshift.curves import ClopperPearson, Empirical
from tests.problems import many, two_normals

RUNS = 250
# Two Monte-Carlo errors of a share of .95 among the runs.
LEAST = 0.95 - 2 * (0.05 * 0.95 / RUNS) ** 0.5


def rates(y, predicted, prevalence=None):
    """Return all five rates, counted row by row."""
    return all_rates(predicted[y == 1].mean(), predicted[y == 0].mean(), prevalence or y.mean())


def all_rates(recall, alarms, share):
    flagged = share * recall + (1 - share) * alarms
    left = 1 - flagged
    return {
        "recall": recall,
        "specificity": 1 - alarms,
        "precision": share * recall / flagged if flagged else 1.0,
        "npv": (1 - share) * (1 - alarms) / left if left else 1.0,
        "flagged": flagged,
    }


def meets(floors, reached):
    return all(
        reached[name] <= floor + 1e-12 if name == "flagged" else reached[name] >= floor - 1e-12
        for name, floor in floors.items()
    )


def all_cuts(s):
    points = np.unique(s)
    return np.concatenate([[points[0] - 1], (points[1:] + points[:-1]) / 2, [points[-1] + 1]])


FLOORS = st.fixed_dictionaries(
    {},
    optional={
        "recall": st.sampled_from([0.3, 0.8, 1.0]),
        "specificity": st.sampled_from([0.5, 0.9]),
        "precision": st.sampled_from([0.2, 0.5, 0.9]),
        "npv": st.sampled_from([0.9, 0.99]),
        "flagged": st.sampled_from([0.05, 0.3, 0.9]),
    },
).filter(bool)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("prevalence", [None, 0.02])
def test_with_counts_no_other_gap_that_meets_all_floors_is_better(prevalence):
    @many(150)
    @given(FLOORS, st.integers(0, 2**32 - 1), st.booleans())
    def check(floors, seed, tied):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [rng.integers(2, 30), rng.integers(2, 12)])
        s = rng.normal(size=len(y)) + rng.choice([0.0, 1.0, 3.0]) * y
        s = np.round(s) if tied else s
        needs = prevalence is not None and not {"precision", "npv", "flagged"} & set(floors)
        rule = Floors(**floors, then="sum", prevalence=None if needs else prevalence)
        found = find_boundary(y, s, curve="empirical", rule=rule)
        reached = [rates(y, s > t, rule.prevalence) for t in all_cuts(s)]
        good = [2 - r["recall"] - r["specificity"] for r in reached if meets(floors, r)]
        assert (found.status is Status.UNMET) == (not good)
        if good:
            assert meets(floors, rates(y, found.predict(s) == 1, rule.prevalence))
            assert found.loss == pytest.approx(min(good), abs=1e-12)
        else:
            assert any(name in found.message for name in floors)

    check()


# Floors, prevalence of the rows and of deployment, rows, distance of the classes, objective.
PROMISES = [
    ({"precision": 0.5}, 0.2, None, 300, 2.0, "g-mean"),
    ({"precision": 0.3}, 0.1, None, 600, 1.5, "recall"),
    ({"npv": 0.95}, 0.2, None, 300, 1.5, "g-mean"),
    ({"flagged": 0.2}, 0.1, None, 100, 2.0, "recall"),
    ({"recall": 0.8, "precision": 0.3}, 0.2, None, 600, 2.0, "recall"),
    ({"recall": 0.8, "specificity": 0.7}, 0.3, None, 300, 2.5, "g-mean"),
    ({"precision": 0.6, "npv": 0.9, "flagged": 0.4}, 0.3, None, 1500, 2.5, "g-mean"),
    ({"precision": 0.5}, 0.2, 0.05, 2400, 3.0, "g-mean"),
    ({"flagged": 0.05}, 0.2, 0.05, 2400, 3.0, "g-mean"),
    ({"npv": 0.99}, 0.2, 0.05, 2400, 3.0, "g-mean"),
]


@pytest.mark.parametrize(("floors", "share", "deployed", "n", "gap", "then"), PROMISES, ids=str)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_promises_are_kept(floors, share, deployed, n, gap, then):
    rng = np.random.default_rng(0)
    rule = Floors(**floors, then=then, confidence=0.95, prevalence=deployed)
    kept = 0
    answered = 0
    for _ in range(RUNS):
        # With a prevalence of its own the rule takes the classes as they come.
        draws = rng.random(n) if deployed is None else (np.arange(n) + 0.5) / n
        y = (draws < share).astype(int)
        y[:2] = 0, 1
        found = find_boundary(y, rng.normal(size=n) + gap * y, rule=rule)
        t = found.threshold
        is_unmet = found.status is Status.UNMET
        truth = all_rates(norm.sf(t - gap), norm.sf(t), deployed or share)
        answered += not is_unmet
        kept += is_unmet or meets(floors, truth)
    assert answered > 0.2 * RUNS
    assert kept / RUNS >= LEAST


def test_a_promise_of_one_is_refused_in_words_and_met_on_the_rows():
    y, s = two_normals(300, 60, 3.0)
    with pytest.warns(BoundaryWarning, match=r"No number of rows can guarantee a recall of 1"):
        find_boundary(y, s, rule=Floors(recall=1.0))
    found = find_boundary(y, s, curve="empirical", rule=Floors(recall=1.0, then="precision"))
    assert found.wrong[1] == 0
    assert found.threshold == pytest.approx(s[y == 1].min(), abs=0.5)


@pytest.mark.parametrize(
    ("floors", "curve"),
    [
        ({"recall": 0.9}, ClopperPearson(0.95)),
        ({"recall": 0.9, "flagged": 0.1}, ClopperPearson(0.95)),
        ({"recall": 0.9, "confidence": 0.8}, ClopperPearson(0.8)),
        ({"flagged": 0.1, "confidence": 0.95}, ClopperPearson(0.95)),
        ({"flagged": 0.1}, Empirical()),
        ({"recall": 0.9, "confidence": None}, Empirical()),
        ({"precision": 0.5, "flagged": 0.1, "confidence": None}, Empirical()),
    ],
    ids=str,
)
def test_floors_promise_and_a_cap_alone_or_no_confidence_counts(floors, curve):
    assert choose_claims(None, Floors(**floors))[0] == curve


@pytest.mark.parametrize("prevalence", [None, 0.02])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_cap_alone_uses_the_whole_budget(prevalence):
    @many(60)
    @given(st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.1, 0.5]), st.booleans())
    def check(seed, cap, tied):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [rng.integers(2, 90), rng.integers(2, 30)])
        s = rng.normal(size=len(y)) + 2 * y
        s = np.round(s, 1) if tied else s
        found = find_boundary(y, s, rule=Floors(flagged=cap, prevalence=prevalence))
        shares = [rates(y, s > t, prevalence)["flagged"] for t in all_cuts(s)]
        most = max(share for share in shares if share <= cap + 1e-12)
        assert rates(y, s > found.threshold, prevalence)["flagged"] == pytest.approx(most)

    check()


def test_a_cap_with_a_confidence_is_a_promise_and_uses_less():
    y, s = two_normals(270, 30, 2.0)
    share = (s > find_boundary(y, s, rule=Floors(flagged=0.1, confidence=0.95)).threshold).sum()
    bounds = beta.ppf(0.95, np.arange(300) + 1, 300 - np.arange(300))
    assert share == np.flatnonzero(bounds <= 0.1).max()
    assert (s > find_boundary(y, s, rule=Floors(flagged=0.1)).threshold).sum() == 30


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_cap_beside_a_floor_is_a_budget_and_the_floor_keeps_the_whole_confidence():
    met = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [400, 60])
        s = rng.normal(size=460) + 3 * y
        found = find_boundary(y, s, rule=Floors(recall=0.8, flagged=0.15, then="precision"))
        good = {}
        for t in all_cuts(s):
            missed = int((s[y == 1] <= t).sum())
            alarms = int((s[y == 0] > t).sum())
            recall = 1 - beta.ppf(0.95, missed + 1, 60 - missed) if missed < 60 else 0.0
            if recall >= 0.8 and (s > t).mean() <= 0.15:
                alarmed = beta.ppf(0.95, alarms + 1, 400 - alarms)
                good[t] = 60 * recall / (60 * recall + 400 * alarmed)
        assert (found.status is Status.UNMET) == (not good)
        if good:
            met += 1
            best = max(good, key=good.get)
            np.testing.assert_array_equal(s > found.threshold, s > best)
    assert 5 < met < 20


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize(
    "floors", [{"recall": 0.8}, {"specificity": 0.7}, {"recall": 0.999}, {"precision": 0.05}]
)
@pytest.mark.parametrize("confidence", ["auto", None])
def test_promise_direction_and_search_are_three_facts(floors, confidence):
    y, s = two_normals(300, 60, -1.5)
    found = find_boundary(y, s, rule=Floors(**floors, confidence=confidence))
    assert found.status in (Status.OPTIMAL, Status.UNMET)
    assert found.remarks == (Status.REVERSED,)
    assert found.guaranteed is (None if confidence is None else found.status is Status.OPTIMAL)
    assert "Negate the scores" in found.message
    assert ("No threshold meets all floors" in found.message) == (found.status is Status.UNMET)
    assert Boundary.from_json(found.to_json()) == found


@pytest.mark.parametrize("then", ["precision", "specificity"])
def test_a_cap_that_flags_nothing_says_so(then):
    y, s = two_normals(900, 100, 1.0)
    s[0] = s.max() + 1.0  # the highest score is of the negative class
    with pytest.warns(BoundaryWarning, match="100 of 100 rows of class 1 are on the wrong side"):
        found = find_boundary(y, s, rule=Floors(flagged=0.1, then=then))
    assert not np.any(found.predict(s))
    assert "No row" not in find_boundary(y, s, rule=Floors(flagged=0.1)).message


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize(
    "asked",
    [
        {"recall": 0.9, "precision": 0.5},
        {"recall": 0.9, "npv": 0.99, "precision": 0.6},
        {"recall": 0.9, "flagged": 0.1},
        {"recall": 0.95, "specificity": 0.9},
        {"recall": 0.9, "precision": 0.5, "prevalence": 0.01},
    ],
    ids=str,
)
def test_an_unmet_message_names_counted_rates_and_asks_for_other_rows(asked):
    """Asking the same rows for less would break the guarantee."""
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.08).astype(int)
    s = rng.normal(2 * y)
    found = find_boundary(y, s, rule=Floors(**asked))
    assert found.status is Status.UNMET
    reached = rates(y, s > found.threshold, asked.get("prevalence"))
    named = re.findall(r"the ([\w ]+) is ([\d.e-]+) on these rows", found.message)
    assert named
    for title, value in named:
        name = {"NPV": "npv", "share flagged": "flagged"}.get(title, title)
        assert float(value) == pytest.approx(reached[name], rel=1e-3)
    assert "decide on other rows" in found.message
    assert "Relax" not in found.message


@pytest.mark.parametrize(("n", "floor"), [(20, 0.9), (5, 0.6), (100, 0.99)])
def test_too_few_rows_name_the_greatest_floor_that_they_can_guarantee(n, floor):
    """It follows from the number of rows, so asking for it is as good as the first question."""
    y, s = two_normals(300, n, 9.0)
    with pytest.warns(BoundaryWarning, match="needs at least"):
        found = find_boundary(y, s, rule=Floors(recall=floor))
    (largest,) = re.findall(r"which can guarantee ([\d.]+) at most", found.message)
    assert find_boundary(y, s, rule=Floors(recall=float(largest))).status is Status.OPTIMAL
    with pytest.warns(BoundaryWarning):
        find_boundary(y, s, rule=Floors(recall=float(largest) + 1e-4))


CAPPED = [
    {"recall": 0.9, "flagged": 0.05},
    {"recall": 0.9, "flagged": 0.05, "confidence": None},
    {"recall": 0.9, "flagged": 0.05, "confidence": 0.95},
    {"recall": 0.9, "precision": 0.9, "flagged": 0.05},
    {"npv": 0.99, "flagged": 0.1, "then": "recall"},
    {"recall": 0.9, "flagged": 0.05, "prevalence": 0.3},
    {"recall": 0.9, "flagged": 0.05, "prevalence": 0.3, "confidence": 0.95},
]


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("floors", CAPPED, ids=str)
def test_a_cap_is_kept_even_if_a_floor_fails(floors):
    rng = np.random.default_rng(0)
    for _ in range(10):
        y = (rng.random(1500) < 0.2).astype(int)
        s = rng.normal(1.5 * y)
        found = find_boundary(y, s, rule=Floors(**floors))
        assert found.status is Status.UNMET
        reached = rates(y, s > found.threshold, floors.get("prevalence"))
        assert reached["flagged"] <= floors["flagged"]
        if floors.get("confidence") and "prevalence" not in floors:
            assert beta.ppf(0.95, (s > found.threshold).sum() + 1, 1500) < floors["flagged"]
        assert "share flagged is" not in found.message


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("curve", ["empirical", None])
def test_a_cap_costs_no_more_recall_than_it_must(curve, tied):
    y, s = two_normals(1200, 300, 1.5)
    s = np.round(s, 1) if tied else s
    found = find_boundary(y, s, curve=curve, rule=Floors(recall=0.9, flagged=0.05))
    best = max((s[y == 1] > t).mean() for t in all_cuts(s) if (s > t).mean() <= 0.05)
    assert (s[y == 1] > found.threshold).mean() == best


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("curve", ["blend", "smoothed", "logistic"])
def test_a_smooth_curve_keeps_a_cap_as_it_estimates_it(curve):
    y, s = two_normals(1200, 300, 1.5)
    found = find_boundary(y, s, curve=curve, rule=Floors(recall=0.9, flagged=0.05))
    assert found.status is Status.UNMET
    negative, positive = found.errors
    estimated = (1200 * negative + 300 * (1 - positive)) / 1500
    assert estimated == pytest.approx(0.05, abs=1e-4)
    assert estimated <= 0.05 + 1e-9
