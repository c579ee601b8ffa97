"""The paper's method as a curve: its settings, and its solution as a boundary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from boundshift._ranking import Ranking, find_ranking
from boundshift._scores import ScoreSample, refuse_weights
from boundshift._search import ErrorsAt, Found
from boundshift._status import Status
from boundshift._typing import FloatArray
from boundshift._validation import as_choice, as_pair, as_positive, is_finite
from boundshift.curves._base import Claim, Empirical, ErrorCurve, Solution
from boundshift.curves._paper.exact import solve
from boundshift.curves._paper.levels import Levels, SupportProblem, class_error, keep_clear
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule, Sum
from boundshift.rules._base import Settings

Pair = tuple[float, float]


@dataclass(frozen=True)
class SupportGeometry:
    """The paper's quantities at a boundary; pairs are (negative, positive).

    Parameters
    ----------
    deltas, log_deltas : tuples of float
        Probabilities with which each class's bound may fail, and their natural logarithms, which
        are exact where the probabilities underflow to 0.
    means, radii, confidence_radii : tuples of float
        Of the kept points: mean, support radius, and radius with its confidence term.
    supports : tuple of tuple of float
        Smallest and largest kept score of each class.
    slack : tuple of int
        Points removed.
    """

    deltas: Pair
    log_deltas: Pair
    means: Pair
    radii: Pair
    confidence_radii: Pair
    supports: tuple[Pair, Pair]
    slack: tuple[int, int]


@dataclass(frozen=True)
class SupportRadius(ErrorCurve):
    r"""The paper's method: the proportion of slack points plus the bound of the others.

    It can only be combined with the rule "sum". The problem is solved exactly, and the same
    proportion of both classes is slack.

    Parameters
    ----------
    gamma : float, default=1
        Factor of the concentration term: 1 as in Eq. R_hat_upper_bound, 2 as in
        Eq. test_point_bound, which the triangle inequality gives.
    constant : float, default=0
        Constant of the concentration term: 2 as printed, or 0, since scores have one dimension
        and Hoeffding's inequality does not need it.
    radius : {"one-sided", "two-sided"}, default="one-sided"
        Whether a class's radius measures only the points towards the other class. No inequality
        covers that, but it decides better.
    slack : {"binary", "continuous"}, default="binary"
        Whether a removed point costs 1 or its distance to the class centre. Continuous slack
        depends on the unit of the scores.
    penalty : {"proportional", "count"}, default="proportional"
        Whether the slack of a class is divided by the class's size. Proportional slack adds up
        with the loss to a claim on both error rates.
    alpha : float or pair (negative, positive), default=1
        Price of slack, above 0.
    budget : int, float or "all", default="all"
        Most points to remove: a number, a share of all rows in (0, 1], or all but two of each
        class.
    centre : {"median", "mean"}, default="median"
        Points farthest from here are removed first. A single far outlier drags the mean, which
        the paper uses, and then the wrong points are removed. With "median" both classes lose
        equal shares at a time, with "mean" one point at a time as in the authors' code.
    stop_at_zero : bool, default=False
        Whether to remove nothing where the problem has a solution without slack, or to look at
        every slack level for a lower loss.
    fallback : {"edges", "means"} or float, default="edges"
        Boundary where no level is feasible: the middle between the facing edges of the points
        kept at full budget, the middle between the class means, or a number.

    Notes
    -----
    Class i keeps :math:`N_i` points of mean :math:`\mu_i` and radius :math:`R_i`. The confidence
    radii :math:`R_i + \gamma R_i N_i^{-1/2} (c + \sqrt{2 \ln 1/\delta_i})` fill the distance of
    the means and meet at the boundary. The sum of :math:`(1 - \delta_i)/(N_i + 1) + \delta_i`, plus
    the price of the removed points, is minimal.

    References
    ----------
    M. Clifford, J. Erskine, A. Hepburn, R. Santos-Rodríguez, D. Garcia-Garcia, "Learning
    Confidence Bounds for Classification with Imbalanced Data", ECAI 2024.

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(SupportRadius.authors(), budget="all")
    SupportRadius(constant=2.0, radius='two-sided', centre='mean', stop_at_zero=True)
    """

    name = "support"
    accepts_weights = False
    is_local = True
    claim = Claim.NOMINAL
    default_rule = Sum()

    gamma: float = 1.0
    constant: float = 0.0
    radius: Literal["one-sided", "two-sided"] = "one-sided"
    slack: Literal["binary", "continuous"] = "binary"
    penalty: Literal["proportional", "count"] = "proportional"
    alpha: float | Pair = (1.0, 1.0)
    budget: int | float | Literal["all"] = "all"
    centre: Literal["median", "mean"] = "median"
    stop_at_zero: bool = False
    fallback: Literal["edges", "means"] | float = "edges"

    def __post_init__(self) -> None:
        budget = np.asarray(self.budget).item()
        checked = {
            "gamma": as_positive("gamma", self.gamma, "The paper has 1 and 2."),
            "constant": as_positive(
                "constant", self.constant, "The paper has 2, Hoeffding's bound 0.", zero=True
            ),
            "alpha": as_pair("alpha", self.alpha, "Use alpha=1 for the paper's setting."),
            "budget": budget,
        }
        as_choice("radius", self.radius, ("one-sided", "two-sided"))
        as_choice("slack", self.slack, ("binary", "continuous"))
        as_choice("penalty", self.penalty, ("proportional", "count"))
        as_choice("centre", self.centre, ("median", "mean"))
        as_choice("stop_at_zero", self.stop_at_zero, (True, False))
        is_share = type(budget) is float and 0 < budget <= 1
        if budget != "all" and not is_share and not (type(budget) is int and budget >= 0):
            raise InvalidInputError(
                "must be a number of points from 0, a share in (0, 1], or 'all', got "
                f"{self.budget!r}. Use budget='all' for no limit.",
                argument="budget",
            )
        if self.fallback not in ("edges", "means") and not is_finite(self.fallback):
            raise InvalidInputError(
                f"must be 'edges', 'means' or a finite number, got {self.fallback!r}. "
                "Use 'edges' for the middle between the kept points of both classes.",
                argument="fallback",
            )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    __repr__ = Settings.changed_repr

    @classmethod
    def paper(cls) -> Self:
        """Return the settings of the paper's text; ``dataclasses.replace`` changes them."""
        return cls(constant=2.0, radius="two-sided", penalty="count", centre="mean")

    @classmethod
    def authors(cls) -> Self:
        """Return the settings of the authors' code."""
        return cls(constant=2.0, radius="two-sided", budget=0.5, centre="mean", stop_at_zero=True)

    @property
    def treats_classes_alike(self) -> bool:
        """Whether slack has the same price in both classes."""
        negative, positive = as_pair("alpha", self.alpha)
        return negative == positive

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return the counted error rates; the paper's bound holds at its own threshold only."""
        return Empirical().errors(sample)

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the boundary of the paper's problem, or the fallback if it has no solution.

        It is solved with the positive class above. For scores that point the other way the paper
        bounds the errors of `score < threshold`; those of `score > threshold` may be up to 1.
        """
        refuse_weights(sample, self.name)
        if rule != Sum():
            raise InvalidInputError(
                "must be 'sum' with the paper's curve, which minimises the sum of both "
                f"errors, but it is {rule!r}. Leave out the rule, or the curve.",
                argument="rule",
            )
        direction = 1.0
        upright = sample
        if sample.is_reversed:
            direction = -1.0
            negative = sample.negative.mirrored()
            upright = replace(sample, negative=negative, positive=sample.positive.mirrored())
        problem = SupportProblem(upright, self)
        has_single_row = min(sample.n_samples) == 1
        optimum = None if has_single_row else solve(problem)
        if optimum is None:
            return self._fall_back(sample, problem, direction)
        level = optimum.level
        threshold = direction * keep_clear(optimum.threshold, level)
        geometry = self._describe(problem, level, optimum.u, direction)
        if sample.is_reversed:
            found = Found(threshold, (threshold, threshold), (1.0, 1.0), 2.0)
            is_shown = find_ranking(sample) is Ranking.REVERSED
            status = Status.REVERSED if is_shown else Status.CHANCE
            return Solution(found, status, geometry=geometry)
        removed = np.array(geometry.slack) / problem.n_samples
        errors = np.minimum(1.0, class_error(level.n, geometry.deltas) + removed)
        found = Found(threshold, (threshold, threshold), _pair(errors), optimum.loss)
        status = Status.RELAXED if level.level > 0 else Status.OPTIMAL
        return Solution(found, status, geometry=geometry)

    def _fall_back(
        self, sample: ScoreSample, problem: SupportProblem, direction: float
    ) -> Solution:
        """Return the boundary for problems without a solution, which claims nothing."""
        ends = problem.levels(np.array([0, problem.last]))
        no_slack = ends.take(0)
        if isinstance(self.fallback, str):
            facing = no_slack.mean if self.fallback == "means" else ends.edge[:, 1]
            threshold = direction * float(facing[0] - facing[1]) / 2
        else:
            threshold = float(sample.from_units(self.fallback))
        if min(sample.n_samples) == 1:
            status = Status.SINGLE_ROW
        elif sample.negative.median == sample.positive.median:
            status = Status.UNINFORMATIVE
        else:
            status = Status.INFEASIBLE
        found = Found(threshold, (threshold, threshold), (1.0, 1.0), np.inf)
        geometry = self._describe(problem, no_slack, (0.0, 0.0), direction)
        return Solution(found, status, geometry=geometry)

    def _describe(
        self, problem: SupportProblem, level: Levels, u: Pair, direction: float
    ) -> SupportGeometry:
        """Return the paper's quantities at a level, in the order and direction of the scores."""
        log_deltas = -0.5 * np.square(u)
        kept = [[level.low[0], level.high[0]], [-level.high[1], -level.low[1]]]
        supports = np.sort(direction * np.array(kept))
        slack = problem.n_samples - level.n
        confidence_radii = level.radius + level.step * (self.constant + np.array(u))
        return SupportGeometry(
            deltas=_pair(np.exp(log_deltas)),
            log_deltas=_pair(log_deltas),
            means=_pair(direction * level.mean * [1, -1]),
            radii=_pair(level.radius),
            confidence_radii=_pair(confidence_radii),
            supports=(_pair(supports[0]), _pair(supports[1])),
            slack=(int(slack[0]), int(slack[1])),
        )


def _pair(values: FloatArray) -> Pair:
    negative, positive = values.tolist()
    return negative, positive
