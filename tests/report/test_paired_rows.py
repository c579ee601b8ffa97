"""Two decisions about the same rows, against bootstraps that draw one row at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundshift.report._evidence import PairedRows


def make_rows(n=900, seed=0, amount=None, shares=True):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    score = rng.normal(size=n) + 1.5 * truth
    values = None if amount is None else rng.gamma(2, amount, n)
    return PairedRows(truth, score > 1.4, score > 0.7, values, shares=shares)


def gain(negative, positive):
    return -negative - 2 * positive


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.booleans(), st.integers(1, 9)),
        min_size=2,
        max_size=30,
    )
)
def test_weights_are_frequencies(rows):
    rows = [(False, False, True, 1), (True, False, True, 1), *rows]
    truth, old, new, weight = (np.array(column) for column in zip(*rows, strict=True))
    weighted = PairedRows(truth, old, new, weight.astype(float))
    repeated = PairedRows(*(np.repeat(column, weight) for column in (truth, old, new)))
    for which in ("old", "new"):
        assert weighted.errors(which) == pytest.approx(repeated.errors(which))


def test_costs_are_summed_and_shared_by_the_rows_of_a_class():
    rows = make_rows(amount=30.0, shares=False)
    wrong = rows.new != rows.is_positive
    expected = [
        rows.amount[wrong & (rows.is_positive == truth)].sum() / np.sum(rows.is_positive == truth)
        for truth in (False, True)
    ]
    assert rows.errors("new") == pytest.approx(tuple(expected))


@pytest.mark.parametrize(
    ("amount", "shares", "n"), [(None, True, 900), (1.0, True, 900), (1.0, True, 4000)]
)
def test_the_interval_is_that_of_a_bootstrap_of_rows(amount, shares, n):
    rows = make_rows(n, amount=amount, shares=shares)
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(2000):
        drawn = rng.integers(0, n, n)
        again = PairedRows(
            rows.is_positive[drawn],
            rows.old[drawn],
            rows.new[drawn],
            None if amount is None else rows.amount[drawn],
            shares=shares,
        )
        gains.append(gain(*again.errors("new")) - gain(*again.errors("old")))
    expected = np.percentile(gains, [2.5, 97.5])
    found = rows.gain_interval(gain, 0.95, 4000)
    assert found == pytest.approx(tuple(expected), abs=0.12 * np.ptp(expected))


def test_decisions_that_agree_differ_by_nothing():
    rows = make_rows()
    same = PairedRows(rows.is_positive, rows.new, rows.new)
    assert same.gain_interval(gain, 0.95, 200) == (0.0, 0.0)
