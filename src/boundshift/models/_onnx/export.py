"""A shifted classifier as an ONNX model: `to_onnx`.

Other converters know nothing of a moved boundary, and round margins to float32, which moves rows
near it to the other side. Linear models, networks, trees and the decision are written here in
double precision. skl2onnx converts everything else. The result is compared with the classifier on
the first rows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models._onnx import trees
from boundshift.models._onnx.nodes import ML_DOMAIN, OPSET, Graph, Input, convert
from boundshift.models._scoring import (
    SUREST,
    MeanOfModels,
    Response,
    class_columns,
    is_a,
    look_up,
    unwrap,
)

# TreeEnsemble came with 5.
_ML_OPSET, _IR_VERSION = 5, 10
_OUTPUTS = _LABEL, _SCORE, _PROBABILITIES = "label", "decision_score", "probabilities"
_KINDS = {"float32": "FLOAT", "f": "DOUBLE", "i": "INT64", "u": "INT64", "b": "BOOL"}
# Rows of the comparison.
_CHECKED = 1000
# A converter that rounds to float32 may be off by this share of the largest score.
_TOLERANCE = 1e-3
# Relative error of converted steps.
_SINGLE_ROUNDING, _DOUBLE_ROUNDING = 1e-6, 1e-12


def to_onnx(clf: Any, X: Any) -> Any:
    """Return a fitted classifier, with its threshold or biases, as an ONNX model.

    Parameters
    ----------
    clf : BoundShiftClassifier
        Fitted; or a fitted pipeline or search that ends in one.
    X : array-like or dataframe of shape (n_samples, n_features)
        Some rows in the form in which the model will get them. An array becomes one input, "X", of
        type float (float32) or double (all others). A dataframe before a pipeline becomes one
        input of shape (n, 1) per column. The model is compared with `clf` on the first rows.

    Returns
    -------
    onnx.ModelProto
        Its first output, "label", is what ``predict`` returns. Its second, "decision_score", is
        what ``positive_scores`` returns, to be compared with ``threshold_``; for more than two
        classes, each class's score plus its bias, of which the largest wins. Its third,
        "probabilities", is what ``predict_proba`` returns, if the scores are probabilities or
        their log-odds. Write it with ``model.SerializeToString()``.

    Raises
    ------
    InvalidInputError
        If the model, or a step before it, cannot be converted.
    MissingExtraError
        If onnx and onnxruntime are not installed, or skl2onnx where it is needed.

    Notes
    -----
    Linear models, MLPClassifier, decision trees, forests, (histogram) gradient boosting, XGBoost
    and LightGBM are written in double precision, and rows take the same path through the same
    trees. Labels agree unless a score is closer to the boundary than the model's own rounding:
    10⁻¹⁵ of the score, 10⁻⁶ for models that compute in float32 (XGBoost, models trained on float32
    rows). skl2onnx converts everything else, some of it in float32 only. If scores or labels differ
    by more than rounding in onnxruntime, the model is refused. The operator set is 18, with 5 of
    ai.onnx.ml for trees.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift import BoundShiftClassifier, to_onnx
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> model = to_onnx(BoundShiftClassifier(LogisticRegression()).fit(X, y), X)
    >>> [output.name for output in model.graph.output]
    ['label', 'decision_score', 'probabilities']
    """
    for library in ("onnx", "onnxruntime"):
        try:
            import_module(library)
        except ImportError:
            raise MissingExtraError(library, "onnx") from None
    check_is_fitted(clf)
    outer = unwrap(clf)
    shifter = outer.last
    if not is_a(shifter, "boundshift", "BoundShiftClassifier"):
        raise InvalidInputError(
            f"`clf` must be a BoundShiftClassifier or end in one, got {type(shifter).__name__}. "
            "Models without a moved boundary are converted by skl2onnx."
        )
    model = shifter.estimator_
    is_mean = isinstance(model, MeanOfModels)
    parts = model.estimators if is_mean else [model]
    response: Response = model.response if is_mean else shifter._response
    if callable(response.method):
        raise InvalidInputError(
            "`response_method` must not be a function for ONNX, got "
            f"{getattr(response.method, '__name__', response.method)!r}. Use "
            "response_method='auto'."
        )
    _check_rows(X, [*outer.transformers, *unwrap(parts[0]).transformers])
    labels = _as_labels(shifter.classes_)
    graph = Graph()
    # One model's probabilities are read, not computed from log-odds.
    is_read = not is_mean and response.method == "predict_proba"
    bases, scores = [], []
    for number, part in enumerate(parts):
        base, raw, own = _write_part(graph, part, outer.transformers, response, X, number)
        bases.append(base)
        columns = class_columns(part, shifter.classes_)
        scores.append(_write_scores(graph, raw, own, columns, len(labels), is_read))
    for other in bases[1:]:
        bases[0].graph.node.extend(other.graph.node)
        bases[0].graph.initializer.extend(other.graph.initializer)
    score = _write_mean(graph, scores, len(labels), response) if is_mean else scores[0]
    if response.is_log_odds:
        _write_probabilities(graph, score, len(labels), is_read)
    _write_decision(graph, shifter, labels, score)
    exported = _assemble(bases[0], graph, shifter.classes_, response.is_log_odds)
    _check(exported, clf, unwrap(parts[0]).last, X)
    return exported


def _check_rows(X: Any, steps: list[Any]) -> None:
    """Raise if the rows cannot be the inputs of an ONNX model."""
    if issparse(X):
        raise InvalidInputError("`X` must be dense rows for ONNX, got a sparse matrix.")
    if np.ndim(X) != 2:
        raise InvalidInputError(
            f"`X` must be rows and columns for ONNX, got {np.ndim(X)} dimension(s), such as texts "
            "to be split into words. Export the model behind that step, and pass its numbers."
        )
    names = [str(name) for name in X.columns] if steps and hasattr(X, "columns") else []
    taken = [name for name in names if name in _OUTPUTS]
    if taken:
        raise InvalidInputError(
            "Columns of `X` must have other names than the outputs of the ONNX model "
            f"({', '.join(_OUTPUTS)}), got {taken[0]!r}. Rename the column and fit again."
        )


def _as_labels(classes: Any) -> Any:
    """Return labels of a type that ONNX has."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind in "bf":
        return classes
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise InvalidInputError(
        "`classes_` must be strings, numbers or booleans for ONNX, got "
        f"{classes.tolist()!r}. Train on encoded labels."
    )


