"""Rows of `fit` are recognised when they are shown again, and fresh rows are not."""

import numpy as np
import pandas
import polars
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import boundshift
from boundshift import BoundaryWarning, BoundShiftClassifier, Floors
from boundshift.models import _fingerprint
from boundshift.models._fingerprint import Fingerprint, explain_copies, hash_rows

X, Y = make_classification(3000, weights=[0.8], flip_y=0.2, random_state=0)
FIT = slice(0, 1000)
FRESH = slice(1000, 2000)
TREE = DecisionTreeClassifier(min_samples_leaf=4, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    return BoundShiftClassifier(TREE).fit(X[FIT], Y[FIT])


def mixed(n_used):
    """Return 1,000 rows, some of which were used in fit."""
    return np.r_[0:n_used, 1000 : 2000 - n_used]


@pytest.mark.parametrize("n_used", [1000, 50])
def test_rows_of_fit_are_counted_and_certify_nothing(fitted, n_used):
    rows = mixed(n_used)
    words = f"{n_used:,} of these 1,000 rows were used in fit"
    with pytest.warns(BoundaryWarning, match=words):
        certificate = fitted.certify(X[rows], Y[rows])
    assert certificate.status == "nominal"
    assert certificate.reason.startswith(words)


def test_fresh_rows_are_certified(fitted):
    scores = fitted.positive_scores(X[FRESH])
    expected = boundshift.certify(Y[FRESH], scores, fitted.boundary_)
    assert fitted.certify(X[FRESH], Y[FRESH]) == expected
    assert expected.status == "certified"


def test_zone_and_report_of_rows_of_fit_are_nominal(fitted):
    words = "1,000 of these 1,000 rows were used in fit"
    with pytest.warns(BoundaryWarning, match=words):
        zone, facts = fitted.find_zone(X[FIT], Y[FIT]), fitted.report(X[FIT], Y[FIT]).facts
    assert zone.status == facts["certificate"]["status"] == "nominal"
    assert words in zone.message
    assert words in facts["verdict"]["note"]
    assert boundshift.Zone.from_json(zone.to_json()) == zone
    pieces = [part for bullet in facts["verdict"]["bullets"] for part in bullet]
    assert pieces
    assert "certified" not in {part["status"] for part in pieces}
    assert fitted.find_zone(X[FRESH], Y[FRESH]).status != "nominal"
    assert fitted.report(X[FRESH], Y[FRESH]).facts["certificate"]["status"] == "certified"


def test_fresh_rows_are_taken_for_others_less_often_than_stated():
    rng = np.random.default_rng(1)
    taken = 0
    for _ in range(500):
        m, n = rng.integers(10, 200, 2)
        rows = rng.integers(0, rng.integers(2, 30), (m + n, 2))
        known = Fingerprint.of(rows[:m], np.zeros(m))
        taken += known.explain(rows[m:], np.zeros(n)) != ""
    assert taken <= 4  # 0.5 is expected; more than 4 have a probability of 2e-4


def test_of_many_rows_some_are_kept_and_the_number_is_an_estimate():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50_000, 3))
    y = rng.integers(0, 2, 50_000)
    known = Fingerprint.of(rows, y)
    assert (len(known.hashes), known.n_samples) == (10_000, 50_000)
    shown = np.concatenate([rows[:4000], rng.normal(size=(4000, 3))])
    about, number, *_ = known.explain(shown, y[:8000]).split()
    assert about == "about"
    assert int(number.replace(",", "")) == pytest.approx(4000, rel=0.1)
    assert known.explain(shown[4000:], y[:4000]) == ""


def test_rows_without_weight_were_not_used():
    weight = np.r_[np.ones(1000), np.zeros(1000)]
    fitted = BoundShiftClassifier(TREE).fit(X[:2000], Y[:2000], sample_weight=weight)
    assert fitted.certify(X[FRESH], Y[FRESH]).status == "certified"


def test_a_model_trained_elsewhere_may_pay_for_its_choice():
    model = TREE.fit(X[FIT], Y[FIT])
    shifted = BoundShiftClassifier(model, cv="prefit").fit(X[FRESH], Y[FRESH])
    with pytest.warns(BoundaryWarning, match="used in fit"):
        assert shifted.certify(X[FRESH], Y[FRESH]).status == "nominal"
    paid = shifted.certify(X[FRESH], Y[FRESH], chosen_here=True)
    assert paid.status == "certified"
    assert paid.error_bounds == shifted.certificate_.error_bounds
    assert shifted.find_zone(X[FRESH], Y[FRESH]).status != "nominal"


# Copies.


def oversample(rng, y, n_copies):
    """Return the numbers of all rows, and of copies of rows of the rare class."""
    return np.r_[np.arange(len(y)), rng.choice(np.flatnonzero(y), n_copies)]


