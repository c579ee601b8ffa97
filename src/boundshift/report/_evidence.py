"""Everything a report knows: `Evidence`, gathered from labelled scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._promises.certificate import Certificate, Scores, certify_counts
from boundshift._promises.certify import certify
from boundshift._promises.zone import Zone
from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._typing import BoolArray, FloatArray
from boundshift._validation import (
    as_choice,
    as_labels,
    as_row_cost,
    as_scores,
    as_share,
    as_weights,
    is_finite,
    own_cost,
)
from boundshift._view import read_sample, settle_boundary
from boundshift._words import Names, read_names
from boundshift.curves._clusters import as_clusters, cluster_means
from boundshift.exceptions import InvalidInputError

WHERE = {
    "test": "the test rows",
    "deciding": "the rows that chose the threshold",
    "seen": "these rows",
}
MOST_LEVELS = 12
"""Columns with more values than this are not shown as groups."""
_FEW = 500  # larger cells are resampled by the normal approximation of their sum

Pair = tuple[ArrayLike, ArrayLike]


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
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row, if the boundary was chosen by weights.
    column : str, default=None
        Name of the costs or weights.
    cluster : array-like of shape (n_samples,), default=None
        Which rows belong together, such as visits of one patient, for bounds that allow for it.
    """

    probability: ArrayLike | None = None
    groups: Mapping[str, Any] = field(default_factory=dict)
    row_cost: ArrayLike | None = None
    sample_weight: ArrayLike | None = None
    column: str | None = None
    cluster: ArrayLike | None = None

    def check(self, n: int) -> RowDetails:
        """Return the columns as arrays of n values each; raise if one has another length."""
        probability = None
        if self.probability is not None:
            probability = _column("probability", as_scores(self.probability), n)
            if not np.all((probability >= 0) & (probability <= 1)):
                raise InvalidInputError(
                    "`probability` must lie from 0 to 1, got "
                    f"{probability.min():.6g} to {probability.max():.6g}. Pass predict_proba of "
                    "the positive class."
                )
        if self.row_cost is not None and self.sample_weight is not None:
            raise InvalidInputError(
                "`row_cost` cannot be combined with `sample_weight`, got both. Pass what chose "
                "the boundary."
            )
        return RowDetails(
            probability,
            {str(k): _column("groups", v, n) for k, v in self.groups.items()},
            None if self.row_cost is None else as_row_cost(self.row_cost, n),
            None if self.sample_weight is None else as_weights(self.sample_weight, n),
            self.column,
            None if self.cluster is None else _column("cluster", self.cluster, n),
        )


@dataclass(frozen=True)
class ColumnUse:
    """How a column of a table was used: what it was read as, its missing values, and why."""

    name: str
    read_as: str
    missing: str
    why: str
    used: bool = True


def _column(name: str, values: Any, n: int) -> NDArray[Any]:
    column = np.asarray(values)
    if column.shape != (n,):
        raise InvalidInputError(
            f"`{name}` must have one value for each of {n} rows, got the shape {column.shape}. "
            "Pass columns in the order of the rows that judge the boundary."
        )
    return column


