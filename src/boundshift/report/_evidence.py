"""Everything a report knows: `Evidence`, gathered from labelled scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._guarantees.certificate import (
    Certificate,
    CertificateStatus,
    Origin,
    certify_counts,
)
from boundshift._guarantees.certify import certify
from boundshift._guarantees.zone import Zone
from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._typing import BoolArray, FloatArray, Rows
from boundshift._validation import (
    as_choice,
    as_column,
    as_labels,
    as_row_cost,
    as_scores,
    as_share,
    is_finite,
    own_cost,
)
from boundshift._view import assume_own_threshold, read_sample, settle_boundary
from boundshift._words import Names, Naming, name_classes
from boundshift.exceptions import BoundaryWarning, InvalidInputError

if TYPE_CHECKING:
    from boundshift._classifier import BoundShiftClassifier

MOST_LEVELS = 12
"""Columns with more values than this are not shown as groups."""
_CLUSTERED = "Rows of one cluster are alike, and bounds from counts of rows ignore that"

JudgedOn = Literal["test", "deciding", "seen"]
"""Rows kept for a test, rows that chose the threshold, or rows that the model was fitted on."""


@dataclass(frozen=True)
class Doubt:
    """Why nothing can be certified on the rows of a report.

    Parameters
    ----------
    reason : str
        A sentence without its full stop, such as "650 of these 650 rows were used in fit".
    remedy : str
        A sentence that says what to do.
    is_seen : bool, default=True
        Whether the model was fitted on some of the rows, so that every figure is optimistic.
    """

    reason: str
    remedy: str
    is_seen: bool = True


@dataclass(frozen=True, eq=False)
class RowDetails:
    """Further columns of the test rows of a report, in the order of the rows.

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
    groups: Mapping[str, ArrayLike] = field(default_factory=dict)
    row_cost: ArrayLike | None = None
    cluster: ArrayLike | None = None

    def check(self, n: int) -> RowDetails:
        """Return the columns as arrays of n values each."""
        order = "Pass the rows that judge the boundary, in their order."
        columns = {
            str(name): as_column(str(name), values, order, n)
            for name, values in self.groups.items()
        }
        probability = None
        if self.probability is not None:
            probability = as_scores(as_column("probability", self.probability, order, n))
            if probability.min() < 0 or probability.max() > 1:
                raise InvalidInputError(
                    f"must lie from 0 to 1, got {probability.min():.6g} to "
                    f"{probability.max():.6g}. Pass predict_proba of the positive class.",
                    argument="probability",
                )
        cost = None if self.row_cost is None else as_row_cost(self.row_cost, n)
        return RowDetails(probability, columns, cost, self.cluster)


@dataclass(frozen=True)
class ColumnUse:
    """How a column of a table was used.

    Parameters
    ----------
    name, read_as, missing, why : str
        The column, what it was read as, its missing values, and the reason for its use.
    used : bool, default=True
        Whether the model learned from it.
    suspicion : str, default=""
        A sentence with the evidence that the column may give the target away: that it is known
        only after the outcome. Empty if there is none.
    importance : (mean, low, high), default=None
        By how much the goal's measure gets worse if the column is shuffled on the test rows,
        with an interval. Greater is more important.
    """

    name: str
    read_as: str
    missing: str
    why: str
    used: bool = True
    suspicion: str = ""
    importance: tuple[float, float, float] | None = None