@pytest.mark.parametrize("kind", [np.ndarray.tolist, pandas.DataFrame, np.asarray])
def test_copies_of_rows_of_fit_certify_nothing_though_made_before_the_split(kind):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 4))
    y = (rng.random(400) < 0.3).astype(int)
    drawn = rng.permutation(oversample(rng, y, 400))
    fit = drawn[:600]
    new = drawn[600:]
    known = Fingerprint.of(kind(rows[fit]), y[fit])
    assert "of these 200 rows were used in fit" in known.explain(kind(rows[new]), y[new])


def test_whole_numbers_that_are_equal_by_chance_are_no_copies():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, (800, 3)) * 0.5
    y = (rng.random(800) < 0.3).astype(int)
    assert Fingerprint.of(rows[:400], y[:400]).explain(rows[400:], y[400:]) == ""
    assert explain_copies(rows, y) == ""


@pytest.mark.parametrize(
    "ask",
    [
        lambda fitted, rows, y: fitted.certify(rows, y).status,
        lambda fitted, rows, y: fitted.find_zone(rows, y).status,
        lambda fitted, rows, y: fitted.report(rows, y).facts["certificate"]["status"],
    ],
    ids=["certify", "find_zone", "report"],
)
def test_copies_of_new_rows_certify_nothing(fitted, ask):
    rows = 1000 + oversample(np.random.default_rng(0), Y[FRESH], 500)
    with pytest.warns(BoundaryWarning, match="500 of these 1,500 rows are copies of others"):
        found = ask(fitted, X[rows], Y[rows])
    assert found == "nominal"


def test_a_model_trained_elsewhere_may_not_be_certified_on_copies():
    rows = np.tile(np.arange(1000, 1200), 5)
    shifted = BoundShiftClassifier(TREE.fit(X[FIT], Y[FIT]), cv="prefit")
    shifted.fit(X[1000:1200], Y[1000:1200])
    with pytest.warns(BoundaryWarning, match="800 of these 1,000 rows are copies of others"):
        certificate = shifted.certify(X[rows], Y[rows], chosen_here=True)
    assert certificate.status == "nominal"


def test_copies_of_the_rows_that_chose_the_threshold_of_a_trained_model_certify_nothing():
    rows = 1000 + oversample(np.random.default_rng(0), Y[FRESH], 500)
    shifted = BoundShiftClassifier(TREE.fit(X[FIT], Y[FIT]), cv="prefit")
    with pytest.warns(BoundaryWarning, match="500 of these 1,500 rows are copies of others"):
        assert shifted.fit(X[rows], Y[rows]).certificate_.status == "nominal"
    assert shifted.fit(X[FRESH], Y[FRESH]).certificate_.status == "certified"


def test_rows_that_trained_a_wrapped_classifier_guarantee_nothing(fitted):
    floors = Floors(recall=0.5, specificity=0.5)
    shifted = BoundShiftClassifier(fitted, cv="prefit", rule=floors)
    with pytest.warns(BoundaryWarning, match="rows that the model was fitted on"):
        shifted.fit(X[FIT], Y[FIT])
    assert shifted.boundary_.guaranteed is False
    assert shifted.certificate_.status == "nominal"
    assert shifted.fit(X[FRESH], Y[FRESH]).boundary_.guaranteed
    with pytest.warns(BoundaryWarning, match="1,000 of these 1,000 rows were used in fit"):
        assert shifted.certify(X[FIT], Y[FIT]).status == "nominal"


def test_copies_of_unlabelled_rows_certify_nothing():
    shifted = BoundShiftClassifier(LogisticRegression(), ensemble=True).fit(X[FIT], Y[FIT])
    assert shifted.certify_unlabelled(X[FRESH]).status == "certified"
    with pytest.warns(BoundaryWarning, match="4,000 of these 5,000 rows are copies of others"):
        assert shifted.certify_unlabelled(np.tile(X[FRESH], (5, 1))).status == "nominal"


def test_copies_within_a_cluster_and_a_few_copies_are_certified(fitted):
    rows = np.repeat(np.arange(1000, 2000), 2)
    assert fitted.certify(X[rows], Y[rows], cluster=rows).status == "certified"
    rows = np.r_[1000:2000, 1000:1010]
    assert fitted.certify(X[rows], Y[rows]).status == "certified"


@pytest.mark.parametrize("number", [np.float16, np.float64])
def test_rows_that_one_column_tells_apart_need_no_hashes(monkeypatch, number):
    monkeypatch.setattr(_fingerprint, "hash_rows", None)
    rows = np.arange(2000.0)[:, None].astype(number)
    rows[[0, 1]] = [[np.inf], [-np.inf]]
    assert explain_copies(rows, np.zeros(2000)) == ""


TABLE = pandas.DataFrame(
    {
        "number": [1.5, 0.0, np.nan, -0.0],
        "whole": [1, 2, 0, 4],
        "word": ["a", "b", None, "c"],
        "truth": [True, False, True, True],
    }
)


