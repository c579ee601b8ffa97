"""Everything a report knows: `Evidence`, gathered from labelled scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._promises.certificate import Certificate, Scores, certify_counts
from boundshift._promises.certify import certify
from boundshift._promises.zone import Zone
from boundshift._result.boundary import Boundary
from boundshift._typing import BoolArray, FloatArray
from boundshift._validation import (
    as_choice,
    as_column,
    as_labels,
    as_row_cost,
    as_scores,
    as_share,
    own_cost,
)
from boundshift._view import read_sample, settle_boundary
from boundshift._words import read_names
from boundshift.exceptions import InvalidInputError

WHERE = {
    "test": "the test rows",
    "deciding": "the rows that chose the threshold",
    "seen": "these rows",
}
MOST_LEVELS = 12
"""Columns with more values than this are not shown as groups."""
_FEW = 500  # larger cells are resampled by the normal approximation of their sum


@dataclass(frozen=True, eq=False)
class RowDetails:
    """Columns beside label and score, in the order of the rows that judge the boundary.

    Parameters
    ----------
    probability : array-like of shape (n_samples,), default=None
        The model's own probability of the positive class, for the calibration.
    groups : mapping from str to array-like, default={}
        Columns whose values divide the rows into groups, such as a region.
    row_cost : array-like of shape (n_samples,) or (n_samples, 2), default=None
        Cost of a wrong decision on each row, if the boundary was chosen by such costs.
    cluster : array-like of shape (n_samples,), default=None
        Which rows belong together, such as visits of one patient, for bounds that allow for it.
    """

    probability: ArrayLike | None = None
    groups: Mapping[str, Any] = field(default_factory=dict)
    row_cost: ArrayLike | None = None
    cluster: ArrayLike | None = None

    def check(self, n: int) -> RowDetails:
        """Return the columns as arrays of n values each."""
        order = "Pass the rows that judge the boundary, in their order."
        columns = {str(k): as_column(str(k), v, order, n) for k, v in self.groups.items()}
        said = None
        if self.probability is not None:
            said = as_scores(as_column("probability", self.probability, order, n))
            if said.min() < 0 or said.max() > 1:
                raise InvalidInputError(
                    f"`probability` must lie from 0 to 1, got {said.min():.6g} to "
                    f"{said.max():.6g}. Pass predict_proba of the positive class."
                )
        cost = None if self.row_cost is None else as_row_cost(self.row_cost, n)
        return RowDetails(said, columns, cost, self.cluster)


@dataclass(frozen=True)
class ColumnUse:
    """How a column of a table was used: what it was read as, its missing values, and why."""

    name: str
    read_as: str
    missing: str
    why: str
    used: bool = True


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Labelled rows, decided by an old and by a new threshold.

    `cost` is that of a wrong decision on each row; an error rate is then the mean cost of a row.
    """

    is_positive: BoolArray
    old: BoolArray
    new: BoolArray
    cost: FloatArray | None = None

    def errors(self, which: str) -> tuple[float, float]:
        """Return both classes' error rates, of the "old" or of the "new" decision."""
        wrong = (getattr(self, which) != self.is_positive) * self._costs
        return float(wrong[~self.is_positive].mean()), float(wrong[self.is_positive].mean())

    @property
    def _costs(self) -> FloatArray:
        return np.ones(len(self.new)) if self.cost is None else self.cost

    def gain_interval(
        self,
        measure: Callable[[FloatArray, FloatArray], FloatArray],
        confidence: float,
        n_draws: int,
    ) -> tuple[float, float]:
        """Return the interval of a measure of both error rates, new minus old.

        It is a Poisson bootstrap. Rows of one class with the same two decisions are one of eight
        independent cells, and the sum of a large cell is drawn from a normal distribution.
        """
        rng, kind = np.random.default_rng(0), 4 * self.is_positive + 2 * self.new + self.old
        sums = np.array([_draw(self._costs[kind == k], rng, n_draws) for k in range(8)])
        totals: Any = np.bincount(self.is_positive, minlength=2)
        if self.cost is None:
            totals = sums[:4].sum(axis=0), sums[4:].sum(axis=0)
        with np.errstate(invalid="ignore"):  # a draw may leave a class without rows
            new, old = (
                measure((sums[i] + sums[3]) / totals[0], (sums[4] + sums[7 - i]) / totals[1])
                for i in (2, 1)
            )
        tail = 50 * (1 - confidence)
        low, high = np.nanpercentile(new - old, [tail, 100 - tail])
        return float(low), float(high)


def _draw(cell: FloatArray, rng: np.random.Generator, n_draws: int) -> FloatArray:
    if len(cell) <= _FEW:
        return np.asarray(rng.poisson(1.0, (n_draws, len(cell))) @ cell, dtype=np.float64)
    spread = float(np.sqrt(np.sum(cell**2)))
    return np.maximum(rng.normal(float(cell.sum()), spread, n_draws), 0.0)


