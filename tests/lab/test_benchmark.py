"""The benchmark: its splits, its methods beside the estimators they stand for, and its tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundShiftClassifier, Cost
from boundshift.metrics import geometric_mean_score
from lab.baselines import fit_balanced
from lab.benchmark import data
from lab.benchmark.data import datasets, load_rows, split
from lab.benchmark.methods import METHODS, MISS
from lab.benchmark.run import EXPERIMENT, Row, judge, read
from lab.benchmark.tables import by_family, make_tables
from lab.benchmark.train import MODELS, Fit, prepared, train
from lab.experiment import quiet

G_MEAN = make_scorer(geometric_mean_score)


def test_parts_are_stratified_and_share_no_row():
    rows = load_rows("glass6")
    marked = data.Rows(np.arange(len(rows.y), dtype=float)[:, None], rows.y)
    parts = split(marked, 0)
    assert sorted([*parts.train.X[:, 0], *parts.test.X[:, 0]]) == list(range(len(rows.y)))
    for part in (parts.train.y, parts.test.y):
        assert part.mean() == pytest.approx(rows.y.mean(), abs=0.04)


def test_the_stored_halves_share_no_family():
    halves = json.loads(Path(data.__file__).with_name("halves.json").read_text())
    assert set(halves["choose"]).isdisjoint(halves["report"])
    assert set(datasets("choose").values()) == set(halves["choose"])
    assert set(datasets("report").values()) > set(halves["report"])


def test_few_rare_rows_are_drawn_from_the_training_part_alone():
    rows = load_rows("segment0")
    whole, five, ten = (split(rows, 3, rare) for rare in (0, 5, 10))
    assert int(five.train.y.sum()) == 5
    assert int(ten.train.y.sum()) == 10
    assert int(np.sum(five.train.y == 0)) == min(1000, int(np.sum(whole.train.y == 0)))
    np.testing.assert_array_equal(five.test.X, whole.test.X)
    rare = {tuple(x) for x in ten.train.X[ten.train.y == 1]}
    assert {tuple(x) for x in five.train.X[five.train.y == 1]} <= rare


ESTIMATORS = {
    "untouched": clone,
    "tuned/g-mean": lambda model: TunedThresholdClassifierCV(model, scoring=G_MEAN),
    "tuned/f1": lambda model: TunedThresholdClassifierCV(model, scoring="f1"),
    "ours": BoundShiftClassifier,
    "ours/mcc": lambda model: BoundShiftClassifier(model, rule="mcc"),
    "ours/cost": lambda model: BoundShiftClassifier(model, rule=Cost(false_negative=MISS)),
}


@pytest.mark.parametrize("model", ["decision tree", "RBF SVM"])
def test_methods_predict_as_the_estimators_they_stand_for(model):
    fit = Fit("yeast5", model, 20, 0)
    trained = train(fit)
    rows, test = split(load_rows(fit.dataset), fit.seed, fit.rare)
    untrained = prepared(MODELS[model](fit.seed))
    for name, make in ESTIMATORS.items():
        with quiet():
            expected = make(untrained).fit(*rows).predict(test.X) == 1
        np.testing.assert_array_equal(METHODS[name].label(trained), expected)
    weighted = fit_balanced(untrained, *rows).predict(test.X) == 1
    np.testing.assert_array_equal(METHODS["balanced-weights"].label(trained), weighted)


def test_the_tuner_of_margins_is_scikit_learns():
    fit = Fit("yeast5", "logistic regression", 20, 0)
    rows, test = split(load_rows(fit.dataset), fit.seed, fit.rare)
    tuner = TunedThresholdClassifierCV(
        prepared(MODELS[fit.model](0)), scoring=G_MEAN, response_method="decision_function"
    )
    expected = tuner.fit(*rows).predict(test.X) == 1
    np.testing.assert_array_equal(METHODS["tuned-margins/g-mean"].label(train(fit)), expected)


def test_a_method_that_fails_is_a_row_with_its_message():
    fit = Fit("yeast5", "k-nearest neighbours", 5, 0)
    rows = {row.method: row for row in judge(fit, "yeast", train(fit))}
    failed = rows["balanced-weights"]
    assert "must have `class_weight`" in failed.message
    assert failed.recall == rows["untouched"].recall
    scores = {name: row.specificity * row.recall for name, row in rows.items()}
    assert scores["known"] >= max(scores["untouched"], scores["tuned/g-mean"])
    assert scores["known/deployed"] >= max(scores["ours"], scores["best-cut/g-mean"])


def rows_of(*lines):
    return {"rows": [Row(*line).__dict__ for line in lines]}


def test_metrics_are_those_at_the_prevalence_of_the_training_rows():
    facts = rows_of(("a", "a", "RBF SVM", 5, 0, 0.2, "ours", 0.75, 0.5))
    row = read(facts).iloc[0]
    y = np.repeat([0, 1], [80, 20])
    flagged = np.concatenate([np.arange(80) < 20, np.arange(20) < 10])
    assert row["f1"] == pytest.approx(f1_score(y, flagged))
    assert row["g-mean"] == pytest.approx(geometric_mean_score(y, flagged))
    assert row["cost"] == pytest.approx(-(MISS * 10 + 20) / 100)


def test_a_family_counts_once_however_many_sets_it_has():
    facts = rows_of(
        *(
            (name, family, "RBF SVM", 0, 0, 0.1, "ours", 1.0, recall)
            for name, family, recall in (("a1", "a", 0.25), ("a2", "a", 1.0), ("b", "b", 0.25))
        )
    )
    assert by_family(read(facts), "g-mean", 0)["ours"].tolist() == [0.75, 0.5]


def test_a_quick_run_is_stored_as_tidy_rows_and_fills_its_page(tmp_path, monkeypatch):
    monkeypatch.setattr("lab.benchmark.run.CACHE", tmp_path / "scores")
    EXPERIMENT.run("benchmark", quick=True, out=tmp_path)
    stored = EXPERIMENT.read(tmp_path / "benchmark.json")
    rows = pd.DataFrame(stored["rows"])
    assert not rows.duplicated(["dataset", "model", "rare", "seed", "method"]).any()
    assert set(rows["method"]) == set(METHODS)
    page = (tmp_path / "benchmark.md").read_text(encoding="utf-8")
    assert all(text in page for text in make_tables(read(stored)).values())
