"""A table fitted by the command line."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from boundshift import Boundary, Cost, Zone
from boundshift._app import app
from boundshift._app.folder import FILES
from boundshift._words import number
from boundshift.datasets import load_hepatitis
from boundshift.datasets._bundled import load_table

TARGET = ["--target", "target"]
MODEL = ["--model", "logistic"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Return real rows with the faults of real files, their file, and a folder fitted on it."""
    frame = load_table("pima")
    frame.insert(0, "patient_id", np.arange(len(frame)) * 3 + 7)
    frame["visited"] = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
    frame["clinic"] = np.resize(["north", "south", None, "<b>east</b>"], len(frame))
    frame["country"] = "X"
    frame.loc[frame["BloodPressure"] == 0, "BloodPressure"] = None
    frame.loc[5:9, "target"] = None
    path = tmp_path_factory.mktemp("fitted") / "pima.csv"
    frame.to_csv(path, index=False)
    asked = ["fit", path, *TARGET, *MODEL, "--out", path.with_name("ill")]
    result = CliRunner().invoke(app, list(map(str, asked)))
    assert result.exit_code in (0, 3), result.output
    return frame, path, path.with_name("ill")


def test_new_rows_may_have_columns_in_another_order(run, fitted, tmp_path):
    frame, path, ill = fitted
    first = run("predict", ill, path).stdout
    frame.drop(columns="target").iloc[:, ::-1].to_csv(tmp_path / "new.csv", index=False)
    assert run("predict", ill, "new.csv").stdout == first
    assert run("predict", ill, "-", input=(tmp_path / "new.csv").read_bytes()).stdout == first


def test_an_unseen_category_is_said_and_predicted(run, fitted, tmp_path):
    frame, _, ill = fitted
    frame.assign(clinic="west").to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", ill, "new.csv")
    assert "Column 'clinic' has values not seen in training: west" in result.stderr
    assert len(result.stdout.splitlines()) == len(frame) + 1


def test_nothing_is_replaced_without_force(run, fitted, tmp_path):
    shutil.copytree(fitted[2], tmp_path / "ill")
    before = {p.name: p.read_bytes() for p in (tmp_path / "ill").iterdir()}
    assert "--force" in run("fit", fitted[1], *TARGET, *MODEL, "--out", "ill", code=1).stderr
    assert {p.name: p.read_bytes() for p in (tmp_path / "ill").iterdir()} == before
    (tmp_path / "ill" / "zone.json").write_text("{}")  # of a fit with a zone
    run("fit", fitted[1], *TARGET, *MODEL, "--out", "ill", "--force", "--costs", "1,20")
    assert sorted(p.name for p in (tmp_path / "ill").iterdir()) == sorted(FILES)
    after = Boundary.from_json((tmp_path / "ill" / "boundary.json").read_text())
    assert after.rule == Cost(false_positive=1, false_negative=20)
    assert [p.name for p in tmp_path.iterdir()] == ["ill"]


def test_a_zone_is_found_on_the_test_rows_told_of_and_used_by_predict(run, fitted, tmp_path):
    said = run("fit", fitted[1], *TARGET, *MODEL, "--out", "ill", "--zone", "0.2,0.2").stdout
    zone = Zone.from_json((tmp_path / "ill" / "zone.json").read_text())
    certificate = json.loads((tmp_path / "ill" / "certificate.json").read_text())
    assert list(zone.n_samples) == certificate["n_samples"]
    assert f"up to {number(zone.low)}" in said
    assert "The unsure zone" in (tmp_path / "ill" / "report.html").read_text(encoding="utf-8")
    run("predict", "ill", fitted[1], "--zone", "ill/zone.json", "--out", "new.csv")
    predicted = pd.read_csv(tmp_path / "new.csv")
    unsure = (predicted["score"] > zone.low) & (predicted["score"] <= zone.high)
    assert 0 < unsure.sum() < len(predicted)
    assert ((predicted["prediction"] == "unsure") == unsure).all()


def test_a_failure_on_the_way_leaves_nothing(run, fitted, tmp_path, monkeypatch):
    def full_disk(rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("boundshift._app.folder._columns_json", full_disk)
    assert "No space left" in run("fit", fitted[1], *TARGET, *MODEL, "--out", "ill", code=1).stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", ["svm", "forest", "boosting", "mlp"])
def test_every_model_can_be_fitted_and_loaded(run, tmp_path, model):
    frame = load_hepatitis(as_frame=True).frame
    frame.to_csv(tmp_path / "h.csv", index=False)
    run("fit", "h.csv", *TARGET, "--model", model, "--out", "fit")
    assert len(run("predict", "fit", "h.csv").stdout.splitlines()) == len(frame) + 1


def test_columns_json_is_plain(fitted):
    facts = json.loads((fitted[2] / "columns.json").read_text())
    assert (facts["target"], facts["columns"]["clinic"]["kind"]) == ("target", "word")
    left_out = {"patient_id": "counts", "visited": "dates", "country": "constant"}
    assert facts["left_out"] == left_out
