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

FIT = ["fit", "pima.csv", "--target", "target"]


@pytest.fixture(scope="module")
def rows():
    """Return real rows with the faults of real files."""
    frame = load_table("pima")
    frame.insert(0, "patient_id", np.arange(len(frame)) * 3 + 7)
    frame["visited"] = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
    frame["clinic"] = np.resize(["north", "south", None, "<b>east</b>"], len(frame))
    frame["country"] = "X"
    frame.loc[frame["BloodPressure"] == 0, "BloodPressure"] = None
    frame.loc[5:9, "target"] = None
    return frame


@pytest.fixture
def pima(tmp_path, rows):
    rows.to_csv(tmp_path / "pima.csv", index=False)
    return rows.copy()


@pytest.fixture(scope="module")
def fitted_once(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("fitted")
    rows.to_csv(folder / "pima.csv", index=False)
    out = ["--out", str(folder / "ill"), "--unit", "patients"]
    result = CliRunner().invoke(app, [FIT[0], str(folder / FIT[1]), *FIT[2:], *out])
    assert result.exit_code == 0, result.output
    return folder / "ill", result


@pytest.fixture
def fitted(fitted_once, pima, tmp_path):
    folder, result = fitted_once
    shutil.copytree(folder, tmp_path / "ill")
    return result


def test_predictions_are_the_model_s_on_prepared_rows(run, fitted, pima, tmp_path):
    run("predict", "ill", "pima.csv", "--out", "p.csv", "--keep", "patient_id")
    rows = pd.read_csv(tmp_path / "p.csv")
    stored = Boundary.from_json((tmp_path / "ill" / "boundary.json").read_text())
    assert rows["patient_id"].tolist() == pima["patient_id"].tolist()
    assert rows["prediction"].tolist() == stored.predict(rows["score"]).tolist()
    known = pima["target"].notna()
    assert (rows["prediction"] == pima["target"])[known].mean() > 0.7


def test_new_rows_may_have_columns_in_another_order(run, fitted, pima, tmp_path):
    first = run("predict", "ill", "pima.csv").stdout
    names = [name for name in pima.columns if name != "target"]
    pima[names[::-1]].to_csv(tmp_path / "new.csv", index=False)
    assert run("predict", "ill", "new.csv").stdout == first
    piped = run("predict", "ill", "-", input=(tmp_path / "new.csv").read_bytes())
    assert piped.stdout == first


def test_an_unseen_category_is_said_and_predicted(run, fitted, pima, tmp_path):
    pima.assign(clinic="west").to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", "ill", "new.csv")
    assert "Column 'clinic' has values not seen in training: west" in result.stderr
    assert len(result.stdout.splitlines()) == len(pima) + 1


def test_nothing_is_replaced_without_force(run, fitted, tmp_path):
    before = {p.name: p.read_bytes() for p in (tmp_path / "ill").iterdir()}
    assert "--force" in run(*FIT, "--out", "ill", code=1).stderr
    assert {p.name: p.read_bytes() for p in (tmp_path / "ill").iterdir()} == before
    (tmp_path / "ill" / "zone.json").write_text("{}")  # of a fit with a zone
    run(*FIT, "--out", "ill", "--force", "--costs", "1,20")
    assert sorted(p.name for p in (tmp_path / "ill").iterdir()) == sorted(FILES)
    after = Boundary.from_json((tmp_path / "ill" / "boundary.json").read_text())
    assert after.rule == Cost(false_positive=1, false_negative=20)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ill", "pima.csv"]


def test_a_zone_is_found_on_the_test_rows_told_of_and_used_by_predict(run, pima, tmp_path):
    said = run(*FIT, "--out", "ill", "--zone", "0.2,0.2").stdout
    zone = Zone.from_json((tmp_path / "ill" / "zone.json").read_text())
    certificate = json.loads((tmp_path / "ill" / "certificate.json").read_text())
    assert list(zone.n_samples) == certificate["n_samples"]
    assert f"up to {number(zone.low)}" in said
    assert "The unsure zone" in (tmp_path / "ill" / "report.html").read_text(encoding="utf-8")
    run("predict", "ill", "pima.csv", "--zone", "ill/zone.json", "--out", "new.csv")
    predicted = pd.read_csv(tmp_path / "new.csv")
    unsure = (predicted["score"] > zone.low) & (predicted["score"] <= zone.high)
    assert 0 < unsure.sum() < len(predicted)
    assert ((predicted["prediction"] == "unsure") == unsure).all()


def test_a_failure_on_the_way_leaves_nothing(run, pima, tmp_path, monkeypatch):
    import boundshift._app.folder as folder

    def full_disk(rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "_columns_json", full_disk)
    assert "No space left" in run(*FIT, "--out", "ill", code=1).stderr
    assert [p.name for p in tmp_path.iterdir()] == ["pima.csv"]


@pytest.mark.parametrize("model", ["svm", "forest", "boosting", "mlp"])
def test_every_model_can_be_fitted_and_loaded(run, tmp_path, model):
    bunch = load_hepatitis(as_frame=True)
    bunch.frame.to_csv(tmp_path / "h.csv", index=False)
    run("fit", "h.csv", "--target", "target", "--model", model, "--out", "fit")
    assert len(run("predict", "fit", "h.csv").stdout.splitlines()) == len(bunch.frame) + 1


def test_columns_json_is_plain(fitted, tmp_path):
    facts = json.loads((tmp_path / "ill" / "columns.json").read_text())
    assert facts["target"] == "target"
    assert facts["columns"]["clinic"]["kind"] == "word"
    left_out = {"patient_id": "counts", "visited": "dates", "country": "constant"}
    assert facts["left_out"] == left_out
