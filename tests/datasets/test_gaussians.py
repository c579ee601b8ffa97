import numpy as np
import pytest
from scipy.stats import norm

from boundshift.datasets import make_gaussians
from boundshift.exceptions import InvalidInputError


def test_means_are_opposite_and_the_covariance_is_one():
    mean = np.array([2.0, -1.0])
    X, y = make_gaussians((20_000, 20_000), mean=mean, random_state=0)
    for label in (0, 1):
        np.testing.assert_allclose(X[y == label].mean(axis=0), (2 * label - 1) * mean, atol=0.05)
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(2), atol=0.05)


def test_bayes_error_is_the_documented_one():
    X, y = make_gaussians((50_000, 50_000), random_state=0)
    error = np.mean((X.sum(axis=1) > 0) != (y == 1))
    assert error == pytest.approx(norm.cdf(-np.sqrt(2)), abs=0.003)


def test_a_second_draw_from_one_generator_is_new():
    rng = np.random.RandomState(0)
    first, _ = make_gaussians(random_state=rng)
    second, _ = make_gaussians(random_state=rng)
    assert not np.isin(first, second).any()


@pytest.mark.parametrize("n_samples", [(10,), (10, 0), (1, 2, 3)])
def test_other_than_two_positive_sizes_are_refused(n_samples):
    with pytest.raises(InvalidInputError, match="n_samples"):
        make_gaussians(n_samples)
