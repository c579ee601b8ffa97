"""The benchmark: real imbalanced data sets, five models, every method on the same scores."""

from lab.suite.methods import METHODS, Method, choose_methods, default_method
from lab.suite.models import MODELS, Model
from lab.suite.rows import SuiteRow
from lab.suite.run import Benchmark, benchmark

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