# Nodes.


def _linear(graph: Graph, x: str, model: Any) -> str:
    return graph.affine(x, np.atleast_2d(model.coef_).T, model.intercept_)


def _network(graph: Graph, x: str, model: Any) -> str:
    names = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "identity": "Identity"}
    last = len(model.coefs_) - 1
    for i, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        x = graph.affine(x, weights, bias)
        x = graph.add(names[model.activation], x) if i < last else x
    return x


_Writer = Callable[[Graph, str, Any], str]
_PROBABILITY_WRITERS: dict[tuple[str, str], _Writer] = {
    ("sklearn", "ForestClassifier"): trees.forest,
    ("sklearn", "DecisionTreeClassifier"): trees.forest,
}
_MARGIN_WRITERS: dict[tuple[str, str], _Writer] = {
    ("sklearn", "LinearClassifierMixin"): _linear,
    ("sklearn", "MLPClassifier"): _network,
    ("sklearn", "GradientBoostingClassifier"): trees.gradient_boosting,
    ("sklearn", "HistGradientBoostingClassifier"): trees.hist_gradient_boosting,
    ("xgboost", "XGBClassifier"): trees.xgboost,
    ("xgboost", "Booster"): trees.xgboost,
    ("lightgbm", "LGBMClassifier"): trees.lightgbm,
    ("lightgbm", "Booster"): trees.lightgbm,
}


def _write_part(
    graph: Graph, part: Any, before: list[Any], response: Response, X: Any, number: int
) -> tuple[Any, str, Response]:
    """Write a model's response; return what skl2onnx converted, its name and how it is read."""
    from onnx import TensorProto, helper

    inner = unwrap(part)
    last, steps, method = inner.last, [*before, *inner.transformers], response.method
    inputs, prefix = _make_inputs(X, steps), f"converted_{number}_"
    writers = _PROBABILITY_WRITERS if method == "predict_proba" else _MARGIN_WRITERS
    write = look_up(last, writers)
    if write is not None and not steps:
        declared = [one.declare() for one in inputs]
        base = helper.make_model(helper.make_graph([], "boundshift", declared, []))
        return base, write(graph, graph.cast("X", "DOUBLE"), last), response
    if write is not None:
        base = convert(_as_pipeline(steps), inputs, {}, prefix)
        output = base.graph.output[0]
        is_single = output.type.tensor_type.elem_type == TensorProto.FLOAT
        graph.rounding = _SINGLE_ROUNDING if is_single else _DOUBLE_ROUNDING
        return base, write(graph, graph.cast(output.name, "DOUBLE"), last), response
    if method == "margin" and response.is_log_odds:
        floor = (float(np.finfo(np.float64).tiny),) * len(last.classes_)
        method, response = "predict_proba", Response("predict_proba", floor, is_log_odds=True)
    if method == "margin" or is_a(last, "catboost", "CatBoost"):
        raise InvalidInputError(
            f"`estimator` must be a model that ONNX can express, got {type(last).__name__}. Keep "
            "the classifier itself, by boundshift.save or in a file of its library: exporters of "
            "other libraries may lose the shift, as CatBoost's does."
        )
    options = {"zipmap": False} | ({"raw_scores": True} if method == "decision_function" else {})
    # Options are found by the classifier's id: that of a pipeline around it sets nothing.
    base = convert(_as_pipeline([*steps, last]), inputs, {id(last): options}, prefix)
    output = base.graph.output[1]
    raw = graph.cast(output.name, "DOUBLE")
    shape = [size.dim_value for size in output.type.tensor_type.shape.dim]
    if method == "decision_function" and len(shape) == 2 and shape[1] == 2:
        raw = graph.add("Gather", raw, graph.constant([1], np.int64), axis=1)
    return base, raw, response


