"""The folder of a fit: whole or not at all, and refused if it was changed."""

import ast
import json
import os
import pickle
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression

from boundshift import InvalidInputError, load, save
from boundshift.app import folder
from boundshift.app.fit import fit_table
from boundshift.app.folder import (
    FILES,
    NOTHING,
    check_folder,
    put_in_place,
    report_facts,
    write_folder,
)
from boundshift.app.predict import predict_table
from boundshift.datasets import load_hepatitis


@pytest.fixture(scope="module")
def fitted():
    return fit_table(load_hepatitis(as_frame=True).frame, "target")


def test_a_folder_is_written_once(fitted, tmp_path):
    facts = report_facts(fitted, tmp_path / "fit")
    files = write_folder(fitted, facts, tmp_path / "fit")
    assert [path.name for path in files] == list(FILES)
    assert all(path.stat().st_size > 100 for path in files)
    with pytest.raises(InvalidInputError, match="--force"):
        write_folder(fitted, facts, tmp_path / "fit")
    (tmp_path / "fit" / "letter.txt").write_text("mine")
    with pytest.raises(InvalidInputError, match="letter"):
        write_folder(fitted, facts, tmp_path / "fit", force=True)
    assert (tmp_path / "fit" / "letter.txt").read_text() == "mine"


def test_predictions_are_those_of_the_model_in_memory(fitted, tmp_path):
    write_folder(fitted, report_facts(fitted, "fit"), tmp_path / "fit")
    frame = load_hepatitis(as_frame=True).frame
    frame.to_parquet(tmp_path / "new.parquet")
    predictions, notes = predict_table(tmp_path / "fit", tmp_path / "new.parquet", keep=["AGE"])
    expected = fitted.model.predict(frame.drop(columns="target"))
    assert predictions["prediction"].tolist() == expected.tolist()
    assert predictions["AGE"].tolist() == frame["AGE"].tolist()
    assert notes == []
    with pytest.raises(InvalidInputError, match="'score'"):
        predict_table(tmp_path / "fit", tmp_path / "new.parquet", keep=["score"])


def change(name, value):
    """Return what changes an entry of columns.json."""

    def changed(text):
        return json.dumps(json.loads(text) | {name: value})

    return changed


