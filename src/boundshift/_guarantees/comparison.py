"""Whether one boundary, or one model, is better than another on the same labelled rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from boundshift._guarantees.certificate import bound_error
from boundshift._guarantees.differences import difference_interval
from boundshift._guarantees.reading import find_origin, read_scores, read_threshold, refuse_copies
from boundshift._result.boundary import Boundary
from boundshift._typing import BoolArray, FloatArray, IndexArray
from boundshift._validation import as_clusters, as_rows, as_share
from boundshift.curves._clusters import cluster_means
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
        and where the true difference lies, each by itself with the stated confidence. Averages
        over clusters if there are any.
    p_values : tuple of float
        Of McNemar's exact test, for each class, that the new one is no better. NaN for clusters,
        or if a boundary was chosen on these rows.
    cost_difference, cost_interval : float, and pair of float
        Expected cost of a decision by the new one minus that of the old one, and the interval of
        the true difference, with the stated confidence.
    cost : Cost
        What errors cost; 1 each at a prevalence of one half is the balanced error.
    confidence : float
        Of each interval.
    reason : str, default=""
        Which boundary was chosen on these rows; the intervals then hold for every threshold of it,
        and there are no p-values. Or over how many clusters the rates are averages. Otherwise
        empty.
    """

    labels: tuple[object, object]
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
    cluster: ArrayLike | None = None,
) -> BoundaryComparison:
    r"""Compare two boundaries or two models on rows that chose neither boundary.

    If the rows chose one of the boundaries, the intervals are wider, as `reason` explains. Rows
    that a boundary's model was trained on are refused.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two labels of any kind.
    old_score, new_score : array-like of shape (n_samples,)
        Scores of the same rows; the same scores twice compare two boundaries of one model.
    old, new : float or Boundary
        A row is predicted positive if and only if its score is greater.
    confidence : float, default=0.95
        Of each interval.
    cost : Cost, default=None
        What errors cost. None takes the rule of the boundaries, which must agree: a Cost as it
        is, and for "balanced_accuracy", "g-mean" and "minimax" the balanced error, half the sum of
        both error rates. Its prevalence is taken as known; with none, the rows must be a random
        sample, and the interval includes the uncertainty of their prevalence.
    pos_label : label, default=None
        As in :func:`~boundshift.certify`.
    cluster : array-like of shape (n_samples,), default=None
        Id of each row's cluster, such as the patient, if rows of a cluster resemble each other and
        clusters are independent. Error rates and costs are then averages over clusters, each
        counting once. Both boundaries must have been fixed before.

    Returns
    -------
    BoundaryComparison

    Notes
    -----
    If b of n rows of a class are mended and c are broken, :math:`(c - b)/n` estimates the
    difference of the error rates. Its upper bound at :math:`1 - \delta` is Clopper and Pearson's
    upper bound of c/n minus their lower bound of b/n, each at :math:`\delta/2`.

    A row changes the cost by a bounded number, and the mean of these is bounded on each side at
    :math:`\delta/2` by :mod:`boundshift._guarantees.differences`. The mean is that of all rows if
    the prevalence is not known, and of each class, weighted, if it is. With clusters, so are the
    differences of the error rates; clusters may have rows of both classes, so the costs at a known
    prevalence add the bounds of both classes, each at :math:`\delta/4`.

    All bounds hold for any distribution and any n. If a boundary was chosen on these rows, each
    Clopper–Pearson bound is replaced by the band that holds for every threshold at once
    (:func:`~boundshift.certify`), and the cost adds both classes. If both were, the bands are those
    of both error rates.

    McNemar's exact test asks how often b or more of b + c fair coins show heads.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import Cost, compare_boundaries
    >>> y = np.repeat([0, 1], [9000, 1000])
    >>> s = np.concatenate([np.linspace(-3, 1, 9000), np.linspace(-1, 3, 1000)])
    >>> print(compare_boundaries(y, s, 0.9, s, 0.5, cost=Cost(false_negative=20)))
    The new one is better at 0.95: the expected cost changes by -0.11, between -0.1725 and -0.05969.
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
    boundaries = {"old": (old, old_scores), "new": (new, new_scores)}
    chosen = [name for name in boundaries if _has_chosen(name, *boundaries[name], is_positive)]
    if cluster is None:
        refuse_copies(is_positive, old_scores, new_scores)
    if chosen and cluster is not None:
        raise InvalidInputError(
            f"must go with boundaries that were fixed before, but the {chosen[0]} boundary was "
            "chosen on these rows. Compare on other clusters.",
            argument="cluster",
        )
    changes = _Changes(
        is_positive=is_positive,
        old_wrong=(old_scores > old_threshold) != is_positive,
        new_wrong=(new_scores > new_threshold) != is_positive,
        cluster=None if cluster is None else as_clusters(cluster, len(old_scores)),
    )
    p_values = (math.nan, math.nan)
    if chosen:
        intervals = changes.bands(delta, len(chosen), changes.n_samples)
        cost_interval = changes.cost_band(cost, delta, len(chosen))
        reason = _describe_choice(chosen)
    else:
        intervals = changes.intervals(delta)
        cost_interval = changes.cost_interval(cost, delta)
        reason = ""
    if changes.cluster is not None:
        negative, positive = changes.by_class
        reason = (
            f"Rates are averages over {len(negative)} negative and {len(positive)} positive "
            "clusters."
        )
    elif not chosen:
        p_values = changes.p_values()
    return BoundaryComparison(
        labels=labels,
        n_samples=changes.n_samples,
        mended=changes.mended,
        broken=changes.broken,
        differences=tuple(float(each.mean()) for each in changes.by_class),
        intervals=intervals,
        p_values=p_values,
        cost_difference=changes.cost_difference(cost),
        cost_interval=cost_interval,
        cost=cost,
        confidence=float(confidence),
        reason=reason,
    )


def _has_chosen(
    name: str, boundary: float | Boundary, scores: FloatArray, is_positive: BoolArray
) -> bool:
    """Return whether these rows chose a boundary; refuse rows that its model was trained on."""
    origin = find_origin(boundary, scores, is_positive, f"{name}_score")
    if origin == "training":
        raise InvalidInputError(
            "must be scores of rows that the model has not seen, but it was trained on some "
            "of these rows. Compare on other rows.",
            argument=f"{name}_score",
        )
    return origin is not None


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


@dataclass(frozen=True)
class _Changes:
    """Which rows the old and the new boundary get wrong, and the cluster of each row."""

    is_positive: BoolArray
    old_wrong: BoolArray
    new_wrong: BoolArray
    cluster: IndexArray | None

    def count(self, rows: BoolArray) -> tuple[int, int]:
        """Return how many rows of each class are among these."""
        return int(np.sum(rows & ~self.is_positive)), int(np.sum(rows & self.is_positive))

    @property
    def mended(self) -> tuple[int, int]:
        return self.count(self.old_wrong & ~self.new_wrong)

    @property
    def broken(self) -> tuple[int, int]:
        return self.count(self.new_wrong & ~self.old_wrong)

    @property
    def n_samples(self) -> tuple[int, int]:
        return self.count(np.ones_like(self.is_positive))

    @cached_property
    def by_class(self) -> list[FloatArray]:
        """The new error minus the old one, of the rows or clusters of each class."""
        change = self.new_wrong.astype(np.float64) - self.old_wrong
        return [self._means(change, rows) for rows in (~self.is_positive, self.is_positive)]

    def _means(self, values: FloatArray, rows: BoolArray) -> FloatArray:
        """Return the values of some rows, or their means over clusters."""
        if self.cluster is None:
            return values[rows]
        return cluster_means(values[rows], self.cluster[rows])

    def weighted(self, cost: Cost) -> tuple[list[FloatArray], tuple[float, ...]]:
        """Return values in [-1, 1] and weights, whose sum of weighted means is the cost."""
        if cost.prevalence is not None:
            priors = (1 - cost.prevalence, cost.prevalence)
            return self.by_class, (cost.false_positive * priors[0], cost.false_negative * priors[1])
        most = max(cost.false_positive, cost.false_negative)
        price = np.where(self.is_positive, cost.false_negative, cost.false_positive) / most
        change = price * (self.new_wrong.astype(np.float64) - self.old_wrong)
        return [self._means(change, np.ones_like(self.is_positive))], (most,)

    def cost_difference(self, cost: Cost) -> float:
        values, weights = self.weighted(cost)
        return sum(
            weight * float(each.mean()) for weight, each in zip(weights, values, strict=True)
        )

    def cost_interval(self, cost: Cost, delta: float) -> tuple[float, float]:
        """Return the bounds of the cost, for boundaries that were fixed before."""
        values, weights = self.weighted(cost)
        if self.cluster is None or len(values) == 1:
            return difference_interval(values, weights, delta)
        # A cluster may have rows of both classes, so these depend on each other.
        parts = [
            difference_interval([each], [weight], delta / 2)
            for each, weight in zip(values, weights, strict=True)
        ]
        return parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]

    def intervals(self, delta: float) -> tuple[tuple[float, float], ...]:
        """Return the bounds of each class's difference, for boundaries that were fixed before."""
        if self.cluster is not None:
            return tuple(difference_interval([each], [1.0], delta) for each in self.by_class)
        counts = zip(self.mended, self.broken, self.n_samples, strict=True)
        return tuple(
            (-_upper(c, b, n, delta / 2), _upper(b, c, n, delta / 2)) for b, c, n in counts
        )

    def bands(
        self, delta: float, n_chosen: int, bases: tuple[int, int]
    ) -> tuple[tuple[float, float], ...]:
        """Return bounds for every threshold, of rates among so many rows."""
        gains = self.mended
        losses = self.broken
        if n_chosen == 2:
            # Each threshold has a band of its own.
            gains = self.count(self.old_wrong)
            losses = self.count(self.new_wrong)
        upper = partial(_upper, delta=delta / 2, chosen_here=True)
        counts = zip(gains, losses, bases, strict=True)
        return tuple((-upper(c, b, n), upper(b, c, n)) for b, c, n in counts)

    def cost_band(self, cost: Cost, delta: float, n_chosen: int) -> tuple[float, float]:
        """Return the bounds of the cost for every threshold."""
        prices = np.array([cost.false_positive, cost.false_negative])
        bases = (len(self.is_positive), len(self.is_positive))
        if cost.prevalence is not None:
            prices = prices * [1 - cost.prevalence, cost.prevalence]
            bases = self.n_samples
        low, high = prices @ np.array(self.bands(delta / 2, n_chosen, bases))
        return float(low), float(high)

    def p_values(self) -> tuple[float, float]:
        """Return the p-values of McNemar's exact test for each class."""
        counts = zip(self.mended, self.broken, strict=True)
        negative, positive = (float(binom.sf(b - 1, b + c, 0.5)) for b, c in counts)
        return negative, positive


def _describe_choice(chosen: list[str]) -> str:
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
