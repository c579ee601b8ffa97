r"""Scores of a fitted model: its log-odds where it has probabilities, else its margin.

Two classes are decided on probabilities; many classes, and a mean of models, on log-odds. The
margin is the log-odds if its logistic function (or softmax) is what ``predict_proba`` returns. It
is preferred, because a probability near 0 or 1 has lost digits. Otherwise :math:`\ln p_k` is
computed. A forest gives many probabilities of exactly 0. These are replaced by half the smallest
positive one seen, a floor that is learned and stored with the boundary.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax

from boundshift._typing import FloatArray, IndexArray, LabelArray, Model, Rows
from boundshift._validation import as_choice
from boundshift.exceptions import InvalidInputError
from boundshift.models._parts import is_a, look_up, unwrap

Reader = Callable[[Model, Rows], ArrayLike]
"""From a model and rows to one score for each row, or one for each row and class."""
Method = Literal["margin", "decision_function", "predict_proba"] | Reader
ResponseMethod = Literal["auto"] | Method
Responses = dict[Method, FloatArray]
"""What a model returns for rows, by each method that is read."""

SMALLEST = float(np.finfo(np.float64).tiny)
# Log-odds beyond which a float64 probability is 1.
SUREST = 36.0
# Probabilities computed in float32, as XGBoost's are, differ by this much.
_ABSOLUTE = 1e-6
_RELATIVE = 1e-4
# Rows that a network scores at once.
_BATCH = 16_384


def is_native(model: Model) -> bool:
    """Return whether a model is no scikit-learn estimator, so that it cannot be fitted again."""
    if hasattr(model, "get_params"):
        return is_a(model, "catboost", "CatBoost") and not hasattr(model, "predict_proba")
    scored = any(hasattr(model, name) for name in ("decision_function", "predict_proba"))
    return callable(model) or scored or look_up(model, _READERS) is not None


def known_classes(model: Model, classes: LabelArray) -> LabelArray:
    """Return the classes that a model names, or those given if it names none."""
    own = getattr(model, "classes_", None)
    return classes if own is None or len(own) == 0 else np.asarray(own)


def class_columns(model: Model, classes: LabelArray) -> IndexArray:
    """Return where in the sorted `classes` each column of a model's response belongs."""
    return np.searchsorted(classes, known_classes(model, classes))


# Margins that models hide.


def raw_margin(model: Model, X: Rows) -> FloatArray:
    """Return a model's margins: one column for two classes, else one per class."""
    parts = unwrap(model)
    read = look_up(parts.last, _READERS)
    X = parts.transform(X)
    return _as_numbers(read(parts.last, X) if read else parts.last(X))


def _xgboost_booster(model: Model, X: Rows) -> FloatArray:
    return np.asarray(model.predict(sys.modules["xgboost"].DMatrix(X), output_margin=True))


def _network_logits(model: Model, X: Rows) -> FloatArray:
    """Return the output of the last layer of scikit-learn's network before its activation."""
    linear = copy.copy(model)
    linear.out_activation_ = "identity"
    logits: FloatArray = linear.predict_proba(X)
    return logits[:, 1] if len(model.classes_) == 2 else logits


def _torch_logits(module: Model, X: Rows) -> FloatArray:
    """Call a module on rows in batches, in evaluation mode, and restore its mode."""
    torch = sys.modules["torch"]
    weight = next(module.parameters(), torch.zeros(0))
    if not isinstance(X, torch.Tensor):
        X = torch.from_numpy(np.ascontiguousarray(X))
    where = {"device": weight.device, "dtype": weight.dtype if X.is_floating_point() else X.dtype}
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            batches = [_as_numbers(module(rows.to(**where))) for rows in torch.split(X, _BATCH)]
    finally:
        for part, training in modes.items():
            part.training = training
    return np.concatenate(batches)


def _as_numbers(values: ArrayLike) -> FloatArray:
    """Return float64 numbers; a tensor of PyTorch may hold a type that NumPy does not know."""
    if is_a(values, "torch", "Tensor"):
        values = values.detach().double().cpu().numpy()  # type: ignore[union-attr]
    return np.asarray(values).astype(np.float64, copy=False)


