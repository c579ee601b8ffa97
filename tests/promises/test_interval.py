import numpy as np
import pytest

from boundshift import Cost, Floors, InvalidInputError, Metric, find_boundary, threshold_interval
from boundshift.boundary import choose_claims
from boundshift.promises.interval import _resample, _sizes, _widen
from boundshift.scores import ScoreSample

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], [300, 30])
S = RNG.normal(size=330) + 3 * Y


def test_the_interval_holds_the_threshold() -> None:
    low, high = threshold_interval(Y, S, random_state=0, curve="smoothed")
    assert low < find_boundary(Y, S, curve="smoothed").threshold < high


def test_more_confidence_is_wider() -> None:
    narrow = threshold_interval(Y, S, 0.5, n_resamples=50, random_state=0)
    wide = threshold_interval(Y, S, 0.95, n_resamples=50, random_state=0)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_more_rows_are_narrower() -> None:
    many_y, many_s = np.tile(Y, 30), np.tile(S, 30) + RNG.normal(0, 0.1, 330 * 30)
    few = np.diff(threshold_interval(Y, S, random_state=0, curve="smoothed"))
    many = np.diff(threshold_interval(many_y, many_s, random_state=0, curve="smoothed"))
    assert many < few / 2


def test_a_seed_repeats_it() -> None:
    first, again = (threshold_interval(Y, S, n_resamples=20, random_state=1) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("n", [1, 2.5, "many"])
def test_the_number_of_draws_is_checked(n: object) -> None:
    with pytest.raises(InvalidInputError, match="`n_resamples` must be a whole number"):
        threshold_interval(Y, S, n_resamples=n)


@pytest.mark.parametrize("curve", ["kth-point", "student-t"])
def test_thresholds_of_other_rows_fall_inside_about_as_often_as_asked(curve: str) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [200, 40])
    others = [find_boundary(y, rng.normal(size=240) + 2 * y, curve=curve) for _ in range(100)]
    thresholds = np.array([other.threshold for other in others])
    inside = []
    for _ in range(15):
        scores = rng.normal(size=240) + 2 * y
        low, high = threshold_interval(
            y, scores, 0.9, curve=curve, n_resamples=50, random_state=rng
        )
        inside.append(np.mean((low <= thresholds) & (thresholds <= high)))
    assert np.mean(inside) > 0.82


@pytest.mark.parametrize("n", [3, 8, 30])
def test_means_of_few_other_rows_fall_inside_as_often_as_asked(n: int) -> None:
    rng = np.random.default_rng(n)
    here, there = rng.normal(size=(2, 40_000, n))
    spread = here.std(axis=1) / np.sqrt(n)  # of the means of resamples
    reach = _widen(n, 0.9) * 1.6449 * np.sqrt(2) * spread
    inside = np.abs(there.mean(axis=1) - here.mean(axis=1)) <= reach
    assert abs(np.mean(inside) - 0.9) < 3 * np.sqrt(0.09 / 40_000)


def test_very_many_rows_are_drawn_in_part_and_narrow_the_interval() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for n in (4000, 64_000):
        y = np.repeat([0, 1], n)
        interval = threshold_interval(
            y, rng.normal(size=2 * n) + 2 * y, curve="student-t", random_state=0, n_resamples=60
        )
        widths.append(interval[1] - interval[0])
    assert widths[1] == pytest.approx(widths[0] / 4, rel=0.4)


@pytest.mark.parametrize("rule", [Cost(false_negative=20), "f1"])
def test_a_rule_of_frequencies_varies_as_on_other_rows_of_the_same_mix(rule: object) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [19_000, 1000])

    def draw() -> np.ndarray:
        return rng.normal(size=len(y)) + 2 * y

    others = [find_boundary(y, draw(), curve="student-t", rule=rule).threshold for _ in range(40)]
    low, high = threshold_interval(y, draw(), curve="student-t", rule=rule, random_state=0)
    assert high - low == pytest.approx(2 * 1.96 * 2**0.5 * np.std(others), rel=0.4)
    assert low < np.median(others) < high


