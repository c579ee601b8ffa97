"""From a table to a certified model and a report: what the command line does, as functions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boundshift.app.workflow.compared_methods import compare_scores
    from boundshift.app.workflow.estimators import MODELS, TRUSTED, make_model
    from boundshift.app.workflow.feature_columns import Columns, choose_columns
    from boundshift.app.workflow.file_boundary import decide_scores
    from boundshift.app.workflow.file_zone import find_file_zone
    from boundshift.app.workflow.folder import report_facts, write_folder
    from boundshift.app.workflow.prediction import predict_table
    from boundshift.app.workflow.training import FittedTable, fit_table

__all__ = [
    "MODELS",
    "TRUSTED",
    "Columns",
    "FittedTable",
    "choose_columns",
    "compare_scores",
    "decide_scores",
    "find_file_zone",
    "fit_table",
    "make_model",
    "predict_table",
    "report_facts",
    "write_folder",
]

_FILES = {
    "feature_columns": ("Columns", "choose_columns"),
    "compared_methods": ("compare_scores",),
    "folder": ("report_facts", "write_folder"),
    "prediction": ("predict_table",),
    "estimators": ("MODELS", "TRUSTED", "make_model"),
    "file_boundary": ("decide_scores",),
    "file_zone": ("find_file_zone",),
    "training": ("FittedTable", "fit_table"),
}


def __getattr__(name: str) -> Any:
    # A threshold needs no scikit-learn, which takes longer to load than a million rows.
    for file, names in _FILES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{file}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
