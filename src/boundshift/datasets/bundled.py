"""The paper's medical data sets, which come with the package or with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from boundshift.datasets.bunch import Contents, as_loader
from boundshift.datasets.tables import Table, read_bundled

__all__ = ["load_breast_cancer", "load_heart", "load_hepatitis", "load_pima"]

_PIMA = """Pima Indians diabetes: 768 women, 8 measurements, 500 without and 268 with diabetes.

Zeros in Glucose, BloodPressure, SkinThickness, Insulin and BMI stand for values that were not
taken; they are left as they are, as in the paper.
National Institute of Diabetes and Digestive and Kidney Diseases, donor V. Sigillito, 1990.
Smith, Everhart, Dickson, Knowler, Johannes, "Using the ADAP learning algorithm to forecast the
onset of diabetes mellitus", 1988.
"""

_HEART = """Cleveland heart disease, prepared as in the paper: 212 patients, 11 features, 164 / 48.

Diagnosis 0 is negative, 3 and 4 are positive; 1 and 2 are left out to make the classes
imbalanced. Without ca and thal, which miss values.
UCI Machine Learning Repository 45, A. Janosi, W. Steinbrunn, M. Pfisterer, R. Detrano.
"""

_HEPATITIS = """Hepatitis, prepared as in the paper: 137 patients, 16 features, 111 live and 26 die.

Without PROTIME, ALKPHOSPHATE and ALBUMIN, which miss many values, and then without the 18 rows
that still miss one. Symptoms are coded 1 = no, 2 = yes, as in the source.
UCI Machine Learning Repository 46, donor G. Gong, 1988.
"""


def _contents(
    table: Table,
    column: str,
    is_positive: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
    name: str,
    labels: tuple[str, str],
    descr: str,
) -> Contents:
    """Take one column of a table for the labels, and all others for features."""
    features = [feature for feature in table.header if feature != column]
    target = is_positive(table.numbers([column])[:, 0]).astype(np.int64)
    return Contents(name, table.numbers(features), target, features, labels, descr)


@as_loader
def load_pima() -> Contents:
    """Load Pima Indians diabetes (768 × 8; 500 negative, 268 positive with diabetes).

    Examples
    --------
    >>> from boundshift.datasets import load_pima
    >>> pima = load_pima()
    >>> pima.data.shape, int(pima.target.sum())
    ((768, 8), 268)
    """
    table = read_bundled("pima.csv")
    labels = ("no diabetes", "diabetes")
    return _contents(table, "Outcome", lambda outcome: outcome == 1, "pima", labels, _PIMA)


@as_loader
def load_heart() -> Contents:
    """Load Heart Disease as the paper prepared it (212 × 11; 164 negative, 48 positive).

    Positive is a diagnosis of 3 or 4.

    Examples
    --------
    >>> from boundshift.datasets import load_heart
    >>> heart = load_heart()
    >>> heart.data.shape, int(heart.target.sum())
    ((212, 11), 48)
    """
    table = read_bundled("heart_cleveland_0_3_4.csv").without(["ca", "thal"])
    labels = ("no disease", "severe disease")
    return _contents(table, "num", lambda diagnosis: diagnosis > 0, "heart", labels, _HEART)


@as_loader
def load_hepatitis() -> Contents:
    """Load Hepatitis as the paper prepared it (137 × 16; 111 negative, 26 positive, who die).

    Examples
    --------
    >>> from boundshift.datasets import load_hepatitis
    >>> hepatitis = load_hepatitis()
    >>> hepatitis.data.shape, int(hepatitis.target.sum())
    ((137, 16), 26)
    """
    sparse = ("PROTIME", "ALKPHOSPHATE", "ALBUMIN")
    table = read_bundled("hepatitis.csv").without(sparse).complete()
    return _contents(table, "Class", lambda c: c == 1, "hepatitis", ("live", "die"), _HEPATITIS)


@as_loader
def load_breast_cancer() -> Contents:
    """Load scikit-learn's breast cancer data with malignant, the minority, as positive.

    scikit-learn codes malignant as 0 and benign as 1; here the minority is 1, as everywhere in
    boundshift. The rows keep scikit-learn's order (569 × 30; 357 negative, 212 positive).

    Examples
    --------
    >>> from boundshift.datasets import load_breast_cancer
    >>> cancer = load_breast_cancer()
    >>> cancer.target_names.tolist(), int(cancer.target.sum())
    (['benign', 'malignant'], 212)
    """
    original = datasets.load_breast_cancer()
    return Contents(
        name="breast_cancer",
        data=np.asarray(original.data, dtype=np.float64),
        target=(original.target == 0).astype(np.int64),
        feature_names=[str(name) for name in original.feature_names],
        target_names=("benign", "malignant"),
        descr="Labels swapped: malignant = 1, benign = 0.\n\n" + original.DESCR,
    )
