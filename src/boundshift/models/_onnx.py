"""A shifted classifier as an ONNX model: `to_onnx`.

Other converters know nothing of a moved boundary, and round margins to float32, which moves rows
near it to the other side. Linear models, networks, trees and the decision are written in double
precision. skl2onnx converts everything else. The result is compared with the classifier on the
first rows.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from boundshift._typing import FloatArray, Model, Rows
from boundshift.exceptions import MissingExtraError
from boundshift.models._mean import MeanOfModels
from boundshift.models._onnx_nodes import (
    MARGIN_WRITERS,
    ML_DOMAIN,
    OPSET,
    PROBABILITY_WRITERS,
    Graph,
    refuse,
)
from boundshift.models._parts import is_a, look_up, unwrap
from boundshift.models._scoring import SMALLEST, SUREST, Response

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

_IR_VERSION = 10
_CONVERTER_ML_OPSET = 3
_LABEL = "label"
_SCORE = "decision_score"
_PROBABILITIES = "probabilities"
_OUTPUTS = (_LABEL, _SCORE, _PROBABILITIES)
# Types of columns as ONNX names them, and as skl2onnx does.
_KINDS = {"float32": "FLOAT", "f": "DOUBLE", "i": "INT64", "u": "INT64", "b": "BOOL"}
_TYPES = {
    "FLOAT": "Float", "DOUBLE": "Double", "INT64": "Int64", "BOOL": "Boolean", "STRING": "String",
}  # fmt: skip
# Some converters want all columns of one type, and some know no double.
_NARROWER: tuple[dict[str, str], ...] = (
    {}, {"INT64": "DOUBLE"}, {"INT64": "FLOAT", "DOUBLE": "FLOAT"},
)  # fmt: skip
# Rows of the comparison.
_CHECKED = 1000
# A converter that rounds to float32 may be off by this share of the largest score.
_TOLERANCE = 1e-3
# Relative error of converted steps.
_SINGLE_ROUNDING = 1e-6
_DOUBLE_ROUNDING = 1e-12
# Of log-odds between classes: further apart a float64 probability cannot express them.
_MOST_APART = 600.0
_KEEP = "Keep the classifier itself, by boundshift.save: other exporters may lose the shift."

# Inputs of the model: name, type in ONNX, number of columns.
_Inputs = list[tuple[str, str, int]]
_Floor = tuple[float, ...] | None
# Of skl2onnx, by the id of a step.
_Options = dict[int, dict[str, bool]] | None


def to_onnx(clf: Model, X: Rows) -> ModelProto:
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
    and LightGBM are written in double precision. Labels agree unless a score is closer to the
    boundary than the model's own rounding: 10⁻¹⁵ of the score, 10⁻⁶ for models that compute in
    float32 (XGBoost, models trained on float32 rows). skl2onnx converts everything else, some of it
    in float32 only. If scores or labels differ by more than rounding in onnxruntime, the model is
    refused. The operator set is 18, with 5 of ai.onnx.ml for trees.

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
        _need(library)
    check_is_fitted(clf)
    outer = unwrap(clf)
    shifter = outer.last
    if not is_a(shifter, "boundshift", "BoundShiftClassifier"):
        remedy = "Models without a moved boundary are converted by skl2onnx."
        refuse("`clf` must be a BoundShiftClassifier or end in one", type(shifter).__name__, remedy)
    model = unwrap(shifter.estimator_)
    _check_response(model.last, shifter._response)
    _check_rows(X)
    steps = [*outer.transformers, *model.transformers]
    inputs = _list_inputs(X, has_steps=bool(steps))
    graph = Graph()
    n_classes = len(shifter.classes_)
    if isinstance(model.last, MeanOfModels):
        score = _write_mean(graph, model.last, steps, inputs)
        _write_probabilities(graph, score, shifter._response, n_classes)
    else:
        raw, floor = _write_model(graph, model.last, steps, shifter._response, inputs)
        score = _write_scores(graph, raw, floor, shifter._response, n_classes)
    _write_decision(graph, shifter, score)
    exported = _assemble(graph, inputs, shifter)
    _check(exported, clf, X)
    return exported


def _check_response(last: Model, response: Response) -> None:
    method = getattr(last, "method", response.method)  # of the parts, if it is a mean
    if callable(method):
        remedy = "Use response_method='auto'."
        refuse("`response_method` must not be a function for ONNX", repr(method), remedy)


def _check_rows(X: Rows) -> None:
    if issparse(X) or np.ndim(X) != 2:
        got = "a sparse matrix" if issparse(X) else f"{np.ndim(X)} dimension(s)"
        remedy = "Export the model behind the step that makes numbers of texts, on its dense rows."
        refuse("`X` must be dense rows and columns for ONNX", got, remedy)


def _list_inputs(X: Rows, *, has_steps: bool) -> _Inputs:
    """Return one input for each column of a dataframe before other steps, else one for all."""
    if has_steps and hasattr(X, "columns"):
        return [(str(name), _kind_of(np.asarray(X[name]).dtype), 1) for name in X.columns]
    is_single = np.asarray(X[:1]).dtype == np.float32
    return [("X", "FLOAT" if is_single else "DOUBLE", np.shape(X)[1])]


def _assemble(graph: Graph, inputs: _Inputs, shifter: Model) -> ModelProto:
    """Return the graph as a model, with its inputs and outputs declared."""
    from onnx import helper

    n_classes = len(shifter.classes_)
    score_shape: list[int | None] = [None] if n_classes == 2 else [None, n_classes]
    outputs = [
        _declare(_LABEL, _kind_of(shifter.classes_.dtype), [None]),
        _declare(_SCORE, "DOUBLE", score_shape),
    ]
    if shifter._response.is_log_odds:
        outputs.append(_declare(_PROBABILITIES, "DOUBLE", [None, n_classes]))
    declared = [_declare(name, kind, [None, n_columns]) for name, kind, n_columns in inputs]
    whole = helper.make_graph(graph.nodes, "boundshift", declared, outputs, graph.constants)
    domains = [helper.make_opsetid(*domain) for domain in sorted(graph.domains.items())]
    exported = helper.make_model(whole, opset_imports=domains, producer_name="boundshift")
    exported.ir_version = _IR_VERSION
    return exported


def _need(library: str) -> ModuleType:
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtraError(library, "onnx") from None


def _kind_of(dtype: np.dtype) -> str:
    return _KINDS.get(dtype.name, _KINDS.get(dtype.kind, "STRING"))


def _declare(name: str, kind: str, shape: list[int | None]) -> ValueInfoProto:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape)


def _write_model(
    graph: Graph, last: Model, steps: list[Model], response: Response, inputs: _Inputs
) -> tuple[str, _Floor]:
    """Write a model's response; return its name, and the floors if it is probabilities."""
    from onnx import TensorProto

    method = response.method
    floor = response.floor
    write = look_up(last, PROBABILITY_WRITERS if method == "predict_proba" else MARGIN_WRITERS)
    if write is not None:
        x = "X"
        if steps:
            output = _convert(graph, steps, inputs)[0]
            is_single = output.type.tensor_type.elem_type == TensorProto.FLOAT
            graph.rounding = _SINGLE_ROUNDING if is_single else _DOUBLE_ROUNDING
            x = output.name
        return write(graph, graph.cast(x, "DOUBLE"), last), floor
    if method == "margin" and response.is_log_odds:
        method = "predict_proba"
        floor = (SMALLEST,) * len(last.classes_)
    if method == "margin" or is_a(last, "catboost", "CatBoost"):
        refuse("`estimator` must be a model that ONNX can express", type(last).__name__, _KEEP)
    options = {"zipmap": False}
    if method == "decision_function":
        options["raw_scores"] = True
    # Options are found by the classifier's id: that of a pipeline around it sets nothing.
    output = _convert(graph, [*steps, last], inputs, {id(last): options})[1]
    raw = graph.cast(output.name, "DOUBLE")
    shape = [size.dim_value for size in output.type.tensor_type.shape.dim]
    if method == "decision_function" and len(shape) == 2 and shape[1] == 2:
        raw = graph.add("Gather", raw, graph.constant([1], np.int64), axis=1)
    return raw, floor


