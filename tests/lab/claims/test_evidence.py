import json
from importlib import import_module

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit
from sklearn.datasets import make_classification

from boundshift import BoundShiftClassifier
from boundshift.curves import CURVES
from boundshift.curves.uniform import local_level
from lab.__main__ import CLAIMS, EXPERIMENTS
from lab.claims.bounds import all_below, cell, exact_level
from lab.claims.coverage import hoeffding_bentkus
from lab.claims.scored import MODELS, SCORED, out_of_fold
from lab.claims.simulation import SHAPES, Problem, true_recall
from lab.experiment import RESULTS, ROOT, written_by


def experiment(name):
    return import_module(EXPERIMENTS[name]).EXPERIMENT


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Run a claim's quick mode once, and return its facts and its page."""
    done = {}

    def facts_and_page(name):
        if name not in done:
            out = tmp_path_factory.mktemp(name)
            assert experiment(name).run(name, quick=True, out=out)
            facts = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
            done[name] = facts, (out / f"{name}.md").read_text(encoding="utf-8")
        return done[name]

    return facts_and_page


@pytest.mark.parametrize("name", CLAIMS)
def test_a_quick_run_meets_its_goal_and_names_its_command(quick, name):
    facts, page = quick(name)
    assert f"Made by `python -m lab {name} --quick`." in page
    assert facts["goal_met"] is True


@pytest.mark.parametrize("name", [name for name in CLAIMS if name != "floors"])
def test_the_page_in_the_documentation_is_made_from_the_stored_facts(name):
    facts = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "evidence" / f"{name}.md").read_text(encoding="utf-8")
    assert page == f"{written_by(name)}\n\n{experiment(name).page(facts)}\n"


def test_claimed_bounds_cover_and_training_scores_do_not(quick):
    facts, _ = quick("coverage")
    claims = {c["claim"] for c in facts["cells"] if c["claimed"]}
    for word in ("clopper-pearson", "bernstein", "dkw", "certify", "recall floor", "three"):
        assert any(word in claim for claim in claims), word
    assert all(c["passes"] for c in facts["cells"] if c["claimed"])
    training = [c for c in facts["models"] if "training" in c["claim"]]
    assert max(c["coverage"] for c in training) < 0.9


def test_every_curve_and_rule_has_an_answer(quick):
    facts, page = quick("unsolved")
    assert facts["unsolved"] == []
    ways = {(row["curve"], row["rule"]) for row in facts["counts"]}
    assert len(ways) == len(CURVES) * 5
    assert "No case is left." in page


def test_mean_ranks_of_all_ways_average_to_the_middle(quick):
    facts, _ = quick("multiclass")
    summary = facts["summary"]["all"]
    for metric in ("rank_macro_recall", "rank_g_mean"):
        ranks = [values[metric] for values in summary.values()]
        assert np.mean(ranks) == pytest.approx((len(ranks) + 1) / 2)


def test_cost_rule_beats_the_untouched_model(quick):
    facts, _ = quick("costs")
    for line in facts["table"]:
        assert line["cost"]["cost rule, smoothed"] < line["cost"]["untouched"]


def test_two_humps_have_the_distribution_they_say():
    humps = SHAPES["two-humped"]
    draws = humps.rvs(20_000, np.random.default_rng(0))
    assert stats.kstest(draws, humps.cdf).pvalue > 0.001
    q = np.linspace(0.001, 0.999, 9)
    np.testing.assert_allclose(humps.cdf(humps.ppf(q)), q, atol=1e-6)
    np.testing.assert_allclose(humps.sf(3.0) + humps.cdf(3.0), 1)


def test_both_classes_err_as_asked_in_the_middle():
    for shape in SHAPES.values():
        problem = Problem.with_error(shape, 0.1)
        assert problem.errors(problem.distance / 2) == pytest.approx((0.1, 0.1), abs=1e-6)
        y, scores = problem.draw((20_000, 20_000), np.random.default_rng(0))
        shares = np.mean(scores[y == 0] > 1), np.mean(scores[y == 1] <= 1)
        assert problem.errors(1) == pytest.approx(shares, abs=0.015)


def test_true_recall_of_three_classes_is_the_integral():
    biases = np.array([0.5, -0.2, -0.3])

    def integrand(z):
        others = stats.norm.cdf(2 + z - 0.3 - 0.5) * stats.norm.cdf(2 + z - 0.3 + 0.2)
        return stats.norm.pdf(z) * others

    expected, _ = quad(integrand, -10, 10)
    assert true_recall(stats.norm(), 2.0, biases, 2) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("n", [1, 2, 30, 700])
def test_sorted_numbers_stay_below_as_often_as_kolmogorov_and_smirnov_say(n):
    distance = 0.8 / np.sqrt(n)
    expected = stats.ksone.cdf(distance, n)
    assert all_below(np.arange(n) / n + distance) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("n", "closeness"), [(1, 1e-9), (20, 1e-4), (600, 1e-2)])
def test_the_band_of_the_package_is_that_of_another_recursion(n, closeness):
    ratio = local_level(n, 0.05) / exact_level(n, 0.05)
    assert 1 - closeness <= ratio <= 1 + 1e-5


def test_the_p_value_of_hoeffding_and_bentkus_is_that_of_mapie():
    from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

    wrong, n, allowed = np.array([0, 3, 8, 10]), 100, 0.1
    theirs = compute_hoeffding_bentkus_p_value(wrong / n, n, allowed, binary=True).ravel()
    np.testing.assert_allclose(hoeffding_bentkus(wrong, n, allowed), theirs, rtol=1e-9)


def test_a_bound_that_fails_too_often_is_marked():
    held = np.ones(2000, dtype=bool)
    held[:100] = False
    assert cell("claim", "normal", 5, 0.95, held)["passes"]
    held[:118] = False
    assert cell("claim", "normal", 5, 0.95, held)["passes"]
    held[:120] = False
    assert not cell("claim", "normal", 5, 0.95, held)["passes"]


def test_scores_given_are_the_scores_used():
    X, y = make_classification(300, weights=[0.9], random_state=0)
    for kind, method in (("logistic", "decision_function"), ("forest", "predict_proba")):
        whole = BoundShiftClassifier(MODELS[kind]()).fit(X, y)
        raw = out_of_fold(MODELS[kind](), X, y)
        given = BoundShiftClassifier(SCORED[method](), cv="prefit").fit(raw, y)
        # Margins are log-odds of the probabilities on which the whole model decides.
        found = expit(given.threshold_) if method == "decision_function" else given.threshold_
        assert found == pytest.approx(whole.threshold_, rel=1e-9)
