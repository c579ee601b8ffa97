"""Wisconsin diagnostic breast cancer."""

import numpy as np
from sklearn import datasets

from boundshift.datasets.bunch import Loaded, make_bunch

__all__ = ["load_breast_cancer"]


def load_breast_cancer(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Loaded:
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
        With the keys data, target (1 = malignant), feature_names, target_names, frame, name and
        DESCR.

    Examples
    --------
    >>> from boundshift.datasets import load_breast_cancer
    >>> cancer = load_breast_cancer()
    >>> cancer.target_names.tolist(), int(cancer.target.sum())
    (['benign', 'malignant'], 212)
    """
    original = datasets.load_breast_cancer()
    return make_bunch(
        name="breast_cancer",
        data=np.asarray(original.data, dtype=np.float64),
        target=(original.target == 0).astype(np.int64),
        feature_names=[str(name) for name in original.feature_names],
        target_names=["benign", "malignant"],
        descr="Labels swapped: malignant = 1, benign = 0.\n\n" + original.DESCR,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
