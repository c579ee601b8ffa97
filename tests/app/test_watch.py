"""The monitor of a deployed model, from call to call, and its certificate on other rows."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from boundshift import InvalidInputError, Monitor, certify
from boundshift._app.watch import read_dates, watch_table
from boundshift._writing import lock_file

COLUMNS = ("--score", "risk", "--label", "ill")
DATED = (*COLUMNS, "--when", "day")


@pytest.fixture
def certificate(tmp_path):
    """Write a certificate."""
    found = certify(
        ["no"] * 90 + ["yes"] * 60, [0.1] * 90 + [0.9] * 57 + [0.2] * 3, 0.5, pos_label="yes"
    )
    (tmp_path / "certificate.json").write_text(found.to_json())


@pytest.fixture
def count(run, certificate):
    """Count a file beside a certificate, and return all that is printed."""

    def counted(file, *options, code=(0, 3)):
        said = run("monitor", "certificate.json", file, *options, code=code)
        return " ".join(said.output.split())

    return counted


def write(path, rate, n=100, seed=0, day="2026-03-01"):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.5
    wrong = rng.random(n) < np.where(ill, rate, 0.01)
    frame = pd.DataFrame({"risk": np.where(ill != wrong, 0.9, 0.1), "day": day})
    frame["ill"] = np.where(ill, "yes", "no")
    frame.to_csv(path, index=False)
    return frame


def test_goes_on_where_the_last_call_ended_and_counts_a_file_once(count, tmp_path):
    first = write(tmp_path / "march.csv", 0.03)
    second = write(tmp_path / "april.csv", 0.6, seed=1, day="2026-04-01")
    assert "No alarm yet in 100 rows." in count("march.csv", *DATED)
    assert "counted before" in count("march.csv", *DATED)
    assert "Alarm for class yes" in count("april.csv", *DATED)
    both = pd.concat([first, second])
    state = Monitor.from_json((tmp_path / "monitor.json").read_text())
    assert state == Monitor(state.certificate).update(both["ill"], both["risk"], both["day"])
    assert state.alarm.since == "2026-04-01"


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
def test_calls_at_once_wait_for_each_other_and_all_are_counted(tmp_path, certificate):
    processes = 4
    rounds = 8
    n = 3
    for number in range(processes):
        for round_number in range(rounds):
            place = tmp_path / f"rows-{number}-{round_number}.csv"
            scores = np.random.default_rng([number, round_number]).random(n)
            pd.DataFrame({"risk": scores, "ill": ["yes", "no", "no"]}).to_csv(place, index=False)
    script = Path(__file__).with_name("count_together.py")
    words = [sys.executable, script, tmp_path, str(processes), str(rounds)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    state = Monitor.from_json((tmp_path / "monitor.json").read_bytes())
    assert state.rows == processes * rounds * n
    assert not (tmp_path / "monitor.json.lock").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the lock is held by another thread")
def test_a_call_that_waits_says_so(count, tmp_path):
    write(tmp_path / "rows.csv", 0.03)
    waits = Event()
    files = tmp_path / "certificate.json", tmp_path / "rows.csv"
    with ThreadPoolExecutor() as pool, lock_file(tmp_path / "monitor.json"):
        call = pool.submit(watch_table, *files, score="risk", label="ill", on_wait=waits.set)
        assert waits.wait(20)
        assert not (tmp_path / "monitor.json").exists()
    assert call.result().monitor.rows == 100


DAMAGES = {
    "empty": lambda text: "",
    "no fields": lambda text: "{}",
    "null": lambda text: "null",
    "a list": lambda text: "[]",
    "half a file": lambda text: text[: len(text) // 2],
    "evidence that is none": lambda text: re.sub(
        r'"log_ratios": \[[^\]]*', '"log_ratios": ["NaN"', text
    ),
    "fewer rows": lambda text: re.sub(r'"rows": \d+', '"rows": 3', text),
    "files that are a number": lambda text: re.sub(r'"files": \[[^\]]*\]', '"files": 3', text),
    "hashes that are none": lambda text: re.sub(r'"contents": "[^"]*', '"contents": "A', text),
    "a file that is a number": lambda text: changed(text, files=[3]),
    "months without counts": lambda text: changed(text, months={"2026-03": {}}),
    "too few counts": lambda text: changed(text, months={"2026-03": month(n_samples=[1])}),
    "wrong rows below zero": lambda text: changed(text, months={"2026-03": month(wrong=[0, -2])}),
}


def changed(text, **fields):
    return json.dumps(json.loads(text) | fields)


def month(**fields):
    return {"n_samples": [1, 1], "wrong": [0, 0], "e_values": [1.0, 1.0]} | fields


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_state_is_no_fresh_start(count, tmp_path, name):
    write(tmp_path / "rows.csv", 0.03)
    count("rows.csv", *DATED)
    state = tmp_path / "monitor.json"
    damaged = DAMAGES[name](state.read_text())
    assert damaged != state.read_text()
    state.write_text(damaged)
    write(tmp_path / "more.csv", 0.03, seed=5, day="2026-04-01")
    said = count("more.csv", *DATED, code=1)
    assert "Nothing was counted. Restore the file" in said
    assert state.read_text() == damaged
    assert not (tmp_path / "monitor.json.lock").exists()


class TestRepeatedRows:
    """Cumulative files: each row is counted once, whatever the order and the columns."""

    @pytest.fixture(params=["fine scores", "coarse scores", "ids"])
    def months(self, request):
        """Return three months of rows, by how rows can be recognised."""
        rng = np.random.default_rng(7)
        ill = np.where(rng.random(600) < 0.4, "yes", "no")
        risk = rng.random(600).round(1 if request.param == "coarse scores" else 6)
        frame = pd.DataFrame({"risk": risk, "ill": ill})
        frame["day"] = np.repeat(["2026-03-02", "2026-04-03", "2026-05-04"], 200)
        if request.param == "ids":
            frame["claim_id"] = [f"C{number}" for number in rng.permutation(600)]
            frame["risk"] = frame["risk"].round(1)
        return [frame[:200], frame[200:400], frame[400:]]

    @pytest.mark.parametrize("columns", [COLUMNS, DATED], ids=["undated", "dated"])
    @pytest.mark.parametrize("order", ["appended", "newest first"])
    def test_a_cumulative_file_counts_its_new_rows_only(
        self, count, tmp_path, months, columns, order
    ):
        for n in (1, 2, 3):
            parts = months[:n] if order == "appended" else months[:n][::-1]
            pd.concat(parts).to_csv(tmp_path / f"{n}.csv", index=False)
            said = count(f"{n}.csv", *columns)
            state = Monitor.from_json((tmp_path / "monitor.json").read_text())
            assert state.rows == 200 * n
            before = f"{200 * (n - 1)} of {200 * n} rows in '{n}.csv' were counted before"
            assert (before in said) == (n > 1)

    @pytest.mark.parametrize("columns", [COLUMNS, DATED], ids=["undated", "dated"])
    def test_other_rows_are_all_counted(self, count, tmp_path, months, columns):
        for n, month in enumerate(months):
            month.to_csv(tmp_path / f"{n}.csv", index=False)
            assert "counted before" not in count(f"{n}.csv", *columns)
        assert Monitor.from_json((tmp_path / "monitor.json").read_text()).rows == 600

    def test_changed_rows_are_named_and_stay_as_they_were_counted(self, count, tmp_path):
        frame = write(tmp_path / "march.csv", 0.03)
        frame["claim_id"] = [f"C{number}" for number in range(100)]
        frame.to_csv(tmp_path / "march.csv", index=False)
        count("march.csv", *DATED)
        frame.loc[:1, "risk"] = [0.5, 0.4]
        later = frame.assign(day="2026-04-01", claim_id=[f"D{number}" for number in range(100)])
        pd.concat([frame, later]).to_csv(tmp_path / "april.csv", index=False)
        said = count("april.csv", *DATED)
        assert "100 of 200 rows in 'april.csv' were counted before" in said
        assert "recognised by 'claim_id'" in said
        assert "2 of these 100 came with another score or label than when counted" in said
        state = Monitor.from_json((tmp_path / "monitor.json").read_text())
        assert state.rows == 200

    def test_ids_that_begin_anew_in_every_file_name_no_rows(self, count, tmp_path):
        rng = np.random.default_rng(0)
        for n in range(2):
            ill = np.where(rng.random(300) < 0.4, "yes", "no")
            frame = pd.DataFrame({"row_id": np.arange(300), "risk": rng.random(300), "ill": ill})
            frame.to_csv(tmp_path / f"{n}.csv", index=False)
            assert "counted before" not in count(f"{n}.csv", *COLUMNS)
        assert Monitor.from_json((tmp_path / "monitor.json").read_text()).rows == 600

    def test_a_file_without_the_column_of_ids_is_refused(self, count, tmp_path):
        frame = write(tmp_path / "march.csv", 0.03)
        frame.assign(claim_id=np.arange(100)).to_csv(tmp_path / "march.csv", index=False)
        count("march.csv", *COLUMNS)
        write(tmp_path / "april.csv", 0.03, seed=3)
        assert "must have the column 'claim_id'" in count("april.csv", *COLUMNS, code=1)

    def test_other_columns_than_before_are_refused(self, count, tmp_path):
        write(tmp_path / "march.csv", 0.03)
        count("march.csv", *COLUMNS)
        write(tmp_path / "april.csv", 0.03, seed=3)
        said = count("april.csv", *DATED, code=1)
        assert "recognised by 'risk', 'ill', got 'risk', 'ill', 'day'" in said

    def test_a_cluster_counts_once_and_other_rows_of_it_are_named(self, run, tmp_path):
        y = np.repeat(["no", "yes"], 200)
        s = np.where(y == "yes", 0.9, 0.1)
        s[::13] = 1 - s[::13]
        patient = np.arange(400) // 2
        certificate = certify(y, s, 0.5, pos_label="yes", cluster=patient)
        (tmp_path / "certificate.json").write_text(certificate.to_json())
        words = ("monitor", "certificate.json")
        options = (*COLUMNS, "--cluster", "patient")
        frame = pd.DataFrame({"risk": s, "ill": y, "patient": patient})
        frame[:300].to_csv(tmp_path / "a.csv", index=False)
        frame.drop(index=0).to_csv(tmp_path / "b.csv", index=False)
        run(*words, "a.csv", *options)
        said = " ".join(run(*words, "b.csv", *options).output.split())
        assert "150 of 200 ids of 'patient' in 'b.csv' were counted before" in said
        assert "1 of these 150 came with more or other rows than when counted" in said
        state = Monitor.from_json((tmp_path / "monitor.json").read_text())
        assert state.rows == 400


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--score", "risk"), "--label"),
        (("--label", "ill"), "--score"),
        (("--score", "risk", "--label", "day"), "must occur in column"),
        ((*COLUMNS, "--when", "ill"), "Dates must be written"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_counted(count, tmp_path, words, said):
    write(tmp_path / "rows.csv", 0.03)
    count("rows.csv", *COLUMNS)
    before = (tmp_path / "monitor.json").read_bytes()
    write(tmp_path / "more.csv", 0.03, seed=5)
    assert said in count("more.csv", *words, code=1)
    assert (tmp_path / "monitor.json").read_bytes() == before


def test_another_certificate_does_not_go_on_with_the_state(count, tmp_path):
    write(tmp_path / "rows.csv", 0.03)
    count("rows.csv", *COLUMNS)
    place = tmp_path / "certificate.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"threshold": 0.7}))
    write(tmp_path / "more.csv", 0.03, seed=5)
    assert "watches another" in count("more.csv", *COLUMNS, code=1)


def test_a_fitted_folder_scores_and_certifies_rows_itself(run, tmp_path):
    """Compare with the predictions, and with SciPy's beta quantiles."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    frame["ill"] = np.where(rng.random(600) < 1 / (1 + np.exp(1 - 3 * frame["a"])), "yes", "no")
    later = frame[400:]
    well = frame[400:][frame["ill"][400:] == "no"]
    for name, rows in (("train", frame[:400]), ("later", later), ("well", well)):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    run(
        *[
            "fit",
            "train.csv",
            "--model",
            "logistic",
            "--target",
            "ill",
            "--positive",
            "yes",
            "--out",
            "fit",
        ]
    )
    run("predict", "fit", "later.csv", "--out", "p.csv")
    ill = later["ill"].to_numpy()
    wrong = pd.read_csv(tmp_path / "p.csv")["prediction"].to_numpy() != ill
    counts = [
        (int(wrong[ill == label].sum()), int((ill == label).sum())) for label in ("no", "yes")
    ]
    bounds = [beta.isf(0.05, k + 1, n - k) for k, n in counts]

    found = json.loads(run("certify", "fit", "later.csv", "--json").stdout)
    assert list(zip(found["wrong"], found["n_samples"], strict=True)) == counts
    assert found["error_bounds"] == pytest.approx(bounds)
    assert found["status"] == "certified"
    one = " ".join(run("certify", "fit", "well.csv").stdout.split())
    assert "There are no rows of class yes." in one
    k, n = counts[0]
    said = f"the model flags {k} ({100 * k / n:.1f}%), in the long run at most "
    assert f"{said}{np.ceil(1000 * bounds[0]) / 10:.1f}% with 95%" in one
    again = " ".join(run("certify", "fit", "train.csv").output.split())
    assert "Nominal: 280 of these 400 rows were used in fit" in again
    assert again.count("280 of these") == 1

    assert "A monitor is for later rows" not in run("monitor", "fit", "later.csv").output
    state = Monitor.from_json((tmp_path / "fit" / "monitor.json").read_text())
    assert list(zip(state.wrong, state.n_samples, strict=True)) == counts

    (tmp_path / "fit" / "monitor.json").unlink()
    assert "Some rows of 'train.csv' trained" in run("monitor", "fit", "train.csv").output
    (tmp_path / "fit" / "monitor.json").unlink()
    place = tmp_path / "fit" / "certificate.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"threshold": 0.123}))
    refused = " ".join(run("monitor", "fit", "later.csv", code=1).output.split())
    assert "must have the threshold and the labels of model.skops" in refused


