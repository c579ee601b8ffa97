import numpy as np
import pytest
from scipy.stats import multinomial

from boundshift.models.decision import _change_of_recall, shift_loses
from boundshift.rules import GMean


def _problem(rare, changed, common=1000):
    """Scores of which a shift to -1 loses some common rows, and finds or loses rare ones."""
    common_scores = np.full(common, -2.0)
    common_scores[:30] = -0.5
    rare_scores = np.full(rare, 2.0)
    rare_scores[:changed] = -0.5
    y = np.repeat([0, 1], [common, rare])
    return y, np.concatenate([common_scores, rare_scores]), np.arange(common + rare) % 5


@pytest.mark.parametrize("rare", [5, 10, 50])
def test_few_rare_rows_of_which_none_changed_sides_do_not_say_that_the_shift_loses(rare):
    y, scores, parts = _problem(rare, changed=0)
    assert not shift_loses(y, scores, parts, lambda y, s: -1.0, GMean())


def test_many_rare_rows_of_which_none_changed_sides_do():
    y, scores, parts = _problem(3000, changed=0)
    assert shift_loses(y, scores, parts, lambda y, s: -1.0, GMean())


def test_a_shift_that_loses_rows_of_both_classes_loses():
    y, scores, parts = _problem(40, changed=0)
    scores[y == 1] = -1.5
    scores[-30:] = 0.5
    assert shift_loses(y, scores, parts, lambda y, s: 1.0, GMean())


def test_a_shift_that_finds_rare_rows_does_not_lose():
    y, scores, parts = _problem(40, changed=20)
    assert not shift_loses(y, scores, parts, lambda y, s: -1.0, GMean())


def test_the_change_of_recall_is_that_of_half_a_row_more_in_each_cell():
    # Both right, gained, lost, both wrong; the second computation takes moments of a multinomial.
    cells = np.array([7, 3, 1, 4]) + 0.5
    n = cells.sum()
    weights = np.array([0, 1, -1, 0])
    covariance = multinomial(n, cells / n).cov()
    expected = weights @ cells / n, weights @ covariance @ weights / n**2
    assert _change_of_recall(3, 1, 15) == pytest.approx(expected)


def test_the_bound_of_two_standard_errors_holds_where_the_rare_class_has_ten_rows():
    # Rows of a shift that neither gains nor loses: it should be said to lose in few samples.
    rng = np.random.default_rng(0)
    said = 0
    for _ in range(4000):
        mean, variance = 0.0, 0.0
        for rows, share in ((300, 0.05), (10, 0.3)):
            gained, lost, _ = rng.multinomial(rows, [share / 2, share / 2, 1 - share])
            part = _change_of_recall(gained, lost, rows)
            mean, variance = mean + part[0], variance + part[1]
        said += mean < -2 * np.sqrt(variance)
    assert said / 4000 < 0.03
