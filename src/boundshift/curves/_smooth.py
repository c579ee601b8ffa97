r"""Smooth curves: estimates of each class's error from the shape of the scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr

from boundshift._scores import Scores, ScoreSample, n_nodes, pooled_spread, robust_std
from boundshift._search import ErrorsAt
from boundshift._typing import FloatArray
from boundshift._validation import as_positive
from boundshift.curves._base import Claim, PairCurve

Tail = Callable[[FloatArray], FloatArray]
"""From boundaries to the share of a class above each."""

# Smoothed: the grid and the kernel on it.
_CELLS_PER_BANDWIDTH = 32
_KERNEL_REACH = 9 * _CELLS_PER_BANDWIDTH  # a normal tail beyond 9 is below 1e-18
_MOST_KERNEL_CELLS = 1 << 16
_OFFSETS = np.arange(-_KERNEL_REACH, _KERNEL_REACH + 1)
_ROUNDED_OFF = ndtr(_OFFSETS / _CELLS_PER_BANDWIDTH) - (_OFFSETS > 0) - 0.5 * (_OFFSETS == 0)
# Logistic: the grid and the penalty of the fit.
CELLS_PER_SPREAD = 64
_MOST_CELLS = 1 << 14  # on each side of the middle
_REACH = 3  # spreads beyond the medians: one row far away must not turn the calibration
RIDGE = 1e-6
_MOST_STEPS = 100


@dataclass(frozen=True)
class Smoothed(PairCurve):
    r"""Estimate each error rate from a kernel density of the scores of the class.

    .. math:: U(t) = \frac1n \sum_j \Phi\left(\frac{s_j - t}{h}\right), \qquad
              h = b \, \min(\hat\sigma, 2 \, \mathrm{IQR}/1.349) \, n^{-1/5}

    The interquartile range limits the influence of outliers on the bandwidth. Scores are
    counted on a grid of 32 cells a bandwidth, so the cost does not grow with the number of
    boundaries looked at; the error of that is below 1e-4 within 1,024 bandwidths of the class's
    median, and rows beyond count as if they stood there. A class of one row, or of equal rows,
    takes the spread within both classes. The bandwidth is that of Silverman (1986, Density
    Estimation, section 3.4).

    Parameters
    ----------
    bandwidth : float, default=1
        The factor b.

    Examples
    --------
    >>> from boundshift._scores import Scores
    >>> tail = Smoothed().tail(Scores(np.array([-1.0, 0.0, 1.0])), pooled=1.0)
    >>> tail(np.array([0.0, 1.0])).round(3).tolist()
    [0.5, 0.204]
    """

    name = "smoothed"
    claim = Claim.AVERAGE_CASE

    bandwidth: float = 1.0

    def __post_init__(self) -> None:
        width = as_positive("bandwidth", self.bandwidth, "Use bandwidth=1.")
        object.__setattr__(self, "bandwidth", width)

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return a function that estimates or bounds both error rates at given thresholds."""
        atoms = sample.atoms
        pooled = sample.pooled_std
        facing = (sample.negative, sample.positive.mirrored())
        if not len(atoms):
            upper, lower = (self.tail(scores, pooled) for scores in facing)
            return lambda t: (upper(t), lower(-t))
        counts = [
            scores.count_at_most(atoms) - scores.count_below(atoms) for scores in sample.classes
        ]
        count_atoms = _count_atoms(atoms, *counts)
        rows_above = self._rows_above(facing[0].without(atoms), pooled)
        rows_below = self._rows_above(facing[1].without(-atoms[::-1]), pooled)
        n = sample.n_samples

        def at(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            above, below = count_atoms(t)
            negative = (above + rows_above(t)) / n[0]
            positive = (below + rows_below(-t)) / n[1]
            return np.clip(negative, 0.0, 1.0), np.clip(positive, 0.0, 1.0)

        return at

    def _rows_above(self, scores: Scores | None, pooled: float) -> Tail:
        """Return the function from boundaries to the smoothed number of rows above them."""
        if scores is None:
            return np.zeros_like
        tail = self.tail(scores, pooled)
        n = scores.n
        return lambda t: n * tail(t)

    def tail(self, scores: Scores, pooled: float) -> Tail:
        """Return a function that estimates the proportion of a class above given thresholds.

        `pooled` is the pooled standard deviation within the classes.
        """
        h = self.bandwidth * (robust_std(scores) or pooled) * scores.effective_n**-0.2
        if h == 0:
            return lambda t: np.where(t < scores.mean, 1.0, 0.0)
        cell = h / _CELLS_PER_BANDWIDTH
        # Points farther from the median than the grid reaches count at its ends.
        reach = _MOST_KERNEL_CELLS * cell / 2
        low = max(scores.minimum, scores.median - reach)
        high = min(scores.maximum, scores.median + reach)
        counts = np.pad(scores.binned(low, high, cell), _KERNEL_REACH)
        # Node i sees the point of cell j through Phi((j - i) / cells per bandwidth): a step, which
        # the cumulated counts carry, plus what the kernel rounds off, which dies out.
        smooth = _amount_above(counts) + np.convolve(counts, _ROUNDED_OFF[::-1], mode="same")
        share = np.clip(smooth / scores.n, 0.0, 1.0)
        # Counted from the first score, so that scores with a large offset lose no digits.
        nodes = (np.arange(len(counts), dtype=np.float64) - _KERNEL_REACH) * cell
        return lambda t: np.interp(t - low, nodes, share, left=1.0, right=0.0)


@dataclass(frozen=True)
class Logistic(PairCurve):
    r"""Estimate both error rates from a logistic calibration of the scores.

    .. math:: \pi(s) = \frac{1}{1 + e^{-(a s + b)}}, \qquad
              U_-(t) = \frac{\sum_{s_j > t} 1 - \pi(s_j)}{\sum_j 1 - \pi(s_j)}, \qquad
              U_+(t) = \frac{\sum_{s_j \le t} \pi(s_j)}{\sum_j \pi(s_j)}

    The parameters a and b maximise the likelihood (Platt, 1999). Each row counts for both classes,
    weighted by its probability to belong to them, so the estimate for a rare class uses all rows.
    The sum of both errors is lowest if :math:`\pi` equals the proportion of positives.

    Scores are counted on a grid of 64 cells a standard deviation, so the cost does not grow with
    the number of boundaries looked at; the error of that is below 1e-4 as long as all scores lie
    within 3 spreads of both medians. Scores beyond count as if they stood there, so one far row
    cannot turn the calibration; with heavy tails this changes the errors by up to 0.17. Where the
    classes are apart a small penalty, 1e-6 times a² in units of the spread, keeps a finite.

    Examples
    --------
    >>> sample = ScoreSample.from_labels([0, 0, 0, 0, 1, 1], [0.0, 1.0, 2.0, 4.0, 3.0, 5.0])
    >>> negative, positive = Logistic().errors(sample)(np.array([2.5]))
    >>> negative.round(2).tolist(), positive.round(2).tolist()
    ([0.3], [0.1])
    """

    name = "logistic"
    claim = Claim.AVERAGE_CASE

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return a function that estimates or bounds both error rates at given thresholds."""
        low, middle, high, cell = _grid(sample)
        atoms = sample.atoms
        size = n_nodes(low, high, cell)
        nodes = (low - middle) + np.arange(size) * cell
        # Rows at the nodes, and then those at the atoms, of each class.
        counts = np.zeros((2, size + len(atoms)))
        for own, scores in zip(counts, sample.classes, strict=True):
            rest = scores.without(atoms)
            if rest is not None:
                own[:size] = rest.binned(low, high, cell)
            own[size:] = scores.count_at_most(atoms) - scores.count_below(atoms)
        places = np.append(nodes, np.clip(atoms, low, high) - middle)
        probability = expit(_fit(places / (cell * CELLS_PER_SPREAD), counts))
        rows = counts.sum(axis=0)
        # Every row counts for both classes.
        negatives, negatives_at_atoms = np.split(rows * (1.0 - probability), [size])
        positives, positives_at_atoms = np.split(rows * probability, [size])
        n_negative = negatives.sum()
        n_positive = positives.sum()
        all_negative = n_negative + negatives_at_atoms.sum()
        all_positive = n_positive + positives_at_atoms.sum()
        above = _amount_above(negatives)
        below = n_positive - _amount_above(positives)
        count_atoms = _count_atoms(atoms, negatives_at_atoms, positives_at_atoms)

        def at(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            atoms_above, atoms_below = count_atoms(t)
            negative = np.interp(t - middle, nodes, above, left=n_negative, right=0.0)
            positive = np.interp(t - middle, nodes, below, left=0.0, right=n_positive)
            return (
                np.clip((negative + atoms_above) / all_negative, 0.0, 1.0),
                np.clip((positive + atoms_below) / all_positive, 0.0, 1.0),
            )

        return at

    def bends(self, sample: ScoreSample) -> FloatArray:
        """Return the nodes of the grid, between which the tails are smooth."""
        low, _, high, cell = _grid(sample)
        return np.append(low + cell * np.arange(n_nodes(low, high, cell) - 1), high)


def _grid(sample: ScoreSample) -> tuple[float, float, float, float]:
    """Return first node, middle between the medians, last node, and the width of a cell.

    The same nodes serve the mirrored problem. Scores farther away than they reach count at the
    ends.
    """
    negative, positive = sample.classes
    half = (positive.median - negative.median) / 2
    middle = negative.median + half
    spreads = [(scores.effective_n, robust_std(scores)) for scores in sample.classes]
    spread = pooled_spread(spreads, sum(rows for rows, _ in spreads))
    spread = spread or sample.spread or abs(middle) or 1.0
    reach = abs(half) + _REACH * spread
    cell = max(spread / CELLS_PER_SPREAD, reach / _MOST_CELLS)
    # Whole cells, for the mirrored problem; as many where rounding turns 192 into 192.0…03.
    half_width = float(np.ceil(reach / cell - 1e-6)) * cell
    return middle - half_width, middle, middle + half_width, cell


def _fit(x: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the log-odds a x + b of greatest likelihood at each node, by damped Newton steps."""
    filled = counts.any(axis=0)
    counts = counts[:, filled]
    rows = counts.sum(axis=0)
    share = counts[1].sum() / rows.sum()
    design = np.stack([x[filled], np.ones(len(rows))])
    penalty = np.array([2 * RIDGE * rows.sum(), 0.0])

    def loss_of(theta: FloatArray) -> float:
        """Return minus the penalised log-likelihood."""
        odds = theta @ design
        rest = np.log1p(np.exp(-np.abs(odds)))  # what both classes' logarithms have in common
        wrong = counts[0] @ (np.maximum(odds, 0.0) + rest)
        likelihood = wrong + counts[1] @ (np.maximum(-odds, 0.0) + rest)
        return float(likelihood + penalty @ theta**2 / 2)

    theta = np.array([0.0, np.log(share / (1.0 - share))])
    loss = loss_of(theta)
    for _ in range(_MOST_STEPS):
        p = expit(theta @ design)
        gradient = design @ (rows * p - counts[1]) + penalty * theta
        curvature = (design * (rows * p * (1.0 - p))) @ design.T + np.diag(penalty + 1e-12)
        step = np.linalg.solve(curvature, gradient)
        while (lower := loss_of(theta - step)) > loss * (1.0 + 1e-12):
            step /= 2
        theta = theta - step
        loss = lower
        if np.abs(step).max() <= 1e-13 * (1.0 + np.abs(theta).max()):
            break
    slope, shift = theta
    if slope <= 0:  # the positive class is not higher: every row has the same probability
        return np.full_like(x, np.log(share / (1.0 - share)))
    return np.asarray(slope * x + shift)


def _count_atoms(atoms: FloatArray, negatives: ArrayLike, positives: ArrayLike) -> ErrorsAt:
    """Return the function from boundaries to the rows at atoms on the wrong side of each."""
    if not len(atoms):
        nothing = np.zeros(1)
        return lambda t: (nothing, nothing)
    above = np.append(0.0, np.cumsum(np.flip(negatives)))[::-1]
    below = np.append(0.0, np.cumsum(positives))

    def count(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        place = np.searchsorted(atoms, t, side="right")  # a row at the threshold is negative
        return above[place], below[place]

    return count


def _amount_above(weight: FloatArray) -> FloatArray:
    """Return the weight above each node, half of its own included."""
    return np.asarray(np.cumsum(weight[::-1])[::-1] - weight / 2)


@dataclass(frozen=True)
class Blend(Logistic):
    r"""Shrink the smoothed error rates towards a calibration on all rows; the default.

    .. math:: U_i(t) = \frac{n_i}{n_i + m}\, U_i^{\text{smoothed}}(t)
              + \frac{m}{n_i + m}\, U_i^{\text{logistic}}(t)

    The fewer rows a class has, the more its error rate follows a logistic calibration on the rows
    of both classes. With many rows, it follows the kernel-smoothed scores of the class. Efron and
    Morris (1975, JASA 70) shrink small groups in this way.

    Parameters
    ----------
    prior_rows : float, default=10
        The number m of rows at which both have equal weight: the calibration counts as so many.

    Examples
    --------
    >>> import numpy as np
    >>> sample = ScoreSample.from_labels([0, 0, 0, 0, 1, 1], [0.0, 1.0, 2.0, 4.0, 3.0, 5.0])
    >>> negative, positive = Blend().errors(sample)(np.array([2.5]))
    >>> negative.round(2).tolist(), positive.round(2).tolist()
    ([0.31], [0.12])
    """

    name = "blend"

    prior_rows: float = 10.0

    def __post_init__(self) -> None:
        remedy = "Use 10, or 0 for the smoothed curve."
        prior_rows = as_positive("prior_rows", self.prior_rows, remedy, zero=True)
        object.__setattr__(self, "prior_rows", prior_rows)

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return a function that estimates or bounds both error rates at given thresholds."""
        own = Smoothed().errors(sample)
        pooled = super().errors(sample)
        sizes = (sample.negative.effective_n, sample.positive.effective_n)
        return shrunk(own, pooled, sizes, self.prior_rows)


def shrunk(
    own: ErrorsAt, pooled: ErrorsAt, n_samples: tuple[float, float], prior_rows: float
) -> ErrorsAt:
    """Return a class's own errors, shrunk towards pooled ones as if these were of some rows."""
    weights = [n / (n + prior_rows) for n in n_samples]

    def at(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        negative, positive = (
            weight * of_own + (1.0 - weight) * of_all
            for weight, of_own, of_all in zip(weights, own(t), pooled(t), strict=True)
        )
        return negative, positive

    return at