Measure = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Labelled rows, and which of them are flagged by the threshold of the report.

    `cost` is that of a wrong decision on each row; an error rate is then the mean cost of a row.
    """

    is_positive: BoolArray
    flagged: BoolArray
    cost: FloatArray | None = None

    def errors(self, flagged: BoolArray | None = None) -> tuple[float, float]:
        """Return both classes' error rates, of the report's decisions or of others."""
        flagged = self.flagged if flagged is None else flagged
        wrong = (flagged != self.is_positive) * self.costs
        return float(wrong[~self.is_positive].mean()), float(wrong[self.is_positive].mean())

    @property
    def costs(self) -> FloatArray:
        """Cost of a wrong decision on each row: one, unless it was given."""
        return np.ones(len(self.flagged)) if self.cost is None else self.cost

    def interval(
        self, measure: Measure, confidence: float, n_draws: int, other: BoolArray | None = None
    ) -> tuple[float, float]:
        """Return the bootstrap interval of a measure of both error rates.

        With `other` decisions on the same rows it is that of the difference, ours minus theirs.

        It is a Poisson bootstrap: each row is drawn a Poisson number of times. Rows of one class
        with the same two decisions are a cell, whose sum of costs is drawn as that of Kish's
        effective number of equal costs; without costs this is exact.
        """
        random = np.random.default_rng(0)
        theirs = self.flagged if other is None else other
        cell = 4 * self.is_positive + 2 * self.flagged + theirs
        mean = np.bincount(cell, self.costs, 8)
        variance = np.bincount(cell, self.costs**2, 8)
        some = mean > 0  # the sum of an empty cell is 0
        n_effective = np.divide(mean**2, variance, out=np.zeros(8), where=some)
        unit = np.divide(variance, mean, out=np.zeros(8), where=some)
        drawn = unit * random.poisson(n_effective, (n_draws, 8))
        sums = drawn.T.reshape(2, 2, 2, n_draws)  # by class, our decision, and theirs
        negative, positive = sums.sum(axis=(1, 2))
        if self.cost is not None:  # an error rate is then the mean cost of a row
            negative, positive = np.bincount(self.is_positive, minlength=2)
        our_alarms = sums[0, 1].sum(axis=0)
        our_misses = sums[1, 0].sum(axis=0)
        their_alarms = sums[0, :, 1].sum(axis=0)
        their_misses = sums[1, :, 0].sum(axis=0)
        with np.errstate(invalid="ignore"):  # a draw may leave a class without rows
            values = measure(our_alarms / negative, our_misses / positive)
            if other is not None:
                values = values - measure(their_alarms / negative, their_misses / positive)
        tail = (1 - confidence) / 2
        low, high = np.nanquantile(values, [tail, 1 - tail])
        return float(low), float(high)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything a report knows; panels count it, judgements weigh it, sentences state it.

    Rates of both classes are pairs, of the negative class first. Those of `by_row` count every
    row; those of `certificate` are averages over clusters where rows come in clusters.
    """

    boundary: Boundary
    names: Names
    confidence: float
    sample: ScoreSample
    scores: FloatArray  # of the same rows, in the order given
    rows: PairedRows
    details: RowDetails
    judged_on: JudgedOn
    by_row: Certificate
    certificate: Certificate
    joint_bounds: tuple[float, ...]  # of both error rates together
    prevalence: float  # of the positive class where decisions are made
    known_prevalence: float | None  # None where it is that of the rows
    own_threshold: float | None = None  # of the model; None if it is not known
    own_errors: tuple[float, float] | None = None  # there, by row
    own_certificate: Certificate | None = None  # there, over clusters
    doubt: Doubt | None = None
    interval: tuple[float, float] | None = None
    zone: Zone | None = None

    @property
    def is_tested(self) -> bool:
        """Whether the rows played no part in training or in choosing the threshold."""
        return self.judged_on == "test" and self.doubt is None

    @property
    def is_clustered(self) -> bool:
        """Whether the claims are about averages over clusters."""
        return self.certificate.n_clusters is not None

    @property
    def n_clusters(self) -> int:
        """Number of different clusters; one may have rows of both classes."""
        return len(np.unique(np.asarray(self.details.cluster)))

    @property
    def own_decisions(self) -> BoolArray | None:
        """Which rows the model's own threshold flags."""
        return None if self.own_threshold is None else self.scores > self.own_threshold

    def certify_clusters(
        self, threshold: float, confidence: float, *, joint: bool = False
    ) -> Certificate:
        """Bound the errors of a threshold, averaged over clusters."""
        with warnings.catch_warnings():
            # A model's own threshold may lie beyond all scores.
            warnings.simplefilter("ignore", BoundaryWarning)
            return certify(
                self.rows.is_positive,
                self.scores,
                threshold,
                confidence,
                cluster=self.details.cluster,
                joint=joint,
            )


