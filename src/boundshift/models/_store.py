"""Files that are safe to load: `save` and `load`.

A boundary is stored as JSON and a model as a skops file. Unlike a pickle, a skops file runs only
code of trusted types. docs/formats.md describes both.

A fitted classifier's state is stored as plain values, so that its file holds no type of ours: a
record becomes a dict with its class's name under "record"; a dict with tuples as keys, which JSON
cannot have, a list.

Even trusted types can be abused: a small file can expand to gigabytes, and compiled code follows
the indices of a tree without bounds checks. So sizes are checked before a file is opened, and
structures before a model is used.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn import model_selection

from boundshift._boundary import Boundary
from boundshift._promises.certificate import Certificate
from boundshift._result.records import check_format
from boundshift._writing import is_special, write_whole
from boundshift.curves import CURVES, SLSQP, Exact
from boundshift.curves._clusters import Betting
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models._fingerprint import Fingerprint
from boundshift.models._scoring import Response
from boundshift.rules import RULES

_FORMAT = "boundshift.object"
_VERSION = 3
_ZIP = b"PK\x03\x04"
_OLDEST_SKOPS = (0, 12)
# Limits of a file that is opened.
_MOST_MEMBERS, _MOST_TIMES_LARGER, _ALWAYS_ALLOWED = 100_000, 100, 64 << 20
_LARGEST_SCHEMA, _MOST_VALUES, _DEEPEST, _MOST_OUTPUTS = 48 << 20, 1_000_000, 200, 10_000
# Our types, and what fitted models of scikit-learn are made of beyond what skops trusts, by module.
# Loading them runs no code of the file.
_TRUSTED = {
    "boundshift._classifier": "BoundShiftClassifier",
    "boundshift.models._mean": "MeanOfModels",
    "numpy": "dtype",
    "sklearn._loss.link": "HalfLogitLink Interval LogitLink MultinomialLogit",
    "sklearn._loss.loss": "ExponentialLoss HalfBinomialLoss HalfMultinomialLoss",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
    "sklearn.compose._column_transformer": "_RemainderColsList",
    "sklearn.ensemble._hist_gradient_boosting.binning": "_BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.feature_selection._mutual_info": "mutual_info_classif",
    "sklearn.feature_selection._univariate_selection": "chi2 f_classif",
    "sklearn.gaussian_process._gpc": "_BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels": "ConstantKernel Matern Product RBF Sum WhiteKernel",
    "sklearn.metrics._scorer": "_PassthroughScorer",
    "sklearn.multiclass": "_ConstantPredictor",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.tree._tree": "Tree",
    "sklearn.utils._bunch": "Bunch",
}


def save(obj: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Store a boundary or a fitted model in a file that is safe to load.

    Parameters
    ----------
    obj : Boundary or estimator
        A boundary is written as JSON; a :class:`~boundshift.BoundShiftClassifier`, or a pipeline or
        a search with one in it, as a skops file.
    path : str or path
        Where to write; ".json" and ".skops" are the usual extensions.
    overwrite : bool, default=False
        Whether to replace an existing file.

    Returns
    -------
    Path
        The path written to. The write is atomic.

    Raises
    ------
    InvalidInputError
        If the file exists, or the object cannot be stored safely.
    MissingExtraError
        If a model is given and skops is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import boundshift
    >>> boundary = boundshift.find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 5, 6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = boundshift.save(boundary, Path(folder) / "boundary.json")
    ...     boundshift.load(path) == boundary
    True
    """
    path = Path(path)
    if os.path.lexists(path) and not overwrite and not is_special(path):
        raise InvalidInputError(
            f"`path` must not exist yet, got {str(path)!r}. Use another name, or overwrite=True."
        )
    if isinstance(obj, Boundary):
        return write_whole(path, obj.to_json() + "\n", new=not overwrite)
    if not hasattr(obj, "get_params"):
        raise InvalidInputError(
            f"`obj` must be a Boundary or a scikit-learn estimator, got {type(obj).__name__}. "
            "Save a BoundShiftClassifier, or a pipeline that ends in one."
        )
    return write_whole(path, _dump(obj), new=not overwrite)


