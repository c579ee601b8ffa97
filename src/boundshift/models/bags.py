"""Out-of-bag scores: each row judged by those members of a bagging ensemble that did not see it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_method_params

from boundshift.exceptions import InvalidInputError
from boundshift.models.margins import is_a
from boundshift.typing import FloatArray

__all__ = ["fit_with_bags"]


def fit_with_bags(
    estimator: Any, X: Any, y: NDArray[Any], fit_params: Mapping[str, Any]
) -> FloatArray:
    """Fit a bagging ensemble, or a pipeline that ends in one, and return out-of-bag probabilities.

    A row that every member has seen, or that none has judged, is NaN.

    Raises
    ------
    InvalidInputError
        If there are no bags, or steps before the ensemble learn from labels.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = make_classification(100, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0)
    >>> fit_with_bags(forest, X, y, {}).shape
    (100, 2)
    """
    prefix, last = _find_ensemble(estimator)
    if not last.oob_score:
        estimator.set_params(**{f"{prefix}oob_score": True})
    with warnings.catch_warnings():
        # Rows without a score do not decide.
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        warnings.filterwarnings("ignore", message="invalid value encountered in divide")
        estimator.fit(X, y, **_check_method_params(X, fit_params))
    found = np.array(_find_ensemble(estimator)[1].oob_decision_function_, dtype=np.float64)
    found[~(found.sum(axis=1) > 0.5)] = np.nan
    return found


def _find_ensemble(estimator: Any) -> tuple[str, Any]:
    """Return the ensemble at the end of a pipeline, and how its parameters start there."""
    prefix, model = "", estimator
    while hasattr(model, "named_steps") and isinstance(model.steps, list):
        for name, step in model.steps[:-1]:
            _check_step(name, step)
        prefix, model = f"{prefix}{model.steps[-1][0]}__", model.steps[-1][1]
    if not all(hasattr(model, name) for name in ("oob_score", "bootstrap", "get_params")):
        raise InvalidInputError(
            "`cv` must not be 'oob' for a model without bags, got "
            f"{type(model).__name__}. Use RandomForestClassifier, ExtraTreesClassifier("
            "bootstrap=True) or BaggingClassifier, alone or at the end of a pipeline; or cv=5."
        )
    if not model.bootstrap:
        raise InvalidInputError(
            "`bootstrap` must be True for cv='oob', got False: every member of "
            f"{type(model).__name__} sees every row. Set bootstrap=True, or use cv=5."
        )
    return prefix, model


def _check_step(name: str, step: Any) -> None:
    """Raise if a step, or one inside it, knows the labels of the rows that are out of a bag."""
    inside = step.get_params(deep=True).values() if hasattr(step, "get_params") else ()
    if any(_learns_from_labels(part) for part in (step, *inside)):
        raise InvalidInputError(
            f"Steps before the ensemble must not learn from labels for cv='oob', got {name!r} "
            f"({type(step).__name__}), which has seen those of every row. Use cv=5."
        )


def _learns_from_labels(step: Any) -> bool:
    if hasattr(step, "fit_resample"):
        return True
    if not hasattr(step, "__sklearn_tags__"):
        return False
    selects = is_a(step, "sklearn", "SelectorMixin") and not is_a(
        step, "sklearn", "VarianceThreshold"
    )
    return selects or bool(get_tags(step).target_tags.required)
