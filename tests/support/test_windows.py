import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift.scores.sample import ClassScores
from boundshift.support.windows import ProportionalPath, SequentialPath, Windows
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
    values = np.sort(np.asarray(values, dtype=float))
    kept = Windows(ClassScores(values), centre).keep(np.arange(max(len(values) - 2, 0) + 1))
    return kept, all_windows(values.tolist(), centre)


@many(500)
@given(SHAPES, st.sampled_from(CENTRES))
def test_kept_points_are_those_left_by_removing_the_farthest(values, centre):
    kept, expected = windows_of(values, centre)
    for start, end, (points, _) in zip(kept.start, kept.end, expected, strict=True):
        assert values[start:end].tolist() == points


@many(300)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=14), st.sampled_from(CENTRES))
def test_of_equally_far_points_the_one_facing_the_other_class_goes_first(values, centre):
    kept, expected = windows_of(values, centre)
    assert kept.high.tolist() == [points[-1] for points, _ in expected]


@many(300)
@given(SHAPES, st.sampled_from(CENTRES))
def test_ends_are_scores_to_the_last_bit(values, centre):
    kept, expected = windows_of(values, centre)
    ends = list(zip(kept.low.tolist(), kept.high.tolist(), strict=True))
    assert ends == [(points[0], points[-1]) for points, _ in expected]


@many(300)
@given(SHAPES, st.sampled_from(CENTRES))
def test_distance_given_up_is_the_sum_over_the_points_given_up(values, centre):
    kept, expected = windows_of(values, centre)
    tolerance = 1e-13 * len(values) * np.ptp(values)
    windows = Windows(ClassScores(np.sort(np.asarray(values, dtype=float))), centre)
    given_up = windows.distance_given_up(kept.start, kept.end)
    np.testing.assert_allclose(given_up, [lost for _, lost in expected], rtol=1e-12, atol=tolerance)


@pytest.mark.parametrize("outlier", [1e6, -1e9, 1e12, -1e15])
@pytest.mark.parametrize("centre", CENTRES)
def test_outlier_that_was_given_up_leaves_no_trace_in_the_means(outlier, centre):
    values = np.sort(np.append(np.random.default_rng(0).normal(0, 1, 99), outlier))
    windows = Windows(ClassScores(values), centre)
    kept = windows.keep(np.array([1]))
    start, end = int(kept.start[0]), int(kept.end[0])
    points = [v for v in values.tolist() if v != outlier]
    assert values[start:end].tolist() == points
    exact = math.fsum(points) / len(points)
    assert windows.mean(kept.start, kept.end)[0] == pytest.approx(exact, abs=1e-14)


@pytest.mark.parametrize("centre", CENTRES)
def test_mean_offsets_keep_their_digits_at_a_large_offset(centre):
    values = np.sort(1e9 + 1e-6 * np.random.default_rng(1).normal(0, 1, 50))
    windows = Windows(ClassScores(values), centre)
    kept = windows.keep(np.arange(10))
    means = windows.mean_offset(kept.start, kept.end)
    for start, end, mean in zip(kept.start, kept.end, means, strict=True):
        exact = math.fsum(v - windows.reference for v in values[start:end]) / (end - start)
        assert mean == pytest.approx(exact, rel=1e-12, abs=1e-20)


@pytest.mark.parametrize("centre", CENTRES)
def test_levels_can_be_asked_for_in_any_number(centre):
    values = ClassScores(np.sort(np.random.default_rng(2).normal(0, 1, 200)))
    windows = Windows(values, centre)
    together = windows.keep(np.arange(199)).start
    alone = [int(windows.keep(np.array([m])).start[0]) for m in range(199)]
    assert together.tolist() == alone


@many(200)
@given(SHAPES, st.sampled_from(CENTRES), st.floats(-8, 8), st.floats(-5, 5))
def test_rescaled_scores_give_up_the_same_points(values, centre, exponent, shift):
    moved = np.sort(values * 10.0**exponent + shift * 10.0**exponent)
    levels = np.arange(len(values) - 1)
    before = Windows(ClassScores(values), centre).keep(levels)
    after = Windows(ClassScores(moved), centre).keep(levels)
    assert before.start.tolist() == after.start.tolist()


SIZES = [(n, p) for n in range(1, 14) for p in range(1, 14)]


@pytest.mark.parametrize("n_samples", SIZES)
def test_sequential_path_takes_turns_by_share(n_samples):
    path = SequentialPath(n_samples)
    levels = path.given_up(np.arange(path.last + 1)).T
    assert [tuple(m) for m in levels.tolist()] == one_by_one(*n_samples)


@pytest.mark.parametrize("n_samples", SIZES)
def test_proportional_path_gives_up_equal_shares(n_samples):
    path = ProportionalPath(n_samples)
    levels = path.given_up(np.arange(path.last + 1)).T
    assert [tuple(m) for m in levels.tolist()] == by_share(*n_samples)


@pytest.mark.parametrize("path", [SequentialPath, ProportionalPath])
@pytest.mark.parametrize("n_samples", [(2, 2), (2, 9), (50, 3), (17, 17), (1000, 10)])
def test_two_points_of_each_class_are_kept_at_the_end(path, n_samples):
    path = path(n_samples)
    last = path.given_up(np.array([path.last]))[:, 0]
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
    path = SequentialPath((1000, 10)).given_up(np.arange(600)).T
    assert [tuple(m) for m in path.tolist()] == levels


@pytest.mark.parametrize("n_samples", [(40, 7), (9, 9), (3, 25)])
def test_mirrored_sizes_mirror_the_proportional_path(n_samples):
    path, mirrored = ProportionalPath(n_samples), ProportionalPath(n_samples[::-1])
    levels = np.arange(path.last + 1)
    np.testing.assert_array_equal(path.given_up(levels), mirrored.given_up(levels)[::-1])


@many(60)
@given(st.integers(1, 400), st.integers(1, 400))
def test_sequential_path_takes_turns_by_share_at_any_size(negative, positive):
    path = SequentialPath((negative, positive))
    levels = path.given_up(np.arange(path.last + 1)).T
    assert [tuple(m) for m in levels.tolist()] == one_by_one(negative, positive)


@many(60)
@given(st.integers(2, 10**11), st.integers(2, 10**11), st.floats(0, 1))
def test_sequential_path_gives_up_negative_points_whose_turn_has_come(negative, positive, share):
    path = SequentialPath((negative, positive))
    level = np.array([int(share * path.last)])
    given_up, _ = path.given_up(level)
    last, following = (j + path._positive_before(j) for j in (given_up - 1, given_up))
    assert given_up[0] == 0 or last < level
    assert given_up[0] == max(negative - 2, 0) or following >= level


@many(100)
@given(SHAPES, st.sampled_from(CENTRES), st.data())
def test_what_was_asked_before_does_not_change_a_window(values, centre, data):
    values = np.sort(np.asarray(values, dtype=float))
    levels = np.arange(max(len(values) - 2, 0) + 1)
    fresh = Windows(ClassScores(values), centre).keep(levels).start
    asked = Windows(ClassScores(values), centre)
    for level in data.draw(st.lists(st.sampled_from(levels.tolist()), max_size=6)):
        assert asked.keep(np.array([level])).start[0] == fresh[level]
    np.testing.assert_array_equal(asked.keep(levels).start, fresh)
