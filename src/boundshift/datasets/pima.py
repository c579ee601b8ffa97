"""Pima Indians diabetes."""

import numpy as np

from boundshift.datasets.bunch import Loaded, make_bunch
from boundshift.datasets.tables import read_bundled

__all__ = ["load_pima"]

_DESCR = """Pima Indians diabetes: 768 women, 8 measurements, 500 without and 268 with diabetes.

Zeros in Glucose, BloodPressure, SkinThickness, Insulin and BMI stand for values that were not
taken; they are left as they are, as in the paper.
National Institute of Diabetes and Digestive and Kidney Diseases, donor V. Sigillito, 1990.
Smith, Everhart, Dickson, Knowler, Johannes, "Using the ADAP learning algorithm to forecast the
onset of diabetes mellitus", 1988.
"""


def load_pima(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load Pima Indians diabetes (768 × 8; 500 negative, 268 positive).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return pandas objects; needs the extra ``data``.

    Returns
    -------
    Bunch or (data, target)
        With the keys data, target (1 = diabetes), feature_names, target_names, frame, name and
        DESCR.

    Examples
    --------
    >>> from boundshift.datasets import load_pima
    >>> pima = load_pima()
    >>> pima.data.shape, int(pima.target.sum())
    ((768, 8), 268)
    """
    table = read_bundled("pima.csv")
    features = [name for name in table.header if name != "Outcome"]
    return make_bunch(
        name="pima",
        data=table.numbers(features),
        target=table.numbers(["Outcome"])[:, 0].astype(np.int64),
        feature_names=features,
        target_names=["no diabetes", "diabetes"],
        descr=_DESCR,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
