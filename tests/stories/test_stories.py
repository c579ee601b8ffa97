"""Six people with a messy table: every figure of their reports, recounted by a second program."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from boundshift._app import app
from tests.stories.make_tables import write_tables
from tests.stories.recount import Judged, amount, explain, percent, read_column, visible


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
def judge(run, folder):
    """Fit a table by the command line, and recount what its page and the terminal must say."""

    def judged(name, target, positive, *options, separator=",", features, ignore=()):
        scores = f"{name}_scores.csv"
        said = run("fit", f"{name}.csv", "--target", target, *options, "--out", name)
        run("predict", name, f"{name}.csv", "--out", scores)
        recount = Judged(
            f"{name}.csv", scores, name, target, positive, separator,
            features=features, ignore=ignore,
        )  # fmt: skip
        return recount, " ".join(said.stdout.split()), " ".join(said.stderr.split())

    return judged


def check_page(folder, name, judged, said, told, positives, negatives, unit, *, columns, groups=(),
               goal=(), lead=None, keeps=None, notes=()):  # fmt: skip
    """Compare every figure of a page and of the terminal with the recount."""
    page = (folder / name / "report.html").read_text(encoding="utf-8")
    judged.script(page)
    lead = lead or g_mean(judged)
    must = [
        *goal,
        judged.verdict(positives, unit),
        *judged.tiles(positives, negatives, unit),
        *judged.calibration(positives),
        *judged.methods(lead[1], keeps),
        *judged.details(),
        *judged.claims(positives, negatives),
        *judged.columns(columns),
        f"{len(columns)} used, {len(left_out(folder, name))} left out",
        *notes,
        *(row for column in groups for row in judged.groups(column)),
    ]
    must += judged.lead(*lead, positives, negatives, keeps)
    absent, left = explain(visible(page), must, list(judged.findings(positives, negatives)))
    assert absent == []
    assert left == []
    for sentence in (*goal, judged.verdict(positives, unit), *judged.terminal):
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


def test_fraud_with_amounts_and_ids(judge, folder):
    names = ["--positive-name", "frauds", "--unit", "payments"]
    features = ["amount", "hour", "country", "new_card"]
    judged, said, told = judge("fraud", "fraud", "1", *names, features=features)
    check_page(
        folder, "fraud", judged, said, told, "frauds", "other payments", "payments",
        columns=features, groups=["country", "new_card"],
    )  # fmt: skip
    assert left_out(folder, "fraud") == ["payment_id", "currency"]
    ids = read_column("fraud_scores.csv", "payment_id")
    assert ids.tolist() == read_column("fraud.csv", "payment_id").tolist()


def test_churn_with_dates_and_decimal_commas(judge, folder):
    names = ["--positive-name", "churners", "--unit", "customers"]
    options = ["--positive", "gone", "--costs", "1,15"]
    features = ["minutes", "plan", "complaints"]
    judged, said, told = judge(
        "churn", "state", "gone", *options, *names, separator=";", features=features
    )
    assert f"{int(np.sum(~judged.known))} rows without a value of 'state' are left out" in told

    def saved(flagged, missed):
        return -1000 * (flagged + 15 * missed) / sum(judged.n)

    check_page(
        folder, "churn", judged, said, told, "churners", "other customers", "customers",
        columns=features, groups=["plan"], goal=[judged.cost_goal(1, 15, "churners")],
        lead=("cost of 1,000 decisions", saved, lambda value: amount(-value)),
    )  # fmt: skip
    assert {"customer no", "since"} <= set(left_out(folder, "churn"))


def test_screening_at_half_a_percent_with_a_recall_floor(judge, folder):
    names = ["--positive-name", "ill", "--negative-name", "healthy", "--unit", "patients"]
    options = ["--positive", "yes", "--recall-floor", "0.6", "--by", "sex"]
    features = ["age", "marker", "sex"]
    judged, said, told = judge("screening", "ill", "yes", *options, *names, features=features)
    check_page(
        folder, "screening", judged, said, told, "ill patients", "healthy patients", "patients",
        columns=features, groups=["sex"], goal=[judged.recall_goal(0.6, "ill patients")],
        keeps=lambda u, v: 1 - v / judged.n[1] >= 0.6,
        notes=[judged.held_out()],
    )  # fmt: skip
    page = (folder / "screening" / "report.html").read_text(encoding="utf-8")
    assert "Most alarms are false" in page


def test_a_call_list_of_fifty_a_week(run, judge, folder):
    names = ["--positive-name", "donors who give", "--unit", "donors"]
    features = ["last_gift", "years", "channel"]
    judged, said, told = judge("calls", "gives", "True", *names, features=features)
    check_page(
        folder, "calls", judged, said, told, "donors who give", "other donors", "donors",
        columns=features, groups=["channel"],
    )  # fmt: skip
    run("predict", "calls", "next_week.csv", "--top", "50", "--out", "call.csv")
    run("predict", "calls", "next_week.csv", "--out", "week.csv")
    scores = read_column("week.csv", "score").astype(float)
    ids = read_column("week.csv", "donor_id")
    assert read_column("call.csv", "donor_id").tolist() == ids[np.argsort(-scores)[:50]].tolist()
    # The threshold of the report predicts what the folder does.
    run("predict", "calls", "calls.csv", "--threshold", judged.threshold, "--out", "same.csv")
    names = ("calls_scores.csv", "same.csv")
    made, same = (read_column(name, "prediction").tolist() for name in names)
    assert made == same


def test_machines_written_twice_and_some_never_inspected(judge, folder):
    names = ["--positive-name", "broken", "--negative-name", "sound", "--unit", "machines"]
    options = ["--positive", "broken", "--ignore", "not inspected"]
    features = ["heat", "noise", "site"]
    judged, said, told = judge(
        "machines", "state", "broken", *options, *names, features=features,
        ignore=["not inspected"],
    )  # fmt: skip
    assert judged.copied > 300
    ignored = f"{int(np.sum(~judged.known))} rows with the label 'not inspected' are left out"
    assert ignored in told
    check_page(
        folder, "machines", judged, said, told, "broken machines", "sound machines", "machines",
        columns=features, groups=["site"], notes=[ignored],
    )  # fmt: skip


def test_loans_that_leave_most_payers_alone_and_find_the_most(judge, folder):
    names = ["--positive-name", "defaults", "--unit", "loans"]
    options = ["--positive", "yes", "--specificity-floor", "0.8", "--then", "recall"]
    features = ["income", "debt", "region"]
    judged, said, told = judge("loans", "default", "yes", *options, *names, features=features)
    flagged = judged.wrong(judged.threshold)[0]
    wish = "leave at least 80% of other loans unflagged (specificity) and then the greatest recall"
    recall, own = (percent(judged.n[1] - judged.wrong(t)[1], judged.n[1])
                   for t in (judged.threshold, judged.own))  # fmt: skip
    check_page(
        folder, "loans", judged, said, told, "defaults", "other loans", "loans",
        columns=features, groups=["region"],
        goal=[
            judged.floor_goal(wish, 0.8, judged.n[0] - flagged, judged.n[0]),
            f"Recall: {recall} on the test rows instead of {own} at the model's own threshold.",
        ],
        lead=(
            "recall",
            lambda u, v: 1 - v / judged.n[1],
            lambda value: percent(round(value * judged.n[1]), judged.n[1]),
        ),
        keeps=lambda u, v: 1 - u / judged.n[0] >= 0.8,
        notes=[judged.held_out()],
    )  # fmt: skip
