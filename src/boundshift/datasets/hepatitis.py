"""Hepatitis."""

import numpy as np

from boundshift.datasets.bunch import Loaded, make_bunch
from boundshift.datasets.tables import read_bundled

__all__ = ["load_hepatitis"]

_DESCR = """Hepatitis, prepared as in the paper: 137 patients, 16 features, 111 live and 26 die.

Without PROTIME, ALKPHOSPHATE and ALBUMIN, which miss many values, and then without the 18 rows
that still miss one. Symptoms are coded 1 = no, 2 = yes, as in the source.
UCI Machine Learning Repository 46, donor G. Gong, 1988.
"""
_SPARSE_FEATURES = ("PROTIME", "ALKPHOSPHATE", "ALBUMIN")


def load_hepatitis(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load Hepatitis as the paper prepared it (137 × 16; 111 negative, 26 positive).

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return pandas objects; needs the extra ``data``.

    Returns
    -------
    Bunch or (data, target)
        With the keys data, target (1 = die), feature_names, target_names, frame, name and DESCR.

    Examples
    --------
    >>> from boundshift.datasets import load_hepatitis
    >>> hepatitis = load_hepatitis()
    >>> hepatitis.data.shape, int(hepatitis.target.sum())
    ((137, 16), 26)
    """
    table = read_bundled("hepatitis.csv").without(_SPARSE_FEATURES).complete()
    features = [name for name in table.header if name != "Class"]
    return make_bunch(
        name="hepatitis",
        data=table.numbers(features),
        target=(table.numbers(["Class"])[:, 0] == 1).astype(np.int64),
        feature_names=features,
        target_names=["live", "die"],
        descr=_DESCR,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
