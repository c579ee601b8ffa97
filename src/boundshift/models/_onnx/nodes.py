"""ONNX graphs: nodes in double precision, and what skl2onnx converts."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models._scoring import unwrap

# The newest operators that runtimes of the last two years know.
OPSET, _CONVERTER_ML_OPSET = 18, 3
ML_DOMAIN = "ai.onnx.ml"
# Types as ONNX and as skl2onnx name them.
_TYPES = {
    "FLOAT": "Float", "DOUBLE": "Double", "INT64": "Int64", "BOOL": "Boolean", "STRING": "String",
}  # fmt: skip
# Some converters want all columns of one type, and some know no double.
_NARROWER: tuple[dict[str, str], ...] = (
    {}, {"INT64": "DOUBLE"}, {"INT64": "FLOAT", "DOUBLE": "FLOAT"},
)  # fmt: skip


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
        outputs = [output, f"{name}_places"] if op == "TopK" else [output]
        node = helper.make_node(op, list(inputs), outputs, name=name, domain=domain, **attributes)
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


class Input(NamedTuple):
    """An input of the model: its name, the name of its type in ONNX, its number of columns."""

    name: str
    kind: str
    width: int

    def declare(self) -> Any:
        """Return it as ONNX declares it."""
        from onnx import TensorProto, helper

        kind = getattr(TensorProto, self.kind)
        return helper.make_tensor_value_info(self.name, kind, [None, self.width])


def convert(model: Any, inputs: list[Input], options: dict[int, Any], prefix: str) -> Any:
    """Convert by skl2onnx in the precision of the inputs, or in float32 if there is no double.

    All names but those of the inputs get the prefix, so that several models fit into one graph.
    """
    try:
        import skl2onnx
    except ImportError:
        raise MissingExtraError("skl2onnx", "onnx") from None
    import onnx.compose
    from onnx import helper
    from onnxruntime import InferenceSession
    from skl2onnx.common import data_types

    reason = ""
    for narrower in _NARROWER:
        types = []
        for name, kind, width in inputs:
            of = getattr(data_types, _TYPES[narrower.get(kind, kind)] + "TensorType")
            types.append((name, of([None, width])))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                base = skl2onnx.convert_sklearn(
                    model,
                    initial_types=types,
                    options=options or None,
                    target_opset={"": OPSET, ML_DOMAIN: _CONVERTER_ML_OPSET},
                )
            onnx.checker.check_model(base, full_check=True)
            # onnxruntime lacks some operators for doubles.
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
    for one, narrowed in zip(inputs, base.graph.input, strict=True):
        to = narrowed.type.tensor_type.elem_type
        cast = helper.make_node("Cast", [one.name], [narrowed.name], to=to)
        base.graph.node.insert(0, cast)
    del base.graph.input[:]
    base.graph.input.extend(one.declare() for one in inputs)
    return base
