"""A boundary for each group of rows, shrunk towards that of all rows: `find_boundaries`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._boundary import choose_claims, decide, solve
from boundshift._result.boundary import Boundary, answer_in_kind, restate
from boundshift._result.records import Record, require
from boundshift._result.rows import ChoosingRows
from boundshift._result.sql import group_expression
from boundshift._scores import Scale, Scores, ScoreSample
from boundshift._search import ErrorsAt, Found, Gaps, best_of_gaps, minimum_on_line
from boundshift._status import Status
from boundshift._typing import FloatArray
from boundshift._validation import (
    as_column,
    as_known_scores,
    as_positive,
    as_rows,
    count_missing,
    name_remedy,
)
from boundshift.curves import ErrorCurve
from boundshift.curves._base import Claim
from boundshift.curves._smooth import shrunk
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Rule

_BY = "Pass the column that names the group of each row."
_LACKS_A_CLASS = (
    "Group {!r} has no rows of one class, so nothing can be guaranteed for it, and the common "
    "boundary is used. Collect rows of both classes in this group."
)


@dataclass(frozen=True)
class GroupBoundaries(Record, Mapping[Any, Boundary]):
    """The boundary of each group, and the common one for unknown groups.

    Parameters
    ----------
    boundaries : dict
        From each group to its boundary, with the errors among the group's rows.
    common : Boundary
        Of all rows together.
    prior_rows : float
        Rows of a class at which a group's own rows and all rows have equal weight; 0 if nothing
        was shrunk.

    Examples
    --------
    >>> from boundshift import GroupBoundaries, find_boundaries
    >>> y, s, site = [0, 0, 1, 1] * 9, [1, 2, 3, 4] * 9, ["a"] * 20 + ["b"] * 16
    >>> found = find_boundaries(y, s, by=site)
    >>> GroupBoundaries.from_json(found.to_json()) == found
    True
    """

    boundaries: dict[Any, Boundary]
    common: Boundary
    prior_rows: float

    _format: ClassVar[str] = "boundshift.groups"

    def _check_values(self) -> None:
        """Raise if values that were read are impossible or contradict each other."""
        require(
            0.0 <= self.prior_rows < math.inf,
            "prior_rows",
            "be finite and at least 0",
            self.prior_rows,
        )
        for boundary in self.boundaries.values():
            is_alike = boundary.labels == self.common.labels
            rule = "have the labels of the common boundary in every group"
            require(is_alike, "boundaries", rule, boundary.labels)

    def __getitem__(self, group: Any) -> Boundary:
        return self.boundaries[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.boundaries)

    def __len__(self) -> int:
        return len(self.boundaries)

    def __repr__(self) -> str:
        shown = ", ".join(f"{group!r}: {b.threshold:.6g}" for group, b in self.boundaries.items())
        return f"GroupBoundaries({{{shown}}}, common={self.common.threshold:.6g})"

    def predict(self, y_score: Any, by: ArrayLike) -> Any:
        """Return the label of each score, by the boundary of its group.

        The common boundary decides rows of an unknown or missing group.

        Parameters
        ----------
        y_score, by : array-like of shape (n_samples,)
            Score and group of each row.

        Returns
        -------
        array of shape (n_samples,), or a column of the same kind as the scores
            As :meth:`Boundary.predict` returns it: a series of pandas keeps its index and name.
        """
        scores = as_known_scores(as_column("y_score", y_score, "Pass one score for each row."))
        self.common._check_scale(scores, refuse=False)
        groups, codes = _encode(as_column("by", by, _BY, len(scores)))
        thresholds = [self.boundaries.get(group, self.common).threshold for group in groups]
        is_positive = scores > np.array(thresholds)[codes]
        labels = np.array(self.common.labels)[is_positive.astype(np.intp)]
        return answer_in_kind(y_score, labels)

    def to_sql(
        self, column: str | Sequence[str], by: str | Sequence[str], *, dialect: str = "ansi"
    ) -> str:
        """Return an SQL expression for the label of a row, by the threshold of its group.

        The common threshold decides rows of an unknown or missing group. The expression has a case
        for each group. For thousands of groups, store the thresholds in a table and join it.

        Parameters
        ----------
        column : str or sequence of str
            Column of scores, as in :meth:`Boundary.to_sql`.
        by : str or sequence of str
            Column of groups, named in the same way.
        dialect : str, default="ansi"
            As in :meth:`Boundary.to_sql`.

        Examples
        --------
        >>> from boundshift import find_boundaries
        >>> y, s, site = [0, 0, 1, 1] * 9, [1, 2, 3, 4] * 9, ["a"] * 20 + ["b"] * 16
        >>> boundaries = find_boundaries(y, s, by=site, curve="empirical")
        >>> print(boundaries.to_sql("score", "site"))  # doctest: +NORMALIZE_WHITESPACE
        CASE WHEN "score" > CASE "site" WHEN 'a' THEN 2.5000000000000000E+00
                                        WHEN 'b' THEN 2.5000000000000000E+00
                                        ELSE 2.5000000000000000E+00 END THEN 1
             WHEN "score" <= CASE "site" WHEN 'a' THEN 2.5000000000000000E+00
                                         WHEN 'b' THEN 2.5000000000000000E+00
                                         ELSE 2.5000000000000000E+00 END THEN 0 END
        """
        thresholds = {group: boundary.threshold for group, boundary in self.boundaries.items()}
        common = self.common
        return group_expression(column, by, thresholds, common.threshold, common.labels, dialect)


@name_remedy
def find_boundaries(
    y_true: ArrayLike,
    y_score: ArrayLike,
    by: ArrayLike,
    *,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    pos_label: object = None,
    prior_rows: float = 20.0,
    scale: Scale = "auto",
) -> GroupBoundaries:
    r"""Find a threshold for each group of rows, such as sites or devices.

    The threshold of a small group is shrunk towards that of all rows. Different thresholds do not
    guarantee fairness. If groups have different prevalences, equal error rates, equal precision and
    equal proportions flagged are impossible together, and some attributes must not be used for
    decisions at all.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        As in :func:`~boundshift.find_boundary`, in memory. Every row counts once: for weights or
        costs pass the rows of each group to that function.
    by : array-like of shape (n_samples,)
        The group of each row; none may be missing.
    curve, rule, pos_label
        As in :func:`~boundshift.find_boundary`.
    prior_rows : float, default=20
        The number m of rows of a class at which the group's own rows and all rows have equal
        weight; 0 does not shrink. Guaranteed floors, caps on flagged rows and the paper's method
        are never shrunk: they must hold for the group's own rows.
    scale : {"auto", "probability", "raw"}, default="auto"
        As in :func:`~boundshift.find_boundary`. All rows together tell whether scores are
        probabilities, so that groups and common boundary are on one scale.

    Returns
    -------
    GroupBoundaries
        A mapping from groups to boundaries. A group without rows of both classes has the common
        one.

    Notes
    -----
    With :math:`U_{gc}` the claim of the curve on class c from the n rows of that class in group g,
    and :math:`U_c` that from all rows, the rule decides on

    .. math:: \frac{n}{n + m}\, U_{gc}(t) + \frac{m}{n + m}\, U_c(t) .

    Rules that depend on the prevalence use the group's, shrunk in the same way.

    Promised floors hold in each group by itself, so that of many groups some may break theirs. For
    all of G groups together pass ``Floors(recall=0.9, confidence=1 - 0.05 / G)`` (Bonferroni).

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import find_boundaries
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.2
    >>> site = np.where(np.arange(2000) % 20 == 0, "small", "large")
    >>> s = rng.normal(size=2000) + 2 * y + (site == "small")
    >>> found = find_boundaries(y, s, by=site)
    >>> {group: round(b.threshold, 1) for group, b in found.items()}
    {'small': 1.7, 'large': 0.9}
    """
    curve, rule = choose_claims(curve, rule)
    weight = prior_weight(curve, rule, prior_rows)
    is_positive, scores, labels = as_rows(y_true, y_score, pos_label, symmetric=False)
    groups, codes = _encode(_as_groups(by, len(scores)))
    all_given = ScoreSample.from_rows(is_positive, scores, labels)
    all_rows = ChoosingRows.of(all_given)
    everyone = all_given.on_scale(scale)
    common = decide(everyone, curve, rule)
    shrunk_curve = Shrunk(curve, everyone, weight)
    given_samples = _split(scores, labels, 2 * codes + is_positive, len(groups))
    boundaries = {}
    for group, given in zip(groups, given_samples, strict=True):
        if not all(given.n_samples):
            boundaries[group] = common_for(group, common, curve)
            continue
        # Rows of other groups help to choose a boundary that is shrunk.
        boundaries[group] = shrunk_curve.decide(given, rule, all_rows if weight else None)
    warn_of_groups(boundaries, stacklevel=3)
    return GroupBoundaries(boundaries, common, weight)


def prior_weight(curve: ErrorCurve, rule: Rule, prior_rows: float) -> float:
    """Return how many rows of a class those of all groups count for; 0 if nothing is shrunk."""
    weight = as_positive("prior_rows", prior_rows, "Use 20, or 0 for no shrinkage.", zero=True)
    # What counts the rows of a group, or has to hold for them, cannot borrow from other groups.
    is_own = "flagged" in rule.asked or not curve.accepts_weights
    return 0.0 if is_own else weight


def common_for(group: object, common: Boundary, curve: ErrorCurve) -> Boundary:
    """Return the common boundary for a group that lacks the rows of a class."""
    if curve.delta is not None:
        return restate(common, Status.UNMET, _LACKS_A_CLASS.format(group))
    return common


def _as_groups(by: ArrayLike, n_rows: int) -> NDArray[Any]:
    groups = as_column("by", by, _BY, n_rows)
    if count_missing(groups):
        raise InvalidInputError(
            "must name the group of every row, but some are missing. Drop those rows, or "
            "give them a group of their own.",
            argument="by",
        )
    return groups


def _encode(groups: NDArray[Any]) -> tuple[list[object], NDArray[np.intp]]:
    """Return the distinct groups in order of appearance, and the number of each row's group."""
    names = groups.tolist()
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, names), np.intp, len(names))


