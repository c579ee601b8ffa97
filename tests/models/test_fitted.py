"""A fitted classifier answers by what `fit` used, not by parameters that are set later."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import boundshift
from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    ClopperPearson,
    Cost,
    Floors,
    InvalidInputError,
    to_onnx,
)

X, Y = make_classification(600, weights=[0.8], flip_y=0.1, random_state=0)
FIT = slice(0, 400)
FRESH = slice(400, 600)
LATER = {
    "cv": "prefit",
    "rule": Cost(false_negative=50),
    "curve": "empirical",
    "pos_label": 0,
    "response_method": lambda model, X: X[:, 0],
    "multi_class": "pairwise",
    "ensemble": True,
}


def test_rows_of_fit_are_certified_by_no_parameter_set_after_fit():
    forest = RandomForestClassifier(20, random_state=0)
    shifted = BoundShiftClassifier(forest).fit(X[FIT], Y[FIT]).set_params(cv="prefit")
    with pytest.warns(BoundaryWarning, match="were used in fit"):
        assert shifted.certify(X[FIT], Y[FIT], chosen_here=True).status == "nominal"
    with pytest.warns(BoundaryWarning, match="were used in fit"):
        assert shifted.find_zone(X[FIT], Y[FIT]).status == "nominal"


@pytest.mark.parametrize("name", LATER)
def test_parameters_set_after_fit_change_no_answer(name):
    shifted = BoundShiftClassifier(LogisticRegression()).fit(X[FIT], Y[FIT])

    def answers():
        page = shifted.report(X[FRESH], Y[FRESH]).facts
        return [
            shifted.predict(X[FRESH]).tolist(),
            shifted.positive_scores(X[FRESH]).tolist(),
            shifted.deciding_sample_.scores.tolist(),
            shifted.certify(X[FRESH], Y[FRESH]),
            shifted.find_zone(X[FRESH], Y[FRESH]).to_dict(),
            shifted.shifted_estimator().intercept_.tolist(),
            page["goal"],
            page["verdict"],
            to_onnx(shifted, X[FRESH]).SerializeToString(),
        ]

    before = answers()
    shifted.set_params(**{name: LATER[name]})
    assert answers() == before


def test_what_fit_used_is_stored_with_it(tmp_path):
    rule = Floors(recall=0.7)
    curve = ClopperPearson(0.9)
    shifted = BoundShiftClassifier(LogisticRegression(), rule=rule, curve=curve)
    shifted.fit(X[FIT], Y[FIT]).set_params(rule="sum", curve=None, cv=None)
    again = boundshift.load(boundshift.save(shifted, tmp_path / "model.skops"))
    for model in (shifted, again):
        assert (model.rule_, model.curve_) == (rule, curve)
        assert (model.origin_, model.prefit_) == ("held-out", False)
        assert model.own_threshold_ == 0.5


# The threshold of the model itself.


def identity(X):
    return X[:, 0]


SCALED = make_pipeline(StandardScaler(), LogisticRegression())
OWN = {
    "probability": (LogisticRegression(), {}, 0.5),
    "pipeline": (SCALED, {}, 0.5),
    "margin": (LinearSVC(), {}, 0.0),
    "log-odds": (LogisticRegression(), {"response_method": "decision_function"}, 0.0),
    "a threshold of its own": (FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
                               {}, None),
    "a function as the response": (
        LogisticRegression(), {"response_method": lambda model, X: X[:, 0]}, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OWN)
@pytest.mark.parametrize("pos_label", [0, 1])
def test_the_own_threshold_cuts_the_scores_as_the_model_predicts(case, pos_label):
    model, settings, expected = OWN[case]
    shifted = BoundShiftClassifier(model, pos_label=pos_label, **settings).fit(X, Y)
    assert shifted.own_threshold_ == expected
    if expected is not None:
        above = shifted.positive_scores(X) > expected
        assert (above == (shifted.estimator_.predict(X) == pos_label)).all()


@pytest.mark.parametrize(
    ("shifted", "problem"),
    [
        (BoundShiftClassifier(identity, cv="prefit"), (X, Y)),
        (BoundShiftClassifier(LogisticRegression(max_iter=1000)), load_iris(return_X_y=True)),
    ],
    ids=["a function", "many classes"],
)
def test_a_function_and_many_classes_have_no_threshold_of_their_own(shifted, problem):
    assert shifted.fit(*problem).own_threshold_ is None


# Rows without labels.


@pytest.mark.parametrize("recall", [0.8, 0.9])
def test_rows_held_out_for_floors_lend_no_folds_to_rows_without_labels(recall):
    y = np.repeat([0, 1], [300, 60])
    rows = np.random.default_rng(0).normal(size=(360, 3)) + y[:, None]
    shifted = BoundShiftClassifier(LogisticRegression(), rule=Floors(recall=recall), ensemble=True)
    shifted.fit(rows, y)
    with pytest.raises(InvalidInputError, match="Rows without labels certify"):
        shifted.certify_unlabelled(np.random.default_rng(1).normal(size=(72, 3)))
