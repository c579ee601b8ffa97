r"""Bets on the total of a finite pool, from rows that are drawn and labelled one by one.

Row i of the pool has a value :math:`z_i` that its label reveals. Let S be the sum over all rows.
In step t a row I is drawn from those that remain, row i with the known probability
:math:`q_t(i)`. With any forecasts :math:`f_i` that were made before,

.. math:: Z_t = \sum_{\text{labelled}} z_i + \sum_{\text{remaining}} f_i + (z_I - f_I) / q_t(I)

has the expectation S, whatever the labels. If S is at most 0, so is the expectation of each
:math:`Z_t`, and if it is at least 0, likewise. Against the claim :math:`S \ge 0` a share c of the
capital is bet, below 1, and the capital is

.. math:: \prod_t (1 - c \, Z_t / m_t),

where :math:`m_t > 0` is the greatest value that :math:`Z_t` could have taken. It is a nonnegative
supermartingale that starts at 1, so the mean over seven shares c ever reaches :math:`1/\delta` with
a probability of at most :math:`\delta` (Ville's inequality). The claim :math:`S \le 0` is tested in
the same way with the least value. Forecasts, probabilities and bets may use every earlier label.

References
----------
Waudby-Smith and Ramdas 2024, Journal of the Royal Statistical Society B 86 (betting without
replacement). Shekhar, Xu, Lipton, Liang and Ramdas 2023, Risk-limiting financial audits via
weighted sampling without replacement (UAI). Zrnic and Candès 2024, Active statistical inference
(ICML), on forecasts that steer the sampling.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from boundshift._typing import BoolArray, FloatArray, IndexArray

SHARES = np.array([1 / 5, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 7 / 8, 0.95])
"""Shares of the capital that are bet."""

# Values of the estimated total nearer to 0 than this are rounding errors.
_TINY = 1e-9
# Rows of the strata next to the threshold; each further one has twice as many.
_FIRST_STRATUM = 64
# How the probability of being drawn is divided: in proportion to the spread of a row's value, to
# the largest surprise that it may hold, and equally.
_BY_SPREAD = 0.25
_BY_SURPRISE = 0.7
_EQUALLY = 0.05


class _Draw(NamedTuple):
    """A row that was drawn, its stratum, and the weights of all strata's rows in this draw."""

    row: int
    stratum: int
    weights: FloatArray


