"""Algorithm 1 of the paper, plainly: every slack level in turn, a grid of confidences at each.

Nothing is shared with `boundshift`: points, means and radii are computed anew at every level, and
the optimum is the best of a grid. It is slow and coarse, and serves as the second opinion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boundshift._typing import FloatArray

GRID_SIZE = 10_000


class BruteForce(NamedTuple):
    """The best of all slack levels and grid points."""

    threshold: float
    loss: float
    slack: tuple[int, int]


def brute_force(
    y_true: ArrayLike, y_score: ArrayLike, *, penalty: str = "count", alpha: float = 1.0
) -> BruteForce | None:
    """Run Algorithm 1 with the whole sample as its budget; None if no level is feasible.

    A point given up costs `alpha`, with penalty "count", or its share of the class, with penalty
    "proportional", as in the authors' code.
    """
    y, scores = np.asarray(y_true), np.asarray(y_score, dtype=float)
    classes = scores[y == 0], scores[y == 1]
    ranked = [_nearest_first(values) for values in classes]
    sizes = len(ranked[0]), len(ranked[1])
    best: BruteForce | None = None
    for slack in _shares(sizes):
        kept = [values[: len(values) - m] for values, m in zip(ranked, slack, strict=True)]
        found = _best_on_grid(kept[0], kept[1])
        if found is None:
            continue
        loss = found[1] + alpha * _price(slack, sizes, penalty)
        if best is None or loss < best.loss:
            best = BruteForce(found[0], loss, slack)
    return best


def _nearest_first(values: FloatArray) -> FloatArray:
    """Order the points of a class by their distance to its mean."""
    return values[np.argsort(np.abs(values - values.mean()), kind="stable")]


def _shares(sizes: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the points given up at every level, one more each time, in proportion."""
    most = max(sizes[0] - 2, 0), max(sizes[1] - 2, 0)
    given_up, levels = [0, 0], [(0, 0)]
    turn = 0
    while given_up[0] < most[0] or given_up[1] < most[1]:
        other = 1 - turn
        ahead = given_up[turn] * sizes[other] > given_up[other] * sizes[turn]
        if given_up[turn] == most[turn] or (ahead and given_up[other] < most[other]):
            turn = other
        given_up[turn] += 1
        levels.append((given_up[0], given_up[1]))
    return levels


def _price(slack: tuple[int, int], sizes: tuple[int, int], penalty: str) -> float:
    """Return the price of the points given up."""
    if penalty == "count":
        return float(sum(slack))
    return slack[0] / sizes[0] + slack[1] / sizes[1]


def _best_on_grid(negative: FloatArray, positive: FloatArray) -> tuple[float, float] | None:
    """Return threshold and loss at the best grid point, or None if there is none."""
    (n1, mean1, r1), (n2, mean2, r2) = (
        (len(v), v.mean(), np.abs(v - v.mean()).max()) for v in (negative, positive)
    )
    if mean2 <= mean1 or r1 == 0 or r2 == 0:
        return None
    delta1 = np.linspace(1.0 / GRID_SIZE, 1.0, GRID_SIZE)
    reach = r1 + r1 / np.sqrt(n1) * (2 + np.sqrt(2 * np.log(1 / delta1)))
    u2 = (mean2 - mean1 - reach - r2) * np.sqrt(n2) / r2 - 2
    delta2 = np.exp(-0.5 * u2**2)
    loss = (1 - delta1) / (n1 + 1) + delta1 + (1 - delta2) / (n2 + 1) + delta2
    loss[u2 < 0] = np.inf
    i = int(loss.argmin())
    return (float(mean1 + reach[i]), float(loss[i])) if np.isfinite(loss[i]) else None
