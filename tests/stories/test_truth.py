"""Ten pages on which advice could go wrong: facts, figures and contradictions of each."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

import boundshift.report
from boundshift._app import app
from boundshift.report import Report
from tests.stories.truth import Second, contradictions, make_stories, unexplained

STORIES = {story.name: story for story in make_stories()}
ADVICE = {
    "reversed": "reverse",
    "noise": "chance",
    "weak": "weak",
    "perfect": "check",
    "clustered": "use",
    "unknown": "care",
    "few": "care",
    "missed": "missed",
    "cost": "care",
}


def write_scores(path, part):
    names = ("label", "score", "patient")[: len(part)]
    frame = pd.DataFrame(dict(zip(names, part, strict=True)))
    frame["label"] = np.where(frame["label"] == 1, "ill", "well")
    frame.to_csv(path, index=False)


def options_of(story):
    options = ["--score", "score", "--label", "label", "--positive", "ill"]
    if story.own is not None:
        options += ["--own", story.own]
    for name, floor in story.floors.items():
        options += [f"--{name}-floor", floor]
    if story.costs:
        options += ["--costs", "{},{}".format(*story.costs)]
    return [*options, *(["--cluster", "patient"] if story.cluster is not None else [])]


def command(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code in (0, 3), done.output
    return " ".join(done.stdout.split())


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Run the command on each table; return its facts, its page and what the terminal shows."""
    folder = tmp_path_factory.mktemp("truth")
    made = {}
    gathered = []
    collect = boundshift.report.collect_facts

    def gather(*rows, **known):
        gathered.append(collect(*rows, **known))
        return gathered[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boundshift._app.scores._RESAMPLES", 5)
        patch.setattr(boundshift.report, "collect_facts", gather)
        for name in STORIES:
            story = STORIES[name]
            page = folder / f"{name}.html"
            write_scores(folder / "choose.csv", story.choose)
            write_scores(folder / "judge.csv", story.judge)
            options = [*options_of(story), "--test", folder / "judge.csv", "--out", page]
            shown = command("report", folder / "choose.csv", *options)
            made[name] = gathered[-1], page.read_text(encoding="utf-8"), shown
        claims(2000).to_csv(folder / "claims.csv", index=False)
        asked = ["--model", "logistic", "--target", "claim", "--out", folder / "car"]
        shown = command("fit", folder / "claims.csv", *asked)
        page = (folder / "car" / "report.html").read_text(encoding="utf-8")
        made["leaking"] = gathered[-1], page, shown
    return made


def claims(n):
    """Return car policies; what was paid for a claim is among the columns."""
    rng = np.random.default_rng(0)
    has_claim = rng.random(n) < 0.07
    paid = np.where(has_claim, np.round(rng.gamma(2, 900, n), 2), 0.0)
    age = np.round(rng.normal(45, 14, n), 1)
    return pd.DataFrame({"age": age, "claim_amount": paid, "claim": has_claim.astype(int)})


@pytest.fixture(scope="module")
def second(pages):
    """Return what a second program makes of each table."""
    made = {}
    for name in STORIES:
        story = STORIES[name]
        y, s = story.judge[:2]
        known = {"own": story.own, "cluster": story.cluster, "floors": story.floors,
                 "costs": story.costs}  # fmt: skip
        if s.min() >= 0 and s.max() <= 1:
            known["probability"] = s
        made[name] = Second(y, s, pages[name][0]["boundary"]["threshold"], **known)
    return made


@pytest.mark.parametrize("name", STORIES)
def test_a_second_program_comes_to_the_same_judgement(pages, second, name):
    judged = pages[name][0]["judgement"]
    mine = second[name]
    assert mine.advice == ADVICE[name]
    assert judged["advice"] == ADVICE[name]
    assert judged["separation"]["ranking"] == mine.ranking
    assert judged["separation"]["auc"] == pytest.approx(mine.area)
    interval = judged["separation"]["low"], judged["separation"]["high"]
    assert interval == pytest.approx(mine.area_interval, abs=1e-5)
    assert judged["separation"]["least_error"] == pytest.approx(mine.least_error)
    useful = judged["usefulness"]
    assert useful["proof"] == mine.proof
    assert abs(useful["value"]) == pytest.approx(abs(mine.value(mine.threshold)))
    assert abs(useful["baseline"]["value"]) == pytest.approx(abs(mine.without_model))
    assert useful["sum_of_bounds"] == pytest.approx(sum(mine.joint_bounds))
    for place, errors in enumerate((judged["flagged"], judged["missed"])):
        assert errors["share"] == pytest.approx(mine.averages(mine.threshold)[place])
        before = None if mine.own is None else pytest.approx(mine.averages(mine.own)[place])
        assert errors["before"] == before
    if useful["gain"] is not None:
        width = np.ptp(mine.gain)
        assert useful["gain"] == pytest.approx(mine.gain, abs=0.2 * width + 1e-9)


@pytest.mark.parametrize("name", STORIES)
def test_every_figure_of_every_statement_is_recomputed(pages, second, name):
    facts, _, shown = pages[name]
    assert unexplained(facts, second[name]) == {}
    for statement in (*facts["verdict"]["sentences"], facts["diagnosis"]["next"]):
        assert statement in shown


@pytest.mark.parametrize("name", [*STORIES, "leaking"])
def test_no_two_statements_contradict_each_other(pages, name):
    facts, page, _ = pages[name]
    assert contradictions(facts) == []
    assert html.escape(facts["diagnosis"]["next"], quote=False).split(".")[0] in html.unescape(page)
    if name != "leaking":  # whose page has notes on its table
        assert Report(facts).html == page


def test_a_column_that_gives_the_answer_away_is_never_praised(pages):
    facts, _, shown = pages["leaking"]
    assert facts["judgement"]["advice"] == "check"
    assert "'claim_amount' is at least" in shown
    assert "Check this column first: claim_amount." in shown
    assert "Use it:" not in shown
    assert facts["diagnosis"]["level"] == "caution"


@pytest.mark.parametrize("name", ["perfect", "unknown"])
def test_an_unknown_own_threshold_is_compared_with_nothing(pages, name):
    facts, page, shown = pages[name]
    prose = html.unescape(re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    for text in (prose, shown):
        assert "own threshold" not in text
        assert "model's own" not in text
    assert facts["comparison"]["lead"] is None
    assert len(facts["comparison"]["rows"]) == 1


def test_rows_and_averages_over_patients_are_both_shown(pages, second):
    facts, page, _ = pages["clustered"]
    mine = second["clustered"]
    by_row = mine.errors(mine.threshold)[1]
    average = mine.averages(mine.threshold)[1]
    assert abs(by_row - average) > 0.03
    sentence = facts["verdict"]["sentence"]
    assert sentence.index(f"{100 * average:.1f}%") < sentence.index(f"{100 * by_row:.1f}%")
    assert "each row by itself" in page


def test_a_contradiction_and_a_wrong_figure_are_found(pages):
    y, s = STORIES["weak"].judge
    facts = boundshift.report.collect_facts(y, s)
    facts["judgement"]["usefulness"]["proof"] = "not shown"
    assert "used, and not shown to be useful" in contradictions(facts)
    assert roc_auc_score(y, s) < 0.65
    facts = pages["weak"][0]
    other = Second(y, s, facts["boundary"]["threshold"] + 0.1, own=0.0)
    assert len(unexplained(facts, other)) >= 4
