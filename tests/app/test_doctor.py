"""What a table supports before anything is trained."""

import json

import numpy as np
import pandas as pd
import pytest

from boundshift import Floors, find_boundary, rows_needed
from boundshift._app.examine import examine_scores
from boundshift._app.importance import measure_importance
from boundshift._scores import ScoreSample
from boundshift._status import Status
from boundshift.datasets._bundled import load_table


def test_a_table_is_examined_and_nothing_is_written(run, tmp_path):
    frame = load_table("pima")
    frame["seen"] = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
    frame["insulin paid"] = np.where(frame["target"] == "diabetes", 1.5, 0.0)
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("doctor", "t.csv", "--target", "target")
    shown = run(*asked, code=3).stdout
    assert "'insulin paid' is at least 1.5 in exactly the rows with target = diabetes" in shown
    found = json.loads(run(*asked, "--drop", "insulin paid", "--json", code=0).stdout)
    assert found["dates"] == ["seen"]
    assert found["n_samples"] == [500, 268]
    assert found["suspects"] == []
    by_goal = {(each["rate"], each["floor"]): each for each in found["prospects"]}
    recall = by_goal["recall", 0.9]
    needed = rows_needed(0.1, wrong_share=0.05, chance=0.8)
    assert recall["rows"] == int(0.3 * 268)
    assert needed <= recall["rows"] + 0.3 * recall["missing"] < needed + 1
    assert not recall["is_possible"]
    assert by_goal["specificity", 0.8]["is_possible"] == (
        rows_needed(0.2, wrong_share=0.1, chance=0.8) <= 150
    )
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_table_that_cannot_be_fitted_is_explained(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,ill\n" + "1,yes\n2,no\n" * 5)
    assert "at least 10 rows" in run("doctor", "t.csv", "--target", "ill", code=1).stderr


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_scores_are_examined_by_the_guarantees_of_the_library(run, scores, rows):
    asked = ("doctor", scores, "--target", "ill", "--score", "risk")
    found = json.loads(run(*asked, "--json", code=0).stdout)
    assert found["auc"] > 0.9
    for each in found["prospects"]:
        boundary = find_boundary(
            *rows, pos_label="yes", rule=Floors(**{each["rate"]: each["floor"]})
        )
        assert each["is_possible"] == boundary.guaranteed, each
        if each["rate"] == "recall" and not boundary.guaranteed:
            assert each["rows"] + each["missing"] >= rows_needed(1 - each["floor"])
    assert {each["is_possible"] for each in found["prospects"]} == {True, False}
    assert "38 labelled" not in run(*asked).stdout


@pytest.mark.parametrize("ranking", ["reversed", "chance"])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_scores_that_rank_wrongly_or_by_chance_stand_in_the_way(run, tmp_path, ranking):
    risk = {"reversed": [2, 3, 0, 1], "chance": [0, 1, 0, 1]}[ranking]
    frame = pd.DataFrame({"ill": [0, 0, 1, 1] * 50, "risk": risk * 50})
    frame.to_csv(tmp_path / "s.csv", index=False)
    asked = ("doctor", "s.csv", "--target", "ill", "--score", "risk")
    assert json.loads(run(*asked, "--json", code=3).stdout)["ranking"] == ranking
    shown = " ".join(run(*asked, code=3).stdout.split())
    assert Status[ranking.upper()].message in shown


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_precision_that_is_just_reached_does_not_hide_a_better_one():
    labels = np.repeat([True, True, False, False], [2, 18, 5, 200])
    scores = np.repeat([3.0, 2.0, 2.0, 1.0], [2, 18, 5, 200])
    sample = ScoreSample.from_rows(labels, scores, (False, True))
    found = examine_scores(sample, 0.95, "ill")
    missing = [each.missing for each in found if each.rate == "precision"]
    assert None not in missing
    assert sorted(missing) == missing


def test_a_precision_that_is_too_close_to_its_floor_asks_for_no_millions():
    sizes = [5_010, 4_990, 9_000]
    labels = np.repeat([True, False, False], sizes)
    sample = ScoreSample.from_rows(labels, np.repeat([2.0, 2.0, 1.0], sizes), (False, True))
    found = next(p for p in examine_scores(sample, 0.95, "ill") if p.rate == "precision")
    assert found.missing is None
    assert "over 100,000 would be needed" in found.remark


class Sum:
    """Decides by the sum of two columns; the third has no effect."""

    class boundary_:  # noqa: N801
        threshold = 0.0

    def positive_scores(self, X):
        return X["a"].to_numpy() + 0.3 * X["b"].to_numpy()


def test_importance_is_the_loss_of_the_goal_when_a_column_is_shuffled():
    from boundshift.rules import Cost, GMean

    random = np.random.default_rng(0)
    is_positive = random.random(4000) < 0.3
    X = pd.DataFrame(random.normal(size=(4000, 3)), columns=["a", "b", "c"])
    X["a"] += 3.0 * is_positive - 1.5
    model = Sum()
    model.boundary_.rule = GMean()
    found = measure_importance(model, X, is_positive)
    assert list(found)[:1] == ["a"]
    assert found["c"] == (0.0, 0.0, 0.0)
    alone = 0.3 * X["b"].to_numpy()
    flagged = np.concatenate([alone + random.permutation(X["a"]) > 0 for _ in range(20)])
    truth = np.tile(is_positive, 20)
    after = np.sqrt(flagged[truth].mean() * (~flagged[~truth]).mean())
    flagged = model.positive_scores(X) > 0
    before = np.sqrt(flagged[is_positive].mean() * (~flagged[~is_positive]).mean())
    assert found["a"].low < before - after < found["a"].high
    model.boundary_.rule = Cost(false_negative=10)
    cost = measure_importance(model, X, is_positive)["a"]
    assert 100 < cost.low < cost.mean < cost.high
