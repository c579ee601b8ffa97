"""From rows of a run to blocks, facts, tables, pages and pictures."""

import gzip
import hashlib
import json

import numpy as np
import pytest
from scipy.stats import wilcoxon
from sklearn.metrics import roc_auc_score

from lab.__main__ import main
from lab.experiment import RESULTS
from lab.markdown import fill
from lab.methods import METRICS, Method
from lab.records import read_records
from lab.suite.data import suite_datasets
from lab.suite.methods import METHODS, PANEL, default_method
from lab.suite.rows import Results, SuiteRow, rows_of_fit
from lab.suite.run import DOCS, choose_datasets, run_suite
from lab.suite.summary import summarise, summarise_half
from lab.suite.tables import Picture, make_tables
from lab.suite.train import Fit

DEFAULT = default_method()
FIT = Fit("new_thyroid1", "logistic", 0)
ENTRY = next(entry for entry in suite_datasets() if entry.name == FIT.dataset)


def decide(store, *names):
    return rows_of_fit(store, FIT, ENTRY, [METHODS[name] for name in names])


def test_a_row_says_what_the_threshold_does_to_the_test_rows(store, fitted_of):
    (row,) = decide(store, "smoothed/sum@out-of-fold")
    fitted = fitted_of(FIT.model)
    y, s = fitted.test("out-of-fold")
    assert row.recall_positive == pytest.approx(np.mean(s[y == 1] > row.threshold))
    assert row.g_mean == pytest.approx(np.sqrt(row.recall_negative * row.recall_positive))
    assert (row.test_negative, row.test_positive) == (int(np.sum(y == 0)), int(np.sum(y == 1)))
    assert row.auc == pytest.approx(roc_auc_score(*fitted.out_of_fold))
    assert (row.family, row.half) == ("thyroid", "report")


def test_a_method_or_a_training_that_fails_is_a_row(store, monkeypatch):
    def fail(*arguments):
        raise ZeroDivisionError("nothing to divide")

    (row,) = rows_of_fit(store, FIT, ENTRY, [Method("broken", "ours", fail, "training")])
    assert (row.status, row.solved) == ("FAILED", False)
    assert row.message == "ZeroDivisionError: nothing to divide"
    assert np.isnan(row.g_mean)
    monkeypatch.setattr("lab.suite.rows.scores_of", fail)
    assert [r.status for r in decide(store, "smote", "untouched")] == ["FAILED", "FAILED"]


FITS = [
    ("a1", "a", "logistic", 0), ("a1", "a", "logistic", 1), ("a2", "a", "logistic", 0),
    ("a1", "a", "svm", 0), ("b1", "b", "logistic", 0), ("b1", "b", "svm", 0),
]  # fmt: skip


def test_seeds_are_averaged_before_data_sets_and_models_last(row):
    keys = ("dataset", "family", "model", "seed")
    values = np.random.default_rng(0).random(len(FITS))
    rows = [row(**dict(zip(keys, f, strict=True)), f1=v) for f, v in zip(FITS, values, strict=True)]
    results = Results(rows)
    found = results.blocks("f1")
    assert found.names == [("a", "logistic"), ("a", "svm"), ("b", "logistic"), ("b", "svm")]
    expected = [np.mean([values[:2].mean(), values[2]]), values[3], values[4], values[5]]
    np.testing.assert_allclose(found.values[:, 0], expected)
    both = results.blocks("f1", unit="family").values[:, 0]
    np.testing.assert_allclose(both, [np.mean(expected[:2]), np.mean(expected[2:])])


def test_a_failure_counts_as_a_useless_classifier(row):
    failed = row(method="smote", status="FAILED", solved=False, message="ValueError: no")
    fine = row(method="untouched", g_mean=0.4, balanced_accuracy=0.6, f1=0.3, mcc=0.1)
    results = Results([failed, fine])
    assert results.blocks("balanced_accuracy", ["smote"]).values.item() == 0.5
    assert results.blocks("g_mean", ["smote", "untouched"]).values.tolist() == [[0.0, 0.4]]


