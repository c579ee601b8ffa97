r"""Kernel-smoothed tail: the empirical error with its steps rounded off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from boundshift.curves.base import Claim, ShapeCurve, Tail
from boundshift.scores.sample import Binning, OrderedScores, robust_std
from boundshift.typing import FloatArray
from boundshift.validation import as_positive

__all__ = ["Smoothed"]

_CELLS_PER_BANDWIDTH = 32
_KERNEL_REACH = 9 * _CELLS_PER_BANDWIDTH  # a normal tail beyond 9 is below 1e-18
_MOST_CELLS = 1 << 16
_OFFSETS = np.arange(-_KERNEL_REACH, _KERNEL_REACH + 1)
_ROUNDED_OFF = ndtr(_OFFSETS / _CELLS_PER_BANDWIDTH) - (_OFFSETS > 0) - 0.5 * (_OFFSETS == 0)


@dataclass(frozen=True)
class Smoothed(ShapeCurve):
    r"""Tail of the class's kernel density estimate.

    .. math:: U(t) = \frac1n \sum_j \Phi\left(\frac{s_j - t}{h}\right), \qquad
              h = b \, \min(\hat\sigma, 2 \, \mathrm{IQR}/1.349) \, n^{-1/5}

    The interquartile range keeps an outlier from smoothing everything else away. Scores are
    counted on a grid of 32 cells a bandwidth, so the cost does not grow with the number of
    boundaries looked at; the error of that is below 1e-4 within 1,024 bandwidths of the class's
    median, and rows beyond count as if they stood there. A class of one row, or of rows that are
    all alike, leans on the spread within both classes.

    Parameters
    ----------
    bandwidth : float, default=1
        The factor b.

    Examples
    --------
    >>> from boundshift.scores.sample import ClassScores
    >>> tail = Smoothed().tail(ClassScores(np.array([-1.0, 0.0, 1.0])), pooled=1.0)
    >>> tail(np.array([0.0, 1.0])).round(3).tolist()
    [0.5, 0.204]
    """

    name = "smoothed"
    claim = Claim.AVERAGE_CASE
    assumptions = "The class's scores have a smooth density."
    formula = "mean of Phi((s - t) / h), h = b min(sd, 2 IQR / 1.349) n^(-1/5)"
    reference = "Silverman 1986, Density Estimation, section 3.4"

    bandwidth: float = 1.0

    def __post_init__(self) -> None:
        width = as_positive("bandwidth", self.bandwidth, "Use bandwidth=1.")
        object.__setattr__(self, "bandwidth", width)

    def tail(self, scores: OrderedScores, pooled: float) -> Tail:
        """Return the function from boundaries to the claimed share of the class above them."""
        h = self.bandwidth * (robust_std(scores) or pooled) * scores.n**-0.2
        if h == 0:
            return lambda t: np.where(t < scores.mean, 1.0, 0.0)
        origin, nodes, share_above = _tail_on_grid(scores, h)
        return lambda t: np.interp(t - origin, nodes, share_above, left=1.0, right=0.0)


def _tail_on_grid(scores: OrderedScores, h: float) -> tuple[float, FloatArray, FloatArray]:
    """Return an origin, nodes a fraction of a bandwidth apart, and the smoothed share above each.

    Nodes are counted from the origin, so that scores with a large offset lose no digits.
    """
    cell = h / _CELLS_PER_BANDWIDTH
    # Points farther from the median than the grid reaches count at its ends.
    reach = _MOST_CELLS * cell / 2
    low = max(scores.minimum, scores.median - reach)
    high = min(scores.maximum, scores.median + reach)
    binned = scores.binned(Binning(low, high, cell))
    counts = np.zeros(len(binned) + 2 * _KERNEL_REACH)
    counts[_KERNEL_REACH:-_KERNEL_REACH] = binned
    # Node i sees the point of cell j through Phi((j - i) / cells per bandwidth): a step, which
    # the cumulated counts carry, plus what the kernel rounds off, which dies out.
    above = np.cumsum(counts[::-1])[::-1] - counts / 2
    smooth = above + np.convolve(counts, _ROUNDED_OFF[::-1], mode="same")
    nodes = (np.arange(len(counts), dtype=np.float64) - _KERNEL_REACH) * cell
    return low, nodes, np.clip(smooth / scores.n, 0.0, 1.0)
