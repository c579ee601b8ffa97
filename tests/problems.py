"""Random problems for the property tests; every run draws the same ones."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.exhaustive import Options

KINDS = ("normal", "whole", "heavy", "two humps", "skewed", "rounded")


def many(n: int) -> settings:
    """Return settings that draw the same `n` problems on every machine."""
    return settings(max_examples=n, derandomize=True, deadline=None, database=None)


def two_normals(negatives: int, positives: int, gap: float):
    """Return labels, and scores of two normal classes `gap` apart."""
    y = np.repeat([0, 1], [negatives, positives])
    return y, np.random.default_rng(0).normal(gap * y)


def draw_classes(rng, kind: str, n: int, p: int, gap: float):
    """Return the scores of a negative and a positive class `gap` apart."""
    if kind == "normal":
        return rng.normal(0, 1, n), rng.normal(gap, 1, p)
    if kind == "whole":
        return rng.integers(-4, 4, n) + 0.0, rng.integers(0, 8, p) + np.round(gap)
    if kind == "heavy":
        return rng.standard_t(1, n), rng.standard_t(1, p) + gap
    if kind == "two humps":
        low = np.where(rng.random(n) < 0.4, -5, 0)
        high = np.where(rng.random(p) < 0.4, 5, 0)
        return low + rng.normal(0, 0.3, n), high + gap + rng.normal(0, 0.3, p)
    if kind == "skewed":
        return rng.exponential(1, n), gap + rng.exponential(2, p)
    return np.round(rng.normal(0, 1, n), 1), np.round(rng.normal(gap, 1, p), 1)


def upright(negative, positive):
    """Return a problem whose positive class lies above, by median and then by mean."""
    order = np.median(positive) - np.median(negative) or positive.mean() - negative.mean()
    return (-negative, -positive) if order < 0 else (negative, positive)


def labelled(negative, positive):
    """Return labels and scores."""
    y = np.repeat([0, 1], [len(negative), len(positive)])
    return y, np.concatenate([negative, positive])


@st.composite
def classes(draw, most: int = 24):
    """Draw two classes of any shape, the positive one above."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, most))
    p = draw(st.integers(2, most))
    kind = draw(st.sampled_from(KINDS))
    gap = draw(st.sampled_from([0.3, 1.0, 2.0, 4.0, 10.0, 50.0]))
    return upright(*draw_classes(rng, kind, n, p, gap))


@st.composite
def tied_classes(draw):
    """Draw two classes of small whole numbers, with ties within and across."""
    numbers = st.lists(st.integers(-5, 5), min_size=2, max_size=12)
    negative = draw(numbers)
    positive = draw(numbers)
    shift = draw(st.integers(0, 12))
    return upright(np.array(negative, dtype=float), np.array(positive, dtype=float) + shift)


OPTIONS = st.builds(
    Options,
    gamma=st.sampled_from([1.0, 2.0, 0.3]),
    constant=st.sampled_from([0.0, 2.0, 0.5]),
    radius=st.sampled_from(["one-sided", "two-sided"]),
    slack=st.sampled_from(["binary", "continuous"]),
    penalty=st.sampled_from(["proportional", "count"]),
    alpha=st.sampled_from([(1.0, 1.0), (0.1, 0.1), (0.01, 0.02), (1.0, 3.0), (0.001, 0.001)]),
    budget=st.sampled_from(["all", 0.5, 3, 0.29]),
    centre=st.sampled_from(["median", "mean"]),
    stop_at_zero=st.booleans(),
)
