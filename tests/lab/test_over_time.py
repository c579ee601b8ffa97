"""Boundaries over time: drawn data whose later errors are known."""

import numpy as np
import pytest

from lab.claims import over_time
from lab.data.dated import DatedRows

PERIODS = 12
ROWS = 300


def drawn(drift):
    """Return months with two classes; from the sixth on, the positive one moves by `drift`."""
    rng = np.random.default_rng(0)
    period = np.repeat(np.arange(PERIODS), ROWS)
    y = (rng.random(len(period)) < 0.3).astype(int)
    X = rng.normal(size=len(period)) + y * (2.5 - drift * (period >= PERIODS // 2))
    return DatedRows(X[:, None], y, period, np.arange(len(period)) // 10, season=12)


def judge(monkeypatch, rows):
    monkeypatch.setitem(over_time.DATED, "drawn", lambda: rows)
    facts = {"rows": over_time.judge("drawn", "logistic regression")}
    return over_time.read(facts)


@pytest.mark.parametrize("drift", [-1.0, 2.0])
def test_alarms_are_raised_and_bounds_broken_where_a_class_has_moved(monkeypatch, drift):
    rows = judge(monkeypatch, drawn(drift))
    first = rows[(rows["first"] == PERIODS // 2) & (rows["method"] != "again")]
    future = first[(first["period"] == over_time.WHOLE_FUTURE) & (first["label"] == "positive")]
    # Six later months are too few to raise an alarm if a month counts once.
    watched = future[future["method"].isin(["season", "past", "units"])]
    assert len(watched) == 3
    assert (watched["above"] == (drift > 0)).all()
    assert (watched["alarm"] == (drift > 0)).all()


def test_rates_are_those_of_the_rows_after_the_certificate(monkeypatch):
    data = drawn(1.0)
    scored = over_time.score(data, "logistic regression")
    rows = judge(monkeypatch, data)
    mine = rows[(rows["method"] == "past") & (rows["label"] == "negative")]
    is_wrong = scored.scores > scored.threshold
    for first in (PERIODS // 2, 3 * PERIODS // 4):
        own = mine[mine["first"] == first].set_index("period")["rate"]
        assert own[over_time.WHOLE_FUTURE] == np.mean(
            is_wrong[(data.period >= first) & (data.y == 0)]
        )
        assert own[first] == np.mean(is_wrong[(data.period == first) & (data.y == 0)])


def test_no_row_of_the_training_periods_or_of_the_future_makes_a_certificate():
    data = drawn(0.0)
    scored = over_time.score(data, "logistic regression")
    for method in over_time.METHODS.values():
        used = data.period[scored.since(8, method)]
        assert used.min() >= PERIODS // 4
        assert used.max() == 7
    assert data.period[scored.since(8, over_time.METHODS["season"])].min() == 8 - 12 // 4


def test_a_threshold_that_cannot_be_chosen_is_a_row_with_its_message(monkeypatch):
    data = drawn(0.0)
    data = DatedRows(data.X, data.y * (data.period != 5), data.period, data.unit, season=1)
    monkeypatch.setitem(over_time.DATED, "drawn", lambda: data)
    rows = over_time.judge("drawn", "logistic regression")
    failed = [row for row in rows if row["message"]]
    assert [(row["method"], row["period"]) for row in failed] == [("again", 6)]
    assert np.isnan(failed[0]["bound_positive"])
