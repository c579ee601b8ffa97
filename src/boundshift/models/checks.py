"""Checks of a skops file before it is opened, and of a model before it is used.

A small file can expand to gigabytes, and compiled code follows the indices of a tree without bounds
checks. So sizes and structures are checked here.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError

__all__ = ["check_archive", "check_model"]

_MOST_MEMBERS = 100_000
_MOST_TIMES_LARGER = 100
_ALWAYS_ALLOWED = 64 << 20
_LARGEST_SCHEMA = 48 << 20
_MOST_VALUES = 1_000_000
_DEEPEST = 200
_MOST_OUTPUTS = 10_000


def check_archive(content: bytes) -> None:
    """Raise if a file would expand far beyond its size, or declares arrays it does not hold.

    Raises
    ------
    InvalidInputError
        With the limit and what was found.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            limit = max(_ALWAYS_ALLOWED, _MOST_TIMES_LARGER * len(content))
            _check_members(archive, limit)
            _check_schema(archive)
    except InvalidInputError:
        raise
    except Exception as error:  # A damaged archive fails in many ways.
        raise _unreadable(repr(error)) from error


def _unreadable(why: str) -> InvalidInputError:
    """Return the error for a file that `save` did not write."""
    return InvalidInputError(
        f"`path` must be a file of boundshift.save, got one that skops cannot read: "
        f"{why[:200]}. "
        "Save the model again."
    )


def _check_members(archive: zipfile.ZipFile, limit: int) -> None:
    """Raise if an archive has too many or too large members, or arrays of a wrong size."""
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if len(members) > _MOST_MEMBERS or total > limit:
        raise InvalidInputError(
            f"A stored model must have at most {_MOST_MEMBERS} parts and open into at most "
            f"{limit >> 20} MB, got {len(members)} parts of {total >> 20} MB in all. It is "
            "damaged, or made to exhaust memory."
        )
    if len({member.filename for member in members}) < len(members):
        raise _unreadable("a part is there twice")
    for member in members:
        if member.filename.endswith(".npy"):
            with archive.open(member) as part:
                _array_shape(part, member.file_size)
        elif member.filename.endswith(".npz"):
            with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
                _check_members(inner, limit)


def _array_shape(part: Any, size: int) -> tuple[int, ...]:
    """Return the shape of an array in a file; raise unless it has that many bytes."""
    version = np.lib.format.read_magic(part)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in read:
        raise _unreadable(f"an array of version {version}")
    shape, _, dtype = read[version](part)
    claimed = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if dtype.hasobject or any(n < 0 for n in shape) or part.tell() + claimed != size:
        raise _unreadable(f"an array of shape {shape} and type {dtype} that is not there")
    return tuple(shape)


