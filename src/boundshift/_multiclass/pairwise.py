r"""Biases that reconcile the thresholds of all pairs: :math:`b_i - b_j \approx t_{ij}`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boundshift._multiclass.pairs import Pairs
from boundshift._typing import FloatArray


def reconcile(
    thresholds: Mapping[tuple[int, int], float], pairs: Pairs, n_classes: int
) -> FloatArray:
    r"""Solve :math:`b_i - b_j \approx t_{ij}` by weighted least squares.

    A threshold's variance falls with the rows of the smaller class.
    """
    laplacian = np.zeros((n_classes, n_classes))
    right = np.zeros(n_classes)
    for (i, j), t in thresholds.items():
        first, second = pairs[i, j].sample.n_samples
        w = 1 / (1 / first + 1 / second)
        laplacian[[i, j], [i, j]] += w
        laplacian[[i, j], [j, i]] -= w
        right[[i, j]] += w * t, -w * t
    # The least-norm solution sums to zero on every connected set of classes.
    return np.asarray(np.linalg.lstsq(laplacian, right, rcond=None)[0], dtype=np.float64)
