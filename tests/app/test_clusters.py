"""Patients with several rows: kept together by `fit`, counted as one by every bound."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from boundshift import Floors, InvalidInputError, Monitor, certify, find_boundary, find_zone, load
from boundshift._app import app
from boundshift._app.columns import Reason, choose_columns, find_cluster
from boundshift._app.fit import fit_table
from boundshift.curves import Empirical


def call(*words, code=(0, 3)):
    found = CliRunner().invoke(app, [*map(str, words)])
    assert found.exit_code in (code if isinstance(code, tuple) else (code,)), found.output
    return found


def visits(seed, n, most=8):
    """Return patients with up to `most` visits each, and an effect that is the patient's own."""
    rng = np.random.default_rng(seed)
    is_ill = rng.random(n) < 0.35
    own = 1.5 * rng.normal(size=n) + 1.2 * is_ill
    of = np.repeat(np.arange(n), rng.integers(1, most + 1, n))
    ids = rng.permutation(10 * n)[of] + 1000
    risk = own[of] + 0.5 * rng.normal(size=len(of))
    return pd.DataFrame({"PatientID": ids, "risk": risk, "ill": is_ill[of].astype(int)})


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return a table of visits, where it is, and the folder that was fitted on it."""
    frame = visits(0, 150)
    place = tmp_path_factory.mktemp("rows")
    path = place / "rows.csv"
    folder = place / "ill"
    frame.to_csv(path, index=False)
    told = call("fit", path, "--model", "logistic", "--target", "ill", "--out", folder)
    return frame, path, folder, told


def says(found, words):
    return any(words in note for note in found.notes)


def test_new_patients_keep_the_bounds_of_a_fit():
    """Rates over patients of a large second sample, by pandas; 5% of 16 bounds may be broken."""
    new = visits(99, 20_000)
    broken = 0
    for seed in range(8):
        found = fit_table(visits(seed, 150), "ill", seed=seed)
        assert found.certificate.certified
        assert found.columns.features == ["risk"]
        flagged = found.model.positive_scores(new[["risk"]]) > found.boundary.threshold
        wrong = new.assign(wrong=flagged != (new.ill == 1)).groupby(["ill", "PatientID"]).wrong
        rates = wrong.mean().groupby("ill").mean()
        broken += int((rates.to_numpy() > found.certificate.error_bounds).sum())
    assert broken <= 2


def test_no_patient_is_on_both_sides(rows):
    frame = rows[0]
    found = fit_table(frame, "ill")
    ids = np.asarray(found.details.cluster)  # the first row of each row's patient
    judged = set(frame.PatientID.iloc[ids])
    assert len(ids) == frame.PatientID.isin(judged).sum()
    assert found.certificate.n_clusters is not None
    assert found.certificate == certify(*found.judged, found.boundary, cluster=ids)
    assert found.interval is None
    assert len(found.model.deciding_sample_.rows) + len(ids) == len(frame)


def test_what_fit_says_and_keeps(rows):
    frame, path, folder, told = rows
    n = frame.PatientID.nunique()
    assert f"'PatientID' repeats ({len(frame)} rows of {n})" in told.stderr
    stored = json.loads((folder / "certificate.json").read_text())
    assert "rates are averages over them" in stored["reason"]
    listed = call("predict", folder, path, "--top", 5).stdout.splitlines()
    assert listed[0].split(",")[0] == "PatientID"


@pytest.mark.parametrize("title", ["PatientID", "Nachname", "Kürzel", "Belegnr"])
def test_what_may_name_people_keeps_its_rows_together(rows, title):
    frame = rows[0].rename(columns={"PatientID": title})
    frame[title] = "P" + frame[title].astype(str)
    found = fit_table(frame, "ill")
    reasons = {"PatientID": {title: Reason.REPEATS}, "Nachname": {title: Reason.NAMES}}
    assert found.columns.left_out == reasons.get(title, {})
    assert found.prepared.cluster == title
    assert found.certificate.n_clusters is not None
    assert says(found, "as IDs of people or things do") == (title != "PatientID")
    assert says(found, "--cluster none")
    assert not says(fit_table(frame, "ill", cluster=title), "--cluster none")
    alone = fit_table(frame, "ill", cluster="none")
    assert alone.certificate.n_clusters is None
    assert says(alone, f"Rows of one '{title}' are taken as independent")


def test_rows_without_an_id_are_left_out(rows):
    frame = rows[0].astype({"PatientID": object})
    frame.loc[::9, "PatientID"] = np.nan
    found = fit_table(frame, "ill")
    lacking = int(frame["PatientID"].isna().sum())
    assert says(found, f"Rows without 'PatientID' may be of anyone and are left out: {lacking}.")
    assert not says(found, "without a value of 'ill'")
    used = found.model.fingerprint_.n_samples + len(found.judged[0])
    assert used == len(frame) - lacking


def test_floors_of_patients_are_promised_or_estimates():
    frame = visits(1, 400)
    promised = fit_table(frame, "ill", rule=Floors(recall=0.8))
    assert promised.boundary.curve.name == "betting"
    assert promised.certificate.n_clusters is not None
    capped = fit_table(frame, "ill", rule=Floors(precision=0.5))
    assert capped.boundary.curve == Empirical()
    assert says(capped, "estimated, not guaranteed")


def test_too_few_patients_are_refused():
    few = visits(2, 12, most=40)
    with pytest.raises(InvalidInputError, match=r"at least 10 different 'PatientID'.*cluster none"):
        fit_table(few, "ill")
    with pytest.raises(InvalidInputError, match="'clinic'"):
        fit_table(few, "ill", cluster="clinic")


N = 400
FEW = np.arange(N) % 26
MANY = np.arange(N) // 4
TEXT = [f"p{i % 90}" for i in range(N)]
IDS = ["PatientID", "PatientenNr", "patient_id", "patientid", "Fallnummer", "id_paciente", "MRN"]
IDS += ["Numéro patient", "patient_nbr", "Kundenkennung", "device_id", "customer", "Pat-Nr."]
IDS += ["PatNr", "Pat", "PID", "KVNR", "Versichertennummer", "NHS_number", "Medical record number"]
IDS += ["Patient-Nr. (KIS)", "Teilnehmernr", "KdNr", "Kontonummer", "no_patient", "idpatient"]


def beside(**columns):
    """Return a table with these columns, and what is made of them."""
    frame = pd.DataFrame(columns | {"age": np.arange(N) % 7, "ill": np.arange(N) % 2})
    return frame, choose_columns(frame, "ill")


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("ids", [MANY, TEXT])
def test_ids_that_repeat_are_found_by_their_names(name, ids):
    frame, columns = beside(**{name: ids})
    assert columns.left_out == {name: Reason.REPEATS}
    assert find_cluster(frame, columns) == (name, True)


@pytest.mark.parametrize("name", ["admission_type_id", "customer", "visit_number", "paid", "grid"])
def test_codes_of_categories_and_counts_are_no_ids(name):
    _, columns = beside(**{name: FEW})
    assert columns.left_out == {}
    assert columns[name].is_number == (name != "admission_type_id")


def test_of_several_ids_the_coarsest_of_a_person_counts():
    ids = {"patient_id": MANY, "case_id": np.arange(N) // 2, "site_id": MANY // 3}
    assert find_cluster(*beside(**ids)) == ("patient_id", True)


def test_a_zone_of_patients(rows):
    frame, path, *_ = rows
    how = ("--score", "risk", "--label", "ill", "--cluster", "PatientID")
    stored = json.loads(call("threshold", path, *how, "--zone", "0.3,0.3", "--json").stdout)
    expected = find_zone(frame.ill, frame.risk, 0.3, cluster=frame.PatientID)
    assert (stored["low"], stored["high"]) == pytest.approx((expected.low, expected.high))
    assert stored["n_clusters"] == list(expected.n_clusters)


def test_a_floor_of_patients_is_guaranteed_without_python(rows):
    frame, path, *_ = rows
    asked = ("threshold", path, "--score", "risk", "--label", "ill", "--cluster", "PatientID")
    rule = Floors(recall=0.6)
    expected = find_boundary(frame.ill, frame.risk, rule=rule, cluster=frame.PatientID)
    assert expected.guaranteed
    stored = json.loads(call(*asked, "--recall-floor", "0.6", "--json", code=0).stdout)
    assert (stored["threshold"], stored["is_met"]) == (expected.threshold, True)
    assert stored["certificate"]["status"] == "nominal"
    shown = call(*asked, "--recall-floor", "0.6").stdout
    assert "their share, averaged over ids" in shown
    answer = call(*asked, code=3).stdout
    assert "certify it on rows of other ids" in answer
    assert "averaged over ids" not in answer


def test_a_folder_certified_and_watched_by_patients(rows, tmp_path):
    folder = rows[2]
    rest = visits(5, 80)
    later = tmp_path / "later.csv"
    rest.to_csv(later, index=False)
    model = load(folder / "model.skops")
    scores = model.positive_scores(rest[["risk"]])
    expected = certify(rest.ill, scores, model.boundary_.threshold, cluster=rest.PatientID)
    stored = json.loads(call("certify", folder, later, "--json").stdout)
    assert stored["error_bounds"] == pytest.approx(expected.error_bounds)
    alone = json.loads(call("certify", folder, later, "--cluster", "none", "--json").stdout)
    assert alone["n_clusters"] is None
    when = call("monitor", folder, later, "--when", "PatientID", code=1)
    assert "--when must go without clusters, but rows are counted by 'PatientID'" in when.output
    call("monitor", folder, later)
    state = Monitor.from_json((folder / "monitor.json").read_bytes())
    assert state.n_samples == expected.n_samples


def test_a_folder_without_clusters_certifies_nothing_on_repeating_ids(tmp_path):
    path = tmp_path / "rows.csv"
    later = tmp_path / "later.csv"
    folder = tmp_path / "ill"
    visits(0, 150).drop(columns="PatientID").to_csv(path, index=False)
    visits(5, 80).to_csv(later, index=False)
    call("fit", path, "--model", "logistic", "--target", "ill", "--out", folder)
    found = call("certify", folder, later)
    assert "'PatientID' repeats" in found.stderr
    assert "Nominal: Rows of one 'PatientID' may be alike" in found.stdout
    assert "may be alike" not in found.stderr
    assert "confidence" not in found.stdout
    assert "Certified" in call("certify", folder, later, "--cluster", "none").stdout
