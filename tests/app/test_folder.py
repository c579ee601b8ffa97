"""The folder of a fit: whole or not at all, and refused if it was changed."""

import json
import os
import pickle
import shlex
import shutil

import pytest
from sklearn.linear_model import LogisticRegression

from boundshift import InvalidInputError, load, save
from boundshift._app.fit import fit_table
from boundshift._app.folder import FILES, predict_table, put_in_place, report_facts, write_folder
from boundshift.datasets import load_hepatitis
from tests.fuzz import disturbed_writing


@pytest.fixture(scope="module")
def fitted():
    return fit_table(load_hepatitis(as_frame=True).frame, "target")


@pytest.fixture(scope="module")
def facts(fitted):
    return report_facts(fitted, "fit")


@pytest.fixture(scope="module")
def written(fitted, facts, tmp_path_factory):
    out = tmp_path_factory.mktemp("written") / "fit"
    write_folder(fitted, facts, out)
    return out


@pytest.fixture
def copy(written, tmp_path):
    return shutil.copytree(written, tmp_path / "fit")


def test_a_folder_is_written_once(fitted, facts, copy):
    assert sorted(path.name for path in copy.iterdir()) == sorted(FILES)
    with pytest.raises(InvalidInputError, match="--force"):
        write_folder(fitted, facts, copy)


def test_predictions_are_those_of_the_model_in_memory(fitted, written, tmp_path):
    frame = load_hepatitis(as_frame=True).frame
    frame.to_parquet(tmp_path / "new.parquet")
    predictions, notes = predict_table(written, tmp_path / "new.parquet", keep=["AGE"])
    expected = fitted.model.predict(frame.drop(columns="target"))
    assert predictions["prediction"].tolist() == expected.tolist()
    assert predictions["AGE"].tolist() == frame["AGE"].tolist()
    assert notes == []
    with pytest.raises(InvalidInputError, match="'score'"):
        predict_table(written, tmp_path / "new.parquet", keep=["score"])


def change(name, value):
    """Return what changes an entry of columns.json."""

    def changed(text):
        return json.dumps(json.loads(text) | {name: value})

    return changed


TAMPERED = {
    "empty": lambda text: "",
    "no facts": lambda text: "{}",
    "another format": change("format", "other"),
    "version 99": change("version", 99),
    "no columns": change("columns", {}),
    "columns that are a list": change("columns", ["AGE"]),
    "a column without a kind": change("columns", {"AGE": {"complete": True}}),
    "a column of another kind": change("columns", {"AGE": {"kind": "code", "complete": True}}),
    "bytes": lambda text: b"\xff\xfe",
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_folder_that_was_changed_is_refused(copy, what):
    path = copy / "columns.json"
    content = TAMPERED[what](path.read_text(encoding="utf-8"))
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidInputError, match="Run the fit again"):
        predict_table(copy, "new.csv")


MODELS = {
    "empty": lambda raw: b"",
    "no zip": lambda raw: b"PK\x03\x04" + bytes(100),
    "halved": lambda raw: raw[: len(raw) // 2],
    "a pickle": lambda raw: pickle.dumps([1]),
    "a boundary": lambda raw: b"{}",
}


@pytest.mark.parametrize("what", MODELS)
def test_a_model_that_was_changed_is_refused(copy, what):
    path = copy / "model.skops"
    path.write_bytes(MODELS[what](path.read_bytes()))
    with pytest.raises(InvalidInputError):
        predict_table(copy, copy / "comparison.csv")


@pytest.mark.parametrize("other", ["boundary", "estimator"])
def test_a_model_of_another_kind_is_refused(copy, other):
    thing = load(copy / "boundary.json") if other == "boundary" else LogisticRegression()
    save(thing, copy / "model.skops", overwrite=True)
    with pytest.raises(InvalidInputError, match="fitted"):
        predict_table(copy, copy / "comparison.csv")


@pytest.mark.parametrize("name", ["a b", "$(touch x)", "`id`", "a;b", "a\nimport os", "\x1b[2J"])
def test_the_lines_of_a_report_run_nothing(fitted, name):
    facts = report_facts(fitted, name)
    for line in (facts["shell"], facts["top"]):
        assert shlex.split(line)[2] == (name if name.isprintable() else "DIR")


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_appears_in_the_last_moment_is_left_as_it_is(tmp_path, what):
    (tmp_path / "fresh").mkdir()
    if what == "folder":
        (tmp_path / "fit").mkdir()
        (tmp_path / "fit" / "letter").write_text("mine")
    else:
        (tmp_path / "fit").write_text("mine")
    with pytest.raises(InvalidInputError, match="another run"):
        put_in_place(tmp_path / "fresh", tmp_path / "fit", force=False)
    mine = tmp_path / "fit" / "letter" if what == "folder" else tmp_path / "fit"
    assert mine.read_text() == "mine"


FOREIGN = {
    "a report of another program": lambda f: (f / "report.html").write_text("<p>"),
    "a folder called model.skops": lambda f: (f / "model.skops").mkdir(),
    "columns that are no fit's": lambda f: (f / "columns.json").write_text("{}"),
    "columns nested without end": lambda f: (f / "columns.json").write_text("[" * 10**5),
    "a link": lambda f: (f / "columns.json").symlink_to("/etc/hostname"),
    "another file": lambda f: (f / "letter.txt").write_text("mine"),
    "a hidden file": lambda f: (f / ".git").mkdir(),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_only_what_a_fit_wrote_is_replaced(fitted, facts, tmp_path, what):
    (tmp_path / "fit").mkdir()
    FOREIGN[what](tmp_path / "fit")
    before = sorted((tmp_path / "fit").iterdir())
    with pytest.raises(InvalidInputError, match="no fit has written"):
        write_folder(fitted, facts, tmp_path / "fit", force=True)
    assert sorted((tmp_path / "fit").iterdir()) == before


def test_a_folder_is_replaced_behind_its_link_and_stays_closed(fitted, facts, copy, tmp_path):
    (tmp_path / "link").symlink_to("fit")
    (copy / "boundary.json").write_text("{}")
    copy.chmod(0o700)
    write_folder(fitted, facts, tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert len((copy / "boundary.json").read_text()) > 100
    assert copy.stat().st_mode & 0o777 == 0o700
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fit", "link"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("what", ["kill", "race", "full"])
def test_the_old_folder_or_the_new_one_is_there_whole(fitted, facts, tmp_path, what):
    getattr(disturbed_writing, what)(fitted, facts, tmp_path, 2)
