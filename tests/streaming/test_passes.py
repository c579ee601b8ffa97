"""Decisions from a summary in passes against those from the sorted scores."""

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundshift
from boundshift import InvalidInputError, find_boundary, streaming
from boundshift.curves import CURVES, PairCurve
from boundshift.rules import Cost, Floors, GMean, Metric, Minimax, Sum
from boundshift.streaming import _bins as bins
from boundshift.streaming import _looks as looks
from tests.problems import classes, labelled, many, tied_classes, two_normals
from tests.streaming.suite import (
    ROWS,
    assert_close,
    assert_same_boundary,
    probabilities,
    problem,
    weighted_problem,
)

RULES = [Sum(), Minimax(), GMean(), Cost(), Floors(recall=0.9)]
pytestmark = pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")


@pytest.fixture
def coarse(monkeypatch):
    """Bins so few and scores so dear that every problem takes several passes."""
    monkeypatch.setattr(bins, "_BITS", 0)
    monkeypatch.setattr(bins, "PARTS", 1)
    monkeypatch.setattr(looks, "_MOST_SCORES", 8)
    monkeypatch.setattr(looks, "_MOST_RANGES", 3)


def cut(y, s, seed):
    """Return the rows in random order, in chunks of random sizes, some of them empty."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(s))
    cuts = np.sort(rng.integers(0, len(s) + 1, rng.integers(0, 6)))
    return list(zip(np.split(y[order], cuts), np.split(s[order], cuts), strict=True))


def assert_same(y, s, seed, **options):
    expected = find_boundary(y, s, **options)
    found = streaming.scan_boundary(cut(y, s, seed), **options)
    is_smooth = found.resolution and isinstance(found.curve, PairCurve)
    assert_close(found, expected, s, within=found.resolution + 1e-9 * (np.ptp(s) or 1.0))
    assert found.errors == pytest.approx(expected.errors, abs=5e-3 if is_smooth else 1e-9)
    if not is_smooth:
        assert found.wrong == expected.wrong
        assert found.loss == pytest.approx(expected.loss, rel=1e-9)


IN_PASSES = [name for name in CURVES if name != "support"]
CASES = [(curve, rule) for curve in IN_PASSES for rule in RULES]


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("curve", "rule"), CASES, ids=str)
def test_every_curve_and_rule_decides_as_in_memory(curve, rule):
    @many(6)
    @given(problem=classes(most=60 if rule == Sum() else 120), seed=st.integers(0, 1000))
    def check(problem, seed):
        assert_same(*labelled(*problem), seed, curve=curve, rule=rule)

    check()


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("curve", IN_PASSES)
def test_ties_within_and_across_classes_make_no_difference(curve):
    @many(8)
    @given(problem=tied_classes(), seed=st.integers(0, 1000))
    def check(problem, seed):
        y, s = labelled(*problem)
        assert_same(np.tile(y, 20), np.tile(np.asarray(s, float), 20), seed, curve=curve)

    check()


def test_a_metric_is_decided_as_in_memory():
    assert_same(*problem(), 0, curve="smoothed", rule=Metric("f1"))


FLOORS = [
    {"precision": 0.6},
    {"npv": 0.8},
    {"flagged": 0.3},
    {"precision": 0.5, "recall": 0.3},
    {"npv": 0.7, "flagged": 0.6, "then": "specificity"},
    {"precision": 0.9, "specificity": 0.5, "recall": 0.9},
    {"npv": 0.8, "flagged": 0.5, "prevalence": 0.3, "confidence": 0.9},
    {"recall": 0.6, "flagged": 0.5, "then": "precision"},
    {"npv": 0.9, "flagged": 0.9, "confidence": None, "then": "minimax"},
]


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("asked", FLOORS, ids=str)
def test_floors_are_met_at_the_boundary_of_memory(asked):
    """The oracle is the same rows in memory, where every gap is tried."""

    @many(12)
    @given(problem=classes(most=300), seed=st.integers(0, 1000), digits=st.sampled_from([1, 3, 15]))
    def check(problem, seed, digits):
        y, s = labelled(*problem)
        y = np.tile(y, 3)
        s = np.round(np.concatenate([s, s + 0.1, s - 0.2]), digits)
        rule = Floors(**asked)
        assert streaming.scan_boundary(cut(y, s, seed), rule=rule) == find_boundary(y, s, rule=rule)

    check()


ODD = {
    "tiny": lambda y, s: (y, 1e-9 * s),
    "vanishing": lambda y, s: (y, 1e-200 * s),
    "enormous": lambda y, s: (y, 1e280 * s),
    "far from zero": lambda y, s: (y, 1e6 + 1e-3 * s),
    "reversed": lambda y, s: (y, -s),
    "two points": lambda y, s: (np.repeat([0, 1], 50), np.repeat([0.0, 1.0], 50)),
    "one point": lambda y, s: (np.repeat([0, 1], 50), np.zeros(100)),
    "two rows": lambda y, s: (np.array([0, 1]), np.array([0.0, 1.0])),
    "neighbours": lambda y, s: (np.array([0, 1]), np.array([1.0, 1.0 + 2**-52])),
    "narrow": lambda y, s: (np.arange(200) % 2, 1.7e18 + 256.0 * np.arange(200)),
    "many": lambda y, s: two_normals(90_000, 10_000, 2.0),
}


@pytest.mark.parametrize("curve", ["smoothed", "empirical"])
@pytest.mark.parametrize("case", ODD)
def test_odd_scores_are_decided_as_in_memory(case, curve):
    assert_same(*ODD[case](*problem()), 0, curve=curve)


def passes_over(data, read):
    """Return how often a function reads the data, which must be once for each pass."""
    calls = []
    seen = set()

    def chunks():
        calls.append(1)
        return iter(data)

    read(chunks, progress=lambda name, *_: seen.add(name))
    assert len(calls) == len(seen)
    return len(seen)


@pytest.mark.parametrize("rounded", [np.asarray, np.float32, partial(np.round, decimals=2)])
def test_one_percent_positives_take_one_pass_for_a_tally_and_few_for_a_boundary(rounded):
    y, s = two_normals(990_000, 10_000, 2.0)
    s = rounded(s)
    data = [(y[:500_000], s[:500_000]), (y[500_000:], s[500_000:])]
    if rounded is np.asarray:
        assert passes_over(data, streaming.Tally.of) == 1
    for curve in ("blend", "empirical"):
        assert passes_over(data, partial(streaming.scan_boundary, curve=curve)) <= 2


@pytest.mark.parametrize("curve", ["blend", "smoothed", "logistic"])
@pytest.mark.parametrize("kind", ["normal", "t3", "exponential", "offset"])
def test_smooth_curves_are_within_the_resolution_they_state(curve, kind):
    """Two hundred-thousandths of the deviation within classes, at 300,000 rows."""
    rng = np.random.default_rng(11)
    n = 300_000
    y = rng.random(n) < 0.1
    draw = {"normal": rng.normal, "t3": partial(rng.standard_t, 3), "exponential": rng.exponential}
    s = 2 * y + (1e9 + rng.normal(size=n) if kind == "offset" else draw[kind](size=n))
    within = np.sqrt(np.average([s[~y].var(), s[y].var()], weights=[np.sum(~y), np.sum(y)]))
    seen = set()
    found = streaming.scan_boundary([(y, s)], curve=curve, progress=lambda *done: seen.add(done[0]))
    assert len(seen) <= 2
    assert found.resolution <= 2e-5 * within
    moved = abs(found.threshold - find_boundary(y, s, curve=curve).threshold)
    assert moved <= found.resolution


@pytest.mark.usefixtures("coarse")
def test_medians_that_only_seem_reversed_are_not_refused():
    # One cell holds both medians, 4.005 and 4.025, and the means point the other way.
    no = np.concatenate([np.linspace(0, 1, 10), np.linspace(4, 4.01, 80), np.linspace(7, 8, 10)])
    yes = np.concatenate([np.linspace(0, 1, 45), np.full(10, 4.025), np.linspace(7, 8, 45)])
    y = np.repeat(["no", "yes"], 100)
    s = np.concatenate([no, yes])
    assert_same(y, s, 0, rule=Floors(recall=0.9), pos_label="yes")


def test_a_certificate_takes_the_labels_of_a_boundary():
    y, s = problem(5)
    y = np.where(y == 1, "a", "b")
    boundary = find_boundary(y, s, pos_label="a")
    assert streaming.scan_certificate(cut(y, s, 0), boundary) == boundshift.certify(y, s, boundary)
    with pytest.raises(InvalidInputError, match=r"`label` must hold .* 'b' and 'a', got 'c'"):
        streaming.scan_certificate(cut(np.where(y == "b", "c", y), s, 0), boundary)


def overlapping(n):
    """Return labels and scores that need a second look."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return y, rng.normal(size=n) + y


