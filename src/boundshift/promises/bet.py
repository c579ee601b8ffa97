r"""A bet against one class's certificate: the evidence that it is not kept.

The claim is that the class's error rate is at most the stated bound :math:`b`. The bet is a
nonnegative supermartingale under the claim, whatever the order in which batches arrive and
whenever one looks; by Ville's inequality it reaches :math:`1/\alpha` with probability at most
:math:`\alpha`, ever.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.result.json_values import from_numbers
from boundshift.typing import FloatArray
from boundshift.validation import is_finite

__all__ = ["ODDS_RATIOS", "Bet", "When", "as_count", "as_when"]

When = str | int | float | None

# Worse error rates that are bet on, as multiples of the odds of the bound.
ODDS_RATIOS = (1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 20.0)
# Rows of a class whose evidence is computed at a time; it bounds memory, not the answer.
_CHUNK = 1 << 14


@dataclass
class Bet:
    """The evidence against one class's certificate: all that a restart needs."""

    bound: float
    n: int = 0
    wrong: int = 0
    log_e: float = 0.0
    # Of each rate bet on, the log of the sum over starts of their weight over the likelihood
    # ratio up to there.
    starts: list[float] = field(default_factory=lambda: [-math.inf] * len(ODDS_RATIOS))
    # Rows of all classes, date, rows of the class, wrong ones and evidence.
    points: list[tuple[int, When, int, int, float]] = field(default_factory=list)
    last: tuple[int, When] = (0, None)

    def restore(self, state: Mapping[str, Any], rows: int) -> None:
        """Take up what was stored after so many rows of all classes."""
        self.n, self.wrong = as_count(state["n_samples"], rows), as_count(state["wrong"], rows)
        self.log_e = _evidence(state["log_e_value"])
        starts = from_numbers("log_starts", state["log_starts"], tuple(self.starts))
        if self.wrong > self.n or not all(value < math.inf for value in starts):
            raise ValueError("counts or evidence that cannot be")
        self.starts = list(starts)
        self.points = [
            (
                as_count(at, rows),
                as_when(when),
                as_count(n, rows),
                as_count(wrong, rows),
                _evidence(log),
            )
            for at, when, n, wrong, log in state["points"]
        ]
        at, when = state["last"]
        self.last = (as_count(at, rows), as_when(when))

    def extend(self, is_wrong: NDArray[np.bool_]) -> FloatArray:
        """Take in rows, and return the log evidence after each."""
        parts = [self._take(is_wrong[i : i + _CHUNK]) for i in range(0, len(is_wrong), _CHUNK)]
        return np.concatenate(parts) if parts else np.empty(0)

    def _take(self, is_wrong: NDArray[np.bool_]) -> FloatArray:
        """Take in a chunk of rows.

        Every number depends on counts and on the row before alone, so that batches do not matter,
        not even to the last bit.
        """
        n = self.n + np.arange(1, len(is_wrong) + 1)
        wrong = self.wrong + np.cumsum(is_wrong)
        self.n, self.wrong = int(n[-1]), int(wrong[-1])
        if not 0 < self.bound < 1:
            return np.zeros(len(n))
        rise, fall = _log_ratios(self.bound)
        after = np.multiply.outer(wrong, rise) + np.multiply.outer(n - wrong, fall)
        k, m = wrong - is_wrong, n - 1
        before = np.multiply.outer(k, rise) + np.multiply.outer(m - k, fall)
        spread = np.log1p(1 / n) / ((1 + np.log(n)) * (1 + np.log(n + 1)))
        terms = np.log(spread)[:, None] - before
        starts = np.logaddexp.accumulate(np.vstack([self.starts, terms]), axis=0)[1:]
        self.starts = starts[-1].tolist()
        begun = np.logaddexp.reduce(starts + after, axis=1) - math.log(len(rise))
        log_e: FloatArray = np.logaddexp(begun, -np.log1p(np.log(n + 1)))
        self.log_e = float(log_e[-1])
        return log_e


def as_count(value: object, most: float = math.inf) -> int:
    """Return a stored number of rows."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{str(value)[:40]} is no number of rows")
    return value


def _evidence(value: object) -> float:
    """Return a stored logarithm of evidence."""
    if not is_finite(value) or isinstance(value, bool):
        raise ValueError(f"{str(value)[:40]} is no evidence")
    return float(value)  # type: ignore[arg-type]


def as_when(value: Any) -> When:
    """Return a stored date."""
    if value is None or isinstance(value, str) or (is_finite(value) and value is not True):
        return value
    raise ValueError(f"{str(value)[:40]} is no date")


def _log_ratios(bound: float) -> tuple[FloatArray, FloatArray]:
    """Return the log likelihood ratios of a wrong and of a right row, for each rate bet on."""
    odds = np.array(ODDS_RATIOS)
    base = 1 - bound + odds * bound
    return np.log(odds / base), -np.log(base)
