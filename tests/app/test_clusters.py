"""`--cluster COLUMN` counts whole patients in three commands."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from boundshift import BoundShiftClassifier, Monitor, certify, find_zone, load
from boundshift._app import app


def call(*words):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return a table of patients with five rows each, and where it is."""
    rng = np.random.default_rng(0)
    ill = np.repeat(rng.random(200) < 0.4, 5)
    risk = 2.5 * ill + np.repeat(rng.normal(size=200), 5) + 0.5 * rng.normal(size=1000)
    patient = [f"p{i}" for i in np.repeat(np.arange(200), 5)]
    frame = pd.DataFrame({"patient": patient, "ill": ill.astype(int), "risk": risk})
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_a_zone_of_patients(rows):
    frame, path = rows
    how = ("--score", "risk", "--label", "ill", "--cluster", "patient")
    found = call("threshold", path, *how, "--zone", "0.1,0.1", "--json")
    assert found.exit_code == 0, found.output
    stored = json.loads(found.stdout)
    expected = find_zone(frame.ill, frame.risk, 0.1, cluster=frame.patient)
    assert (stored["low"], stored["high"]) == pytest.approx((expected.low, expected.high))
    assert stored["n_clusters"] == list(expected.n_clusters)
    alone = call("threshold", path, *how)
    assert alone.exit_code != 0
    assert "--cluster must go with --zone" in alone.output


def test_a_folder_certified_and_watched_by_patients(rows, tmp_path):
    frame, _ = rows
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    frame[:500].to_csv(first, index=False)
    frame[500:].to_csv(later, index=False)
    folder = tmp_path / "ill"
    fitted = call("fit", first, "--target", "ill", "--drop", "patient", "--out", folder)
    assert fitted.exit_code == 0, fitted.output
    found = call("certify", folder, later, "--cluster", "patient", "--json")
    assert found.exit_code == 0, found.output
    model = load(folder / "model.skops")
    assert isinstance(model, BoundShiftClassifier)
    rest = frame[500:]
    scores = model.positive_scores(rest[["risk"]])
    expected = certify(rest.ill, scores, model.boundary_.threshold, cluster=rest.patient)
    stored = json.loads(found.stdout)
    assert stored["error_bounds"] == pytest.approx(expected.error_bounds)
    (folder / "certificate.json").write_text(found.stdout)
    counted = call("monitor", folder, later, "--cluster", "patient")
    assert counted.exit_code == 0, counted.output
    state = Monitor.load(folder / "monitor.json")
    assert state.n_samples == expected.n_samples
    again = call("monitor", folder, first, "--cluster", "patient", "--when", "patient")
    assert "--cluster must go without --when" in again.output
