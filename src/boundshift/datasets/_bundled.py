"""The paper's data: four medical sets that need no download, and two Gaussian classes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch, check_random_state

from boundshift.exceptions import InvalidInputError, MissingExtraError


class Contents(NamedTuple):
    """A data set as it was read; 1 or True is the positive class."""

    name: str
    data: NDArray[np.float64]
    target: NDArray[Any]
    feature_names: Sequence[str]
    target_names: Sequence[str]
    descr: str = ""


def make_bunch(contents: Contents, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Pack a data set the way scikit-learn's own loaders do."""
    frame = None
    columns = contents.data
    labels = np.asarray(contents.target, dtype=np.int64)
    names = list(contents.feature_names)
    if as_frame:
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("pandas", "data") from error
        frame = pd.DataFrame(contents.data, columns=names).assign(target=labels)
        columns = frame[names]
        labels = frame["target"]
    if return_X_y:
        return columns, labels
    return Bunch(
        name=contents.name,
        data=columns,
        target=labels,
        frame=frame,
        feature_names=names,
        target_names=np.array(contents.target_names),
        DESCR=contents.descr or _open("PROVENANCE.md"),
    )


def _open(filename: str) -> str:
    return resources.files("boundshift.datasets").joinpath("data", filename).read_text("utf-8")


