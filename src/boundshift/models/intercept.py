"""A copy of a model whose own intercept carries the new boundary.

The paper moves the bias b of a classifier to b'. A model with an intercept of its own can hold b',
and is then deployed like any other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from boundshift.exceptions import InvalidInputError
from boundshift.models import boosters
from boundshift.models.margins import innermost, is_a
from boundshift.models.network import shift_module
from boundshift.typing import FloatArray

__all__ = ["offsets_for", "shift_intercept"]


def shift_intercept(estimator: Any, offsets: FloatArray) -> Any:
    """Return a copy of a fitted model that adds `offsets` to its margins.

    Parameters
    ----------
    estimator : fitted model
        A model with an intercept, or a pipeline, a search or a frozen estimator around one.
    offsets : array of shape (1,) or (n_classes,)
        Minus the threshold with two classes, else each class's bias.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> lower = shift_intercept(model, np.array([1.0]))
    >>> (lower.intercept_ - model.intercept_).tolist()
    [1.0]
    """
    while isinstance(estimator, FrozenEstimator) or hasattr(estimator, "best_estimator_"):
        frozen = isinstance(estimator, FrozenEstimator)
        estimator = estimator.estimator if frozen else estimator.best_estimator_
    whole = copy.deepcopy(estimator)
    last = innermost(whole)
    _keep_best_iteration(innermost(estimator), last)
    for (library, name), add in _ADDERS.items():
        if is_a(last, library, name):
            add(last, offsets)
            return whole
    raise InvalidInputError(
        f"`estimator` must be a model whose intercept can carry the shift, got "
        f"{type(last).__name__}. Linear models, SVC with two classes, MLPClassifier, gradient "
        "boosting, XGBoost, LightGBM, CatBoost, PyTorch and skorch can, and pipelines that end in "
        "one; keep the BoundShiftClassifier itself for others."
    )


def offsets_for(offsets: FloatArray, size: int, what: str) -> FloatArray:
    """Return one offset for each of `size` outputs; of two outputs the second moves.

    Examples
    --------
    >>> offsets_for(np.array([-0.5]), 2, "a layer").tolist()
    [0.0, -0.5]
    """
    if len(offsets) == size:
        return offsets
    if len(offsets) == 1 and size == 2:
        return np.array([0.0, offsets[0]])
    raise InvalidInputError(
        f"The outputs of {what} must be one per class ({len(offsets)}), got {size}. "
        "Keep the BoundShiftClassifier itself for this model."
    )


def _keep_best_iteration(model: Any, copied: Any) -> None:
    """Hand on where early stopping stopped, which a copied Booster of LightGBM forgets."""
    if is_a(model, "lightgbm", "LGBMClassifier"):
        model, copied = model.booster_, copied.booster_
    if is_a(model, "lightgbm", "Booster"):
        copied.best_iteration = model.best_iteration


def _add_to_intercept(model: Any, offsets: FloatArray) -> None:
    intercept = np.asarray(model.intercept_, dtype=np.float64)
    size = max(intercept.size, np.atleast_2d(model.coef_).shape[0])
    model.intercept_ = intercept + offsets_for(offsets, size, type(model).__name__)


def _add_to_machine(model: Any, offsets: FloatArray) -> None:
    if len(model.classes_) > 2:
        raise InvalidInputError(
            f"`estimator` must be a support vector machine of two classes, got one of "
            f"{len(model.classes_)}, which decides by votes of pairs. Use LinearSVC, or keep the "
            "BoundShiftClassifier itself."
        )
    model.intercept_ = model.intercept_ + offsets
    model._intercept_ = model._intercept_ - offsets  # libsvm's own, of the opposite sign


def _add_to_last_layer(model: Any, offsets: FloatArray) -> None:
    last = model.intercepts_[-1].astype(np.float64)
    model.intercepts_[-1] = last + offsets_for(offsets, len(last), "MLPClassifier")


def _add_to_first_trees(model: Any, offsets: FloatArray) -> None:
    first = model.estimators_[0]
    for tree, offset in zip(first, offsets_for(offsets, len(first), "boosting"), strict=True):
        tree.tree_.value[:] += offset / model.learning_rate


def _add_to_baseline(model: Any, offsets: FloatArray) -> None:
    size = model._baseline_prediction.shape[1]
    model._baseline_prediction = model._baseline_prediction + offsets_for(offsets, size, "boosting")


def _add_to_module(net: Any, offsets: FloatArray) -> None:
    shift_module(net.module_, offsets)


_ADDERS: dict[tuple[str, str], Callable[[Any, FloatArray], None]] = {
    ("sklearn", "LinearClassifierMixin"): _add_to_intercept,
    ("sklearn", "BaseSVC"): _add_to_machine,
    ("sklearn", "MLPClassifier"): _add_to_last_layer,
    ("sklearn", "GradientBoostingClassifier"): _add_to_first_trees,
    ("sklearn", "HistGradientBoostingClassifier"): _add_to_baseline,
    ("xgboost", "XGBClassifier"): lambda model, o: boosters.shift_xgboost(model.get_booster(), o),
    ("xgboost", "Booster"): boosters.shift_xgboost,
    ("lightgbm", "LGBMClassifier"): lambda model, o: boosters.shift_lightgbm(model.booster_, o),
    ("lightgbm", "Booster"): boosters.shift_lightgbm,
    ("catboost", "CatBoost"): boosters.shift_catboost,
    ("skorch", "NeuralNet"): _add_to_module,
    ("torch", "Module"): shift_module,
}