def _split(
    scores: FloatArray, labels: tuple[Any, Any], cells: NDArray[np.intp], n_groups: int
) -> Iterator[ScoreSample]:
    """Yield the sample of each group; cell 2g + c holds the rows of class c in group g."""
    # Small integers are sorted in linear time.
    order = np.argsort(cells.astype(np.min_scalar_type(2 * n_groups)), kind="stable")
    ends = np.cumsum(np.bincount(cells, minlength=2 * n_groups)).tolist()
    by_cell = scores[order]
    start = 0
    for end_of_negatives, stop in zip(ends[::2], ends[1::2], strict=True):
        negative = Scores(np.sort(by_cell[start:end_of_negatives]))
        positive = Scores(np.sort(by_cell[end_of_negatives:stop]))
        yield ScoreSample(negative, positive, labels)
        start = stop


def _in_units_of(everyone: ScoreSample, given: ScoreSample) -> ScoreSample:
    """Return the sample of a group on the scale on which all rows are decided."""
    if everyone.log_odds is None:
        return given
    negative, positive = (
        replace(scores, value=everyone.log_odds.of_sorted(scores.value)) for scores in given.classes
    )
    return replace(given, negative=negative, positive=positive, log_odds=everyone.log_odds)


def warn_of_groups(boundaries: dict[Any, Boundary], stacklevel: int) -> None:
    """Warn if boundaries of groups need a second look."""
    doubtful = [group for group, boundary in boundaries.items() if boundary.needs_a_look]
    if doubtful:
        first = doubtful[0]
        warnings.warn(
            f"The boundaries of {len(doubtful)} of {len(boundaries)} groups need a second look. "
            f"The first is {first!r}: {boundaries[first].message}",
            BoundaryWarning,
            stacklevel=stacklevel + 1,
        )


