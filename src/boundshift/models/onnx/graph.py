"""A small writer of ONNX graphs: constants, nodes, names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ML_DOMAIN", "Graph"]

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