def _convert(
    graph: Graph, steps: list[Model], inputs: _Inputs, options: _Options = None
) -> list[ValueInfoProto]:
    """Add what skl2onnx makes of steps, in double precision if it can; return its outputs."""
    import onnx.compose
    from onnx import helper

    converted = _convert_by_skl2onnx(steps, inputs, options)
    converted = onnx.compose.add_prefix(converted, f"converted_{len(graph.nodes)}_")
    for (name, *_), given in zip(inputs, converted.graph.input, strict=True):
        to = given.type.tensor_type.elem_type
        graph.nodes.append(helper.make_node("Cast", [name], [given.name], to=to))
    graph.nodes.extend(converted.graph.node)
    graph.constants.extend(converted.graph.initializer)
    graph.domains = {o.domain: o.version for o in converted.opset_import} | graph.domains
    return list(converted.graph.output)


def _convert_by_skl2onnx(steps: list[Model], inputs: _Inputs, options: _Options) -> ModelProto:
    """Return what skl2onnx makes of steps, with the widest types of columns that it can use."""
    skl2onnx = _need("skl2onnx")
    import onnx.checker
    from onnxruntime import InferenceSession
    from skl2onnx.common import data_types

    pipeline = Pipeline([(f"step{i}", step) for i, step in enumerate(steps)])
    opsets = {"": OPSET, ML_DOMAIN: _CONVERTER_ML_OPSET}
    reason = ""
    for narrower in _NARROWER:
        types = []
        for name, kind, n_columns in inputs:
            type_name = f"{_TYPES[narrower.get(kind, kind)]}TensorType"
            types.append((name, getattr(data_types, type_name)([None, n_columns])))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                converted: ModelProto = skl2onnx.convert_sklearn(
                    pipeline, initial_types=types, options=options, target_opset=opsets
                )
            onnx.checker.check_model(converted, full_check=True)
            # onnxruntime lacks some operators for doubles.
            InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
        except Exception as error:
            reason = f"{type(error).__name__}: {_first_line(error)}"
        else:
            return converted
    got = f"{type(steps[-1]).__name__} ({reason})"
    refuse("`clf` must be a model that skl2onnx can convert", got, _KEEP)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _write_scores(graph: Graph, raw: str, floor: _Floor, response: Response, n_classes: int) -> str:
    """Write what `Response.scores` and `predict_proba` return; return the name of the scores."""
    if response.method != "predict_proba":
        score = _read_score(graph, raw, floor, n_classes)
        _write_probabilities(graph, score, response, n_classes)
        return score
    graph.add("Identity", raw, output=_PROBABILITIES)
    return _PROBABILITIES if n_classes == 2 else _read_score(graph, raw, floor, n_classes)


