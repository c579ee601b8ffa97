"""What a classifier refuses: the argument, the value and the remedy are in the sentence."""

import lightgbm
import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from boundshift import BoundShiftClassifier, ClassFloors, Cost, Floors, InvalidInputError

N = 300
X, Y = make_classification(N, n_features=6, weights=[0.85], random_state=0)
SORTED = np.argsort(Y, kind="stable")
THREE = np.where(X[:, 0] > 1, 2, Y)
EVEN = np.arange(N)[::2]
ODD = np.arange(N)[1::2]
NEGATIVE = np.flatnonzero(Y == 0)[:20]
LINEAR = LogisticRegression()
FOREST = RandomForestClassifier(3)
FLOORS = {"rule": Floors(recall=0.6)}


def fit(model=LINEAR, rows=X, labels=Y, given=None, **options):
    return BoundShiftClassifier(model, **options).fit(rows, labels, **(given or {}))


def spent():
    splits = iter([(EVEN, ODD)])
    list(splits)
    return splits


def grouped(**options):
    return {"cv": GroupKFold(5), "given": {"groups": np.arange(N) // 3}, **options}


# What is asked for, and words of the answer.
WRONG = {
    "a class": ({"pos_label": 2}, "`pos_label` must be one of the labels 0 and 1, got 2"),
    "many classes": ({"multi_class": "x"}, "'joint', 'pairwise', got 'x'"),
    "a response": ({"response_method": "x"}, "`response_method` must be one of 'auto'"),
    "an ensemble": ({"ensemble": 2}, "`ensemble` must be one of True, False, 'auto', got 2"),
    "no score": ({"model": LinearRegression()}, "got LinearRegression without. Use"),
    "no margin": ({"response_method": "margin"}, "must have known margins, got Logistic"),
    "one class": ({"labels": Y * 0}, "at least two classes, got 1 class(es): [0]"),
    "one class with weight": (
        {"given": {"sample_weight": 1.0 - Y}},
        "`y` with a `sample_weight` above 0 must hold at least two classes",
    ),
    "a class among many": ({"labels": THREE, "pos_label": 2}, "`pos_label` must be None with more"),
    "unknown labels": (
        {"model": LogisticRegression().fit(X, Y), "cv": "prefit", "labels": Y + 1},
        "knows ([0, 1]), got [2] too. Encode",
    ),
    "costs of many classes": (
        {"labels": THREE, "given": {"row_cost": np.ones(N)}},
        "`row_cost` must go with two classes, got 3",
    ),
    "weights with a bound": (
        {"given": {"sample_weight": np.ones(N)}, "curve": "clopper-pearson"},
        "`sample_weight` must be left out with the curve 'clopper-pearson'",
    ),
    "precision of groups": (
        grouped(rule=Floors(precision=0.6)),
        "got Floors(precision=0.6). Use Floors(recall=0.9); curve='empirical'",
    ),
    "floors of groups and many classes": (
        grouped(labels=THREE, rule=ClassFloors({2: 0.5})),
        "got ClassFloors(",
    ),
    "no groups": (
        {"cv": StratifiedGroupKFold(5)},
        "`groups` must be given with cv=StratifiedGroup",
    ),
    "groups that are split": (grouped(cv=KFold(5, shuffle=True)), "`cv` must keep groups together"),
    "short groups": (grouped(given={"groups": [1, 2]}), "each of 300 rows, got 2"),
    "groups for nothing": ({"given": {"groups": np.zeros(N)}}, "Use cv=GroupKFold"),
    "an unknown word": ({"cv": "x"}, "`cv` must be 'prefit', a number of folds"),
    "a training part of one class": (
        {"rows": X[SORTED], "labels": Y[SORTED], "cv": KFold(3)},
        "got 0 row(s) in both of part 3 of 3, which trains on [0]. Use an int",
    ),
    "shared rows": (
        {"cv": [(np.append(EVEN, 1), ODD), (ODD, EVEN)]},
        "got 1 row(s) in both of part 1 of 2",
    ),
    "a spent generator": ({"cv": spent()}, "must give at least one split, got none"),
    "test parts of one class": (
        {"cv": [(np.setdiff1d(np.arange(N), NEGATIVE), NEGATIVE)]},
        "must",
    ),
    "rows that are no rows": ({"cv": [([0.5], [1])]}, "`cv` must be an int, a splitter or pairs"),
    "a function fitted": ({"model": len}, "`cv` must be 'prefit' for a builtin_function"),
    "a mean of nothing": ({"cv": None, "ensemble": np.True_}, "`ensemble` must be False or 'auto'"),
    "a mean of one row": (
        {"rows": X[:12], "labels": np.arange(12) == 7, "ensemble": True},
        "a class of one row, which no fold can leave out",
    ),
    "a mean of kernels": (
        {"model": SVC(kernel="precomputed"), "rows": rbf_kernel(X), "ensemble": True},
        "with a precomputed kernel, got True",
    ),
    "weights twice": (
        {"given": {"sample_weight": np.ones(N), "a__sample_weight": np.ones(N)}},
        "`sample_weight` must be given once",
    ),
    "equally frequent classes": (
        {"labels": np.array(["a", "b"])[np.arange(N) % 2], "rule": Cost(false_negative=2)},
        "Both are equally frequent",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fit_that_cannot_be_gets_a_sentence(name):
    asked, words = WRONG[name]
    with pytest.raises(InvalidInputError) as caught:
        fit(**asked)
    assert words in str(caught.value)


@pytest.mark.parametrize("cv", ["x", 3.5, [(1, 2)], [1, 2], [("a", "b")], {}], ids=str)
@pytest.mark.parametrize("options", [{}, FLOORS], ids=["plain", "floors"])
def test_what_gives_no_rows_is_no_cv(cv, options):
    with pytest.raises(ValueError, match="cv"):
        fit(cv=cv, **options)


# A model whose intercept cannot carry the shift.
STAYING = {
    "no margins": (lambda: fit(FOREST, ensemble=False), "the shift, got RandomForestClassifier"),
    "no intercept": (lambda: fit(GaussianNB(), ensemble=False), "the shift, got GaussianNB"),
    "a mean": (lambda: fit(FOREST, ensemble=True), "got a mean of RandomForestClassifiers"),
    "votes of pairs": (lambda: fit(SVC(), ensemble=False), "the shift, got SVC"),
    "boosting": (
        lambda: fit(lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1), cv=None),
        "the shift, got LGBMClassifier",
    ),
}


@pytest.mark.parametrize("name", STAYING)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_shift_that_no_intercept_can_carry_gets_a_sentence(name):
    make, words = STAYING[name]
    with pytest.raises(InvalidInputError) as caught:
        make().shifted_estimator()
    assert words in str(caught.value)


def test_what_is_not_fitted():
    with pytest.raises(NotFittedError):
        BoundShiftClassifier(LINEAR).shifted_estimator()
    with pytest.raises(NotFittedError):
        fit(cv="prefit", model=LogisticRegression())


def test_one_class_is_positive_only_of_two():
    with pytest.raises(InvalidInputError, match="must be two for one class to be positive, got 3"):
        fit(labels=THREE).positive_scores(X)


def test_weights_that_nobody_requested():
    routing = config_context(enable_metadata_routing=True)
    with routing, pytest.raises(UnsetMetadataPassedError):
        fit(given={"sample_weight": np.ones(N)})