@pytest.mark.parametrize(
    "other",
    [
        TABLE.astype({"word": "category"}),
        TABLE.astype({"number": "Float64", "whole": "Int64", "word": "object"}),
        polars.from_pandas(TABLE),
        TABLE.astype(object).to_numpy().tolist(),
    ],
    ids=["category", "nullable", "polars", "list"],
)
def test_equal_values_have_equal_hashes_in_every_table(other):
    labels = ["yes", "no", "no", "yes"]
    expected = hash_rows(TABLE, labels)
    assert len(set(expected.tolist())) == 4
    assert hash_rows(other, pandas.Series(labels, dtype="category")).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "kind",
    [sparse.csr_matrix, sparse.coo_array, pandas.DataFrame, polars.DataFrame, np.ndarray.tolist],
)
def test_equal_numbers_have_equal_hashes_in_every_container(kind):
    rows = np.where(X[:200] > 0.5, X[:200], 0.0)
    assert hash_rows(kind(rows), Y[:200]).tolist() == hash_rows(rows, Y[:200] * 1.0).tolist()


def test_order_and_label_change_the_hash_and_no_sparse_matrix_is_changed():
    assert len({*hash_rows([[1, 2], [2, 1], [1, 2]], [0, 0, 1]).tolist()}) == 3
    rows = sparse.csr_matrix(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 3))  # one entry twice
    assert hash_rows(rows, [0]).tolist() == hash_rows([[3.0, 0.0, 0.0]], [0]).tolist()
    assert rows.nnz == 2


# Rows of fit, shown in another form.

FRAME = pandas.DataFrame(X[:, :5], columns=[f"x{k}" for k in range(5)])
NAMED = ColumnTransformer([("kept", "passthrough", FRAME.columns.tolist())])


@pytest.fixture(scope="module")
def named():
    forest = make_pipeline(NAMED, RandomForestClassifier(20, random_state=0))
    return BoundShiftClassifier(forest).fit(FRAME[FIT], Y[FIT])


SHOWN = {
    "columns in another order": lambda rows: rows[rows.columns[::-1]],
    "one more column": lambda rows: rows.assign(more=1.0)[["more", *rows.columns]],
    "a new index": lambda rows: rows.set_axis(range(5000, 6000)),
    "single precision": lambda rows: rows.astype(np.float32),
    "nullable": lambda rows: rows.astype("Float64"),
    "polars": polars.from_pandas,
    "all at once": lambda rows: polars.from_pandas(
        rows.assign(more=1.0).astype(np.float32)[["x3", "more", "x1", "x0", "x4", "x2"]]
    ),
    "rows in another order": lambda rows: rows,
}


@pytest.mark.parametrize("form", SHOWN)
def test_rows_of_fit_are_recognised_in_every_form_and_fresh_ones_are_not(named, form):
    order = np.arange(1000)[:: -1 if form == "rows in another order" else 1]
    shown = SHOWN[form](FRAME[FIT].iloc[order])
    with pytest.warns(BoundaryWarning, match="1,000 of these 1,000 rows were used in fit"):
        assert named.certify(shown, Y[FIT][order]).status == "nominal"
    assert named.certify(SHOWN[form](FRAME[FRESH]), Y[FRESH]).status == "certified"


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, np.float32])
def test_rows_without_names_are_compared_by_place(kind):
    known = Fingerprint.of(FRAME[FIT], Y[FIT])
    assert known.explain(kind(FRAME[FIT].to_numpy()), Y[FIT]).startswith("1,000 of these")
    known = Fingerprint.of(kind(FRAME[FIT].to_numpy()), Y[FIT])
    assert known.explain(FRAME[FIT], Y[FIT]).startswith("1,000 of these")


def test_rows_without_a_column_of_fit_are_not_certified():
    kept = ColumnTransformer([("kept", "passthrough", ["x0", "x1"])])
    model = make_pipeline(kept, TREE)
    shifted = BoundShiftClassifier(model).fit(FRAME[FIT], Y[FIT])
    with pytest.warns(BoundaryWarning, match="column 'x4' of fit is missing"):
        certificate = shifted.certify(FRAME[FRESH].drop(columns="x4"), Y[FRESH])
    assert certificate.status == "nominal"


def test_dates_a_second_apart_differ():
    dates = pandas.DataFrame({"day": pandas.to_datetime(["2026-01-01 00:00:00"] * 2)})
    dates.loc[1, "day"] += pandas.Timedelta(seconds=1)
    assert len(set(hash_rows(dates).tolist())) == 2


def test_it_is_stored_with_the_classifier(fitted, tmp_path):
    again = boundshift.load(boundshift.save(fitted, tmp_path / "model.skops"))
    with pytest.warns(BoundaryWarning, match="1,000 of these 1,000 rows"):
        assert again.certify(X[FIT], Y[FIT]).status == "nominal"
    assert not hasattr(clone(fitted), "fingerprint_")
