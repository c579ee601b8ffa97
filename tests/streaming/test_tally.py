"""Tallies: counted by any engine, added, stored, written as SQL, and decided on."""

import duckdb
import numpy as np
import polars as pl
import pytest
import sqlglot

from boundshift import InvalidInputError, certify, find_boundary, find_zone, metrics_at, streaming
from boundshift.rules import Cost
from boundshift.streaming import Tally, tally_sql
from boundshift.streaming._bins import bins_of, edges_of
from boundshift.streaming._sql import DIALECTS

pytestmark = pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")


def draw(n=20_000, seed=0, kind="normal"):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.1).astype(np.int64)
    s = SCORES[kind](rng, n) + 2.0 * y
    if kind == "probabilities":
        s = 1 / (1 + np.exp(-s))
    if kind == "float32":
        s = (1 / (1 + np.exp(-9 * s))).astype(np.float32).astype(np.float64)
    if kind == "garbage":
        s[[3, 5, 7]] = [1e200, -1e200, 1e-200]
    if kind == "repeated garbage":
        s[[3, 5, 7]] = 1e200
    return y, s


SCORES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "offset": lambda rng, n: 1e6 + 1e-3 * rng.normal(size=n),
    "shifted": lambda rng, n: 30.0 + rng.normal(size=n),
    "scales": lambda rng, n: rng.normal(size=n) * np.where(rng.random(n) < 0.5, 1e-3, 1.0),
    "zero-inflated": lambda rng, n: rng.normal(size=n) * (rng.random(n) < 0.5),
    "ties": lambda rng, n: np.round(rng.normal(size=n), 1),
    "hidden atom": lambda rng, n: np.where(rng.random(n) < 0.1, 0.37, rng.normal(size=n)),
    "probabilities": lambda rng, n: rng.normal(size=n),
    "float32": lambda rng, n: rng.normal(size=n),
    "garbage": lambda rng, n: rng.normal(size=n),
    "repeated garbage": lambda rng, n: rng.normal(size=n),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("curve", ["blend", "smoothed", "logistic", "empirical"])
@pytest.mark.parametrize("weights", [[1.0], [0.5, 1.0, 1e6]], ids=["rows", "weights"])
def test_the_resolution_is_never_exceeded(kind, curve, weights):
    for seed in range(2):
        y, s = draw(seed=seed, kind=kind)
        w = np.random.default_rng(seed).choice(weights, len(y))
        rows = (y, s) if len(weights) == 1 else (y, s, w)
        in_memory = {} if len(weights) == 1 else {"sample_weight": w}
        expected = find_boundary(y, s, curve=curve, **in_memory).threshold
        by_scan = streaming.scan_boundary([rows], curve=curve)
        by_tally = Tally.of([rows]).find_boundary(curve=curve)
        for found in (by_scan, by_tally):
            assert abs(found.threshold - expected) <= found.resolution + 1e-12 * abs(expected)
            flagged = s > found.threshold
            wrong = (w[flagged & (y == 0)].sum(), w[~flagged & (y == 1)].sum())
            assert found.wrong == pytest.approx(wrong, rel=1e-12)


def test_tallies_of_days_add_up_to_that_of_all_days():
    y, s = draw(9_000)
    days = [Tally.of([(y[i : i + 3000], s[i : i + 3000])]) for i in (0, 3000, 6000)]
    total = days[0] + days[1] + days[2]
    whole = Tally.of([(y, s)])
    assert total.n_rows == whole.n_rows
    one = total.find_boundary()
    other = whole.find_boundary()
    assert abs(one.threshold - other.threshold) <= one.resolution + other.resolution


def test_a_stored_tally_is_the_same(tmp_path):
    y, s = draw()
    tally = Tally.of([(np.where(y == 1, "ill", "well"), s)])
    tally.to_parquet(tmp_path / "tally.parquet")
    read = Tally.from_parquet(tmp_path / "tally.parquet")
    assert repr(read) == repr(tally)
    found = read.find_boundary(pos_label="ill")
    assert found == tally.find_boundary(pos_label="ill")
    assert Tally.from_frame(pl.from_arrow(tally.to_arrow())).n_rows == tally.n_rows


def test_another_tally_is_certified_at_the_threshold_of_the_first():
    first = Tally.of([draw(50_000)])
    boundary = first.find_boundary()
    y, s = draw(50_000, seed=1)
    found = Tally.of([(y, s)]).certify(boundary)
    assert found.wrong == certify(y, s, boundary.threshold).wrong


