r"""The paper's support radius as an error curve."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from boundshift.curves.base import Claim, ShapeCurve, Solution, Tail
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors, Rule, Sum
from boundshift.rules.base import changed_repr
from boundshift.scores.sample import OrderedScores, ScoreSample
from boundshift.scores.weighted import refuse_weights
from boundshift.search.found import ErrorsAt
from boundshift.support.claims import BoundedClaims, Claims, deciding_boundaries
from boundshift.support.exact import Exact
from boundshift.support.settings import SupportSettings
from boundshift.support.solve import Fallback, Solver, fall_back, solve_support
from boundshift.support.windows import Windows
from boundshift.typing import IntArray
from boundshift.validation import is_finite

__all__ = ["SupportRadius"]

_MOST_LEVELS = 512
# What a rule other than the sum makes use of.
_SHAPE = ("gamma", "constant", "radius", "centre", "fallback")


@dataclass(frozen=True)
class SupportRadius(SupportSettings, ShapeCurve):
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

    solver: Solver = Exact()  # noqa: RUF009 (it is frozen)
    fallback: Fallback = "edges"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (hasattr(self.solver, "solve") and hasattr(self.solver, "is_global")):
            raise InvalidInputError(
                f"`solver` must be Exact() or SLSQP(), got {self.solver!r}. "
                "Use solver=Exact() for the global optimum."
            )
        object.__setattr__(self, "fallback", _as_fallback(self.fallback))

    def __repr__(self) -> str:
        return changed_repr(self)

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the paper's text: constant 2, two-sided radius, penalty by count, every level."""
        own: dict[str, Any] = {"constant": 2.0, "radius": "two-sided", "penalty": "count"}
        return cls(**{**own, "centre": "mean", **changes})

    @classmethod
    def authors(cls, **changes: Any) -> Self:
        """Return the settings of the authors' code.

        Constant 2, two-sided radius, proportional penalty, half of the rows as budget, no slack
        where none is needed.
        """
        own: dict[str, Any] = {"constant": 2.0, "radius": "two-sided", "centre": "mean"}
        return cls(**{**own, "budget": 0.5, "stop_at_zero": True, **changes})

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the boundary of the paper's problem, or the rule's best on the curve."""
        refuse_weights(sample, self.name)
        if rule == Sum():
            settings = self.resolve(sum(sample.n_samples), sample.labels)
            return Solution(*solve_support(sample, settings, self.solver, self.fallback))
        self._refuse_what_only_the_sum_uses(rule)
        solution = super().solve(sample, rule)
        if solution.found.errors == (1.0, 1.0):
            return Solution(*fall_back(sample, self, self.fallback)[:2])
        return solution

    def tail(self, scores: OrderedScores, pooled: float) -> Tail:
        """Return the function from boundaries to the claimed share of the class above them."""
        return self._claims(Windows(scores, self.centre), _levels(scores.n)).least

    def _claims(self, windows: Windows, given_up: IntArray) -> Claims:
        """Return what each number of points given up claims."""
        kept = windows.keep(given_up)
        mean = windows.mean(kept.start, kept.end)
        radius = kept.high - mean
        if self.radius == "two-sided":
            radius = np.maximum(radius, mean - kept.low)
        return Claims.of(self, windows.n, given_up, mean + radius, radius)

    def _errors_for(self, sample: ScoreSample, rule: Rule) -> ErrorsAt:
        """Return the errors, known one by one only for levels that may decide by the rule."""
        facing = sample.negative, sample.positive.mirrored()
        if all(c.exact for c in facing) or isinstance(rule, Floors) or rule.costly:
            return self.errors(sample)
        windows = [Windows(c, self.centre) for c in facing]
        levels = [_levels(c.n) for c in facing]
        known = [BoundedClaims.of(self, w, m) for w, m in zip(windows, levels, strict=True)]
        allowed, _ = rule.tolerance_towards(sample.n_samples)
        middle = deciding_boundaries(
            (known[0], known[1]),
            lambda below, above: rule.value(below, above, sample.n_samples),
            (
                min(sample.negative.minimum, sample.positive.minimum),
                max(sample.negative.maximum, sample.positive.maximum),
            ),
            allowed,
        )
        if middle is None:
            return self.errors(sample)
        found = []
        for w, m, c, t in zip(windows, levels, known, (middle, -middle[::-1]), strict=True):
            which = c.deciding(t)
            found.append(c.most.replaced(which, self._claims(w, m[which])))
        return lambda t: (found[0].least(t), found[1].least(-t))

    def _refuse_what_only_the_sum_uses(self, rule: Rule) -> None:
        """Raise if a setting was changed that another rule than the sum cannot use."""
        plain = SupportRadius()
        for name in (f.name for f in fields(self) if f.name not in _SHAPE):
            if getattr(self, name) != getattr(plain, name):
                raise InvalidInputError(
                    f"`{name}` of SupportRadius must be left as it is with the rule "
                    f"{rule.name!r}, got {getattr(self, name)!r}. Only the rule 'sum' uses it."
                )


def _levels(n: int) -> IntArray:
    """Return the numbers of points of a class that may be given up."""
    return np.unique(np.linspace(0, max(n - 2, 0), _MOST_LEVELS).astype(np.int64))


def _as_fallback(value: object) -> Fallback:
    """Return "edges", "means", or a finite float."""
    if isinstance(value, str) and value in ("edges", "means"):
        return value  # type: ignore[return-value]
    if is_finite(value) and not isinstance(value, bool):
        return float(value)  # type: ignore[arg-type]
    raise InvalidInputError(
        f"`fallback` must be 'edges', 'means' or a finite number, got {value!r}. "
        "Use fallback='edges' for the middle between what is kept of the classes."
    )
