"""A shifted classifier as an ONNX model: `to_onnx`.

Other converters know nothing of a moved boundary, and round margins to float32, which moves rows
near it to the other side. Linear models, networks, trees, the usual steps before them and the
decision are written here in double precision. skl2onnx converts everything else, and the result is
compared with ours on the first rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from boundshift.exceptions import InvalidInputError
from boundshift.models.mean import MeanOfModels
from boundshift.models.onnx.nodes import (
    ML_DOMAIN,
    OPSET,
    Graph,
    Rows,
    convert,
    find_writer,
    require,
    write_steps,
)
from boundshift.models.scoring import (
    Response,
    class_columns,
    is_a,
    unwrap,
)

__all__ = ["to_onnx"]

# TreeEnsemble came with 5.
_ML_OPSET = 5
_LABEL_ENCODER_OPSET = 3
_IR_VERSION = 10
_OUTPUTS = _LABEL, _SCORE, _PROBABILITIES = "label", "decision_score", "probabilities"
_KINDS = {"float32": "FLOAT", "f": "DOUBLE", "i": "INT64", "u": "INT64", "b": "BOOL"}
# Rows on which the written model is compared with ours; fewer where onnxruntime is not installed,
# since onnx's own evaluator walks through trees in Python.
_CHECKED, _CHECKED_BY_REFERENCE = 1000, 32
# A converter that rounds to float32 may be off by this share of the largest score.
_TOLERANCE = 1e-3
# How far converted steps may be off their own results.
_SINGLE_ROUNDING, _DOUBLE_ROUNDING = 1e-6, 1e-12


def to_onnx(clf: Any, X: Any) -> Any:
    """Return a fitted classifier, with its threshold or biases, as an ONNX model.

    Parameters
    ----------
    clf : BoundShiftClassifier
        Fitted; or a fitted pipeline, or a search, that ends in one.
    X : array-like or dataframe of shape (n_samples, n_features)
        Some rows as the model will be given them. An array becomes one input, "X", of type float
        (float32) or double (all others); a dataframe before a pipeline becomes one input of shape
        (n, 1) for every column. The model is tried on the first rows.

    Returns
    -------
    onnx.ModelProto
        Its first output, "label", is what ``predict`` returns. Its second, "decision_score", is
        what ``positive_scores`` returns, to be compared with ``threshold_``; of more than two
        classes, each class's score plus its bias, of which the largest wins. Its third,
        "probabilities", is what ``predict_proba`` returns, where the scores are probabilities or
        their log-odds. Write it with ``model.SerializeToString()``.

    Raises
    ------
    InvalidInputError
        If the model, or a step before it, cannot be converted.
    MissingExtraError
        If onnx, or skl2onnx for pipelines and models unknown here, is not installed.

    Notes
    -----
    Linear models, MLPClassifier, decision trees, forests, (histogram) gradient boosting, XGBoost
    and LightGBM are written in double precision, and rows take the same path through the same
    trees. Labels agree unless a score is closer to the boundary than the model's own rounding:
    10⁻¹⁵ of the score, 10⁻⁶ for models that compute in float32 (XGBoost, models trained on float32
    rows). So are StandardScaler, MinMaxScaler, SimpleImputer and OneHotEncoder, alone or in a
    ColumnTransformer. All other steps and classifiers are converted by skl2onnx, some of them in
    float32 only: a row near the boundary or on a tree's split may then fall on the other side. The
    model is tried in onnxruntime where that is installed, else in onnx's own evaluator. The
    operator set is 18, with 5 of ai.onnx.ml for trees.

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
    check_is_fitted(clf)
    shifter = _shifter(clf)
    before = unwrap(clf).transformers
    _check_rows(X, [*before, *unwrap(_parts(shifter)[0]).transformers])
    require("onnx")
    labels = _labels(shifter.classes_)
    graph = Graph()
    base, scores = _write_scores(graph, shifter, before, X)
    has_probabilities = _response_of(shifter).is_log_odds
    if has_probabilities:
        _write_probabilities(graph, shifter, scores)
    _decide(graph, shifter, labels, scores)
    model = _assemble(base, graph, shifter, has_probabilities)
    _check(model, clf, _parts(shifter)[0], X)
    return model


