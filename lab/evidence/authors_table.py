"""Compare every stored run of the authors' code with the exact optimum, and say why they differ.

Run as ``python -m lab.evidence.authors_table``: prints the table and writes it to
``docs/reference_comparison.md``. Each cause is computed from the run: the losses of the grid
points that the authors' code could have chosen, the constraint at the point it did choose, and the
slack levels within its budget.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boundshift import Boundary, SupportRadius, find_boundary
from boundshift.paper import Geometry, SupportGeometry, delta2_from_delta1, loss
from lab.harness.quiet import quiet

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "reference" / "data"
PAGE = ROOT / "docs" / "reference_comparison.md"

# The authors try 10,000 values of the majority's delta and keep those on the constraint.
STEP = 1e-4
GRID = np.linspace(STEP, 1, 10_000)
MOST_PROCESSORS = 64

INTRODUCTION = """\
# The authors' runs, solved exactly

Made by `python -m lab.evidence.authors_table` from the runs in `tests/reference/data`: what the
authors' public code (commit 0ea30f5) chose on 28 sets of training scores, with binary and with
continuous slack, and what `find_boundary(..., curve="authors")` finds on the same scores. Every
cause is computed from the run.

- **grid step**: the optimum lies between two of their grid points of δ₁, which are 0.0001 apart.
- **grid floor**: the optimal δ₁ is below 0.0001, their smallest grid point.
- **underflow**: the optimal δ is below the smallest double; only its logarithm can be computed.
- **rounded-off feasibility**: a grid point on the constraint is better than the one they chose.
  Their filter keeps only points whose residual is exactly 0.0 in floating point, and dropped it.
- **more slack levels**: the optimum gives up more points than they tried. They stop one short of
  half the rows, and cut that to whole batches, whose size depends on the number of processors.
- **not on the constraint**: their point does not satisfy the constraint. δ₂ comes from a squared
  bracket, which hides that the bracket is negative; no loss can be compared with it.
- **both without a solution**: no level within the budget has room for the confidence bounds.

