r"""Scores of a fitted model: its log-odds where it has probabilities, else its margin.

Two classes are decided on probabilities; many classes, and a mean of models, on log-odds. The
margin is the log-odds if its logistic function (or softmax) is what ``predict_proba`` returns. It
is preferred, because a probability near 0 or 1 has lost digits. Otherwise :math:`\ln p_k` is
computed. A forest gives many probabilities of exactly 0. These are replaced by half the smallest
positive one seen, a floor that is learned and stored with the boundary.

Model :math:`k` of several linear ones scores a row by :math:`w_k^\top (x - m_k) / s_k + b_k`, where
its StandardScaler has learned :math:`m_k` and :math:`s_k`. With :math:`z = (x - m_1) / s_1` that is
:math:`(w_k s_1 / s_k)^\top z + w_k^\top (m_1 - m_k) / s_k + b_k`, so a copy of the first model with
the mean of these weights and intercepts gives the mean score.

Libraries are recognised by the name of a model's class, so that none is imported needlessly.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from boundshift._typing import FloatArray, IndexArray, Rows
from boundshift._validation import as_choice
from boundshift.exceptions import InvalidInputError

Method = Literal["margin", "decision_function", "predict_proba"] | Callable[[Any, Any], Any]
ResponseMethod = Literal["auto"] | Method
Responses = dict[Method, FloatArray]
"""What a model returns for rows, by each method that is read."""
Handler = TypeVar("Handler")

SMALLEST = float(np.finfo(np.float64).tiny)
# Log-odds beyond which a float64 probability is 1.
SUREST = 36.0
# Probabilities computed in float32, as XGBoost's are, differ by this much.
_ABSOLUTE = 1e-6
_RELATIVE = 1e-4
# Rows that a network scores at once.
_BATCH = 16_384


# Parts of a model.


def is_a(model: Any, library: str, name: str) -> bool:
    """Return whether a model's class, or a base class of it, has this name in this library."""
    classes = type(model).__mro__
    return any(c.__name__ == name and c.__module__.split(".")[0] == library for c in classes)


def look_up(model: Any, table: Mapping[tuple[str, str], Handler]) -> Handler | None:
    """Return the entry of a table for a model's library and class, None if there is none."""
    return next((entry for key, entry in table.items() if is_a(model, *key)), None)


class Unwrapped(NamedTuple):
    """A model in its parts; `whole` is without the search or the frozen estimator around it."""

    whole: Any
    transformers: list[Any]  # A sampler, without transform, sees only training rows.
    last: Any  # the classifier

    def transform(self, X: Rows) -> Any:
        """Return the rows that the classifier gets."""
        for step in self.transformers:
            X = step.transform(X)
        return X


def unwrap(model: Any) -> Unwrapped:
    """Take pipelines, searches and frozen estimators apart."""
    whole = None
    transformers = []
    while True:
        if isinstance(getattr(model, "steps", None), list) and hasattr(model, "named_steps"):
            whole = model if whole is None else whole
            transformers += [s for _, s in model.steps[:-1] if hasattr(s, "transform")]
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, FrozenEstimator) or all(
            hasattr(model, name) for name in ("estimator", "refit", "error_score")
        ):
            model = model.estimator  # frozen, or of a search that has not been fitted
        else:
            return Unwrapped(model if whole is None else whole, transformers, model)


def is_native(model: Any) -> bool:
    """Return whether a model is no scikit-learn estimator, so that it cannot be fitted again."""
    if hasattr(model, "get_params"):
        return is_a(model, "catboost", "CatBoost") and not hasattr(model, "predict_proba")
    scored = any(hasattr(model, name) for name in ("decision_function", "predict_proba"))
    return callable(model) or scored or look_up(model, _READERS) is not None


