import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boundshift import BoundaryWarning, SupportRadius, find_boundary
from boundshift.curves import paper
from boundshift.curves.paper import Exact, SupportProblem, SupportSettings, split_space
from boundshift.scores import ScoreSample
from tests import exhaustive
from tests.exhaustive import Options
from tests.problems import OPTIONS, classes, draw_classes, labelled, many, tied_classes, upright


def find(negative, positive, options: Options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        curve = SupportRadius(**options._asdict())
        return find_boundary(*labelled(negative, positive), curve=curve, scale="raw")


def problem_of(negative, positive, options: SupportSettings) -> SupportProblem:
    return SupportProblem(ScoreSample.from_labels(*labelled(negative, positive)), options)


def spread(*arrays) -> float:
    return float(np.ptp(np.concatenate(arrays)))


def check_loss(negative, positive, options):
    found, best = (
        find(negative, positive, options),
        exhaustive.best(negative, positive, options),
    )
    assert found.status.solved == (best is not None)
    if best is not None:
        assert found.loss == pytest.approx(best.loss, rel=1e-12, abs=0)


def check_threshold(negative, positive, options):
    minima = exhaustive.candidates(negative, positive, options)
    best = min((c.loss for c in minima), default=np.inf)
    equals = [c.threshold for c in minima if c.loss <= best * (1 + 1e-10)]
    tolerance = 1e-9 * spread(negative, positive)
    if equals and np.ptp(equals) < tolerance:  # else two boundaries are equally good
        found = find(negative, positive, options)
        assert found.threshold == pytest.approx(equals[0], rel=0, abs=tolerance)


@many(1700)
@given(classes() | tied_classes(), OPTIONS)
def test_loss_is_the_brute_force_optimum_also_among_ties(pair, options):
    check_loss(*pair, options)


@many(1300)
@given(classes() | tied_classes(), OPTIONS)
def test_threshold_is_that_of_the_brute_force_optimum_also_among_ties(pair, options):
    check_threshold(*pair, options)


@many(200)
@given(classes(), OPTIONS)
def test_points_given_up_are_those_of_the_brute_force_optimum(pair, options):
    minima = exhaustive.candidates(*pair, options)
    best = min((c.loss for c in minima), default=np.inf)
    equals = {c.slack for c in minima if c.loss <= best * (1 + 1e-10)}
    if len(equals) == 1:
        assert find(*pair, options).geometry.slack in equals


@pytest.mark.parametrize("preset", [Options(), Options(0.3, 2.0, "two-sided", centre="mean")])
@pytest.mark.parametrize("kind", ["normal", "heavy", "two humps", "rounded"])
def test_optimum_of_hundreds_of_levels_agrees_with_brute_force(kind, preset):
    rng = np.random.default_rng(5)
    pair = upright(*draw_classes(rng, kind, 350, 40, 1.0))
    check_loss(*pair, preset)
    check_threshold(*pair, preset)


LARGE = ["normal", "whole", "heavy", "two humps", "skewed", "rounded", "outliers", "clumps"]


def large_classes(rng, kind):
    n, p = int(rng.integers(500, 4000)), int(rng.integers(2, rng.choice([60, 2000])))
    gap = float(rng.choice([0.01, 0.1, 0.3, 1, 2, 4, 10]))
    if kind == "outliers":
        negative, positive = draw_classes(rng, "normal", n, p, gap)
        negative[:3], positive[:1] = rng.normal(0, 1e6, 3), rng.normal(0, 1e6)
        return negative, positive
    if kind == "clumps":
        humps = rng.choice([0.0, 3.0], n), rng.choice([1.5, 4.0], p)
        return humps[0] + rng.normal(0, 1e-3, n), humps[1] + rng.normal(0, 1e-3, p)
    return draw_classes(rng, kind, n, p, gap)


def large_options(rng) -> SupportSettings:
    def pick(*values):
        return values[rng.integers(len(values))]

    return SupportSettings(
        gamma=pick(1.0, 2.0, 0.3),
        constant=pick(0.0, 2.0, 0.5),
        radius=pick("one-sided", "two-sided"),
        slack=pick("binary", "continuous"),
        penalty=pick("proportional", "count"),
        alpha=pick((1.0, 1.0), (0.1, 0.1), (0.01, 0.02), (1.0, 3.0), (1e-3, 1e-3), (1e-6, 1e-6)),
        budget=pick("all", 0.5, 300),
        class_weight=pick((1.0, 1.0), (1.0, 5.0), (1e-3, 1e3)),
        centre=pick("median", "mean"),
    )


def check_pruning(seed, kind):
    rng = np.random.default_rng([seed, LARGE.index(kind)])
    problem = problem_of(*upright(*large_classes(rng, kind)), large_options(rng))
    levels = problem.levels(np.arange(problem.last + 1))
    levels = levels.take(problem.feasible(levels))
    split = split_space(problem.ratios(levels), problem.weights(levels))
    losses, pruned = problem.constant_loss(levels) + split.loss, Exact().solve(problem)
    assert (pruned is None) == (not len(losses))
    if pruned is not None:
        assert pruned.loss == pytest.approx(losses.min(), rel=1e-12, abs=0)


@pytest.mark.parametrize("kind", LARGE)
def test_no_level_that_wins_is_pruned(kind):
    for seed in range(20):
        check_pruning(seed, kind)


CLOSE = [(30, "whole"), (132, "whole"), (45, "heavy"), (92, "two humps")]


@pytest.mark.parametrize(("seed", "kind"), CLOSE)
def test_no_level_that_wins_by_a_thousandth_is_pruned(seed, kind):
    check_pruning(seed, kind)


def test_few_levels_are_solved(monkeypatch):
    solved = []

    def counted(k, w):
        solved.append(k.shape[1])
        return split_space(k, w)

    monkeypatch.setattr(paper, "split_space", counted)
    rng = np.random.default_rng(0)
    problem = problem_of(rng.normal(0, 1, 50_000), rng.normal(2, 1, 2000), SupportSettings())
    Exact().solve(problem)
    assert sum(solved) < 0.05 * problem.last


def test_levels_are_solved_in_chunks_as_together(monkeypatch):
    rng = np.random.default_rng(0)
    problem = problem_of(rng.normal(0, 1, 500), rng.normal(2, 1, 20), SupportSettings())
    together = Exact().solve(problem)
    monkeypatch.setattr(paper, "_CHUNK", 7)
    in_chunks = Exact().solve(problem)
    assert (in_chunks.level.level, in_chunks.loss) == (together.level.level, together.loss)


@many(200)
@given(classes(most=12), OPTIONS)
def test_levels_describe_what_is_kept(pair, options):
    problem = problem_of(*pair, SupportSettings(**options._asdict()))
    levels = problem.levels(np.arange(problem.last + 1))
    frames = sorted(pair[0].tolist()), sorted((-pair[1]).tolist())
    windows = [exhaustive.all_windows(v, options.centre) for v in frames]
    for j, m in enumerate(exhaustive.path(len(pair[0]), len(pair[1]), options)):
        for i in (0, 1):
            kept = np.array(windows[i][m[i]][0])
            assert levels.n[i, j] == len(kept)
            assert levels.mean[i, j] == pytest.approx(kept.mean(), abs=1e-12 * spread(*pair))
            radius = (kept - kept.mean()).max()
            if options.radius == "two-sided":
                radius = np.abs(kept - kept.mean()).max()
            assert levels.radius[i, j] == pytest.approx(radius, abs=1e-12 * spread(*pair))


@many(200)
@given(st.integers(2, 60), st.integers(2, 60), st.integers(1, 100))
@example(60, 40, 29)  # 0.29 * 100 is 28.999999999999996
def test_budget_as_a_share_is_a_whole_number_of_rows(n, p, percent):
    rng = np.random.default_rng(0)
    options = SupportSettings(budget=percent / 100, centre="mean")
    problem = problem_of(rng.normal(0, 1, n), rng.normal(1, 1, p), options)
    given_up = int(problem.removed[:, problem.last].sum())
    assert given_up == min(percent * (n + p) // 100, max(n - 2, 0) + max(p - 2, 0))


def test_exact_where_every_confidence_underflows():
    # Two classes of radius 1 and n rows, 2000 apart: delta is exp(-(999 n**0.5)**2 / 2).
    pair = np.array([-1.0, 1.0] * 8), np.array([-1.0, 1.0] * 8) + 2000
    found = find(*pair, Options())
    assert found.geometry.deltas == (0.0, 0.0)
    assert found.threshold == pytest.approx(1000, rel=1e-12)
    assert found.geometry.log_deltas[0] == pytest.approx(-(999**2) * 16 / 2, rel=1e-12)


def test_loss_adds_up_from_its_parts():
    rng = np.random.default_rng(3)
    pair = rng.normal(0, 1, 60), rng.normal(2.5, 1, 9)
    found = find(*pair, Options(alpha=(0.5, 2.0)))
    n = [k - m for k, m in zip(found.n_samples, found.geometry.slack, strict=True)]
    claims = [(1 - d) / (k + 1) + d for d, k in zip(found.geometry.deltas, n, strict=True)]
    price = 0.5 * found.geometry.slack[0] / 60 + 2.0 * found.geometry.slack[1] / 9
    assert found.loss == pytest.approx(sum(claims) + price, rel=1e-12)


@many(200)
@given(classes(), OPTIONS)
def test_confidence_radii_meet_at_the_boundary(pair, options):
    found = find(*pair, options)
    if found.status.solved:
        tolerance = 1e-9 * spread(*pair)
        below = found.geometry.means[0] + found.geometry.confidence_radii[0]
        above = found.geometry.means[1] - found.geometry.confidence_radii[1]
        if min(found.geometry.radii) > 0:  # a point needs no space, and so has no unique radius
            assert below == pytest.approx(found.threshold, abs=tolerance)
            assert above == pytest.approx(found.threshold, abs=tolerance)


@many(200)
@given(classes(), OPTIONS)
def test_no_kept_point_is_on_the_wrong_side(pair, options):
    found = find(*pair, options)
    if found.status.solved:
        low, high = found.geometry.supports[0][1], found.geometry.supports[1][0]
        assert low <= found.threshold
        assert found.threshold < high or low == high