_READERS: dict[tuple[str, str], Reader] = {
    ("xgboost", "XGBClassifier"): lambda model, X: model.predict(X, output_margin=True),
    ("xgboost", "Booster"): _xgboost_booster,
    ("lightgbm", "LGBMClassifier"): lambda model, X: model.predict(X, raw_score=True),
    ("lightgbm", "Booster"): lambda model, X: model.predict(X, raw_score=True),
    ("catboost", "CatBoost"): lambda model, X: model.predict(X, prediction_type="RawFormulaVal"),
    ("sklearn", "MLPClassifier"): _network_logits,
    ("sklearn", "_BaseNB"): lambda model, X: model.predict_joint_log_proba(X),
    ("torch", "Module"): _torch_logits,
}


# Which response is read.


def check_response_method(response_method: ResponseMethod, model: Model) -> None:
    """Raise unless a response method is known, and the model has it or may have it once fitted."""
    if not callable(response_method):
        methods = ("auto", "margin", "decision_function", "predict_proba")
        as_choice("response_method", response_method, methods)
    # Some models have their methods only once they are fitted, but their classes name them.
    if not any(hasattr(type(model), name) for name in ("decision_function", "predict_proba")):
        find_methods(model, response_method)


def find_methods(model: Model, response_method: ResponseMethod = "auto") -> tuple[Method, ...]:
    """Return which responses of a fitted model to read: a margin, probabilities, or both.

    Probabilities come last: they tell whether the margin is their log-odds.
    """
    margin = _find_margin(model, response_method)
    has_probabilities = hasattr(model, "predict_proba")
    if margin is None and (
        not has_probabilities or response_method not in ("auto", "predict_proba")
    ):
        words = {"auto": "decision_function or predict_proba", "margin": "known margins"}
        wanted = words.get(str(response_method), response_method)
        raise InvalidInputError(
            f"must have {wanted}, got {type(model).__name__} without. Use a classifier that "
            "scores its rows (for SVC, decision_function is always there), or pass a "
            "function of (estimator, X) as `response_method`.",
            argument="estimator",
        )
    margins: tuple[Method, ...] = () if margin is None else (margin,)
    return (*margins, "predict_proba") if has_probabilities else margins


def _find_margin(model: Model, response_method: ResponseMethod) -> Method | None:
    """Return how to read a model's margin, None if there is none or it is not asked for."""
    if callable(response_method):
        return response_method
    step = unwrap(model).last
    is_step_native = is_native(step)
    if (
        response_method in ("auto", "margin")
        and not is_step_native
        and look_up(step, _READERS) is not None
    ):
        return "margin"
    if response_method in ("auto", "decision_function") and hasattr(model, "decision_function"):
        return "decision_function"
    must_be_margin = response_method == "auto" and not hasattr(model, "predict_proba")
    return (
        "margin" if (response_method == "margin" or must_be_margin) and is_native(model) else None
    )


def read_response(
    model: Model, X: Rows, method: Method | Literal["predict_log_proba"], classes: LabelArray
) -> FloatArray:
    """Return a model's response: one column for a margin of two classes, else one per class.

    Columns are in the order of `classes`; a single column is a margin of the second class. A class
    that the model does not know has NaN in its column.
    """
    if callable(method):
        response = _as_numbers(method(model, X))
    elif method == "margin":
        response = raw_margin(model, X)
    else:
        response = _as_numbers(getattr(model, method)(X))
    if response.ndim == 2 and response.shape[1] == 1:
        response = response[:, 0]
    places = class_columns(model, classes)
    n_classes = len(classes)
    if response.ndim == 1 and len(places) == 2:
        if method == "predict_proba":
            response = np.stack([1 - response, response], axis=1)
        elif n_classes == 2:
            return response if places[0] < places[1] else -response
        else:
            response = np.stack([-response, response], axis=1) / 2
    elif response.ndim == 1:  # a model that knows one class
        return np.full((len(response), n_classes), np.nan)
    if response.shape[1] != len(places):
        raise InvalidInputError(
            f"The response of {type(model).__name__} must have one column per class "
            f"({len(places)}: {classes[places].tolist()}), got {response.shape[1]}. Pass `fit` "
            "rows of every class that the model knows; for SVC use decision_function_shape='ovr'."
        )
    if np.array_equal(places, np.arange(n_classes)):
        return response
    ordered = np.full((len(response), n_classes), np.nan)
    ordered[:, places] = response
    return ordered


