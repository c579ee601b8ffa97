r"""What a rule says of every threshold, so that the chosen one can be seen to be the best.

For a curve the rule is taken of both claims. The paper's own problem has no curve: at a threshold
t and a slack level both confidences follow,
:math:`u_i = |t - \text{edge}_i|/a_i - c`, and the loss at t is the least over the levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.curves import ErrorCurve, as_curve
from boundshift.curves.support import SupportRadius
from boundshift.rules import Rule, Sum, as_rule
from boundshift.scores.sample import ScoreSample
from boundshift.search.minimum import errors_at
from boundshift.support.levels import Levels, Support, SupportProblem, solve
from boundshift.support.settings import read_options

__all__ = ["rule_values"]

FloatArray = NDArray[np.float64]

_MOST_LEVELS = 512
_TAKEN = ("gamma", "constant", "radius", "centre")


def rule_values(
    sample: ScoreSample,
    thresholds: FloatArray,
    bound: str | ErrorCurve,
    rule: str | Rule,
    options: dict[str, Any],
) -> FloatArray:
    """Return the rule at every threshold, NaN where it has no value.

    Parameters
    ----------
    sample : ScoreSample
        Both classes.
    thresholds : array
        In the units of the given scores.
    bound, rule : str or object
        As in :func:`~boundshift.find_boundary`.
    options : dict
        Other arguments of `find_boundary`.

    Examples
    --------
    >>> from boundshift import find_boundary
    >>> y, s = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
    >>> boundary = find_boundary(y, s, bound="support")
    >>> sample = ScoreSample.from_labels(y, s)
    >>> at = rule_values(sample, np.array([boundary.threshold]), "support", "sum", {})
    >>> bool(np.isclose(at[0], boundary.loss))
    True
    """
    curve, rule = as_curve(bound), as_rule(rule)
    t = np.ldexp(thresholds, -sample.exponent)
    given = {name: value for name, value in options.items() if value is not None}
    for name in ("solver", "start", "fallback"):
        given.pop(name, None)
    if isinstance(curve, SupportRadius):
        given = {k: v for k, v in vars(curve).items() if isinstance(bound, ErrorCurve)} | given
        if isinstance(rule, Sum):
            return _paper_loss(sample, t, read_options(given.pop("preset", None), given, sample))
        curve = SupportRadius(**{name: given[name] for name in _TAKEN if name in given})
    negative, positive = errors_at(curve, sample, t)
    return rule.value(negative, positive, sample.n_samples)


def _paper_loss(sample: ScoreSample, t: FloatArray, options: Support) -> FloatArray:
    """Return the least loss over the slack levels at each threshold."""
    if sample.positive.median < sample.negative.median:
        sample, t = sample.reversed(), -t
    problem = SupportProblem(sample, options)
    solution = solve(problem) if min(sample.n_samples) > 1 else None
    if solution is None:
        return np.full(len(t), np.nan)
    level = np.linspace(0, problem.last, _MOST_LEVELS).astype(np.int64)
    levels = problem.levels(np.unique(np.append(level, solution.level.level)))
    return _least_loss(problem, levels.take(problem.feasible(levels)), t)


def _least_loss(problem: SupportProblem, levels: Levels, t: FloatArray) -> FloatArray:
    """Return the least loss of some levels at each threshold."""
    facing = np.stack([t, -t])[:, :, None]
    distance = facing - levels.edge[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        u = distance / levels.step[:, None, :] - problem.options.constant
        # A class of radius zero is certain as soon as the threshold has passed it.
        u = np.where(levels.step[:, None, :] == 0, np.where(distance >= 0, np.inf, -1.0), u)
        delta = np.where(u >= -1e-9, np.exp(-0.5 * u**2), np.nan)
    losses = (problem.weights(levels)[:, None, :] * delta).sum(axis=0) + problem.constant_loss(
        levels
    )
    least = np.nanmin(np.where(np.isnan(losses), np.inf, losses), axis=1)
    return np.where(np.isfinite(least), least, np.nan)
