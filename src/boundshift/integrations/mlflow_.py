"""A shifted model in MLflow: stored whole, with its threshold, certificate and report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from boundshift.classifier import BoundShiftClassifier
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.models.store import refused_types

__all__ = ["load_model", "log_model"]


def _mlflow() -> Any:
    """Return MLflow with what stores scikit-learn's models."""
    try:
        import mlflow
        import mlflow.sklearn
    except ImportError:
        raise MissingExtraError("mlflow", "mlflow") from None
    return mlflow


def log_model(
    model: BoundShiftClassifier,
    name: str = "model",
    *,
    report: Any = None,
    trusted: Sequence[str] = (),
    **options: Any,
) -> Any:
    """Log a fitted classifier in the active run of MLflow, with all that belongs to its boundary.

    The model is stored by skops, MLflow's own default, whose list of trusted types is filled in.
    Beside it the run gets the metric ``threshold`` (``bias_0``, ``bias_1``, … for many classes),
    ``boundary.json``, ``certificate.json`` and, if one is given, ``report.html``.

    Parameters
    ----------
    model : BoundShiftClassifier
        Fitted.
    name : str, default="model"
        Of the logged model, and of the folder of its files.
    report : object, default=None
        What ``model.report(X_test, y_test)`` returns, or anything else that has ``save(path)``.
    trusted : sequence of str, default=()
        Types that the model holds beyond those of boundshift and those that skops trusts; the
        error of a model that is refused names them.
    **options
        For ``mlflow.sklearn.log_model``, such as ``registered_model_name`` or ``input_example``.

    Returns
    -------
    ModelInfo
        What MLflow says of the logged model; its ``model_uri`` is for :func:`load_model`.

    Examples
    --------
    >>> import mlflow  # doctest: +SKIP
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     info = log_model(shifted, report=shifted.report(X_test, y_test))
    >>> load_model(info.model_uri).predict(X_test)  # doctest: +SKIP
    """
    mlflow = _mlflow()
    if not isinstance(model, BoundShiftClassifier) or not hasattr(model, "classes_"):
        raise InvalidInputError(
            f"`model` must be a fitted BoundShiftClassifier, got {type(model).__name__}. "
            "Fit it first; log other models with mlflow.sklearn.log_model."
        )
    if report is not None and not hasattr(report, "save"):
        raise InvalidInputError(
            f"`report` must have a method save(path), got {type(report).__name__}. "
            "Pass model.report(X_test, y_test)."
        )
    found, refused = refused_types(model, trusted)
    if refused:
        raise InvalidInputError(
            f"`trusted` must name every type that the model holds, got it without {refused}. "
            "If you know them, pass these names as `trusted`."
        )
    # MLflow would load the model in a second process to guess what it imports.
    options.setdefault("pip_requirements", _requirements())
    info = mlflow.sklearn.log_model(
        model, name=name, serialization_format="skops", skops_trusted_types=found, **options
    )
    folder = f"{name}-boundary"
    if len(model.classes_) == 2:
        mlflow.log_metric("threshold", model.threshold_)
        mlflow.log_dict(json.loads(model.boundary_.to_json()), f"{folder}/boundary.json")
    else:
        mlflow.log_metrics({f"bias_{k}": float(bias) for k, bias in enumerate(model.biases_)})
    mlflow.log_dict(model.certificate_.to_dict(), f"{folder}/certificate.json")
    if report is not None:
        with TemporaryDirectory() as written:
            path = Path(written) / "report.html"
            report.save(path)
            mlflow.log_artifact(str(path), folder)
    return info


def load_model(model_uri: str) -> BoundShiftClassifier:
    """Load a classifier that :func:`log_model` has logged.

    Parameters
    ----------
    model_uri : str
        As in ``log_model(...).model_uri``.
    """
    model = _mlflow().sklearn.load_model(model_uri)
    if not isinstance(model, BoundShiftClassifier):
        raise InvalidInputError(
            f"`model_uri` must lead to a BoundShiftClassifier, got a {type(model).__name__} at "
            f"{model_uri!r}. Load other models with mlflow.sklearn.load_model."
        )
    return model


def _requirements() -> list[str]:
    """Return what a server must install to load the model."""
    import sklearn
    import skops

    from boundshift import __version__

    return [
        f"boundshift=={__version__}",
        f"scikit-learn=={sklearn.__version__}",
        f"skops=={skops.__version__}",
    ]