def _shifter(clf: Any) -> Any:
    """Return the classifier with the shift: itself, or the end of a pipeline or a search."""
    shifter = unwrap(clf).last
    if not is_a(shifter, "boundshift", "BoundShiftClassifier"):
        raise InvalidInputError(
            f"`clf` must be a BoundShiftClassifier or end in one, got {type(shifter).__name__}. "
            "Models without a moved boundary are converted by skl2onnx."
        )
    method = _response_of(shifter).method
    if callable(method):
        raise InvalidInputError(
            "`response_method` must not be a function for ONNX, got "
            f"{getattr(method, '__name__', method)!r}. Use response_method='auto'."
        )
    return shifter


def _parts(clf: Any) -> list[Any]:
    """Return the models whose mean is shifted, one or more."""
    mean = clf.estimator_
    return list(mean.estimators) if isinstance(mean, MeanOfModels) else [mean]


def _response_of(clf: Any) -> Response:
    """Return how the response of a part becomes its score."""
    mean = clf.estimator_
    if isinstance(mean, MeanOfModels):
        return Response(mean.method, mean.floor, mean.is_log_odds)
    response: Response = clf._response
    return response


def _write_scores(graph: Graph, clf: Any, before: list[Any], X: Any) -> tuple[Any, str]:
    """Write the scores of all parts and their mean, behind the steps of each."""
    bases, scores = [], []
    for number, part in enumerate(_parts(clf)):
        response = _response_of(clf)
        inner = unwrap(part)
        last, steps = inner.last, [*before, *inner.transformers]
        write = find_writer(last, response.method)
        prefix = f"converted_{number}_" if number else "converted_"
        if write is None:
            if response.method == "margin" and response.is_log_odds:
                floor = (float(np.finfo(np.float64).tiny),) * len(clf.classes_)
                response = Response("predict_proba", floor, is_log_odds=True)
            base = _convert_whole(response.method, steps, last, X, prefix)
            raw = _response(graph, base.graph.output[1], response.method)
        else:
            base, found = _convert_steps(graph, steps, X, prefix)
            raw = write(graph, graph.cast(found, "DOUBLE"), last)
        bases.append(base)
        scores.append(_scores(graph, clf, part, response, raw))
    for other in bases[1:]:
        bases[0].graph.node.extend(other.graph.node)
        bases[0].graph.initializer.extend(other.graph.initializer)
    return bases[0], _mean(graph, clf, scores)


def _mean(graph: Graph, clf: Any, scores: list[str]) -> str:
    """Write what `mean_scores` does."""
    if not isinstance(clf.estimator_, MeanOfModels):
        return scores[0]
    if len(clf.classes_) > 2:
        scores = [_level(graph, one, clf.estimator_.is_log_odds) for one in scores]
    total = graph.add("Sum", *scores) if len(scores) > 1 else scores[0]
    return graph.add("Div", total, graph.constant(float(len(scores))))


def _level(graph: Graph, scores: str, is_log_odds: bool) -> str:
    if is_log_odds:
        return graph.add("LogSoftmax", scores, axis=1)
    return graph.add("Sub", scores, graph.add("ReduceMean", scores, graph.constant([1], np.int64)))


