"""The boundary of the paper's problem, solved or not, as a record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boundshift.support.equations import class_error
from boundshift.scores.orientation import is_reversed, turned
from boundshift.result.boundary import Boundary, Status
from boundshift.scores.sample import ScoreSample
from boundshift.support.slsqp import solve_slsqp
from boundshift.support.levels import Levels, Support, SupportProblem, SupportSolution, solve

__all__ = ["fall_back", "solve_sample"]

Pair = tuple[float, float]

# A threshold keeps this share of the kept scores' range from a score that it must not touch.
_CLEARANCE = 1e-10


def solve_sample(
    sample: ScoreSample,
    options: Support,
    solver: str,
    start: float,
    fallback: str | float,
) -> Boundary:
    """Solve in the orientation in which the positive class lies above, or fall back."""
    lies_below = is_reversed(sample)
    upright = sample.reversed() if lies_below else sample
    problem = SupportProblem(upright, options)
    solution = None
    if min(sample.n_samples) > 1:
        solution = solve(problem) if solver == "exact" else solve_slsqp(problem, start)
    if solution is None:
        boundary = fall_back(upright, problem, fallback)
    else:
        boundary = _record(upright, problem, solution, solver)
    if lies_below:
        boundary = turned(boundary)
    if isinstance(fallback, int | float) and not boundary.status.solved:
        boundary = replace(boundary, threshold=float(fallback))
    return boundary


def _record(
    sample: ScoreSample, problem: SupportProblem, solution: SupportSolution, solver: str
) -> Boundary:
    """Put a solution into a record."""
    log_deltas = (-0.5 * solution.u[0] ** 2, -0.5 * solution.u[1] ** 2)
    deltas = (float(np.exp(log_deltas[0])), float(np.exp(log_deltas[1])))
    known = _describe(sample, problem, solution.level, solution.u)
    errors = [
        min(1.0, float(class_error(n - m, delta)) + m / n)
        for n, m, delta in zip(known.n_samples, known.slack, deltas, strict=True)
    ]
    relaxed = Status.RELAXED if any(known.slack) else Status.OPTIMAL
    threshold = _settle(sample, solution.threshold, solution.level)
    return replace(
        known,
        threshold=threshold,
        plateau=(threshold, threshold),
        status=Status.LOCAL if solver == "slsqp" else relaxed,
        deltas=deltas,
        error_bounds=(errors[0], errors[1]),
        loss=solution.loss,
        log_deltas=log_deltas,
    )


def fall_back(sample: ScoreSample, problem: SupportProblem, fallback: str | float) -> Boundary:
    """Return the documented boundary for a problem without a solution."""
    if min(sample.n_samples) == 1:
        status = Status.SINGLE_ROW
    elif sample.negative.median == sample.positive.median:
        status = Status.UNINFORMATIVE
    else:
        status = Status.INFEASIBLE
    deepest = problem.levels(np.array([problem.last]))
    facing = deepest.edge if fallback == "edges" else problem.levels(np.array([0])).mean
    middle = float(facing[0, 0] - facing[1, 0]) / 2
    known = _describe(sample, problem, problem.levels(np.array([0])), (0.0, 0.0))
    threshold = sample.to_units(middle)
    return replace(known, status=status, threshold=threshold, plateau=(threshold, threshold))


def _describe(sample: ScoreSample, problem: SupportProblem, level: Levels, u: Pair) -> Boundary:
    """Return what is known of the kept points, with nothing claimed yet."""
    given_up = problem.path.given_up(level.level)
    kept = [w.keep(m) for w, m in zip(problem.windows, given_up, strict=True)]
    reach = level.step[:, 0] * (problem.options.constant + np.array(u))
    units = sample.to_units
    return Boundary(
        threshold=np.nan,
        status=Status.INFEASIBLE,
        deltas=(1.0, 1.0),
        error_bounds=(1.0, 1.0),
        loss=np.inf,
        slack=(int(given_up[0, 0]), int(given_up[1, 0])),
        n_samples=sample.n_samples,
        labels=sample.labels,
        log_deltas=(0.0, 0.0),
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
        plateau=(np.nan, np.nan),
    )


def _settle(sample: ScoreSample, threshold: float, level: Levels) -> float:
    """Keep a threshold clear of the edges between which it lies.

    At an end of the constraint it falls on a kept score, and a rounding error would decide
    on which side of the boundary that score stands.
    """
    low, high = float(level.edge[0, 0]), -float(level.edge[1, 0])
    kept_range = float(level.distance[0] + level.radius[:, 0].sum())
    clear = min(_CLEARANCE * kept_range, (high - low) / 4)
    threshold = min(max(threshold, low + clear), high - clear)
    return sample.to_units(max(min(threshold, float(np.nextafter(high, -np.inf))), low))
