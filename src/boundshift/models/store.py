"""Files that are safe to load: `save` and `load`.

A boundary becomes JSON, a model a file of skops, which, unlike a pickle, runs no code that is not
named before. docs/formats.md describes both.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from sklearn import model_selection

from boundshift.curves import CURVES, SLSQP, Exact
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models.loaded import check_archive, check_model
from boundshift.models.version_1 import OLD_TYPES
from boundshift.result.boundary import Boundary
from boundshift.result.json_values import check_format
from boundshift.rules import RULES
from boundshift.writing import is_special, write_whole

__all__ = ["load", "own_types", "refused_types", "save"]

_FORMAT = "boundshift.object"
_VERSION = 2
_OWN = {
    "boundshift.classifier.BoundShiftClassifier",
    "boundshift.models.mean.MeanOfModels",
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
        Where to; ".json" and ".skops" are the usual endings.
    overwrite : bool, default=False
        Whether a file that is there may be replaced.

    Returns
    -------
    Path
        The path written to. The file is there whole or not at all.

    Raises
    ------
    InvalidInputError
        If the file is there already, or the object cannot be stored safely.
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
    """Load what :func:`~boundshift.save` has written.

    Parameters
    ----------
    path : str or path
        A file of JSON or of skops, told apart by its content.
    trusted : list of str, True or None, default=None
        Types that a file may hold beyond those of boundshift and those that skops trusts, for
        example ``["sklearn.tree._tree.Tree"]`` of a forest: to load a file is to run their code.
        The error of a file that is refused names them. True trusts the file whatever it holds, a
        pickle included, which can run any code: only for files that you wrote yourself.

    Returns
    -------
    Boundary or estimator

    Raises
    ------
    InvalidInputError
        If the file holds types that are not trusted, is a pickle, or is of a newer release.
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
    content = _read(Path(path))
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


def _read(path: Path) -> bytes:
    """Return the bytes of a file; a folder, a device or a pipe is none."""
    if path.is_dir() or is_special(path):
        raise InvalidInputError(
            f"`path` must be a file of boundshift.save, got {str(path)!r}, which is a folder, a "
            "device or a pipe."
        )
    return path.read_bytes()


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
    check_format(stored, _FORMAT, _VERSION, ("object",))
    check_model(stored["object"])
    return stored["object"]


def refused_types(obj: Any, trusted: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return all types of an object that skops does not trust, and those that nobody named."""
    io = _skops()
    found = set(io.get_untrusted_types(data=io.dumps(obj)))
    return sorted(found), sorted(found - set(trusted) - own_types())


def own_types() -> set[str]:
    """Return the names of all types that our parameters may hold: curves, rules, splitters."""
    known = vars(model_selection).values()
    splitters = (cls for cls in known if isinstance(cls, type) and hasattr(cls, "split"))
    types = (*CURVES.values(), Exact, SLSQP, *RULES.values(), *splitters)
    names = {f"{cls.__module__}.{cls.__qualname__}" for cls in types}
    return {*_OWN, *names, *OLD_TYPES}
