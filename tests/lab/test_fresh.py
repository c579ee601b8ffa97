"""The comparison on fresh data: its metrics and tables, and the fits behind them."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundShiftClassifier
from lab.claims import fresh
from lab.experiment import quiet
from lab.suite.data import split
from lab.suite.train import prepared


def g_mean(y, predicted):
    return np.sqrt(recall_score(y, predicted) * recall_score(y, predicted, pos_label=0))


@pytest.fixture(scope="module")
def found():
    return fresh.judge("yeast5", "decision tree", 20, 0)


def rates(y, predicted):
    return recall_score(y, predicted, pos_label=0), recall_score(y, predicted)


def test_a_fit_is_judged_as_a_user_would_fit_it(found):
    train, test = split(fresh.rows_of("yeast5"), 0, 20)
    model = prepared(fresh.MODELS["decision tree"](0))
    tuned = TunedThresholdClassifierCV(model, scoring=make_scorer(g_mean)).fit(*train)
    assert found["tuned/g-mean"] == pytest.approx(rates(test.y, tuned.predict(test.X)))
    with quiet():
        for_f1 = BoundShiftClassifier(model, rule="f1").fit(*train)
    assert found["ours for f1"] == pytest.approx(rates(test.y, for_f1.predict(test.X)))
    assert found["untouched"] == pytest.approx(rates(test.y, model.fit(*train).predict(test.X)))


def test_the_clairvoyant_is_never_behind(found):
    score = {method: np.sqrt(np.prod(pair)) for method, pair in found.items()}
    assert score["clairvoyant"] >= max(score["untouched"], score["tuned/g-mean"])
    assert score["clairvoyant of the mean"] >= max(score["ours"], score["best cut"])


def test_f1_is_that_of_rows_with_the_training_share():
    facts = {"methods": ["ours"], "rows": ["a,b,RBF SVM,5,0,0.2,0.75,0.5"]}
    row = fresh.read(facts).iloc[0]
    y = np.repeat([0, 1], [80, 20])
    predicted = np.concatenate([np.arange(80) < 20, np.arange(20) < 10])
    assert row["f1"] == pytest.approx(f1_score(y, predicted))
    assert row["g_mean"] == pytest.approx(g_mean(y, predicted))
    assert row["balanced_accuracy"] == 0.625


def test_a_family_counts_once_however_many_sets_it_has():
    lines = [
        f"{name},{family},RBF SVM,0,0,0.1,1,{recall}"
        for name, family, recall in (("a1", "a", 0.25), ("a2", "a", 1), ("b", "b", 0.25))
    ]
    blocks = fresh.blocks(fresh.read({"methods": ["ours"], "rows": lines}), "g_mean")
    assert blocks["ours"].tolist() == [0.75, 0.5]