def _check_schema(archive: zipfile.ZipFile) -> None:
    """Raise if the schema is too large, too deep, or has a malformed tree."""
    size = archive.getinfo("schema.json").file_size
    text = archive.read("schema.json") if size <= _LARGEST_SCHEMA else b""
    values = sum(text.count(sign) for sign in b",{[") if text else 0
    if size > _LARGEST_SCHEMA or values > _MOST_VALUES:
        raise InvalidInputError(
            f"A stored model must be described in at most {_LARGEST_SCHEMA >> 20} MB and "
            f"{_MOST_VALUES} values, got {size >> 20} MB and {values}. It is damaged, or made to "
            "exhaust memory."
        )
    waiting: list[tuple[Any, int]] = [(json.loads(text), 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _DEEPEST:
            raise _unreadable(f"objects nested more than {_DEEPEST} deep")
        if isinstance(node, dict):
            if node.get("__class__") == "Tree" and "__reduce__" in node:
                _check_tree_arguments(archive, node)
            waiting += [(inner, depth + 1) for inner in node.values()]
        elif isinstance(node, list):
            waiting += [(inner, depth + 1) for inner in node]


def _check_tree_arguments(archive: zipfile.ZipFile, node: dict[str, Any]) -> None:
    """Raise unless a tree has one number of classes per output."""
    features, classes, outputs = node["__reduce__"]["args"]["content"]
    n_features, n_outputs = int(features["content"]), int(outputs["content"])
    member = archive.getinfo(classes["file"])
    with archive.open(member) as part:
        shape = _array_shape(part, member.file_size)
    if n_features < 1 or not 1 <= n_outputs <= _MOST_OUTPUTS or shape != (n_outputs,):
        raise _unreadable(f"a tree of {n_outputs} outputs with {shape} numbers of classes")


def check_model(model: Any) -> None:
    """Raise if a structure inside a model would lead compiled code out of its arrays.

    Checked are trees, forests and boosting of scikit-learn, and its support vector machines.

    Raises
    ------
    InvalidInputError
        With what is wrong.
    """
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.tree._tree import Tree

    try:
        found = list(_everything_in(model))
        owned = {id(tree) for thing in found for tree in _check_one(thing)}
        # Used by itself, a tree would not look whether rows have the columns that it asks for.
        if any(
            isinstance(thing, Tree | TreePredictor) and id(thing) not in owned for thing in found
        ):
            raise _wrong("a tree belongs to no model")
    except InvalidInputError:
        raise
    except Exception as error:  # Attributes that are missing or of another type.
        raise InvalidInputError(
            f"The model must be whole, and is not: {str(error)[:200]!r}. Save it again."
        ) from error


def _everything_in(model: Any) -> Iterator[Any]:
    """Yield all objects inside an object, each once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, str | bytes | int | float | type):
            continue
        seen.add(id(thing))
        yield thing
        if isinstance(thing, dict):
            waiting += [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting += thing
        elif isinstance(thing, np.ndarray):
            waiting += thing.ravel().tolist() if thing.dtype.hasobject else []
        else:
            waiting += vars(thing).values() if hasattr(thing, "__dict__") else []


def _check_one(thing: Any) -> list[Any]:
    """Check one object, if it is of a kind that compiled code trusts; return its own trees."""
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._gb import BaseGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import (
        BaseHistGradientBoosting,
    )
    from sklearn.svm._base import BaseLibSVM
    from sklearn.tree import BaseDecisionTree

    if isinstance(thing, BaseDecisionTree) and hasattr(thing, "tree_"):
        _check_tree(thing.tree_, int(thing.n_features_in_))
        return [thing.tree_]
    if isinstance(thing, BaseHistGradientBoosting) and hasattr(thing, "_predictors"):
        _check_boosting(thing)
        return [tree for step in thing._predictors for tree in step]
    if isinstance(thing, BaseForest | BaseGradientBoosting) and hasattr(thing, "estimators_"):
        _check_ensemble(thing)
    elif isinstance(thing, BaseLibSVM) and hasattr(thing, "support_vectors_"):
        _check_vectors(thing)
    return []


def _wrong(what: str) -> InvalidInputError:
    """Return the error for a structure that no training makes."""
    return InvalidInputError(
        f"A stored model must be as training makes it, and {what}. It is damaged, or made to "
        "crash the program that uses it: train it again."
    )


def _check_tree(tree: Any, n_features: int) -> None:
    """Raise unless children and features of all nodes are in range."""
    n = int(tree.node_count)
    if not 1 <= n <= int(tree.capacity):
        raise _wrong(f"a tree has {n} nodes in {tree.capacity} places")
    state = tree.__getstate__()
    nodes = state["nodes"]
    inner = nodes["left_child"] != -1
    _check_nodes(nodes["left_child"], nodes["right_child"], nodes["feature"], inner, n_features)
    if len(state["values"]) != n or int(tree.n_features) != n_features:
        raise _wrong("a tree has another number of values or features than its model")


def _check_nodes(left: Any, right: Any, feature: Any, inner: Any, n_features: int) -> None:
    """Raise unless children follow their parents and features are in range."""
    place = np.arange(len(left))[inner]
    for child in (left[inner].astype(np.int64), right[inner].astype(np.int64)):
        if (child <= place).any() or (child >= len(left)).any():
            raise _wrong("a tree leads back, or out of itself")
    found = feature[inner].astype(np.int64)
    if (found < 0).any() or (found >= n_features).any():
        raise _wrong(f"a tree asks for a column beyond its {n_features}")


def _check_ensemble(ensemble: Any) -> None:
    """Raise unless all trees have the ensemble's features and outputs."""
    members = np.asarray(ensemble.estimators_, dtype=object)
    if any(int(m.n_features_in_) != int(ensemble.n_features_in_) for m in members.ravel()):
        raise _wrong("a tree reads other columns than its forest")
    width = getattr(ensemble, "n_trees_per_iteration_", None)
    if members.ndim == 2 and width is not None and members.shape[1] != width:
        raise _wrong("boosting has another number of trees a step than of sums")


def _check_boosting(model: Any) -> None:
    """Raise unless nodes, features and categories of histogram boosting are in range."""
    n_features = int(model.n_features_in_)
    for step in model._predictors:
        if len(step) != int(model.n_trees_per_iteration_):
            raise _wrong("boosting has another number of trees a step than of sums")
        for tree in step:
            nodes = tree.nodes
            inner = nodes["is_leaf"] == 0
            if len(nodes) < 1:
                raise _wrong("a tree has no nodes")
            _check_nodes(nodes["left"], nodes["right"], nodes["feature_idx"], inner, n_features)
            by_category = inner & (nodes["is_categorical"] != 0)
            rows = len(tree.raw_left_cat_bitsets)
            if by_category.any() and int(nodes["bitset_idx"][by_category].max()) >= rows:
                raise _wrong("a tree asks for categories that it does not have")
    mapper = model._bin_mapper
    if len(mapper.is_categorical_) != n_features or len(mapper.bin_thresholds_) != n_features:
        raise _wrong("boosting has bins of another number of columns")


def _check_vectors(model: Any) -> None:
    """Raise unless the arrays of a support vector machine have consistent shapes."""
    n_classes, n_vectors = len(model._n_support), int(np.sum(model._n_support))
    pairs = n_classes * (n_classes - 1) // 2
    classifies = hasattr(model, "classes_")
    coefficients = model._dual_coef_.shape
    if (
        (np.asarray(model._n_support) < 0).any()
        or model.support_vectors_.shape != (n_vectors, int(model.n_features_in_))
        or (classifies and coefficients != (n_classes - 1, n_vectors))
        or (classifies and len(model._intercept_) != pairs)
        or any(len(p) not in (0, pairs) for p in (model._probA, model._probB) if classifies)
    ):
        raise _wrong("a support vector machine has not what its vectors need")
