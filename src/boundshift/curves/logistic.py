r"""Logistic calibration: both classes' errors from all rows at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from boundshift.curves.base import Claim, PairCurve, Tail
from boundshift.scores.sample import Binning, ScoreSample, pooled_spread, robust_std
from boundshift.typing import FloatArray

__all__ = ["CELLS_PER_SPREAD", "RIDGE", "Logistic"]

CELLS_PER_SPREAD = 64
_MOST_CELLS = 1 << 14  # on each side of the middle
_REACH = 3  # spreads beyond the medians: one row far away must not turn the calibration
RIDGE = 1e-6
_MOST_STEPS = 100


@dataclass(frozen=True)
class Logistic(PairCurve):
    r"""Tails of both classes under a logistic calibration of the scores.

    .. math:: \pi(s) = \frac{1}{1 + e^{-(a s + b)}}, \qquad
              U_-(t) = \frac{\sum_{s_j > t} 1 - \pi(s_j)}{\sum_j 1 - \pi(s_j)}, \qquad
              U_+(t) = \frac{\sum_{s_j \le t} \pi(s_j)}{\sum_j \pi(s_j)}

    with a and b of greatest likelihood. Every row speaks for both classes, by its probability to
    belong to each, so a rare class leans on all rows and not on its few own. The sum of both is
    least where :math:`\pi` equals the share of the positive class.

    Scores are counted on a grid of 64 cells a standard deviation, so the cost does not grow with
    the number of boundaries looked at; the error of that is below 1e-4 as long as all scores lie
    within 3 spreads of both medians. Scores beyond count as if they stood there, so that one row
    far away cannot turn the calibration, which changes the tails by more (up to 0.17 was seen with
    heavy tails). Where the classes are apart a small penalty, 1e-6 times a² in units of the
    spread, keeps a finite.

    Examples
    --------
    >>> sample = ScoreSample.from_labels([0, 0, 0, 0, 1, 1], [0.0, 1.0, 2.0, 4.0, 3.0, 5.0])
    >>> negative, positive = Logistic().tails(sample)
    >>> negative(np.array([2.5])).round(2).tolist(), positive(np.array([-2.5])).round(2).tolist()
    ([0.3], [0.1])
    """

    name = "logistic"
    claim = Claim.AVERAGE_CASE
    assumptions = "The log-odds of the classes are linear in the score."
    formula = "share beyond t, each row counted by its calibrated probability of the class"
    reference = "Platt 1999, Probabilistic outputs for support vector machines"

    def tails(self, sample: ScoreSample) -> tuple[Tail, Tail]:
        """Return both classes' tails; the positive one's in mirrored scores."""
        binning, middle = _grid(sample)
        counts = np.stack([c.binned(binning) for c in (sample.negative, sample.positive)])
        place = np.arange(counts.shape[1], dtype=np.float64)
        nodes = (binning.low - middle) + place * binning.cell
        scale = binning.cell * CELLS_PER_SPREAD
        probability = expit(_fit(nodes / scale, counts))
        rows = counts.sum(axis=0)
        above = _share_above(rows * (1.0 - probability))
        below = 1.0 - _share_above(rows * probability)

        def negative(t: FloatArray) -> FloatArray:
            return np.interp(t - middle, nodes, above, left=1.0, right=0.0)

        def positive(t: FloatArray) -> FloatArray:
            return np.interp(-t - middle, nodes, below, left=0.0, right=1.0)

        return negative, positive

    def bends(self, sample: ScoreSample) -> FloatArray:
        """Return the scores at which the tails bend: the nodes of the grid, and nowhere else."""
        return _grid(sample)[0].nodes


def _grid(sample: ScoreSample) -> tuple[Binning, float]:
    """Return nodes on both sides of the middle between the medians, and that middle.

    The same nodes serve the mirrored problem. Scores farther away than they reach count at the
    ends.
    """
    negative, positive = sample.negative, sample.positive
    half = (positive.median - negative.median) / 2
    middle = negative.median + half
    spreads = [(c.n, robust_std(c)) for c in (negative, positive)]
    spread = pooled_spread(spreads, sum(sample.n_samples))
    spread = spread or sample.spread or abs(middle) or 1.0
    reach = abs(half) + _REACH * spread
    cell = max(spread / CELLS_PER_SPREAD, reach / _MOST_CELLS)
    # Whole cells, for the mirrored problem; as many where rounding turns 192 into 192.0…03.
    half_width = float(np.ceil(reach / cell - 1e-6)) * cell
    return Binning(middle - half_width, middle + half_width, cell), middle


def _fit(x: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the log-odds a x + b of greatest likelihood at each node, by damped Newton steps."""
    rows = counts.sum(axis=0)
    share = counts[1].sum() / rows.sum()
    design = np.stack([x, np.ones_like(x)])
    penalty = np.array([2 * RIDGE * rows.sum(), 0.0])
    theta = np.array([0.0, np.log(share / (1.0 - share))])
    loss = _loss(theta, design, counts, penalty)
    for _ in range(_MOST_STEPS):
        p = expit(theta @ design)
        gradient = design @ (rows * p - counts[1]) + penalty * theta
        curvature = (design * (rows * p * (1.0 - p))) @ design.T + np.diag(penalty + 1e-12)
        step = np.linalg.solve(curvature, gradient)
        lower = _loss(theta - step, design, counts, penalty)
        while lower > loss * (1.0 + 1e-12):
            step /= 2
            lower = _loss(theta - step, design, counts, penalty)
        theta, loss = theta - step, lower
        if np.abs(step).max() <= 1e-13 * (1.0 + np.abs(theta).max()):
            break
    slope, shift = theta
    if slope <= 0:  # the positive class is not higher: every row has the same probability
        return np.full_like(x, np.log(share / (1.0 - share)))
    return np.asarray(slope * x + shift)


def _loss(theta: FloatArray, design: FloatArray, counts: FloatArray, penalty: FloatArray) -> float:
    """Return minus the penalised log-likelihood."""
    odds = theta @ design
    rest = np.log1p(np.exp(-np.abs(odds)))  # what both classes' logarithms have in common
    wrong = counts[0] @ (np.maximum(odds, 0.0) + rest)
    likelihood = wrong + counts[1] @ (np.maximum(-odds, 0.0) + rest)
    return float(likelihood + penalty @ theta**2 / 2)


def _share_above(weight: FloatArray) -> FloatArray:
    """Return the share of the weight above each node, half of its own included."""
    above = np.cumsum(weight[::-1])[::-1] - weight / 2
    return np.asarray(np.clip(above / weight.sum(), 0.0, 1.0))
