"""The boundary of the paper's problem, solved or not."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np

from boundshift.scores.sample import ScoreSample
from boundshift.search.found import Found
from boundshift.status import Status
from boundshift.support.equations import class_error
from boundshift.support.geometry import SupportGeometry
from boundshift.support.levels import Levels, SupportProblem, SupportSolution
from boundshift.support.settings import SupportSettings

__all__ = ["Answer", "Fallback", "Solver", "fall_back", "solve_support"]

Pair = tuple[float, float]
Fallback = Literal["edges", "means"] | float

# A threshold keeps this share of the kept scores' range from a score that it must not touch.
_CLEARANCE = 1e-10


class Solver(Protocol):
    """Finds an optimum over the slack levels."""

    @property
    def is_global(self) -> bool:
        """Whether it is the best of all."""

    def solve(self, problem: SupportProblem) -> SupportSolution | None:
        """Return the optimum, or None if no level is feasible."""


class Answer(NamedTuple):
    """A boundary in the sample's units, what happened, and the paper's quantities."""

    found: Found
    status: Status
    geometry: SupportGeometry


def solve_support(
    sample: ScoreSample, settings: SupportSettings, solver: Solver, fallback: Fallback
) -> Answer:
    """Solve in the orientation in which the positive class lies above, or fall back."""
    lies_below = sample.is_reversed
    upright = sample.reversed() if lies_below else sample
    problem = SupportProblem(upright, settings)
    solution = solver.solve(problem) if min(sample.n_samples) > 1 else None
    if solution is None:
        return fall_back(sample, settings, fallback)
    answer = _put_together(upright, problem, solution, solver)
    return _mirror_back(answer) if lies_below else answer


def fall_back(sample: ScoreSample, settings: SupportSettings, fallback: Fallback) -> Answer:
    """Return the documented boundary for a problem without a solution."""
    lies_below = sample.is_reversed
    upright = sample.reversed() if lies_below else sample
    problem = SupportProblem(upright, settings)
    if min(sample.n_samples) == 1:
        status = Status.SINGLE_ROW
    elif sample.negative.median == sample.positive.median:
        status = Status.UNINFORMATIVE
    else:
        status = Status.INFEASIBLE
    first = problem.levels(np.array([0]))
    deepest = problem.levels(np.array([problem.last]))
    facing = first.mean if fallback == "means" else deepest.edge
    middle = float(facing[0, 0] - facing[1, 0]) / 2
    found = Found(middle, (middle, middle), (1.0, 1.0), np.inf)
    answer = Answer(found, status, _describe(upright, problem, first, (0.0, 0.0)))
    if lies_below:
        answer = _mirror_back(answer)
    if isinstance(fallback, str):
        return answer
    given = float(sample.from_units(fallback))
    return answer._replace(found=found._replace(threshold=given, plateau=(given, given)))


def _mirror_back(answer: Answer) -> Answer:
    """Return the answer to the problem whose scores have the other sign."""
    low, high = answer.found.plateau
    return Answer(
        answer.found._replace(threshold=-answer.found.threshold, plateau=(-high, -low)),
        Status.REVERSED if answer.status.solved else answer.status,
        answer.geometry.mirror_back(),
    )


def _put_together(
    sample: ScoreSample, problem: SupportProblem, solution: SupportSolution, solver: Solver
) -> Answer:
    """Return a solution with its claims and its geometry."""
    geometry = _describe(sample, problem, solution.level, solution.u)
    errors = [
        min(1.0, float(class_error(n - m, delta)) + m / n)
        for n, m, delta in zip(sample.n_samples, geometry.slack, geometry.deltas, strict=True)
    ]
    status = Status.RELAXED if any(geometry.slack) else Status.OPTIMAL
    threshold = _settle(solution.threshold, solution.level)
    found = Found(threshold, (threshold, threshold), (errors[0], errors[1]), solution.loss)
    return Answer(found, status if solver.is_global else Status.LOCAL, geometry)


def _describe(
    sample: ScoreSample, problem: SupportProblem, level: Levels, u: Pair
) -> SupportGeometry:
    """Return what is known of the kept points at a level."""
    given_up = problem.path.given_up(level.level)
    kept = [w.keep(m) for w, m in zip(problem.windows, given_up, strict=True)]
    reach = level.step[:, 0] * (problem.settings.constant + np.array(u))
    log_deltas = (-0.5 * u[0] ** 2, -0.5 * u[1] ** 2)
    units = sample.unscale
    return SupportGeometry(
        deltas=(float(np.exp(log_deltas[0])), float(np.exp(log_deltas[1]))),
        log_deltas=log_deltas,
        means=(units(level.mean[0, 0]), units(-level.mean[1, 0])),
        radii=(units(level.radius[0, 0]), units(level.radius[1, 0])),
        confidence_radii=(
            units(level.radius[0, 0] + reach[0]),
            units(level.radius[1, 0] + reach[1]),
        ),
        supports=(
            (units(kept[0].low[0]), units(kept[0].high[0])),
            (units(-kept[1].high[0]), units(-kept[1].low[0])),
        ),
        slack=(int(given_up[0, 0]), int(given_up[1, 0])),
    )


def _settle(threshold: float, level: Levels) -> float:
    """Keep a threshold clear of the edges between which it lies.

    At an end of the constraint it falls on a kept score, and a rounding error would decide
    on which side of the boundary that score stands.
    """
    low, high = float(level.edge[0, 0]), -float(level.edge[1, 0])
    kept_range = float(level.distance[0] + level.radius[:, 0].sum())
    clear = min(_CLEARANCE * kept_range, (high - low) / 4)
    threshold = min(max(threshold, low + clear), high - clear)
    return max(min(threshold, float(np.nextafter(high, -np.inf))), low)