def _as_pipeline(steps: list[Any]) -> Pipeline:
    return Pipeline([(f"step{i}", step) for i, step in enumerate(steps)])


def _make_inputs(X: Any, steps: list[Any]) -> list[Input]:
    """Return an input per column of a frame that steps come before, else one for all columns."""
    if steps and hasattr(X, "columns"):
        return [Input(str(name), _kind_of(np.asarray(X[name]).dtype), 1) for name in X.columns]
    array = np.asarray(X[:1])
    return [Input("X", "FLOAT" if array.dtype == np.float32 else "DOUBLE", array.shape[1])]


def _kind_of(dtype: Any) -> str:
    return _KINDS.get(dtype.name, _KINDS.get(dtype.kind, "STRING"))


def _write_scores(
    graph: Graph, raw: str, response: Response, columns: Any, n_classes: int, is_read: bool
) -> str:
    """Write what `Response.scores` does; of two classes both probabilities stay if read."""
    if len(columns) < n_classes:
        raise InvalidInputError(
            f"`estimators_` must know every class for ONNX, got one of {len(columns)} of the "
            f"{n_classes} classes. Fit with ensemble=False, or on more rows of the rarest class."
        )
    if n_classes == 2 and response.floor is None:
        return graph.column(raw)
    if n_classes == 2 and is_read:
        return raw
    if response.floor is not None:
        raw = graph.add("Log", graph.add("Max", raw, graph.constant(response.floor)))
    if n_classes > 2:
        return raw
    return graph.add("Sub", graph.column(raw, 1), graph.column(raw, 0))


