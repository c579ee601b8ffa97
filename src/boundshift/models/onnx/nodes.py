"""ONNX graphs: nodes in double precision, steps before a classifier, and what skl2onnx converts.

A converter that multiplies where scikit-learn divides rounds the last digit of a float32 otherwise,
and a row that lies on a tree's split takes the other branch. Operators that put columns side by
side or fill gaps compute in float32 whatever they are given: a column near 10 million would lose
its last digits. So the usual steps are written here, in scikit-learn's own precision.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models.scoring import is_a, look_up, unwrap

__all__ = ["Graph", "Rows", "convert", "find_writer", "require", "write_steps"]

# The newest operators that runtimes of the last two years know.
OPSET, _CONVERTER_ML_OPSET = 18, 3
ML_DOMAIN = "ai.onnx.ml"
_PREFIX = "boundshift"


class Graph:
    """Nodes and constants that are added to a model, in double precision.

    Parameters
    ----------
    rounding : float, default=0
        Relative error of the features that the nodes are given.
    """

    def __init__(self, rounding: float = 0.0) -> None:
        self.rounding = rounding
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: ArrayLike, dtype: Any = np.float64) -> str:
        """Add a constant and return its name; None keeps the type of strings and booleans."""
        from onnx import numpy_helper

        name = f"{_PREFIX}_constant_{len(self.constants)}"
        array = np.ascontiguousarray(np.asarray(values, dtype=dtype))
        if np.ndim(values) == 0:
            array = array.reshape(())
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        from onnx import helper

        name = f"{_PREFIX}_{op.lower()}_{len(self.nodes)}"
        node = helper.make_node(op, list(inputs), [name], name=name, domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def name(self, value: str, output: str) -> None:
        """Give a value the name of an output."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [value], [output]))

    def cast(self, value: str, kind: str) -> str:
        """Cast to "DOUBLE", "FLOAT" or "INT64"."""
        from onnx import TensorProto

        return self.add("Cast", value, to=getattr(TensorProto, kind))

    def affine(self, value: str, weights: NDArray[Any], intercept: ArrayLike) -> str:
        """Return ``value @ weights + intercept``."""
        product = self.add("MatMul", value, self.constant(weights))
        return self.add("Add", product, self.constant(np.atleast_1d(np.asarray(intercept))))

    def column(self, value: str, index: int = 0) -> str:
        """Return one column as a vector."""
        return self.add("Gather", value, self.constant(index, np.int64), axis=1)


# Classifiers.


def find_writer(model: Any, method: Any) -> Callable[[Graph, str, Any], str] | None:
    """Return what writes the response `method` of a model, or None if there is nothing of ours."""
    from boundshift.models.onnx import trees

    if method == "predict_proba":
        forests = (("sklearn", "ForestClassifier"), ("sklearn", "DecisionTreeClassifier"))
        return look_up(model, dict.fromkeys(forests, trees.forest))
    return look_up(
        model,
        {
            ("sklearn", "LinearClassifierMixin"): _linear,
            ("sklearn", "MLPClassifier"): _network,
            ("sklearn", "GradientBoostingClassifier"): trees.gradient_boosting,
            ("sklearn", "HistGradientBoostingClassifier"): trees.hist_gradient_boosting,
            ("xgboost", "XGBClassifier"): trees.xgboost,
            ("xgboost", "Booster"): trees.xgboost,
            ("lightgbm", "LGBMClassifier"): trees.lightgbm,
            ("lightgbm", "Booster"): trees.lightgbm,
        },
    )


def _linear(graph: Graph, x: str, model: Any) -> str:
    return graph.affine(x, np.atleast_2d(model.coef_).T, model.intercept_)


def _network(graph: Graph, x: str, model: Any) -> str:
    names = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "identity": "Identity"}
    last = len(model.coefs_) - 1
    for i, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        x = graph.affine(x, weights, bias)
        x = graph.add(names[model.activation], x) if i < last else x
    return x


# Steps before a classifier.


class UnknownStepError(Exception):
    """A step, or a setting of it, is not written here."""


