"""Four people with a messy table: what their report says first, recounted by a second program."""

import html
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from boundshift.app import app
from tests.stories.make_tables import write_tables
from tests.stories.recount import Judged, read_column


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("stories")
    write_tables(made)
    return made


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def invoke(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result

    return invoke


@pytest.fixture
def judge(run):
    """Fit a table by the command line and recount what its page must say."""

    def judged(name, target, positive, *options, separator=","):
        scores = f"{name}_scores.csv"
        said = run("fit", f"{name}.csv", "--target", target, *options, "--out", name).stdout
        run("predict", name, f"{name}.csv", "--out", scores)
        return Judged(f"{name}.csv", scores, name, target, positive, separator), said

    return judged


def first_words(folder, name):
    """Return what a page says first, without its badges."""
    page = (folder / name / "report.html").read_text(encoding="utf-8")
    words = page.split('class="sentence">', 1)[1].split("</p>", 1)[0]
    words = re.sub(r'<span class="badge.*?</span>', "", words)
    return " ".join(html.unescape(re.sub("<.*?>", "", words)).split())


def left_out(folder, name):
    page = (folder / name / "report.html").read_text(encoding="utf-8")
    return re.findall(r'class="left-out"><th scope="row">(.*?)</th>', page)


def test_fraud_with_amounts_and_ids(judge, folder):
    names = ["--positive-name", "frauds", "--unit", "payments"]
    judged, _ = judge("fraud", "fraud", "1", *names)
    assert first_words(folder, "fraud") == judged.verdict("frauds", "payments")
    assert left_out(folder, "fraud") == ["payment_id", "currency"]
    ids = read_column("fraud_scores.csv", "payment_id")
    assert ids.tolist() == read_column("fraud.csv", "payment_id").tolist()


def test_churn_with_dates_and_decimal_commas(judge, folder):
    names = ["--positive-name", "churners", "--unit", "customers"]
    options = ["--positive", "gone", "--costs", "1,15"]
    judged, said = judge("churn", "state", "gone", *options, *names, separator=";")
    expected = judged.cost_goal(1, 15)
    assert first_words(folder, "churn").startswith(expected)
    assert expected in " ".join(said.split())
    assert {"customer no", "since"} <= set(left_out(folder, "churn"))


def test_screening_at_half_a_percent_with_a_recall_floor(judge, folder):
    names = ["--positive-name", "ill", "--negative-name", "healthy", "--unit", "patients"]
    options = ["--positive", "yes", "--recall-floor", "0.6", "--by", "sex"]
    judged, _ = judge("screening", "ill", "yes", *options, *names)
    assert first_words(folder, "screening") == judged.recall_goal(0.6, "ill patients")
    page = (folder / "screening" / "report.html").read_text(encoding="utf-8")
    assert "Most alarms are false" in page
    assert 'aria-label="Groups by sex"' in page


def test_a_call_list_of_fifty_a_week(run, judge, folder):
    names = ["--positive-name", "donors who give", "--unit", "donors"]
    judged, _ = judge("calls", "gives", "True", *names)
    assert first_words(folder, "calls") == judged.verdict("donors who give", "donors")
    run("predict", "calls", "next_week.csv", "--top", "50", "--out", "call.csv")
    run("predict", "calls", "next_week.csv", "--out", "week.csv")
    scores = read_column("week.csv", "score").astype(float)
    ids = read_column("week.csv", "donor_id")
    assert read_column("call.csv", "donor_id").tolist() == ids[np.argsort(-scores)[:50]].tolist()


def test_the_threshold_of_a_report_predicts_what_it_says(run, folder):
    run("fit", "calls.csv", "--target", "gives", "--out", "again")
    run("predict", "again", "calls.csv", "--out", "all.csv")
    judged = Judged("calls.csv", "all.csv", "again", "gives", "True")
    run("predict", "again", "calls.csv", "--threshold", judged.threshold, "--out", "same.csv")
    made, same = (read_column(name, "prediction").tolist() for name in ("all.csv", "same.csv"))
    assert made == same
