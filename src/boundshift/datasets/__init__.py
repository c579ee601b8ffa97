"""Small public data sets, and a gate to larger collections."""

from boundshift.datasets.breast_cancer import load_breast_cancer
from boundshift.datasets.common import CommonDataset, fetch_common, list_common
from boundshift.datasets.gaussians import make_gaussians
from boundshift.datasets.heart import load_heart
from boundshift.datasets.hepatitis import load_hepatitis
from boundshift.datasets.pima import load_pima

__all__ = [
    "CommonDataset",
    "fetch_common",
    "list_common",
    "load_breast_cancer",
    "load_heart",
    "load_hepatitis",
    "load_pima",
    "make_gaussians",
]