def _write_mean(graph: Graph, scores: list[str], n_classes: int, response: Response) -> str:
    """Write what `mean_scores` does."""
    second = graph.constant([1], np.int64)
    if n_classes > 2 and response.is_log_odds:
        scores = [graph.add("LogSoftmax", one, axis=1) for one in scores]
    elif n_classes > 2:
        scores = [graph.add("Sub", one, graph.add("ReduceMean", one, second)) for one in scores]
    n = len(scores)
    mean = graph.add("Div", graph.add("Sum", *scores), graph.constant(float(n)))
    if n_classes > 2 or not response.is_log_odds:
        return mean
    columns = [graph.add("Unsqueeze", one, second) for one in scores]
    ordered = graph.add(
        "TopK", graph.add("Concat", *columns, axis=1), graph.constant([n], np.int64)
    )
    middle = graph.constant([(n - 1) // 2, n // 2], np.int64)
    middle = graph.add("Gather", ordered, middle, axis=1)
    median = graph.add("ReduceMean", middle, second, keepdims=0)
    largest = graph.add("Max", *(graph.add("Abs", one) for one in scores))
    is_sure = graph.add("Greater", largest, graph.constant(SUREST))
    return graph.add("Where", is_sure, median, mean)


def _write_probabilities(graph: Graph, score: str, n_classes: int, is_read: bool) -> None:
    """Write what `predict_proba` returns."""
    if n_classes > 2:
        graph.add("Softmax", score, axis=1, output=_PROBABILITIES)
    elif is_read:
        graph.add("Identity", score, output=_PROBABILITIES)
    else:
        columns = [
            graph.add("Unsqueeze", graph.add("Sigmoid", one), graph.constant([1], np.int64))
            for one in (graph.add("Neg", score), score)
        ]
        graph.add("Concat", *columns, axis=1, output=_PROBABILITIES)


def _write_decision(graph: Graph, clf: Any, labels: Any, score: str) -> None:
    """Write what `predict` does."""
    if len(labels) > 2:
        graph.add("Add", score, graph.constant(clf.biases_), output=_SCORE)
        winner = graph.add("ArgMax", _SCORE, axis=1, keepdims=0)
    else:
        positive = clf.classes_.tolist().index(clf.boundary_.labels[1])
        if clf.boundary_.scale == "probability":
            score = graph.column(_PROBABILITIES, positive)
        elif positive == 0:
            score = graph.add("Neg", score)
        graph.add("Identity", score, output=_SCORE)
        above = graph.add("Greater", _SCORE, graph.constant(clf.threshold_))
        winner = graph.cast(above if positive == 1 else graph.add("Not", above), "INT64")
    graph.add("Gather", graph.constant(labels, None), winner, axis=0, output=_LABEL)


def _assemble(base: Any, graph: Graph, classes: Any, has_probabilities: bool) -> Any:
    """Put the nodes behind those of the converter, and name the outputs."""
    from onnx import TensorProto, helper

    n = len(classes)
    outputs: list[tuple[str, str, list[int | None]]] = [
        (_LABEL, _kind_of(classes.dtype), [None]),
        (_SCORE, "DOUBLE", [None] if n == 2 else [None, n]),
    ]
    if has_probabilities:
        outputs.append((_PROBABILITIES, "DOUBLE", [None, n]))
    base.graph.node.extend(graph.nodes)
    base.graph.initializer.extend(graph.constants)
    del base.graph.output[:]
    base.graph.output.extend(
        helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape)
        for name, kind, shape in outputs
    )
    domains = {o.domain: o.version for o in base.opset_import} | {"": OPSET}
    if any(node.domain == ML_DOMAIN for node in graph.nodes):
        domains[ML_DOMAIN] = _ML_OPSET
    del base.opset_import[:]
    base.opset_import.extend(helper.make_opsetid(d, v) for d, v in sorted(domains.items()))
    base.ir_version = min(base.ir_version, _IR_VERSION)
    base.producer_name = "boundshift"
    return base


# The comparison with the classifier.


def _check(model: Any, clf: Any, last: Any, X: Any) -> None:
    """Raise unless the model gives the classifier's scores and labels on the first rows."""
    rows, outer = X[:_CHECKED], unwrap(clf)
    outputs = _run(model, last, rows)
    shifter, seen = outer.last, outer.transform(rows)
    found = outputs[1]
    if len(shifter.classes_) == 2:
        ours = shifter.positive_scores(seen)
        gap = np.abs(ours - shifter.threshold_)
    else:
        ours = shifter._response.read(shifter.estimator_, seen, shifter.classes_) + shifter.biases_
        ours, found = (  # differences that a float64 probability can express
            np.maximum(s - s.max(axis=1, keepdims=True), -600.0) for s in (ours, found)
        )
        gap = -np.diff(-np.sort(-ours, axis=1)[:, :2])[:, 0]
    worst = float(np.abs(found - ours).max(initial=0.0))
    allowed = _TOLERANCE * max(1.0, float(np.abs(ours).max(initial=0.0)))
    # A row that is closer to the boundary than rounding may get either label.
    is_other = np.asarray(outputs[0]).ravel() != clf.predict(rows)
    if not worst <= allowed or np.any(is_other & (gap > 2 * worst)):
        raise InvalidInputError(
            f"`clf` must be a model whose converter is right, got scores off by {worst:.3g} for "
            f"{type(last).__name__}. Use a model and steps in double precision, see "
            "boundshift.to_onnx."
        )


def _run(model: Any, last: Any, X: Any) -> Any:
    """Return the model's outputs for rows."""
    from onnx import helper
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.log_severity_level = 4
    columns, feed = {str(name): name for name in getattr(X, "columns", ())}, {}
    for given in model.graph.input:
        dtype = helper.tensor_dtype_to_np_dtype(given.type.tensor_type.elem_type)
        is_column = given.name in columns
        values = np.asarray(X[columns[given.name]]).reshape(-1, 1) if is_column else np.asarray(X)
        feed[given.name] = values.astype(dtype)
    try:
        content = model.SerializeToString()
        session = InferenceSession(content, options, providers=["CPUExecutionProvider"])
        return session.run(None, feed)
    except Exception as error:
        first_line = str(error).strip().partition("\n")[0]
        raise InvalidInputError(
            f"`clf` must be a model that onnxruntime can run on `X`, got {type(last).__name__} "
            f"({type(error).__name__}: {first_line}). Fill missing texts, and use models that "
            "boundshift.to_onnx names."
        ) from None
