"""skl2onnx: steps and classifiers that are not written here, in the widest precision they have."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models.margins import innermost
from boundshift.models.onnx.graph import ML_DOMAIN

__all__ = ["OPSET", "convert", "require"]

# The newest operators that runtimes of the last two years know.
OPSET, _CONVERTER_ML_OPSET = 18, 3


def require(*names: str) -> None:
    """Import libraries of the extra, or raise and name it."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            raise MissingExtraError(name, "onnx") from None


def convert(model: Any, X: Any, options: dict[int, Any], prefix: str = "converted_") -> Any:
    """Convert by skl2onnx in the precision of X, or in float32 where that cannot be.

    All names but those of the inputs start with the prefix, so that several can stand together.
    """
    require("skl2onnx")
    import onnx.compose
    from skl2onnx import convert_sklearn

    reasons = []
    for narrow in (False, True):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                base = convert_sklearn(
                    model,
                    initial_types=_types(X, narrow),
                    options=options or None,
                    target_opset={"": OPSET, ML_DOMAIN: _CONVERTER_ML_OPSET},
                )
            onnx.checker.check_model(base, full_check=True)
            _start(base)
            return _widen(onnx.compose.add_prefix(base, prefix), _types(X, False))
        except Exception as error:
            first_line = str(error).strip().partition("\n")[0]
            reasons.append(f"{type(error).__name__}: {first_line}")
    raise InvalidInputError(
        f"`clf` must be a model that skl2onnx can convert, got {type(innermost(model)).__name__} "
        f"({reasons[-1]}). Use a model that is known here, see boundshift.to_onnx."
    )


def _start(base: Any) -> None:
    """Start the model if onnxruntime is there, which lacks some operators for doubles."""
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        return
    InferenceSession(base.SerializeToString(), providers=["CPUExecutionProvider"])


def _widen(base: Any, inputs: list[tuple[str, Any]]) -> Any:
    """Give a converted model the inputs that X has; casts narrow those that it has narrower."""
    from onnx import helper

    given = []
    for (name, kind), narrow in zip(inputs, base.graph.input, strict=True):
        element = kind.to_onnx_type().tensor_type.elem_type
        dims = [None, kind.shape[1]]
        given.append(helper.make_tensor_value_info(name, element, dims))
        target = narrow.type.tensor_type.elem_type
        cast = helper.make_node("Cast", [name], [narrow.name], to=target)
        same = helper.make_node("Identity", [name], [narrow.name])
        base.graph.node.insert(0, same if element == target else cast)
    del base.graph.input[:]
    base.graph.input.extend(given)
    return base


def _types(X: Any, narrow: bool) -> list[tuple[str, Any]]:
    """Return the inputs: one array, or one column after the other."""
    from skl2onnx.common import data_types as types

    def numbers(dtype: Any, width: int) -> Any:
        single = narrow or dtype == np.float32
        return (types.FloatTensorType if single else types.DoubleTensorType)([None, width])

    if not hasattr(X, "columns"):
        array = np.asarray(X)
        return [("X", numbers(array.dtype, array.shape[1]))]
    inputs = []
    for name in X.columns:
        column, name = np.asarray(X[name]), str(name)
        if column.dtype.kind in "iu":
            inputs.append((name, types.Int64TensorType([None, 1])))
        elif column.dtype.kind == "f":
            inputs.append((name, numbers(column.dtype, 1)))
        elif column.dtype.kind == "b":
            inputs.append((name, types.BooleanTensorType([None, 1])))
        else:
            inputs.append((name, types.StringTensorType([None, 1])))
    return inputs
