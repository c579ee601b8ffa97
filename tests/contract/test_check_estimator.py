"""scikit-learn's own checks, with the expected failures of its own TunedThresholdClassifierCV."""

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils._test_common.instance_generator import PER_ESTIMATOR_XFAIL_CHECKS
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from boundshift import BoundShiftClassifier

ESTIMATORS = {
    "logistic regression": LogisticRegression(),
    "support vectors": SVC(),
    "network": MLPClassifier(hidden_layer_sizes=(4,), max_iter=60, solver="lbfgs", alpha=0.01),
    "forest": RandomForestClassifier(n_estimators=3, max_depth=3),
    "boosting": HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=2, max_leaf_nodes=4),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}
# What scikit-learn expects of its own class that moves a threshold, and nothing else.
EXPECTED = PER_ESTIMATOR_XFAIL_CHECKS[TunedThresholdClassifierCV]
IGNORED = [
    "ignore::sklearn.exceptions.SkipTestWarning",  # checks of features that are not installed
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::boundshift.BoundaryWarning",  # the checks have classes that cannot be told apart
]


def model(name, **options):
    return BoundShiftClassifier(ESTIMATORS[name], **options)


def check(estimator):
    results = check_estimator(
        estimator, expected_failed_checks=EXPECTED, on_fail="raise", on_skip=None
    )
    others = {r["status"] for r in results if r["check_name"] not in EXPECTED}
    assert others <= {"passed", "skipped"}


@pytest.mark.tool("scikit-learn: `check_estimator`, pipelines, searches", "model(name, cv=2)")
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings(*IGNORED)
def test_no_check_fails(name):
    check(model(name, cv=2))


@pytest.mark.parametrize(
    "options",
    [
        {"cv": None},
        {"cv": 5},
        {"cv": 3, "curve": "paper"},
        {"cv": 3, "curve": "dkw", "rule": "minimax"},
        {"cv": 3, "multi_class": "one-vs-rest"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings(*IGNORED)
def test_no_check_fails_with_other_options(options):
    check(model("logistic regression", **options))


def test_most_checks_run():
    assert len(list(estimator_checks_generator(model("logistic regression")))) > 40