def _read(
    filename: str, label: str, without: Sequence[str] = ()
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return names, features and labels of a bundled file, less rows that miss a value."""
    header, *lines = _open(filename).splitlines()
    names = header.split(",")
    features = [name for name in names if name not in (label, *without)]
    values = np.genfromtxt(lines, delimiter=",")[:, [names.index(n) for n in (*features, label)]]
    values = values[~np.isnan(values).any(axis=1)]
    return features, np.ascontiguousarray(values[:, :-1]), values[:, -1]


def load_pima(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Pima Indians diabetes (768 × 8; 500 negative, 268 positive with diabetes).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return pandas objects; needs the extra ``data``.

    Returns
    -------
    Bunch or (data, target)
        With the keys data, target (0 or 1), feature_names, target_names (in the order of the
        labels), frame, name and DESCR.

    Examples
    --------
    >>> from boundshift.datasets import load_pima
    >>> pima = load_pima()
    >>> pima.data.shape, int(pima.target.sum())
    ((768, 8), 268)
    """
    features, X, outcome = _read("pima.csv", "Outcome")
    contents = Contents("pima", X, outcome == 1, features, ("no diabetes", "diabetes"))
    return make_bunch(contents, return_X_y=return_X_y, as_frame=as_frame)


def load_heart(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Heart Disease as the paper prepared it (212 × 11; 164 negative, 48 positive).

    Positive is a diagnosis of 3 or 4.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return pandas objects; needs the extra ``data``.

    Returns
    -------
    Bunch or (data, target)
        With the keys data, target (0 or 1), feature_names, target_names (in the order of the
        labels), frame, name and DESCR.

    Examples
    --------
    >>> from boundshift.datasets import load_heart
    >>> heart = load_heart()
    >>> heart.data.shape, int(heart.target.sum())
    ((212, 11), 48)
    """
    features, X, diagnosis = _read("heart_cleveland_0_3_4.csv", "num", ("ca", "thal"))
    labels = ("no disease", "severe disease")
    contents = Contents("heart", X, diagnosis > 0, features, labels)
    return make_bunch(contents, return_X_y=return_X_y, as_frame=as_frame)


def load_hepatitis(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Hepatitis as the paper prepared it (137 × 16; 111 negative, 26 positive, who die).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return pandas objects; needs the extra ``data``.

    Returns
    -------
    Bunch or (data, target)
        With the keys data, target (0 or 1), feature_names, target_names (in the order of the
        labels), frame, name and DESCR.

    Examples
    --------
    >>> from boundshift.datasets import load_hepatitis
    >>> hepatitis = load_hepatitis()
    >>> hepatitis.data.shape, int(hepatitis.target.sum())
    ((137, 16), 26)
    """
    sparse = ("PROTIME", "ALKPHOSPHATE", "ALBUMIN")
    features, X, fate = _read("hepatitis.csv", "Class", sparse)
    contents = Contents("hepatitis", X, fate == 1, features, ("live", "die"))
    return make_bunch(contents, return_X_y=return_X_y, as_frame=as_frame)


def load_breast_cancer(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load scikit-learn's breast cancer data with malignant, the minority, as positive.

    scikit-learn codes malignant as 0 and benign as 1; here the minority is 1, as everywhere in
    boundshift. The rows keep scikit-learn's order (569 × 30; 357 negative, 212 positive).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return pandas objects; needs the extra ``data``.

    Returns
    -------
    Bunch or (data, target)
        With the keys data, target (0 or 1), feature_names, target_names (in the order of the
        labels), frame, name and DESCR.

    Examples
    --------
    >>> from boundshift.datasets import load_breast_cancer
    >>> cancer = load_breast_cancer()
    >>> cancer.target_names.tolist(), int(cancer.target.sum())
    (['benign', 'malignant'], 212)
    """
    original = sklearn_datasets.load_breast_cancer()
    contents = Contents(
        name="breast_cancer",
        data=np.asarray(original.data, dtype=np.float64),
        target=original.target == 0,
        feature_names=[str(name) for name in original.feature_names],
        target_names=("benign", "malignant"),
        descr="Labels swapped: malignant = 1, benign = 0.\n\n" + original.DESCR,
    )
    return make_bunch(contents, return_X_y=return_X_y, as_frame=as_frame)


def make_gaussians(
    n_samples: Sequence[int] = (1000, 10),
    *,
    mean: ArrayLike = (1.0, 1.0),
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    r"""Draw two Gaussian classes with opposite means and the identity as covariance, shuffled.

    Parameters
    ----------
    n_samples : sequence of two int, default=(1000, 10)
        Negative and positive rows.
    mean : array-like of shape (n_features,), default=(1, 1)
        Mean μ of the positive class; the negative class has −μ.
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
    The Bayes classifier for equal class weights predicts positive iff :math:`x^\top μ > 0`, and
    errs with probability :math:`Φ(-\|μ\|)` on either class: 0.079 for the default.

    Examples
    --------
    >>> from boundshift.datasets import make_gaussians
    >>> X, y = make_gaussians(random_state=0)
    >>> X.shape, int(y.sum())
    ((1010, 2), 10)
    """
    mu = np.atleast_1d(np.asarray(mean, dtype=np.float64))
    if len(n_samples) != 2 or min(n_samples) < 1:
        raise InvalidInputError(
            f"must be two positive integers, got {n_samples!r}. "
            "Use (1000, 10) for the paper's setting.",
            argument="n_samples",
        )
    rng = check_random_state(random_state)
    covariance = np.eye(len(mu))
    negative = rng.multivariate_normal(-mu, covariance, n_samples[0])
    positive = rng.multivariate_normal(mu, covariance, n_samples[1])
    X = np.vstack([negative, positive])
    y = np.repeat(np.array([0, 1], dtype=np.int64), n_samples)
    order = rng.permutation(len(y))
    return X[order], y[order]


_LOADERS = (load_pima, load_heart, load_hepatitis, load_breast_cancer)
BUNDLED = {load.__name__.removeprefix("load_"): load for load in _LOADERS}


def describe_bundled() -> list[tuple[str, int, int, int, int, float]]:
    """Return name, rows, columns, classes, rows of the rarer class, and imbalance ratio of each."""
    rows = []
    for name, loader in BUNDLED.items():
        X, y = loader(return_X_y=True)
        rare = int(min(y.sum(), len(y) - y.sum()))
        rows.append((name, *X.shape, 2, rare, (len(y) - rare) / rare))
    return rows


def load_table(name: str) -> Any:
    """Return a data set as one DataFrame, with the class in words in the column ``target``."""
    if name not in BUNDLED:
        raise InvalidInputError(f"The data set must be one of {', '.join(BUNDLED)}, got '{name}'.")
    bunch = BUNDLED[name](as_frame=True)
    return bunch.frame.assign(target=bunch.target_names[bunch.frame["target"].to_numpy()])
