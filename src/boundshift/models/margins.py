"""Margins of models whose usual answer hides them: boosters, networks, naive Bayes, functions.

A probability rounds what lies behind it: a float32 near 1 cannot tell odds of ten million from
infinite ones. Where a model gives the sum behind its probabilities, that sum is the score.

Libraries are found by the name of a model's class, so that nothing is imported for nothing.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

__all__ = [
    "as_array",
    "final_step",
    "has_margin",
    "innermost",
    "is_a",
    "is_native",
    "raw_margin",
    "steps_before",
]

Reader = Callable[[Any, Any], Any]

# Rows that a network scores at once.
_BATCH = 16_384


def raw_margin(model: Any, X: Any) -> NDArray[Any]:
    """Return a model's margins: one column for two classes, else one per class.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> far = GaussianNB().fit([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    >>> far.predict_proba([[-90.0]]).tolist()
    [[1.0, 0.0]]
    >>> raw_margin(far, [[-90.0]]).round().tolist()
    [[-16381.0, -19801.0]]
    """
    step, X = final_step(model, X)
    read = _reader(step) or _call
    return np.asarray(read(step, X))


def has_margin(model: Any) -> bool:
    """Return whether `raw_margin` can read a classifier of scikit-learn's kind."""
    step = innermost(model)
    return not is_native(step) and _reader(step) is not None


def is_native(model: Any) -> bool:
    """Return whether a model is not of scikit-learn's kind, which can be cloned and fitted again.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> is_native(SVC()), is_native(len)
    (False, True)
    """
    if hasattr(model, "get_params"):
        return is_a(model, "catboost", "CatBoost") and not hasattr(model, "predict_proba")
    scored = (hasattr(model, name) for name in ("decision_function", "predict_proba"))
    return callable(model) or any(scored) or _reader(model) is not None


def innermost(model: Any) -> Any:
    """Return the classifier that scores: the last step, the best of a search, the one frozen.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> innermost(FrozenEstimator(make_pipeline("passthrough", LogisticRegression(C=3))))
    LogisticRegression(C=3)
    """
    return _unwrap(model)[1]


def steps_before(model: Any) -> list[Any]:
    """Return the transformers that rows go through before the classifier that scores."""
    return _unwrap(model)[0]


def final_step(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier that scores, and the rows as it sees them."""
    steps, model = _unwrap(model)
    for step in steps:
        X = step.transform(X)
    return model, X


def _unwrap(model: Any) -> tuple[list[Any], Any]:
    """Return the transformers before the classifier that scores, and the classifier."""
    steps: list[Any] = []
    while True:
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        elif _is_pipeline(model):
            # A sampler, which has no transform, works on training rows only.
            steps += [step for _, step in model.steps[:-1] if hasattr(step, "transform")]
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif _is_search(model):
            model = model.estimator
        else:
            return steps, model


def _is_pipeline(model: Any) -> bool:
    return isinstance(getattr(model, "steps", None), list) and hasattr(model, "named_steps")


def _is_search(model: Any) -> bool:
    """Return whether a model is a search that has not been fitted."""
    return all(hasattr(model, name) for name in ("estimator", "refit", "error_score"))


def is_a(model: Any, library: str, *names: str) -> bool:
    """Return whether a class of a library, or one derived from it, made the model."""
    return any(
        cls.__name__ in names and cls.__module__.partition(".")[0] == library
        for cls in type(model).__mro__
    )


def _reader(model: Any) -> Reader | None:
    """Return how to read a model's margins, or None if there is no way better than its own."""
    for library, names, read in _READERS:
        if is_a(model, library, *names):
            return read
    if is_a(model, "skorch", "NeuralNet"):
        return _skorch_logits if _ends_in_logits(model) else None
    return None


def _xgboost_wrapper(model: Any, X: Any) -> Any:
    return model.predict(X, output_margin=True)


def _xgboost_booster(model: Any, X: Any) -> Any:
    xgboost = sys.modules["xgboost"]
    rows = X if isinstance(X, xgboost.DMatrix) else xgboost.DMatrix(X)
    return model.predict(rows, output_margin=True)


def _lightgbm(model: Any, X: Any) -> Any:
    return model.predict(X, raw_score=True)


def _catboost(model: Any, X: Any) -> Any:
    return model.predict(X, prediction_type="RawFormulaVal")


def _network_logits(model: Any, X: Any) -> Any:
    """Return what the last layer of scikit-learn's network gives, before its activation."""
    linear = copy.copy(model)
    linear.out_activation_ = "identity"
    logits = linear.predict_proba(X)
    return logits[:, 1] if len(model.classes_) == 2 else logits


def _joint_log_probability(model: Any, X: Any) -> Any:
    return model.predict_joint_log_proba(X)


def _ends_in_logits(net: Any) -> bool:
    """Return whether a network of skorch is trained on logits, which its loss tells."""
    name = getattr(net.criterion, "__name__", type(net.criterion).__name__)
    return name in ("CrossEntropyLoss", "BCEWithLogitsLoss")


def _skorch_logits(net: Any, X: Any) -> Any:
    logits = net.forward(X)
    logits = logits[0] if isinstance(logits, tuple) else logits
    return as_array(logits)


def _torch_logits(module: Any, X: Any) -> Any:
    """Call a module on rows in batches, in evaluation mode, and leave it in the mode it had."""
    torch = sys.modules["torch"]
    weight = next(module.parameters(), torch.zeros(0))
    if not isinstance(X, torch.Tensor):
        X = torch.from_numpy(np.ascontiguousarray(np.asarray(X)))
    dtype = weight.dtype if X.is_floating_point() else X.dtype
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            parts = [
                as_array(module(rows.to(device=weight.device, dtype=dtype)))
                for rows in torch.split(X, _BATCH)
            ]
    finally:
        for part, training in modes.items():
            part.training = training
    return np.concatenate(parts)


def _call(model: Any, X: Any) -> Any:
    return as_array(model(X))


def as_array(values: Any) -> NDArray[Any]:
    """Return an array; a tensor of PyTorch may hold a type that NumPy does not know."""
    if is_a(values, "torch", "Tensor"):
        return np.asarray(values.detach().double().cpu().numpy())
    return np.asarray(values)


_READERS: tuple[tuple[str, tuple[str, ...], Reader], ...] = (
    ("xgboost", ("XGBClassifier",), _xgboost_wrapper),
    ("xgboost", ("Booster",), _xgboost_booster),
    ("lightgbm", ("LGBMClassifier", "Booster"), _lightgbm),
    ("catboost", ("CatBoost",), _catboost),
    ("sklearn", ("MLPClassifier",), _network_logits),
    ("sklearn", ("_BaseNB",), _joint_log_probability),
    ("torch", ("Module",), _torch_logits),
)
