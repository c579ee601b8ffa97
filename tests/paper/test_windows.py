import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift.curves.paper import Windows, proportional_path, sequential_path
from boundshift.scores import Scores
from tests.exhaustive import all_windows, by_share, one_by_one
from tests.problems import KINDS, draw_classes, many

CENTRES = ["median", "mean"]
SHAPES = st.builds(
    lambda seed, kind, n: np.sort(draw_classes(np.random.default_rng(seed), kind, n, 2, 1.0)[0]),
    st.integers(0, 2**32 - 1),
    st.sampled_from(KINDS),
    st.integers(2, 30),
)


def windows_of(values, centre):
    """Return every window of a class, and the same by removing points one by one."""
    values = np.sort(np.asarray(values, dtype=float))
    windows = Windows(Scores(values), centre)
    kept = windows.keep(np.arange(max(len(values) - 2, 0) + 1))
    return windows, kept, all_windows(values.tolist(), centre)


@many(500)
@given(SHAPES, st.sampled_from(CENTRES))
def test_kept_points_are_those_left_by_removing_the_farthest(values, centre):
    windows, kept, expected = windows_of(values, centre)
    ends = list(zip(kept.low.tolist(), kept.high.tolist(), strict=True))
    assert ends == [(points[0], points[-1]) for points, _ in expected]
    means = [
        math.fsum(v - windows.reference for v in points) / len(points) for points, _ in expected
    ]
    np.testing.assert_allclose(kept.mean, means, rtol=1e-12, atol=1e-14 * np.ptp(values))


@many(300)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=14), st.sampled_from(CENTRES))
def test_of_equally_far_points_the_one_facing_the_other_class_goes_first(values, centre):
    _, kept, expected = windows_of(values, centre)
    assert kept.high.tolist() == [points[-1] for points, _ in expected]


@many(300)
@given(SHAPES, st.sampled_from(CENTRES))
def test_distance_removed_is_the_sum_over_the_points_removed(values, centre):
    _, kept, expected = windows_of(values, centre)
    tolerance = 1e-13 * len(values) * np.ptp(values)
    lost = [lost for _, lost in expected]
    np.testing.assert_allclose(kept.distance, lost, rtol=1e-12, atol=tolerance)


@pytest.mark.parametrize("outlier", [1e6, -1e9, 1e12, -1e15])
@pytest.mark.parametrize("centre", CENTRES)
def test_outlier_that_was_removed_leaves_no_trace_in_the_means(outlier, centre):
    values = np.sort(np.append(np.random.default_rng(0).normal(0, 1, 99), outlier))
    windows = Windows(Scores(values), centre)
    kept = windows.keep(np.array([1]))
    points = [v for v in values.tolist() if v != outlier]
    assert (kept.low[0], kept.high[0]) == (points[0], points[-1])
    exact = math.fsum(points) / len(points)
    assert windows.reference + kept.mean[0] == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize("centre", CENTRES)
def test_means_keep_their_digits_at_a_large_offset(centre):
    values = 1e9 + 1e-6 * np.random.default_rng(1).normal(0, 1, 50)
    windows, kept, expected = windows_of(values, centre)
    for mean, (points, _) in zip(kept.mean, expected, strict=True):
        exact = math.fsum(v - windows.reference for v in points) / len(points)
        assert mean == pytest.approx(exact, rel=1e-12, abs=1e-20)


@many(200)
@given(SHAPES, st.sampled_from(CENTRES), st.floats(-8, 8), st.floats(-5, 5))
def test_rescaled_scores_lose_the_same_points(values, centre, exponent, shift):
    moved = np.sort(values * 10.0**exponent + shift * 10.0**exponent)
    before, after = (Windows(Scores(v), centre) for v in (values, moved))
    assert before._start.tolist() == after._start.tolist()


SIZES = [(n, p) for n in range(1, 14) for p in range(1, 14)]


@pytest.mark.parametrize("n_samples", SIZES)
def test_sequential_path_takes_turns_by_share(n_samples):
    levels = sequential_path(n_samples).T
    assert [tuple(m) for m in levels.tolist()] == one_by_one(*n_samples)


@pytest.mark.parametrize("n_samples", SIZES)
def test_proportional_path_gives_up_equal_shares(n_samples):
    levels = proportional_path(n_samples).T
    assert [tuple(m) for m in levels.tolist()] == by_share(*n_samples)


@pytest.mark.parametrize("path", [sequential_path, proportional_path])
@pytest.mark.parametrize("n_samples", [(2, 2), (2, 9), (50, 3), (17, 17), (1000, 10)])
def test_two_points_of_each_class_are_kept_at_the_end(path, n_samples):
    last = path(n_samples)[:, -1]
    assert [n - m for n, m in zip(n_samples, last.tolist(), strict=True)] == [2, 2]


def test_sequential_path_is_the_authors_for_a_thousand_to_ten():
    # Their loop: majority while its share kept is not smaller, then minority, and so on.
    n = [1000, 10]
    levels = [(0, 0)]
    while len(levels) < 600:
        while n[0] / n[1] >= 100 and len(levels) < 600:
            n[0] -= 1
            levels.append((1000 - n[0], 10 - n[1]))
        while n[0] / n[1] <= 100 and len(levels) < 600:
            n[1] -= 1
            levels.append((1000 - n[0], 10 - n[1]))
    path = sequential_path((1000, 10))[:, :600].T
    assert [tuple(m) for m in path.tolist()] == levels


@pytest.mark.parametrize("n_samples", [(40, 7), (9, 9), (3, 25)])
def test_mirrored_sizes_mirror_the_proportional_path(n_samples):
    path, mirrored = proportional_path(n_samples), proportional_path(n_samples[::-1])
    np.testing.assert_array_equal(path, mirrored[::-1])


@many(60)
@given(st.integers(1, 400), st.integers(1, 400))
def test_sequential_path_takes_turns_by_share_at_any_size(negative, positive):
    levels = sequential_path((negative, positive)).T
    assert [tuple(m) for m in levels.tolist()] == one_by_one(negative, positive)
