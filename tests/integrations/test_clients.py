"""Tools that take any classifier of scikit-learn take a shifted one, and see its own decisions."""

import category_encoders
import dask.array
import fairlearn.metrics
import numpy as np
import optuna
import pandas as pd
import pytest
from feature_engine.encoding import OrdinalEncoder
from imblearn.over_sampling import RandomOverSampler
from imblearn.pipeline import make_pipeline as make_imblearn_pipeline
from lightgbm import LGBMClassifier
from mapie.risk_control import BinaryClassificationController
from mlxtend.evaluate import mcnemar_table
from mlxtend.feature_selection import SequentialFeatureSelector
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from xgboost import XGBClassifier

from boundshift import BoundShiftClassifier, find_boundary

X, Y = make_classification(1200, n_features=5, weights=[0.9], class_sep=0.8, random_state=2)


@pytest.fixture(scope="module")
def shifted():
    return BoundShiftClassifier(LogisticRegression()).fit(X, Y)


@pytest.mark.tool("optuna", "BoundShiftClassifier(model)")
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
@pytest.mark.tool("mlxtend: feature selection", "BoundShiftClassifier(LogisticRegression(), cv=3)")
def test_mlxtend_selects_features_and_compares(shifted):
    selector = SequentialFeatureSelector(
        BoundShiftClassifier(LogisticRegression(), cv=3), k_features=2, scoring="recall", cv=3
    ).fit(X, Y)
    assert len(selector.k_feature_idx_) == 2
    plain = LogisticRegression().fit(X, Y)
    table = mcnemar_table(Y, plain.predict(X), shifted.predict(X))
    assert table.sum() == len(Y)
    assert table[0, 1] + table[1, 0] == np.sum(plain.predict(X) != shifted.predict(X))


@pytest.mark.tool("fairlearn: metrics by group", "shifted.predict(X)")
def test_fairlearn_counts_the_shifted_labels_by_group(shifted):
    group = np.where(X[:, 0] > 0, "a", "b")
    frame = fairlearn.metrics.MetricFrame(
        metrics=recall_score, y_true=Y, y_pred=shifted.predict(X), sensitive_features=group
    )
    mine = {g: recall_score(Y[group == g], shifted.predict(X[group == g])) for g in "ab"}
    assert frame.by_group.to_dict() == pytest.approx(mine)


@pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting'")  # the encoder's own
@pytest.mark.tool(
    "category_encoders", "BoundShiftClassifier(make_pipeline(encoder, LogisticRegression()))"
)
def test_category_encoders_stand_before_it_and_inside_it():
    frame = pd.DataFrame({"number": X[:, 0], "town": np.where(X[:, 1] > 0, "Rome", "Bonn")})
    encoder = category_encoders.TargetEncoder(cols=["town"])
    before = make_pipeline(encoder, BoundShiftClassifier(LogisticRegression()))
    inside = BoundShiftClassifier(make_pipeline(encoder, LogisticRegression()))
    for model in before, inside:
        assert set(model.fit(frame, Y).predict(frame)) == {0, 1}


@pytest.mark.tool(
    "imbalanced-learn: pipelines",
    "BoundShiftClassifier(make_imblearn_pipeline(sampler, LogisticRegression()))",
)
def test_a_sampler_of_imbalanced_learn_is_applied_in_training_only():
    sampler = RandomOverSampler(random_state=0)
    scores = np.empty(len(Y))
    model = BoundShiftClassifier(make_imblearn_pipeline(sampler, LogisticRegression())).fit(X, Y)
    for train, test in StratifiedKFold(5).split(X, Y):
        fold = clone(model.estimator).fit(X[train], Y[train])
        scores[test] = fold.predict_proba(X[test])[:, 1]
    assert model.boundary_ == find_boundary(Y, scores)


@pytest.mark.tool(
    "XGBoost, with rows to stop by",
    "model.fit(X[:900], Y[:900], eval_set=[(X[900:], Y[900:])], verbose=False)",
)
def test_rows_to_stop_by_reach_xgboost():
    booster = XGBClassifier(n_estimators=30, early_stopping_rounds=3, n_jobs=1)
    model = BoundShiftClassifier(booster, ensemble=False)
    model.fit(X[:900], Y[:900], eval_set=[(X[900:], Y[900:])], verbose=False)
    assert model.estimator_.best_iteration < 29


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.tool(
    "LightGBM, with rows to stop by",
    "model.fit(X[:900], Y[:900], eval_X=(X[900:],), eval_y=(Y[900:],))",
)
def test_rows_to_stop_by_reach_lightgbm():
    booster = LGBMClassifier(n_estimators=60, early_stopping_rounds=3, verbose=-1, n_jobs=1)
    model = BoundShiftClassifier(booster, ensemble=False)
    model.fit(X[:900], Y[:900], eval_X=(X[900:],), eval_y=(Y[900:],))
    assert model.estimator_.best_iteration_ < 60


