"""What every engine must do: hand over the rows, name the faulty ones, and decide as in memory.

Decisions are tested in `test_passes` on chunks; all engines share the routine that counts.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from boundshift import (
    InvalidInputError,
    certify,
    find_boundary,
    find_zone,
    streaming,
)
from boundshift.curves import PairCurve
from boundshift.rules import Floors

ROWS = 3000


def problem(seed=0):
    """Return labels and scores."""
    rng = np.random.default_rng(seed)
    y = (rng.random(ROWS) < 0.1).astype(np.int64)
    return y, rng.normal(size=ROWS) + 2 * y


def probabilities(seed=0):
    """Return labels and probabilities, some of which are exactly 0 and 1."""
    y, s = problem(seed)
    p = np.round(1 / (1 + np.exp(2.5 - s)), 2)
    return y, np.where((p > 0.6) & (y == 1), 1.0, p)


def weighted_problem(seed=0):
    """Return named columns with fractional weights, some of them 0."""
    y, s = problem(seed)
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 1.7, 1.9], ROWS)
    return {"label": y, "score": s, "weight": weights}


def parts_of(columns, sizes):
    """Return consecutive rows of named columns, or of a pair (labels, scores), as parts."""
    if not isinstance(columns, dict):
        columns = dict(zip(("label", "score"), columns, strict=True))
    cuts = np.cumsum(sizes)[:-1]
    split = {name: np.split(np.asarray(values), cuts) for name, values in columns.items()}
    return [{name: parts[i] for name, parts in split.items()} for i in range(len(sizes))]


def assert_close(found, expected, s, weight=1.0, within=None):
    """Compare boundaries: smooth curves take cells as points, others are exact."""
    assert found.n_samples == pytest.approx(expected.n_samples, rel=1e-12)
    assert (found.labels, found.status) == (expected.labels, expected.status)
    is_smooth = isinstance(found.curve, PairCurve)
    assert is_smooth or found.resolution == 0
    low, high = sorted([found.threshold, expected.threshold])
    assert high - low <= (within or (1e-5 if is_smooth else 1e-12) * np.ptp(s))
    between = weight * np.count_nonzero((s > low) & (s <= high))
    differ = np.abs(np.subtract(found.wrong, expected.wrong)).max()
    assert differ <= between + 1e-9 * sum(expected.n_samples)


def assert_same_boundary(found, y, s, **options):
    """Compare with the boundary of the same rows in memory."""
    assert_close(found, find_boundary(y, s, **options), np.asarray(s, float))


class EngineSuite:
    """A subclass has a fixture `frame` from parts, dicts of named columns, to what is scanned.

    ``frame`` puts each part into a partition of its own; `second` is what an error calls the
    second one. Where data has no names of columns, `has_names` is False.
    """

    has_names = True
    second = "1"

    def named(self, **names):
        return names if self.has_names else {}

    @pytest.mark.parametrize("curve", ["blend", "empirical"])
    def test_decides_as_in_memory(self, frame, curve):
        y, s = problem()
        data = frame(parts_of((y, s), [1000, 1000, 1000]))
        assert_same_boundary(streaming.scan_boundary(data, curve=curve), y, s, curve=curve)

    def test_probabilities_are_decided_on_their_log_odds(self, frame):
        y, s = probabilities()
        found = streaming.scan_boundary(frame(parts_of((y, s), [1000, 2000])))
        assert found.scale == "probability"
        assert_same_boundary(found, y, s)

    def test_weights_count_as_in_memory(self, frame):
        rows = weighted_problem()
        data = frame(parts_of(rows, [1000, 1000, 1000]))
        found = streaming.scan_boundary(data, **self.named(weight="weight"))
        y, s, w = rows.values()
        assert_close(found, find_boundary(y, s, sample_weight=w), s, 2.0)

    @pytest.mark.parametrize("asked", [{"precision": 0.3}, {"npv": 0.95, "flagged": 0.4}], ids=str)
    def test_floors_are_those_of_memory(self, frame, asked):
        y, s = problem(6)
        data = frame(parts_of((y, s), [1000, 1000, 1000]))
        rule = Floors(**asked)
        assert streaming.scan_boundary(data, rule=rule) == find_boundary(y, s, rule=rule)

    def test_zone_and_certificate_are_those_of_memory(self, frame):
        y, s = problem(7)
        parts = parts_of((y, s), [1000, 1000, 1000])
        zone = streaming.scan_zone(frame(parts), (0.05, 0.1), pos_label=1)
        assert zone == find_zone(y, s, (0.05, 0.1), pos_label=1)
        assert streaming.scan_certificate(frame(parts), 1.25) == certify(y, s, 1.25)

    def test_skewed_empty_and_one_class_partitions(self, frame):
        y, s = problem(1)
        y = np.sort(y)
        s = np.sort(s)
        data = frame(parts_of((y, s), [0, 5, 2500, 0, 495]))
        found = streaming.scan_boundary(data, curve="empirical")
        assert_same_boundary(found, y, s, curve="empirical")

    def test_labels_may_be_words_and_scores_decimals(self, frame):
        y, s = problem(3)
        y = np.where(y == 1, "fraud", "good")
        s = np.round(s, 3)
        decimals = np.array([Decimal(str(v)) for v in s.tolist()], dtype=object)
        data = frame(parts_of((y, decimals), [1000, 2000]))
        options = {"curve": "empirical", "pos_label": "fraud"}
        assert_same_boundary(streaming.scan_boundary(data, **options), y, s, **options)

    def test_nan_is_named_by_partition_and_number(self, frame):
        y, s = problem(4)
        s[[1005, 1050, 1500]] = np.nan
        with pytest.raises(InvalidInputError, match=rf"3 NaN in .*{self.second}"):
            streaming.scan_boundary(frame(parts_of((y, s), [1000, 1000, 1000])))

    @pytest.mark.parametrize(("column", "fault"), [("score", "1 NaN"), ("label", "1 missing")])
    def test_a_missing_score_or_label_is_named(self, frame, column, fault):
        parts = parts_of(problem(5), [1500, 1500])
        parts = [{name: values.tolist() for name, values in part.items()} for part in parts]
        parts[1][column][7] = None
        with pytest.raises(InvalidInputError, match=rf"{fault} in .*{self.second}"):
            streaming.scan_boundary(frame(parts))

    def test_a_column_that_is_not_there_is_refused(self, frame):
        rule = "has no column 'margin'" if self.has_names else "`score` must be left out for pairs"
        with pytest.raises(InvalidInputError, match=rule):
            streaming.scan_boundary(frame(parts_of(problem(), [ROWS])), score="margin")

    def test_scores_that_are_words_are_refused(self, frame):
        y, s = problem()
        with pytest.raises(InvalidInputError, match=r"must (be real|hold) numbers, got"):
            streaming.scan_boundary(frame(parts_of((y, np.char.add("a", s.astype(str))), [ROWS])))
