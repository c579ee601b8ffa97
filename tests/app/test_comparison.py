"""Other methods beside ours: thresholds against brute force, retrained models, and the table."""

import csv
import json

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from boundshift import InvalidInputError, find_boundary
from boundshift._app.comparison import (
    compare_scores,
    fit_balanced,
    fit_smote,
    tuned_threshold,
)
from boundshift._scores import ScoreSample
from boundshift.datasets import make_gaussians
from boundshift.datasets._bundled import load_table
from boundshift.metrics import binary_metrics

every_seed = pytest.mark.parametrize("seed", range(8))
X, Y = make_gaussians((200, 20), random_state=0)
COLUMNS = ["--score", "risk", "--label", "ill", "--json"]


def problem(seed, n=60):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    y[:2] = 0, 1
    p = np.clip(0.3 + 0.25 * y + rng.normal(0, 0.2, n), 0, 1)
    return y, np.round(p, 2) if seed % 2 else p


@every_seed
@pytest.mark.parametrize("metric", ["balanced_accuracy", "g_mean"])
def test_no_cut_has_a_better_metric(seed, metric):
    y, p = problem(seed)
    values = np.unique(p)
    cuts = [-np.inf, *(values[:-1] + values[1:]) / 2, np.inf]
    best = max(binary_metrics(y, p > cut)[metric] for cut in cuts)
    found = binary_metrics(y, p > tuned_threshold(y, p, metric=metric))[metric]
    assert found == pytest.approx(best)


def test_the_lowest_of_equally_good_cuts_wins():
    # One false positive below 0.2, or one false negative below 0.4.
    assert 0.1 <= tuned_threshold([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]) < 0.2


# Half-way cases round to even, so the middle falls on the lower float once and on the higher once.
@pytest.mark.parametrize("low", [0.5, np.nextafter(0.5, 1)])
def test_neighbouring_floats_are_still_separated(low):
    high = np.nextafter(low, 1)
    assert low <= tuned_threshold([0, 1], [low, high]) < high


@pytest.mark.parametrize("sizes", [[150, 50, 20], [200, 3], [200, 1], [50, 50]])
def test_smote_fills_every_class_up(sizes):
    labels = np.repeat(range(len(sizes)), sizes)
    base = GaussianNB()
    fitted = fit_smote(base, X[: len(labels)], labels, seed=0)
    assert fitted.class_count_.tolist() == [max(sizes)] * len(sizes)
    assert not hasattr(base, "class_count_")


@pytest.mark.parametrize(
    "base",
    [
        HistGradientBoostingClassifier(max_iter=5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
    ],
    ids=lambda base: type(base).__name__,
)
def test_balanced_weights_are_set_wherever_a_classifier_has_them(base):
    params = fit_balanced(base, X, Y).get_params()
    assert [v for name, v in params.items() if name.endswith("class_weight")] == ["balanced"]


def test_balanced_weights_are_passed_where_a_classifier_takes_them():
    expected = GaussianNB().fit(X, Y, compute_sample_weight("balanced", Y)).class_prior_
    assert (fit_balanced(GaussianNB(), X, Y).class_prior_ == expected).all()
    piped = fit_balanced(make_pipeline(StandardScaler(), GaussianNB()), X, Y)
    assert piped[-1].class_prior_ == pytest.approx(expected)
    with pytest.raises(InvalidInputError, match="got KNeighborsClassifier"):
        fit_balanced(KNeighborsClassifier(), X, Y)


def test_ours_are_those_of_the_library():
    y = np.repeat(["no", "yes"], [90, 10])
    scores = np.random.default_rng(0).normal(2.0 * (y == "yes"))
    rows = compare_scores(ScoreSample.from_labels(y, scores))
    found = {row["method"]: row["threshold"] for row in rows}
    for name, options in {
        "boundshift": {},
        "boundshift, minimax": {"rule": "minimax"},
        "boundshift, smoothed": {"curve": "smoothed"},
        "boundshift, paper": {"curve": "paper"},
    }.items():
        assert found[name] == find_boundary(y, scores, **options).threshold


def test_scores_are_judged_by_boundaries_found_without_them():
    """Labels that have nothing to do with scores look no better than chance to any method."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        sample = ScoreSample.from_labels(np.arange(60) % 3 == 0, rng.normal(size=60))
        rows = compare_scores(sample)
        found.append([row["balanced_accuracy"] for row in sorted(rows, key=lambda r: r["method"])])
    assert np.mean(found, axis=0).max() < 0.57


def test_the_untouched_row_is_the_model_at_its_own_threshold(run, scores, score_lines):
    cells = [line.split(",") for line in score_lines[1:]]
    truth = [label == "yes" for _, label in cells]
    predicted = [float(score) > 0 for score, _ in cells]
    expected = binary_metrics(truth, predicted, pos_label=True)
    shown = json.loads(run("compare", scores, *COLUMNS).stdout)["methods"]
    row = next(row for row in shown if row["method"] == "untouched")
    del expected["mcc"]  # not in the table
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert "prior threshold" not in {row["method"] for row in shown}


def test_probabilities_have_their_boundary_at_a_half_and_a_prior(run, tmp_path):
    y, p = np.repeat([0, 1], [50, 20]), np.linspace(0.01, 0.99, 70)
    lines = [f"{a},{b}" for a, b in zip(p, y, strict=True)]
    (tmp_path / "p.csv").write_text("risk,ill\n" + "\n".join(lines))
    shown = json.loads(run("compare", "p.csv", *COLUMNS).stdout)["methods"]
    found = {row["method"]: row["threshold"] for row in shown}
    assert found["untouched"] == 0.5
    assert found["prior threshold"] == pytest.approx(20 / 70)


def test_a_table_is_compared_by_a_model_and_written(run, tmp_path):
    load_table("heart").to_csv(tmp_path / "heart.csv", index=False)
    result = run("compare", "heart.csv", "--target", "target", "--out", "c.csv")
    with (tmp_path / "c.csv").open(newline="") as file:
        methods = [row["method"] for row in csv.DictReader(file)]
    assert methods[:2] == ["boundshift", "untouched"]
    assert methods[-2:] == ["SMOTE, retrained", "class weights, retrained"]
    assert all(method in result.stdout for method in methods)