TAMPERED = {
    "empty": lambda text: "",
    "a list": lambda text: "[]",
    "no facts": lambda text: "{}",
    "another format": change("format", "other"),
    "version 99": change("version", 99),
    "version 1": change("version", 1),
    "version true": change("version", True),
    "one label": change("labels", [1]),
    "equal labels": change("labels", ["a", "a"]),
    "labels that are lists": change("labels", [[], {}]),
    "no columns": change("columns", {}),
    "columns that are a list": change("columns", ["AGE"]),
    "a column without a kind": change("columns", {"AGE": {"complete": True}}),
    "a column of another kind": change("columns", {"AGE": {"kind": "code", "complete": True}}),
    "a kind that is a list": change("columns", {"AGE": {"kind": [], "complete": True}}),
    "left out as a number": change("left_out", 7),
    "nested without end": lambda text: "[" * 10**5,
    "halved": lambda text: text[: len(text) // 2],
    "a number without end": change("version", 10**400),
    "bytes": lambda text: b"\xff\xfe",
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_folder_that_was_changed_is_refused(written, tmp_path, what):
    shutil.copytree(written, tmp_path / "fit")
    path = tmp_path / "fit" / "columns.json"
    content = TAMPERED[what](path.read_text(encoding="utf-8"))
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidInputError, match="Run the fit again"):
        predict_table(tmp_path / "fit", "new.csv")


MODELS = {
    "empty": lambda raw: b"",
    "no zip": lambda raw: b"PK\x03\x04" + bytes(100),
    "halved": lambda raw: raw[: len(raw) // 2],
    "a pickle": lambda raw: pickle.dumps([1]),
    "a boundary": lambda raw: b"{}",
}


@pytest.mark.parametrize("what", MODELS)
def test_a_model_that_was_changed_is_refused(written, tmp_path, what):
    shutil.copytree(written, tmp_path / "fit")
    path = tmp_path / "fit" / "model.skops"
    path.write_bytes(MODELS[what](path.read_bytes()))
    with pytest.raises(InvalidInputError):
        predict_table(tmp_path / "fit", tmp_path / "fit" / "comparison.csv")


@pytest.mark.parametrize("other", ["boundary", "estimator"])
def test_a_model_of_another_kind_is_refused(written, tmp_path, other):
    shutil.copytree(written, tmp_path / "fit")
    boundary = load(written / "boundary.json")
    thing = boundary if other == "boundary" else LogisticRegression()
    save(thing, tmp_path / "fit" / "model.skops", overwrite=True)
    load_hepatitis(as_frame=True).frame.to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(InvalidInputError, match="fitted"):
        predict_table(tmp_path / "fit", tmp_path / "new.csv")


@pytest.fixture(scope="module")
def written(fitted, tmp_path_factory):
    out = tmp_path_factory.mktemp("written") / "fit"
    write_folder(fitted, report_facts(fitted, "fit"), out)
    return out


@pytest.mark.parametrize("name", ["a b", "$(touch x)", "`id`", "a;b", "a\nimport os", "\x1b[2J"])
def test_the_lines_of_a_report_run_nothing(fitted, name):
    lines = report_facts(fitted, name)["deploy"]
    code = lines if isinstance(lines, str) else "\n".join(lines)
    tree = ast.parse(code)
    assert len(tree.body) == 3
    shell = code.splitlines()[0].removeprefix("# in a shell: ")
    quoted = shlex.split(shell)[2]
    assert quoted == (name if name.isprintable() else "DIR")


@pytest.fixture
def facts(fitted):
    return report_facts(fitted, "fit")


def test_a_folder_that_appears_meanwhile_is_left_as_it_is(fitted, facts, tmp_path):
    before = check_folder(tmp_path / "fit", force=False)
    write_folder(fitted, facts, tmp_path / "fit")
    stood = {p.name: p.read_bytes() for p in (tmp_path / "fit").iterdir()}
    for force in (False, True):
        with pytest.raises(InvalidInputError, match=r"another run|exists already"):
            write_folder(fitted, facts, tmp_path / "fit", force=force, instead_of=before)
    (tmp_path / "other").mkdir()
    with pytest.raises(InvalidInputError, match="another run"):
        put_in_place(tmp_path / "fit", tmp_path / "other", (1, 1))
    assert {p.name: p.read_bytes() for p in (tmp_path / "fit").iterdir()} == stood
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fit", "other"]


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_appears_in_the_last_moment_is_left_as_it_is(tmp_path, what):
    (tmp_path / "fresh").mkdir()
    if what == "folder":
        (tmp_path / "fit").mkdir()
        (tmp_path / "fit" / "letter").write_text("mine")
    else:
        (tmp_path / "fit").write_text("mine")
    with pytest.raises(InvalidInputError, match="another run"):
        put_in_place(tmp_path / "fresh", tmp_path / "fit", NOTHING)
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


def test_a_link_to_a_folder_stays(fitted, facts, tmp_path):
    write_folder(fitted, facts, tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "boundary.json").write_text("{}")
    write_folder(fitted, facts, tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert len((tmp_path / "real" / "boundary.json").read_text()) > 100


def test_permissions_are_kept(fitted, facts, tmp_path):
    write_folder(fitted, facts, tmp_path / "fit")
    (tmp_path / "fit").chmod(0o700)
    (tmp_path / "fit" / "model.skops").chmod(0o600)
    write_folder(fitted, facts, tmp_path / "fit", force=True)
    assert (tmp_path / "fit").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "fit" / "model.skops").stat().st_mode & 0o777 == 0o600


def test_folders_swap_where_the_system_has_no_single_step(fitted, facts, tmp_path, monkeypatch):
    write_folder(fitted, facts, tmp_path / "fit")
    monkeypatch.setattr(folder, "exchange", lambda one, other: False)
    (tmp_path / "fit" / "boundary.json").write_text("{}")
    write_folder(fitted, facts, tmp_path / "fit", force=True)
    assert len((tmp_path / "fit" / "boundary.json").read_text()) > 100
    assert [p.name for p in tmp_path.iterdir()] == ["fit"]


def run_script(script, *arguments):
    """Run a script of this folder's tests by itself, since it kills and limits processes."""
    path = Path(__file__).parents[1] / "fuzz" / script
    return subprocess.run(
        [sys.executable, path, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("what", ["kill", "race", "full"])
def test_the_old_folder_or_the_new_one_is_there_whole(tmp_path, what):
    result = run_script("disturbed_writing.py", what, tmp_path, 2)
    assert result.returncode == 0, result.stdout + result.stderr
