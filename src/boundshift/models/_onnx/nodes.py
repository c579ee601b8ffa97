"""ONNX graphs: nodes in double precision, and what skl2onnx converts."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.impute import SimpleImputer

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models._scoring import unwrap

# The newest operators that runtimes of the last two years know.
OPSET, _CONVERTER_ML_OPSET = 18, 3
ML_DOMAIN = "ai.onnx.ml"


class Graph:
    """Nodes and constants that follow those of a converter."""

    def __init__(self) -> None:
        self.rounding = 0.0  # relative error of the features that the nodes are given
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: ArrayLike, dtype: Any = np.float64) -> str:
        """Add a constant and return its name; a dtype of None keeps strings and booleans."""
        from onnx import numpy_helper

        name = f"boundshift_constant_{len(self.constants)}"
        array = np.asarray(values, dtype=dtype, order="C")
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(
        self, op: str, *inputs: str, domain: str = "", output: str = "", **attributes: Any
    ) -> str:
        """Add a node and return the name of its output."""
        from onnx import helper

        name = f"boundshift_{op.lower()}_{len(self.nodes)}"
        output = output or name
        node = helper.make_node(op, list(inputs), [output], name=name, domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def cast(self, value: str, kind: str) -> str:
        """Cast to "DOUBLE", "FLOAT" or "INT64"."""
        from onnx import TensorProto

        return self.add("Cast", value, to=getattr(TensorProto, kind))

    def affine(self, value: str, weights: NDArray[Any], intercept: ArrayLike) -> str:
        """Add ``value @ weights + intercept``."""
        product = self.add("MatMul", value, self.constant(weights))
        return self.add("Add", product, self.constant(np.atleast_1d(np.asarray(intercept))))

    def column(self, value: str, index: int = 0) -> str:
        """Add a column as a vector."""
        return self.add("Gather", value, self.constant(index, np.int64), axis=1)


def require(name: str) -> None:
    """Import a library of the extra, or raise and name it."""
    try:
        importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(name, "onnx") from None


# skl2onnx imputes in float32, in which a large column would lose its last digits.


def _imputed_shape(operator: Any) -> None:
    from skl2onnx.common import data_types

    step, kinds = operator.raw_operator, {type(one.type) for one in operator.inputs}
    fill = np.asarray(step.statistics_)
    is_number = fill.dtype.kind in "biuf" and not np.isnan(fill).any()
    if step.add_indicator or not is_number or step.missing_values is not np.nan:
        raise NotImplementedError("an imputer of other than missing numbers")
    is_single = kinds == {data_types.FloatTensorType}
    kind = data_types.FloatTensorType if is_single else data_types.DoubleTensorType
    operator.outputs[0].type = kind([None, len(fill)])


def _write_imputer(scope: Any, operator: Any, container: Any) -> None:
    from onnx import TensorProto
    from skl2onnx.common.data_types import FloatTensorType

    is_single = isinstance(operator.outputs[0].type, FloatTensorType)
    kind = TensorProto.FLOAT if is_single else TensorProto.DOUBLE

    def add(op: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        output = output or scope.get_unique_variable_name(op)
        container.add_node(op, inputs, output, op_version=OPSET, name=output, **attributes)
        return output

    columns = [add("Cast", [one.full_name], to=kind) for one in operator.inputs]
    x = add("Concat", columns, axis=1)
    fill = scope.get_unique_variable_name("fill")
    values = np.asarray(operator.raw_operator.statistics_, dtype=np.float64).tolist()
    container.add_initializer(fill, kind, [len(values)], values)
    add("Where", [add("IsNaN", [x]), fill, x], operator.outputs[0].full_name)


def convert(model: Any, inputs: list[Any], options: dict[int, Any], prefix: str) -> Any:
    """Convert by skl2onnx in the precision of the inputs, or in float32 if there is no double.

    All names but those of the inputs get the prefix, so that several models fit into one graph.
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
    reason, whole, double, single = "", TensorProto.INT64, TensorProto.DOUBLE, TensorProto.FLOAT
    own = {
        "custom_shape_calculators": {SimpleImputer: _imputed_shape},
        "custom_conversion_functions": {SimpleImputer: _write_imputer},
    }
    # Some converters want all columns of one type, and some know no double.
    attempts: list[tuple[dict[int, int], dict[str, Any]]]
    attempts = [({}, own), ({whole: double}, own), ({whole: single, double: single}, {})]
    for narrow, custom in attempts:
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
                    **custom,
                )
            onnx.checker.check_model(base, full_check=True)
            if importlib.util.find_spec("onnxruntime"):  # It lacks some operators for doubles.
                from onnxruntime import InferenceSession

                InferenceSession(base.SerializeToString(), providers=["CPUExecutionProvider"])
            break
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    else:
        raise InvalidInputError(
            "`clf` must be a model that skl2onnx can convert, got "
            f"{type(unwrap(model).last).__name__} ({reason}). Use one of the models that "
            "boundshift.to_onnx names."
        )
    base = onnx.compose.add_prefix(base, prefix)
    for (name, kind), narrowed in zip(given, base.graph.input, strict=True):
        target = narrowed.type.tensor_type.elem_type
        op, to = ("Identity", {}) if target == kind.elem_type else ("Cast", {"to": target})
        base.graph.node.insert(0, helper.make_node(op, [name], [narrowed.name], **to))
    del base.graph.input[:]
    base.graph.input.extend(inputs)
    return base
