import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift import (
    Boundary,
    BoundaryWarning,
    Floors,
    InvalidInputError,
    Status,
    SupportRadius,
    find_boundary,
)
from boundshift.curves import CURVES
from tests.problems import classes, labelled, many

FAMILY = [
    {},
    {"curve": "support"},
    {"curve": "paper"},
    {"curve": "authors"},
    {"curve": SupportRadius(radius="two-sided", gamma=2.0, constant=2.0)},
]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [380, 20])
    return y, np.where(y == 1, 2.0, -2.0) + rng.normal(0, 1, 400)


def find(y, s, scale="raw", **options) -> Boundary:
    """Decide on scores as they are: those that chance puts into [0, 1] are no probabilities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        return find_boundary(y, s, scale=scale, **options)


# Equivariance. A problem whose optimum is not unique may be answered by any of its optima.


def is_unique(y, s, options):
    """Whether a tiny change of the scores changes the answer only a little."""
    rng = np.random.default_rng(0)
    moved = s + 1e-9 * np.ptp(s) * rng.uniform(-1, 1, len(s))
    found = find(y, s, **options)
    near = find(y, moved, **options)
    return found.wrong == near.wrong and abs(found.threshold - near.threshold) < 1e-6 * np.ptp(s)


def steps(s):
    """Return by how much a threshold may move to stay between its scores in float32."""
    return 4 * float(np.spacing(np.float32(np.abs(s).max())))


@many(60)
@given(
    classes(most=40), st.sampled_from(FAMILY), st.floats(-6, 6), st.floats(-100, 100), st.integers()
)
def test_boundary_moves_with_the_scores(pair, options, exponent, shift, seed):
    y, s = labelled(*pair)
    scale = 10.0**exponent
    moved = scale * s + shift * scale
    if is_unique(y, s, options):
        expected = scale * find(y, s, **options).threshold + shift * scale
        found = find(y, moved, **options).threshold
        # The ends of a wide plateau of the default are known to fewer digits.
        digits = 1e-9 if options else 1e-7
        assert found == pytest.approx(expected, rel=0, abs=digits * np.ptp(moved) + steps(moved))


@many(60)
@given(classes(most=40), st.sampled_from(FAMILY), st.integers(0, 99))
def test_order_of_the_rows_does_not_matter(pair, options, seed):
    y, s = labelled(*pair)
    order = np.random.default_rng(seed).permutation(len(y))
    assert find(y[order], s[order], **options) == find(y, s, **options)


# One far outlier.


@pytest.mark.parametrize("outlier", [1e6, -1e6, 1e12, -1e15, 1e280])
@pytest.mark.parametrize("row", [0, 399])
@pytest.mark.parametrize("radius", ["one-sided", "two-sided"])
def test_one_outlier_changes_little(problem, outlier, row, radius):
    y, s = problem
    rest = np.arange(400) != row
    spoiled = np.where(rest, s, outlier)
    expected = find(y[rest], s[rest], curve=SupportRadius(radius=radius)).threshold
    found = find(y, spoiled, curve=SupportRadius(radius=radius))
    assert found.status is Status.RELAXED
    assert found.threshold == pytest.approx(expected, abs=0.05)  # of a range of 9


# Edge cases that have an answer.


@pytest.mark.parametrize(
    ("y", "s", "curve", "words", "expected"),
    [
        # What is kept at the end of the path: the two scores nearest to the median, 0 and 1.
        ([0, 0, 0, 1], [0, 1, 2, 9], "support", "only one row", (5.0, Status.SINGLE_ROW)),
        *(
            ([0, 0, 0, 1, 1], [at] * 5, "support", "finds no boundary", (at, Status.UNINFORMATIVE))
            for at in (0.0, 5.1, -1e280, 1e-280)
        ),
        ([0] * 4 + [1] * 4, [1, 2, 3, 4] * 2, "empirical", "better than chance", None),
    ],
)
def test_classes_that_cannot_be_told_apart_get_a_finite_boundary(y, s, curve, words, expected):
    with pytest.warns(BoundaryWarning, match=words):
        found = find_boundary(y, s, curve=curve)
    assert (found.threshold, found.status) == (expected or (found.threshold, Status.CHANCE))
    assert min(s) <= found.threshold <= max(s)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ("blend", "g-mean")),
        ({"rule": "minimax"}, ("blend", "minimax")),
        ({"rule": Floors(recall=0.5)}, ("clopper-pearson", "floors")),
        ({"curve": "smoothed"}, ("smoothed", "g-mean")),
        ({"curve": "support"}, ("support", "balanced_accuracy")),
        ({"curve": "paper"}, ("support", "balanced_accuracy")),
        ({"curve": SupportRadius(alpha=2.0)}, ("support", "balanced_accuracy")),
    ],
)
def test_what_is_not_named_follows_from_what_is(problem, options, names):
    found = find_boundary(*problem, **options)
    assert (found.curve.name, found.rule.name) == names


@pytest.mark.parametrize("curve", [c for c in CURVES if c != "support"])
def test_reversed_scores_are_decided_in_the_direction_given(problem, curve):
    y, s = problem
    with pytest.warns(BoundaryWarning, match="Negate the scores"):
        found = find_boundary(y, -s, curve=curve, rule="sum")
    assert found.status is Status.REVERSED
    # The claim is about `score > threshold`, and close to what it does.
    counted = [w / n for w, n in zip(found.wrong, found.n_samples, strict=True)]
    assert sum(counted) > 0.9
    # A calibration that may not fall says that scores tell nothing.
    expected = 1.0 if curve == "logistic" else sum(counted)
    assert sum(found.errors) == pytest.approx(expected, abs=0.25)


def test_the_paper_claims_nothing_of_reversed_scores(problem):
    y, s = problem
    upright = find_boundary(y, s, curve="paper")
    with pytest.warns(BoundaryWarning, match="Negate the scores"):
        found = find_boundary(y, -s, curve="paper")
    assert found.status is Status.REVERSED
    assert (found.threshold, found.errors) == (-upright.threshold, (1.0, 1.0))
    assert found.geometry.supports == tuple((-b, -a) for a, b in upright.geometry.supports)


# Labels and containers.


def test_labels_of_any_kind_give_the_same_boundary(problem):
    y, s = problem
    expected = find_boundary(y, s).threshold
    signs = [y.astype(bool), y.astype(float), y.astype(np.uint8), y.astype(object), y.tolist()]
    signs += [2 * y - 1]
    assert [find_boundary(labels, s).threshold for labels in signs] == [expected] * len(signs)
    words = [np.array(["no", "yes"])[y], y * 7 - 3, np.array([b"n", b"p"])[y]]
    words += [np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")[y]]
    for labels in words:
        assert find_boundary(labels, s, pos_label=max(labels.tolist())).threshold == expected
        with pytest.raises(InvalidInputError, match="`pos_label` must name the positive class"):
            find_boundary(labels, s)


@pytest.mark.parametrize("kind", [bool, int, str])
def test_pos_label_chooses_the_positive_class(problem, kind):
    y, s = problem
    labels = np.array([kind(0), kind(1)])[y]
    found = find_boundary(labels, -s, pos_label=kind(0))
    assert found.labels == (kind(1), kind(0))
    assert found.threshold == pytest.approx(-find_boundary(y, s).threshold, abs=1e-12)


# Labels and scores in each container; forms of arrays are in test_rows.
CONTAINERS = {
    "pandas shuffled index": (lambda v: pd.Series(v, index=np.arange(len(v))[::-1]), pd.Series),
    "pandas nullable": (lambda v: pd.Series(v, dtype="Int64"), pd.Series),
    "pandas categorical": (lambda v: pd.Series(v).astype("category"), pd.Series),
    "pandas string": (lambda v: pd.Series(v, dtype="string"), pd.Series),
    "polars": (pl.Series, pl.Series),
    "polars boolean": (lambda v: pl.Series(v).cast(pl.Boolean), pl.Series),
    "polars frame": (lambda v: pl.DataFrame({"c": v}),) * 2,
    "pyarrow": (pa.array, pa.array),
    "pyarrow chunked": (lambda v: pa.chunked_array([v[:7], v[7:]]),) * 2,
    "pyarrow dictionary": (lambda v: pa.array(map(str, v)).dictionary_encode(), pa.array),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_any_container_gives_the_same_boundary(problem, name):
    y, s = problem
    as_labels, as_scores = CONTAINERS[name]
    pos_label = "1" if name in ("pandas string", "pyarrow dictionary") else None
    found = find_boundary(as_labels(y.tolist()), as_scores(s.tolist()), pos_label=pos_label)
    # Arrow arrays are read in passes, whose sums round otherwise.
    tolerance = 1e-9 if name.startswith("pyarrow") else 0
    assert found.threshold == pytest.approx(find_boundary(y, s).threshold, rel=tolerance, abs=0)


# The record.


def test_warning_points_at_the_caller():
    with pytest.warns(BoundaryWarning) as caught:
        find_boundary([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0], curve="support")
    assert caught[0].filename == __file__


# Arguments.

OVERLAP = ([0] * 4 + [1] * 4, [0.0, 1.0, 2.0, 8.0, 1.5, 7.0, 8.0, 9.0])


@pytest.mark.parametrize(
    ("fallback", "expected"),
    [
        # Keeping two of each around the medians 1.5 and 7.5: {1, 2} and {7, 8}.
        ("edges", (2.0 + 7.0) / 2),
        ("means", (2.75 + 6.375) / 2),
        (np.float32(3.25), 3.25),
        (-1, -1.0),
    ],
)
def test_the_fallback_stands_in_where_no_level_is_feasible(fallback, expected):
    found = find(*OVERLAP, curve=SupportRadius(gamma=100.0, constant=2.0, fallback=fallback))
    assert found.threshold == pytest.approx(expected)
    assert found.status is Status.INFEASIBLE


PAPER = {
    "gamma": 1.0, "constant": 2.0, "radius": "two-sided", "slack": "binary", "penalty": "count",
    "alpha": 1.0, "budget": "all", "centre": "mean", "stop_at_zero": False,
}  # fmt: skip


def test_paper_and_authors_are_settings_spelled_out():
    assert SupportRadius.paper() == SupportRadius(**PAPER)
    code = PAPER | {"penalty": "proportional", "budget": 0.5, "stop_at_zero": True}
    assert SupportRadius.authors() == SupportRadius(**code)


def test_stop_at_zero_gives_up_nothing_where_nothing_need_be():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], [60, 8])
    s = np.concatenate([rng.normal(0, 1, 60), rng.normal(5, 1, 8)])
    cheap = SupportRadius(alpha=1e-3), SupportRadius(alpha=1e-3, stop_at_zero=True)
    slack = [find(y, s, curve=curve).geometry.slack for curve in cheap]
    assert sum(slack[0]) > 0
    assert slack[1] == (0, 0)
