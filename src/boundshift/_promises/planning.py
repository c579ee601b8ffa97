"""How many rows a promise needs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from scipy.special import bdtr

from boundshift._boundary import decide
from boundshift._promises.certificate import bound_error
from boundshift._scores import Scores, ScoreSample
from boundshift._status import Status
from boundshift._validation import as_positive, as_share
from boundshift.curves._clusters import refutes_counts
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors

__all__ = ["rows_needed"]

# Largest answers, for an error rate and for floors.
_MOST, _MOST_TRIED = 10**9, 10**6
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
        Upper bound on the error rate, between 0 and 1; or the floors to promise together.
    confidence : float, default=None
        Confidence of the certificate; None is 0.95. Floors have their own.
    wrong_share : float, default=0
        Share of the rows that will be on the wrong side; below `error`.
    chance : float, default=None
        Power. None: `wrong_share` is the observed share. Between 0 and 1: it is the true error
        rate, and the certificate succeeds with at least this probability.
    chosen_here : bool, default=False
        Whether the threshold will be chosen on the same rows.
    clustered : bool, default=False
        Whether rows come in clusters, such as patients with several visits. The answer is then
        the number of clusters, and `wrong_share` the share of clusters that will be wrong in every
        row: the worst case, since clusters that vary less need fewer.

    Returns
    -------
    int
        The fewest rows that suffice. A slightly larger sample may fail, if it brings one more
        error. For floors: the fewest rows per class that can promise them, with equal classes
        and no errors. Classes that overlap need more.

    Notes
    -----
    With no row on the wrong side and a threshold fixed before,
    :math:`n = \lceil \ln\delta / \ln(1 - \text{error}) \rceil`.

    Examples
    --------
    >>> from boundshift import rows_needed
    >>> rows_needed(error=0.05, confidence=0.95), rows_needed(error=0.05, wrong_share=0.02)
    (59, 181)
    >>> rows_needed(error=0.1, wrong_share=0.05, chance=0.8)
    179
    >>> rows_needed(error=0.05, clustered=True), rows_needed(0.05, wrong_share=0.02, clustered=True)
    (59, 294)

    A precision of 0.9 where one row in a hundred is positive:

    >>> from boundshift import Floors
    >>> rows_needed(Floors(recall=0.9)), rows_needed(Floors(precision=0.9, prevalence=0.01))
    (29, 7329)
    """
    if isinstance(error, Floors):
        others = confidence is not None or chance is not None
        if others or wrong_share or chosen_here or clustered or error.level is None:
            raise InvalidInputError(
                f"`error` must be floors that are promised, alone, got {error!r} or another "
                "argument. Floors have a confidence of their own and are chosen on the same rows: "
                "set Floors(confidence=0.95), or ask for the rows of one error rate."
            )
        return _rows_for(error)
    error = as_share("error", error)
    share = as_positive("wrong_share", wrong_share, "Use 0.02, for example.", zero=True)
    delta = 1.0 - as_share("confidence", 0.95 if confidence is None else confidence)
    if chance is not None:
        as_share("chance", chance)
    if clustered and chosen_here:
        raise InvalidInputError(
            "`clustered` must go with a threshold fixed before, got chosen_here=True. Hold out "
            "whole clusters that have not chosen the threshold."
        )
    if share >= error:
        raise InvalidInputError(
            f"`wrong_share` must be below `error`, {error:g}, got {wrong_share!r}: a larger share "
            "shows the opposite. Use a larger error."
        )

    too_close = (
        f"`wrong_share` must be farther below `error`: more than {_MOST:,} rows would be needed. "
        "Use a larger error."
    )

    def fewest(wrong: int) -> int:
        def is_enough(n: int) -> bool:
            if clustered:
                return n > 0 and refutes_counts(wrong, n, error, delta)
            return bound_error(wrong, n, delta, chosen_here=chosen_here) <= error + _ROUNDING

        return _least(is_enough, wrong, _MOST, too_close)

    def suffices(wrong: int) -> bool:
        n = fewest(wrong)
        if chance is None:
            return share * n <= wrong + _ROUNDING
        return float(bdtr(wrong, n, share)) >= chance

    wrong = _least(suffices, 0, _MOST, too_close)
    # The probability is not quite monotone in the number of wrong rows.
    return fewest(next(k for k in range(max(wrong - 8, 0), wrong + 1) if suffices(k)))


def _rows_for(rule: Floors) -> int:
    """Return the fewest rows of each class that promise floors, if no row is wrong."""

    def is_kept(n: int) -> bool:
        scores = np.arange(1.0, n + 1)
        found = decide(ScoreSample(Scores(-scores[::-1]), Scores(scores)), rule=rule)
        return found.status is not Status.UNMET

    told = (
        f"`error` must be floors that {_MOST_TRIED:,} rows of each class can promise, got "
        f"{rule!r}. Ask for a lower floor or a lower confidence."
    )
    return _least(is_kept, 1, _MOST_TRIED, told)


def _least(is_enough: Callable[[int], bool], start: int, most: int, too_many: str) -> int:
    """Return the least number from `start` on that is enough, by doubling and halving."""
    low, high, step = start, start, 1
    while not is_enough(high):
        if high >= most:
            raise InvalidInputError(too_many)
        low, high, step = high + 1, min(high + step, most), 2 * step
    return low + bisect_left(range(low, high), True, key=is_enough)
