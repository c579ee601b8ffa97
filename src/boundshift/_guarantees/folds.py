"""Certificates of the deployed model from fold models and rows without labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boundshift._guarantees.certificate import Certificate, CertificateStatus, bound_error
from boundshift._guarantees.certify import certify_boundary
from boundshift._result.boundary import Boundary
from boundshift._typing import BoolArray, IndexArray
from boundshift.curves._clusters import bound_mean


def certify_by_folds(
    boundary: Boundary,
    is_positive: BoolArray,
    fold: IndexArray,
    is_wrong: BoolArray,
    flagged: BoolArray,
    flagged_by_fold: BoolArray,
    confidence: float,
) -> Certificate:
    r"""Bound the deployed model's error rate of the more frequent class.

    The first rows are labelled, with the fold whose model scored each; of rows without labels it is
    known who flags them, the deployed model or each fold's.

    Each fold model was tested on rows that it has not seen, but another model is deployed. Of the
    rows of a class, that one gets wrong those that a fold model gets wrong, and at most those on
    which it alone is wrong. How often it alone calls a row the other class is seen without labels.
    Averaged over K folds (Kääriäinen 2005, Generalization error bounds using unlabeled data),

    .. math:: e \le \frac{1}{K} \sum_j e_j + \frac{1}{\pi} \, \mathrm{E} \,
              \frac{1}{K} \sum_j [\text{the deployed model alone is wrong}],

    where :math:`\pi` is the share of the class. The bounds of the :math:`e_j` together fail with
    probability :math:`\delta/2`, those of the expectation and of :math:`\pi` with
    :math:`\delta/4` each.
    """
    certificate = certify_boundary(boundary, confidence=confidence)
    delta = 1.0 - confidence
    common = bool(2 * np.sum(is_positive) > len(is_positive))
    mine = is_positive == common
    alone = (flagged != common) & (flagged_by_fold == common)
    share = 1.0 - bound_error(int(np.sum(~mine)), len(mine), delta / 4)
    parts = [mine & (fold == j) for j in np.unique(fold)]

    def bound(is_wrong: BoolArray, alone: BoolArray) -> float:
        each = delta / (2 * len(parts))
        counts = [(int(np.sum(is_wrong[part])), int(np.sum(part))) for part in parts]
        # The rows of all folds chose the threshold.
        errors = [bound_error(k, n, each, chosen_here=True) for k, n in counts]
        more = bound_mean(alone.mean(axis=0), delta / 4)
        return min(float(np.mean(errors)) + more / share, 1.0)

    most = bound(is_wrong, alone)
    least = bound(np.zeros_like(is_wrong), np.zeros_like(alone))
    names = [str(label) for label in boundary.labels]
    return replace(
        certificate,
        error_bounds=(1.0, most) if common else (most, 1.0),
        lowest_bounds=(1.0, least) if common else (least, 1.0),
        method="folds",
        status=CertificateStatus.CERTIFIED,
        reason="It holds for the deployed model if labelled and unlabelled rows are independent "
        f"draws of the same kind; class {names[not common]}, the rarer one, has no bound, since "
        "rows without labels hardly show its errors: certify it on labelled rows",
    )
