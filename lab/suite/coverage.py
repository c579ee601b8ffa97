r"""How often certificates hold.

A certificate claims that the error of the population is at most U. The test rows show that error
only up to chance: k of n rows are wrong. Two counts are therefore kept apart:

- *covered*: k/n ≤ U, what a reader would check. A bound that is met exactly by the population is
  exceeded by about half of all test parts, so a tight bound looks worse here than it is.
- *contradicted*: so many wrong rows would have a probability below 5% if the error were U. Chance
  alone contradicts at most 5% of the bounds that are met exactly, and fewer of the others.

The share covered is compared with 95% less its own binomial error: the 5% point of a binomial
share, counting as many trials as there are blocks, since seeds and relatives of a data set share
their rows and are not independent trials.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from lab.suite.rows import CONFIDENCE, SuiteRow

__all__ = ["Coverage", "claims_covered", "coverage", "least_share"]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Coverage:
    """Certificates of one method, both classes together or one of them.

    Parameters
    ----------
    n : int
        How many, each for one class of one test part.
    covered, contradicted : float
        Shares of them.
    bound, error, width : float
        Means of the bound, of the test error, and of how far the first lies above the second.
    least : float
        Share that has to be covered: 95% less binomial error.
    """

    n: int
    covered: float
    contradicted: float
    bound: float
    error: float
    width: float
    least: float

    @property
    def holds(self) -> bool:
        """Whether enough are covered."""
        return self.covered >= self.least


def coverage(
    rows: Iterable[SuiteRow], classes: tuple[str, ...] = ("negative", "positive")
) -> Coverage:
    """Count how often the certificates of some rows hold.

    Parameters
    ----------
    rows : iterable of SuiteRow
        Rows with a certificate; others are left out.
    classes : tuple of {"negative", "positive"}, default=both
        Whose errors.
    """
    kept = [row for row in rows if row.certificate]
    bounds = _column(kept, "certified", classes)
    errors = 1 - _column(kept, "recall", classes)
    sizes = _column(kept, "test", classes)
    wrong = np.round(errors * sizes)
    chance = binom.sf(wrong - 1, sizes, bounds)
    blocks = len({(row.family, row.model) for row in kept}) * len(classes)
    return Coverage(
        n=len(bounds),
        covered=float(np.mean(errors <= bounds + _ROUNDING)),
        contradicted=float(np.mean(chance < 1 - CONFIDENCE)),
        bound=float(np.mean(bounds)),
        error=float(np.mean(errors)),
        width=float(np.mean(bounds - errors)),
        least=least_share(blocks),
    )


def claims_covered(rows: Iterable[SuiteRow]) -> float:
    """Return the share of test errors that are not above what the method's own curve claims."""
    kept = [row for row in rows if np.isfinite(row.claim_negative)]
    both = ("negative", "positive")
    claims, errors = _column(kept, "claim", both), 1 - _column(kept, "recall", both)
    return float(np.mean(errors <= claims + _ROUNDING)) if kept else float("nan")


def least_share(trials: int) -> float:
    """Return the share below which coverage of 95% would be rejected at 5%, one-sided.

    Examples
    --------
    >>> least_share(100)
    0.91
    """
    return float(binom.ppf(1 - CONFIDENCE, trials, CONFIDENCE)) / trials if trials else 0.0


def _column(
    rows: Iterable[SuiteRow], name: str, classes: tuple[str, ...]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a number of each row and class."""
    values = [float(getattr(row, f"{name}_{label}")) for row in rows for label in classes]
    return np.array(values, dtype=np.float64)
