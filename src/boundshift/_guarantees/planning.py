"""How many rows a guarantee needs, for an error rate or for floors."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from scipy.special import bdtr

from boundshift._boundary import decide
from boundshift._guarantees.certificate import bound_error
from boundshift._scores import Scores, ScoreSample
from boundshift._status import Status
from boundshift._validation import as_positive, as_share
from boundshift.curves._clusters import refutes_counts
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors

# Largest answers, for an error rate and for floors.
_MOST = 10**9
_MOST_TRIED = 10**6
# Numbers of wrong rows beyond those that follow from the error rate, among which power may fail.
_MORE_STEPS = 4
_ROUNDING = 1e-12


def rows_needed(
    error: float | Floors,
    confidence: float | None = None,
    *,
    wrong_share: float = 0.0,
    chance: float | None = None,
    chosen_here: bool = False,
    clustered: bool = False,
) -> int:
    r"""Return how many rows of a class it takes to certify an error rate.

    A recall of 0.9 is an error rate of 0.1 among rows of the positive class.

    Parameters
    ----------
    error : float or Floors
        Upper bound on the error rate, between 0 and 1; or the floors to guarantee together.
    confidence : float, default=None
        Confidence of the certificate; None is 0.95. Floors have their own.
    wrong_share : float, default=0
        Share of the rows that will be on the wrong side; below `error`.
    chance : float, default=None
        Power. None: `wrong_share` is the observed share. Between 0 and 1: it is the true error
        rate, and the certificate succeeds with at least this probability, for the number of rows
        returned and for every larger one.
    chosen_here : bool, default=False
        Whether the threshold will be chosen on the same rows.
    clustered : bool, default=False
        Whether rows come in clusters, such as patients with several visits. The answer is then
        the number of clusters, and `wrong_share` the share of clusters that will be wrong in every
        row: the worst case, since clusters that vary less need fewer.

    Returns
    -------
    int
        The fewest rows that suffice, :math:`\lceil \ln\delta / \ln(1 - \text{error}) \rceil` with
        none wrong and a threshold fixed before. For floors: the fewest rows per class that can
        guarantee them, with equal classes and no errors. Classes that overlap need more.

    Examples
    --------
    >>> from boundshift import rows_needed
    >>> rows_needed(error=0.05, confidence=0.95), rows_needed(error=0.05, wrong_share=0.02)
    (59, 181)
    >>> rows_needed(error=0.1, wrong_share=0.05, chance=0.8)
    203
    >>> rows_needed(error=0.05, clustered=True), rows_needed(0.05, wrong_share=0.02, clustered=True)
    (59, 294)

    A precision of 0.9 where one row in a hundred is positive:

    >>> from boundshift import Floors
    >>> rows_needed(Floors(recall=0.9)), rows_needed(Floors(precision=0.9, prevalence=0.01))
    (29, 7329)
    """
    if isinstance(error, Floors):
        has_others = confidence is not None or chance is not None or wrong_share
        return _rows_for_floors(error, bool(has_others or chosen_here or clustered))
    error = as_share("error", error, "Use 0.05, for example.")
    share = as_positive("wrong_share", wrong_share, "Use 0.02, for example.", zero=True)
    delta = 1.0 - as_share("confidence", 0.95 if confidence is None else confidence)
    if chance is not None:
        as_share("chance", chance)
    if clustered and chosen_here:
        raise InvalidInputError(
            "must go with a threshold fixed before, got chosen_here=True. Hold out "
            "whole clusters that have not chosen the threshold.",
            argument="clustered",
        )
    if share >= error:
        raise InvalidInputError(
            f"must be below `error`, {error:g}, got {wrong_share!r}: a larger share "
            "shows the opposite. Use a larger error.",
            argument="wrong_share",
        )

    too_close = InvalidInputError(
        f"must be farther below `error`: more than {_MOST:,} rows would be needed. "
        "Use a larger error.",
        argument="wrong_share",
    )

    def shows(wrong: int, n: int) -> bool:
        """Return whether n rows, or clusters, show the claim with so many of them wrong."""
        if clustered:
            return n > 0 and refutes_counts(wrong, n, error, delta)
        return bound_error(wrong, n, delta, chosen_here=chosen_here) <= error + _ROUNDING

    def rows_for(wrong: int) -> int:
        """Return the fewest rows of which so many may be wrong."""
        start = int(wrong / error)  # fewer rows show the opposite
        return _least(lambda n: shows(wrong, n), start, _MOST, too_close)

    if chance is not None:
        return _rows_for_power(rows_for, error, share, chance, too_close)
    wrong = _least(lambda k: share * rows_for(k) <= k + _ROUNDING, 0, _MOST, too_close)
    return rows_for(wrong)


def _rows_for_floors(rule: Floors, has_others: bool) -> int:
    """Return the fewest rows per class that can guarantee floors, if the classes lie apart."""
    if has_others or rule.level is None:
        raise InvalidInputError(
            f"must be floors that are guaranteed, alone, got {rule!r} or another argument. "
            "Floors have a confidence of their own and are chosen on the same rows: set "
            "Floors(confidence=0.95), or ask for the rows of one error rate.",
            argument="error",
        )

    def is_kept(n: int) -> bool:
        scores = np.arange(1.0, n + 1)
        sample = ScoreSample(Scores(-scores[::-1]), Scores(scores))
        return decide(sample, rule=rule).status is not Status.UNMET

    too_many = InvalidInputError(
        f"must be floors that {_MOST_TRIED:,} rows of each class can guarantee, got "
        f"{rule!r}. Ask for a lower floor or a lower confidence.",
        argument="error",
    )
    return _least(is_kept, 1, _MOST_TRIED, too_many)


def _rows_for_power(
    rows_for: Callable[[int], int],
    error: float,
    share: float,
    chance: float,
    too_many: InvalidInputError,
) -> int:
    """Return the number of rows from which on the power is at least `chance`.

    The power rises where one more row may be wrong, and falls until the next such number of rows.
    So what counts is the power just before each rise. But for rounding to whole rows, it grows with
    the number of rows that may be wrong. Rounding costs as much as the power gains in a few steps,
    so the last failure lies at most so many steps beyond the first success that halving finds.
    """

    def holds_until_next(wrong: int) -> bool:
        return float(bdtr(wrong, rows_for(wrong + 1) - 1, share)) >= chance

    nearly = _least(holds_until_next, 0, _MOST, too_many)
    steps = math.ceil(2.0 * error * share / (error - share)) + _MORE_STEPS
    for wrong in range(nearly + steps, nearly - 1, -1):
        if not holds_until_next(wrong):
            return rows_for(wrong + 1)
    return rows_for(nearly)


def _least(
    is_enough: Callable[[int], bool], start: int, most: int, too_many: InvalidInputError
) -> int:
    """Return the least number from `start` on that is enough, by doubling and halving."""
    low = start
    high = start
    step = 1
    while not is_enough(high):
        if high >= most:
            raise too_many
        low = high + 1
        high = min(high + step, most)
        step *= 2
    return low + bisect_left(range(low, high), True, key=is_enough)