@dataclass(frozen=True)
class Rows:
    """What a step is given: one array, or the columns of a frame.

    Parameters
    ----------
    names : sequence of str
        Of the one array, or of an input for each column.
    dtypes : sequence of dtype
        Of each column.
    is_array : bool
        Whether all columns are in one array.
    """

    names: Sequence[str]
    dtypes: Sequence[Any]
    is_array: bool

    def column(self, graph: Graph, index: int) -> str:
        """Return one column, of shape (n, 1)."""
        if not self.is_array:
            return self.names[index]
        return graph.add("Gather", self.names[0], graph.constant([index], np.int64), axis=1)

    def precision(self, indices: Sequence[int]) -> Any:
        """Return what scikit-learn computes in with these columns."""
        if any(self.dtypes[i].kind not in "biuf" for i in indices):
            raise UnknownStepError
        return np.float32 if all(self.dtypes[i] == np.float32 for i in indices) else np.float64

    def matrix(self, graph: Graph, indices: Sequence[int]) -> str:
        """Return columns of numbers side by side, as they are rounded for computing."""
        kind = "FLOAT" if self.precision(indices) == np.float32 else "DOUBLE"
        if self.is_array:
            chosen = self.names[0]
            if list(indices) != list(range(len(self.dtypes))):
                chosen = graph.add("Gather", chosen, graph.constant(indices, np.int64), axis=1)
            return graph.cast(chosen, kind)
        columns = [graph.cast(self.names[i], kind) for i in indices]
        return graph.add("Concat", *columns, axis=1)


def write_steps(graph: Graph, rows: Rows, steps: list[Any]) -> str | None:
    """Write transformers one after the other, or return None if one of them is not known here."""
    n_nodes, n_constants = len(graph.nodes), len(graph.constants)
    try:
        return _chain(graph, rows, range(len(rows.dtypes)), steps)
    except UnknownStepError:
        del graph.nodes[n_nodes:], graph.constants[n_constants:]
        return None


def _chain(graph: Graph, rows: Rows, indices: Sequence[int], steps: list[Any]) -> str:
    """Write steps on some of the columns."""
    if steps and is_a(steps[0], "sklearn", "ColumnTransformer"):
        x, dtype = _side_by_side(graph, rows, steps[0]), np.float64
        steps = steps[1:]
    elif steps and is_a(steps[0], "sklearn", "OneHotEncoder"):
        x, dtype = _one_hot(graph, rows, indices, steps[0]), np.float64
        steps = steps[1:]
    else:
        x, dtype = rows.matrix(graph, indices), rows.precision(indices)
    for step in steps:
        write = look_up(step, _WRITERS)
        if write is None:
            raise UnknownStepError
        x = write(graph, x, step, dtype)
    return x


def _side_by_side(graph: Graph, rows: Rows, step: Any) -> str:
    """Write the parts of a ColumnTransformer and what they give, next to each other."""
    if step.transformer_weights:
        raise UnknownStepError
    parts = []
    for name, transformer, _ in step.transformers_:
        indices = list(step._transformer_to_input_indices[name])
        if not indices or (isinstance(transformer, str) and transformer == "drop"):
            continue
        if isinstance(transformer, str):
            inner = []
        elif is_a(transformer, "sklearn", "Pipeline"):
            inner = [last for _, last in transformer.steps if last not in (None, "passthrough")]
        else:
            inner = [transformer]
        if any(is_a(last, "sklearn", "ColumnTransformer") for last in inner):
            raise UnknownStepError
        parts.append(graph.cast(_chain(graph, rows, indices, inner), "DOUBLE"))
    if not parts:
        raise UnknownStepError
    return graph.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]


def _one_hot(graph: Graph, rows: Rows, indices: Sequence[int], step: Any) -> str:
    """Write a column of zeros and ones for each category."""
    infrequent = any(i is not None for i in getattr(step, "infrequent_categories_", None) or [])
    if infrequent or np.dtype(step.dtype) != np.float64:
        raise UnknownStepError
    drops = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(indices)
    parts = []
    for index, categories, drop in zip(indices, step.categories_, drops, strict=True):
        column = _numbered(graph, rows, index, categories)
        kept = [k for k in range(len(categories)) if k != drop]
        if kept:
            same = graph.add("Equal", column, graph.constant(np.array([kept]), np.int64))
            parts.append(graph.cast(same, "DOUBLE"))
    if not parts:
        raise UnknownStepError
    return graph.add("Concat", *parts, axis=1)


def _numbered(graph: Graph, rows: Rows, index: int, categories: Any) -> str:
    """Write the number of each row's category, -1 for an unseen one."""
    column = rows.column(graph, index)
    if all(isinstance(category, str) for category in categories):
        if rows.dtypes[index].kind in "biuf":
            raise UnknownStepError
        return graph.add(
            "LabelEncoder",
            column,
            domain=ML_DOMAIN,
            keys_strings=list(categories),
            values_int64s=list(range(len(categories))),
            default_int64=-1,
        )
    if np.asarray(categories).dtype.kind not in "biuf" or rows.dtypes[index].kind not in "biuf":
        raise UnknownStepError
    values = np.asarray(categories, dtype=np.float64)
    if not np.isfinite(values).all():
        raise UnknownStepError
    same = graph.add("Equal", graph.cast(column, "DOUBLE"), graph.constant(values[None]))
    places = graph.constant(np.arange(1, len(values) + 1)[:, None], np.float64)
    place = graph.add("MatMul", graph.cast(same, "DOUBLE"), places)
    return graph.cast(graph.add("Sub", place, graph.constant(1.0)), "INT64")


