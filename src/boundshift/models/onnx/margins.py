"""Margins of models in ONNX operators, in double precision, where converters round to float32."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.models.onnx import trees
from boundshift.models.onnx.nodes import Graph
from boundshift.models.scoring import look_up

__all__ = ["find_writer"]

Writer = Callable[[Graph, str, Any], str]
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "identity": "Identity"}


def find_writer(model: Any, method: Any) -> Writer | None:
    """Return what writes the response `method` of a model, or None if there is nothing of ours."""
    return look_up(model, _PROBABILITIES if method == "predict_proba" else _MARGINS)


def _linear(graph: Graph, x: str, model: Any) -> str:
    return graph.affine(x, np.atleast_2d(model.coef_).T, model.intercept_)


def _network(graph: Graph, x: str, model: Any) -> str:
    last = len(model.coefs_) - 1
    for i, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        x = graph.affine(x, weights, bias)
        x = graph.add(_ACTIVATIONS[model.activation], x) if i < last else x
    return x


def _gaussian_bayes(graph: Graph, x: str, model: Any) -> str:
    """Write the joint log-probability of every class."""
    rows = graph.add("Unsqueeze", x, graph.constant([1], np.int64))
    gap = graph.add("Sub", rows, graph.constant(model.theta_))
    weighed = graph.add("Div", graph.add("Mul", gap, gap), graph.constant(model.var_))
    total = graph.add("ReduceSum", weighed, graph.constant([2], np.int64), keepdims=0)
    own = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * model.var_).sum(axis=1)
    half = graph.add("Mul", total, graph.constant(-0.5))
    return graph.add("Add", half, graph.constant(own))


def _multinomial_bayes(graph: Graph, x: str, model: Any) -> str:
    return graph.affine(x, model.feature_log_prob_.T, model.class_log_prior_)


def _bernoulli_bayes(graph: Graph, x: str, model: Any) -> str:
    if model.binarize is not None:
        x = graph.cast(graph.add("Greater", x, graph.constant(model.binarize)), "DOUBLE")
    absent = np.log1p(-np.exp(model.feature_log_prob_))
    weights = (model.feature_log_prob_ - absent).T
    return graph.affine(x, weights, model.class_log_prior_ + absent.sum(axis=1))


def _complement_bayes(graph: Graph, x: str, model: Any) -> str:
    return graph.add("MatMul", x, graph.constant(model.feature_log_prob_.T))


def _machine(graph: Graph, x: str, model: Any) -> str:
    """Write a support vector machine: a kernel, and a weighted sum for every pair of classes."""
    vectors = model.support_vectors_
    vectors = vectors.toarray() if hasattr(vectors, "toarray") else vectors
    kernel = _kernel(graph, x, model, vectors)
    if len(model.classes_) == 2:
        dual = model.dual_coef_
        dual = dual.toarray() if hasattr(dual, "toarray") else dual
        return graph.affine(kernel, dual.T, model.intercept_)
    return _one_vs_rest(graph, graph.affine(kernel, _pair_weights(model), model.intercept_), model)


def _kernel(graph: Graph, x: str, model: Any, vectors: NDArray[Any]) -> str:
    # Factors go into the constants: onnxruntime fuses a product and its factor, as a float32.
    if model.kernel == "rbf":
        gamma = model._gamma
        squares = graph.add("Mul", x, x)
        norms = graph.add("MatMul", squares, graph.constant(np.full((vectors.shape[1], 1), gamma)))
        sums = graph.add("Add", norms, graph.constant(gamma * (vectors**2).sum(axis=1)))
        product = graph.add("MatMul", x, graph.constant(2 * gamma * vectors.T))
        return graph.add("Exp", graph.add("Sub", product, sums))
    if model.kernel == "linear":
        return graph.add("MatMul", x, graph.constant(vectors.T))
    if model.kernel not in ("poly", "sigmoid"):
        raise InvalidInputError(
            f"`kernel` must be 'linear', 'rbf', 'poly' or 'sigmoid' for ONNX, got {model.kernel!r}."
        )
    inner = graph.affine(x, model._gamma * vectors.T, model.coef0)
    if model.kernel == "sigmoid":
        return graph.add("Tanh", inner)
    return graph.add("Pow", inner, graph.constant(float(model.degree)))


def _pair_weights(model: Any) -> NDArray[np.float64]:
    """Return the weight of every support vector in the decision between each pair of classes."""
    dual = model.dual_coef_
    dual = dual.toarray() if hasattr(dual, "toarray") else dual
    ends = np.cumsum([0, *model.n_support_])
    of_class = [slice(a, b) for a, b in pairwise(ends)]
    pairs = list(combinations(range(len(model.classes_)), 2))
    weights = np.zeros((dual.shape[1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        weights[of_class[i], column] = dual[j - 1, of_class[i]]
        weights[of_class[j], column] = dual[i, of_class[j]]
    return weights


def _one_vs_rest(graph: Graph, decisions: str, model: Any) -> str:
    """Write votes of pairs, and their summed confidences squashed below a third of a vote."""
    pairs = list(combinations(range(len(model.classes_)), 2))
    first, second = np.zeros((2, len(pairs), len(model.classes_)))
    for row, (i, j) in enumerate(pairs):
        first[row, i] = second[row, j] = 1.0
    loses = graph.cast(graph.add("Less", decisions, graph.constant(0.0)), "DOUBLE")
    votes = graph.affine(loses, second - first, first.sum(axis=0))
    sums = graph.add("MatMul", decisions, graph.constant(first - second))
    size = graph.add("Add", graph.add("Abs", sums), graph.constant(1.0))
    squashed = graph.add("Div", sums, graph.add("Mul", size, graph.constant(3.0)))
    return graph.add("Add", votes, squashed)


_MARGINS: dict[tuple[str, str], Writer] = {
    ("sklearn", "LinearClassifierMixin"): _linear,
    ("sklearn", "BaseSVC"): _machine,
    ("sklearn", "MLPClassifier"): _network,
    ("sklearn", "GaussianNB"): _gaussian_bayes,
    ("sklearn", "MultinomialNB"): _multinomial_bayes,
    ("sklearn", "BernoulliNB"): _bernoulli_bayes,
    ("sklearn", "ComplementNB"): _complement_bayes,
    ("sklearn", "GradientBoostingClassifier"): trees.gradient_boosting,
    ("sklearn", "HistGradientBoostingClassifier"): trees.hist_gradient_boosting,
    ("xgboost", "XGBClassifier"): trees.xgboost,
    ("xgboost", "Booster"): trees.xgboost,
    ("lightgbm", "LGBMClassifier"): trees.lightgbm,
    ("lightgbm", "Booster"): trees.lightgbm,
}
_PROBABILITIES: dict[tuple[str, str], Writer] = {
    ("sklearn", "ForestClassifier"): trees.forest,
    ("sklearn", "DecisionTreeClassifier"): trees.forest,
}