def _scores(graph: Graph, clf: Any, part: Any, response: Response, raw: str) -> str:
    """Write what `Response.scores` does, with the classes in our order.

    Probabilities of one model and two classes stay both.
    """
    classes, floor = clf.classes_, response.floor
    columns = class_columns(part, classes)
    if len(columns) < len(classes):
        raise InvalidInputError(
            f"`estimators_` must know every class for ONNX, got one of {len(columns)} of the "
            f"{len(classes)} classes. Fit with ensemble=False, or on more rows of the rarest class."
        )
    is_sorted = bool((np.diff(columns) > 0).all())
    if len(columns) == 2 and floor is None:
        margin = graph.column(raw)
        return margin if is_sorted else graph.add("Neg", margin)
    if not is_sorted:
        order = graph.constant(np.argsort(columns), np.int64)
        raw = graph.add("Gather", raw, order, axis=1)
    if len(columns) == 2 and _is_read_off(clf):
        return raw
    if floor is not None:
        raw = graph.add("Log", graph.add("Max", raw, graph.constant(floor)))
    if len(columns) > 2:
        return raw
    return graph.add("Sub", graph.column(raw, 1), graph.column(raw, 0))


def _is_read_off(clf: Any) -> bool:
    """Return whether one model's probabilities are read as they are, not from log-odds."""
    is_mean = isinstance(clf.estimator_, MeanOfModels)
    return not is_mean and clf._response.method == "predict_proba"


def _write_probabilities(graph: Graph, clf: Any, scores: str) -> None:
    """Write what `predict_proba` returns."""
    if len(clf.classes_) > 2:
        graph.name(graph.add("Softmax", scores, axis=1), _PROBABILITIES)
    elif _is_read_off(clf):
        graph.name(scores, _PROBABILITIES)
    else:
        columns = [
            graph.add("Unsqueeze", graph.add("Sigmoid", one), graph.constant([1], np.int64))
            for one in (graph.add("Neg", scores), scores)
        ]
        graph.name(graph.add("Concat", *columns, axis=1), _PROBABILITIES)


def _decide(graph: Graph, clf: Any, labels: Any, scores: str) -> None:
    """Write what `predict` does."""
    if len(labels) > 2:
        graph.name(graph.add("Add", scores, graph.constant(clf.biases_)), _SCORE)
        winner = graph.add("ArgMax", _SCORE, axis=1, keepdims=0)
    else:
        positive = labels.tolist().index(clf.boundary_.labels[1])
        if clf.boundary_.scale == "probability":
            graph.name(graph.column(_PROBABILITIES, positive), _SCORE)
        else:
            graph.name(scores if positive == 1 else graph.add("Neg", scores), _SCORE)
        above = graph.add("Greater", _SCORE, graph.constant(clf.threshold_))
        winner = graph.cast(above if positive == 1 else graph.add("Not", above), "INT64")
    graph.name(graph.add("Gather", graph.constant(labels, None), winner, axis=0), _LABEL)


def _labels(classes: Any) -> Any:
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


def _assemble(base: Any, graph: Graph, clf: Any, has_probabilities: bool) -> Any:
    """Put our nodes behind the base's, and name the outputs."""
    from onnx import TensorProto, helper

    whole = base.graph
    whole.node.extend(graph.nodes)
    whole.initializer.extend(graph.constants)
    del whole.output[:]
    kinds = {"i": "INT64", "u": "INT64", "b": "BOOL", "f": "DOUBLE"}
    kind = getattr(TensorProto, kinds.get(clf.classes_.dtype.kind, "STRING"))
    if clf.classes_.dtype == np.float32:
        kind = TensorProto.FLOAT
    n = len(clf.classes_)
    shape = [None] if n == 2 else [None, n]
    whole.output.extend(
        [
            helper.make_tensor_value_info(_LABEL, kind, [None]),
            helper.make_tensor_value_info(_SCORE, TensorProto.DOUBLE, shape),
        ]
    )
    if has_probabilities:
        found = helper.make_tensor_value_info(_PROBABILITIES, TensorProto.DOUBLE, [None, n])
        whole.output.append(found)
    domains = {o.domain: o.version for o in base.opset_import} | {"": OPSET}
    if any(node.op_type == "TreeEnsemble" for node in graph.nodes):
        domains[ML_DOMAIN] = _ML_OPSET
    elif any(node.domain == ML_DOMAIN for node in graph.nodes):
        domains.setdefault(ML_DOMAIN, _LABEL_ENCODER_OPSET)
    del base.opset_import[:]
    base.opset_import.extend(helper.make_opsetid(d, v) for d, v in sorted(domains.items()))
    base.ir_version = min(base.ir_version, _IR_VERSION)
    base.producer_name = "boundshift"
    return base