def _standard(graph: Graph, x: str, step: Any, dtype: Any) -> str:
    if step.with_mean:
        x = graph.add("Sub", x, graph.constant(step.mean_, dtype))
    if step.with_std:
        x = graph.add("Div", x, graph.constant(step.scale_, dtype))
    return x


def _min_max(graph: Graph, x: str, step: Any, dtype: Any) -> str:
    x = graph.add("Mul", x, graph.constant(step.scale_, dtype))
    x = graph.add("Add", x, graph.constant(step.min_, dtype))
    if step.clip:
        low, high = (graph.constant(np.array(end), dtype) for end in step.feature_range)
        x = graph.add("Clip", x, low, high)
    return x


def _imputed(graph: Graph, x: str, step: Any, dtype: Any) -> str:
    """Write what fills the gaps; columns that were empty in training are dropped as there."""
    fill = np.asarray(step.statistics_)
    missing = step.missing_values
    if step.add_indicator or fill.dtype.kind not in "biuf" or isinstance(missing, str):
        raise UnknownStepError
    if missing is None or not isinstance(missing, int | float):
        raise UnknownStepError
    known = ~np.isnan(fill.astype(np.float64))
    if not known.all():
        if step.keep_empty_features:
            raise UnknownStepError
        x = graph.add("Gather", x, graph.constant(np.flatnonzero(known), np.int64), axis=1)
    if np.isnan(missing):
        gap = graph.add("IsNaN", x)
    else:
        gap = graph.add("Equal", x, graph.constant(np.array(missing), dtype))
    return graph.add("Where", gap, graph.constant(fill[known], dtype), x)


def _same(graph: Graph, x: str, step: Any, dtype: Any) -> str:
    if step.func is not None:
        raise UnknownStepError
    return x


_WRITERS: dict[tuple[str, str], Callable[[Graph, str, Any, Any], str]] = {
    ("sklearn", "StandardScaler"): _standard,
    ("sklearn", "MinMaxScaler"): _min_max,
    ("sklearn", "SimpleImputer"): _imputed,
    ("sklearn", "FunctionTransformer"): _same,
}


# Steps and classifiers that skl2onnx converts, in the widest precision they have.


def require(*names: str) -> None:
    """Import libraries of the extra, or raise and name it."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            raise MissingExtraError(name, "onnx") from None


def convert(model: Any, inputs: list[Any], options: dict[int, Any], prefix: str) -> Any:
    """Convert by skl2onnx in the precision of the inputs, or in float32 where that cannot be.

    All names but those of the inputs start with the prefix, so that several can stand together.
    """
    require("skl2onnx")
    import onnx.compose
    from onnx import TensorProto, helper
    from skl2onnx import convert_sklearn
    from skl2onnx.common import data_types

    kinds = {
        TensorProto.FLOAT: data_types.FloatTensorType,
        TensorProto.DOUBLE: data_types.DoubleTensorType,
        TensorProto.INT64: data_types.Int64TensorType,
        TensorProto.BOOL: data_types.BooleanTensorType,
        TensorProto.STRING: data_types.StringTensorType,
    }
    given = [(one.name, one.type.tensor_type) for one in inputs]
    reason = ""
    for narrow in ({}, {TensorProto.DOUBLE: TensorProto.FLOAT}):
        types = [
            (name, kinds[narrow.get(t.elem_type, t.elem_type)]([None, t.shape.dim[1].dim_value]))
            for name, t in given
        ]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                base = convert_sklearn(
                    model,
                    initial_types=types,
                    options=options or None,
                    target_opset={"": OPSET, ML_DOMAIN: _CONVERTER_ML_OPSET},
                )
            onnx.checker.check_model(base, full_check=True)
            if importlib.util.find_spec("onnxruntime"):  # It lacks some operators for doubles.
                from onnxruntime import InferenceSession

                InferenceSession(base.SerializeToString(), providers=["CPUExecutionProvider"])
            break
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    else:
        kind = type(unwrap(model).last).__name__
        raise InvalidInputError(
            f"`clf` must be a model that skl2onnx can convert, got {kind} ({reason}). Use a model "
            "that is known here, see boundshift.to_onnx."
        )
    base = onnx.compose.add_prefix(base, prefix)
    for (name, kind), narrowed in zip(given, base.graph.input, strict=True):
        target = narrowed.type.tensor_type.elem_type
        op, to = ("Identity", {}) if target == kind.elem_type else ("Cast", {"to": target})
        base.graph.node.insert(0, helper.make_node(op, [name], [narrowed.name], **to))
    del base.graph.input[:]
    base.graph.input.extend(inputs)
    return base
