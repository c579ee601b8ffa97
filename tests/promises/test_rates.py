import numpy as np
import pytest
from scipy import stats

from boundshift import InvalidInputError
from boundshift.promises.certificate import certify_counts


def upper(k: int, n: int, delta: float) -> float:
    return 1.0 if k == n else float(stats.beta.isf(delta, k + 1, n - k))


def test_bounds_at_a_known_prevalence_by_hand() -> None:
    rates = certify_counts((20, 5), (1000, 100), (0, 1)).rates(0.02, false_negative=20)
    alarms, misses, hits = (upper(*kn, 0.05 / 3) for kn in ((20, 1000), (5, 100), (95, 100)))
    assert rates.precision == pytest.approx(
        0.02 * (1 - misses) / (0.02 * (1 - misses) + 0.98 * alarms)
    )
    assert rates.npv == pytest.approx(0.98 * (1 - alarms) / (0.98 * (1 - alarms) + 0.02 * misses))
    assert rates.flagged == pytest.approx(0.02 * hits + 0.98 * alarms)
    assert rates.cost == pytest.approx(0.02 * 20 * misses + 0.98 * alarms)
    assert rates.net_benefit == pytest.approx(0.02 * (1 - misses) - 0.98 * alarms / 20)
    assert rates.prevalence == (0.02, 0.02)


def test_a_counted_prevalence_costs_width() -> None:
    certificate = certify_counts((20, 5), (1000, 100), (0, 1))
    known, counted = certificate.rates(0.02), certificate.rates((20, 1000))
    assert counted.precision < known.precision
    assert counted.npv < known.npv
    assert counted.flagged > known.flagged
    assert counted.prevalence[0] < 0.02 < counted.prevalence[1]


def test_rows_drawn_as_they_come_are_counted_by_hand() -> None:
    rates = certify_counts((20, 5), (1000, 100), (0, 1)).rates(false_negative=20)
    level = 0.05 / 8
    assert rates.precision == pytest.approx(1 - upper(20, 115, level))
    assert rates.npv == pytest.approx(1 - upper(5, 985, level))
    assert rates.flagged == pytest.approx(upper(115, 1100, level))
    assert rates.cost == pytest.approx(upper(20, 1100, level) + 20 * upper(5, 1100, level))
    least = 1 - upper(1005, 1100, level)
    assert rates.net_benefit == pytest.approx(least - upper(20, 1100, level) / 20)
    assert rates.prevalence == pytest.approx(
        (1 - upper(1000, 1100, level), upper(100, 1100, level))
    )


@pytest.mark.parametrize("wrong", [(20, 5), (0, 0), (100, 30), (3, 90)])
def test_rows_counted_directly_show_more_than_by_way_of_the_prevalence(wrong) -> None:
    certificate = certify_counts(wrong, (1000, 100), (0, 1))
    direct, detour = certificate.rates(), certificate.rates((100, 1100))
    assert direct.precision > detour.precision
    assert direct.npv > detour.npv
    assert direct.flagged < detour.flagged


@pytest.mark.parametrize(("wrong", "n_samples"), [((0, 5), (50, 5)), ((50, 0), (50, 5))])
def test_nothing_is_shown_of_rows_that_are_not_there(wrong, n_samples) -> None:
    rates = certify_counts(wrong, n_samples, (0, 1)).rates()
    assert 0.0 in (rates.precision, rates.npv)


@pytest.mark.parametrize("chosen_here", [False, True])
def test_all_of_them_hold_together_with_their_own_rows_prevalence(chosen_here: bool) -> None:
    rng = np.random.default_rng(0)
    share, alarm, miss, runs = 0.2, 0.1, 0.2, 600
    true_precision = share * (1 - miss) / (share * (1 - miss) + (1 - share) * alarm)
    true_npv = (1 - share) * (1 - alarm) / ((1 - share) * (1 - alarm) + share * miss)
    kept = 0
    for _ in range(runs):
        positive = int(rng.binomial(300, share))
        wrong = int(rng.binomial(300 - positive, alarm)), int(rng.binomial(positive, miss))
        record = certify_counts(
            wrong, (300 - positive, positive), (0, 1), confidence=0.8, chosen_here=chosen_here
        )
        rates = record.rates(false_positive=1, false_negative=3)
        kept += (
            rates.precision <= true_precision
            and rates.npv <= true_npv
            and rates.flagged >= share * (1 - miss) + (1 - share) * alarm
            and rates.cost >= share * miss * 3 + (1 - share) * alarm
            and rates.net_benefit <= share * (1 - miss) - (1 - share) * alarm / 3
        )
    assert kept / runs >= 0.8


def test_the_word_is_that_of_the_certificate() -> None:
    record = certify_counts((1, 1), (50, 50), (0, 1), scores="training")
    assert record.rates(0.5).status == "nominal"


@pytest.mark.parametrize("prevalence", [0.0, 1.5, (3,), (5, 2), (0.1, 0.2)])
def test_the_prevalence_is_checked(prevalence: object) -> None:
    with pytest.raises(InvalidInputError, match="`prevalence` must be"):
        certify_counts((1, 1), (50, 50), (0, 1)).rates(prevalence)


def test_many_classes_have_no_precision_of_their_own() -> None:
    with pytest.raises(InvalidInputError, match="two classes, got 3"):
        certify_counts((1, 1, 1), (50, 50, 50), (0, 1, 2)).rates(0.5)
