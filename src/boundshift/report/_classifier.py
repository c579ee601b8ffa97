"""The report of a fitted classifier on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from boundshift._typing import Rows
from boundshift._words import Naming
from boundshift.exceptions import InvalidInputError
from boundshift.models._mean import MeanOfModels
from boundshift.models._parts import unwrap
from boundshift.report._classes import class_facts
from boundshift.report._evidence import Doubt, RowDetails, check_levels, own_probability
from boundshift.report._facts import as_plain, collect_facts
from boundshift.report._page import Report

if TYPE_CHECKING:
    from boundshift._classifier import BoundShiftClassifier


def report_classifier(
    classifier: BoundShiftClassifier,
    X: Rows,
    y: ArrayLike,
    *,
    names: Naming,
    confidence: float = 0.95,
    prevalence: float | None = None,
    by: str | Sequence[str] | None = None,
    row_cost: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    nominal: str = "",
) -> Report:
    """Report on a fitted :class:`~boundshift.BoundShiftClassifier`; see its method ``report``.

    `nominal` says why rows certify nothing: they were used in fit.
    """
    doubt = Doubt(nominal, "Report on other rows.") if nominal else None
    model = _model_name(classifier.estimator_)
    if len(classifier.classes_) > 2:
        others = {"prevalence": prevalence, "by": by, "row_cost": row_cost, "cluster": cluster}
        facts = class_facts(
            classifier, X, y, names=names, confidence=confidence, doubt=doubt, others=others
        )
        return Report(as_plain({"model": model, **facts}))
    boundary = classifier.boundary_
    if (row_cost is not None) != boundary.by_row:
        raise InvalidInputError(
            "must be given to report exactly if it was given to fit, got it in one of "
            "them only. Use fit(X, y, row_cost=amount) and report(X_test, y_test, row_cost=…).",
            argument="row_cost",
        )
    facts = collect_facts(
        y,
        classifier.positive_scores(X),
        boundary=boundary,
        old_threshold=classifier.own_threshold_,
        chosen_here=False,
        confidence=confidence,
        model=model,
        prevalence=prevalence,
        details=RowDetails(
            probability=own_probability(classifier, X),
            groups=_groups(X, by),
            row_cost=row_cost,
            cluster=cluster,
        ),
        shell="shifted.positive_scores(X_new) > {threshold}",
        doubt=doubt,
        **names,
    )
    return Report({**facts, "deployment": getattr(classifier, "deployment_", "")})


def _model_name(estimator: object) -> str:
    """Return the name of a model's class; of a mean of models that of the first one."""
    if isinstance(estimator, MeanOfModels):
        estimator = estimator.estimators[0]
    return type(unwrap(estimator).last).__name__


def _groups(X: Rows, by: str | Sequence[str] | None) -> dict[str, ArrayLike]:
    """Return the columns that divide rows into groups: those named, else words with few values."""
    columns = {str(name): X[name] for name in getattr(X, "columns", ())}
    if by is None:
        return {name: values for name, values in columns.items() if _has_words(values)}
    wanted = [by] if isinstance(by, str) else [str(name) for name in by]
    unknown = [name for name in wanted if name not in columns]
    if unknown:
        raise InvalidInputError(
            f"must name columns of X, got {unknown[0]!r}. The columns are "
            f"{', '.join(columns) or 'none: X is no dataframe'}.",
            argument="by",
        )
    return {name: check_levels(name, columns[name]) for name in wanted}


def _has_words(column: ArrayLike) -> bool:
    """Return whether a column has values other than numbers; an array of numbers is not read."""
    values = np.asarray(column)
    if values.dtype.kind in "biufc":
        return False
    return not all(isinstance(value, int | float | np.number) for value in values.tolist())
