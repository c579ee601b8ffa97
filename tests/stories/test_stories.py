"""Five newcomers with a messy table: what they read first, recounted by a second program."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from boundshift._app import app
from tests.stories.make_tables import write_stories
from tests.stories.recount import (
    Judged,
    amount,
    explain,
    percent,
    read_column,
    sheet_as_csv,
    visible,
)


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
def judge(run):
    """Fit a table by the command line, score its rows, and recount them."""

    def judged(file, target, positive, *options, name, table=None, sheet=(), **how):
        said = run(
            "fit", file, "--target", target, "--model", "logistic", *options, *sheet, "--out", name
        )
        run("predict", name, file, *sheet, "--out", f"{name}_scores.csv")
        recount = Judged(table or file, f"{name}_scores.csv", name, target, positive, **how)
        return recount, " ".join(said.stdout.split()), " ".join(said.stderr.split())

    return judged


def check_page(folder, name, judged, said, told, positives, negatives, unit, *, columns, groups=(),
               goal=(), lead=None, keeps=None, notes=(), alone=None):  # fmt: skip
    """Compare every figure of a page and of the terminal with the recount."""
    page = (folder / name / "report.html").read_text(encoding="utf-8")
    judged.script(page)
    lead = lead or g_mean(judged)
    must = [
        *goal,
        judged.verdict(positives, negatives, unit),
        alone or judged.g_mean_alone(),
        *judged.tiles(positives, negatives, unit),
        *judged.calibration(positives),
        *judged.methods(),
        *judged.details(),
        *judged.columns(columns),
        f"{len(columns)} used, {len(left_out(folder, name))} left out",
        *notes,
        *(row for column in groups for row in judged.groups(column)),
    ]
    must += judged.lead(*lead, positives, negatives, keeps)
    absent, left = explain(visible(page), must, list(judged.findings(positives, negatives)))
    assert absent == []
    assert left == []
    for sentence in (*goal, judged.verdict(positives, negatives, unit), *judged.terminal):
        assert sentence in said
    if judged.copied:
        assert f"{judged.copied:,} rows have the same features" in told


def left_out(folder, name):
    page = (folder / name / "report.html").read_text(encoding="utf-8")
    return re.findall(r'class="left-out"><th scope="row">(.*?)</th>', page)


def g_mean(judged):
    """Return what the default rule makes best."""
    return (
        "G-mean",
        lambda u, v: np.sqrt((1 - u / judged.n[0]) * (1 - v / judged.n[1])),
        lambda value: f"{value:.3f}",
    )


def test_a_german_export_of_windows_with_costs(judge, folder):
    features = ["Gesprächsminuten", "Tarif", "Beschwerden"]
    judged, said, told = judge(
        "kunden.csv", "Kündigung", "gekündigt", "--costs", "miss=15,alarm=1",
        "--positive-name", "Kündiger", "--case-name", "Kunden",
        name="kunden", separator=";", features=features,
    )  # fmt: skip
    assert "kunden.csv is not UTF-8 text and is read as cp1252" in told
    assert f"{int(np.sum(~judged.known))} rows without a value of 'Kündigung' are left out" in told

    def saved(flagged, missed):
        return -1000 * (flagged + 15 * missed) / sum(judged.n)

    positives = "Kündiger"
    check_page(
        folder, "kunden", judged, said, told, positives, "other Kunden", "Kunden",
        columns=features, groups=["Tarif"], goal=[judged.cost_goal(1, 15, positives)],
        lead=("cost of 1,000 decisions", saved, lambda value: amount(-value)),
        alone=judged.cost_alone(1, 15),
    )  # fmt: skip
    assert {"Kundennr", "Kunde seit"} <= set(left_out(folder, "kunden"))


def test_an_excel_file_with_two_sheets_and_a_title(run, judge, folder):
    refused = CliRunner().invoke(app, ["fit", "machines.xlsx", "--target", "state"])
    assert "Use --sheet with one of" in " ".join(refused.stderr.split())
    sheet_as_csv("machines.xlsx", "Inspections", 3, "machines.csv")
    features = ["heat", "noise", "site"]
    ignored = "not inspected"
    judged, said, told = judge(
        "machines.xlsx", "state", "broken", "--ignore", ignored, "--positive", "broken",
        name="machines", table="machines.csv", sheet=["--sheet", "Inspections"],
        features=features, ignore=[ignored],
    )  # fmt: skip
    assert "Row 3 of machines.xlsx is taken for the names of the columns" in told
    assert judged.copied > 300
    left = f"{int(np.sum(~judged.known))} rows with the label 'not inspected' are left out"
    assert left in told
    check_page(
        folder, "machines", judged, said, told, "rows with state = broken",
        "rows with state = fine", "rows", columns=features, groups=["site"], notes=[left],
    )  # fmt: skip


def test_a_call_list_with_names(run, judge):
    features = ["last_gift", "years", "channel"]
    judged, said, _ = judge(
        "donors.csv", "gives", "True", "--capacity", "50/600", name="donors", features=features
    )
    flagged = int(np.sum(judged.s > judged.threshold))
    assert f"{percent(flagged, sum(judged.n))} on the test rows" in said
    assert judged.verdict("rows with gives = True", "rows with gives = False", "rows") in said
    call = run("predict", "donors", "next_week.csv", "--top", "50", "--out", "call.csv")
    assert "50 rows, 50 of them flagged as True, written to call.csv." in call.stderr
    run("predict", "donors", "next_week.csv", "--out", "week.csv")
    scores = read_column("week.csv", "score").astype(float)
    best = read_column("next_week.csv", "name")[np.argsort(-scores, kind="stable")[:50]]
    assert read_column("call.csv", "name").tolist() == best.tolist()


def test_a_floor_of_ninety_percent(judge, folder):
    features = ["age", "marker", "sex"]
    judged, said, told = judge(
        "clinic.csv", "ill", "yes", "--recall-floor", "90%", "--case-name", "patients",
        name="clinic", features=features,
    )  # fmt: skip
    positives = "patients with ill = yes"
    check_page(
        folder, "clinic", judged, said, told, positives, "patients with ill = no", "patients",
        columns=features, groups=["sex"], goal=[judged.recall_goal(0.9, positives)],
        keeps=lambda u, v: 1 - v / judged.n[1] >= 0.9, alone=judged.g_mean_alone(0.9),
        notes=[judged.held_out(), *judged.unproved(0.9, positives)],
    )  # fmt: skip


def test_three_models_compared(judge):
    judged, said, told = judge(
        "clinic.csv", "ill", "yes", "--model", "logistic,forest,boosting", name="models",
        features=["age", "marker", "sex"],
    )  # fmt: skip
    chosen = re.search(r"The ([a-z ]+) was chosen among 3 models on the training rows", told)[1]
    flagged, missed = judged.wrong(judged.threshold)
    recalls = 1 - flagged / judged.n[0], 1 - missed / judged.n[1]
    row = rf"{chosen} {np.sqrt(recalls[0] * recalls[1]):.4g} \S+ {recalls[0]:.4g} {recalls[1]:.4g}"
    found = re.search(rf"{row} (\S+)", said)
    others = re.findall(r"(?:forest|boosting|regression) 0\.\d+ \S+ \S+ \S+ (0\.\d+)", said)
    assert len(others) == 3
    assert float(found[1]) == min(map(float, others))
    assert judged.verdict("rows with ill = yes", "rows with ill = no", "rows") in said