class PoolBets:
    """Evidence that the total of a pool is at most 0, and that it is at least 0.

    Parameters
    ----------
    rows, stratum : arrays of shape (n_rows,)
        The rows of the pool, and the stratum of each. Rows of a stratum are drawn alike.
    values : array of shape (n_strata, 2)
        The value of a row with a negative label, and with a positive one.
    prior : array of shape (n_strata,), or None
        First forecasts of the rate of positives, for draws by forecast. None: all rows that
        remain are drawn with equal probabilities, without forecasts.
    is_finite : bool
        Whether the total is that of the pool. Otherwise it is the mean of the population of which
        the pool is a random sample, and nothing is gained from the rows that were labelled.
    """

    def __init__(
        self,
        rows: IndexArray,
        stratum: IndexArray,
        values: FloatArray,
        prior: FloatArray | None,
        is_finite: bool,
        random: np.random.Generator,
    ) -> None:
        self.values = values
        self.prior = prior
        self.is_finite = is_finite
        self.sizes = np.bincount(stratum, minlength=len(values))
        self.n_labelled = np.zeros_like(self.sizes)
        self.n_positive = np.zeros_like(self.sizes)
        self.total = 0.0
        self._n_drawn = np.zeros_like(self.sizes)
        self._random = random
        self._pending: deque[_Draw] = deque()
        self._log_capital = np.zeros((2, len(SHARES)))
        order = random.permutation(len(rows))
        ordered_strata = stratum[order]
        self._queues = [rows[order[ordered_strata == k]] for k in range(len(values))]

    def draw(self, n: int) -> IndexArray:
        """Return the next n rows to label, in the order in which they are drawn."""
        weights = self._choose_weights()
        while len(self._pending) < n and self._n_drawn.sum() < self.sizes.sum():
            chances = np.cumsum(weights * (self.sizes - self._n_drawn))
            stratum = int(np.searchsorted(chances, self._random.random() * chances[-1], "right"))
            row = int(self._queues[stratum][self._n_drawn[stratum]])
            self._n_drawn[stratum] += 1
            self._pending.append(_Draw(row, stratum, weights))
        drawn = [each.row for each in self._pending]
        return np.array(drawn[:n], dtype=np.intp)

    @property
    def n_pending(self) -> int:
        """How many rows were drawn that have no label yet."""
        return len(self._pending)

    def observe(self, is_positive: bool) -> int:
        """Count the label of the row drawn first among those without one; return this row."""
        row, stratum, weights = self._pending.popleft()
        least, estimate, most = self._estimate_total(stratum, is_positive, weights)
        for log_capital, extreme in zip(self._log_capital, (most, least), strict=True):
            log_capital += np.log1p(-SHARES * estimate / extreme)
        self.total += float(self.values[stratum, int(is_positive)])
        self.n_labelled[stratum] += 1
        self.n_positive[stratum] += is_positive
        return row

    def skip(self) -> None:
        """Forget the row drawn first among those without a label."""
        self._pending.popleft()

    def _estimate_total(
        self, stratum: int, is_positive: bool, weights: FloatArray
    ) -> tuple[float, float, float]:
        """Return the unbiased estimate of the total, between the extremes it could have had."""
        if not self.is_finite:
            outcomes = self.values
        else:
            remaining = self.sizes - self.n_labelled
            forecast = self._forecast_values()
            chance = weights / (weights @ remaining)
            surprise = (self.values - forecast[:, None]) / chance[:, None]
            outcomes = self.total + forecast @ remaining + surprise
            outcomes[remaining == 0] = outcomes[stratum]
        most = max(float(outcomes.max()), _TINY)
        least = min(float(outcomes.min()), -_TINY)
        return least, float(outcomes[stratum, int(is_positive)]), most

    def _positive_rates(self) -> FloatArray:
        """Return the forecast rate of positives in each stratum; a prior counts as one label."""
        prior = 0.5 if self.prior is None else self.prior
        return np.asarray((self.n_positive + prior) / (self.n_labelled + 1.0))

    def _forecast_values(self) -> FloatArray:
        if self.prior is None:
            return np.zeros(len(self.values))
        rate = self._positive_rates()
        return np.asarray(self.values[:, 0] * (1.0 - rate) + self.values[:, 1] * rate)

    def _choose_weights(self) -> FloatArray:
        """Return the weight with which each row of a stratum is drawn."""
        remaining = self.sizes - self._n_drawn
        equal = np.ones(len(self.sizes))
        if self.prior is None or not remaining.any():
            return equal
        rate = self._positive_rates()
        spread = np.abs(self.values[:, 1] - self.values[:, 0]) * np.sqrt(rate * (1.0 - rate))
        surprise = self.values.max(axis=1) - self._forecast_values()
        parts = ((_BY_SPREAD, spread), (_BY_SURPRISE, surprise), (_EQUALLY, equal))
        return np.asarray(sum(share * part / (part @ remaining) for share, part in parts))

    def log_evidence(self) -> tuple[float, float]:
        """Return the log evidence that the total is at most 0, and that it is above 0.

        It is infinite if no labels of the rows that remain could change that.
        """
        mean = np.logaddexp.reduce(self._log_capital, axis=1) - np.log(len(SHARES))
        at_most = float(mean[0])
        above = float(mean[1])
        if self.is_finite:
            remaining = self.sizes - self.n_labelled
            if self.total + remaining @ self.values.max(axis=1) <= _TINY:
                at_most = np.inf
            if self.total + remaining @ self.values.min(axis=1) > _TINY:
                above = np.inf
        return at_most, above


def stratify(scores: FloatArray, is_flagged: BoolArray) -> tuple[IndexArray, FloatArray]:
    """Return the stratum of each row, by its score, and a first forecast of each stratum's rate.

    The strata on each side of the threshold double in size with the distance from it. Half of the
    flagged rows are taken for positive, and half as many again in each stratum further down.
    """
    order = np.argsort(scores, kind="stable")
    n_flagged = int(np.sum(is_flagged))
    below = _doubling_sizes(len(scores) - n_flagged)[::-1]
    above = _doubling_sizes(n_flagged)
    sizes = [*below, *above]
    stratum = np.empty(len(scores), dtype=np.intp)
    stratum[order] = np.repeat(np.arange(len(sizes)), sizes)
    distance = np.maximum(len(below) - np.arange(len(sizes)), 0)
    return stratum, 0.5 ** (distance + 1.0)


def _doubling_sizes(n: int) -> list[int]:
    """Divide n rows into strata of which each is twice as large as the one before, or the rest."""
    sizes: list[int] = []
    size = _FIRST_STRATUM
    while n > 0:
        sizes.append(n if n < 2 * size else size)
        n -= sizes[-1]
        size *= 2
    return sizes
