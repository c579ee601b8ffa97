"""The paper's data: its splits, and MIMIC-III for those who have the file."""

from lab.data.mimic import load_mimic
from lab.data.paper import PAPER_DATASETS, PaperSplit, paper_split

__all__ = ["PAPER_DATASETS", "PaperSplit", "load_mimic", "paper_split"]