def test_rows_that_chose_the_threshold_are_named(run, scores, score_lines, tmp_path):
    found = run("threshold", scores, *COLUMNS, "--positive", "yes", "--json")
    (tmp_path / "t.json").write_text(found.stdout)
    rng = np.random.default_rng(1)
    later = [
        f"{rng.normal() + 2.5 * ill},{('no', 'yes')[ill]}" for ill in (0, 1) for _ in range(99)
    ]
    (tmp_path / "later.csv").write_text("\n".join(["risk,ill", *later]))
    (tmp_path / "all.csv").write_text("\n".join([*score_lines, *later]))
    notes = json.loads(run("monitor", "t.json", "later.csv", *COLUMNS, "--json").stdout)["notes"]
    assert notes == []
    notes = json.loads(run("monitor", "t.json", "all.csv", *COLUMNS, "--json").stdout)["notes"]
    assert "Some rows of 'all.csv' trained the model or chose the threshold." in notes[0]


def test_a_line_a_month_in_the_order_of_dates(count, tmp_path):
    frame = write(tmp_path / "q.csv", 0.2, n=300)
    day = np.datetime64("2026-01-01") + np.random.default_rng(3).integers(0, 90, 300)
    frame["day"] = [f"{d[8:]}.{d[5:7]}.{d[:4]}" for d in day.astype(str)]
    frame.to_csv(tmp_path / "q.csv", index=False)
    said = count("q.csv", *DATED)
    month = day.astype("datetime64[M]").astype(str)
    ill = (frame["ill"] == "yes").to_numpy()
    flagged = (frame["risk"] > 0.5).to_numpy()
    for name in ("2026-01", "2026-02", "2026-03"):
        here = month == name
        missed = int((here & ill & ~flagged).sum())
        alarms = int((here & ~ill & flagged).sum())
        assert f"{name} {missed} of {(here & ill).sum()} {alarms} of {(here & ~ill).sum()} " in said
    state = Monitor.from_json((tmp_path / "monitor.json").read_text())
    order = np.argsort(day, kind="stable")
    rows = frame.iloc[order]
    dates = day[order].astype(str)
    assert state == Monitor(state.certificate).update(rows["ill"], rows["risk"], dates)
    write(tmp_path / "late.csv", 0.03, seed=4, day="2026-02-03")
    assert "Rows of 2026-02 come after rows of 2026-03 were counted" in count("late.csv", *DATED)


@pytest.mark.parametrize(
    "texts", [["2026-03-01", "2026-03-31 10:30:00"], ["01.03.2026", "31.3.2026"]]
)
def test_dates_are_read_as_they_are_written(texts):
    assert read_dates(pd.Series(texts)).astype(str).tolist() == ["2026-03-01", "2026-03-31"]


@pytest.mark.parametrize("text", ["1/3/2026", "01.03.2026", "soon", "nan"])
def test_dates_that_may_mean_another_day_are_refused(text):
    with pytest.raises(InvalidInputError, match=f"2026-03-31.*got '{text}' in column 'day'"):
        read_dates(pd.Series(["2026-03-01", "2026-03-02", text], name="day"))
