r"""The paper's support radius as an error curve."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from boundshift.curves.base import Claim, PairCurve, Solution, Tail
from boundshift.curves.paper import SupportSettings, Windows, fall_back, solve_paper
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule, Sum
from boundshift.rules.base import changed_repr
from boundshift.scores import Scores, ScoreSample, refuse_weights
from boundshift.typing import FloatArray

_MOST_LEVELS = 512
# What a rule other than the sum makes use of.
_SHAPE = ("gamma", "constant", "radius", "centre", "fallback")


@dataclass(frozen=True)
class SupportRadius(SupportSettings, PairCurve):
    r"""The paper's claim: points given up, plus the average error of what is kept.

    With the rule "sum", its own, the paper's problem is solved exactly: both classes give up the
    same share of points. With any other rule each class gives up what is best for it,

    .. math:: U(t) = \min_m \frac{m}{n} + \frac{1 - \delta_m(t)}{n - m + 1} + \delta_m(t),
              \qquad \delta_m(t) = e^{-u_m(t)^2/2},\;
              u_m(t) = \frac{t - \mu_m - R_m}{a_m} - c

    over the numbers m of points given up, at most 512 of them; it then takes gamma, constant,
    radius, centre and fallback only.

    Parameters
    ----------
    gamma : float, default=1
        Factor of the concentration term: 1 as in Eq. R_hat_upper_bound, 2 as in
        Eq. test_point_bound, which the triangle inequality gives.
    constant : float, default=0
        Constant of the concentration term: 2 as printed, or 0, since scores have one dimension
        and Hoeffding's inequality does not need it.
    radius : {"one-sided", "two-sided"}, default="one-sided"
        Whether a class's radius counts only the points towards the other class, which no
        inequality covers but decides better.
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
    solver : Exact or SLSQP, default=Exact()
        The exact global optimum over all slack levels, or the paper's local optimiser.
    fallback : {"edges", "means"} or float, default="edges"
        Boundary where no level is feasible: the middle between the facing edges of what is kept
        when the whole budget is given up, the middle between the class means, or a number.

    Notes
    -----
    Per class, on the kept points: count :math:`N_i`, mean :math:`\mu_i`, radius :math:`R_i`. The
    confidence radius is :math:`R_i + \gamma R_i N_i^{-1/2} (c + \sqrt{2 \ln 1/\delta_i})`. Both
    confidence radii together fill the distance of the means, and the sum over the classes of
    :math:`(1 - \delta_i)/(N_i + 1) + \delta_i`, plus the price of the points given up, is as
    small as it can be. The boundary is where they meet.

    References
    ----------
    M. Clifford, J. Erskine, A. Hepburn, R. Santos-Rodríguez, D. Garcia-Garcia, "Learning
    Confidence Bounds for Classification with Imbalanced Data", ECAI 2024.

    Examples
    --------
    >>> SupportRadius.authors(budget="all") == SupportRadius(
    ...     constant=2, radius="two-sided", centre="mean", stop_at_zero=True)
    True
    """

    name = "support"
    claim = Claim.NOMINAL
    assumptions = "Independent scores, and a support whose radius is that of the sample."
    formula = "min over m of m/n + (1 - d)/(n - m + 1) + d, d = exp(-((t - edge)/a - c)^2 / 2)"
    reference = "Clifford et al. 2024, ECAI"
    default_rule = Sum()
    spreads_rows = False

    def __repr__(self) -> str:
        return changed_repr(self)

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the boundary of the paper's problem, or the rule's best on the curve."""
        refuse_weights(sample, self.name)
        if rule == Sum():
            settings = self.resolve(sum(sample.n_samples), sample.labels)
            return Solution(*solve_paper(sample, settings))
        plain = SupportRadius()
        for name in (f.name for f in fields(self) if f.name not in _SHAPE):
            if getattr(self, name) != getattr(plain, name):
                raise InvalidInputError(
                    f"`{name}` of SupportRadius must be left as it is with the rule "
                    f"{rule.name!r}, got {getattr(self, name)!r}. Only the rule 'sum' uses it."
                )
        solution = super().solve(sample, rule)
        if solution.found.errors == (1.0, 1.0):
            return Solution(*fall_back(sample, self)[:2])
        return solution

    def tails(self, sample: ScoreSample) -> tuple[Tail, Tail]:
        """Return both classes' tails; the positive one's in mirrored scores."""
        return self._tail(sample.negative), self._tail(sample.positive.mirrored())

    def _tail(self, scores: Scores) -> Tail:
        """Return the least claim over the slack levels of one class."""
        windows, n = Windows(scores, self.centre), scores.n
        removed = np.unique(np.linspace(0, max(n - 2, 0), _MOST_LEVELS).astype(np.int64))
        kept, count = windows.keep(removed), (n - removed).astype(np.float64)
        mean = windows.reference + kept.mean
        radius = kept.high - mean
        if self.radius == "two-sided":
            radius = np.maximum(radius, mean - kept.low)
        step = self.gamma * radius / np.sqrt(count)
        foot = mean + radius + self.constant * step
        floor, weight = removed / n + 1 / (count + 1), count / (count + 1)

        def above(t: FloatArray) -> FloatArray:
            distance = np.asarray(t, dtype=np.float64)[:, None] - foot
            with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
                delta = np.exp(-0.5 * (distance / step) ** 2)
            # A class of radius zero is certain as soon as the boundary has passed it.
            delta = np.where(step == 0, 0.0, delta)
            claims = np.where(distance >= 0, np.minimum(floor + weight * delta, 1.0), 1.0)
            return np.asarray(claims.min(axis=1))

        return above
