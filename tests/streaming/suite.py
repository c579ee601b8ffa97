"""One suite for all engines: a problem, the answers expected, and the faults that data has."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from boundshift import (
    BoundaryWarning,
    Floors,
    InvalidInputError,
    boundary,
    certify,
    find_boundaries,
    find_boundary,
    find_zone,
    streaming,
)
from boundshift.multiclass import find_biases
from boundshift.streaming import driver, scan
from boundshift.streaming.chunks import Chunk
from boundshift.streaming.read import find_source, read

ROWS = 3000
CASES = [
    ("blend", "g-mean"),
    ("logistic", "g-mean"),
    ("smoothed", "sum"),
    ("smoothed", "g-mean"),
    ("student-t", "minimax"),
    ("kth-point", "sum"),
    ("clopper-pearson", Floors(recall=0.9)),
    ("support", "sum"),
    ("support", "minimax"),
]


def problem(seed=0):
    """Return labels and scores."""
    rng = np.random.default_rng(seed)
    y = (rng.random(ROWS) < 0.1).astype(np.int64)
    return y, rng.normal(size=ROWS) + 2 * y


def probabilities(seed=0):
    """Return labels and probabilities."""
    y, s = problem(seed)
    return y, 1 / (1 + np.exp(2.5 - s))


def assert_refused_without_scores(rows, words, kind):
    """See that columns instead of rows, an unknown name and scores that are words are refused."""
    with pytest.raises(InvalidInputError, match=r"boundshift\.streaming\.scan_boundary"):
        find_boundary(rows.select("label"), rows.select("score"))
    with pytest.raises(InvalidInputError, match="`score` must name one of the columns"):
        streaming.scan_boundary(rows, score="margin")
    with pytest.raises(
        InvalidInputError, match=f"real numbers, got {kind} values in column 'score'"
    ):
        streaming.scan_boundary(words)


def assert_same_boundary(found, y, s, **options):
    """Compare with the boundary of the same rows in memory."""
    assert_close(found, find_boundary(y, s, **options), np.asarray(s, float))


def assert_same_weighted(found, expected, s):
    """Compare boundaries whose counts are sums of weights of at most 2."""
    assert found.n_samples == pytest.approx(expected.n_samples, rel=1e-12)
    assert (found.labels, found.status) == (expected.labels, expected.status)
    assert_near(found, expected, s, 2.0)


def assert_near(found, expected, s, weight=1.0):
    """Compare thresholds: smooth curves take cells as points, others are exact."""
    is_smooth = getattr(found.curve, "spreads_rows", False)
    assert is_smooth or found.resolution == 0
    allowed = (1e-5 if is_smooth else 1e-12) * np.ptp(s)
    low, high = sorted([found.threshold, expected.threshold])
    assert high - low <= allowed
    # A smooth curve counts the rows of the boundary's cell by their mean.
    cell = found.resolution / driver._SMOOTH * (4 if found.scale == "probability" else 1)
    between = weight * np.count_nonzero((s > low - cell) & (s <= high + cell))
    differ = np.abs(np.subtract(found.wrong, expected.wrong)).max()
    assert differ <= between + 1e-9 * sum(expected.n_samples)


def parts_of(y, s, sizes):
    """Return consecutive rows as (labels, scores), skewed and with empty parts among them."""
    cuts = np.cumsum(sizes)[:-1]
    return list(zip(np.split(np.asarray(y), cuts), np.split(np.asarray(s), cuts), strict=True))


def named(part):
    """Return the columns of a part by name: a pair has labels and scores."""
    return part if isinstance(part, dict) else dict(zip(("label", "score"), part, strict=True))


def cut(columns, sizes):
    """Return consecutive rows of named columns as parts."""
    cuts = np.cumsum(sizes)[:-1]
    split = {name: np.split(np.asarray(values), cuts) for name, values in columns.items()}
    return [{name: parts[i] for name, parts in split.items()} for i in range(len(sizes))]


def weighted_problem(seed=0):
    """Return named columns with fractional weights, some of them 0."""
    y, s = problem(seed)
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 1.7, 2.0], ROWS)
    return {"label": y, "score": s, "weight": weights}


def grouped_problem():
    """Return named columns with groups, one of them without positive rows."""
    y, s = problem(8)
    by = np.random.default_rng(8).choice(["a", "b", "c"], ROWS, p=[0.6, 0.38, 0.02])
    y = np.where(by == "c", 0, y)
    return {"label": y, "score": s + (by == "b"), "by": by}


def many_classes(names):
    """Return columns of labels, and of a score for each class, and the names of these."""
    rng = np.random.default_rng(9)
    y = rng.choice(len(names), ROWS, p=[0.8, 0.15, 0.05])
    scores = rng.normal(size=(ROWS, len(names))) - np.arange(len(names))
    scores[np.arange(ROWS), y] += 2
    columns = {f"score_{i}": column for i, column in enumerate(scores.T)}
    return {"label": names[y]} | columns, list(columns)


def expected_biases(rows, curve):
    """Return the biases of the same rows in memory."""
    names, y = np.unique(rows["label"], return_inverse=True)
    scores = np.column_stack([rows[name] for name in rows if name.startswith("score")])
    claims = boundary.choose_claims(curve, None)
    return find_biases(y, scores, *claims, labels=names.tolist(), weights=rows.get("weight"))


def assert_same_biases(found, expected):
    """Compare biases, and what they decide between each two classes."""
    np.testing.assert_allclose(found.biases, expected.biases, rtol=0, atol=1e-4)
    assert found.statuses == expected.statuses
    assert list(found.boundaries) == list(expected.boundaries)
    for pair, between in expected.boundaries.items():
        assert found.boundaries[pair].wrong == pytest.approx(between.wrong, abs=1)
        assert found.boundaries[pair].n_samples == pytest.approx(between.n_samples, rel=1e-12)


def assert_close(found, expected, s):
    """Compare a boundary with one in memory."""
    assert found.n_samples == expected.n_samples
    assert (found.labels, found.status) == (expected.labels, expected.status)
    assert_near(found, expected, s)


WEIGHTED_CASES = [
    ("blend", "g-mean"),
    ("logistic", "g-mean"),
    ("smoothed", "sum"),
    ("student-t", "minimax"),
    ("kth-point", "sum"),
    ("empirical", "mcc"),
]


class EngineSuite:
    """What every engine must do; a subclass has a fixture `frame` from parts to what is scanned.

    A part is a pair (labels, scores) of lists with None where a value is missing, or a dict of
    named columns; ``frame`` puts each into a partition of its own. Where data has no names,
    `has_names` is False.
    """

    has_names = True

    @pytest.fixture
    def find(self, frame):
        return lambda parts, **options: streaming.scan_boundary(frame(parts), **options)

    @pytest.fixture
    def find_weighted(self, frame):
        columns = {"weight": "weight"} if self.has_names else {}
        return lambda parts, **options: streaming.scan_boundary(frame(parts), **columns, **options)

    @pytest.mark.parametrize(("curve", "rule"), WEIGHTED_CASES)
    def test_weights_count_as_in_memory(self, find_weighted, curve, rule):
        rows = weighted_problem()
        found = find_weighted(cut(rows, [1000, 1000, 1000]), curve=curve, rule=rule)
        expected = find_boundary(
            rows["label"], rows["score"], curve=curve, rule=rule, sample_weight=rows["weight"]
        )
        assert_same_weighted(found, expected, rows["score"])

    @pytest.mark.parametrize("curve", ["blend", "kth-point"])
    def test_a_weight_of_two_is_the_row_twice(self, find, find_weighted, curve):
        y, s = problem()
        weights = np.random.default_rng(1).choice([0, 1, 1, 2, 2], ROWS)
        rows = {"label": y, "score": s, "weight": weights}
        found = find_weighted(cut(rows, [1500, 1500]), curve=curve)
        repeated = np.repeat(y, weights), np.repeat(s, weights)
        expected = find([repeated], curve=curve)
        assert abs(found.threshold - expected.threshold) <= 1e-12 * np.ptp(s)
        assert found.wrong == pytest.approx(expected.wrong, abs=1e-9)

    def test_probabilities_with_weights_are_decided_as_in_memory(self, find_weighted):
        rows = weighted_problem()
        s = np.round(1 / (1 + np.exp(2.5 - rows["score"])), 2)
        rows["score"] = np.where((s > 0.6) & (rows["label"] == 1), 1.0, s)
        found = find_weighted(cut(rows, [1000, 1000, 1000]))
        expected = find_boundary(rows["label"], rows["score"], sample_weight=rows["weight"])
        assert found.scale == "probability"
        assert_same_weighted(found, expected, rows["score"])

    @pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "all", "few"])
    def test_bad_weights_get_the_sentence_of_memory(self, find_weighted, bad):
        rows = weighted_problem()
        if bad == "all":
            rows["weight"][:] = 0
        elif bad == "few":
            rows["weight"][rows["label"] == 1] *= 1e-3
        else:
            rows["weight"][[5, 500, 1700]] = bad
        with pytest.raises(InvalidInputError) as in_memory:
            find_boundary(rows["label"], rows["score"], sample_weight=rows["weight"])
        with pytest.raises(InvalidInputError) as refused:
            find_weighted(cut(rows, [1500, 1500]))
        assert str(refused.value) == str(in_memory.value)

    def test_uneven_weights_are_warned_of_as_in_memory(self, find_weighted):
        rows = weighted_problem()
        rows["weight"][:50] *= 300
        with pytest.warns(BoundaryWarning, match="Kish") as in_memory:
            find_boundary(rows["label"], rows["score"], sample_weight=rows["weight"])
        with pytest.warns(BoundaryWarning, match="Kish") as warned:
            find_weighted(cut(rows, [1500, 1500]))
        # An engine may warn of something else when it is first used.
        ours = [str(w.message) for w in warned if issubclass(w.category, BoundaryWarning)]
        assert ours == [str(w.message) for w in in_memory]

    @pytest.mark.parametrize("curve", ["clopper-pearson", "support"])
    def test_curves_that_count_rows_refuse_weights(self, find_weighted, curve):
        rows = weighted_problem()
        with pytest.raises(InvalidInputError) as in_memory:
            find_boundary(rows["label"], rows["score"], curve=curve, sample_weight=rows["weight"])
        with pytest.raises(InvalidInputError) as refused:
            find_weighted(cut(rows, [1500, 1500]), curve=curve)
        assert str(refused.value) == str(in_memory.value)

    @pytest.mark.parametrize("curve", ["blend", "student-t", "kth-point"])
    def test_biases_of_many_classes_are_those_of_memory(self, frame, curve):
        rows, names = many_classes(np.array(["cat", "dog", "eel"]))
        columns = names if self.has_names else None
        found = streaming.scan_biases(frame(cut(rows, [1000, 2000])), columns, curve=curve)
        expected = expected_biases(rows, curve)
        assert_same_biases(found, expected)

    def test_weights_count_in_biases_as_in_memory(self, frame):
        rows, names = many_classes(np.arange(3))
        rows["weight"] = np.random.default_rng(0).choice([0.0, 0.5, 2.0], ROWS)
        columns = {"scores": names, "weight": "weight"} if self.has_names else {}
        found = streaming.scan_biases(frame(cut(rows, [1000, 2000])), curve="blend", **columns)
        assert_same_biases(found, expected_biases(rows, "blend"))

    def test_a_class_without_a_column_is_refused(self, frame):
        rows, names = many_classes(np.arange(3))
        rows["label"] = np.where(np.arange(ROWS) == 2500, 7, rows["label"])
        columns = names if self.has_names else None
        with pytest.raises(InvalidInputError, match=r"one of the classes \[0, 1, 2\].*got 7 in 1"):
            streaming.scan_biases(frame(cut(rows, [1000, 2000])), columns, labels=[0, 1, 2])

    @pytest.mark.parametrize(("curve", "rule"), [("blend", "g-mean"), ("kth-point", "sum")])
    def test_boundaries_of_groups_are_those_of_memory(self, frame, curve, rule):
        rows = grouped_problem()
        found = streaming.scan_boundaries(
            frame(cut(rows, [1000, 2000])), pos_label=1, curve=curve, rule=rule
        )
        expected = find_boundaries(
            rows["label"], rows["score"], rows["by"], pos_label=1, curve=curve, rule=rule
        )
        assert list(found) == sorted(expected)
        for group, own in expected.items():
            assert_close(found[group], own, rows["score"])
        assert_close(found.common, expected.common, rows["score"])
        assert found.counts == expected.counts

    def test_probabilities_of_groups_are_decided_on_one_scale(self, frame):
        rows = grouped_problem()
        s = np.round(1 / (1 + np.exp(2.5 - rows["score"])), 2)
        rows["score"] = np.where((s > 0.6) & (rows["label"] == 1), 1.0, s)
        found = streaming.scan_boundaries(frame(cut(rows, [1000, 2000])))
        expected = find_boundaries(rows["label"], rows["score"], rows["by"])
        for group, own in expected.items():
            assert found[group].scale == "probability"
            assert_close(found[group], own, rows["score"])

    def test_a_missing_group_is_refused(self, frame):
        rows = {name: values.tolist() for name, values in grouped_problem().items()}
        rows["by"][7] = None
        with pytest.raises(InvalidInputError, match="`by` must name the group of every row"):
            streaming.scan_boundaries(frame([rows]))

    def test_a_weighted_certificate_is_that_of_memory(self, frame):
        rows = weighted_problem()
        columns = {"weight": "weight"} if self.has_names else {}
        found = streaming.scan_certificate(frame(cut(rows, [1500, 1500])), 1.25, **columns)
        expected = certify(rows["label"], rows["score"], 1.25, sample_weight=rows["weight"])
        assert found.errors == pytest.approx(expected.errors, rel=1e-12)
        assert replace(found, errors=expected.errors) == expected

    @pytest.mark.parametrize(("curve", "rule"), CASES)
    def test_decides_as_in_memory(self, find, curve, rule):
        y, s = problem()
        parts = parts_of(y, s, [1000, 1000, 1000])
        found = find(parts, curve=curve, rule=rule)
        assert_same_boundary(found, y, s, curve=curve, rule=rule)

    @pytest.mark.parametrize("curve", ["blend", "smoothed", "kth-point", "support"])
    def test_probabilities_are_decided_as_in_memory(self, find, curve):
        y, s = probabilities()
        found = find(parts_of(y, s, [1000, 1000, 1000]), curve=curve)
        assert found.scale == "probability"
        assert_same_boundary(found, y, s, curve=curve)

    def test_exact_zeros_and_ones_are_decided_as_in_memory(self, find):
        y, s = probabilities()
        s = np.round(s, 2)
        s[y == 1] = np.where(s[y == 1] > 0.6, 1.0, s[y == 1])
        found = find(parts_of(y, s, [1000, 1000, 1000]))
        assert min(np.sum(s == 0), np.sum(s == 1)) > 0
        assert_same_boundary(found, y, s)

    def test_a_late_score_beyond_one_makes_all_of_them_scores(self, find):
        y, s = probabilities()
        s[-1] = 1.5
        found = find(parts_of(y, s, [0, 2990, 10]))
        assert found.scale == "raw"
        assert_same_boundary(found, y, s)
        with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]"):
            find(parts_of(y, s, [0, 2990, 10]), scale="probability")

    @pytest.mark.filterwarnings("ignore:The scores take two values only")
    def test_hard_labels_are_decided_as_they_are(self, find):
        y, s = probabilities()
        s = (s > 0.1).astype(float)
        found = find(parts_of(y, s, [1500, 1500]), curve="kth-point")
        assert (found.scale, found.threshold) == ("raw", 0.5)
        assert_same_boundary(found, y, s, curve="kth-point")

    def test_probabilities_are_scores_if_that_is_said(self, find):
        y, s = probabilities()
        found = find(parts_of(y, s, [1500, 1500]), scale="raw")
        assert found.scale == "raw"
        assert_same_boundary(found, y, s, scale="raw")

    def test_skewed_empty_and_one_class_partitions(self, find):
        y, s = problem(1)
        order = np.argsort(y, kind="stable")
        y, s = y[order], np.sort(s)
        parts = parts_of(y, s, [0, 5, 2500, 0, 495])
        assert_same_boundary(find(parts, curve="kth-point"), y, s, curve="kth-point")

    def test_string_labels(self, find):
        y, s = problem(2)
        y = np.where(y == 1, "fraud", "good")
        found = find(parts_of(y, s, [1500, 1500]), curve="smoothed", pos_label="fraud")
        assert_same_boundary(found, y, s, curve="smoothed", pos_label="fraud")

    def test_words_need_a_positive_class_where_the_rule_does_not_treat_them_alike(self, find):
        y, s = problem(2)
        words = np.where(y == 1, "fraud", "good")
        parts = parts_of(words, s, [1500, 1500])
        with pytest.raises(InvalidInputError) as in_memory:
            find_boundary(words, s, rule=Floors(recall=0.9))
        with pytest.raises(InvalidInputError) as refused:
            find(parts, rule=Floors(recall=0.9))
        assert str(refused.value) == str(in_memory.value)
        assert "`pos_label` must name the positive class" in str(refused.value)
        options = {"rule": Floors(recall=0.9), "pos_label": "fraud"}
        assert_same_boundary(find(parts, **options), words, s, **options)

    def test_decimal_scores(self, find):
        y, s = problem(3)
        s = np.round(s, 3)
        decimals = [Decimal(str(v)) for v in s.tolist()]
        parts = [(y[:1000], decimals[:1000]), (y[1000:], decimals[1000:])]
        assert_same_boundary(find(parts, curve="kth-point"), y, s, curve="kth-point")

    def test_nan_is_named_by_partition_and_number(self, find):
        y, s = problem(4)
        parts = parts_of(y, s, [1000, 1000, 1000])
        parts[1][1][[5, 50, 500]] = np.nan
        with pytest.raises(InvalidInputError, match=rf"3 NaN in .*{self.second}"):
            find(parts)

    @pytest.mark.parametrize(("column", "fault"), [(1, "1 NaN"), (0, "1 missing")])
    def test_a_missing_score_or_label_is_named(self, find, column, fault):
        y, s = problem(5)
        parts = [(y[:1500].tolist(), s[:1500].tolist()), (y[1500:].tolist(), s[1500:].tolist())]
        parts[1][column][7] = None
        with pytest.raises(InvalidInputError, match=rf"{fault} in .*{self.second}"):
            find(parts)

    def test_zone_and_certificate_are_those_of_memory(self, find, monkeypatch):
        y, s = problem(7)
        opened = []

        def keep(source):
            opened.append(source)
            return source

        monkeypatch.setattr(scan, "read", lambda data, **names: keep(read(data, **names)))
        monkeypatch.setattr(boundary, "find_source", lambda *data: keep(find_source(*data)))
        found = find(parts_of(y, s, [1000, 1000, 1000]), curve="kth-point")
        monkeypatch.setattr(scan, "read", lambda *_, **__: opened[0])
        errors = (0.05, 0.1)
        zone = streaming.scan_zone(None, errors, pos_label=1)
        assert zone == find_zone(y, s, errors, pos_label=1)
        certificate = streaming.scan_certificate(None, found.threshold)
        assert certificate == certify(y, s, found.threshold)

    def test_one_class_alone_is_refused(self, find):
        with pytest.raises(InvalidInputError, match="two classes, got only 0"):
            find([(np.zeros(9, np.int64), np.arange(9.0))])

    def test_three_classes_are_refused(self, find):
        with pytest.raises(InvalidInputError, match="two classes, got 3"):
            find([(np.arange(9) % 3, np.arange(9.0))])

    second = "1"


class QuerySuite(EngineSuite):
    """What engines that count by queries must do besides.

    A subclass has the engine's `module` and a fixture `frame` from parts to what is scanned.
    """

    module = None

    @pytest.mark.parametrize(
        "scores",
        [
            lambda s: s,
            lambda s: s * 1e280,
            lambda s: s * 1e-280,
            lambda s: 1e6 + 1e-3 * s,
            lambda s: np.where(s > 3.3, 1e9, s),
            lambda s: np.round(s),
            lambda s: s.astype(np.float32),
            lambda s: np.round(100 * s).astype(np.int64),
            lambda s: np.zeros(len(s)),
        ],
        ids=["plain", "huge", "tiny", "shifted", "outliers", "ties", "float32", "whole", "one"],
    )
    def test_a_query_finds_what_a_request_finds(self, frame, scores):
        y, s = problem()
        s = np.asarray(scores(s))
        source = read(frame(parts_of(y, s, [1000, 1, 1999])))
        request = driver.Scan(source.peek()).first_request()
        found = source.scan(request, lambda *_: None)
        expected = request.tally([Chunk(y, s, "all")])
        for label in (0, 1):
            a, b = found.classes[label], expected.classes[label]
            assert (a.n_rows, a.low, a.high) == (b.n_rows, b.low, b.high)
            np.testing.assert_array_equal(a.counts, b.counts)
            np.testing.assert_allclose(a.sums, b.sums, rtol=1e-9, atol=1e-9 * np.ptp(s))

    @pytest.mark.parametrize("curve", ["student-t", "smoothed"])
    def test_a_class_far_narrower_than_a_cell(self, find, curve):
        y, s = problem()
        tight = 300.3 + 1e-9 * np.random.default_rng(0).normal(size=len(s))
        s = np.where(y == 1, tight, 1e3 * s)
        expected = find_boundary(y, s, curve=curve)
        assert find([(y, s)], curve=curve).threshold == pytest.approx(expected.threshold, rel=1e-9)

    @pytest.mark.parametrize(
        "kind",
        [np.int64, float, bool, lambda y: np.where(y == 1, "b", "a \\ it's")],
        ids=["whole", "float", "bool", "words"],
    )
    def test_a_class_that_is_not_among_the_first_rows(self, find, monkeypatch, kind):
        monkeypatch.setattr(self.module, "PEEKED_ROWS", 64)
        y, s = problem()
        order = np.argsort(y, kind="stable")
        y, s = y[order], s[order]
        labels = kind(y) if kind not in (np.int64, float, bool) else y.astype(kind)
        assert_same_boundary(find(parts_of(labels, s, [1000, 1000, 1000])), labels, s)

    def test_what_is_wrong_is_not_among_the_first_rows(self, find, monkeypatch):
        monkeypatch.setattr(self.module, "PEEKED_ROWS", 64)
        y, s = problem()
        order = np.argsort(y, kind="stable")
        y, s = y[order], np.append(s[order], [0.0, 1.0])
        with pytest.raises(InvalidInputError, match=r"two classes.*2"):
            find([(np.append(y, [2, 2]), s)])
        with pytest.raises(InvalidInputError, match=rf"2 missing in {self.only}"):
            find([(np.append(y, [np.nan, np.nan]), s)])

    only = "1"
