"""The monitor of a deployed model, from call to call."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from typer.testing import CliRunner

from boundshift import InvalidInputError, Monitor, certify
from boundshift._app import app
from boundshift._app.watch import read_dates


def call(*words):
    return CliRunner().invoke(app, ["monitor", *map(str, words)])


@pytest.fixture
def place(tmp_path):
    certificate = certify(
        ["no"] * 90 + ["yes"] * 60, [0.1] * 90 + [0.9] * 57 + [0.2] * 3, 0.5, pos_label="yes"
    )
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate.to_dict()))
    return path


def write(path, rate, n=100, seed=0, day="2026-03-01"):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.5
    wrong = rng.random(n) < np.where(ill, rate, 0.01)
    frame = pd.DataFrame({"risk": np.where(ill != wrong, 0.9, 0.1), "ill": ill, "day": day})
    frame["ill"] = np.where(ill, "yes", "no")
    frame.to_csv(path, index=False)
    return frame


COLUMNS = ("--score", "risk", "--label", "ill", "--when", "day")


def test_goes_on_where_the_last_call_ended(place, tmp_path):
    first = write(tmp_path / "march.csv", 0.03)
    second = write(tmp_path / "april.csv", 0.6, seed=1, day="2026-04-01")
    kept = call(place, tmp_path / "march.csv", *COLUMNS, "--exit-code")
    assert kept.exit_code == 0, kept.output
    assert "No alarm yet in 100 rows." in kept.output
    broken = call(place, tmp_path / "april.csv", *COLUMNS)
    assert broken.exit_code == 0
    assert "Class yes exceeds its stated error rate" in broken.output
    both = pd.concat([first, second])
    state = Monitor.from_json((tmp_path / "monitor.json").read_bytes())
    assert state == Monitor(state.certificate).update(both["ill"], both["risk"], both["day"])
    assert state.alarm.since == "2026-04-01"


def test_a_file_is_counted_once(place, tmp_path):
    write(tmp_path / "rows.csv", 0.03)
    call(place, tmp_path / "rows.csv", *COLUMNS)
    again = call(place, tmp_path / "rows.csv", *COLUMNS)
    assert "counted before" in again.output
    assert sum(Monitor.from_json((tmp_path / "monitor.json").read_bytes()).n_samples) == 100


def test_a_call_beside_another_says_so_and_counts_nothing(place, tmp_path, monkeypatch):
    write(tmp_path / "rows.csv", 0.03)
    state = tmp_path / "monitor.json"
    monkeypatch.setattr(Monitor, "update", lambda *rows, **how: state.write_text("meanwhile"))
    said = call(place, tmp_path / "rows.csv", "--score", "risk", "--label", "ill")
    assert said.exit_code == 1
    assert "One call at a time" in said.output
    assert state.read_text() == "meanwhile"


def test_json_and_the_exit_code(place, tmp_path):
    write(tmp_path / "rows.csv", 0.7)
    done = call(place, tmp_path / "rows.csv", *COLUMNS, "--json", "--exit-code")
    assert done.exit_code == 3
    facts = json.loads(done.stdout)
    assert facts["kept"] is False
    assert facts["alarms"][0]["label"] == "yes"
    assert facts["classes"][1]["n_samples"] + facts["classes"][0]["n_samples"] == 100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--score", "risk"), "--label"),
        (("--label", "ill"), "--score"),
        (("--score", "risk", "--label", "day"), "must occur in column"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_counted(place, tmp_path, words, said):
    write(tmp_path / "rows.csv", 0.03)
    call(place, tmp_path / "rows.csv", *COLUMNS)
    before = (tmp_path / "monitor.json").read_bytes()
    write(tmp_path / "more.csv", 0.03, seed=5)
    wrong = call(place, tmp_path / "more.csv", *words)
    assert wrong.exit_code == 1
    assert said in wrong.output
    assert (tmp_path / "monitor.json").read_bytes() == before


def test_another_certificate_does_not_go_on_with_the_state(place, tmp_path):
    write(tmp_path / "rows.csv", 0.03)
    call(place, tmp_path / "rows.csv", *COLUMNS)
    other = json.loads(place.read_text()) | {"threshold": 0.7}
    place.write_text(json.dumps(other))
    write(tmp_path / "more.csv", 0.03, seed=5)
    wrong = call(place, tmp_path / "more.csv", *COLUMNS)
    assert wrong.exit_code == 1
    assert "watches another" in wrong.output


def test_a_fitted_folder_scores_the_rows_itself(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    frame["ill"] = np.where(rng.random(600) < 1 / (1 + np.exp(1 - 3 * frame["a"])), "yes", "no")
    frame[:400].to_csv(tmp_path / "train.csv", index=False)
    frame[400:].to_csv(tmp_path / "later.csv", index=False)
    fit = ["fit", str(tmp_path / "train.csv"), "--target", "ill", "--positive", "yes"]
    done = CliRunner().invoke(app, [*fit, "--out", str(tmp_path / "fit")])
    assert done.exit_code == 0, done.output
    kept = call(tmp_path / "fit", tmp_path / "later.csv")
    assert kept.exit_code == 0, kept.output
    state = Monitor.from_json((tmp_path / "fit" / "monitor.json").read_bytes())
    assert state.n_samples == (
        int((frame["ill"][400:] == "no").sum()),
        int((frame["ill"][400:] == "yes").sum()),
    )
    out = tmp_path / "predictions.csv"
    words = ["predict", str(tmp_path / "fit"), str(tmp_path / "later.csv"), "--out", str(out)]
    CliRunner().invoke(app, words)
    wrong = pd.read_csv(out)["prediction"].to_numpy() != frame["ill"][400:].to_numpy()
    assert sum(state.wrong) == int(wrong.sum())
    check_certificate(tmp_path, frame["ill"][400:].to_numpy(), wrong)


def check_certificate(tmp_path, ill, wrong):
    """Compare `certify` with SciPy's beta quantiles; rows of training certify nothing."""
    said = CliRunner().invoke(
        app, ["certify", str(tmp_path / "fit"), str(tmp_path / "later.csv"), "--json"]
    )
    found = json.loads(said.stdout)
    for place, label in enumerate(("no", "yes")):
        k, n = int(wrong[ill == label].sum()), int((ill == label).sum())
        assert (found["wrong"][place], found["n_samples"][place]) == (k, n)
        assert found["error_bounds"][place] == pytest.approx(beta.isf(0.05, k + 1, n - k))
    assert found["status"] == "certified"
    later = pd.read_csv(tmp_path / "later.csv")
    later[later["ill"] == "no"].to_csv(tmp_path / "well.csv", index=False)
    one = CliRunner().invoke(app, ["certify", str(tmp_path / "fit"), str(tmp_path / "well.csv")])
    assert one.exit_code == 0, one.output
    assert "There are no rows of class yes." in one.stdout
    k, n = int(wrong[ill == "no"].sum()), int((ill == "no").sum())
    bound = np.ceil(1000 * beta.isf(0.05, k + 1, n - k)) / 10
    said = (
        f"the model flags {k} ({100 * k / n:.1f}%), in the long run at most {bound:.1f}% with 95%"
    )
    assert said in " ".join(one.stdout.split())
    again = ["certify", str(tmp_path / "fit"), str(tmp_path / "train.csv")]
    told = CliRunner().invoke(app, again).stdout
    assert "Nominal: 280 of these 400 rows were used in fit" in " ".join(told.split())