def _read_score(graph: Graph, raw: str, floor: _Floor, n_classes: int) -> str:
    """Write margins, or log-odds of probabilities: a vector for two classes."""
    if floor is not None:
        raw = graph.add("Log", graph.add("Max", raw, graph.constant(floor)))
    if n_classes > 2:
        return raw
    score = graph.column(raw)
    return score if floor is None else graph.add("Sub", graph.column(raw, 1), score)


def _write_probabilities(graph: Graph, score: str, response: Response, n_classes: int) -> None:
    if response.is_log_odds and n_classes > 2:
        graph.add("Softmax", score, axis=1, output=_PROBABILITIES)
    elif response.is_log_odds:
        columns = [
            graph.add("Unsqueeze", graph.add("Sigmoid", one), graph.constant([1], np.int64))
            for one in (graph.add("Neg", score), score)
        ]
        graph.add("Concat", *columns, axis=1, output=_PROBABILITIES)


def _write_mean(graph: Graph, mean: MeanOfModels, steps: list[Model], inputs: _Inputs) -> str:
    """Write what `mean_scores` returns of the scores of all parts."""
    n = len(mean.estimators)
    n_classes = len(mean.classes_)
    second = graph.constant([1], np.int64)
    scores = []
    for part in mean.estimators:
        if len(part.classes_) < n_classes:
            got = f"one of {len(part.classes_)} of {n_classes}"
            refuse("Every model of a mean must know all classes", got, "Fit with ensemble=False.")
        inner = unwrap(part)
        chain = [*steps, *inner.transformers]
        raw, floor = _write_model(graph, inner.last, chain, mean.response, inputs)
        score = _read_score(graph, raw, floor, n_classes)
        if n_classes > 2 and mean.is_log_odds:
            score = graph.add("LogSoftmax", score, axis=1)
        elif n_classes > 2:
            score = graph.add("Sub", score, graph.add("ReduceMean", score, second))
        scores.append(score)
    average = graph.add("Div", graph.add("Sum", *scores), graph.constant(float(n)))
    if n_classes > 2 or not mean.is_log_odds:
        return average
    largest = graph.add("Max", *(graph.add("Abs", score) for score in scores))
    is_sure = graph.add("Greater", largest, graph.constant(SUREST))
    return graph.add("Where", is_sure, _write_median(graph, scores), average)