@dataclass(frozen=True, eq=False)
class PairedRows:
    r"""Labelled rows, decided by an old and by a new threshold.

    `amount` is the weight or the cost of each row, None for 1. Of weights (`shares`) an error rate
    is the weighted mean, of costs it is the mean cost of a row of the class.

    Notes
    -----
    Intervals are from a Poisson bootstrap. Rows of one class with the same two decisions form one
    of eight independent cells; the sum of a large cell is drawn from a normal distribution with
    mean :math:`\sum a_i` and variance :math:`\sum a_i^2`.
    """

    is_positive: BoolArray
    old: BoolArray
    new: BoolArray
    amount: FloatArray | None = None
    shares: bool = True

    def errors(self, which: str) -> tuple[float, float]:
        """Return both classes' error rates, of the "old" or of the "new" decision."""
        sums = np.array([[[cell.sum()] for cell in row] for row in self._cells()])
        negative, positive = self._rates(sums, which)
        return float(negative[0]), float(positive[0])

    def gain_interval(
        self,
        measure: Callable[[FloatArray, FloatArray], FloatArray],
        confidence: float,
        n_draws: int,
    ) -> tuple[float, float]:
        """Return the bootstrap interval of a measure of both error rates, new minus old."""
        rng = np.random.default_rng(0)
        sums = np.array([[_draw(cell, rng, n_draws) for cell in row] for row in self._cells()])
        gains = measure(*self._rates(sums, "new")) - measure(*self._rates(sums, "old"))
        tail = 50 * (1 - confidence)
        low, high = np.nanpercentile(gains, [tail, 100 - tail])
        return float(low), float(high)

    def _cells(self) -> list[list[FloatArray]]:
        """Return the amounts of each class by the decisions: neither, old, new, both positive."""
        amount = np.ones(len(self.old)) if self.amount is None else self.amount
        kind = self.old + 2 * self.new
        return [
            [amount[(self.is_positive == truth) & (kind == k)] for k in range(4)]
            for truth in (False, True)
        ]

    def _rates(self, sums: FloatArray, which: str) -> tuple[FloatArray, FloatArray]:
        flagged, missed = ([1, 3], [0, 2]) if which == "old" else ([2, 3], [0, 1])
        n = np.array([[np.sum(self.is_positive == truth)] for truth in (False, True)], dtype=float)
        totals = sums.sum(axis=1) if self.shares else n
        with np.errstate(invalid="ignore"):  # a draw may leave a class without rows
            wrong = sums[0, flagged].sum(axis=0) / totals[0]
            return wrong, sums[1, missed].sum(axis=0) / totals[1]


def _draw(cell: FloatArray, rng: np.random.Generator, n_draws: int) -> FloatArray:
    if len(cell) <= _FEW:
        return np.asarray(rng.poisson(1.0, (n_draws, len(cell))) @ cell, dtype=np.float64)
    spread = float(np.sqrt(np.sum(cell**2)))
    return np.maximum(rng.normal(float(cell.sum()), spread, n_draws), 0.0)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything a report knows; panels count it, sentences say it."""

    boundary: Boundary
    names: Names
    confidence: float
    origin: Scores
    judged_on: Literal["test", "deciding", "seen"]
    """Rows used for nothing else, those that chose the threshold, or others that are no test."""
    chosen_here: bool
    deciding: ScoreSample
    """Rows that are drawn."""
    judging: ScoreSample
    old_threshold: float
    interval: tuple[float, float] | None
    prevalence: float
    """Share of positives where decisions are made."""
    weighted_prevalence: float
    """The same by weight, for the goal."""
    shifted: Certificate
    """At the boundary, on the judging rows, each counted by itself."""
    clustered: Certificate | None
    """The same of clusters, where rows come in clusters."""
    sum_bound: float
    """Bound of the sum of both error rates."""
    old_wrong: tuple[int, int]
    """Judging rows on the wrong side of the model's own threshold."""
    old_missed: float
    """Share of positives missed at the model's own threshold; of clusters the average."""
    rows: PairedRows
    """The judging rows, decided at both thresholds."""
    scores: FloatArray
    """Of the judging rows, in the order given."""
    details: RowDetails
    zone: Zone | None
    zone_found_here: bool

    @property
    def where(self) -> str:
        """Which rows were counted, in words."""
        return f"on {WHERE[self.judged_on]}"

    @property
    def tested(self) -> bool:
        """Whether the judging rows were used for nothing else."""
        return self.judged_on == "test"

    @property
    def certificate(self) -> Certificate:
        """What is claimed: of clusters where there are some, else of rows."""
        return self.shifted if self.clustered is None else self.clustered


