"""The paper's synthetic problem: one Gaussian a class."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from boundshift.exceptions import InvalidInputError

__all__ = ["make_gaussians"]


def make_gaussians(
    n_samples: Sequence[int] = (1000, 10),
    *,
    mean: ArrayLike = (1.0, 1.0),
    covariance: ArrayLike | None = None,
    shuffle: bool = True,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    r"""Draw two Gaussian classes with opposite means and a common covariance.

    Parameters
    ----------
    n_samples : sequence of two int, default=(1000, 10)
        Negative and positive rows.
    mean : array-like of shape (n_features,), default=(1, 1)
        Mean μ of the positive class; the negative class has −μ.
    covariance : array-like of shape (n_features, n_features), default=None
        Covariance of both classes; None is the identity.
    shuffle : bool, default=True
        Mix the rows; otherwise the negative ones come first.
    random_state : int, RandomState or None, default=None
        Source of randomness. Draw a test set with another seed, or with the same RandomState
        once more; the same seed would draw the training rows again.

    Returns
    -------
    X : ndarray of shape (n_negative + n_positive, n_features)
    y : ndarray of shape (n_negative + n_positive,)
        0 or 1.

    Notes
    -----
    With Σ the covariance, the Bayes classifier for equal class weights predicts positive iff
    :math:`x^\top Σ^{-1} μ > 0`, and errs with probability
    :math:`Φ(-\sqrt{μ^\top Σ^{-1} μ})` on either class: 0.079 for the default.

    Examples
    --------
    >>> from boundshift.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> X.shape, int(y.sum())
    ((1010, 2), 10)
    """
    mu = np.atleast_1d(np.asarray(mean, dtype=np.float64))
    sigma = np.eye(len(mu)) if covariance is None else np.asarray(covariance, dtype=np.float64)
    _check(n_samples, mu, sigma)
    rng = check_random_state(random_state)
    X = np.vstack(
        [
            rng.multivariate_normal(sign * mu, sigma, size=n)
            for sign, n in zip((-1, 1), n_samples, strict=True)
        ]
    )
    y = np.repeat(np.array([0, 1], dtype=np.int64), n_samples)
    order = rng.permutation(len(y)) if shuffle else np.arange(len(y))
    return X[order], y[order]


def _check(n_samples: Sequence[int], mu: NDArray[np.float64], sigma: NDArray[np.float64]) -> None:
    """Refuse what would otherwise fail deep inside NumPy, or not at all."""
    if len(n_samples) != 2 or min(n_samples) < 1:
        raise InvalidInputError(
            f"`n_samples` must be two positive integers, got {n_samples!r}. "
            "Use (1000, 10) for the paper's setting."
        )
    if mu.ndim != 1 or sigma.shape != (len(mu), len(mu)):
        raise InvalidInputError(
            "`covariance` must be a square matrix with one row per entry of `mean`, got shape "
            f"{sigma.shape} for a mean of shape {mu.shape}. Use None for the identity."
        )