def gather_evidence(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    boundary: Boundary | None = None,
    old_threshold: float | Literal["auto"] | None = "auto",
    test: tuple[ArrayLike, ArrayLike] | None = None,
    scores: Origin = "held-out",
    confidence: float = 0.95,
    names: Naming,
    interval: tuple[float, float] | None = None,
    chosen_here: bool = True,
    prevalence: float | None = None,
    details: RowDetails | None = None,
    doubt: Doubt | None = None,
    zone: Zone | None = None,
) -> Evidence:
    """Return what labelled scores show; arguments are those of `collect_facts`.

    `names` are the arguments of `name_classes`.
    """
    as_choice("scores", scores, ("held-out", "out-of-fold", "training"))
    confidence = as_share("confidence", confidence)
    if not chosen_here and (boundary is None or test is not None):
        raise InvalidInputError(
            "must be True where `test` is given or no boundary is, got False. "
            "Pass the test rows as y_true and y_score, with the boundary.",
            argument="chosen_here",
        )
    boundary, sample = settle_boundary(y_true, y_score, boundary, pos_label=pos_label)
    own = _read_own_threshold(old_threshold, sample)
    # The rows of the verdict, which judge the boundary.
    if test is not None:
        y_true, y_score = test
        sample = read_sample(y_true, y_score, boundary.labels, "test")
    judged_on: JudgedOn = "deciding"
    if test is not None or not chosen_here:
        judged_on = "seen" if doubt is not None and doubt.is_seen else "test"
    score_of_row = as_scores(y_score)
    is_positive = np.asarray(as_labels(y_true) == boundary.labels[1], dtype=np.bool_)
    details = (details or RowDetails()).check(len(is_positive))
    cost = details.row_cost
    if cost is not None:
        cost = own_cost(np.asarray(cost), is_positive)
    known_prevalence = getattr(boundary.rule, "prevalence", None)
    if prevalence is not None:
        known_prevalence = as_share("prevalence", prevalence, "Use 0.02 for one in fifty.")
    origin: Origin = scores if judged_on == "deciding" else "held-out"
    by_row = _certify_rows(boundary, sample, confidence, origin, judged_on != "deciding")
    evidence = Evidence(
        boundary=boundary,
        names=name_classes(boundary.labels, **names),
        confidence=confidence,
        sample=sample,
        scores=score_of_row,
        rows=PairedRows(is_positive, score_of_row > boundary.threshold, cost),
        details=details,
        judged_on=judged_on,
        by_row=by_row,
        certificate=by_row,
        joint_bounds=by_row.at(confidence, joint=True).error_bounds,
        prevalence=float(is_positive.mean()) if known_prevalence is None else known_prevalence,
        known_prevalence=known_prevalence,
        own_threshold=own,
        own_errors=None if own is None else _errors_at(sample, own),
        doubt=doubt,
        interval=interval,
        zone=zone,
    )
    if doubt is not None:
        nominal = replace(by_row, status=CertificateStatus.NOMINAL, reason=doubt.reason)
        return replace(evidence, by_row=nominal, certificate=nominal)
    return evidence if details.cluster is None else _claim_clusters(evidence)


def _claim_clusters(evidence: Evidence) -> Evidence:
    """Return evidence whose claims are about averages over clusters."""
    if evidence.judged_on == "deciding":
        raise InvalidInputError(
            "must go with test rows, got rows that chose the boundary. Hold out "
            "whole clusters, and pass them as `test`.",
            argument="cluster",
        )
    confidence = evidence.confidence
    threshold = evidence.boundary.threshold
    own = evidence.own_threshold
    return replace(
        evidence,
        by_row=replace(evidence.by_row, status=CertificateStatus.NOMINAL, reason=_CLUSTERED),
        certificate=evidence.certify_clusters(threshold, confidence),
        joint_bounds=evidence.certify_clusters(threshold, confidence, joint=True).error_bounds,
        own_certificate=None if own is None else evidence.certify_clusters(own, confidence),
    )


def _read_own_threshold(given: float | str | None, sample: ScoreSample) -> float | None:
    if given is None or given == "auto":
        return None if given is None else assume_own_threshold(sample)
    if not is_finite(given):
        raise InvalidInputError(
            f"must be a finite number, 'auto' or None, got {given!r}. Use None if "
            "it is not known: the report then compares with nothing.",
            argument="old_threshold",
        )
    return float(given)


def _errors_at(sample: ScoreSample, threshold: float) -> tuple[float, float]:
    alarmed, missed = sample.count_wrong(np.asarray(threshold))
    negative, positive = sample.n_samples
    return float(alarmed / negative), float(missed / positive)


def _certify_rows(
    boundary: Boundary, sample: ScoreSample, confidence: float, scores: Origin, is_test: bool
) -> Certificate:
    """Bound both errors of a boundary, each row counted by itself."""
    alarmed, missed = sample.count_wrong(np.asarray(boundary.threshold))
    return certify_counts(
        (int(alarmed), int(missed)),
        sample.n_samples,
        boundary.labels,
        confidence=confidence,
        chosen_here=not is_test,
        origin=scores,
        threshold=boundary.threshold,
    )


def own_probability(classifier: BoundShiftClassifier, X: Rows) -> FloatArray | None:
    """Return the inner model's probability of the positive class, None where it has none."""
    inner = classifier.estimator_
    positive = classifier.boundary_.labels[1]
    if not hasattr(inner, "predict_proba"):
        return None
    place = list(inner.classes_).index(positive)
    return np.asarray(inner.predict_proba(X), dtype=np.float64)[:, place]


def check_levels(name: str, values: ArrayLike) -> NDArray[np.object_]:
    """Return a column of groups; raise if it has too many, or only one."""
    column = np.asarray(values, dtype=object)
    levels = len({str(value) for value in column})
    if not 2 <= levels <= MOST_LEVELS:
        raise InvalidInputError(
            f"must name a column with 2 to {MOST_LEVELS} different values, got {name!r} with "
            f"{levels}. Cut numbers into classes first, or name another column.",
            argument="by",
        )
    return column
