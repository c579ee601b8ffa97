"""Files that are safe to load: `save` and `load`.

A boundary is stored as JSON and a model as a skops file. Unlike a pickle, a skops file runs only
code of trusted types. docs/reference/file_formats.md describes both.

A fitted classifier's state is stored as plain values, so that its file holds no other type of ours:
a record becomes a dict with its class's name under "record"; a dict with tuples as keys, which JSON
cannot have, a list.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import joblib
from sklearn import model_selection

from boundshift._guarantees.certificate import Certificate
from boundshift._result.boundary import Boundary
from boundshift._result.records import check_format
from boundshift._typing import Model
from boundshift._writing import is_special, write_whole
from boundshift.curves import CURVES
from boundshift.curves._clusters import Betting
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models._fingerprint import Fingerprint
from boundshift.models._scoring import Response
from boundshift.rules import RULES

_FORMAT = "boundshift.object"
_VERSION = 4
_ZIP = b"PK\x03\x04"
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


def save(obj: Boundary | Model, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
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
            f"must not exist yet, got {str(path)!r}. Use another name, or overwrite=True.",
            argument="path",
        )
    if isinstance(obj, Boundary):
        return write_whole(path, obj.to_json() + "\n", new=not overwrite)
    if not hasattr(obj, "get_params"):
        raise InvalidInputError(
            f"must be a Boundary or a scikit-learn estimator, got {type(obj).__name__}. "
            "Save a BoundShiftClassifier, or a pipeline that ends in one.",
            argument="obj",
        )
    from boundshift import __version__

    skops = _skops()
    stored = {"format": _FORMAT, "version": _VERSION, "library": __version__, "object": obj}
    try:
        content: bytes = skops.dumps(stored, compression=zipfile.ZIP_DEFLATED)
        # Functions are stored by name, and some, like lambdas, are not types by it.
        skops.loads(content, trusted=skops.get_untrusted_types(data=content))
    except Exception as error:
        raise InvalidInputError(
            f"must be an estimator that skops can store, got {type(obj).__name__}: {error}. "
            "Functions must be importable by name. Otherwise store shifted_estimator(), whose own "
            "intercept has the shift, in the format of the model's library.",
            argument="obj",
        ) from error
    return write_whole(path, content, new=not overwrite)


def load(
    path: str | os.PathLike[str], trusted: Sequence[str] | Literal[True] | None = None
) -> Boundary | Model:
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
    path = Path(path)
    content = path.read_bytes()
    if content.lstrip()[:1] == b"{":
        return Boundary.from_json(content)
    if not content.startswith(_ZIP):
        if trusted is True:
            return joblib.load(path)
        raise InvalidInputError(
            f"must be a file of boundshift.save, got {str(path)!r}, which is neither JSON "
            "nor a file of skops. If it is a pickle, loading it can run any code: use trusted=True "
            "only if you wrote it yourself, then store it with boundshift.save.",
            argument="path",
        )
    skops = _skops()
    try:
        types = set(skops.get_untrusted_types(data=content))
        if trusted is not True:
            _refuse_types(types - set(trusted or ()) - own_types(), "file")
        stored = skops.loads(content, trusted=sorted(types))
    except InvalidInputError:
        raise
    except Exception as error:  # A damaged archive fails in many ways.
        raise InvalidInputError(
            "must be a file of boundshift.save, got one that skops cannot read: "
            f"{repr(error)[:200]}. Save the model again.",
            argument="path",
        ) from error
    check_format(stored, _FORMAT, _VERSION, ("object",))
    return stored["object"]


def trusted_types(model: Model, trusted: Sequence[str] = ()) -> list[str]:
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
    types = set(skops.get_untrusted_types(data=skops.dumps(model)))
    _refuse_types(types - set(trusted) - own_types(), "model")
    return sorted(types)


def own_types() -> set[str]:
    """Return the types that need not be named: ours, and those of scikit-learn's models."""
    public = vars(model_selection).values()
    splitters = (cls for cls in public if isinstance(cls, type) and hasattr(cls, "split"))
    types: tuple[type, ...] = (
        *CURVES.values(),
        Betting,
        *RULES.values(),
        *splitters,
    )
    parts = (f"{home}.{name}" for home, names in _TRUSTED.items() for name in names.split())
    return {*parts, *(f"{cls.__module__}.{cls.__qualname__}" for cls in types)}


def _refuse_types(refused: set[str], where: str) -> None:
    if refused:
        raise InvalidInputError(
            f"must name every type that the {where} holds, got it without "
            f"{str(sorted(refused))[:2000]}."
            " If you know them and where they are from, pass these names as `trusted`.",
            argument="trusted",
        )


def _skops() -> ModuleType:
    try:
        import skops.io
    except ImportError:
        raise MissingExtraError("skops", "files") from None
    if skops.__version__.startswith(tuple(f"0.{k}." for k in range(12))):
        # These run code that their list of untrusted types does not name:
        # CVE-2025-54412, CVE-2025-54413 and CVE-2025-54886.
        raise MissingExtraError("skops of at least 0.12", "files")
    io: ModuleType = skops.io
    return io


# State as plain values.

_State = dict[str, Any]

_RECORDS: dict[str, type[Certificate | Fingerprint | Response]] = {
    "Certificate": Certificate,
    "Fingerprint": Fingerprint,
    "Response": Response,
}


def pack(state: _State) -> _State:
    """Return a classifier's state with plain values in place of records."""
    packed = {name: _pack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        packed["boundaries_"] = [(*k, _pack_record(b)) for k, b in state["boundaries_"].items()]
    return packed


def unpack(state: _State) -> _State:
    """Return the state that `pack` was given."""
    unpacked = {name: _unpack_record(value) for name, value in state.items()}
    if "boundaries_" in state:
        unpacked["boundaries_"] = {(i, j): _unpack_record(b) for i, j, b in state["boundaries_"]}
    return unpacked


def _pack_record(value: object) -> object:
    if isinstance(value, tuple(_RECORDS.values())):
        fields = {name: _as_plain(field) for name, field in vars(value).items()}
        return {"record": type(value).__name__} | fields
    if not isinstance(value, Boundary):
        return value
    # JSON cannot hold every label, nor a user's own curve or rule.
    stored = replace(value, labels=(0, 1)).to_dict()
    restored = Boundary.from_dict(stored)
    own: dict[str, object] = {"labels": value.labels}
    for name in ("curve", "rule"):
        if getattr(restored, name) != getattr(value, name):
            own[name] = getattr(value, name)
    return {"record": "Boundary", "stored": stored, "own": own}


def _as_plain(value: object) -> object:
    """Return a status as text, since a file of skops holds no type of ours but the classifier."""
    return value.value if isinstance(value, StrEnum) else value


def _unpack_record(value: object) -> object:
    if not isinstance(value, dict) or "record" not in value:
        return value
    if value["record"] == "Boundary":
        return replace(Boundary.from_dict(value["stored"]), **value["own"])
    fields = {name: field for name, field in value.items() if name != "record"}
    return _RECORDS[value["record"]](**fields)