def known_classes(model: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes that a model names, or those given if it names none."""
    known = getattr(model, "classes_", None)
    return classes if known is None or len(known) == 0 else np.asarray(known)


def class_columns(model: Any, classes: NDArray[Any]) -> IndexArray:
    """Return where in the sorted `classes` each column of a model's response belongs."""
    return np.searchsorted(classes, known_classes(model, classes))


# Margins that models hide.


def raw_margin(model: Any, X: Rows) -> NDArray[Any]:
    """Return a model's margins: one column for two classes, else one per class."""
    parts = unwrap(model)
    read = look_up(parts.last, _READERS)
    X = parts.transform(X)
    return np.asarray(read(parts.last, X) if read else _as_array(parts.last(X)))


def _xgboost_booster(model: Any, X: Rows) -> Any:
    return model.predict(sys.modules["xgboost"].DMatrix(X), output_margin=True)


def _network_logits(model: Any, X: Rows) -> Any:
    """Return the output of the last layer of scikit-learn's network before its activation."""
    linear = copy.copy(model)
    linear.out_activation_ = "identity"
    logits = linear.predict_proba(X)
    return logits[:, 1] if len(model.classes_) == 2 else logits


def _torch_logits(module: Any, X: Rows) -> Any:
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
            batches = [_as_array(module(rows.to(**where))) for rows in torch.split(X, _BATCH)]
    finally:
        for part, training in modes.items():
            part.training = training
    return np.concatenate(batches)


def _as_array(values: Any) -> NDArray[Any]:
    """Return an array; a tensor of PyTorch may hold a type that NumPy does not know."""
    if is_a(values, "torch", "Tensor"):
        values = values.detach().double().cpu().numpy()
    return np.asarray(values)


_READERS: dict[tuple[str, str], Callable[[Any, Any], Any]] = {
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


def check_response_method(asked: ResponseMethod, model: Any) -> None:
    """Raise unless a response method is known, and the model has it or may have it once fitted."""
    if not callable(asked):
        known = ("auto", "margin", "decision_function", "predict_proba")
        as_choice("response_method", asked, known)
    # Some models have their methods only once they are fitted, but their classes name them.
    if not any(hasattr(type(model), name) for name in ("decision_function", "predict_proba")):
        find_methods(model, asked)


def find_methods(model: Any, asked: ResponseMethod = "auto") -> tuple[Method, ...]:
    """Return which responses of a fitted model to read: a margin, probabilities, or both.

    Probabilities come last: they tell whether the margin is their log-odds.
    """
    step = unwrap(model).last
    has_probabilities = hasattr(model, "predict_proba")
    has_reader = look_up(step, _READERS) is not None and not is_native(step)
    margin: Method | None = None
    if callable(asked):
        margin = asked
    elif asked in ("auto", "margin") and has_reader:
        margin = "margin"
    elif asked in ("auto", "decision_function") and hasattr(model, "decision_function"):
        margin = "decision_function"
    elif (asked == "margin" or (asked == "auto" and not has_probabilities)) and is_native(model):
        margin = "margin"
    if margin is None and (not has_probabilities or asked not in ("auto", "predict_proba")):
        wanted = {"auto": "decision_function or predict_proba", "margin": "known margins"}
        raise InvalidInputError(
            f"must have {wanted.get(str(asked), asked)}, got {type(model).__name__} "
            "without. Use a classifier that scores its rows (for SVC, decision_function is always "
            "there), or pass a function of (estimator, X) as `response_method`.",
            argument="estimator",
        )
    found: tuple[Method, ...] = () if margin is None else (margin,)
    return (*found, "predict_proba") if has_probabilities else found


def read_response(
    model: Any, X: Rows, method: Method | Literal["predict_log_proba"], classes: NDArray[Any]
) -> FloatArray:
    """Return a model's response: one column for a margin of two classes, else one per class.

    Columns are in the order of `classes`; a single column is a margin of the second class. A class
    that the model does not know has NaN in its column.
    """
    if callable(method):
        found = method(model, X)
    else:
        found = raw_margin(model, X) if method == "margin" else getattr(model, method)(X)
    response = _as_array(found).astype(np.float64, copy=False)
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


def read_responses(model: Any, X: Rows, asked: ResponseMethod, classes: NDArray[Any]) -> Responses:
    """Return every response of a model that is of use."""
    return {m: read_response(model, X, m, classes) for m in find_methods(model, asked)}


def choose_method(
    parts: Sequence[Mapping[Method, FloatArray]], asked: ResponseMethod = "auto"
) -> tuple[Method, bool]:
    """Choose among the responses of all models, and say whether it gives log-odds.

    The margin is chosen if it is asked for, is the log-odds, or has no probabilities beside it.
    """
    first, *others = parts[0]
    if first == "predict_proba":
        return first, True
    same = bool(others) and all(are_log_odds(part[first], part["predict_proba"]) for part in parts)
    return ("predict_proba", True) if others and not same and asked == "auto" else (first, same)


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

    def read(self, model: Any, X: Rows, classes: NDArray[Any]) -> FloatArray:
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
    model: Any,
    response: Response,
    X: Rows,
    classes: NDArray[Any],
    column: int,
    is_probability: bool,
) -> FloatArray:
    """Return a model's scores of one of two classes: its probability, or its margin."""
    if is_probability:
        return np.asarray(read_response(model, X, "predict_proba", classes)[:, column])
    scores = np.asarray(response.read(model, X, classes))
    return scores if column == 1 else -scores


def has_known_threshold(model: Any, response: Response) -> bool:
    """Return whether a model predicts labels, from scores whose middle is known."""
    if callable(response.method) or not hasattr(model, "predict"):
        return False
    return hasattr(model, "classes_") and not is_native(model)


# Log-odds and probabilities.


def are_log_odds(margins: FloatArray, found: FloatArray) -> bool:
    """Return whether margins are the log-odds of the probabilities found for the same rows.

    Columns of classes that a model did not know are NaN in both.
    """
    if margins.ndim == 2:
        known = ~np.isnan(margins).all(axis=1)
        margins = np.nan_to_num(margins[known], nan=-np.inf)
        found = found[known]
    expected = probabilities(margins)
    off = np.abs(np.where(np.isnan(found), 0.0, found) - expected)
    return bool((off <= _ABSOLUTE + _RELATIVE * expected).all())


def find_winner(scores: FloatArray) -> NDArray[np.intp]:
    """Return the number of the predicted class, from log-odds or one score per class."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else np.asarray(scores.argmax(axis=1))


def probabilities(log_odds: FloatArray) -> FloatArray:
    """Return each class's probability, from log-odds or one score per class."""
    if log_odds.ndim == 1:
        return np.stack([expit(-log_odds), expit(log_odds)], axis=1)
    return np.asarray(softmax(log_odds, axis=1))


# Means of models.


_if_probabilities = available_if(
    lambda mean: mean.is_log_odds or all(hasattr(p, "predict_proba") for p in mean.estimators)
)


class MeanOfModels(ClassifierMixin, BaseEstimator):
    """The mean of fitted models' scores, as one model without a shift.

    A model may lack some of the sorted `classes`. The other arguments are those of a Response.
    """

    def __init__(
        self,
        estimators: Sequence[Any],
        classes: Any,
        method: Any,
        floor: tuple[float, ...] | None = None,
        is_log_odds: bool = False,
    ) -> None:
        self.estimators = estimators
        self.classes = classes
        self.method = method
        self.floor = floor
        self.is_log_odds = is_log_odds

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, in sorted order."""
        return np.asarray(self.classes)

    @property
    def response(self) -> Response:
        """How a part's response becomes its score."""
        return Response(self.method, self.floor, self.is_log_odds)

    def __getattr__(self, name: str) -> Any:
        # What the parts say of their features.
        if name in ("n_features_in_", "feature_names_in_") and "estimators" in vars(self):
            return getattr(self.estimators[0], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def decision_function(self, X: Rows) -> FloatArray:
        """Return the mean of the parts' scores: one column for two classes, else one per class."""
        return self._mean(X, self.response)

    def predict(self, X: Rows) -> NDArray[Any]:
        """Return labels: by the sign of the mean scores, or the largest one."""
        return np.asarray(self.classes_[find_winner(self.decision_function(X))])

    @_if_probabilities  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Rows) -> FloatArray:
        """Return the logistic function, or the softmax, of the mean log-odds."""
        if self.is_log_odds:
            return probabilities(self.decision_function(X))
        # The parts' scores are others.
        floor = (SMALLEST,) * len(self.classes_)
        return probabilities(self._mean(X, Response("predict_proba", floor, is_log_odds=True)))

    @_if_probabilities  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Rows) -> FloatArray:
        """Return the logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _mean(self, X: Rows, response: Response) -> FloatArray:
        parts = [response.read(part, X, self.classes_) for part in self.estimators]
        rows = np.tile(np.arange(len(parts[0])), len(parts))
        return mean_scores(np.concatenate(parts), rows, is_log_odds=response.is_log_odds)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimators[0], "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimators[0]).input_tags
        return tags


def mean_scores(scores: FloatArray, rows: IndexArray, *, is_log_odds: bool = False) -> FloatArray:
    """Return the mean score of each row over the models that scored it.

    `scores` holds those of all models, one below the other, and `rows` the row of each. Those of
    many classes are first centred: as log-probabilities, or to mean zero. A class that a model did
    not know is NaN there and gets the mean of the other models.

    Of two classes, a row has the median of the log-odds if a model is surer of it than a float64
    probability can say: in a mean, one such model (naive Bayes with few rows) outvotes all others.
    """
    columns = scores.reshape(len(scores), -1)
    known = ~np.isnan(columns)
    if scores.ndim == 2 and is_log_odds:
        with np.errstate(invalid="ignore"):  # of a model that knew no class
            columns = log_softmax(np.where(known, scores, -np.inf), axis=1)
    elif scores.ndim == 2:
        totals = np.where(known, columns, 0.0).sum(axis=1, keepdims=True)
        columns = columns - totals / np.maximum(known.sum(axis=1, keepdims=True), 1)
    filled = np.where(known, columns, 0.0).T
    total, times = (
        np.stack([np.bincount(rows, column) for column in values], axis=1)
        for values in (filled, known.T)
    )
    mean = np.where(times > 0, total / np.maximum(times, 1.0), np.nan)
    if scores.ndim == 2:
        return mean
    if not is_log_odds or np.abs(scores).max(initial=0.0) <= SUREST:
        return mean[:, 0]
    counts = np.bincount(rows)
    first = np.cumsum(counts) - counts
    ordered = scores[np.lexsort((scores, rows))]
    median = (ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]) / 2
    is_sure = np.bincount(rows, np.abs(scores) > SUREST) > 0
    return np.where(is_sure, median, mean[:, 0])


def collapse_linear(models: Sequence[Any]) -> Any | None:
    """Return one linear model whose scores are the mean of many, or None if there is none.

    Steps before the linear models must be StandardScalers, or the same in all models.
    """
    parts = [unwrap(model) for model in models]
    lasts = [part.last for part in parts]
    for last in lasts:
        is_linear = is_a(last, "sklearn", "LinearClassifierMixin")
        is_own = type(last).__module__.startswith("sklearn.")
        if not is_linear or not is_own or not isinstance(last.coef_, np.ndarray):
            return None
    same = {(last.coef_.shape, tuple(last.classes_.tolist())) for last in lasts}
    scalings = _find_scalings([part.transformers for part in parts])
    if len(same) > 1 or scalings is None:
        return None
    (first_mean, first_scale) = scalings[0]
    weights = []
    intercepts = []
    for last, (mean, scale) in zip(lasts, scalings, strict=True):
        coef = np.atleast_2d(last.coef_.astype(np.float64))
        weights.append(coef * (first_scale / scale))
        moved = np.broadcast_to((first_mean - mean) / scale, coef.shape[1:])
        intercepts.append(np.broadcast_to(last.intercept_, len(coef)) + coef @ moved)
    whole = copy.deepcopy(parts[0].whole)
    one = unwrap(whole).last
    one.coef_ = np.mean(weights, axis=0).reshape(one.coef_.shape)
    one.intercept_ = np.mean(intercepts, axis=0)
    return whole


def _find_scalings(steps: Sequence[Sequence[Any]]) -> list[tuple[Any, Any]] | None:
    """Return each model's means and scales, or None if other steps differ between models."""
    if len({len(own) for own in steps}) > 1:
        return None  # A search has dropped a step in one fold and kept it in another.
    found: list[tuple[Any, Any]] = [(0.0, 1.0)] * len(steps)
    may_stay = True  # Steps that are the same in all models may come before the scalers.
    for together in zip(*steps, strict=True):
        if all(type(step) is StandardScaler for step in together):
            may_stay = False
            for k, (step, (mean, scale)) in enumerate(zip(together, found, strict=True)):
                centre = step.mean_ if step.with_mean else 0.0
                found[k] = mean + scale * centre, scale * (step.scale_ if step.with_std else 1.0)
        elif not may_stay or len({joblib.hash(step) for step in together}) > 1:
            return None
    return found
