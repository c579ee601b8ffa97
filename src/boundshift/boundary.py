"""From labelled scores to one boundary: `find_boundary`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from boundshift.curves import ErrorCurve
from boundshift.decision import decision
from boundshift.exceptions import BoundaryWarning
from boundshift.streaming.driver import Source, decide_in_passes
from boundshift.result.boundary import QUIET, Boundary, Status
from boundshift.rules import Rule
from boundshift.scores.sample import ScoreSample
from boundshift.streaming.dispatch import find_source

__all__ = ["Boundary", "Status", "decide_on", "find_boundary", "warn_of"]

Pair = tuple[float, float]


def find_boundary(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    bound: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    preset: Literal["paper", "authors"] | None = None,
    gamma: float | None = None,
    constant: float | None = None,
    radius: Literal["one-sided", "two-sided"] | None = None,
    slack: Literal["binary", "continuous"] | None = None,
    penalty: Literal["proportional", "count"] | None = None,
    alpha: float | Pair | None = None,
    budget: int | float | Literal["all"] | None = None,
    class_weight: float | Pair | Mapping[Any, float] | None = None,
    centre: Literal["median", "mean"] | None = None,
    stop_at_zero: bool | None = None,
    solver: Literal["exact", "slsqp"] = "exact",
    start: float = 1.0,
    fallback: Literal["edges", "means"] | float = "edges",
) -> Boundary:
    r"""Find the decision boundary that class-wise confidence bounds ask for.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two labels of any kind. Dask arrays and series, Arrow arrays, memory maps and iterables
        of chunks are read in passes and never held whole: see :mod:`boundshift.streaming.sources`.
    y_score : array-like of shape (n_samples,)
        Real scores, higher for the positive class. Probabilities are scores too.
    pos_label : label, default=None
        The positive class; None takes the greater label (1 of 0 and 1, True, "yes" of "no").
    bound : str or ErrorCurve, default=None
        The claim on each class's error: "support" (the paper), "kth-point", "clopper-pearson",
        "dkw", "bernstein", "student-t", "smoothed", "logistic", or an object from
        :mod:`boundshift.curves`.
        None is "logistic", which does best on real data; "clopper-pearson" with the rule
        "neyman-pearson", whose floor asks for a guarantee; and "support" where one of its
        arguments below is given.
    rule : str or Rule, default=None
        How the two claims become one number: "sum", "minimax", "g-mean", "cost",
        "neyman-pearson", "metric", or an object from :mod:`boundshift.rules` with its own
        arguments. None is "g-mean", and "sum" with the bound "support", as in the paper.
    preset : {"paper", "authors"}, default=None
        Starting values of all arguments below that are None. "paper" is the paper's text:
        constant 2, two-sided radius, penalty by count, every slack level. "authors" is the
        combination that made the paper's tables: constant 2, two-sided radius, proportional
        penalty, half of the rows as budget, no slack where none is needed. None is a choice
        that gives real problems an answer. This and all that follows is for
        ``bound="support"``; slack, penalty, alpha, budget, class_weight, stop_at_zero and solver
        only with ``rule="sum"``.
    gamma : float, default=1
        Factor of the concentration term: 1 as in Eq. R_hat_upper_bound, 2 as in
        Eq. test_point_bound, which the triangle inequality gives.
    constant : float, default=0
        Constant of the concentration term: 2 as printed, or 0, since scores have one dimension
        and Hoeffding's inequality does not need it.
    radius : {"one-sided", "two-sided"}, default="one-sided"
        Whether a class's radius counts only the points towards the other class.
    slack : {"binary", "continuous"}, default="binary"
        Whether a point given up costs 1 or its distance to the class centre. Continuous slack
        depends on the unit of the scores.
    penalty : {"proportional", "count"}, default="proportional"
        Whether the slack of a class is divided by the class's size. Proportional slack adds up
        with the loss to a claim on both error rates.
    alpha : float or pair (negative, positive), default=1
        Price of slack, above 0.
    budget : int, float or "all", default="all"
        Most points to give up: a number, a share of all rows in (0, 1], or all but two of each
        class.
    class_weight : float, pair (negative, positive) or dict from label to float, default=1
        Weights of the two classes' errors in the loss.
    centre : {"median", "mean"}, default="median"
        Points farthest from here are given up first. A single far outlier drags the mean, which
        the paper uses, and with it the wrong points. With "median" both classes give up equal
        shares at a time, with "mean" one point at a time as in the authors' code.
    stop_at_zero : bool, default=False
        Whether to give up nothing where the problem has a solution as it is, or to look at every
        slack level for a lower loss.
    solver : {"exact", "slsqp"}, default="exact"
        The exact global optimum over all slack levels, or the paper's local optimiser, which
        takes about a millisecond a level.
    start : float, default=1
        First guess of the negative class's δ for SLSQP.
    fallback : {"edges", "means"} or float, default="edges"
        Boundary where no level is feasible: the middle between the facing edges of what is kept
        when the whole budget is given up, the middle between the class means, or a number.

    Returns
    -------
    Boundary
        Always a boundary; its ``status`` says how it was found.

    Warns
    -----
    BoundaryWarning
        If the fallback is used, or the positive class has the lower scores.

    Notes
    -----
    By default each class's error is estimated by a logistic calibration of the scores, and the
    boundary is where the geometric mean of both recalls is best; see
    :class:`~boundshift.curves.logistic.Logistic` and :class:`~boundshift.rules.GMean`.

    With ``bound="support"``, per class, on the kept points: count :math:`N_i`, mean
    :math:`\mu_i`, radius :math:`R_i`. The confidence radius is
    :math:`R_i + \gamma R_i N_i^{-1/2} (c + \sqrt{2 \ln 1/\delta_i})`. Both confidence radii
    together fill the distance of the means, and the sum over the classes of
    :math:`(1 - \delta_i)/(N_i + 1) + \delta_i`, plus the price of the points given up, is as
    small as it can be. The boundary is where they meet.

    Scores :math:`p s + q` with :math:`p > 0` have the boundary :math:`p t + q` (binary slack), a
    mirrored problem the mirrored boundary, and the order of the rows does not matter.

    References
    ----------
    M. Clifford, J. Erskine, A. Hepburn, R. Santos-Rodríguez, D. Garcia-Garcia, "Learning
    Confidence Bounds for Classification with Imbalanced Data", ECAI 2024.

    Examples
    --------
    Ten sick patients among a thousand healthy ones:

    >>> import numpy as np
    >>> from boundshift import find_boundary
    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(-2, 1, 1000), rng.normal(2, 1, 10)])
    >>> labels = np.repeat(["healthy", "sick"], [1000, 10])
    >>> boundary = find_boundary(labels, scores, pos_label="sick")
    >>> round(boundary.threshold, 2)
    0.52
    >>> boundary.status.value
    'The optimum, after some points were given up because the classes overlap.'

    The paper's method gives a rare class more room than a common one:

    >>> paper = find_boundary(labels, scores, pos_label="sick", preset="authors")
    >>> round(paper.threshold, 2)
    -0.31
    """
    decide = decision(
        bound=bound,
        rule=rule,
        preset=preset,
        gamma=gamma,
        constant=constant,
        radius=radius,
        slack=slack,
        penalty=penalty,
        alpha=alpha,
        budget=budget,
        class_weight=class_weight,
        centre=centre,
        stop_at_zero=stop_at_zero,
        solver=solver,
        start=start,
        fallback=fallback,
    )
    source = find_source(y_true, y_score)
    if source is None:
        boundary = decide(ScoreSample.from_labels(y_true, y_score, pos_label))
    else:
        boundary = decide_on(source, decide, pos_label=pos_label)
    warn_of(boundary, stacklevel=3)
    return boundary


def warn_of(boundary: Boundary, stacklevel: int) -> None:
    """Warn of a boundary that needs a second look."""
    if boundary.status not in QUIET:
        warnings.warn(boundary.status.value, BoundaryWarning, stacklevel=stacklevel)


def decide_on(
    source: Source, decide: Callable[[ScoreSample], Boundary], **options: Any
) -> Boundary:
    """Return the boundary of a source, with its resolution."""
    boundary, how = decide_in_passes(source, decide, **options)
    return replace(boundary, resolution=how.resolution)