def test_a_slow_metric_is_looked_up_and_has_the_interval_of_the_quick_rule() -> None:
    y = np.repeat([0, 1], [1000, 100])
    scores = np.random.default_rng(0).normal(size=1100) + 2 * y
    slow, quick = (
        threshold_interval(y, scores, curve="student-t", rule=r, random_state=0)
        for r in (Metric("f1"), "f1")
    )
    assert slow == pytest.approx(quick, abs=0.02)


def test_a_tiny_class_beside_very_many_rows_is_drawn_whole() -> None:
    assert _sizes((1_000_000, 50), Cost()) == (10_000, 50)
    assert _sizes((95_000, 5000), Cost()) == (10_000, 1000)
    assert _sizes((300, 30), Cost()) == (300, 30)
    assert _sizes((1_000_000, 50), Floors(precision=0.5)) == (1_000_000, 50)


def test_it_leaves_the_process_s_warning_filters_alone() -> None:
    import warnings

    before = list(warnings.filters)
    threshold_interval(Y, S, n_resamples=2, random_state=0)
    assert warnings.filters == before


def draw(seed: int, sizes: tuple[int, int], gap: float) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([0, 1], sizes)
    return y, np.random.default_rng(seed).normal(size=len(y)) + gap * y


@pytest.mark.parametrize("curve", ["blend", "smoothed", "logistic"])
def test_resamples_stray_as_fresh_rows_do(curve: str) -> None:
    fresh = [find_boundary(*draw(k, (3000, 100), 2.0), curve=curve).threshold for k in range(100)]
    rows, (claim, aim) = draw(200, (3000, 100), 2.0), choose_claims(curve)
    sample = ScoreSample.from_labels(*rows)
    counted, _ = _resample(sample, claim, aim, 150, np.random.default_rng(0))
    here = find_boundary(*rows, curve=curve).threshold
    assert np.median(counted) == pytest.approx(here, abs=np.std(fresh) / 2)
    assert np.std(counted) == pytest.approx(np.std(fresh), rel=0.35)


def test_the_interval_of_a_probability_is_that_of_its_log_odds() -> None:
    y, scores = draw(0, (300, 30), 2.0)
    log_odds = threshold_interval(y, scores, random_state=0, n_resamples=50)
    found = threshold_interval(y, 1 / (1 + np.exp(-scores)), random_state=0, n_resamples=50)
    assert np.log(np.array(found) / (1 - np.array(found))) == pytest.approx(log_odds, abs=1e-6)


@pytest.mark.parametrize("rule", [None, Floors(recall=0.8)])
@pytest.mark.parametrize("digits", [0, 1])
def test_discrete_scores_have_their_threshold_inside(rule: object, digits: int) -> None:
    for seed in range(5):
        y, scores = draw(seed, (300, 60), 1.0)
        for s in (np.round(scores, digits), np.round(np.clip(scores / 4 + 0.3, 0, 1), 1 + digits)):
            low, high = threshold_interval(y, s, rule=rule, random_state=0, n_resamples=20)
            assert low <= find_boundary(y, s, rule=rule).threshold <= high


def test_thresholds_on_a_few_scores_are_held_as_often_as_asked() -> None:
    rng, rule = np.random.default_rng(0), Floors(recall=0.8)
    y = np.repeat([0, 1], [200, 60])

    def scores() -> np.ndarray:
        return np.round(rng.normal(size=260) + 2 * y)

    others = np.array([find_boundary(y, scores(), rule=rule).threshold for _ in range(60)])
    inside = []
    for _ in range(15):
        low, high = threshold_interval(y, scores(), rule=rule, random_state=rng, n_resamples=60)
        inside.append(np.mean((low <= others) & (others <= high)))
    assert np.mean(inside) > 0.9
