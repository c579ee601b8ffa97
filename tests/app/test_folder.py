"""The folder of a fit: whole or not at all, and refused if it was changed."""

import json
import os
import pickle
import shlex
import shutil

import pytest
from sklearn.linear_model import LogisticRegression

from boundshift import InvalidInputError, save
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


def test_predictions_are_those_of_the_model_in_memory(fitted, written, tmp_path):
    frame = load_hepatitis(as_frame=True).frame
    frame.to_parquet(tmp_path / "new.parquet")
    predictions, notes = predict_table(written, tmp_path / "new.parquet", keep=["AGE"])
    expected = fitted.model.predict(frame.drop(columns="target"))
    assert predictions["prediction"].tolist() == expected.tolist()
    assert predictions["AGE"].tolist() == frame["AGE"].tolist()
    assert notes == []
    with pytest.raises(InvalidInputError, match=r"`keep`.*got score"):
        predict_table(written, tmp_path / "new.parquet", keep=["score"])


def change(**entries):
    """Return what changes entries of columns.json."""
    return lambda raw: json.dumps(json.loads(raw) | entries).encode()


CHANGED = {
    "empty": ("columns.json", lambda raw: b""),
    "bytes": ("columns.json", lambda raw: b"\xff\xfe"),
    "another format": ("columns.json", change(format="other")),
    "version 99": ("columns.json", change(version=99)),
    "columns that are a list": ("columns.json", change(columns=["AGE"])),
    "a column of another kind": ("columns.json", change(columns={"AGE": {"kind": "code"}})),
    "no model": ("model.skops", lambda raw: b""),
    "half a model": ("model.skops", lambda raw: raw[: len(raw) // 2]),
    "a pickle": ("model.skops", lambda raw: pickle.dumps([1])),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_folder_that_was_changed_is_refused(copy, what):
    name, changed = CHANGED[what]
    (copy / name).write_bytes(changed((copy / name).read_bytes()))
    with pytest.raises(InvalidInputError, match="again" if name[0] == "c" else None):
        predict_table(copy, copy / "comparison.csv")


def test_a_model_of_another_kind_is_refused(copy):
    save(LogisticRegression(), copy / "model.skops", overwrite=True)
    with pytest.raises(InvalidInputError, match="fitted"):
        predict_table(copy, copy / "comparison.csv")


@pytest.mark.parametrize("name", ["a b", "$(touch x)", "`id`", "a;b"])
def test_the_lines_of_a_report_run_nothing(fitted, name):
    facts = report_facts(fitted, name)
    assert [shlex.split(facts[line])[2] for line in ("shell", "top")] == [name, name]


@pytest.mark.parametrize("mine", ["fit", "fit/letter"])
def test_what_appears_in_the_last_moment_is_left_as_it_is(tmp_path, mine):
    (tmp_path / "fresh").mkdir()
    (tmp_path / mine).parent.mkdir(exist_ok=True)
    (tmp_path / mine).write_text("mine")
    with pytest.raises(InvalidInputError, match="another run"):
        put_in_place(tmp_path / "fresh", tmp_path / "fit", force=False)
    assert (tmp_path / mine).read_text() == "mine"


@pytest.mark.parametrize("name", ["report.html", "columns.json", "letter.txt", ".git"])
def test_only_what_a_fit_wrote_is_replaced(fitted, facts, tmp_path, name):
    (tmp_path / "fit").mkdir()
    (tmp_path / "fit" / name).write_text("mine")
    with pytest.raises(InvalidInputError, match=f"holds '{name}'"):
        write_folder(fitted, facts, tmp_path / "fit", force=True)
    assert (tmp_path / "fit" / name).read_text() == "mine"


def test_a_folder_is_replaced_behind_its_link_and_stays_closed(fitted, facts, copy, tmp_path):
    (tmp_path / "link").symlink_to("fit")
    (copy / "boundary.json").write_text("{}")
    copy.chmod(0o700)
    write_folder(fitted, facts, tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert len((copy / "boundary.json").read_text()) > 100
    assert sorted(path.name for path in copy.iterdir()) == sorted(FILES)
    assert copy.stat().st_mode & 0o777 == 0o700
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fit", "link"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("what", ["kill", "race", "full"])
def test_the_old_folder_or_the_new_one_is_there_whole(fitted, facts, tmp_path, what):
    getattr(disturbed_writing, what)(fitted, facts, tmp_path, 2)