"""


class Row(NamedTuple):
    """One run with one kind of slack."""

    run: str
    slack: str
    theirs: dict[str, Any]
    ours: Boundary
    cause: str


def rows() -> list[Row]:
    """Solve every stored run."""
    scores = np.load(DATA / "authors_runs.npz")
    runs = json.loads((DATA / "authors_runs.json").read_text(encoding="utf-8"))
    processors = consistent_processors(runs, scores)
    found = []
    for run in runs:
        key = f"{run['dataset']}_{run['seed']}"
        y, s = scores[f"{key}/train_y"], scores[f"{key}/train_scores"]
        tried = max(levels_tried(len(y), p) for p in processors)
        for slack in ("binary", "continuous"):
            with quiet():
                ours = find_boundary(y, s, curve=SupportRadius.authors(slack=slack))
            found.append(Row(key, slack, run[slack], ours, cause(run[slack], ours, tried)))
    return found


def levels_tried(n_rows: int, processors: int) -> int:
    """Return how many slack levels, from 0 on, the authors' code tries."""
    budget = n_rows // 2
    batch = max(min(100, budget // processors), 1)
    return budget // batch * batch


def consistent_processors(runs: list[dict[str, Any]], scores: Any) -> list[int]:
    """Return the numbers of processors with which every chosen level would have been tried."""
    chosen = [
        (len(scores[f"{run['dataset']}_{run['seed']}/train_y"]), sum(given_up(run[slack])))
        for run in runs
        for slack in ("binary", "continuous")
        if run[slack]["is_fit"]
    ]
    return [
        p for p in range(1, MOST_PROCESSORS + 1) if all(m < levels_tried(n, p) for n, m in chosen)
    ]


def given_up(theirs: dict[str, Any]) -> tuple[int, int]:
    """Return the points that they gave up in each class."""
    return theirs["num_reduced_1"], theirs["num_reduced_2"]


def cause(theirs: dict[str, Any], ours: Boundary, tried: int) -> str:
    """Say in words why the two results differ."""
    if not theirs["is_fit"]:
        return "more slack levels" if ours.status.solved else "both without a solution"
    violation = bracket(theirs)
    if violation < 0:
        return f"not on the constraint (bracket {violation:.3f})"
    if given_up(theirs) == geometry(ours).slack:
        return cause_on_one_level(theirs, ours)
    if sum(geometry(ours).slack) >= tried:
        return f"more slack levels (they end at {tried - 1})"
    if beats(theirs, ours):
        return f"rounded-off feasibility (all better grid points at {geometry(ours).slack})"
    return f"grid step (moves the best level to {geometry(ours).slack})"


def cause_on_one_level(theirs: dict[str, Any], ours: Boundary) -> str:
    """Say why two results on the same slack level differ."""
    if min(geometry(ours).log_deltas) < np.log(np.finfo(float).tiny):
        return "underflow"
    if geometry(ours).deltas[0] < STEP:
        return f"grid floor (optimal δ₁ {geometry(ours).deltas[0]:.1e})"
    best, _ = best_grid_point(ours)
    if beats(theirs, ours):
        return f"rounded-off feasibility (δ₁ = {best:.4f} was dropped)"
    return "grid step"


def residual(delta1: float, theirs: dict[str, Any]) -> float:
    """Return what the constraint leaves at a grid point, in their order of operations."""

    def reach(radius: float, n: int, delta: float) -> float:
        return float(radius / np.sqrt(n) * (2 + np.sqrt(2 * np.log(1 / delta))))

    r1, r2, d = theirs["R1"], theirs["R2"], theirs["D"]
    b = d - r2 - r1 - reach(r1, theirs["N1"], delta1)
    delta2 = 1 / np.exp(0.5 * np.square(b * np.sqrt(theirs["N2"]) / r2 - 2))
    reaches = (r1 + reach(r1, theirs["N1"], delta1)) + (r2 + reach(r2, theirs["N2"], delta2))
    return float(reaches - d)


def bracket(theirs: dict[str, Any]) -> float:
    """Return u₂ at their δ₁, which the constraint wants to be at least 0."""
    u1 = np.sqrt(2 * np.log(1 / theirs["delta1"]))
    a1, a2 = their_geometry(theirs).step
    free = theirs["D"] - theirs["R1"] - theirs["R2"] - a1 * (2 + u1)
    return float(free / a2 - 2)


def their_geometry(theirs: dict[str, Any]) -> Geometry:
    """Return what their optimisation knew at the level they chose."""
    n, radius = (theirs["N1"], theirs["N2"]), (theirs["R1"], theirs["R2"])
    return Geometry(n, radius, theirs["D"])


def geometry(ours: Boundary) -> SupportGeometry:
    """Return the paper's quantities at the exact optimum, which has them."""
    assert ours.geometry is not None
    return ours.geometry


def our_geometry(ours: Boundary) -> Geometry:
    """Return the optimisation at the level of the exact optimum."""
    slack, means = geometry(ours).slack, geometry(ours).means
    n = ours.n_samples[0] - slack[0], ours.n_samples[1] - slack[1]
    return Geometry(n, geometry(ours).radii, means[1] - means[0])


def best_grid_point(ours: Boundary) -> tuple[float, float]:
    """Return the best of their grid points at the level of the exact optimum, and its loss."""
    space = our_geometry(ours)
    on_constraint = GRID[~np.isnan(delta2_from_delta1(GRID, space))]
    if not len(on_constraint):
        return np.nan, np.inf
    losses = loss(on_constraint, space)
    return float(on_constraint[losses.argmin()]), float(losses.min())


def beats(theirs: dict[str, Any], ours: Boundary) -> bool:
    """Return whether a grid point at the level of the exact optimum beats what they chose."""
    price = ours.loss - float(loss(geometry(ours).deltas[0], our_geometry(ours)))
    return bool(best_grid_point(ours)[1] + price < theirs["loss"] - 1e-12)


def page() -> str:
    """Return the page, table and counts."""
    found = rows()
    kinds = Counter(row.cause.split(" (")[0] for row in found)
    counts = "\n".join(f"| {kind} | {count} |" for kind, count in kinds.most_common())
    sound = [row for row in found if row.theirs["solution_found"]]
    gains = [row.theirs["loss"] - row.ours.loss for row in sound]
    head = (
        "| run | slack | their loss | our loss | their boundary | our boundary "
        "| their points given up | ours | cause |\n|---|---|---|---|---|---|---|---|---|\n"
    )
    return (
        INTRODUCTION
        + f"On the {len(sound)} results that satisfy the constraint the exact loss is lower by "
        f"{min(gains):.1e} to {max(gains):.1e}, never higher.\n\n"
        + f"| cause | results |\n|---|---|\n{counts}\n\n"
        + head
        + "\n".join(map(line, found))
        + "\n"
    )


def line(row: Row) -> str:
    """Return one line of the table."""
    theirs, ours = row.theirs, row.ours
    if theirs["is_fit"]:
        chosen = (
            f"{theirs['boundary']:.4f}",
            f"{theirs['num_reduced_1']}, {theirs['num_reduced_2']}",
        )
        value = f"{theirs['loss']:.6f}"
    else:
        chosen, value = ("–", "–"), "–"
    solved = ours.status.solved
    cells = (
        row.run,
        row.slack,
        value,
        f"{ours.loss:.6f}" if solved else "–",
        chosen[0],
        f"{ours.threshold:.4f}" if solved else "–",
        chosen[1],
        f"{geometry(ours).slack[0]}, {geometry(ours).slack[1]}" if solved else "–",
        row.cause,
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(page())
