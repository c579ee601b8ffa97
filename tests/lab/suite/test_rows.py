from dataclasses import asdict, fields

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

from boundshift import certify
from lab.methods import Method, Outcome
from lab.records import read_records, write_records
from lab.suite.data import suite_datasets
from lab.suite.methods import choose_methods
from lab.suite.rows import SuiteRow, claims_covered, coverage, least_share, rows_of_fit
from lab.suite.train import Fit, SuiteCache

FIT = Fit("new_thyroid1", "logistic", 0)
ENTRY = next(entry for entry in suite_datasets() if entry.name == FIT.dataset)


def _rows(store, *names):
    return rows_of_fit(store, FIT, ENTRY, choose_methods(names))


def test_a_row_says_what_the_threshold_does_to_the_test_rows(store, fitted_of):
    (row,) = _rows(store, "smoothed/sum@out-of-fold")
    fitted = fitted_of(FIT.model)
    y, s = fitted.test("out-of-fold")
    assert row.recall_positive == pytest.approx(np.mean(s[y == 1] > row.threshold))
    assert row.g_mean == pytest.approx(np.sqrt(row.recall_negative * row.recall_positive))
    assert (row.test_negative, row.test_positive) == (int(np.sum(y == 0)), int(np.sum(y == 1)))
    assert row.auc == pytest.approx(roc_auc_score(*fitted.out_of_fold))
    assert (row.family, row.half) == ("thyroid", "report")


@pytest.mark.parametrize(
    ("name", "scores", "chosen_here"),
    [
        ("smoothed/sum@out-of-fold", "out-of-fold", True),
        ("smoothed/sum@training", "training", True),
        ("blend/g-mean@fold-models", "out-of-fold", True),
        ("smoothed/sum@held-out", "held-out", True),
        ("untouched", "out-of-fold", False),
        ("untouched@held-out", "held-out", False),
    ],
)
def test_certificates_have_the_word_of_their_scores(store, fitted_of, name, scores, chosen_here):
    (row,) = _rows(store, name)
    sample = fitted_of(FIT.model).sample(scores)
    expected = certify(*sample, row.threshold, chosen_here=chosen_here, scores=scores)
    assert row.certificate == expected.status
    assert (row.certified_negative, row.certified_positive) == expected.error_bounds
    assert row.covered_positive == (1 - row.recall_positive <= expected.error_bounds[1])


def test_models_trained_otherwise_are_not_certified(store):
    (row,) = _rows(store, "smote")
    assert row.certificate == ""
    assert np.isnan(row.certified_positive)


def test_training_that_a_decision_needs_is_counted(store, fitted_of):
    rows = {row.method: row for row in _rows(store, "untouched", "tuned/g-mean", "smote")}
    seconds = fitted_of(FIT.model).raw.seconds
    assert rows["untouched"].fit_seconds == pytest.approx(seconds[1])
    assert rows["tuned/g-mean"].fit_seconds == pytest.approx(seconds[1] + seconds[3])
    assert rows["smote"].fit_seconds == pytest.approx(seconds[4])


def test_a_method_that_fails_is_a_row(store):
    def fail(fitted):
        raise ZeroDivisionError("nothing to divide")

    method = Method("broken", "ours", fail, "training")
    (row,) = rows_of_fit(store, FIT, ENTRY, [method])
    assert (row.status, row.solved) == ("FAILED", False)
    assert row.message == "ZeroDivisionError: nothing to divide"
    assert np.isnan(row.g_mean)


def test_a_training_that_fails_is_a_row_of_every_method(tmp_path, monkeypatch):
    def fail(self, fit):
        raise MemoryError("too large")

    monkeypatch.setattr(SuiteCache, "scores", fail)
    rows = rows_of_fit(SuiteCache(tmp_path), FIT, ENTRY, choose_methods(["tuned/*"]))
    assert [row.method for row in rows] == [method.name for method in choose_methods(["tuned/*"])]
    assert {row.message for row in rows} == {"MemoryError: too large"}


def test_rows_are_read_back_as_written(store, tmp_path):
    rows = _rows(store, "tuned/*", "smote")
    again = read_records(write_records(tmp_path / "rows.csv.gz", rows, digits=17), SuiteRow)
    for ours, theirs in zip(rows, again, strict=True):
        np.testing.assert_equal(asdict(theirs), asdict(ours))


def test_nothing_is_trained_twice(store, monkeypatch):
    _rows(store, "untouched")
    monkeypatch.setattr("lab.suite.train.train", None)
    assert _rows(store, "untouched")[0].status == "DECIDED"


def test_every_column_is_documented():
    text = SuiteRow.__doc__ + Outcome.__doc__
    assert all(field.name in text for field in fields(SuiteRow))


@pytest.fixture
def certified(row):
    def make(bounds, recalls, sizes=(100, 20), **values):
        names = ("negative", "positive")
        pairs = {}
        for name, numbers in (("certified", bounds), ("recall", recalls), ("test", sizes)):
            pairs |= {f"{name}_{label}": n for label, n in zip(names, numbers, strict=True)}
        return row(certificate="cross-fitted", **pairs, **values)

    return make


def test_an_error_at_the_bound_is_covered_and_one_above_is_not(certified):
    rows = [certified((0.1, 0.3), (0.9, 0.7)), certified((0.1, 0.3), (0.89, 0.65))]
    assert coverage(rows).covered == 0.5
    assert coverage(rows).n == 4
    assert coverage(rows).width == pytest.approx(np.mean([0, 0, -0.01, -0.05]))


def test_only_errors_that_chance_does_not_explain_contradict(certified):
    by_chance, beyond = certified((0.1, 0.3), (0.85, 0.7)), certified((0.1, 0.3), (0.8, 0.7))
    assert binom.sf(14, 100, 0.1) > 0.05 > binom.sf(19, 100, 0.1)
    assert coverage([by_chance]).contradicted == 0.0
    assert coverage([beyond]).contradicted == 0.5


def test_a_true_bound_is_contradicted_by_chance_in_at_most_a_twentieth(certified):
    rng = np.random.default_rng(0)
    rows = [
        certified((0.1, 0.3), (1 - rng.binomial(100, 0.1) / 100, 1 - rng.binomial(20, 0.3) / 20))
        for _ in range(2000)
    ]
    assert 0.02 < coverage(rows).contradicted <= 0.05


def test_models_that_were_trained_otherwise_have_no_certificate(certified, row):
    rows = [certified((0.1, 0.3), (0.9, 0.7)), row(method="smote")]
    assert coverage(rows).n == 2


def test_the_least_share_is_the_point_where_a_binomial_test_rejects():
    for n in (26, 65, 130):
        k = round(least_share(n) * n)
        assert binom.cdf(k, n, 0.95) >= 0.05 > binom.cdf(k - 1, n, 0.95)


def test_trials_are_counted_by_blocks_and_not_by_seeds(certified):
    rows = [certified((0.1, 0.3), (0.9, 0.7), seed=seed) for seed in range(9)]
    assert coverage(rows).least == least_share(2)


def test_claims_are_compared_with_test_errors(row):
    claimed = row(claim_negative=0.1, claim_positive=0.1, recall_negative=0.95, recall_positive=0.5)
    assert claims_covered([claimed, row(method="untouched")]) == 0.5
