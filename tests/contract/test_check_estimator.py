"""scikit-learn's own checks, with the expected failures of its own TunedThresholdClassifierCV."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.svm import LinearSVC
from sklearn.utils._test_common.instance_generator import PER_ESTIMATOR_XFAIL_CHECKS
from sklearn.utils.estimator_checks import check_estimator

from boundshift import BoundShiftClassifier

MODELS = {
    "default": (LogisticRegression(), {}),
    "margins": (
        LinearSVC(),
        {"multi_class": "pairwise", "curve": "smoothed", "rule": "minimax"},
    ),
}
# What scikit-learn expects of its own class that moves a threshold, and nothing else.
EXPECTED = PER_ESTIMATOR_XFAIL_CHECKS[TunedThresholdClassifierCV]


def model(name, **options):
    estimator, more = MODELS[name]
    return BoundShiftClassifier(estimator, **options | more)


@pytest.mark.tool("scikit-learn: `check_estimator`, pipelines, searches", "model(name, cv=2)")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.SkipTestWarning",  # checks of features that are not installed
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::boundshift.BoundaryWarning",  # the checks have classes that cannot be told apart
)
def test_no_check_fails(name):
    results = check_estimator(
        model(name, cv=2), expected_failed_checks=EXPECTED, on_fail="raise", on_skip=None
    )
    others = {r["status"] for r in results if r["check_name"] not in EXPECTED}
    assert others <= {"passed", "skipped"}
