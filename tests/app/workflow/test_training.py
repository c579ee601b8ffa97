import warnings

import numpy as np
import pandas as pd
import pytest

from boundshift import (
    BoundShiftClassifier,
    InvalidInputError,
    certify,
    find_boundary,
    threshold_interval,
)
from boundshift.app.workflow import choose_decision, compare_scores, fit_table
from boundshift.app.workflow.compared_methods import thresholds
from boundshift.datasets import load_pima
from boundshift.metrics import binary_metrics


@pytest.fixture(scope="module")
def frame():
    return load_pima(as_frame=True).frame


@pytest.fixture(scope="module")
def fitted(frame):
    return fit_table(frame, "target", seed=3)


def test_the_model_is_plain_and_decided_on_the_scores_shown(fitted):
    assert type(fitted.model) is BoundShiftClassifier
    again = find_boundary(fitted.deciding.y, fitted.deciding.scores)
    assert fitted.model.threshold_ == again.threshold


def test_no_row_is_used_twice(fitted, frame):
    assert len(fitted.deciding.y) + len(fitted.test.y) == len(frame)
    assert fitted.test.y.mean() == pytest.approx(frame["target"].mean(), abs=0.01)


def test_the_certificate_is_of_the_test_rows(fitted):
    threshold = fitted.model.threshold_
    expected = certify(fitted.test.y, fitted.test.scores, threshold)
    assert fitted.certificate.error_bounds == expected.error_bounds
    assert fitted.certificate.method == "clopper-pearson"


def test_our_row_of_the_comparison_is_the_model_s(fitted):
    predicted = fitted.test.scores > fitted.model.threshold_
    expected = binary_metrics(fitted.test.y == 1, predicted, pos_label=True)
    row = fitted.comparison[0]
    assert row["method"] == "boundshift"
    assert {name: row[name] for name in expected} == expected


def test_the_interval_is_of_the_rows_that_decided(fitted):
    low, high = fitted.interval
    expected = threshold_interval(
        fitted.deciding.y, fitted.deciding.scores, n_resamples=100, random_state=0
    )
    assert (low, high) == expected
    assert low < fitted.boundary.threshold < high


def test_a_seed_repeats_the_fit(fitted, frame):
    again = fit_table(frame, "target", seed=3)
    assert again.boundary == fitted.boundary
    assert fit_table(frame, "target", seed=4).boundary != fitted.boundary


def test_a_recall_floor_is_kept_on_fresh_rows(frame):
    decision = choose_decision(recall_floor=0.9)
    found = fit_table(frame, "target", decision=decision)
    assert found.boundary.rule == "neyman-pearson"
    assert found.comparison[0]["recall_positive"] > 0.85


def test_one_class_of_several_against_the_rest(frame):
    three = frame.assign(target=np.where(frame["Age"] > 60, "old", frame["target"]))
    found = fit_table(three, "target", positive="1")
    assert found.labels == ("not 1", "1")
    with pytest.raises(InvalidInputError, match="--positive"):
        fit_table(three, "target")


def test_rivals_that_retrain_see_what_the_model_sees(frame):
    """Categories and gaps reach SMOTE as numbers, and no warning is left over."""
    odd = frame.assign(town=np.resize(["Rome", "Bonn", None], len(frame)))
    odd.loc[::7, "BMI"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        methods = [row["method"] for row in fit_table(odd, "target").comparison]
    assert "SMOTE, retrained" in methods


def test_the_prior_threshold_is_the_log_odds_of_the_classes():
    y = np.repeat([False, True], [90, 10])
    found = thresholds(y, np.linspace(-1, 1, 100), log_odds=True)
    assert found["prior threshold"] == pytest.approx(np.log(10 / 90))
    assert "prior threshold" not in thresholds(y, np.linspace(-1, 1, 100))


def test_scores_are_judged_by_boundaries_found_without_them():
    """Labels that have nothing to do with scores look no better than chance to any method."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = compare_scores(np.arange(60) % 3 == 0, rng.normal(size=60))
        found.append([row["balanced_accuracy"] for row in sorted(rows, key=lambda r: r["method"])])
    assert np.mean(found, axis=0).max() < 0.55


def test_categories_that_do_not_occur_are_no_classes(frame):
    labels = pd.Categorical.from_codes(frame["target"], ["no", "yes", "unknown"])
    assert fit_table(frame.assign(target=labels), "target").labels == ("no", "yes")


def test_empty_targets_are_refused():
    with pytest.raises(InvalidInputError, match="is empty"):
        fit_table(pd.DataFrame({"a": [1, 2], "y": [None, None]}), "y")
