"""Small public data sets, the paper's splits, and a gate to larger collections."""

from boundshift.datasets.breast_cancer import load_breast_cancer
from boundshift.datasets.common import CommonDataset, fetch_common, list_common
from boundshift.datasets.gaussians import make_gaussians
from boundshift.datasets.heart import load_heart
from boundshift.datasets.hepatitis import load_hepatitis
from boundshift.datasets.mimic import load_mimic
from boundshift.datasets.paper import PAPER_DATASETS, PaperSplit, paper_split
from boundshift.datasets.pima import load_pima

__all__ = [
    "PAPER_DATASETS",
    "CommonDataset",
    "PaperSplit",
    "fetch_common",
    "list_common",
    "load_breast_cancer",
    "load_heart",
    "load_hepatitis",
    "load_mimic",
    "load_pima",
    "make_gaussians",
    "paper_split",
]
