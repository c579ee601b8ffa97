"""Two decisions about the same rows, against bootstraps that draw one row at a time."""

import numpy as np
import pytest

from boundshift.report._evidence import PairedRows


def make_rows(n, has_cost):
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.2
    score = rng.normal(size=n) + 1.5 * truth
    cost = rng.gamma(2, 30.0, n) if has_cost else None
    return PairedRows(truth, score > 0.7, cost), score > 1.4


def gain(negative, positive):
    return -negative - 2 * positive


def test_costs_are_summed_and_shared_by_the_rows_of_a_class():
    rows, _ = make_rows(900, has_cost=True)
    wrong = rows.flagged != rows.is_positive
    expected = [
        rows.cost[wrong & (rows.is_positive == truth)].sum() / np.sum(rows.is_positive == truth)
        for truth in (False, True)
    ]
    assert rows.errors() == pytest.approx(tuple(expected))


@pytest.mark.parametrize("n", [900, 4000])
def test_the_interval_is_that_of_a_bootstrap_of_rows(n):
    rows, other = make_rows(n, has_cost=False)
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(2000):
        drawn = rng.integers(0, n, n)
        again = PairedRows(rows.is_positive[drawn], rows.flagged[drawn])
        gains.append(gain(*again.errors()) - gain(*again.errors(other[drawn])))
    expected = np.percentile(gains, [2.5, 97.5])
    found = rows.interval(gain, 0.95, 4000, other)
    assert found == pytest.approx(tuple(expected), abs=0.12 * np.ptp(expected))
    assert rows.interval(gain, 0.95, 200, rows.flagged) == (0.0, 0.0)


def test_the_interval_of_a_value_is_that_of_a_bootstrap_of_rows():
    rows, _ = make_rows(1500, has_cost=False)
    rng = np.random.default_rng(2)
    values = []
    for _ in range(2000):
        drawn = rng.integers(0, 1500, 1500)
        values.append(gain(*PairedRows(rows.is_positive[drawn], rows.flagged[drawn]).errors()))
    expected = np.percentile(values, [2.5, 97.5])
    assert rows.interval(gain, 0.95, 4000) == pytest.approx(
        tuple(expected), abs=0.12 * np.ptp(expected)
    )