@pytest.fixture(scope="module")
def ranked(row):
    """Facts of rows in which the default is the best and the untouched model the worst."""
    rng = np.random.default_rng(0)
    rows = []
    for family in "abcdefgh":
        for model in ("logistic", "forest"):
            for place, method in enumerate((DEFAULT, *PANEL[1:], "untouched")):
                value = 0.9 - 0.02 * place + 0.004 * rng.random()
                rows.append(row(
                    dataset=f"{family}1", family=family, model=model, method=method,
                    **dict.fromkeys(METRICS, value),
                    recall_negative=value, recall_positive=value, test_negative=100,
                    test_positive=20, seconds=0.001, fit_seconds=0.5,
                ))  # fmt: skip
    return summarise(Results(rows), DEFAULT)


def test_significance_is_corrected_for_the_number_of_baselines(ranked):
    found = ranked["against"]["f1"]["untouched"]
    assert (found["wins"], found["ties"], found["losses"]) == (8, 0, 0)
    alone = wilcoxon(np.arange(1.0, 9.0), method="approx").pvalue
    assert found["p"] == pytest.approx(len(PANEL) * alone)


def test_the_share_of_the_gain_is_told_for_all_and_for_few_rows(row):
    values = {"untouched": 0.5, "clairvoyant": 0.9, "tuned/g-mean": 0.7, DEFAULT: 0.8}
    values |= {"tuned/f1": 0.65, "blend/f1@fold-models": 0.75}
    rows = [
        row(dataset=family + "1", family=family, method=method, rare=rare,
            **dict.fromkeys(METRICS, value - rare / 100))
        for rare in (0, 5, 20, 50) for family in "abc" for method, value in values.items()
    ]  # fmt: skip
    half = summarise_half(rows, DEFAULT)
    assert list(half["few"]) == ["5", "20", "50"]
    assert half["together"]["numbers"] == [5, 20]
    for each in (half, half["together"], *half["few"].values()):
        assert each["shares"][DEFAULT]["share"] == pytest.approx(0.75)
        assert each["shares"]["untouched"]["share"] == 0.0
    assert half["together"]["counts"]["datasets"] == 6


def test_the_pages_in_the_documentation_are_made_from_the_stored_summary():
    tables = make_tables(json.loads((RESULTS / "suite" / "summary.json").read_text("utf-8")))
    text = ""
    for path in DOCS.glob("benchmark*.md"):
        page = path.read_text("utf-8")
        assert fill(page, tables, absent="Not run.") == page
        text += page
    drawn = {b.name for b in tables.values() if isinstance(b, Picture) and str(b) in text}
    assert drawn == {path.stem for path in (DOCS / "images" / "benchmark").glob("*.png")}


@pytest.fixture
def _two_sets(monkeypatch):
    small = [d for d in choose_datasets("full") if d.name in ("new_thyroid1", "glass6")]
    monkeypatch.setattr("lab.suite.run.suite_datasets", lambda: small)


@pytest.mark.usefixtures("_two_sets")
def test_the_command_writes_rows_facts_and_pages_and_trains_once(tmp_path, monkeypatch):
    arguments = ["suite", "--models", "logistic", "--methods", "tuned/*", "--methods", "untouched"]
    arguments += ["--jobs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 0
    rows = read_records(tmp_path / "rows.csv.gz", SuiteRow)
    tuned = {f"tuned/{metric}" for metric in ("balanced-accuracy", "g-mean", "f1", "mcc")}
    assert {row.method for row in rows} == {"untouched", default_method(), *tuned}
    facts = json.loads((tmp_path / "summary.json").read_text())
    text = gzip.decompress((tmp_path / "rows.csv.gz").read_bytes())
    assert facts["rows"]["sha256 of its text"] == hashlib.sha256(text).hexdigest()
    assert facts["command"].startswith(
        "python -m lab suite --models logistic --methods 'tuned/*' --methods untouched --jobs 1"
    )
    assert facts["command"] in (tmp_path / "benchmark_setting.md").read_text()
    assert "Not run." in (tmp_path / "benchmark.md").read_text()
    monkeypatch.setattr("lab.suite.train.train", None)
    again = run_suite(models=["logistic"], methods=["tuned/*", "untouched"], out=tmp_path)
    assert again.facts["rows"] == facts["rows"]


@pytest.mark.parametrize(
    "wrong",
    ["--suite slow", "--half none", "--models tree", "--rare 7", "--jobs 0", f"--out {__file__}"],
)
def test_wrong_words_are_refused_before_any_work(wrong, capsys):
    with pytest.raises(SystemExit):
        main(["suite", *wrong.split()])
    assert wrong.split()[0] in capsys.readouterr().err