def _convert_steps(graph: Graph, steps: list[Any], X: Any, prefix: str) -> tuple[Any, str]:
    """Return a model of the steps before the classifier, and the name of what they give."""
    from onnx import TensorProto, helper

    rows, inputs = _inputs(steps, X)
    found = write_steps(graph, rows, steps)
    if found is None:
        base = convert(_pipeline(steps), inputs, {}, prefix)
        output = base.graph.output[0]
        single = output.type.tensor_type.elem_type == TensorProto.FLOAT
        graph.rounding = _SINGLE_ROUNDING if single else _DOUBLE_ROUNDING
        return base, output.name
    empty = helper.make_graph([], "boundshift", inputs, [])
    return helper.make_model(empty, opset_imports=[]), found


def _inputs(steps: list[Any], X: Any) -> tuple[Rows, list[Any]]:
    """Return the rows that the first step is given, and the model's inputs."""
    from onnx import TensorProto, helper

    if steps and hasattr(X, "columns"):
        dtypes = [np.asarray(X[name]).dtype for name in X.columns]
        rows = Rows([str(name) for name in X.columns], dtypes, is_array=False)
        kinds = [
            getattr(TensorProto, _KINDS.get(dtype.name, _KINDS.get(dtype.kind, "STRING")))
            for dtype in dtypes
        ]
        named = zip(rows.names, kinds, strict=True)
        return rows, [helper.make_tensor_value_info(name, kind, [None, 1]) for name, kind in named]
    array = np.asarray(X[:1])
    dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)
    width = array.shape[1]
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    given = helper.make_tensor_value_info("X", kind, [None, width])
    return Rows(["X"], [dtype] * width, is_array=True), [given]


def _check_rows(X: Any, steps: list[Any]) -> None:
    """Raise if the rows cannot be the inputs of an ONNX model."""
    if issparse(X):
        raise InvalidInputError("`X` must be dense rows for ONNX, got a sparse matrix.")
    if np.ndim(X) != 2:
        raise InvalidInputError(
            f"`X` must be rows and columns for ONNX, got {np.ndim(X)} dimension(s), such as texts "
            "to be split into words. Export the model behind that step, and pass its numbers."
        )
    if not steps or not hasattr(X, "columns"):
        return
    names = [str(name) for name in X.columns]
    taken = [n for n in names if n in _OUTPUTS or n.startswith(("boundshift_", "converted_"))]
    taken += [n for n in names if names.count(n) > 1]
    if taken:
        raise InvalidInputError(
            f"Columns of `X` must not be called like each other or like the model's outputs "
            f"({', '.join(_OUTPUTS)}) for ONNX, got {taken[0]!r}. Rename the column and fit again."
        )


def _pipeline(steps: list[Any]) -> Pipeline:
    return Pipeline([(f"step{i}", step) for i, step in enumerate(steps)])


def _convert_whole(method: Any, steps: list[Any], last: Any, X: Any, prefix: str) -> Any:
    """Convert a classifier that has no writer here; its second output are its responses."""
    if method == "margin" or is_a(last, "catboost", "CatBoost"):
        raise InvalidInputError(
            f"`estimator` must be a model that ONNX can express, got {type(last).__name__}. Keep "
            "the classifier itself, by boundshift.save or in a file of its library: exporters of "
            "other libraries may lose the shift, as CatBoost's does."
        )
    raw_scores = method == "decision_function"
    options = {"zipmap": False} | ({"raw_scores": True} if raw_scores else {})
    # Options are found by the classifier's id: that of a pipeline around it sets nothing.
    whole = [*steps, last]
    return convert(_pipeline(whole), _inputs(whole, X)[1], {id(last): options}, prefix)