def load(path: str | os.PathLike[str], trusted: Sequence[str] | Literal[True] | None = None) -> Any:
    """Load a file written by :func:`~boundshift.save`.

    Parameters
    ----------
    path : str or path
        A JSON or skops file, recognised by its content.
    trusted : list of str, True or None, default=None
        Types and functions that a file may hold beyond those of boundshift and of scikit-learn's
        models, for example ``["xgboost.sklearn.XGBClassifier"]``: loading a file runs their code.
        If one is missing, the error names it. True trusts everything in the file, also a pickle,
        which can run any code: only for files that you wrote yourself.

    Returns
    -------
    Boundary or estimator

    Raises
    ------
    InvalidInputError
        If the file holds untrusted types, is a pickle, or comes from a newer release.
    MissingExtraError
        If the file holds a model and skops is not installed.

    Examples
    --------
    >>> import pickle, tempfile
    >>> from pathlib import Path
    >>> import boundshift
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.pkl"
    ...     _ = path.write_bytes(pickle.dumps("anything"))
    ...     boundshift.load(path)
    Traceback (most recent call last):
    boundshift.exceptions.InvalidInputError: `path` must be a file of boundshift.save, ...
    """
    if trusted is not None and trusted is not True and isinstance(trusted, str | bool):
        raise InvalidInputError(
            f"`trusted` must be a list of types' names, True or None, got {trusted!r}."
        )
    path = Path(path)
    if path.is_dir() or is_special(path):
        raise InvalidInputError(
            f"`path` must be a file of boundshift.save, got {str(path)!r}, which is a folder, a "
            "device or a pipe."
        )
    content = path.read_bytes()
    if content.startswith(_ZIP):
        return _load_skops(content, trusted)
    if content.lstrip()[:1] == b"{":
        return Boundary.from_json(content)
    if trusted is True:
        import joblib

        return joblib.load(path)
    raise InvalidInputError(
        f"`path` must be a file of boundshift.save, got {str(path)!r}, which is neither JSON nor "
        "a file of skops. If it is a pickle, loading it can run any code: use trusted=True only "
        "if you wrote it yourself, then store it with boundshift.save."
    )


def trusted_types(model: Any, trusted: Sequence[str] = ()) -> list[str]:
    """Return the types inside a model for which skops needs the user's trust.

    Other tools that store models by skops, such as MLflow, take this list.

    Parameters
    ----------
    model : estimator
        Fitted.
    trusted : sequence of str, default=()
        Types that you trust beyond those of boundshift and of scikit-learn's models.

    Raises
    ------
    InvalidInputError
        If the model holds other types; the error names them.

    Examples
    --------
    >>> from boundshift import BoundShiftClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> trusted_types(BoundShiftClassifier(LogisticRegression()))
    ['boundshift._classifier.BoundShiftClassifier']
    """
    skops = _skops()
    found = set(skops.get_untrusted_types(data=skops.dumps(model)))
    _refuse_types(found - set(trusted) - own_types(), "model")
    return sorted(found)


def own_types() -> set[str]:
    """Return the types that need not be named: ours, and those of scikit-learn's models."""
    known = vars(model_selection).values()
    splitters = (cls for cls in known if isinstance(cls, type) and hasattr(cls, "split"))
    types: tuple[type[Any], ...] = (
        *CURVES.values(),
        Betting,
        Exact,
        SLSQP,
        *RULES.values(),
        *splitters,
    )
    parts = (f"{home}.{name}" for home, names in _TRUSTED.items() for name in names.split())
    return {*parts, *(f"{cls.__module__}.{cls.__qualname__}" for cls in types)}


def _refuse_types(refused: set[str], where: str) -> None:
    if refused:
        raise InvalidInputError(
            f"`trusted` must name every type that the {where} holds, got it without "
            f"{str(sorted(refused))[:2000]}."
            " If you know them and where they are from, pass these names as `trusted`."
        )


def _unreadable(why: str) -> InvalidInputError:
    return InvalidInputError(
        f"`path` must be a file of boundshift.save, got one that skops cannot read: {why[:200]}. "
        "Save the model again."
    )


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise MissingExtraError("skops", "files") from None
    if tuple(int(part) for part in re.findall(r"\d+", skops.__version__)[:2]) < _OLDEST_SKOPS:
        # Older releases run code that their list of untrusted types does not name:
        # CVE-2025-54412, CVE-2025-54413 and CVE-2025-54886.
        raise MissingExtraError("skops of at least 0.12", "files")
    return skops.io


def _dump(obj: Any) -> bytes:
    """Return an estimator as a file of skops with a header."""
    from boundshift import __version__

    stored = {"format": _FORMAT, "version": _VERSION, "library": __version__, "object": obj}
    skops = _skops()
    try:
        content: bytes = skops.dumps(stored, compression=zipfile.ZIP_DEFLATED)
        # Functions are stored by name, and some, like lambdas, are not found by it.
        skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    except Exception as error:
        raise InvalidInputError(
            f"`obj` must be an estimator that skops can store, got {type(obj).__name__}: {error}. "
            "Functions must be importable by name. Otherwise store shifted_estimator(), whose own "
            "intercept has the shift, in the format of the model's library."
        ) from error
    return content


