"""The paper's experiments: protocol → tidy rows → tables and figures."""

from lab.reproduction.classifiers import ClassifierOptions
from lab.reproduction.methods import METHODS
from lab.reproduction.problems import PROBLEMS, Problem, choose_problems
from lab.reproduction.reproduce import Reproduction, make_tables, reproduce
from lab.reproduction.rows import Row, read_rows, write_rows
from lab.reproduction.summary import Results

__all__ = [
    "METHODS",
    "PROBLEMS",
    "ClassifierOptions",
    "Problem",
    "Reproduction",
    "Results",
    "Row",
    "choose_problems",
    "make_tables",
    "read_rows",
    "reproduce",
    "write_rows",
]
