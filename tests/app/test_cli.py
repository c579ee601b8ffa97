"""The application: help, completion, streams, goals and data sets."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from boundshift.__main__ import main
from boundshift._app.cli import running
from boundshift.datasets import load_pima


def test_a_closed_pipe_is_no_error(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    command = f"{sys.executable} -m boundshift datasets pima --out - | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("Pregnancies,")
    assert done.stderr == ""


def test_progress_is_seen_on_a_terminal_only(capsys, monkeypatch):
    with running() as show:
        show("read", 1, 2)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with running() as show:
        show("read", 1, 2)
    assert "50%" in capsys.readouterr().err


def test_without_the_extra_its_name_is_said(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("boundshift._app")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"pip install .*\[cli\]"):
        main()


SCORES = ["--score", "risk", "--label", "ill"]


def command(*arguments, module=True, **more):
    """Run the command, or Python, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | more.pop("env", {})
    words = [sys.executable, *(["-m", "boundshift"] if module else []), *map(str, arguments)]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | more
    return subprocess.run(words, **how, check=False, env=environment)


def test_help_and_a_threshold_load_no_heavy_library(scores):
    arguments = ["threshold", str(scores), *SCORES]
    code = (
        "import sys, boundshift._app; heavy = {'sklearn', 'matplotlib', 'lab'}; "
        "print(*(heavy | {'pyarrow', 'pandas'}) & sys.modules.keys()); "
        "from typer.testing import CliRunner; "
        f"done = CliRunner().invoke(boundshift._app.app, {arguments}); "
        "print(done.exit_code, *heavy & sys.modules.keys())"
    )
    done = command("-c", code, module=False)
    assert done.stdout.decode().split() == ["0"], done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_device_is_said(scores):
    with Path("/dev/full").open("wb") as full:
        answer = command("threshold", scores, *SCORES, stdout=full)
    assert answer.returncode == 1
    assert b"No space left" in answer.stderr
    assert b"Traceback" not in answer.stderr


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_no_escape_sequence_reaches_the_terminal(run, scores, more):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202edrow"
    scores.write_text(scores.read_text(encoding="utf-8").replace("yes", evil), encoding="utf-8")
    answer = run("threshold", scores, *SCORES, *more)
    assert not set(answer.stdout + answer.stderr) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert "owned" in answer.stdout


def test_the_help_of_fit_fits_on_80_lines(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    shown = run("fit", "-h").stdout
    assert len(shown.splitlines()) <= 80
    listed = re.findall(r"^│ \*? {0,6}(--[a-z-]+)", shown, flags=re.M)
    assert listed.index("--precision-floor") == listed.index("--recall-floor") + 1
    others = {"predict", "threshold", "certify", "monitor", "report"}
    assert not {f"boundshift {name}" for name in others if f"boundshift {name}" in shown}


SAME = [
    ["--recall-floor 0.9 --confidence 0.8", "--recall-floor 90% --confidence 80"],
    ["--recall-floor 0.9 --confidence 0.8", "--recall-floor 0,9 --confidence 80%"],
    ["--recall-floor 1", "--recall-floor 100"],
    ["--capacity 0.125", "--capacity 50/400"],
    ["--capacity 0.2", "--capacity 20%"],
    ["--rule f1 --prevalence 0.025", "--rule f1 --prevalence 2,5%"],
    ["--zone 0.05,0.1", "--zone 5%,10%"],
    ["--zone 0.05,0.1", "--zone 0,05;0,1"],
    ["--costs 1,20", "--costs miss=20,alarm=1"],
    ["--costs 1.5,20", "--costs alarm=1,5;miss=20"],
]


@pytest.mark.parametrize("pair", SAME, ids=lambda pair: pair[1])
def test_numbers_are_read_as_people_write_them(run, scores, pair):
    plain, usual = (run("threshold", scores, *SCORES, *way.split(), "--json") for way in pair)
    assert usual.stdout == plain.stdout


def test_data_are_written_with_words_for_classes_and_what_to_do_next(run):
    written = run("datasets", "pima", "--out", "my pima.csv")
    assert written.stdout == ""
    assert "768 rows and 9 columns to my pima.csv" in written.stderr
    assert "boundshift fit 'my pima.csv' --target target" in written.stderr
    piped = run("datasets", "pima", "--out", "-")
    assert piped.stderr == ""
    rows = list(csv.DictReader(piped.stdout.splitlines()))
    pima = load_pima()
    assert [row["target"] for row in rows] == pima.target_names[pima.target].tolist()
    assert [float(row["Age"]) for row in rows] == pima.data[:, -1].tolist()
