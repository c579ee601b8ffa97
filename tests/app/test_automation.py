"""Scripts that call the commands: the fields of their JSON, and the page's job and shell script."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import boundshift
from boundshift import Boundary, certify
from boundshift._app.schema import RECORDS, SCHEMA

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")
COLUMNS = ("--score", "risk", "--label", "ill")


def write_patients(path, shift, n=1500, seed=0):
    random = np.random.default_rng(seed)
    ill = random.random(n) < 0.3
    frame = pd.DataFrame({"marker": random.normal(size=n) + shift * ill, "age": random.random(n)})
    frame["ill"] = ill.astype(int)
    frame.to_csv(path, index=False)


@pytest.fixture
def shell(tmp_path):
    """Run a script in a folder of its own, with `boundshift` on the path."""
    command = tmp_path / "bin" / "boundshift"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m boundshift "$@"\n')
    command.chmod(0o755)
    source = str(Path(boundshift.__file__).parents[1])
    path = f"{command.parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": source}

    def call(script):
        return subprocess.run(
            ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=False
        )

    return call


def test_the_job_and_the_script_of_the_page(run, shell, tmp_path):
    job = re.search(r"```yaml\n(.*?)```", PAGE, re.S)[1]
    (train,) = re.findall(r"- run: boundshift (fit .*) > fit.json", job)
    script = re.search(r"```sh\n(.*?)```", PAGE, re.S)[1]
    write_patients(tmp_path / "patients.csv", 2.5)
    trained = json.loads(run(*train.split(), code=0).stdout)
    assert trained["goal_state"] in ("met", "reached")
    write_patients(tmp_path / "patients.csv", 0.3, n=200)
    run(*train.replace("fresh", "weak").split(), code=3)
    write_patients(tmp_path / "nightly.csv", 2.5, seed=1)
    counted = shell(script)
    assert (counted.returncode, counted.stdout) == (0, b"")
    write_patients(tmp_path / "nightly.csv", 0.0, seed=2)
    counted = shell(script)
    assert (counted.returncode, counted.stdout) == (
        3,
        b"The model exceeds a guaranteed error rate.\n",
    )
    assert json.loads((tmp_path / "monitor-result.json").read_text())["kept"] is False
    (tmp_path / "nightly.csv").unlink()
    assert b"The rows were not counted." in shell(script).stdout


def test_every_json_has_the_fields_that_are_documented(run, scores, tmp_path):
    write_patients(tmp_path / "t.csv", 2.0)
    model = ("--model", "logistic", "--out", "fit")
    asked = {
        "fit": ("fit", "t.csv", "--target", "ill", *model),
        "doctor": ("doctor", "t.csv", "--target", "ill"),
        "doctor --score": ("doctor", scores, "--target", "ill", "--score", "risk"),
        "predict": ("predict", "fit", "t.csv", "--out", "p.csv"),
        "threshold": ("threshold", scores, *COLUMNS),
        "threshold --zone": ("threshold", scores, *COLUMNS, "--zone", "0.1,0.1"),
        "certify": ("certify", "fit", "t.csv"),
        "report": ("report", scores, *COLUMNS, "--test-share", 0.5),
        "monitor": ("monitor", "fit", "t.csv"),
        "datasets": ("datasets",),
        "datasets NAME": ("datasets", "pima", "--out", "pima.csv"),
    }
    assert asked.keys() == SCHEMA.keys()
    for name, words in asked.items():
        found = json.loads(run(*words, "--json").stdout)
        fields = set(SCHEMA[name])
        if name in RECORDS:
            record = getattr(boundshift, RECORDS[name]).from_dict(found)
            fields |= record.to_dict().keys()
        assert found.keys() == fields, name


def test_a_threshold_is_certified_and_watched_without_a_folder(run, scores, rows, tmp_path):
    (tmp_path / "t.json").write_text(run("threshold", scores, *COLUMNS, "--json").stdout)
    threshold = Boundary.from_json((tmp_path / "t.json").read_text()).threshold
    random = np.random.default_rng(7)
    ill = random.random(900) < 0.2
    frame = pd.DataFrame({"risk": random.normal(size=900) + 2.5 * ill})
    frame["ill"] = np.where(ill, "yes", "no")
    frame.loc[5:8, "ill"] = None
    frame.to_csv(tmp_path / "later.csv", index=False)
    known = frame.dropna()
    asked = ("t.json", "later.csv", *COLUMNS, "--json")
    done = run("certify", *asked, code=0)
    expected = certify(known["ill"], known["risk"], threshold, pos_label="yes")
    assert json.loads(done.stdout)["error_bounds"] == pytest.approx(list(expected.error_bounds))
    assert "4 rows without a value of 'ill' are left out" in done.stderr
    seen = json.loads(run("certify", "t.json", scores, *COLUMNS, "--json").stdout)
    assert seen["error_bounds"] > list(certify(*rows, threshold, pos_label="yes").error_bounds)
    stored = (tmp_path / "t.json").read_bytes()
    assert run("certify", "-", *asked[1:], input=stored).stdout == done.stdout
    assert "must be in a file" in run("monitor", "-", *asked[1:], code=1, input=stored).stderr
    watched = json.loads(run("monitor", *asked, code=0).stdout)
    assert sum(each["n_samples"] for each in watched["classes"]) == len(known)
    assert "4 rows without" in watched["notes"][0]
    frame.assign(risk=-frame["risk"]).to_csv(tmp_path / "later.csv", index=False)
    run("monitor", *asked, code=3)


def test_a_model_that_is_not_to_be_used_stops_a_script(run, tmp_path):
    write_patients(tmp_path / "t.csv", 0.0)
    assert "Do not use it" in run("fit", "t.csv", "--target", "ill", code=3).stdout


def test_one_class_against_the_rest_stays_that_in_the_folder(run, tmp_path):
    random = np.random.default_rng(0)
    kind = random.choice(["light", "medium", "heavy"], 900)
    frame = pd.DataFrame({"weight": random.normal(size=900) + 3 * (kind == "heavy"), "kind": kind})
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("fit", "t.csv", "--target", "kind", "--model", "logistic", "--out", "fit")
    assert "--positive LABEL for one class against all others" in run(*asked, code=1).stderr
    told = run(*asked, "--positive", "heavy")
    assert "'not heavy'" in told.stderr
    assert "'light'" in told.stderr
    assert "'medium'" in told.stderr
    found = json.loads(run("certify", "fit", "t.csv", "--json").stdout)
    assert found["n_samples"] == [int((kind != "heavy").sum()), int((kind == "heavy").sum())]
    frame.assign(kind=np.where(kind == "light", "lihgt", kind)).to_csv(tmp_path / "u.csv")
    assert "got 'lihgt'" in run("certify", "fit", "u.csv", code=1).stderr


def test_a_guaranteed_floor_is_not_contradicted(run, tmp_path):
    """Wider bounds beside it are explained, and so is the exit code if it is not certified."""
    random = np.random.default_rng(7)
    ill = random.random(900) < 0.2
    noise = random.normal(size=900)
    for name, shift in (("chosen", 2.5), ("better", 5.0), ("worse", 1.0)):
        frame = pd.DataFrame({"risk": noise + shift * ill, "ill": np.where(ill, "yes", "no")})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    asked = ("threshold", "chosen.csv", *COLUMNS, "--recall-floor", "0.9")
    shown = run(*asked, code=0).stdout
    assert "It is guaranteed." in shown
    assert "threshold at once, so they are wider" in shown
    found = json.loads(run(*asked, "--json").stdout)
    (tmp_path / "t.json").write_text(json.dumps(found))
    for name, code in (("better.csv", 0), ("worse.csv", 3)):
        shown = run("certify", "t.json", name, *COLUMNS, code=code).stdout
        assert ("not certified on these rows" in shown) == (code == 3)
    costs = run("threshold", "chosen.csv", *COLUMNS, "--costs", "miss=20,alarm=1").stdout
    assert "Goal: the least cost, where a miss costs 20 and a false alarm 1." in costs
