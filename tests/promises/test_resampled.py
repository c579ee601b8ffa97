from itertools import product

import numpy as np
import pytest

from boundshift import Cost, find_boundary, threshold_interval
from boundshift.boundary import choose_claims, make_decision
from boundshift.promises.resampled import resample_thresholds
from boundshift.scores.sample import ScoreSample


class SameRows:
    """A generator whose draws are the rows themselves."""

    def multinomial(self, n, shares, size):
        return np.tile(np.round(n * shares).astype(np.int64), (size, 1))


def draw(seed: int, sizes: tuple[int, int], gap: float, shape: str = "normal"):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], sizes)
    scores = rng.normal(size=len(y)) if shape == "normal" else rng.standard_t(3, size=len(y))
    return y, scores + gap * y


def resample(y, scores, curve, rule, number, random):
    claims = choose_claims(curve, rule)
    return resample_thresholds(*claims, ScoreSample.from_labels(y, scores), number, random)


def differ(seed, sizes, gap, shape, curve, rule) -> float:
    """Return by how much the rule is worse at one of the thresholds, 0 where they are one place."""
    y, scores = draw(seed, sizes, gap, shape)
    found = resample(y, scores, curve, rule, 1, SameRows())
    claims, sample = choose_claims(curve, rule), ScoreSample.from_labels(y, scores)
    thresholds = np.array([found[0], make_decision(*claims)(sample).threshold])
    if sample.is_reversed:
        sample, thresholds = sample.reversed(), -thresholds
    width = min(c.std * c.n**-0.2 for c in (sample.negative, sample.positive))
    if abs(thresholds[0] - thresholds[1]) < 0.2 * width:
        return 0.0
    values = claims[1].value(*claims[0].errors(sample)(thresholds), sample.n_samples)
    return float(abs(values[0] - values[1]))


@pytest.mark.parametrize("curve", ["blend", "smoothed", "logistic"])
@pytest.mark.parametrize("rule", [None, "sum", "minimax"])
def test_a_draw_of_the_same_rows_has_their_threshold(curve, rule) -> None:
    sizes = [(300, 30), (2000, 40), (500, 500), (40, 400), (50, 20)]
    problems = product(range(3), sizes, [-2.0, 1.0, 2.0, 9.0], ["normal", "heavy"])
    found = np.array([differ(*problem, curve, rule) for problem in problems])
    # Cells are approximate: nearly always as good, and never much worse.
    assert np.mean(found > 5e-4) <= 0.02
    assert found.max() < 5e-3


@pytest.mark.parametrize("rule", [Cost(1, 20), "f1", "mcc"])
def test_so_it_is_with_rules_of_frequencies(rule) -> None:
    y, scores = draw(0, (2000, 100), 2.0)
    found = resample(y, scores, "smoothed", rule, 1, SameRows())
    threshold = find_boundary(y, scores, curve="smoothed", rule=rule).threshold
    assert found[0] == pytest.approx(threshold, abs=0.01)


@pytest.mark.parametrize("curve", ["blend", "smoothed", "logistic"])
def test_resamples_stray_as_those_drawn_row_by_row_do(curve) -> None:
    y, scores = draw(1, (1000, 50), 2.0)
    rng = np.random.default_rng(0)
    counted = resample(y, scores, curve, None, 400, rng)
    by_rows = []
    for _ in range(100):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == k), (y == k).sum()) for k in (0, 1)])
        by_rows.append(find_boundary(y[rows], scores[rows], curve=curve).threshold)
    assert np.median(counted) == pytest.approx(np.median(by_rows), abs=np.std(by_rows) / 2)
    assert np.std(counted) == pytest.approx(np.std(by_rows), rel=0.3)


def test_other_curves_few_rows_and_scores_without_a_width_are_drawn_row_by_row() -> None:
    random = np.random.default_rng(0)
    assert resample(*draw(1447, (50, 3), -2.0, "heavy"), "blend", None, 5, random) is None
    y, scores = draw(0, (300, 30), 2.0)
    assert resample(y, scores, "kth-point", None, 5, random) is None
    assert resample(y, np.round(scores) * 0.0 + y, "smoothed", None, 5, random) is None
    assert resample(y, scores * 1e200, "smoothed", None, 5, random) is None


def test_many_draws_are_made_in_parts_and_are_as_many() -> None:
    y, scores = draw(0, (300, 30), 2.0)
    assert len(resample(y, scores, "smoothed", None, 700, np.random.default_rng(0))) == 700


def test_a_mirrored_problem_has_mirrored_resamples() -> None:
    y, scores = draw(0, (300, 30), 2.0)
    there = resample(y, scores, "blend", None, 300, np.random.default_rng(0))
    back = resample(y, -scores, "blend", None, 300, np.random.default_rng(0))
    assert np.quantile(-back, [0.1, 0.9]) == pytest.approx(np.quantile(there, [0.1, 0.9]), abs=0.05)


def test_the_interval_of_a_probability_is_that_of_its_log_odds() -> None:
    y, scores = draw(0, (300, 30), 2.0)
    log_odds = threshold_interval(y, scores, random_state=0)
    found = threshold_interval(y, 1 / (1 + np.exp(-scores)), random_state=0)
    assert np.log(np.array(found) / (1 - np.array(found))) == pytest.approx(log_odds, abs=1e-6)
