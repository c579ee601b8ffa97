r"""Several linear models as one: the mean of their scores at the price of one.

Part :math:`k` scores a row by :math:`w_k^\top (x - m_k) / s_k + b_k`, where its own scalers have
learned :math:`m_k` and :math:`s_k`. In the first part's units, :math:`z = (x - m_1) / s_1`, that is

.. math:: \left(w_k \frac{s_1}{s_k}\right)^{\!\top} z
          + w_k^\top \frac{m_1 - m_k}{s_k} + b_k,

so that a copy of the first part whose last step has the mean of these weights and intercepts gives
the mean of all scores.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from boundshift.models.margins import innermost, is_a, steps_before

__all__ = ["collapse_linear"]

Affine = tuple[Any, Any]


def collapse_linear(models: Sequence[Any], factors: Sequence[float] | None = None) -> Any | None:
    """Return one linear model whose scores are the mean of many, or None if there is none.

    Parameters
    ----------
    models : sequence of fitted models
        Linear ones, or pipelines that end in one. Steps before it must be scalers, or the same in
        all models.
    factors : sequence of float, default=None
        What each model's scores are multiplied by first.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), [0, 0, 1, 1]
    >>> models = [LogisticRegression(C=c).fit(X, y) for c in (1, 3)]
    >>> one = collapse_linear(models)
    >>> mean = (models[0].decision_function(X) + models[1].decision_function(X)) / 2
    >>> bool(np.allclose(one.decision_function(X), mean))
    True
    """
    last = [innermost(model) for model in models]
    if not all(_is_linear(model) for model in last) or not _have_same_classes(last):
        return None
    scalings = _scalings([steps_before(model) for model in models])
    if scalings is None:
        return None
    factors = [1.0] * len(models) if factors is None else factors
    (first_middle, first_scale), weights, intercepts = scalings[0], [], []
    for model, (middle, scale), factor in zip(last, scalings, factors, strict=True):
        coef = factor * np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        own = factor * np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
        weights.append(coef * (first_scale / scale))
        moved = np.broadcast_to((first_middle - middle) / scale, coef.shape[1:])
        intercepts.append(np.broadcast_to(own, len(coef)) + coef @ moved)
    whole = copy.deepcopy(_thaw(models[0]))
    one = innermost(whole)
    one.coef_ = np.mean(weights, axis=0).reshape(np.shape(one.coef_))
    one.intercept_ = np.mean(intercepts, axis=0)
    return whole


def _thaw(model: Any) -> Any:
    """Return the model that a search has found or that was frozen."""
    while isinstance(model, FrozenEstimator) or hasattr(model, "best_estimator_"):
        frozen = isinstance(model, FrozenEstimator)
        model = model.estimator if frozen else model.best_estimator_
    return model


def _is_linear(model: Any) -> bool:
    return (
        is_a(model, "sklearn", "LinearClassifierMixin")
        and isinstance(getattr(model, "coef_", None), np.ndarray)
        and type(model).__module__.startswith("sklearn.")
    )


def _have_same_classes(models: Sequence[Any]) -> bool:
    return all(
        np.array_equal(model.classes_, models[0].classes_)
        and np.shape(model.coef_) == np.shape(models[0].coef_)
        for model in models
    )


def _scalings(steps: Sequence[Sequence[Any]]) -> list[Affine] | None:
    """Return the middle and the scale of each model's scalers together, or None if others learn."""
    import joblib

    if len({len(own) for own in steps}) > 1:
        return None  # A search has dropped a step here and kept it there.
    found: list[Affine] = [(0.0, 1.0)] * len(steps)
    may_stay = True  # Steps that are the same in all models may come first.
    for together in zip(*steps, strict=True):
        readers = [_find_scaler(step) for step in together]
        read = [find(step) for find, step in zip(readers, together, strict=True) if find]
        scalers = [scaler for scaler in read if scaler is not None]
        if len(scalers) == len(together):
            may_stay = False
            found = [_after(one, two) for one, two in zip(found, scalers, strict=True)]
        elif not may_stay or len({joblib.hash(step) for step in together}) > 1:
            return None
    return found


def _after(first: Affine, second: Affine) -> Affine:
    """Return two scalings, one after the other, as one."""
    (middle, scale), (next_middle, next_scale) = first, second
    return middle + scale * next_middle, scale * next_scale


def _find_scaler(step: Any) -> Callable[[Any], Affine | None] | None:
    return next((read for name, read in _SCALERS.items() if is_a(step, "sklearn", name)), None)


def _standard(step: Any) -> Affine:
    return step.mean_ if step.with_mean else 0.0, step.scale_ if step.with_std else 1.0


def _min_max(step: Any) -> Affine | None:
    return None if step.clip else (-step.min_ / step.scale_, 1 / step.scale_)


def _max_abs(step: Any) -> Affine | None:
    return None if getattr(step, "clip", False) else (0.0, step.scale_)


def _robust(step: Any) -> Affine:
    middle = step.center_ if step.with_centering else 0.0
    return middle, step.scale_ if step.with_scaling else 1.0


_SCALERS: dict[str, Callable[[Any], Affine | None]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "RobustScaler": _robust,
}
