"""A zone decides in SQL and in ONNX as it does in Python."""

import math
import sqlite3
from dataclasses import replace

import duckdb
import numpy as np
import onnxruntime
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier, InvalidInputError, to_onnx
from boundshift.promises.zone import find_zone


def draw(rng, n, p, gap):
    y = np.repeat([0, 1], [n, p])
    return y, rng.normal(size=n + p) + gap * y


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("rows", [30, 200], ids=["open", "closed"])
@pytest.mark.parametrize("unsure", [-1, None])
def test_sql_says_what_predict_says(dialect, rows, unsure):
    zone = find_zone(*draw(np.random.default_rng(6), 300, rows, 2.0))
    ends = [e for e in (zone.low, zone.high) if math.isfinite(e)]
    scores = [-9.0, 9.0, 1.0, *ends, *np.nextafter(ends, -np.inf), *np.nextafter(ends, np.inf)]
    connection = sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()
    connection.execute("CREATE TABLE t (i INTEGER, s DOUBLE PRECISION)")
    for i, score in enumerate([*map(float, scores), None]):
        connection.execute("INSERT INTO t VALUES (?, ?)", (i, score))
    query = f"SELECT {zone.to_sql('s', unsure, dialect=dialect)} FROM t ORDER BY i"
    found = [row[0] for row in connection.execute(query).fetchall()]
    assert found == [*zone.predict(scores, unsure).tolist(), None]


@pytest.mark.parametrize("names", [None, ("no", "yes"), ("yes", "no")])
def test_onnx_decides_by_the_zone_too(names):
    X, y = make_classification(1500, weights=[0.8], flip_y=0.1, random_state=0)
    labels = y if names is None else np.array(names)[y]
    positive, unsure = (1, -1) if names is None else ("yes", "ask")
    model = BoundShiftClassifier(LogisticRegression(), pos_label=positive, rule="f1")
    model.fit(X[:500], labels[:500])
    zone = find_zone(labels[500:], model.positive_scores(X[500:]), pos_label=positive)
    written = to_onnx(model, X, zone=zone, unsure=unsure)
    outputs = onnxruntime.InferenceSession(written.SerializeToString()).run(
        ["label", "zone_label"], {"X": X}
    )
    np.testing.assert_array_equal(outputs[0], model.predict(X))
    # A limit is the score of a row, which the rounding of another engine may throw to either side.
    scores = model.positive_scores(X)[:, None]
    is_clear = (np.abs(scores - [zone.low, zone.high]) > 1e-12).all(axis=1)
    decided = model.predict_zone(X, zone, unsure)
    np.testing.assert_array_equal(outputs[1][is_clear], decided[is_clear])
    assert is_clear.sum() >= 1498
    assert (outputs[1] == unsure).any()


def test_onnx_refuses_a_zone_that_it_cannot_write():
    X, y = make_classification(600, weights=[0.8], random_state=0)
    model = BoundShiftClassifier(LogisticRegression()).fit(X, y)
    zone = find_zone(y, model.positive_scores(X))
    for settings, message in (
        ({"zone": zone}, "`unsure` must be a label of the same kind"),
        ({"zone": zone, "unsure": "ask"}, "`unsure` must be a label of the same kind"),
        ({"unsure": -1}, "`unsure` must go with a zone"),
        ({"zone": replace(zone, labels=(1, 0)), "unsure": -1}, "`zone` must be about"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            to_onnx(model, X, **settings)
