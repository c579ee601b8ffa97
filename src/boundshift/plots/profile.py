r"""What a rule says of every threshold, so that the chosen one can be seen to be the best.

For a curve the rule is taken of both claims. The paper's own problem has no curve: at a threshold
t and a slack level both confidences follow,
:math:`u_i = |t - \text{edge}_i|/a_i - c`, and the loss at t is the least over the levels.
"""

from __future__ import annotations

import numpy as np

from boundshift.curves import ErrorCurve, Exact, SupportRadius
from boundshift.curves.paper import Levels, SupportProblem
from boundshift.rules import Rule, Sum
from boundshift.scores import ScoreSample
from boundshift.typing import FloatArray

_MOST_LEVELS = 512


def rule_values(
    sample: ScoreSample,
    thresholds: FloatArray,
    curve: ErrorCurve,
    rule: Rule,
    scale: str = "raw",
) -> FloatArray:
    """Return the rule at every threshold, NaN where it has no value.

    Thresholds are in the units of the given scores; curve, rule and scale are the boundary's.

    Examples
    --------
    >>> from boundshift import find_boundary
    >>> y, s = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
    >>> boundary = find_boundary(y, s)
    >>> sample = ScoreSample.from_labels(y, s)
    >>> at = rule_values(sample, np.array([boundary.threshold]), boundary.curve, boundary.rule)
    >>> bool(np.isclose(at[0], boundary.loss))
    True
    """
    if scale == "probability":
        sample = sample.on_scale("auto")
    t = sample.from_units(thresholds)
    if isinstance(curve, SupportRadius) and rule == Sum():
        if sample.is_reversed:  # The paper claims nothing there.
            return np.full(len(t), 2.0)
        return _paper_loss(sample, t, curve)
    negative, positive = curve.errors(sample)(t)
    return rule.value(negative, positive, sample.n_samples)


def _paper_loss(sample: ScoreSample, t: FloatArray, curve: SupportRadius) -> FloatArray:
    """Return the least loss over the slack levels at each threshold."""
    problem = SupportProblem(sample, curve.resolve(sum(sample.n_samples), sample.labels))
    best = Exact().solve(problem) if min(sample.n_samples) > 1 else None
    if best is None:
        return np.full(len(t), np.nan)
    level = np.linspace(0, problem.last, _MOST_LEVELS).astype(np.int64)
    levels = problem.levels(np.unique(np.append(level, best.level.level)))
    return _least_loss(problem, levels.take(levels.feasible), t)


def _least_loss(problem: SupportProblem, levels: Levels, t: FloatArray) -> FloatArray:
    """Return the least loss of some levels at each threshold."""
    facing = np.stack([t, -t])[:, :, None]
    distance = facing - levels.edge[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        u = distance / levels.step[:, None, :] - problem.settings.constant
        # A class of radius zero is certain as soon as the threshold has passed it.
        u = np.where(levels.step[:, None, :] == 0, np.where(distance >= 0, np.inf, -1.0), u)
        delta = np.where(u >= -1e-9, np.exp(-0.5 * u**2), np.nan)
    losses = (levels.weight[:, None, :] * delta).sum(axis=0) + levels.constant
    least = np.nanmin(np.where(np.isnan(losses), np.inf, losses), axis=1)
    return np.where(np.isfinite(least), least, np.nan)