def was_read():
    raise AssertionError("was read")


SCAN = streaming.scan_boundary
CERTIFY = streaming.scan_certificate
ZONE = streaming.scan_zone
SENTINEL = r"`y_score` must be .* at most 1e\+290"
NO_CHUNKS = {
    "iterators": (lambda y, s: SCAN(iter([(y, s)])), "'list_iterator', which can be read once"),
    "streams": (
        lambda y, s: SCAN(pa.table({"label": y, "score": s}).to_reader()),
        "Reader.*read once",
    ),
    "words": (lambda y, s: SCAN([(y, s.astype(str))]), "must be real numbers"),
    "matrices": (lambda y, s: SCAN([(y, np.zeros((len(y), 2)))]), "one-dimensional"),
    "lengths": (lambda y, s: SCAN([(y, s[:2])]), "one value for each of 3000 rows, got 2"),
    "triples and pairs": (lambda y, s: SCAN([(y, s, s), (y, s)]), "3 items in the first and 2 in"),
    "weights of a zone": (lambda y, s: ZONE([(y, s, y + 1)]), "Leave the weights out"),
    "weights of a promise": (lambda y, s: CERTIFY([(y, s, y + 1)], 0.5), "Leave the weights out"),
    "frames": (
        lambda y, s: SCAN([pa.table({"label": y, "score": s})]),
        "must be pairs .* got a Table as chunk 0",
    ),
    "one class": (lambda y, s: SCAN([(0 * y, s)]), "two classes, got only 0 in 3,000 rows"),
    "an exhausted generator": (
        lambda y, s: SCAN(iter([overlapping(400_000)]).__iter__, curve="empirical"),
        "must be the same in every pass, got .* and 0 rows in the next",
    ),
    "faults in many chunks": (
        lambda y, s: SCAN([(y, s + np.nan)] * 10),
        "3000 NaN in chunk 7 and others in 2 more places. Drop",
    ),
    "an element": (lambda y, s: SCAN([(y, s)], element=0), "`element` must be .* a Spark frame"),
    "curve": (lambda y, s: SCAN(was_read, curve="nonsense"), "curve"),
    "threshold": (lambda y, s: CERTIFY(was_read, "high"), "threshold"),
    "origin": (lambda y, s: CERTIFY(was_read, 0.5, origin="fresh"), "origin"),
    "confidence": (lambda y, s: CERTIFY(was_read, 0.5, confidence=95), "confidence"),
    "a sentinel first": (lambda y, s: SCAN([(y[:1], [1.7e308]), (y, s)]), SENTINEL),
    "a sentinel later": (lambda y, s: SCAN([(y, s), (y[:1], [-1e300])]), SENTINEL),
    "a sentinel, counted": (
        lambda y, s: SCAN([(y, s), (y[:1], [1e300])], curve="empirical"),
        SENTINEL,
    ),
}


