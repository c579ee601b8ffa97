"""The suite: real imbalanced data sets, five models, every method on the same scores."""

from lab.suite.methods import METHODS, choose_methods, default_method
from lab.suite.models import MODELS, Model
from lab.suite.rows import SuiteRow
from lab.suite.run import SuiteRun, run_suite

__all__ = [
    "METHODS",
    "MODELS",
    "Model",
    "SuiteRow",
    "SuiteRun",
    "choose_methods",
    "default_method",
    "run_suite",
]
