"""From a table to a certified model and a report: what the command line does, as functions."""

from boundshift.workflow.columns import Columns, choose_columns
from boundshift.workflow.comparison import compare_scores
from boundshift.workflow.decision import choose_decision
from boundshift.workflow.folder import predict_table, report_facts, write_folder
from boundshift.workflow.models import MODELS, TRUSTED, make_model
from boundshift.workflow.training import FittedTable, fit_table

__all__ = [
    "MODELS",
    "TRUSTED",
    "Columns",
    "FittedTable",
    "choose_columns",
    "choose_decision",
    "compare_scores",
    "fit_table",
    "make_model",
    "predict_table",
    "report_facts",
    "write_folder",
]
