"""The benchmark: real imbalanced data sets, five models, every method on the same scores."""

from boundshift.experiments.suite.methods import METHODS, Method, choose_methods, default_method
from boundshift.experiments.suite.models import MODELS, Model
from boundshift.experiments.suite.rows import SuiteRow
from boundshift.experiments.suite.run import Benchmark, benchmark

__all__ = [
    "METHODS",
    "MODELS",
    "Benchmark",
    "Method",
    "Model",
    "SuiteRow",
    "benchmark",
    "choose_methods",
    "default_method",
]