def gather(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    boundary: Boundary | None = None,
    old_threshold: float | None = None,
    test: Pair | None = None,
    scores: Scores = "held-out",
    confidence: float = 0.95,
    names: Mapping[str, object] | None = None,
    interval: tuple[float, float] | None = None,
    chosen_here: bool = True,
    prevalence: float | None = None,
    details: RowDetails | None = None,
    nominal: str = "",
    zone: Zone | None = None,
    zone_found_here: bool = True,
) -> Evidence:
    """Return the evidence; parameters are those of :func:`~boundshift.report.collect_facts`."""
    confidence = as_share("confidence", confidence)
    as_choice("scores", scores, ("held-out", "out-of-fold", "training"))
    boundary, deciding = settle_boundary(y_true, y_score, boundary, pos_label=pos_label)
    labels, threshold = boundary.labels, boundary.threshold
    tested = _read_pair("test", test, labels)
    if old_threshold is None:
        old_threshold = 0.5 if deciding.are_probabilities() else 0.0
    if not is_finite(old_threshold) or isinstance(old_threshold, bool):
        raise InvalidInputError(
            f"`old_threshold` must be a finite number, got {old_threshold!r}. Use the threshold "
            "at which the model decided before."
        )
    old = float(old_threshold)
    if not chosen_here and tested is not None:
        raise InvalidInputError(
            "`chosen_here` must be True where `test` is given or no boundary is, got False. Pass "
            "the test rows as y_true and y_score, with the boundary."
        )
    judging = deciding if tested is None else tested
    is_tested = tested is not None or not chosen_here
    judged_labels, given = test or (y_true, y_score)
    is_positive = np.asarray(as_labels(judged_labels) == labels[1], dtype=np.bool_)
    judged_scores = as_scores(given)
    details = (details or RowDetails()).check(len(judged_scores))
    amount = details.sample_weight
    if details.row_cost is not None:
        amount = own_cost(np.asarray(details.row_cost), is_positive)
    rows = PairedRows(
        is_positive,
        judged_scores > old,
        judged_scores > threshold,
        None if amount is None else np.asarray(amount),
        shares=details.row_cost is None,
    )
    share = judging.n_samples[1] / sum(judging.n_samples)
    asked = getattr(boundary.rule, "prevalence", None) if prevalence is None else prevalence
    if asked is not None:
        share = as_share("prevalence", asked, "Use 0.02 for one in fifty.")
    weighted_share = share
    if rows.amount is not None and rows.shares and asked is None:
        weighted_share = float(rows.amount[is_positive].sum() / rows.amount.sum())
    certificate = certify_counts(
        _wrong(judging, threshold),
        judging.n_samples,
        labels,
        confidence=confidence,
        chosen_here=not is_tested,
        scores="held-out" if is_tested else scores,
        threshold=threshold,
    )
    clustered, both = None, certificate.at(confidence, joint=True)
    old_wrong = _wrong(judging, old)
    old_missed = old_wrong[1] / judging.n_samples[1]
    if nominal:
        certificate = replace(certificate, status="nominal", reason=nominal)
    elif details.cluster is not None:
        if not is_tested:
            raise InvalidInputError(
                "`cluster` must go with test rows, got rows that chose the boundary. Hold out "
                "whole clusters, and pass them as `test`."
            )
        claims: dict[str, Any] = {"cluster": details.cluster, "confidence": confidence}
        clustered, both = (
            certify(is_positive, judged_scores, threshold, joint=joint, **claims)
            for joint in (False, True)
        )
        ids = as_clusters(details.cluster, len(is_positive))
        old_missed = float(cluster_means(~rows.old[is_positive], ids[is_positive]).mean())
        reason = "Rows of one cluster are alike, and bounds from counts of rows ignore that"
        certificate = replace(certificate, status="nominal", reason=reason)
    return Evidence(
        boundary=boundary,
        names=read_names(names, labels),
        confidence=confidence,
        origin=scores,
        judged_on="deciding" if not is_tested else "seen" if nominal else "test",
        chosen_here=chosen_here,
        deciding=deciding,
        judging=judging,
        old_threshold=old,
        interval=interval and (float(interval[0]), float(interval[1])),
        prevalence=share,
        weighted_prevalence=weighted_share,
        shifted=certificate,
        clustered=clustered,
        sum_bound=sum(both.error_bounds),
        old_wrong=old_wrong,
        old_missed=old_missed,
        rows=rows,
        scores=judged_scores,
        details=details,
        zone=zone,
        zone_found_here=zone_found_here,
    )


def _wrong(sample: ScoreSample, threshold: float) -> tuple[int, int]:
    flagged, missed = sample.count_wrong(np.asarray(threshold))
    return int(flagged), int(missed)


def _read_pair(name: str, pair: object, labels: tuple[Any, Any]) -> ScoreSample | None:
    if pair is None:
        return None
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidInputError(
            f"`{name}` must be a pair (labels, scores), got {type(pair).__name__}. "
            f"Use {name}=(y, scores)."
        )
    return read_sample(pair[0], pair[1], labels, name)


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
