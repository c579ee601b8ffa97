"""The report of a fitted classifier on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.curves import Empirical
from boundshift.exceptions import InvalidInputError
from boundshift.report.document import Report
from boundshift.report.facts import collect_facts
from boundshift.report.row_details import RowDetails
from boundshift.report.subgroups import MOST_LEVELS
from boundshift.rules import Cost

__all__ = ["check_levels", "own_probability", "report_classifier"]


def report_classifier(
    classifier: Any,
    X: Any,
    y: ArrayLike,
    *,
    names: Mapping[str, object] | None = None,
    confidence: float = 0.95,
    prevalence: float | None = None,
    by: str | Sequence[str] | None = None,
    row_cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Report:
    """Report on a fitted :class:`~boundshift.BoundShiftClassifier`; see its method ``report``."""
    scores = classifier.positive_scores(X)
    inner = classifier.estimator_
    steps = getattr(inner, "steps", [(None, inner)])
    _check_row_cost(classifier, row_cost)
    details = RowDetails(
        probability=own_probability(classifier, X),
        groups=_groups(X, by),
        row_cost=row_cost,
        sample_weight=sample_weight,
    )
    facts = collect_facts(
        y,
        scores,
        boundary=classifier.boundary_,
        old_threshold=0.0,
        chosen_here=False,
        confidence=confidence,
        prevalence=prevalence,
        model=type(steps[-1][1]).__name__,
        names=names,
        details=details,
        deploy=["labels = shifted.predict(X_new)  # the classifier that this report is about"],
        shell="shifted.positive_scores(X_new) > {threshold}",
    )
    return Report(facts)


def _check_row_cost(classifier: Any, row_cost: ArrayLike | None) -> None:
    """Raise unless costs by row are given if and only if they chose the boundary."""
    boundary = classifier.boundary_
    # No other goal has a cost and counts, unless a curve that counts was asked for.
    chosen_by = boundary.rule == Cost() and boundary.curve == Empirical()
    if row_cost is None and chosen_by and classifier.curve is None:
        raise InvalidInputError(
            "`row_cost` must be given, since what rows cost chose the boundary, got None. Use "
            "report(X, y, row_cost=amount) with the amounts of these rows."
        )
    if row_cost is not None and not chosen_by:
        raise InvalidInputError(
            "`row_cost` must be left out, since it did not choose the boundary, got one. Use "
            "fit(X, y, row_cost=amount) first."
        )


def own_probability(classifier: Any, X: Any) -> NDArray[np.float64] | None:
    """Return the inner model's probability of the positive class, None where it has none."""
    inner, positive = classifier.estimator_, classifier.boundary_.labels[1]
    if not hasattr(inner, "predict_proba"):
        return None
    place = list(inner.classes_).index(positive)
    return np.asarray(inner.predict_proba(X), dtype=np.float64)[:, place]


def _groups(X: Any, by: str | Sequence[str] | None) -> dict[str, Any]:
    """Return the columns that divide rows into groups: those named, else words with few values."""
    columns = [str(name) for name in getattr(X, "columns", ())]
    if by is None:
        words = {name: np.asarray(X[name], dtype=object) for name in getattr(X, "columns", ())}
        return {
            str(name): values
            for name, values in words.items()
            if not all(isinstance(value, int | float | np.number) for value in values)
            and len({str(value) for value in values}) <= MOST_LEVELS
        }
    wanted = [by] if isinstance(by, str) else [str(name) for name in by]
    for name in wanted:
        if name not in columns:
            known = ", ".join(columns) or "none: X is no dataframe"
            raise InvalidInputError(
                f"`by` must name columns of X, got {name!r}. The columns are {known}."
            )
    return {name: check_levels(name, X[name]) for name in wanted}


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
