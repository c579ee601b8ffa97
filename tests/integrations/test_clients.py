"""Tools that take any classifier of scikit-learn take a shifted one, and see its own decisions."""

import category_encoders
import fairlearn.metrics
import numpy as np
import optuna
import pandas as pd
import pytest
from imblearn.over_sampling import RandomOverSampler
from imblearn.pipeline import make_pipeline as make_imblearn_pipeline
from lightgbm import LGBMClassifier
from mlxtend.evaluate import mcnemar_table
from mlxtend.feature_selection import SequentialFeatureSelector
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from xgboost import XGBClassifier

from boundshift import BoundShiftClassifier

X, Y = make_classification(1200, n_features=5, weights=[0.9], class_sep=0.8, random_state=2)


@pytest.fixture(scope="module")
def shifted():
    return BoundShiftClassifier(LogisticRegression()).fit(X, Y)


def test_optuna_searches_the_model_inside():
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        model = LogisticRegression(C=trial.suggest_float("C", 1e-3, 10, log=True))
        return cross_val_score(
            BoundShiftClassifier(model), X, Y, scoring="balanced_accuracy"
        ).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(0))
    study.optimize(objective, n_trials=2)
    plain = cross_val_score(LogisticRegression(), X, Y, scoring="balanced_accuracy").mean()
    assert study.best_value > plain


# A column without information is tried, too, and its status says so.
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_mlxtend_selects_features_and_compares(shifted):
    selector = SequentialFeatureSelector(
        BoundShiftClassifier(LogisticRegression(), cv=3), k_features=2, scoring="recall", cv=3
    ).fit(X, Y)
    assert len(selector.k_feature_idx_) == 2
    plain = LogisticRegression().fit(X, Y)
    table = mcnemar_table(Y, plain.predict(X), shifted.predict(X))
    assert table.sum() == len(Y)
    assert table[0, 1] + table[1, 0] == np.sum(plain.predict(X) != shifted.predict(X))


def test_fairlearn_counts_the_shifted_labels_by_group(shifted):
    group = np.where(X[:, 0] > 0, "a", "b")
    frame = fairlearn.metrics.MetricFrame(
        metrics=recall_score, y_true=Y, y_pred=shifted.predict(X), sensitive_features=group
    )
    mine = {g: recall_score(Y[group == g], shifted.predict(X[group == g])) for g in "ab"}
    assert frame.by_group.to_dict() == pytest.approx(mine)


@pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting'")  # the encoder's own
def test_category_encoders_stand_before_it_and_inside_it():
    frame = pd.DataFrame({"number": X[:, 0], "town": np.where(X[:, 1] > 0, "Rome", "Bonn")})
    encoder = category_encoders.TargetEncoder(cols=["town"])
    before = make_pipeline(encoder, BoundShiftClassifier(LogisticRegression()))
    inside = BoundShiftClassifier(make_pipeline(encoder, LogisticRegression()))
    for model in before, inside:
        assert set(model.fit(frame, Y).predict(frame)) == {0, 1}


def test_a_sampler_of_imbalanced_learn_is_applied_in_training_only():
    sampler = RandomOverSampler(random_state=0)
    model = BoundShiftClassifier(make_imblearn_pipeline(sampler, LogisticRegression())).fit(X, Y)
    assert sum(model.boundary_.n_samples) == len(Y)


def test_rows_to_stop_by_reach_xgboost():
    booster = XGBClassifier(n_estimators=30, early_stopping_rounds=3)
    model = BoundShiftClassifier(booster, ensemble=False)
    model.fit(X[:900], Y[:900], eval_set=[(X[900:], Y[900:])], verbose=False)
    assert model.estimator_.best_iteration < 29


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_to_stop_by_reach_lightgbm():
    booster = LGBMClassifier(n_estimators=300, early_stopping_rounds=3, verbose=-1)
    model = BoundShiftClassifier(booster, ensemble=False)
    model.fit(X[:900], Y[:900], eval_X=(X[900:],), eval_y=(Y[900:],))
    assert model.estimator_.best_iteration_ < 300


def test_a_stack_without_a_final_estimator_takes_it():
    stack = StackingClassifier([("shifted", BoundShiftClassifier(LogisticRegression()))], cv=3)
    assert set(stack.fit(X, Y).predict(X)) == {0, 1}
    outside = BoundShiftClassifier(stack, cv=3).fit(X, Y)
    assert set(outside.predict(X)) == {0, 1}
