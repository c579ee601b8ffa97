"""Models by name, with the preparation that a table needs; or one from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boundshift.app.workflow.feature_columns import Columns
from boundshift.exceptions import InvalidInputError

__all__ = ["MODELS", "NAMES", "TRUSTED", "load_model", "make_model", "make_preparation"]

MODELS = ("logistic", "svm", "forest", "boosting", "mlp")
"""Names of models that :func:`make_model` makes."""

NAMES = {
    "logistic": "logistic regression",
    "svm": "support vector machine",
    "forest": "random forest",
    "boosting": "gradient boosting",
    "mlp": "neural network",
}
"""What these models are called in full."""

TRUSTED = (
    "numpy.dtype",  # that SimpleImputer was fitted on
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",
)
"""Types inside these models that :func:`boundshift.load` wants to be named."""

_PICKLES = (".pkl", ".pickle", ".joblib")
_MOST_CATEGORIES = 30


def make_preparation(columns: Columns) -> Any:
    """Return a transformer of a table: gaps filled, numbers scaled, categories spread out.

    A missing number becomes the median, and a column of its own says so; a missing category is a
    category. Of a column's categories the 30 most frequent count, the others and those not seen
    in training count as one.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [40, None, 60], "town": ["Rome", "Bonn", None]})
    >>> make_preparation(Columns({"age": "number", "town": "category"})).fit_transform(frame).shape
    (3, 5)
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=_MOST_CATEGORIES,
            sparse_output=False,
        ),
    )
    return ColumnTransformer(
        [
            ("numbers", numbers, columns.of("number")),
            ("categories", categories, columns.of("category")),
        ]
    )


def make_model(name: str, columns: Columns) -> Any:
    """Return an untrained model with its preparation.

    Parameters
    ----------
    name : {"logistic", "svm", "forest", "boosting", "mlp"}
        Kind of classifier, with scikit-learn's defaults where these converge.
    columns : Columns
        What it learns from.

    Examples
    --------
    >>> make_model("forest", Columns({"age": "number"}))[-1]
    RandomForestClassifier()
    """
    from sklearn.pipeline import Pipeline

    return Pipeline([("columns", make_preparation(columns)), ("classifier", _classifier(name))])


def _classifier(name: str) -> Any:
    """Return a classifier by name."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    makers = {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "svm": SVC,
        "forest": RandomForestClassifier,
        "boosting": HistGradientBoostingClassifier,
        "mlp": lambda: MLPClassifier(early_stopping=True, n_iter_no_change=20),
    }
    if name not in makers:
        raise InvalidInputError(
            f"The model must be one of {', '.join(MODELS)}, or a file that exists, got '{name}'."
        )
    return makers[name]()


def load_model(path: str | Path, *, trust: bool = False) -> Any:
    """Return a trained classifier from a file.

    Parameters
    ----------
    path : str or Path
        A file that :func:`boundshift.save` wrote, or a pickle.
    trust : bool, default=False
        Whether the file may hold types of other libraries, or be a pickle, which can run any code
        when it is opened.

    Returns
    -------
    estimator
        Of a :class:`~boundshift.BoundShiftClassifier` the classifier inside, to be shifted anew.

    Raises
    ------
    InvalidInputError
        If the file needs to be trusted and is not, or holds no classifier.
    """
    from boundshift.classifier import BoundShiftClassifier
    from boundshift.models.store import load

    if Path(path).suffix.lower() in _PICKLES and not trust:
        raise InvalidInputError(
            f"'{path}' is a pickle, and opening a pickle can run any code. Use --trust if you made "
            "it yourself; else ask for a file written by boundshift.save."
        )
    try:
        model = load(path, trusted=True if trust else list(TRUSTED))
    except InvalidInputError as error:
        cure = "" if trust else " Use --trust if you made the file yourself."
        raise InvalidInputError(f"'{path}' cannot be loaded: {error}{cure}") from error
    except Exception as error:  # What is not a pickle fails in a hundred ways.
        raise InvalidInputError(f"'{path}' is not a file that holds a model: {error!r}.") from error
    if not hasattr(model, "predict") or not hasattr(model, "get_params"):
        raise InvalidInputError(f"'{path}' must hold a classifier, got {type(model).__name__}.")
    return model.estimator_ if isinstance(model, BoundShiftClassifier) else model