def test_a_line_a_month_in_the_order_of_dates(place, tmp_path):
    frame = write(tmp_path / "q.csv", 0.2, n=300)
    day = np.datetime64("2026-01-01") + np.random.default_rng(3).integers(0, 90, 300)
    frame["day"] = [f"{d[8:]}.{d[5:7]}.{d[:4]}" for d in day.astype(str)]
    frame.to_csv(tmp_path / "q.csv", index=False)
    done = call(place, tmp_path / "q.csv", *COLUMNS)
    month = day.astype("datetime64[M]").astype(str)
    ill, flagged = (frame["ill"] == "yes").to_numpy(), (frame["risk"] > 0.5).to_numpy()
    for name in ("2026-01", "2026-02", "2026-03"):
        here = month == name
        missed, alarms = int((here & ill & ~flagged).sum()), int((here & ~ill & flagged).sum())
        expected = f"{name} {missed} of {(here & ill).sum()} {alarms} of {(here & ~ill).sum()} "
        assert expected in " ".join(done.stdout.split())
    state = Monitor.from_json((tmp_path / "monitor.json").read_bytes())
    order = np.argsort(day, kind="stable")
    sorted_rows = frame.iloc[order]
    dates = day[order].astype(str)
    assert state == Monitor(state.certificate).update(
        sorted_rows["ill"], sorted_rows["risk"], dates
    )
    write(tmp_path / "late.csv", 0.03, seed=4, day="2026-02-03")
    late = " ".join(call(place, tmp_path / "late.csv", *COLUMNS).output.split())
    assert "Rows of 2026-02 come after rows of 2026-03 were counted" in late


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["2026-03-01", "2026-03-31 10:30:00"], "2026-03-01"),
        (["01.03.2026", "31.3.2026"], "2026-03-01"),
    ],
)
def test_dates_are_read_as_they_are_written(texts, first):
    assert str(read_dates(pd.Series(texts, name="day"))[0]) == first


@pytest.mark.parametrize("text", ["1/3/2026", "01.03.2026", "soon", "nan"])
def test_dates_that_may_mean_another_day_are_refused(text):
    with pytest.raises(InvalidInputError, match=f"2026-03-31.*got '{text}' in column 'day'"):
        read_dates(pd.Series(["2026-03-01", "2026-03-02", text], name="day"))
