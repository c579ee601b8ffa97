"""Small public data sets."""

from boundshift.datasets._bundled import (
    load_breast_cancer,
    load_heart,
    load_hepatitis,
    load_pima,
    make_gaussians,
)

__all__ = ["load_breast_cancer", "load_heart", "load_hepatitis", "load_pima", "make_gaussians"]
