"""Small public data sets, and a gate to larger collections."""

from boundshift.datasets.bundled import (
    load_breast_cancer,
    load_heart,
    load_hepatitis,
    load_pima,
)
from boundshift.datasets.common import CommonDataset, fetch_common, list_common
from boundshift.datasets.gaussians import make_gaussians

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
