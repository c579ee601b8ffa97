"""Files that are safe to load: `save` and `load`.

A boundary is stored as JSON and a model as a skops file. Unlike a pickle, a skops file runs only
code of trusted types. docs/formats.md describes both.

A fitted classifier's state is stored as plain values, so that its file holds no type of ours:
safe formats know numbers, strings, arrays and scikit-learn's estimators. A record becomes a dict
with its class's name under "record"; a dict with tuples as keys, which JSON cannot have, a list.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from sklearn import model_selection

from boundshift.curves import CURVES, SLSQP, Exact
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models.checks import check_archive, check_model
from boundshift.models.fingerprint import Fingerprint
from boundshift.models.scoring import Response
from boundshift.promises.certificate import Certificate
from boundshift.result.boundary import Boundary
from boundshift.result.records import check_format
from boundshift.rules import RULES
from boundshift.writing import is_special, write_whole

__all__ = ["load", "own_types", "pack", "refused_types", "save", "unpack"]

_FORMAT = "boundshift.object"
_VERSION = 3
_OWN = {
    "boundshift.classifier.BoundShiftClassifier",
    "boundshift.models.mean.MeanOfModels",
}
# What fitted parts of scikit-learn are made of, beyond what skops trusts. Loading them runs no code
# of the file. `check_model` looks into trees, which compiled code would follow out of their arrays.
_PARTS = {
    "numpy.dtype",
    "sklearn._loss.link.HalfLogitLink",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.ExponentialLoss",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.Matern",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.RBF",
    "sklearn.gaussian_process.kernels.Sum",
    "sklearn.gaussian_process.kernels.WhiteKernel",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
}
_ZIP = b"PK\x03\x04"
_OLDEST_SKOPS = (0, 12)


def save(obj: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Store a boundary or a fitted model in a file that is safe to load.

    Parameters
    ----------
    obj : Boundary or estimator
        A boundary is written as JSON, which any language can read; a
        :class:`~boundshift.BoundShiftClassifier`, or a pipeline or a search with one in it, as a
        file of skops.
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
    io = _skops()
    try:
        content: bytes = io.dumps(stored, compression=zipfile.ZIP_DEFLATED)
        # Functions are stored by name, and some, like lambdas, are not found by it.
        io.loads(content, trusted=io.get_untrusted_types(data=content))
    except Exception as error:
        raise InvalidInputError(
            f"`obj` must be an estimator that skops can store, got {type(obj).__name__}: {error}. "
            "Functions must be importable by name. Otherwise store shifted_estimator(), whose own "
            "intercept has the shift, in the format of the model's library."
        ) from error
    return content


def _load_skops(content: bytes, trusted: Sequence[str] | Literal[True] | None) -> Any:
    """Load an estimator if nothing in the file is untrusted."""
    io = _skops()
    check_archive(content)
    try:
        found = set(io.get_untrusted_types(data=content))
    except Exception as error:
        raise InvalidInputError(
            f"`path` must be a file of boundshift.save, got one that skops cannot read: "
            f"{str(error)[:200]!r}."
        ) from error
    named = found if trusted is True else set(trusted or ())
    refused = found - named - own_types()
    if refused:
        raise InvalidInputError(
            f"`trusted` must name every type that the file holds, got it without "
            f"{str(sorted(refused))[:2000]}."
            " If you know them and where the file is from, pass these names as `trusted`."
        )
    try:
        stored = io.loads(content, trusted=sorted(found))
    except (MemoryError, InvalidInputError):
        raise
    except Exception as error:
        raise InvalidInputError(
            f"`path` must be a file of boundshift.save, got one that cannot be opened: "
            f"{str(error)[:200]!r}. "
            "Save the model again."
        ) from error
    check_format(stored, _FORMAT, _VERSION, ("object",), oldest=_VERSION)
    check_model(stored["object"])
    return stored["object"]


def refused_types(obj: Any, trusted: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return the types of an object that skops does not trust, and the untrusted rest."""
    io = _skops()
    found = set(io.get_untrusted_types(data=io.dumps(obj)))
    return sorted(found), sorted(found - set(trusted) - own_types())


def own_types() -> set[str]:
    """Return the types that need not be named: ours, and those of scikit-learn's models."""
    known = vars(model_selection).values()
    splitters = (cls for cls in known if isinstance(cls, type) and hasattr(cls, "split"))
    types = (*CURVES.values(), Exact, SLSQP, *RULES.values(), *splitters)
    names = {f"{cls.__module__}.{cls.__qualname__}" for cls in types}
    return {*_OWN, *_PARTS, *names}


_PLAIN: dict[str, Any] = {
    "Certificate": Certificate,
    "Fingerprint": Fingerprint,
    "Response": Response,
}


def pack(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state with plain values in place of records.

    Examples
    --------
    >>> pack({"_response": Response("margin")})["_response"]
    {'record': 'Response', 'method': 'margin', 'floor': None, 'is_log_odds': False}
    """
    packed = {name: _pack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        packed["boundaries_"] = [(*k, _pack_record(b)) for k, b in state["boundaries_"].items()]
    return packed


def unpack(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state that `pack` was given.

    Examples
    --------
    >>> unpack(pack({"_response": Response("margin")}))["_response"]
    Response(method='margin', floor=None, is_log_odds=False)
    """
    unpacked = {name: _unpack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        unpacked["boundaries_"] = {(i, j): _unpack_record(b) for i, j, b in state["boundaries_"]}
    return unpacked


def _pack_record(value: Any) -> Any:
    if isinstance(value, tuple(_PLAIN.values())):
        return {"record": type(value).__name__} | vars(value)
    if not isinstance(value, Boundary):
        return value
    # A boundary is stored as JSON has it, and beside it what JSON cannot have.
    stored = replace(value, labels=(0, 1)).to_dict()
    restored = Boundary.from_dict(stored)
    own: dict[str, Any] = {"labels": value.labels}
    for name in ("curve", "rule"):
        if getattr(restored, name) != getattr(value, name):  # somebody's own class
            own[name] = getattr(value, name)
    return {"record": "Boundary", "stored": stored, "own": own}


def _unpack_record(value: Any) -> Any:
    if not isinstance(value, dict) or "record" not in value:
        return value
    if value["record"] == "Boundary":
        return replace(Boundary.from_dict(value["stored"]), **value["own"])
    fields = {name: field for name, field in value.items() if name != "record"}
    return _PLAIN[value["record"]](**fields)