@pytest.mark.parametrize("case", NO_CHUNKS)
def test_what_is_no_labelled_scores_is_refused(case):
    call, words = NO_CHUNKS[case]
    with pytest.raises(InvalidInputError, match=words):
        call(*problem())


def test_rows_drawn_anew_are_noticed_however_many_fall_into_a_range():
    rng = np.random.default_rng(0)
    y = np.arange(100_000) % 2
    for _ in range(5):
        with pytest.raises(InvalidInputError, match="must be the same in every pass"):
            SCAN(lambda: iter([(y, rng.random(len(y)) + y)]), curve="empirical")


# --- Weights, scales, groups, classes -------------------------------------------------------------


def halves(*columns):
    """Return the columns of some rows in two chunks."""
    return [tuple(column[:1500] for column in columns), tuple(column[1500:] for column in columns)]


def test_a_late_score_beyond_one_makes_all_of_them_scores():
    y, s = probabilities()
    s[-1] = 1.5
    found = streaming.scan_boundary(halves(y, s))
    assert found.scale == "raw"
    assert_same_boundary(found, y, s)
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\].* scores from 0 to 1\.5"):
        streaming.scan_boundary(halves(y, s), scale="probability")


def test_hard_labels_are_decided_as_they_are():
    y, s = probabilities()
    found = streaming.scan_boundary(halves(y, (s > 0.1).astype(float)), curve="empirical")
    assert (found.scale, found.threshold) == ("raw", 0.5)


def spoilt_weights(spoil):
    """Return a request with weights of which some are spoilt."""
    y, s, w = weighted_problem().values()
    spoil(y, w)
    return y, s, w, {}


def words():
    """Return a request with labels that are words."""
    y, s = problem(2)
    return np.where(y == 1, "sick", "well"), s, None, {"rule": Floors(recall=0.9)}


REFUSED = {
    "negative weights": lambda: spoilt_weights(lambda y, w: w.__setitem__([5, 500, 1700], -1.0)),
    "infinite weights": lambda: spoilt_weights(lambda y, w: w.__setitem__([5, 1700], np.inf)),
    "no weights": lambda: spoilt_weights(lambda y, w: w.fill(0)),
    "a curve that counts rows": lambda: (
        *weighted_problem().values(),
        {"curve": "clopper-pearson"},
    ),
    "words without a positive class": words,
    "three classes": lambda: (np.arange(ROWS) % 3, problem()[1], None, {}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_the_words_of_memory(case):
    y, s, w, options = REFUSED[case]()
    with pytest.raises(InvalidInputError) as in_memory:
        find_boundary(y, s, sample_weight=w, **options)
    with pytest.raises(InvalidInputError) as in_passes:
        streaming.scan_boundary(halves(*((y, s) if w is None else (y, s, w))), **options)
    assert str(in_passes.value) == str(in_memory.value)
