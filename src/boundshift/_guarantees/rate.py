"""The rate of the positive class, from a labelled sample and many scores without labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from boundshift._guarantees.powered import FewLabels, RateEstimate, RateMethod
from boundshift._guarantees.reading import read_scores, refuse_copies
from boundshift._validation import as_rows, as_share, name_remedy

__all__ = ["RateEstimate", "RateMethod", "estimate_rate"]


@name_remedy
def estimate_rate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    unlabelled_score: ArrayLike,
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    probability: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    unlabelled_cluster: ArrayLike | None = None,
) -> RateEstimate:
    r"""Estimate the rate of the positive class in the population that all rows come from.

    On average the interval is no wider than that of the labelled rows alone, and narrower if the
    scores predict the labels. If the new rows come from another population, with another frequency
    of the classes, use :func:`estimate_prevalence` instead.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_labelled,)
        Labels and scores of a random sample of the population. The scorer must not have been
        trained on these labels.
    unlabelled_score : array-like of shape (n_unlabelled,)
        Scores of other rows of the same population, by the same scorer. With `probability`, the
        scores of all rows that could have been drawn, labelled ones included.
    confidence : float, default=0.95
        Confidence of the interval.
    pos_label : label, default=None
        The positive class; needed unless the labels are 0 and 1, -1 and 1, or booleans.
    probability : array-like of shape (n_labelled,), default=None
        Probability with which each labelled row was drawn for labelling, up to a common factor,
        such as one that grows with the score. None means that all rows had the same probability.
    cluster, unlabelled_cluster : array-like, default=None
        ID of each labelled and of each unlabelled row's cluster, such as the conversation, if rows
        of a cluster resemble each other. Pass both or neither.

    Returns
    -------
    RateEstimate

    Warns
    -----
    BoundaryWarning
        If the scores of the labelled rows contradict the assumption of one population.

    Notes
    -----
    A logistic regression on the normal score of each rank predicts the label,
    :math:`g(s)`. So only the order of the scores counts. With weights :math:`w_i` that add up to 1,

    .. math:: \hat\theta = \lambda \, \frac1N \sum_j g(s_j)
              + \sum_i w_i \, \bigl(y_i - \lambda \, g(s_i)\bigr)

    is consistent for every :math:`\lambda`, whether the regression is right or wrong; the
    :math:`\lambda` in [0, 1] with the least estimated variance V is used. The interval is that of
    Clopper and Pearson for :math:`n^* = \hat\theta (1 - \hat\theta) / V` rows (Korn and Graubard
    1998, Survey Methodology 24), with :math:`z^2/2` added to the sum of squared residuals, so that
    a scorer which happens to make no mistake in the sample is not taken for infallible. Clusters
    enter V by their sums, and its degrees of freedom are the labelled clusters minus one. With
    `probability`, a labelled row is also one of all rows, and enters V once.

    *Assumption:* labelled rows were drawn at random, or with the given probabilities.
    *Guarantee:* coverage tends to the confidence as the number of labels of both classes grows.

    Examples
    --------
    200 human labels for a judge whose scores are known for 4,000 answers:

    >>> import numpy as np
    >>> from boundshift import estimate_rate
    >>> rng = np.random.default_rng(0)
    >>> passes = rng.random(4000) < 0.15
    >>> scores = rng.normal(2.5 * passes)
    >>> estimate = estimate_rate(passes[:200], scores[:200], scores[200:])
    >>> [round(end, 3) for end in estimate.interval]
    [0.121, 0.189]
    >>> [round(end, 3) for end in estimate.labels_alone]
    [0.104, 0.207]
    """
    as_share("confidence", confidence)
    scores = read_scores("y_score", y_score)
    unlabelled = read_scores("unlabelled_score", unlabelled_score)
    is_positive, scores, _ = as_rows(
        y_true, scores, pos_label, symmetric=False, one_class=pos_label is not None
    )
    if cluster is None:
        refuse_copies(is_positive, scores)
    rows = FewLabels.of(
        is_positive,
        scores,
        unlabelled,
        float(confidence),
        probability=probability,
        cluster=cluster,
        unlabelled_cluster=unlabelled_cluster,
    )
    return rows.estimate("rate", np.zeros(len(rows.rank), dtype=np.bool_))
