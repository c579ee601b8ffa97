from dataclasses import asdict, fields

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from boundshift import certify
from lab.harness.fitted import Decision, Sample
from lab.harness.methods import Method
from lab.harness.records import read_records, write_records
from lab.harness.rows import Outcome
from lab.suite.cache import Fit, SuiteCache
from lab.suite.data import suite_datasets
from lab.suite.methods import choose_methods
from lab.suite.rows import SuiteRow, area_under_curve, rows_of_fit

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

    monkeypatch.setattr(SuiteCache, "make", fail)
    rows = rows_of_fit(SuiteCache(tmp_path), FIT, ENTRY, choose_methods(["tuned/*"]))
    assert [row.method for row in rows] == [method.name for method in choose_methods(["tuned/*"])]
    assert {row.message for row in rows} == {"MemoryError: too large"}


def test_an_infinite_threshold_is_judged_too(store):
    method = Method("all", "ours", lambda fitted: Decision(-np.inf), "out-of-fold")
    (row,) = rows_of_fit(store, FIT, ENTRY, [method])
    assert (row.recall_negative, row.recall_positive, row.certified_negative) == (0.0, 1.0, 1.0)


def test_rows_are_read_back_as_written(store, tmp_path):
    rows = _rows(store, "tuned/*", "smote")
    again = read_records(
        write_records(tmp_path / "rows.csv.gz", SuiteRow, rows, digits=17), SuiteRow
    )
    for ours, theirs in zip(rows, again, strict=True):
        np.testing.assert_equal(asdict(theirs), asdict(ours))


def test_nothing_is_trained_twice(store, monkeypatch):
    _rows(store, "untouched")
    monkeypatch.setattr("lab.suite.cache.train", None)
    assert _rows(store, "untouched")[0].status == "DECIDED"


def test_a_broken_file_is_made_anew(tmp_path, store):
    whole = store.make(FIT)
    fresh = SuiteCache(tmp_path)
    path = fresh.path(FIT)
    path.parent.mkdir(parents=True)
    path.write_bytes(store.path(FIT).read_bytes()[:100])
    assert fresh.get(FIT) is None
    np.testing.assert_array_equal(fresh.make(FIT).test, whole.test)
    assert fresh.get(FIT) is not None


def test_every_column_is_documented():
    text = SuiteRow.__doc__ + Outcome.__doc__
    assert all(field.name in text for field in fields(SuiteRow))


def test_ties_count_half_in_the_area():
    y, s = np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 2.0, 3.0])
    assert area_under_curve(Sample(y, s)) == roc_auc_score(y, s) == 0.875