def _write_median(graph: Graph, scores: list[str]) -> str:
    n = len(scores)
    second = graph.constant([1], np.int64)
    columns = [graph.add("Unsqueeze", score, second) for score in scores]
    every = graph.add("Concat", *columns, axis=1)
    ordered = graph.add("TopK", every, graph.constant([n], np.int64))
    places = graph.constant([(n - 1) // 2, n // 2], np.int64)
    middle = graph.add("Gather", ordered, places, axis=1)
    return graph.add("ReduceMean", middle, second, keepdims=0)


def _write_decision(graph: Graph, clf: Model, score: str) -> None:
    """Write what `predict` does."""
    labels = clf.classes_
    if labels.dtype.kind in "iu":
        labels = labels.astype(np.int64)
    elif all(isinstance(label, str) for label in labels.tolist()):
        labels = labels.astype(object)
    elif labels.dtype.kind not in "bf":
        rule = "`classes_` must be strings, numbers or booleans for ONNX"
        refuse(rule, labels.tolist(), "Train on encoded labels.")
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


# The comparison with the classifier.


def _check(model: ModelProto, clf: Model, X: Rows) -> None:
    """Raise unless the model gives the classifier's scores and labels on the first rows."""
    rows = X[:_CHECKED]
    outer = unwrap(clf)
    shifter = outer.last
    transformed = outer.transform(rows)
    try:
        labels, scores, *_ = _run(model, rows)
    except Exception as error:
        got = f"{type(unwrap(shifter.estimator_).last).__name__} ({_first_line(error)})"
        remedy = f"Fill missing texts, and rename columns called {', '.join(_OUTPUTS)}."
        refuse("`clf` must be a model that onnxruntime can run on `X`", got, remedy)
    if len(shifter.classes_) == 2:
        expected = shifter.positive_scores(transformed)
        to_boundary = np.abs(expected - shifter.threshold_)
    else:
        expected = shifter._response.read(shifter.estimator_, transformed, shifter.classes_)
        expected = _below_largest(expected + shifter.biases_)
        scores = _below_largest(scores)
        to_boundary = -np.diff(-np.sort(-expected, axis=1)[:, :2])[:, 0]
    worst = float(np.abs(scores - expected).max(initial=0.0))
    allowed = _TOLERANCE * max(1.0, float(np.abs(expected).max(initial=0.0)))
    # A row that is closer to the boundary than rounding may get either label.
    is_other = np.asarray(labels).ravel() != clf.predict(rows)
    if not worst <= allowed or np.any(is_other & (to_boundary > 2 * worst)):
        remedy = "Use a model and steps in double precision, see boundshift.to_onnx."
        refuse("`clf` must have a converter that is right", f"scores off by {worst:.3g}", remedy)


def _below_largest(scores: FloatArray) -> FloatArray:
    """Return scores of classes less the largest of each row."""
    return np.asarray(np.maximum(scores - scores.max(axis=1, keepdims=True), -_MOST_APART))


def _run(model: ModelProto, X: Rows) -> list[FloatArray]:
    """Return the model's outputs for rows."""
    from onnx import helper
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.log_severity_level = 4
    columns = {str(name): name for name in getattr(X, "columns", ())}
    feed = {}
    for given in model.graph.input:
        dtype = helper.tensor_dtype_to_np_dtype(given.type.tensor_type.elem_type)
        is_column = given.name in columns
        values = np.asarray(X[columns[given.name]]).reshape(-1, 1) if is_column else np.asarray(X)
        feed[given.name] = values.astype(dtype)
    content = model.SerializeToString()
    session = InferenceSession(content, options, providers=["CPUExecutionProvider"])
    outputs: list[FloatArray] = session.run(None, feed)
    return outputs