@dataclass(frozen=True, eq=False)
class Shrunk(ErrorCurve):
    """The curve of a group's rows, shrunk towards the same curve of all rows.

    What belongs to all rows is computed once, whatever the number of groups.
    """

    name = "shrunk"
    claim = Claim.AVERAGE_CASE

    own: ErrorCurve
    everyone: ScoreSample
    prior_rows: float

    @cached_property
    def _common_errors(self) -> ErrorsAt:
        return self.own.errors(self.everyone)

    @cached_property
    def _gaps(self) -> Gaps:
        return Gaps.between(self.everyone, smooth=self.own.is_smooth)

    @cached_property
    def _bends(self) -> FloatArray | None:
        return self.own.bends(self.everyone)

    def prevalence(self, sample: ScoreSample) -> float:
        """Return the proportion of positives in a group, shrunk towards that of all rows."""
        common = self.everyone.positive.n / sum(self.everyone.n_samples)
        positives = sample.positive.n + self.prior_rows * common
        return float(positives / (sum(sample.n_samples) + self.prior_rows))

    def decide(self, given: ScoreSample, rule: Rule, rows: ChoosingRows | None = None) -> Boundary:
        """Return the boundary of a group, whose scores are as they came."""
        sample = _in_units_of(self.everyone, given)
        if not self.prior_rows:
            return solve(sample, self.own, rule, given, rows)
        group_rule = rule.at_prevalence(self.prevalence(sample))
        boundary = solve(sample, self, group_rule, given, rows)
        return replace(boundary, curve=self.own, rule=rule)

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return the function from boundaries to the claimed error rates (negative, positive)."""
        return shrunk(
            self.own.errors(sample), self._common_errors, sample.n_samples, self.prior_rows
        )

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        has_atoms = self.own.is_smooth and len(self.everyone.atoms) > 0
        if has_atoms:
            # A score that repeats among all rows is an atom of the group, too.
            sample = replace(sample, given_atoms=self.everyone.atoms)
        if has_atoms or self.own.is_step:
            return best_of_gaps(self.errors(sample), rule, self._gaps, sample.n_samples)
        return minimum_on_line(self.errors(sample), rule, sample, self._bends)
