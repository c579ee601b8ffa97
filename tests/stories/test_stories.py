"""Stories told from the command line: every figure of the page is recounted from the files."""

import re

import numpy as np
import pytest
from sklearn import metrics as sk
from typer.testing import CliRunner

import boundshift.report
from boundshift._app import app
from tests.stories.layout import layout_faults
from tests.stories.make_tables import write_stories
from tests.stories.recount import Judged, read_column, sheet_as_csv
from tests.stories.truth import contradictions, unexplained


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("stories")
    write_stories(made)
    return made


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def invoke(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code in (0, 3), result.output
        return result

    return invoke


@pytest.fixture
def judge(run, monkeypatch, browser, folder):
    """Fit a table, score its rows and recount them; check the page, and return what was printed."""
    gathered = []
    collect = boundshift.report.collect_facts

    def gather(*rows, **known):
        gathered.append(collect(*rows, **known))
        return gathered[-1]

    monkeypatch.setattr(boundshift.report, "collect_facts", gather)

    def judged(file, target, positive, *options, name, table=None, sheet=(), **known):
        options = options if "--model" in options else ("--model", "logistic", *options)
        said = run("fit", file, "--target", target, *options, *sheet, "--out", name)
        run("predict", name, file, *sheet, "--out", f"{name}_scores.csv")
        recount = Judged(table or file, f"{name}_scores.csv", name, target, positive, **known)
        check_facts(gathered[-1], recount)
        assert layout_faults(browser, folder / name / "report.html") == {}
        return recount, gathered[-1], " ".join(said.stdout.split()), " ".join(said.stderr.split())

    return judged


def check_facts(facts, recount):
    """Compare statements, tables and slider of a page with the recount."""
    second = recount.second
    assert contradictions(facts) == []
    assert unexplained(facts, second) == {}
    wrong = facts["stops"]["wrong"]
    for stop in range(0, len(wrong[0]), 25):
        threshold = facts["stops"]["threshold"][stop]
        assert (wrong[0][stop], wrong[1][stop]) == second.wrong(threshold)
    titles = [column["title"] for column in facts["comparison"]["columns"]]
    for row in facts["comparison"]["rows"]:
        cells = dict(zip(titles, row["values"], strict=True))
        flagged = second.s > cells["threshold"]
        assert cells["F1"] == pytest.approx(sk.f1_score(second.y, flagged))
        assert cells["recall"] == pytest.approx(sk.recall_score(second.y, flagged))
        if second.costs:
            cost = cells["cost of 1,000 decisions"]
            assert cost == pytest.approx(-second.value(cells["threshold"]))
    used = {column["name"]: column["missing"] for column in facts["columns"] if column["used"]}
    assert used == {name: recount.missing(name) for name in recount.features}


def test_a_german_export_of_windows_with_costs(judge):
    features = ["Gesprächsminuten", "Tarif", "Beschwerden"]
    recount, facts, said, told = judge(
        "kunden.csv", "Kündigung", "gekündigt", "--costs", "miss=15,alarm=1",
        "--positive-name", "Kündiger", "--case-name", "Kunden",
        name="kunden", separator=";", features=features, costs=(1, 15),
    )  # fmt: skip
    assert "kunden.csv is not UTF-8 text and is read as cp1252" in told
    assert f"{int(np.sum(~recount.known))} rows without a value of 'Kündigung' are left out" in told
    assert f"stay on its side of the split: {recount.copied:,}." in told
    left_out = {column["name"] for column in facts["columns"] if not column["used"]}
    assert {"Kundennr", "Kunde seit"} <= left_out
    for statement in (facts["goal"]["sentence"], *facts["verdict"]["sentences"]):
        assert statement in said


def test_an_excel_file_with_two_sheets_and_a_title(judge):
    refused = CliRunner().invoke(app, ["fit", "machines.xlsx", "--target", "state"])
    assert "Use --sheet with one of" in " ".join(refused.stderr.split())
    sheet_as_csv("machines.xlsx", "Inspections", 3, "machines.csv")
    ignored = "not inspected"
    recount, facts, _, told = judge(
        "machines.xlsx", "state", "broken", "--ignore", ignored, "--positive", "broken",
        name="machines", table="machines.csv", sheet=["--sheet", "Inspections"],
        features=["heat", "noise", "site"], ignore=[ignored],
    )  # fmt: skip
    assert "Row 3 of machines.xlsx is taken for the names of the columns" in told
    assert recount.copied > 300
    left = f"{int(np.sum(~recount.known))} rows with the label 'not inspected' are left out"
    assert left in told
    assert facts["names"]["positives"] == "rows with state = broken"


def test_a_call_list_with_names(run, judge):
    judge(
        "donors.csv", "gives", "True", "--capacity", "50/600", name="donors",
        features=["last_gift", "years", "channel"], floors={"flagged": 50 / 600},
    )  # fmt: skip
    call = run("predict", "donors", "next_week.csv", "--top", "50", "--out", "call.csv")
    assert "50 rows, 50 of them flagged as True, written to call.csv." in call.stderr
    run("predict", "donors", "next_week.csv", "--out", "week.csv")
    scores = read_column("week.csv", "score").astype(float)
    best = read_column("next_week.csv", "name")[np.argsort(-scores, kind="stable")[:50]]
    assert read_column("call.csv", "name").tolist() == best.tolist()


def test_a_floor_of_ninety_percent(judge):
    recount, facts, *_ = judge(
        "clinic.csv", "ill", "yes", "--recall-floor", "90%", "--case-name", "patients",
        name="clinic", features=["age", "marker", "sex"], floors={"recall": 0.9},
    )  # fmt: skip
    # Test rows alone do not prove it; the rows held out to choose the threshold do.
    assert recount.second.goal_state == "reached"
    assert facts["goal"]["state"] == "met"
    held_out = f"{recount.n_held_out:,} of {recount.n_training:,} rows were held out of training"
    assert held_out in facts["boundary"]["message"]


def test_three_models_compared(judge):
    _, _, said, told = judge(
        "clinic.csv", "ill", "yes", "--model", "logistic,forest,boosting", name="models",
        features=["age", "marker", "sex"],
    )  # fmt: skip
    assert re.search(r"The model is the [a-z ]+, which has the least loss of 3 models", told)
    others = re.findall(r"(?:forest|boosting|regression) 0\.\d+ \S+ \S+ \S+ (0\.\d+)", said)
    assert len(others) == 3