@pytest.mark.tool("scikit-learn: stacking, inside and around", "BoundShiftClassifier(stack, cv=3)")
def test_a_stack_without_a_final_estimator_takes_it():
    stack = StackingClassifier([("shifted", BoundShiftClassifier(LogisticRegression()))], cv=3)
    assert set(stack.fit(X, Y).predict(X)) == {0, 1}
    outside = BoundShiftClassifier(stack, cv=3).fit(X, Y)
    assert set(outside.predict(X)) == {0, 1}


@pytest.mark.tool(
    "scikit-learn: AdaBoost around a shifted classifier",
    "BoundShiftClassifier(AdaBoostClassifier())",
    works="no: its weights sum to 1, and ours count rows; shift the booster instead",
)
def test_adaboost_stands_inside_and_not_around():
    around = AdaBoostClassifier(BoundShiftClassifier(LogisticRegression()))
    with pytest.raises(ValueError, match="doesn't support sample_weight"):
        around.fit(X, Y)
    inside = BoundShiftClassifier(AdaBoostClassifier()).fit(X, Y)
    assert set(inside.predict(X)) == {0, 1}


@pytest.mark.tool(
    "feature_engine", "BoundShiftClassifier(make_pipeline(encoder, LogisticRegression()))"
)
def test_encoders_of_feature_engine_stand_inside_it():
    frame = pd.DataFrame({"number": X[:, 0], "town": np.where(X[:, 1] > 0, "Rome", "Bonn")})
    encoder = OrdinalEncoder(encoding_method="arbitrary")
    model = BoundShiftClassifier(make_pipeline(encoder, LogisticRegression())).fit(frame, Y)
    assert recall_score(Y, model.predict(frame)) > 0.6


@pytest.mark.tool("shap", "shap.KernelExplainer(shifted.decision_function, X[:20])")
@pytest.mark.filterwarnings("ignore")  # of how it draws
def test_shap_explains_the_shifted_decision(shifted):
    import shap

    explainer = shap.KernelExplainer(shifted.decision_function, X[:20])
    parts = explainer.shap_values(X[:3], silent=True)
    np.testing.assert_allclose(
        parts.sum(axis=1) + explainer.expected_value, shifted.decision_function(X[:3])
    )


@pytest.mark.tool("lime", "explainer.explain_instance(X[0], shifted.predict_proba)")
@pytest.mark.filterwarnings("ignore")  # of what it imports
def test_lime_explains_the_shifted_probability(shifted):
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(X, random_state=0)
    found = explainer.explain_instance(X[0], shifted.predict_proba)
    np.testing.assert_allclose(found.predict_proba, shifted.predict_proba(X[:1])[0])


@pytest.mark.tool(
    "MAPIE: risk control",
    'BinaryClassificationController(shifted.predict_proba, "recall", target_level=0.8)',
)
def test_a_controller_of_mapie_stands_around_it(shifted):
    held = make_classification(3000, n_features=5, weights=[0.9], class_sep=0.8, random_state=2)
    controller = BinaryClassificationController(shifted.predict_proba, "recall", target_level=0.8)
    controller.calibrate(*held)
    assert recall_score(held[1], controller.predict(held[0])) >= 0.8


@pytest.mark.tool("dask-ml", "ParallelPostFit(BoundShiftClassifier(LogisticRegression()))")
@pytest.mark.filterwarnings("ignore")  # of what it imports
def test_dask_ml_predicts_by_blocks(shifted):
    from dask_ml.wrappers import ParallelPostFit

    wrapped = ParallelPostFit(BoundShiftClassifier(LogisticRegression())).fit(X, Y)
    labels = wrapped.predict(dask.array.from_array(X, chunks=(300, 5)))
    assert isinstance(labels, dask.array.Array)
    np.testing.assert_array_equal(labels.compute(scheduler="sync"), shifted.predict(X))
