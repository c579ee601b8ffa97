import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_predict

from boundshift.metrics import geometric_mean_score
from boundshift.rivals import BalancedWeights, SMOTEClassifier
from lab.data import PaperSplit
from lab.reproduction.classifiers import ClassifierOptions
from lab.reproduction.collect import collect_scores
from lab.reproduction.fitted import FittedSeed
from lab.reproduction.methods import METHODS
from lab.reproduction.problems import PROBLEMS


@pytest.fixture(scope="module")
def split():
    # Small, and of one feature's worth of signal, so that nothing is perfect.
    whole = PROBLEMS["synthetic-raw"].split(3, "honest")
    rows = np.concatenate([np.flatnonzero(whole.y_train == 1), np.arange(200)])
    rows = np.unique(rows)
    return whole._replace(X_train=whole.X_train[rows], y_train=whole.y_train[rows])


@pytest.fixture(scope="module")
def fitted(split):
    return collect_scores(split, "logistic-regression", "untouched", 0, ClassifierOptions())


def test_scores_are_those_of_the_model(split, fitted):
    model = LogisticRegression().fit(split.X_train, split.y_train)
    np.testing.assert_array_equal(fitted.train, model.decision_function(split.X_train))
    np.testing.assert_array_equal(fitted.test > 0, model.predict(split.X_test) == 1)
    np.testing.assert_array_equal(fitted.test_probability, model.predict_proba(split.X_test)[:, 1])


def test_out_of_fold_scores_are_scikit_learns(split, fitted):
    expected = cross_val_predict(
        LogisticRegression(), split.X_train, split.y_train, cv=5, method="decision_function"
    )
    np.testing.assert_allclose(fitted.out_of_fold, expected)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("tuned-balanced-accuracy", balanced_accuracy_score),
        ("tuned-g-mean", geometric_mean_score),
    ],
)
def test_the_tuner_is_scikit_learns(name, metric, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [50, 12]))
    X = rng.normal(y[:, None], 1.2, (len(y), 2))
    tuner = TunedThresholdClassifierCV(
        LogisticRegression(),
        scoring=make_scorer(metric),
        response_method="decision_function",
        cv=5,
    ).fit(X, y)
    split = PaperSplit(X, X, y, y)
    scores = collect_scores(split, "logistic-regression", "untouched", 0, ClassifierOptions())
    decided = METHODS[name].decide(FittedSeed({"untouched": scores}, "binary"))
    assert decided.threshold == pytest.approx(tuner.best_threshold_)


@pytest.mark.parametrize(
    ("model", "rival"),
    [
        ("smote", SMOTEClassifier(LogisticRegression(), random_state=7)),
        ("balanced-weights", BalancedWeights(LogisticRegression())),
    ],
)
def test_retrained_models_are_the_rivals(split, model, rival):
    found = collect_scores(split, "logistic-regression", model, 7, ClassifierOptions())
    expected = rival.fit(split.X_train, split.y_train).predict(split.X_test)
    np.testing.assert_array_equal(found.test > 0, expected == 1)
    assert len(found.train) == 0
