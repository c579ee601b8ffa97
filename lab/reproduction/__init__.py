"""The paper's experiments: protocol → tidy rows → tables and figures."""

from lab.reproduction.classifiers import ClassifierOptions
from lab.reproduction.methods import METHODS, Method
from lab.reproduction.problems import PROBLEMS, Problem, choose_problems
from lab.reproduction.reproduce import Reproduction, make_tables, reproduce
from lab.reproduction.rows import Row, read_rows, write_rows
from lab.reproduction.summary import Results, compare

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