def read_responses(
    model: Model, X: Rows, response_method: ResponseMethod, classes: LabelArray
) -> Responses:
    """Return every response of a model that is of use."""
    return {m: read_response(model, X, m, classes) for m in find_methods(model, response_method)}


def choose_method(
    parts: Sequence[Mapping[Method, FloatArray]], response_method: ResponseMethod = "auto"
) -> tuple[Method, bool]:
    """Choose among the responses of all models, and say whether it gives log-odds.

    The margin is chosen if it is asked for, is the log-odds, or has no probabilities beside it.
    """
    first, *others = parts[0]
    if first == "predict_proba":
        return first, True
    if not others:
        return first, False
    is_log_odds = all(are_log_odds(part[first], part["predict_proba"]) for part in parts)
    return (
        (first, is_log_odds)
        if is_log_odds or response_method != "auto"
        else ("predict_proba", True)
    )


@dataclass(frozen=True)
class Response:
    """How a model's response becomes a score.

    `floor` is the least probability of each class, None for margins; `is_log_odds` tells whether
    the score is the log-odds of the model's probabilities.
    """

    method: Method
    floor: tuple[float, ...] | None = None
    is_log_odds: bool = False

    @classmethod
    def learn(cls, method: Method, response: FloatArray, *, is_log_odds: bool = False) -> Response:
        """Learn the floors from the responses that decide."""
        if method != "predict_proba":
            return cls(method, is_log_odds=is_log_odds)
        positive = np.where(response > 0, response, np.inf).min(axis=0, initial=1.0)
        return cls(method, tuple(np.maximum(positive / 2, SMALLEST).tolist()), is_log_odds)

    def read(self, model: Model, X: Rows, classes: LabelArray) -> FloatArray:
        """Return a model's scores: one column for two classes, else one per class."""
        return self.scores(read_response(model, X, self.method, classes))

    def scores(self, response: FloatArray) -> FloatArray:
        """Return the scores of a response."""
        if self.floor is not None:
            response = np.log(np.maximum(response, self.floor))
        if response.ndim == 2 and response.shape[1] == 2:
            return np.asarray(response[:, 1] - response[:, 0])
        return response


def positive_scores(
    model: Model,
    response: Response,
    X: Rows,
    classes: LabelArray,
    column: int,
    is_probability: bool,
) -> FloatArray:
    """Return a model's scores of one of two classes: its probability, or its margin."""
    if is_probability:
        return np.asarray(read_response(model, X, "predict_proba", classes)[:, column])
    scores = np.asarray(response.read(model, X, classes))
    return scores if column == 1 else -scores


def has_known_threshold(model: Model, response: Response) -> bool:
    """Return whether a model predicts labels, from scores whose middle is known."""
    if callable(response.method) or not hasattr(model, "predict"):
        return False
    return hasattr(model, "classes_") and not is_native(model)


# Log-odds and probabilities.


def are_log_odds(margins: FloatArray, given: FloatArray) -> bool:
    """Return whether margins are the log-odds of the probabilities given for the same rows.

    Columns of classes that a model did not know are NaN in both.
    """
    if margins.ndim == 2:
        has_classes = ~np.isnan(margins).all(axis=1)
        margins = np.nan_to_num(margins[has_classes], nan=-np.inf)
        given = given[has_classes]
    expected = probabilities(margins)
    off = np.abs(np.where(np.isnan(given), 0.0, given) - expected)
    return bool((off <= _ABSOLUTE + _RELATIVE * expected).all())


def find_winner(scores: FloatArray) -> IndexArray:
    """Return the number of the predicted class, from log-odds or one score per class."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else np.asarray(scores.argmax(axis=1))


def probabilities(log_odds: FloatArray) -> FloatArray:
    """Return each class's probability, from log-odds or one score per class."""
    if log_odds.ndim == 1:
        return np.stack([expit(-log_odds), expit(log_odds)], axis=1)
    return np.asarray(softmax(log_odds, axis=1))