def test_a_threshold_inside_a_bin_is_refused_unless_it_was_counted_there():
    y, s = draw(50_000)
    with pytest.raises(InvalidInputError, match=r"inside one with .* Tally\.of\(\.\.\., at="):
        Tally.of([(y, s)]).certify(1.2345678)
    found = Tally.of([(y, s)], at=[1.2345678]).certify(1.2345678)
    assert found.wrong == certify(y, s, 1.2345678).wrong


@pytest.mark.parametrize("kind", SCORES)
def test_metrics_of_a_tally_are_those_of_its_rows(kind):
    y, s = draw(kind=kind)
    thresholds = np.quantile(s, [0.1, 0.5, 0.9, 0.99])
    settings = {"prevalence": 0.02, "costs": Cost(false_negative=20)}
    found = Tally.of([(y, s)], at=thresholds).metrics_at(thresholds, **settings)
    expected = metrics_at(y, s, thresholds, **settings)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)


def test_metrics_between_all_bins_are_those_of_rows_at_these_thresholds():
    y, s = draw(kind="probabilities")
    found = Tally.of([(y, s)]).metrics_at()
    expected = metrics_at(y, s, found["threshold"])
    np.testing.assert_allclose(found["net_benefit"], expected["net_benefit"], rtol=1e-12)
    assert len(found["threshold"]) > 1000


@pytest.mark.parametrize("errors", [(0.02, 0.02), (0.05, 0.1)], ids=str)
@pytest.mark.parametrize("kind", [kind for kind in SCORES if kind != "offset"])
def test_a_zone_of_a_tally_is_at_most_a_bin_wider_on_each_side(kind, errors):
    y, s = draw(60_000, kind=kind)
    found = Tally.of([(y, s)]).find_zone(errors, pos_label=1)
    expected = find_zone(y, s, errors, pos_label=1)
    assert expected.status == "zone"
    assert found.low <= expected.low
    assert found.high >= expected.high
    for first, last in ((found.low, expected.low), (expected.high, found.high)):
        assert len(np.unique(bins_of(s[(s > first) & (s <= last)]))) <= 1
    is_unsure = (s > found.low) & (s <= found.high)
    assert found.unsure == pytest.approx([np.mean(is_unsure[y == label]) for label in (0, 1)])


@pytest.mark.parametrize("score", [0.3, 0.7, 0.999, 1.0, 1.5, -0.3, -0.7, 12.0, 1e-9, 1e9])
def test_edges_of_a_bin_part_it_from_its_neighbours(score):
    below, above = edges_of(score)
    inside = np.array([np.nextafter(below, np.inf), score, above])
    outside = np.array([below, np.nextafter(above, np.inf)])
    own = bins_of(np.array([score]))[0]
    assert (bins_of(inside) == own).all()
    assert (bins_of(outside) != own).all()


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "ansi"])
@pytest.mark.parametrize("weight", [None, "times"])
def test_queries_are_valid_in_every_dialect(dialect, weight):
    query = tally_sql("ill", 'risk"`', "cohort.scores", weight=weight, dialect=dialect)
    assert sqlglot.parse_one(query, read=dialect).find(sqlglot.exp.Group)


UNUSABLE = {
    "a missing score": ("SELECT 1 AS label, CAST(NULL AS DOUBLE) AS score", "1 NaN in the table"),
    "an infinite score": (
        "SELECT 1 AS label, CAST('inf' AS DOUBLE) AS score",
        "1 infinite or larger in the table",
    ),
    "a missing label": ("SELECT CAST(NULL AS INTEGER) AS label, 1.0 AS score", "1 missing in"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_rows_that_cannot_be_used_are_found_in_the_result(case):
    rows, words = UNUSABLE[case]
    query = tally_sql("label", "score", f"({rows}) t", dialect="duckdb")
    with duckdb.connect() as connection, pytest.raises(InvalidInputError, match=words):
        Tally.from_frame(connection.sql(query).to_arrow_table())


def test_weights_are_summed_and_zero_is_left_out():
    y, s = draw(5_000)
    w = np.random.default_rng(0).choice([0.0, 1.0, 1e6], len(y))
    tally = Tally.of([(y, s, w)])
    assert tally.n_rows == {0: int(np.sum((y == 0) & (w > 0))), 1: int(np.sum((y == 1) & (w > 0)))}
    assert sum(t.weight.sum() for t in tally.classes.values()) == w.sum()
    with pytest.raises(InvalidInputError, match="both have weights or neither"):
        tally + Tally.of([(y, s)])
