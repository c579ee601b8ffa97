"""A floor or a cap that is to hold with high probability: `Guarantee`.

A rule makes its guarantees once, and divides the probability of failure among them. Everything
else reads them: the search, certificates, clusters, planning and audits.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from boundshift._typing import FloatArray, Label

UpperBound = Callable[[ArrayLike, int, float], FloatArray]
"""From wrong rows, all rows and a probability of failure to an upper bound on the error rate."""

# A rounding error must not break a floor.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Guarantee:
    r"""One rate that is to keep its limit on fresh rows, except with a small probability.

    Parameters
    ----------
    rate : str or label
        Name of the rate, such as "recall"; the class for a recall of one of many classes.
    limit : float
        The least value of the rate, or the largest one for a cap.
    delta : float
        Probability with which this guarantee may fail. Several guarantees that hold together
        share the :math:`\delta` of their rule.
    is_cap : bool, default=False
        Whether the limit is a largest value.

    Examples
    --------
    >>> from boundshift.rules import Floors
    >>> first, second = Floors(recall=0.9, specificity=0.8).guarantees(0.05)
    >>> first.delta, first.rows_needed, second.rows_needed
    (0.025, 36, 17)
    """

    rate: Label
    limit: float
    delta: float
    is_cap: bool = False

    @property
    def error_rate(self) -> float:
        """Largest share of wrong rows that keeps the limit; a flagged row counts as wrong."""
        return self.limit if self.is_cap else 1.0 - self.limit

    @property
    def rows_needed(self) -> float:
        """Fewest rows that can show it, with none wrong; infinite if no number can."""
        if self.error_rate <= 0.0:
            return math.inf
        return math.ceil(math.log(self.delta) / math.log1p(-self.error_rate) - 1e-9)

    def best_limit(self, n: int) -> float:
        """Return the greatest floor that n rows can show if none is wrong, rounded down."""
        best = math.floor(self.delta ** (1.0 / n) * 1e4) / 1e4 if n else 0.0
        return 1.0 - best if self.is_cap else best

    def allowed_errors(self, n: int, bound: UpperBound) -> int:
        """Return the most of n rows that may be wrong by an upper bound, -1 if not even none."""

        def exceeds(wrong: int) -> bool:
            return float(bound([wrong], n, self.delta)[0]) > self.error_rate + _ROUNDING

        return bisect_left(range(n + 1), True, key=exceeds) - 1
