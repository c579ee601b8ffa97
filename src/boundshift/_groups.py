"""A boundary for each group of rows, shrunk towards that of all rows: `find_boundaries`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._boundary import choose_claims, decide
from boundshift._result.boundary import Boundary, restate
from boundshift._result.records import Record
from boundshift._scores import Scale, Scores, ScoreSample
from boundshift._search import ErrorsAt, Found, search_gaps, search_line
from boundshift._status import Status
from boundshift._validation import as_column, as_known_scores, as_positive, as_rows, count_missing
from boundshift.curves import CountCurve, ErrorCurve, SupportRadius
from boundshift.curves._base import Claim, ConfidenceCurve, PairCurve
from boundshift.curves._smooth import shrunk
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.rules import Floors, Rule

_BY = "Pass the column that names the group of each row."


@dataclass(frozen=True)
class GroupBoundaries(Record, Mapping[Any, Boundary]):
    """The boundary of each group, and the common one for unknown groups.

    Parameters
    ----------
    boundaries : dict
        From each group to its boundary, with the errors among the group's rows.
    common : Boundary
        Of all rows together.
    rows : float
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
    rows: float

    _format: ClassVar[str] = "boundshift.groups"

    def __getitem__(self, group: Any) -> Boundary:
        return self.boundaries[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.boundaries)

    def __len__(self) -> int:
        return len(self.boundaries)

    def __repr__(self) -> str:
        shown = ", ".join(f"{group!r}: {b.threshold:.6g}" for group, b in self.boundaries.items())
        return f"GroupBoundaries({{{shown}}}, common={self.common.threshold:.6g})"

    def predict(self, y_score: ArrayLike, by: ArrayLike) -> NDArray[Any]:
        """Return the label of each score, by the boundary of its group.

        The common boundary decides rows of an unknown or missing group.

        Parameters
        ----------
        y_score, by : array-like of shape (n_samples,)
            Score and group of each row.
        """
        scores = as_known_scores(as_column("y_score", y_score, "Pass one score for each row."))
        groups, codes = _encode(as_column("by", by, _BY, len(scores)))
        found = [self.boundaries.get(group, self.common).threshold for group in groups]
        is_positive = scores > np.array(found)[codes]
        return np.asarray(np.array(self.common.labels)[is_positive.astype(np.intp)])


def find_boundaries(
    y_true: ArrayLike,
    y_score: ArrayLike,
    by: ArrayLike,
    *,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    pos_label: object = None,
    rows: float = 20.0,
    scale: Scale = "auto",
) -> GroupBoundaries:
    r"""Find a boundary for each group of rows: each site, each device, each sex.

    The boundary of a small group is shrunk towards that of all rows. Different boundaries do not
    guarantee fairness. Where groups differ, equal error rates, equal precision and equal shares
    flagged exclude each other, and some attributes must not be used for decisions at all.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        As in :func:`~boundshift.find_boundary`, in memory. Every row counts once: for weights or
        costs pass the rows of each group to that function.
    by : array-like of shape (n_samples,)
        The group of each row; none may be missing.
    curve, rule, pos_label
        As in :func:`~boundshift.find_boundary`.
    rows : float, default=20
        The number m of rows of a class at which the group's own rows and all rows have equal
        weight; 0 does not shrink. Promised floors and the paper's method never shrink: no promise
        can be borrowed.
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
    {'small': 1.7, 'large': 1.1}
    """
    curve, rule = choose_claims(curve, rule)
    m = as_positive("rows", rows, "Use 20, or 0 for no shrinkage.", zero=True)
    if isinstance(curve, ConfidenceCurve | SupportRadius):
        m = 0.0
    is_positive, scores, labels = as_rows(y_true, y_score, pos_label, symmetric=rule.symmetric)
    given = as_column("by", by, _BY, len(scores))
    if count_missing(given):
        raise InvalidInputError(
            "`by` must name the group of every row, got missing ones. Drop those rows, or give "
            "them a group of their own."
        )
    everyone = ScoreSample.from_rows(is_positive, scores, labels).on_scale(scale)
    common = decide(everyone, curve, rule)
    share, units = is_positive.mean(), everyone.from_units(scores)
    boundaries = {}
    groups, codes = _encode(given)
    for code, group in enumerate(groups):
        rows_of = [(codes == code) & (is_positive == side) for side in (False, True)]
        negative, positive = (Scores(np.sort(units[mine])) for mine in rows_of)
        sample, boundary = replace(everyone, negative=negative, positive=positive), common
        if all(sample.n_samples) and m:
            mixed = (positive.n + m * share) / (sum(sample.n_samples) + m)
            found = decide(sample, _Shrunk(curve, everyone, m), rule.at_prevalence(float(mixed)))
            boundary = replace(found, curve=curve, rule=rule)
        elif all(sample.n_samples):
            boundary = decide(sample, curve, rule)
        elif isinstance(curve, ConfidenceCurve):
            why = (
                f"Group {group!r} lacks rows of a class, so nothing can be promised of it; the "
                "common boundary stands in. Collect rows of both classes there."
            )
            boundary = restate(common, Status.UNMET, why)
        boundaries[group] = boundary
    doubts = [(group, b) for group, b in boundaries.items() if b.needs_a_look]
    if doubts:
        group, boundary = doubts[0]
        warnings.warn(
            f"The boundaries of {len(doubts)} of {len(boundaries)} groups need a second look. "
            f"First, {group!r}: {boundary.message}",
            BoundaryWarning,
            stacklevel=2,
        )
    return GroupBoundaries(boundaries, common, m)


@dataclass(frozen=True, eq=False)
class _Shrunk(ErrorCurve):
    """A curve of a group's rows, shrunk towards the same curve of all rows."""

    name = "shrunk"
    claim = Claim.AVERAGE_CASE

    own: ErrorCurve
    everyone: ScoreSample
    rows: float

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        own, common = self.own.errors(sample), self.own.errors(self.everyone)
        return shrunk(own, common, sample.n_samples, self.rows)

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        bends, every_gap = None, False
        if isinstance(self.own, PairCurve):
            # What repeats among all rows is an atom of the group, too.
            sample = replace(sample, given_atoms=self.everyone.atoms)
            bends, every_gap = self.own.bends(self.everyone), len(sample.atoms) > 0
        errors = self.errors(sample)
        if isinstance(self.own, CountCurve):
            # The share flagged does not grow with both errors, so every gap is a candidate.
            every_gap = isinstance(rule, Floors) and rule.flagged is not None
        if every_gap or isinstance(self.own, CountCurve):
            return search_gaps(errors, rule, sample, self.everyone, smooth=every_gap)
        return search_line(errors, rule, sample, bends)


def _encode(groups: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    known: dict[Any, int] = {}
    codes = np.array([known.setdefault(group, len(known)) for group in groups.tolist()], np.intp)
    return list(known), codes
