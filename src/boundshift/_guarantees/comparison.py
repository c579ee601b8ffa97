"""Whether one boundary, or one model, is better than another on the same labelled rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from boundshift._guarantees.certificate import bound_error
from boundshift._guarantees.certify import have_chosen, read_scores, read_threshold
from boundshift._result.boundary import Boundary
from boundshift._typing import BoolArray
from boundshift._validation import as_rows, as_share
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Cost

# Half the sum of both error rates, as a cost.
_BALANCED = Cost(prevalence=0.5)


@dataclass(frozen=True)
class BoundaryComparison:
    """Two boundaries, or two models, on the same labelled rows.

    Parameters
    ----------
    labels, n_samples : tuples
        The classes (negative, positive), in the order of all tuples here, and their rows.
    mended, broken : tuple of int
        Rows that only the old one gets wrong, and rows that only the new one gets wrong.
    differences, intervals : tuples of float, and of pairs of float
        Error rate of the new one minus that of the old one, below 0 where the new one is better;
        and where the true difference lies, each by itself with the stated confidence.
    p_values : tuple of float
        Of McNemar's exact test, for each class, that the new one is no better. NaN if a boundary
        was chosen on these rows.
    cost_difference, cost_interval : float, and pair of float
        Expected cost of a decision by the new one minus that of the old one, and where the true
        difference lies, with the stated confidence.
    cost : Cost
        What errors cost; 1 each at a prevalence of one half is the balanced error.
    confidence : float
        Of each interval.
    reason : str, default=""
        Which boundary was chosen on these rows; the intervals then hold for every threshold of it,
        and there are no p-values. Empty if both were fixed before.
    """

    labels: tuple[Any, Any]
    n_samples: tuple[int, ...]
    mended: tuple[int, ...]
    broken: tuple[int, ...]
    differences: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    p_values: tuple[float, ...]
    cost_difference: float
    cost_interval: tuple[float, float]
    cost: Cost
    confidence: float
    reason: str = ""

    @property
    def verdict(self) -> Literal["better", "worse", "undecided"]:
        """Whether the new one costs less, more, or cannot be told from the old one."""
        low, high = self.cost_interval
        return "better" if high < 0 else "worse" if low > 0 else "undecided"

    def __str__(self) -> str:
        low, high = self.cost_interval
        verdict = f"The new one is {self.verdict}"
        if self.verdict == "undecided":
            verdict = "It is undecided which one is better"
        compared = "balanced error" if self.cost == _BALANCED else "expected cost"
        lines = [
            f"{verdict} at {self.confidence:.4g}: the {compared} changes by "
            f"{self.cost_difference:+.4g}, between {low:+.4g} and {high:+.4g}.",
            f"{'':<14}{'rows':>8}{'mended':>8}{'broken':>8}{'error':>9}{'between':>9}"
            f"{'and':>9}{'p-value':>9}",
        ]
        counts = zip(self.labels, self.n_samples, self.mended, self.broken, strict=True)
        rates = zip(self.differences, self.intervals, self.p_values, strict=True)
        for (label, *of_class), (change, ends, p) in zip(counts, rates, strict=True):
            shown = "".join(f"{count:>8}" for count in of_class)
            shown += "".join(f"{value:>+9.4f}" for value in (change, *ends))
            lines.append(f"{f'class {label}':<14}{shown}{p:>9.3g}")
        if self.reason:
            lines.append(self.reason)
        return "\n".join(lines)


def compare_boundaries(
    y_true: ArrayLike,
    old_score: ArrayLike,
    old: float | Boundary,
    new_score: ArrayLike,
    new: float | Boundary,
    confidence: float = 0.95,
    *,
    cost: Cost | None = None,
    pos_label: object = None,
) -> BoundaryComparison:
    r"""Compare two boundaries or two models on rows that chose neither boundary.

    If the rows chose one of the boundaries, the intervals are wider and the comparison says so.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two labels of any kind.
    old_score, new_score : array-like of shape (n_samples,)
        Scores of the same rows; the same scores twice compare two boundaries of one model.
    old, new : float or Boundary
        A row is called positive iff its score is greater.
    confidence : float, default=0.95
        Of each interval.
    cost : Cost, default=None
        What errors cost. None takes the rule of the boundaries, which must agree: a Cost as it
        is, and for "balanced_accuracy", "g-mean" and "minimax" the balanced error, half the sum of
        both error rates. Its prevalence is taken as known; with none, the rows must be a random
        sample, and the interval includes the uncertainty of their prevalence.
    pos_label : label, default=None
        As in :func:`~boundshift.certify`.

    Returns
    -------
    BoundaryComparison

    Notes
    -----
    If b of n rows of a class are mended and c are broken, :math:`(c - b)/n` estimates the
    difference of the error rates. Its upper bound at :math:`1 - \delta` is Clopper and Pearson's
    upper bound of c/n minus their lower bound of b/n, each at :math:`\delta/2`. The bound of the
    difference of costs adds both classes, each bound at :math:`\delta/4`; n counts the rows of
    the class where the prevalence is known, and all rows where it is not. The bounds hold for any
    distribution and any n, and are slightly conservative. If a boundary was chosen on these rows,
    each Clopper–Pearson bound is replaced by the band that holds for every threshold at once
    (:func:`~boundshift.certify`). If both were, the bands are those of both error rates.

    McNemar's exact test asks how often b
    or more of b + c fair coins show heads.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import Cost, compare_boundaries
    >>> y = np.repeat([0, 1], [9000, 1000])
    >>> s = np.concatenate([np.linspace(-3, 1, 9000), np.linspace(-1, 3, 1000)])
    >>> print(compare_boundaries(y, s, 0.9, s, 0.5, cost=Cost(false_negative=20)))
    The new one is better at 0.95: the expected cost changes by -0.11, between -0.1728 and -0.04618.
                      rows  mended  broken    error  between      and  p-value
    class 0           9000       0     900  +0.1000  +0.0925  +0.1073        1
    class 1           1000     100       0  -0.1000  -0.1233  -0.0754 7.89e-31
    """
    delta = 1 - as_share("confidence", confidence)
    cost = _choose_cost(cost, old, new)
    old_threshold, positive = read_threshold(old, pos_label, y_true)
    new_threshold, positive = read_threshold(new, positive, y_true)
    old_scores = read_scores("old_score", old_score)
    new_scores = read_scores("new_score", new_score, len(old_scores))
    is_positive, _, labels = as_rows(y_true, old_scores, positive, symmetric=False)
    chosen = []
    sides = (("old", old, old_scores), ("new", new, new_scores))
    for name, boundary, scores in sides:
        if have_chosen(boundary, scores, is_positive, f"{name}_score"):
            chosen.append(name)
    old_wrong = (old_scores > old_threshold) != is_positive
    new_wrong = (new_scores > new_threshold) != is_positive

    def count(rows: BoolArray) -> tuple[int, int]:
        return int(np.sum(rows & ~is_positive)), int(np.sum(rows & is_positive))

    mended = count(old_wrong & ~new_wrong)
    broken = count(~old_wrong & new_wrong)
    n_samples = count(np.ones_like(is_positive))
    # With both thresholds chosen here each has a band of its own.
    gains = mended
    losses = broken
    if len(chosen) == 2:
        gains = count(old_wrong)
        losses = count(new_wrong)
    differences = tuple((c - b) / n for b, c, n in zip(mended, broken, n_samples, strict=True))
    pairs = list(zip(gains, losses, n_samples, strict=True))
    upper = partial(_upper, chosen_here=bool(chosen))
    intervals = tuple((-upper(c, b, n, delta / 2), upper(b, c, n, delta / 2)) for b, c, n in pairs)
    weights = (cost.false_positive, cost.false_negative)
    bases = (len(is_positive), len(is_positive))
    if cost.prevalence is not None:
        weights = (weights[0] * (1 - cost.prevalence), weights[1] * cost.prevalence)
        bases = n_samples
    counts = list(zip(weights, gains, losses, bases, strict=True))
    most = sum(w * upper(b, c, n, delta / 4) for w, b, c, n in counts)
    least = -sum(w * upper(c, b, n, delta / 4) for w, b, c, n in counts)
    return BoundaryComparison(
        labels=labels,
        n_samples=n_samples,
        mended=mended,
        broken=broken,
        differences=differences,
        intervals=intervals,
        p_values=_p_values(mended, broken, chosen),
        cost_difference=sum(w * (c - b) / n for w, b, c, n in counts),
        cost_interval=(least, most),
        cost=cost,
        confidence=float(confidence),
        reason=_describe_choice(chosen),
    )


def _choose_cost(cost: Cost | None, old: object, new: object) -> Cost:
    """Return the cost given, or that of the boundaries' common rule."""
    rules = [boundary.rule for boundary in (old, new) if isinstance(boundary, Boundary)]
    if cost is None and rules and all(rule == rules[0] for rule in rules):
        rule = rules[0]
        is_balanced = rule.symmetric and not rule.depends_on_prevalence
        cost = _BALANCED if is_balanced else rule  # type: ignore[assignment]
    if not isinstance(cost, Cost):
        raise InvalidInputError(
            "must be a Cost unless the boundaries have one rule that says what an error "
            f"costs, got {cost!r} with the rules {rules!r}. Use Cost(false_positive=1, "
            "false_negative=20), for example.",
            argument="cost",
        )
    return cost


def _p_values(
    mended: tuple[int, int], broken: tuple[int, int], chosen: list[str]
) -> tuple[float, float]:
    """McNemar's exact test for each class; NaN if the rows chose a threshold."""
    if chosen:
        return math.nan, math.nan
    negative, positive = (
        float(binom.sf(b - 1, b + c, 0.5)) for b, c in zip(mended, broken, strict=True)
    )
    return negative, positive


def _describe_choice(chosen: list[str]) -> str:
    if not chosen:
        return ""
    if len(chosen) == 2:
        return (
            "Both boundaries were chosen on these rows, or on some of them, so the intervals hold "
            "for every pair of thresholds and are wide. Compare on other rows."
        )
    return (
        f"The {chosen[0]} boundary was chosen on these rows, or on some of them, so the intervals "
        "hold for every threshold of it and are wider. Compare on other rows."
    )


def _upper(mended: int, broken: int, n: int, delta: float, *, chosen_here: bool = False) -> float:
    """Upper bound on the rate of broken rows minus the rate of mended rows."""
    broken_rate = bound_error(broken, n, delta / 2, chosen_here=chosen_here)
    kept_rate = bound_error(n - mended, n, delta / 2, chosen_here=chosen_here)
    return broken_rate - (1 - kept_rate)
