"""The paper's experiments: protocol → tidy rows → tables and figures."""

from boundshift.experiments.classifiers import ClassifierOptions
from boundshift.experiments.methods import METHODS, Method
from boundshift.experiments.problems import PROBLEMS, Problem, choose_problems
from boundshift.experiments.reproduce import Reproduction, make_tables, reproduce
from boundshift.experiments.rows import Row, read_rows, write_rows
from boundshift.experiments.summary import Results, compare

__all__ = [
    "METHODS",
    "PROBLEMS",
    "ClassifierOptions",
    "Method",
    "Problem",
    "Reproduction",
    "Results",
    "Row",
    "choose_problems",
    "compare",
    "make_tables",
    "read_rows",
    "reproduce",
    "write_rows",
]
