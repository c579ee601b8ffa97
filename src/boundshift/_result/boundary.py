"""The decision boundary as a record: `Boundary`."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boundshift._result.changes import describe_changes
from boundshift._result.records import Metadata, Record, require, require_counts
from boundshift._result.rows import ChoosingRows, Origin, given_values, row_counts
from boundshift._result.sql import label_expression
from boundshift._scores import ScoreSample
from boundshift._status import QUIET, Status
from boundshift._typing import BoolArray, FloatArray, IntArray, Label, LabelArray
from boundshift._validation import as_known_scores
from boundshift._words import boundary_html, summary_text
from boundshift.curves import CountCurve, ErrorCurve
from boundshift.curves._paper import SupportGeometry
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Rule

Pair = tuple[float, float]
_ROUNDING = 1e-6  # by which a probability may be outside [0, 1]
# Scores all in [0, 1] and on one side have this probability before they are called another scale.
_UNLIKELY = 1e-3
_USELESS = 0.95  # share of a class on the wrong side from which a boundary is of no use


@dataclass(frozen=True)
class Boundary(Record):
    """A threshold with its estimated error rates; pairs are (negative, positive).

    Parameters
    ----------
    threshold : float
        Predict positive iff score > threshold.
    status : Status
        What happened, and the remedy.
    errors : tuple of float
        The curve's claim on the share of each class on the wrong side; with the status REVERSED,
        after the scores are negated. NaN for a class without rows.
    wrong : tuple of int
        Rows of each class on the wrong side of the threshold, among the rows that decided.
    loss : float
        The rule's minimum, infinite where a fallback is used. Metrics are minimised with their
        sign changed: -0.75 is an F1 of 0.75.
    n_samples : tuple of int
        Rows of each class that decided; one may be 0 where a floor needs the other class only.
    labels : tuple
        Labels of the classes.
    curve, rule : ErrorCurve and Rule
        The error curve, and what was minimised, with their settings.
    plateau : tuple of float
        Boundaries between which the rule is constant; the threshold is their middle.
    resolution : float, default=0
        Width of the widest bin of scores that the boundary depends on; 0 in memory.
    geometry : SupportGeometry, default=None
        The paper's confidences, means, radii and slack; None unless the curve is "support".
    detail : str, default=""
        What happened in this problem, where the status is too general: which floor is missed.
    scale : {"raw", "probability"}, default="raw"
        Whether the scores were decided as given, or as probabilities on their log-odds. The
        threshold is a score either way; the geometry of probabilities is in log-odds.
    remarks : tuple of Status, default=()
        What else is to be said, such as of reversed scores whose floors are met.
    by_row : bool, default=False
        Whether the `row_cost` of each row decided; the rule "cost" then knows no costs.
    chosen_on : ChoosingRows or None, default=None
        Hashes and deciles of the scores that decided, by which :func:`~boundshift.certify` and
        others recognise these rows and the scale. None if not known. Boundaries are compared
        without it.
    trained_on : ChoosingRows or None, default=None
        The same of the scores that a classifier's model gives the rows that it was trained on,
        unless they chose the boundary.
    metadata : Metadata
        What :meth:`with_metadata` has noted, such as the model and its version.

    Examples
    --------
    >>> import boundshift
    >>> boundary = boundshift.find_boundary([0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6])
    >>> boundary
    Boundary(threshold=3.5, status=OPTIMAL, n_samples=(5, 2), wrong=(0, 0))
    """

    threshold: float
    status: Status
    errors: Pair
    wrong: tuple[int, int]
    loss: float
    n_samples: tuple[int, int]
    labels: tuple[Label, Label]
    curve: ErrorCurve
    rule: Rule
    plateau: Pair
    resolution: float = 0.0
    geometry: SupportGeometry | None = None
    detail: str = ""
    scale: str = "raw"
    remarks: tuple[Status, ...] = ()
    by_row: bool = False
    chosen_on: ChoosingRows | None = field(default=None, compare=False)
    trained_on: ChoosingRows | None = field(default=None, compare=False)
    metadata: Metadata = field(default_factory=Metadata, hash=False)

    _format: ClassVar[str] = "boundshift.boundary"
    _version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if not isinstance(self.metadata, Metadata):
            object.__setattr__(self, "metadata", Metadata.of(self.metadata))
        if not math.isfinite(self.threshold) or self.labels[0] == self.labels[1]:
            raise InvalidInputError(
                "must be a finite number and `labels` two different ones, got "
                f"{self.threshold!r} and {self.labels!r}. Find the boundary again.",
                argument="threshold",
            )

    def _check_values(self) -> None:
        """Raise if values that were read are impossible or contradict each other."""
        require_counts("n_samples", self.n_samples)
        require(sum(self.n_samples) > 0, "n_samples", "count some rows", self.n_samples)
        # Sums of weights are rounded.
        most = [n * (1.0 + _ROUNDING) for n in self.n_samples]
        require_counts("wrong", self.wrong, most)
        for error in self.errors:
            is_rate = math.isnan(error) or 0.0 <= error <= 1.0 + _ROUNDING
            require(is_rate, "errors", "be rates, or NaN for a class without rows", self.errors)
        low, high = self.plateau
        require(low <= high, "plateau", "be two numbers in order", self.plateau)
        is_width = 0.0 <= self.resolution < math.inf
        require(is_width, "resolution", "be finite and at least 0", self.resolution)
        self._check_errors()
        self._check_floors()
        require(self.scale in ("raw", "probability"), "scale", "be a scale", self.scale)
        if self.scale == "probability":
            rule = "be at most 1 on the scale of probabilities"
            require(self.threshold <= 1.0, "threshold", rule, self.threshold)

    def _check_errors(self) -> None:
        """Raise unless errors that were counted follow from the counts."""
        curve = self.curve
        if not isinstance(curve, CountCurve) or curve.counts_clusters:
            return
        if curve.delta is None and Status.REVERSED in self.statuses:
            return
        errors = curve.errors_of_counts(self.wrong, self.n_samples, self.rule)
        are_close = np.allclose(self.errors, errors, rtol=0.0, atol=_ROUNDING, equal_nan=True)
        require(are_close, "errors", "follow from the counts", self.errors)

    def _check_floors(self) -> None:
        """Raise unless guaranteed floors fit the threshold and the bounds of the errors."""
        if not self.guaranteed:
            return
        low, high = self.plateau
        is_within = low - self.resolution <= self.threshold <= high + self.resolution
        rule = f"lie between {low:.6g} and {high:.6g} to guarantee floors"
        require(is_within, "threshold", rule, self.threshold)
        for name, error in zip(("specificity", "recall"), self.errors, strict=True):
            floor = self.rule.asked.get(name)
            is_met = floor is None or error <= 1.0 - floor + _ROUNDING
            require(is_met, "errors", f"guarantee the floor {floor}", self.errors)

    @property
    def message(self) -> str:
        """What happened in this problem, and what to do about it."""
        also = (remark.message for remark in self.remarks)
        return " ".join(filter(None, [self.detail or self.status.message, *also, self.caution]))

    @property
    def statuses(self) -> tuple[Status, ...]:
        """The status and all remarks."""
        return (self.status, *self.remarks)

    @property
    def guaranteed(self) -> bool | None:
        """Whether all floors are guaranteed; None if the rule or the curve guarantees nothing."""
        if not self.rule.guarantees(self.curve.delta):
            return None
        return self.status not in (Status.UNMET, Status.NOT_GUARANTEED)

    @property
    def caution(self) -> str:
        """Warning that nearly all rows of a class are misclassified, or an empty text.

        With a budget of flagged rows, there is a warning only if all rows of a class are
        misclassified.
        """
        is_capped = "flagged" in self.rule.asked
        for i in (0, 1):
            if self.wrong[i] >= (1.0 if is_capped else _USELESS) * self.n_samples[i] > 0:
                return (
                    f"{self.wrong[i]:.6g} of {self.n_samples[i]:.6g} rows of class "
                    f"{self.labels[i]!r} are on the wrong side of this threshold. Use another "
                    "goal, or scores that rank the classes better."
                )
        return ""

    @property
    def needs_a_look(self) -> bool:
        """Whether the status or a caution should be read before the boundary is used."""
        return any(status not in QUIET for status in self.statuses) or bool(self.caution)

    def __repr__(self) -> str:
        return (
            f"Boundary(threshold={self.threshold:.6g}, "
            f"status={' '.join(status.name for status in self.statuses)}, "
            f"n_samples={self.n_samples}, wrong={self.wrong})"
        )

    def _repr_html_(self) -> str:
        return boundary_html(self)

    def predict(self, y_score: Any) -> Any:
        """Return the label of each score: positive if and only if score > threshold.

        Parameters
        ----------
        y_score : array-like
            Scores in memory, none of them missing. The answer is of the same kind: a series of
            pandas or Polars with its index and name, an Arrow array, an array. For columns of
            Spark, DuckDB and Polars use :meth:`to_sql`, for Dask ``map_blocks(boundary.predict)``.

        Raises
        ------
        InvalidInputError
            If a score is missing or no number, or not on the scale of the boundary.

        Examples
        --------
        >>> import boundshift, pandas
        >>> boundary = boundshift.find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 4, 5], curve="empirical")
        >>> boundary.predict([2.9, 3.1]).tolist()
        [0, 1]
        >>> boundary.predict(pandas.Series([2.9, 3.1], index=["ann", "bob"])).to_dict()
        {'ann': 0, 'bob': 1}
        """
        scores = as_known_scores(y_score)
        self._check_scale(scores, refuse=False)
        above = scores > self.threshold
        return answer_in_kind(y_score, np.array(self.labels)[above.astype(np.intp)])

    def with_metadata(self, **metadata: bool | float | str) -> Boundary:
        """Return the boundary with notes, which are stored as JSON and compared by :meth:`diff`.

        Parameters
        ----------
        **metadata : bool, int, float or str
            What reviewers should know, such as the model or the judge and its version. A note
            replaces an earlier one of its name.

        Returns
        -------
        Boundary

        Examples
        --------
        >>> import boundshift
        >>> boundary = boundshift.find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 4, 5])
        >>> boundary.with_metadata(judge="llm-7", version=2).to_dict()["metadata"]
        {'judge': 'llm-7', 'version': 2}
        """
        return replace(self, metadata=Metadata.of({**self.metadata, **metadata}))

    def diff(self, new: Boundary) -> str:
        """Return what a new boundary changes, in sentences for a reviewer.

        Parameters
        ----------
        new : Boundary
            The boundary that is to replace this one.

        Returns
        -------
        str
            A sentence per line; empty if nothing changes but the rows, of which the boundary
            remembers too little.

        Examples
        --------
        >>> import boundshift
        >>> old = boundshift.find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 4, 5], curve="empirical")
        >>> new = boundshift.find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 6, 7], curve="empirical")
        >>> print(old.diff(new))
        The threshold rises from 3 to 4.
        The scores of class 1 lay between 4 and 5 (median 4) and now lie between 6 and 7 (median 6).
        """
        return "\n".join(describe_changes(self, new))

    @property
    def names_negative(self) -> bool:
        """Whether the negative label was given; else it stands for all that is not positive."""
        return self.n_samples[0] > 0 or isinstance(self.labels[1], bool | np.bool_)

    def _find_origin(self, scores: FloatArray, is_positive: BoolArray) -> Origin | None:
        """Return where labelled scores come from if some of these rows chose the boundary.

        "training" if the model was trained on some of them; None if the boundary knows none.
        """
        if self.trained_on is not None and self.trained_on.include(scores, is_positive):
            return "training"
        rows = self.chosen_on
        if rows is None:
            return None
        if rows.has_hashes:
            is_known = rows.include(scores, is_positive)
        else:
            sample = ScoreSample.from_rows(is_positive, scores, self.labels)
            is_known = rows.have_summary_of(sample)
        return rows.origin if is_known else None

    def check_scale(self, y_score: ArrayLike) -> None:
        """Raise unless scores are on the scale of those that chose the boundary.

        Call it when a stored boundary meets the scores of today: another version of a model or of
        a judge may score on another scale, and the threshold then means something else.

        Parameters
        ----------
        y_score : array-like
            Scores, none of them missing; the labels need not be known.

        Raises
        ------
        InvalidInputError
            If the scores are not those of a similar population on the same scale. The message
            states the range and the median of both.

        Examples
        --------
        >>> import boundshift, numpy
        >>> rng = numpy.random.default_rng(0)
        >>> y = numpy.repeat([0, 1], [800, 200])
        >>> stored = boundshift.find_boundary(y, rng.normal(2 * y)).to_json()
        >>> boundary = boundshift.Boundary.from_json(stored)
        >>> boundary.check_scale(rng.normal(2 * y))
        >>> boundary.check_scale(10 * rng.normal(2 * y))
        Traceback (most recent call last):
            ...
        boundshift.exceptions.InvalidInputError: `y_score` must be on the scale of the scores ...
        """
        problem, _ = self._find_scale_problem(as_known_scores(y_score))
        if problem:
            raise InvalidInputError(problem, argument="y_score")

    def _check_scale(
        self,
        scores: FloatArray,
        counts: IntArray | None = None,
        is_positive: BoolArray | None = None,
        *,
        refuse: bool = True,
        name: str = "y_score",
    ) -> None:
        """Raise, or warn, if scores are not on the scale of those that chose the boundary.

        Counts are the rows with each score; None is one row each.
        """
        problem, is_other_kind = self._find_scale_problem(scores, counts, is_positive)
        if not problem:
            return
        if refuse and is_other_kind:
            raise InvalidInputError(problem, argument=name)
        warnings.warn(f"`{name}` {problem}", BoundaryWarning, stacklevel=3)

    def _find_scale_problem(
        self,
        scores: FloatArray,
        counts: IntArray | None = None,
        is_positive: BoolArray | None = None,
    ) -> tuple[str, bool]:
        """Return how scores differ from those that chose the boundary, or an empty text.

        Also return whether one are probabilities and the other margins.
        """
        if not scores.size:
            return "", False
        if self.scale == "probability":
            check_probabilities(scores)
        rows = self.chosen_on
        if rows is None:
            return "", False
        scores = scores.ravel()
        is_raw = self.scale == "raw"
        is_other_kind = is_raw and rows.find_other_scale(scores, counts, is_positive)
        if not is_other_kind and not rows.find_shift(scores, counts):
            return "", False
        chosen = rows.describe_scores(self.labels)
        problem = (
            f"must be on the scale of the scores that chose the boundary, {chosen}, but "
            f"{rows.describe_other(scores, counts)}. Use scores of the same model, such as "
            "positive_scores of the classifier."
        )
        return problem, is_other_kind

    def _check_sample_scale(self, sample: ScoreSample) -> None:
        """Raise if a sample is not on the scale of the scores that chose the boundary."""
        values = [given_values(scores, sample.log_odds) for scores in sample.classes]
        counts = [row_counts(scores) for scores in sample.classes]
        is_positive = np.repeat([False, True], [len(part) for part in values])
        self._check_scale(np.concatenate(values), np.concatenate(counts), is_positive)

    def to_sql(self, column: str | Sequence[str], *, dialect: str = "ansi") -> str:
        """Return an SQL expression for the label of a row, to the last digit of the threshold.

        Parameters
        ----------
        column : str or sequence of str
            Name of the column of scores; ``("table", "score")`` for one with its table.
        dialect : str, default="ansi"
            How the database writes names and texts: "ansi", "bigquery", "clickhouse",
            "databricks", "duckdb", "mysql", "polars" (for ``polars.sql_expr``), "postgres",
            "snowflake", "spark", "sqlite", "sqlserver" or "trino".

        Returns
        -------
        str
            Names are quoted and labels escaped. A row without a score gets NULL, as does NaN in
            dialects that have it; "ansi" does not test for NaN.

        Examples
        --------
        >>> import boundshift
        >>> labels = ["no", "no", "no", "yes", "yes"]
        >>> scores = [0, 1, 2, 4, 5]
        >>> boundary = boundshift.find_boundary(
        ...     labels, scores, pos_label="yes", curve="empirical"
        ... )
        >>> print(boundary.to_sql("order"))  # doctest: +NORMALIZE_WHITESPACE
        CASE WHEN "order" > 3.0000000000000000E+00 THEN 'yes'
             WHEN "order" <= 3.0000000000000000E+00 THEN 'no' END
        """
        return label_expression(column, (self.threshold, self.threshold), self.labels, dialect)

    def plot(self, y_true: Any, y_score: Any, **settings: Any) -> Any:
        """Draw error rates and rule at every threshold, around the boundary.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            The rows that decided, or fresh rows.
        **settings : dict
            As in :meth:`~boundshift.plots.ThresholdDisplay.from_predictions`, which it returns.

        Examples
        --------
        >>> import boundshift
        >>> y, s = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
        >>> boundshift.find_boundary(y, s).plot(y, s).ax_.get_title()
        'Predict 1 if score > 3.5, else 0'
        """
        # Imported by name, since figures import boundaries.
        display = import_module("boundshift.plots").ThresholdDisplay
        return display.from_predictions(y_true, y_score, boundary=self, **settings)

    def summary(self) -> str:
        """Return a readable account of the boundary.

        Recall, precision, F1 and the share flagged are counted among the rows that decided.

        Examples
        --------
        >>> import boundshift
        >>> y = [0, 0, 0, 0, 0, 1, 1]
        >>> print(boundshift.find_boundary(y, [0, 1, 1, 2, 1, 5, 6]).summary())
        Predict 1 if score > 3.5, else 0
        The optimum: no other boundary is better by the rule.
                                 class 0       class 1
        rows                           5             2
        on the wrong side              0             0
        claimed error           0.007588     0.0006267
        loss                    0.004113
        Rows that decided: recall 1, precision 1, F1 1, flagged 28.57%
        By Blend(prior_rows=10.0) and GMean(). An estimate of the error, not ... on it.
        """
        return summary_text(self)


def check_scale(
    scale: str | None,
    low: float,
    high: float,
    n_samples: int,
    share: float,
    chosen: str,
    *,
    refuse: bool,
) -> None:
    """Raise or warn if scores from low to high are not on the scale of what was chosen.

    Raw scores that all lie in [0, 1] are likely probabilities if so many rows would rarely all fall
    on one side, where the given share of rows is expected.
    """
    if scale == "probability":
        check_probabilities(np.array([low, high]))
    if scale == "raw" and 0.0 <= low < high <= 1.0 and share**n_samples < _UNLIKELY:
        message = (
            f"must be on the scale of the scores that chose {chosen}, got {n_samples:,} "
            f"scores from {low:.6g} to {high:.6g}, all on one side of it, like probabilities. Use "
            "the same scores as before, such as positive_scores of the classifier."
        )
        if refuse:
            raise InvalidInputError(message, argument="y_score")
        warnings.warn(f"`y_score` {message}", BoundaryWarning, stacklevel=4)


def check_probabilities(scores: FloatArray) -> None:
    """Raise if scores are no probabilities, while those that chose a threshold were."""
    low = float(scores.min())
    high = float(scores.max())
    if low < -_ROUNDING or high > 1.0 + _ROUNDING:
        raise InvalidInputError(
            "must be probabilities, as the scores that chose the boundary were, got "
            f"scores from {low:.6g} to {high:.6g}. Use predict_proba, not decision_function.",
            argument="y_score",
        )


def answer_in_kind(scores: Any, labels: LabelArray) -> Any:
    """Return labels as what the scores are: a series of pandas or Polars, Arrow, or an array."""
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(scores, pandas.Series):
        return pandas.Series(labels, index=scores.index, name=scores.name)
    if polars is not None and isinstance(scores, polars.Series):
        # Polars would make a column of objects from an array of objects.
        return polars.Series(scores.name, labels.tolist() if labels.dtype == object else labels)
    if arrow is not None and isinstance(scores, arrow.Array | arrow.ChunkedArray):
        return arrow.array(labels)
    return labels


def restate(boundary: Boundary, status: Status, detail: str = "") -> Boundary:
    """Return a boundary with another status; one that needs a second look becomes a remark."""
    kept = tuple(s for s in boundary.statuses if s not in QUIET and s is not status)
    return replace(boundary, status=status, detail=detail, remarks=kept)


def warn_of(boundary: Boundary, stacklevel: int) -> None:
    if boundary.needs_a_look:
        warnings.warn(boundary.message, BoundaryWarning, stacklevel=stacklevel)
