"""Cleveland heart disease, none against severe."""

import numpy as np

from boundshift.datasets.bunch import Loaded, make_bunch
from boundshift.datasets.tables import read_bundled

__all__ = ["load_heart"]

_DESCR = """Cleveland heart disease, prepared as in the paper: 212 patients, 11 features, 164 / 48.

Diagnosis 0 is negative, 3 and 4 are positive; 1 and 2 are left out to make the classes
imbalanced. Without ca and thal, which miss values.
UCI Machine Learning Repository 45, A. Janosi, W. Steinbrunn, M. Pfisterer, R. Detrano.
"""


def load_heart(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load Heart Disease as the paper prepared it (212 × 11; 164 negative, 48 positive).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return pandas objects; needs the extra ``data``.

    Returns
    -------
    Bunch or (data, target)
        With the keys data, target (1 = diagnosis 3 or 4), feature_names, target_names, frame,
        name and DESCR.

    Examples
    --------
    >>> from boundshift.datasets import load_heart
    >>> heart = load_heart()
    >>> heart.data.shape, int(heart.target.sum())
    ((212, 11), 48)
    """
    table = read_bundled("heart_cleveland_0_3_4.csv").without(["ca", "thal"])
    features = [name for name in table.header if name != "num"]
    return make_bunch(
        name="heart",
        data=table.numbers(features),
        target=(table.numbers(["num"])[:, 0] > 0).astype(np.int64),
        feature_names=features,
        target_names=["no disease", "severe disease"],
        descr=_DESCR,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
