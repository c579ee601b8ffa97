"""The method a second time, by brute force: nothing is shared with the package but the question.

Points are given up one after the other, the farthest first, from plain lists; every slack level
is set up from the points it keeps; on every level the share of the free space is searched on a
fine grid, and each place where the slope changes sign is bisected.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

TIE = 1e-13
GRID = np.union1d(np.linspace(0, 1, 201), 1 / (1 + np.exp(np.linspace(-40, 40, 201))))


class Candidate(NamedTuple):
    """A local minimum on one slack level."""

    loss: float
    threshold: float
    slack: tuple[int, int]


class Options(NamedTuple):
    """The arguments of `find_boundary`, spelled out."""

    gamma: float = 1.0
    constant: float = 0.0
    radius: str = "one-sided"
    slack: str = "binary"
    penalty: str = "proportional"
    alpha: tuple[float, float] = (1.0, 1.0)
    budget: int | float | str = "all"
    centre: str = "median"
    stop_at_zero: bool = False


def candidates(negative, positive, options: Options) -> list[Candidate]:
    """Return every local minimum of every slack level; the negative class lies below."""
    # Each class in a frame where the other lies above.
    classes = [sorted(map(float, negative)), sorted(-float(s) for s in positive)]
    windows = [all_windows(values, options.centre) for values in classes]
    found: list[Candidate] = []
    for m in path(len(negative), len(positive), options):
        price = 0.0
        kept = []
        for window, values, k, alpha in zip(windows, classes, m, options.alpha, strict=True):
            points, distance = window[k]
            amount = k if options.slack == "binary" else distance
            price += alpha * amount / (len(values) if options.penalty == "proportional" else 1)
            kept.append(points)
        found += level_candidates(kept, price, m, options)
        if m == (0, 0) and options.stop_at_zero and found:
            break
    return found


def all_windows(values: list[float], centre: str) -> list[tuple[list[float], float]]:
    """Return (kept points, distance given up so far) after 0, 1, 2… points were given up."""
    n = len(values)
    low = values[(n - 1) // 2]
    high = values[n // 2]
    c = low + (high - low) / 2
    if centre == "mean":
        c = high + math.fsum(v - high for v in values) / n
    middle_half = values[3 * n // 4] - values[n // 4]
    kept = list(values)
    lost = [0.0]
    result = [(list(kept), 0.0)]
    while len(kept) > 2:
        farthest = max(abs(v - c) for v in kept)
        tolerance = TIE * (2 * farthest + middle_half)
        # Of equally far points the one facing the other class, the highest, goes first.
        goes = max(v for v in kept if abs(v - c) >= farthest - tolerance)
        lost.append(abs(goes - c))
        kept.remove(goes)
        result.append((list(kept), math.fsum(lost)))
    return result


def path(n_negative: int, n_positive: int, options: Options) -> list[tuple[int, int]]:
    """Return the points given up at each level, within the budget."""
    walk = one_by_one if options.centre == "mean" else by_share
    n = n_negative + n_positive
    most = {"all": n}.get(options.budget, options.budget)
    if isinstance(most, float):
        most = math.floor(most * n + 1e-9)
    return [m for m in walk(n_negative, n_positive) if sum(m) <= most]


def by_share(n_negative: int, n_positive: int) -> list[tuple[int, int]]:
    """Give up one point of the larger class a level, and the same share, or more, of the other."""
    larger = max(n_negative, n_positive)
    smaller = min(n_negative, n_positive)
    levels = []
    for j in range(max(larger - 2, 0) + 1):
        few = min(math.ceil(j * smaller / larger - 1e-12), max(smaller - 2, 0))
        levels.append((few, j) if n_negative < n_positive else (j, few))
    return levels


def one_by_one(n_negative: int, n_positive: int) -> list[tuple[int, int]]:
    """Give up from one class until its share passes the other's, then from the other; repeat."""
    n = (n_negative, n_positive)
    m = [0, 0]
    turn = 0
    levels = [(0, 0)]
    while any(k < size - 2 for k, size in zip(m, n, strict=True)):
        other = 1 - turn
        full = m[turn] >= n[turn] - 2
        ahead = m[turn] * n[other] > m[other] * n[turn] and m[other] < n[other] - 2
        if full or ahead:
            turn = other
            continue
        m[turn] += 1
        levels.append((m[0], m[1]))
    return levels


def level_candidates(kept, price, m, options: Options) -> list[Candidate]:
    """Return the local minima on one level, each class in its own frame."""
    n = [len(v) for v in kept]
    real = [*kept[0], *(-x for x in kept[1])]
    scale = max(real) - min(real)
    mean = [v[0] + math.fsum(x - v[0] for x in v) / len(v) for v in kept]
    far = abs if options.radius == "two-sided" else float
    radius = [max(0.0, *(far(x - mu) for x in v)) for v, mu in zip(kept, mean, strict=True)]
    step = [options.gamma * r / math.sqrt(k) for r, k in zip(radius, n, strict=True)]
    distance = -(mean[0] + mean[1])
    space = distance - sum(radius) - options.constant * sum(step)
    if distance <= TIE * scale or space < -TIE * scale:
        return []
    space = 0.0 if space <= TIE * scale else space
    constant = price + sum(1 / (k + 1) for k in n)
    weight = [k / (k + 1) for k in n]
    foot = mean[0] + radius[0] + options.constant * step[0]
    return [
        Candidate(constant + value, foot + theta * space, m)
        for theta, value in minima(space, step, weight)
    ]


def minima(space, step, weight) -> list[tuple[float, float]]:
    """Return (share, variable part of the loss) at both ends and at each minimum between."""
    if max(step) == 0:
        return [(0.0, 0.0), (1.0, 0.0)]
    if min(step) == 0:  # a class that is a point needs no space to be sure of itself
        other = 0 if step[0] > 0 else 1
        u = space / step[other]
        return [(1.0 - other, weight[other] * math.exp(-min(u * u / 2, 1e4)))]
    k = [space / a for a in step]
    thetas = [0.0, 1.0]
    if space > 0:  # else the loss is flat
        sign = slope(GRID[1:-1], k, weight)
        turns = np.flatnonzero((sign[:-1] < 0) & (sign[1:] >= 0))
        thetas += [bisect(GRID[i + 1], GRID[i + 2], k, weight) for i in turns]
    return [(theta, variable_loss(theta, k, weight)) for theta in thetas]


def variable_loss(theta: float, k, weight) -> float:
    """Return what the loss holds beside its constants."""
    u = k[0] * theta, k[1] * (1 - theta)
    return sum(w * math.exp(-min(x * x / 2, 1e4)) for w, x in zip(weight, u, strict=True))


def slope(theta, k, weight):
    """Return a number with the sign of the loss's slope, from logarithms of its two terms."""
    offset = math.log(weight[1] * k[1] ** 2) - math.log(weight[0] * k[0] ** 2)
    squares = (k[0] * theta) ** 2 - (k[1] * (1 - theta)) ** 2
    return offset + np.log((1 - theta) / theta) + squares / 2


def bisect(low: float, high: float, k, weight) -> float:
    """Return where the slope turns from negative to positive."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle, k, weight) < 0 else (low, middle)
    return (low + high) / 2
