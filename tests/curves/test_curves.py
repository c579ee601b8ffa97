"""Each curve against an independent computation, and what all curves share."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import boundshift
from boundshift._scores import Scores, ScoreSample
from boundshift.curves import CURVES, Claim, CountCurve, ErrorCurve, as_curve
from boundshift.curves._smooth import RIDGE, _fit
from tests.problems import two_normals


def test_logistic_counts_rows_by_the_probability_of_a_plain_logistic_regression():
    y, s = two_normals(900, 60, 1.5)
    p = LogisticRegression(C=np.inf).fit(s[:, None], y).predict_proba(s[:, None])[:, 1]
    t = np.linspace(-2, 3, 11)
    found = as_curve("logistic").errors(ScoreSample.from_labels(y, s))(t)
    expected = [((1 - p) @ (s > x) / (1 - p).sum(), p @ (s <= x) / p.sum()) for x in t]
    np.testing.assert_allclose(np.transpose(found), expected, atol=2e-3)


def test_the_calibration_of_separated_classes_is_that_of_ridge_regression():
    # Without a penalty the slope would have no end.
    x = np.linspace(-2, 2, 9)
    counts = np.stack([5.0 * (x < 0), 2.0 * (x > 0.2)])
    ridge = LogisticRegression(
        C=1 / (2 * RIDGE * counts.sum()), solver="newton-cholesky", tol=1e-12
    )
    ridge.fit(np.tile(x, 2)[:, None], np.repeat([0, 1], 9), sample_weight=counts.ravel())
    np.testing.assert_allclose(_fit(x, counts), ridge.decision_function(x[:, None]), rtol=1e-6)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_clopper_pearson_equals_the_exact_binomial_interval(n, confidence):
    expected = [
        stats.binomtest(k, n, alternative="less").proportion_ci(confidence, "exact").high
        for k in range(n + 1)
    ]
    bound = CURVES["clopper-pearson"](confidence).bound(np.arange(n + 1), n)
    np.testing.assert_allclose(bound, expected, rtol=1e-9)
    assert np.all(np.diff(bound) >= 0)


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_smoothed_equals_the_plain_sum_over_kernels(n):
    values = np.sort(np.random.default_rng(0).normal(size=n))
    h = values.std(ddof=1) * n**-0.2
    t = np.linspace(-5, 5, 101)
    plain = stats.norm.sf((t[:, None] - values) / h).mean(axis=1)
    found = as_curve("smoothed").tail(Scores(values), 1.0)(t)
    np.testing.assert_allclose(found, plain, atol=1e-4)
    assert np.all(np.diff(found) <= 1e-12)


@dataclass(frozen=True)
class Certain(CountCurve):
    """A curve of someone else."""

    name = "certain"
    claim = Claim.NOMINAL

    def bound(self, wrong, n):
        return np.asarray(wrong) / n


@dataclass(frozen=True)
class Line(ErrorCurve):
    """A curve of someone else, straight from the base."""

    name = "line"
    claim = Claim.NOMINAL

    def errors(self, sample):
        return lambda t: (np.clip(1 - t / 4, 0, 1), np.clip(t / 4, 0, 1))


@pytest.mark.parametrize("curve", [Certain(), Line()])
def test_a_curve_of_someone_else_works_as_an_object(curve):
    found = boundshift.find_boundary([0, 0, 1, 1], [0, 1, 3, 4], curve=curve)
    assert found.threshold == pytest.approx(2)
    assert found.curve is curve
    again = boundshift.Boundary.from_json(found.to_json())
    assert again.threshold == found.threshold
    assert again.to_json() == found.to_json()