def _response(graph: Graph, output: Any, method: Any) -> str:
    """Write a converter's responses in double; of two margins the second is the model's own."""
    raw = graph.cast(output.name, "DOUBLE")
    shape = [size.dim_value for size in output.type.tensor_type.shape.dim]
    if method == "decision_function" and len(shape) == 2 and shape[1] == 2:
        return graph.add("Gather", raw, graph.constant([1], np.int64), axis=1)
    return raw


def _check(model: Any, clf: Any, part: Any, X: Any) -> None:
    """Raise unless the written model gives our scores and labels on the first rows."""
    import onnx

    onnx.checker.check_model(model, full_check=True)
    rows, outputs = _run(model, unwrap(part).last, X)
    parts = unwrap(clf)
    shifter, seen = parts.last, parts.transform(rows)
    if len(shifter.classes_) == 2:
        ours = shifter.positive_scores(seen)
    else:
        ours = shifter._response.read(shifter.estimator_, seen, shifter.classes_) + shifter.biases_
        ours = _centred(ours)
        outputs[1] = _centred(outputs[1])
    off = np.abs(outputs[1] - ours)
    worst = float(off.max(initial=0.0))
    allowed = _TOLERANCE * max(1.0, float(np.abs(ours).max(initial=0.0)))
    # Where rounding may throw a row to either side, labels need not agree.
    if ours.ndim == 1:
        gap = np.abs(ours - shifter.threshold_)
    else:
        gap = -np.diff(-np.sort(-ours, axis=1)[:, :2])[:, 0]
    is_other = np.asarray(outputs[0]).ravel() != clf.predict(rows)
    if not worst <= allowed or np.any(is_other & (gap > 2 * worst)):
        raise InvalidInputError(
            f"`clf` must be a model whose converter is right, got scores off by {worst:.3g} for "
            f"{type(unwrap(part).last).__name__}. Use a model that is known here, see "
            "boundshift.to_onnx."
        )


def _centred(scores: Any) -> Any:
    """Return differences to the largest score, as far as a float64 probability can tell them."""
    return np.maximum(scores - scores.max(axis=1, keepdims=True), -600.0)


def _run(model: Any, last: Any, X: Any) -> tuple[Any, Any]:
    """Return the first rows and the model's outputs on them, by the engine that will run it."""
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        rows = X[:_CHECKED_BY_REFERENCE]
        return rows, ReferenceEvaluator(model).run(None, _feed(model, rows))
    rows, options = X[:_CHECKED], SessionOptions()
    options.log_severity_level = 4
    try:
        session = InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return rows, session.run(None, _feed(model, rows))
    except Exception as error:
        first_line = str(error).strip().partition("\n")[0]
        raise InvalidInputError(
            f"`clf` must be a model that onnxruntime can run on `X`, got {type(last).__name__} "
            f"({type(error).__name__}: {first_line}). Fill missing texts, and use steps that are "
            "known here, see boundshift.to_onnx."
        ) from None


def _feed(model: Any, X: Any) -> dict[str, Any]:
    """Return rows as the model's inputs."""
    from onnx import helper

    feed = {}
    inputs = list(model.graph.input)
    names = {str(name): name for name in getattr(X, "columns", ())}
    whole = [given.name for given in inputs] == ["X"] and list(names) != ["X"]
    for given in inputs:
        dtype = helper.tensor_dtype_to_np_dtype(given.type.tensor_type.elem_type)
        if whole or not names:
            values = np.asarray(X)
        else:
            values = np.asarray(X[names[given.name]]).reshape(-1, 1)
        feed[given.name] = values.astype(object if dtype == np.object_ else dtype)
    return feed
