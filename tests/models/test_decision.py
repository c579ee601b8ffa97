"""Whether biases lose against the model's own boundary."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from boundshift import BoundShiftClassifier
from boundshift._status import Status
from boundshift.models._decision import shift_loses


def problem(rare, changed, common=1000):
    """Margins of which a shift to -1 loses some common rows, and finds or loses rare ones."""
    margins = np.repeat([-2.0, 2.0], [common, rare])
    margins[:30] = margins[common : common + changed] = -0.5
    y = np.repeat([0, 1], [common, rare])
    return y, margins, np.arange(common + rare) % 5


def loses(y, margins, parts, threshold):
    scores = np.stack([np.zeros(len(y)), margins], axis=1)
    return shift_loses(y, scores, None, parts, lambda y, s, w: np.array([0.0, -threshold]))


@pytest.mark.parametrize(
    ("rare", "changed", "expected"),
    [(5, 0, False), (50, 0, False), (3000, 0, True), (40, 20, False)],
)
def test_a_shift_to_the_rare_class_loses_only_if_many_rare_rows_say_so(rare, changed, expected):
    assert loses(*problem(rare, changed), -1.0) == expected


def test_a_shift_that_loses_rows_of_both_classes_loses():
    y, margins, parts = problem(40, changed=0)
    margins[y == 1] = -1.5
    margins[-30:] = 0.5
    assert loses(y, margins, parts, 1.0)


def test_a_shift_that_changes_nothing_is_said_to_lose_in_few_samples():
    rng = np.random.default_rng(0)
    said = 0
    y, parts = np.repeat([0, 1], [300, 10]), np.arange(310) % 5
    for _ in range(400):
        # In each class as many rows gain as lose, on average.
        side = rng.choice([-0.5, 0.5, 2.0, -2.0], len(y), p=[0.05, 0.05, 0.45, 0.45])
        said += loses(y, side, parts, float(rng.choice([-1.0, 1.0])))
    assert said / 400 < 0.05


def test_a_choice_never_sees_the_rows_that_judge_it():
    rng = np.random.default_rng(0)
    y, scores, parts = rng.integers(0, 2, 600), rng.normal(size=(600, 2)), np.arange(600) % 5
    seen = []
    shift_loses(y, scores, None, parts, lambda y, s, w: seen.append(s) or np.zeros(2))
    for part, chosen_on in enumerate(seen):
        assert not np.isin(scores[parts == part], chosen_on).any()
        assert len(chosen_on) == 480


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_many_classes_keep_their_own_boundaries_where_the_shift_loses():
    X, y = load_digits(n_class=6, return_X_y=True)
    clf = BoundShiftClassifier(GaussianNB()).fit(X[::2], y[::2])
    assert {b.status for b in clf.boundaries_.values()} == {Status.KEPT}
    assert not clf.biases_.any()
    own = GaussianNB().fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert clf.score(X[1::2], y[1::2]) > own - 0.02
