"""The pages of evidence: quick runs meet their goals, and simulations know the truth."""

import re
import subprocess
from importlib import import_module

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from boundshift.curves._uniform import local_level
from boundshift.exceptions import InvalidInputError
from lab.__main__ import EVIDENCE, EXPERIMENTS, main
from lab.claims.coverage import all_below, cell, exact_level
from lab.claims.simulation import SHAPES, Problem, true_recall
from lab.claims.zones import conformal_limits, true_shares
from lab.experiment import RESULTS, ROOT, STAMPS, Experiment, commit, environment, stamps
from lab.markdown import fill


def experiment(name):
    return import_module(EXPERIMENTS[name]).EXPERIMENT


# These need packages that no extra of the library has, or have a test of their own.
ELSEWHERE = {"next_site", "over_time", "peers", "models", "training"}
STORED = [name for name in EXPERIMENTS if name != "models"]
# Results of code that did not stamp them yet.
WITHOUT_STAMP = {
    "benchmark",
    "coverage",
    "deployed",
    "few_labels",
    "floors",
    "peers",
    "rows_as_they_come",
}


@pytest.mark.parametrize("name", [name for name in EVIDENCE if name not in ELSEWHERE])
def test_a_quick_run_meets_its_goal_and_fills_its_page(tmp_path, name):
    assert experiment(name).run(name, quick=True, out=tmp_path)
    facts = experiment(name).read(tmp_path / f"{name}.json")
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert facts["goal_met"] is True
    assert is_stamped(facts)
    assert all(text in page for text in experiment(name).tables(facts).values())


def is_stamped(facts):
    stamp = {**facts["environment"], **facts}
    return all(stamp.get(key) for key in ("boundshift", "commit", "date", "took_seconds"))


@pytest.mark.parametrize("name", STORED)
def test_the_page_in_the_documentation_has_the_stored_facts(name):
    facts = experiment(name).read(RESULTS / f"{name}.json")
    page = experiment(name).page(name).read_text(encoding="utf-8")
    assert fill(page, experiment(name).tables(facts)) == page
    assert facts["quick"] is False
    assert is_stamped(facts) is (name not in WITHOUT_STAMP)
    assert facts.get("goal_met") is True or name in ("speed", "training")


def test_an_experiment_that_cannot_run_does_not_stop_the_others(monkeypatch, capsys):
    ran = []

    class Stub:
        def __init__(self, module):
            self.EXPERIMENT = self

        def run(self, name, **options):
            ran.append(name)
            if name == "peers":
                raise InvalidInputError("it must have another tool")
            return True

    monkeypatch.setattr("lab.__main__.import_module", Stub)
    assert main(["evidence", "--quick"]) == 1
    assert ran == list(EVIDENCE)
    assert capsys.readouterr().err == "Error: peers: it must have another tool\n"
    assert main(["zones", "--quick"]) == 0


def test_the_page_says_which_code_made_each_result():
    page = STAMPS.read_text(encoding="utf-8")
    assert fill(page, {"stamps": stamps()}) == page


def most_broken(name, is_audit=False):
    """Return the greatest proportion of samples in which a guarantee of an experiment is broken."""
    facts = experiment(name).read(RESULTS / f"{name}.json")
    if name == "zones":
        cells = [cell["methods"]["find_zone"] for cell in facts["cells"]]
        return max(max(cell["broken"]) for cell in cells) / facts["draws"]
    if name == "floors":
        return max(cell["broken"] / cell["draws"] for cell in facts["cells"])
    if name == "deployed":
        return 1 - min(case["kept_guaranteed"] for case in facts["floors"])
    if name == "monitor":
        return max(row["share"] for row in facts["false_alarms"] if row["level"] == 0.05)
    if name == "few_labels":
        return 1 - min(row["coverage"] for row in facts["rows"] if row.get("what") != "PPI++")
    cells = [cell for cell in facts["cells"] if (cell["guarantee"] == "Audit") is is_audit]
    return max(cell["broken"] for cell in cells)


@pytest.mark.parametrize(
    ("row", "broken"),
    [
        ("Floors of recall", lambda: most_broken("floors")),
        ("Floors of the deployed", lambda: most_broken("deployed")),
        ("Zone", lambda: most_broken("zones")),
        ("Monitor", lambda: most_broken("monitor")),
        ("Clusters", lambda: most_broken("rows_as_they_come")),
        ("Intervals", lambda: most_broken("few_labels")),
        ("Audit", lambda: most_broken("rows_as_they_come", is_audit=True)),
    ],
)
def test_the_summary_of_the_guarantees_is_that_of_the_stored_facts(row, broken):
    page = (ROOT / "docs/evidence/guarantees.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {row}") and "lab" in line]
    shown = float(re.search(r"([\d.]+)%", line)[1])
    assert shown == np.floor(1000 * (1 - broken()) + 1e-6) / 10


@pytest.mark.parametrize("n", [1, 9_000, 2])
def test_large_facts_are_stored_compressed(tmp_path, n):
    rig = Experiment(lambda quick: {}, lambda facts: {})
    (tmp_path / "a.json.gz").write_bytes(b"of an earlier run")
    rig._write(tmp_path / "a.json", {"cells": list(range(n))})
    assert [path.name for path in tmp_path.iterdir()] == ["a.json.gz" if n > 5_000 else "a.json"]
    assert rig.read(tmp_path / "a.json")["cells"] == list(range(n))


def test_results_are_stamped_with_the_commit_and_a_mark_of_changes(tmp_path):
    def git(*words):
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=tmp_path, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    assert commit(tmp_path) == ""
    git("init")
    code = tmp_path / "src" / "code.py"
    code.parent.mkdir()
    code.write_text("1")
    git("add", "src")
    git("commit", "-m", "first")
    (tmp_path / "page.md").write_text("elsewhere")
    assert commit(tmp_path) == git("rev-parse", "HEAD")[: len(commit(tmp_path))] != ""
    code.write_text("2")
    assert commit(tmp_path) == git("rev-parse", "--short", "HEAD") + "+"
    assert commit(code.parent) == ""
    assert environment()["commit"] == commit()


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


@pytest.mark.parametrize(("failed", "passes"), [(100, True), (118, True), (120, False)])
def test_a_bound_that_fails_too_often_is_marked(failed, passes):
    held = np.arange(2000) >= failed
    assert cell("claim", "normal", 5, 0.95, held)["passes"] is passes


def test_conformal_limits_err_as_guaranteed_on_average():
    # Of n + 1 exchangeable scores each is equally often the new one: the error is exactly
    # 1 - rank / (n + 1) on average.
    problem = Problem.with_error(SHAPES["normal"], 0.25)
    rng = np.random.default_rng(0)
    errors = [
        true_shares(problem, conformal_limits(*problem.draw((39, 59), rng)))[:2]
        for _ in range(1000)
    ]
    np.testing.assert_allclose(np.mean(errors, axis=0), (0.05, 0.05), atol=0.0035)
    few = conformal_limits(np.repeat([0, 1], 18), np.arange(36.0))
    assert few == (-np.inf, np.inf)


def test_shares_of_a_zone_agree_with_a_count():
    problem = Problem.with_error(SHAPES["skewed"], 0.2)
    y, scores = problem.draw((100_000, 100_000), np.random.default_rng(0))
    low = problem.distance / 2 - 0.5
    high = problem.distance / 2 + 1
    unsure = np.mean((scores > low) & (scores <= high))
    counted = np.mean(scores[y == 0] > high), np.mean(scores[y == 1] <= low), unsure
    np.testing.assert_allclose(true_shares(problem, (low, high)), counted, atol=0.005)
