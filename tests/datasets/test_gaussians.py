import numpy as np
import pytest
from scipy.stats import norm

from boundshift.datasets import make_gaussians
from boundshift.exceptions import InvalidInputError


@pytest.mark.parametrize("covariance", [None, [[2.0, 0.5], [0.5, 1.0]]])
def test_means_are_opposite_and_the_covariance_is_the_one_asked_for(covariance):
    mean = np.array([2.0, -1.0])
    X, y = make_gaussians((20_000, 20_000), mean=mean, covariance=covariance, random_state=0)
    expected = np.eye(2) if covariance is None else covariance
    for label in (0, 1):
        np.testing.assert_allclose(X[y == label].mean(axis=0), (2 * label - 1) * mean, atol=0.05)
        np.testing.assert_allclose(np.cov(X[y == label].T), expected, atol=0.05)


def test_bayes_error_is_the_documented_one():
    X, y = make_gaussians((50_000, 50_000), random_state=0)
    error = np.mean((X.sum(axis=1) > 0) != (y == 1))
    assert error == pytest.approx(norm.cdf(-np.sqrt(2)), abs=0.003)


def test_classes_do_not_share_their_noise():
    X, y = make_gaussians((10, 10), shuffle=False, random_state=0)
    assert not np.isclose(X[y == 1] - 1, X[y == 0] + 1).any()


def test_a_second_draw_from_one_generator_is_new():
    rng = np.random.RandomState(0)
    first, _ = make_gaussians(random_state=rng)
    second, _ = make_gaussians(random_state=rng)
    assert not np.isin(first, second).any()


@pytest.mark.parametrize("n_samples", [(10,), (10, 0), (1, 2, 3)])
def test_other_than_two_positive_sizes_are_refused(n_samples):
    with pytest.raises(InvalidInputError, match="n_samples"):
        make_gaussians(n_samples)


def test_covariance_of_another_dimension_is_refused():
    with pytest.raises(InvalidInputError, match=r"covariance.*\(3, 3\)"):
        make_gaussians(covariance=np.eye(3))