def _load_skops(content: bytes, trusted: Sequence[str] | Literal[True] | None) -> Any:
    """Load an estimator if nothing in the file is untrusted."""
    skops = _skops()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_members(archive, max(_ALWAYS_ALLOWED, _MOST_TIMES_LARGER * len(content)))
            _check_schema(archive)
        found = set(skops.get_untrusted_types(data=content))
        if trusted is not True:
            _refuse_types(found - set(trusted or ()) - own_types(), "file")
        stored = skops.loads(content, trusted=sorted(found))
    except (MemoryError, InvalidInputError):
        raise
    except Exception as error:  # A damaged archive fails in many ways.
        raise _unreadable(repr(error)) from error
    check_format(stored, _FORMAT, _VERSION, ("object",))
    _check_model(stored["object"])
    return stored["object"]


# State as plain values.

_RECORDS: dict[str, Any] = {
    "Certificate": Certificate,
    "Fingerprint": Fingerprint,
    "Response": Response,
}


def pack(state: dict[str, Any]) -> dict[str, Any]:
    """Return a classifier's state with plain values in place of records."""
    packed = {name: _pack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        packed["boundaries_"] = [(*k, _pack_record(b)) for k, b in state["boundaries_"].items()]
    return packed


def unpack(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state that `pack` was given."""
    unpacked = {name: _unpack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        unpacked["boundaries_"] = {(i, j): _unpack_record(b) for i, j, b in state["boundaries_"]}
    return unpacked


def _pack_record(value: Any) -> Any:
    if isinstance(value, tuple(_RECORDS.values())):
        return {"record": type(value).__name__} | vars(value)
    if not isinstance(value, Boundary):
        return value
    # JSON cannot hold every label, nor a user's own curve or rule.
    stored = replace(value, labels=(0, 1)).to_dict()
    restored = Boundary.from_dict(stored)
    own: dict[str, Any] = {"labels": value.labels}
    for name in ("curve", "rule"):
        if getattr(restored, name) != getattr(value, name):
            own[name] = getattr(value, name)
    return {"record": "Boundary", "stored": stored, "own": own}


def _unpack_record(value: Any) -> Any:
    if not isinstance(value, dict) or "record" not in value:
        return value
    if value["record"] == "Boundary":
        return replace(Boundary.from_dict(value["stored"]), **value["own"])
    fields = {name: field for name, field in value.items() if name != "record"}
    return _RECORDS[value["record"]](**fields)


# Checks of a file before it is opened.


def _check_members(archive: zipfile.ZipFile, limit: int) -> None:
    """Raise if an archive expands beyond `limit`, or lacks the arrays that it declares."""
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
            _array_shape(archive, member)
        elif member.filename.endswith(".npz"):
            with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
                _check_members(inner, limit)


def _array_shape(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[int, ...]:
    """Return the shape of a stored array; raise unless the file holds all of it."""
    with archive.open(member) as part:
        version = np.lib.format.read_magic(part)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(part)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(part)
        else:
            raise _unreadable(f"an array of version {version}")
        claimed = int(np.prod(shape, dtype=object)) * dtype.itemsize
        is_whole = part.tell() + claimed == member.file_size
    if dtype.hasobject or any(n < 0 for n in shape) or not is_whole:
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
        if isinstance(node, dict) and node.get("__class__") == "Tree" and "__reduce__" in node:
            # A tree must have one number of classes per output.
            features, classes, outputs = node["__reduce__"]["args"]["content"]
            n_outputs = int(outputs["content"])
            shape = _array_shape(archive, archive.getinfo(classes["file"]))
            is_right = 1 <= n_outputs <= _MOST_OUTPUTS and shape == (n_outputs,)
            if int(features["content"]) < 1 or not is_right:
                raise _unreadable(f"a tree of {n_outputs} outputs with {shape} numbers of classes")
        if isinstance(node, dict | list):
            inner = node.values() if isinstance(node, dict) else node
            waiting += [(value, depth + 1) for value in inner]


# Checks of a model before it is used.


def _check_model(model: Any) -> None:
    """Raise if a structure inside a model would lead compiled code out of its arrays."""
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.tree._tree import Tree

    try:
        found = list(_everything_in(model))
        owned = {id(tree) for thing in found for tree in _check_one(thing)}
        # Used by itself, a tree does not check that rows have the columns that it reads.
        trees = (thing for thing in found if isinstance(thing, Tree | TreePredictor))
        _require(all(id(tree) in owned for tree in trees), "a tree belongs to no model")
    except InvalidInputError:
        raise
    except Exception as error:  # Attributes that are missing or of another type.
        raise InvalidInputError(
            f"The model must be whole, and is not: {str(error)[:200]!r}. Save it again."
        ) from error


def _require(is_right: Any, what: str) -> None:
    if not is_right:
        raise InvalidInputError(
            f"A stored model must be as training makes it, and {what}. It is damaged, or made to "
            "crash the program that uses it: train it again."
        )


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
    """Check an object of a kind that compiled code trusts; return the trees that it owns."""
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._gb import BaseGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import (
        BaseHistGradientBoosting,
    )
    from sklearn.svm._base import BaseLibSVM
    from sklearn.tree import BaseDecisionTree

    sums = "boosting has another number of trees a step than of sums"
    if isinstance(thing, BaseDecisionTree) and hasattr(thing, "tree_"):
        tree, n_features = thing.tree_, int(thing.n_features_in_)
        n = int(tree.node_count)
        _require(1 <= n <= int(tree.capacity), f"a tree has {n} nodes in {tree.capacity} places")
        state = tree.__getstate__()
        nodes = state["nodes"]
        is_inner = nodes["left_child"] != -1
        _check_nodes(nodes, is_inner, "left_child", "right_child", "feature", n_features)
        is_right = len(state["values"]) == n and int(tree.n_features) == n_features
        _require(is_right, "a tree has another number of values or features than its model")
        return [tree]
    if isinstance(thing, BaseHistGradientBoosting) and hasattr(thing, "_predictors"):
        n_features, mapper = int(thing.n_features_in_), thing._bin_mapper
        for step in thing._predictors:
            _require(len(step) == int(thing.n_trees_per_iteration_), sums)
            for tree in step:
                nodes = tree.nodes
                _require(len(nodes) > 0, "a tree has no nodes")
                is_inner = nodes["is_leaf"] == 0
                _check_nodes(nodes, is_inner, "left", "right", "feature_idx", n_features)
                by_category = nodes["bitset_idx"][is_inner & (nodes["is_categorical"] != 0)]
                is_right = (by_category < len(tree.raw_left_cat_bitsets)).all()
                _require(is_right, "a tree asks for categories that it does not have")
        is_right = len(mapper.is_categorical_) == n_features == len(mapper.bin_thresholds_)
        _require(is_right, "boosting has bins of another number of columns")
        return [tree for step in thing._predictors for tree in step]
    if isinstance(thing, BaseForest | BaseGradientBoosting) and hasattr(thing, "estimators_"):
        members = np.asarray(thing.estimators_, dtype=object)
        is_right = all(int(m.n_features_in_) == int(thing.n_features_in_) for m in members.ravel())
        _require(is_right, "a tree reads other columns than its forest")
        width = getattr(thing, "n_trees_per_iteration_", None)
        _require(members.ndim < 2 or width is None or members.shape[1] == width, sums)
    elif isinstance(thing, BaseLibSVM) and hasattr(thing, "support_vectors_"):
        n_classes, n_vectors = len(thing._n_support), int(np.sum(thing._n_support))
        pairs = n_classes * (n_classes - 1) // 2
        is_right = bool((np.asarray(thing._n_support) >= 0).all())
        is_right &= thing.support_vectors_.shape == (n_vectors, int(thing.n_features_in_))
        if hasattr(thing, "classes_"):
            is_right &= thing._dual_coef_.shape == (n_classes - 1, n_vectors)
            is_right &= len(thing._intercept_) == pairs
            is_right &= all(len(p) in (0, pairs) for p in (thing._probA, thing._probB))
        _require(is_right, "a support vector machine has not what its vectors need")
    return []


def _check_nodes(
    nodes: Any, is_inner: Any, left: str, right: str, column: str, n_features: int
) -> None:
    """Raise unless children follow their parents and features are in range."""
    place = np.flatnonzero(is_inner)
    for name in (left, right):
        child = nodes[name][is_inner].astype(np.int64)
        is_right = ((child > place) & (child < len(nodes))).all()
        _require(is_right, "a tree leads back, or out of itself")
    feature = nodes[column][is_inner].astype(np.int64)
    is_right = ((feature >= 0) & (feature < n_features)).all()
    _require(is_right, f"a tree asks for a column beyond its {n_features}")