class Evidence:
    """Everything a report knows; panels count it, sentences say it.

    Parameters are those of :func:`~boundshift.report.collect_facts`.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: object = None,
        boundary: Boundary | None = None,
        old_threshold: float | None = None,
        test: tuple[ArrayLike, ArrayLike] | None = None,
        scores: Scores = "held-out",
        confidence: float = 0.95,
        names: Mapping[str, object] | None = None,
        interval: tuple[float, float] | None = None,
        chosen_here: bool = True,
        prevalence: float | None = None,
        details: RowDetails | None = None,
        nominal: str = "",
        zone: Zone | None = None,
    ) -> None:
        as_choice("scores", scores, ("held-out", "out-of-fold", "training"))
        if not chosen_here and (boundary is None or test is not None):
            raise InvalidInputError(
                "`chosen_here` must be True where `test` is given or no boundary is, got False. "
                "Pass the test rows as y_true and y_score, with the boundary."
            )
        self.confidence = as_share("confidence", confidence)
        self.interval, self.zone = interval, zone
        boundary, sample = settle_boundary(y_true, y_score, boundary, pos_label=pos_label)
        labels, threshold = boundary.labels, boundary.threshold
        self.boundary, self.names = boundary, read_names(names, labels)
        old = old_threshold
        if old is None:
            old = 0.5 if sample.are_probabilities() else 0.0
        self.old_threshold = float(old)
        # The rows of the verdict, which judge the boundary.
        if test is not None:
            y_true, y_score = test
            sample = read_sample(y_true, y_score, labels, "test")
        is_test = test is not None or not chosen_here
        self.judged_on = "deciding" if not is_test else "seen" if nominal else "test"
        self.tested, self.where = self.judged_on == "test", f"on {WHERE[self.judged_on]}"
        self.judging, self.scores = sample, as_scores(y_score)
        is_positive = np.asarray(as_labels(y_true) == labels[1], dtype=np.bool_)
        self.details = (details or RowDetails()).check(len(is_positive))
        cost = self.details.row_cost
        if cost is not None:
            cost = own_cost(np.asarray(cost), is_positive)
        self.rows = PairedRows(is_positive, self.scores > old, self.scores > threshold, cost)
        asked = getattr(boundary.rule, "prevalence", None) if prevalence is None else prevalence
        self.known_share = asked  # of positives; None where it is that of the rows
        self.prevalence = float(is_positive.mean())  # where decisions are made
        if asked is not None:
            self.prevalence = as_share("prevalence", asked, "Use 0.02 for one in fifty.")
        wrong, before = (sample.count_wrong(np.asarray(cut)) for cut in (threshold, old))
        n = sample.n_samples
        self.old_errors = float(before[0] / n[0]), float(before[1] / n[1])
        self.old_missed = self.old_errors[1]  # of clusters the average
        # At the boundary, each row counted by itself.
        self.shifted = certify_counts(
            (int(wrong[0]), int(wrong[1])),
            n,
            labels,
            confidence=confidence,
            chosen_here=not is_test,
            scores="held-out" if is_test else scores,
            threshold=threshold,
        )
        both = self.shifted.at(confidence, joint=True)
        if nominal:
            self.shifted = replace(self.shifted, status="nominal", reason=nominal)
        # What is claimed: of clusters where there are some, else of rows.
        self.certificate, cluster = self.shifted, self.details.cluster
        self.clustered = cluster is not None and not nominal
        if self.clustered:
            if not is_test:
                raise InvalidInputError(
                    "`cluster` must go with test rows, got rows that chose the boundary. Hold out "
                    "whole clusters, and pass them as `test`."
                )
            self.certificate, both = (
                self.certify_clusters(threshold, confidence, joint=joint) for joint in (False, True)
            )
            self.old_missed = self.certify_clusters(self.old_threshold, confidence).errors[1]
            reason = "Rows of one cluster are alike, and bounds from counts of rows ignore that"
            self.shifted = replace(self.shifted, status="nominal", reason=reason)
        self.sum_bound = sum(both.error_bounds)

    def certify_clusters(
        self, threshold: float, confidence: float, *, joint: bool = False
    ) -> Certificate:
        """Bound the errors of a threshold, averaged over clusters."""
        known: dict[str, Any] = {"cluster": self.details.cluster, "joint": joint}
        return certify(self.rows.is_positive, self.scores, threshold, confidence, **known)


def own_probability(classifier: Any, X: Any) -> NDArray[np.float64] | None:
    """Return the inner model's probability of the positive class, None where it has none."""
    inner, positive = classifier.estimator_, classifier.boundary_.labels[1]
    if not hasattr(inner, "predict_proba"):
        return None
    place = list(inner.classes_).index(positive)
    return np.asarray(inner.predict_proba(X), dtype=np.float64)[:, place]


def check_levels(name: str, values: Any) -> NDArray[Any]:
    """Return a column of groups; raise if it has too many, or only one."""
    column = np.asarray(values, dtype=object)
    levels = len({str(value) for value in column})
    if not 2 <= levels <= MOST_LEVELS:
        raise InvalidInputError(
            f"`by` must name a column with 2 to {MOST_LEVELS} different values, got {name!r} with "
            f"{levels}. Cut numbers into classes first, or name another column."
        )
    return column
