"""Two decisions about the same rows, against bootstraps that draw one row at a time."""

import numpy as np
import pytest

from boundshift.report._evidence import PairedRows


def make_rows(n, has_cost):
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.2
    score = rng.normal(size=n) + 1.5 * truth
    return PairedRows(truth, score > 1.4, score > 0.7, rng.gamma(2, 30.0, n) if has_cost else None)


def gain(negative, positive):
    return -negative - 2 * positive


def test_costs_are_summed_and_shared_by_the_rows_of_a_class():
    rows = make_rows(900, has_cost=True)
    wrong = rows.new != rows.is_positive
    expected = [
        rows.cost[wrong & (rows.is_positive == truth)].sum() / np.sum(rows.is_positive == truth)
        for truth in (False, True)
    ]
    assert rows.errors("new") == pytest.approx(tuple(expected))


@pytest.mark.parametrize("n", [900, 4000])
def test_the_interval_is_that_of_a_bootstrap_of_rows(n):
    rows = make_rows(n, has_cost=False)
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(2000):
        drawn = rng.integers(0, n, n)
        again = PairedRows(rows.is_positive[drawn], rows.old[drawn], rows.new[drawn])
        gains.append(gain(*again.errors("new")) - gain(*again.errors("old")))
    expected = np.percentile(gains, [2.5, 97.5])
    found = rows.gain_interval(gain, 0.95, 4000)
    assert found == pytest.approx(tuple(expected), abs=0.12 * np.ptp(expected))
    same = PairedRows(rows.is_positive, rows.new, rows.new)
    assert same.gain_interval(gain, 0.95, 200) == (0.0, 0.0)
