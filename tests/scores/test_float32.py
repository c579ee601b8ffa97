"""A boundary decides alike when its scores, or they and the threshold, are float32."""

import math

import duckdb
import numpy as np
import onnxruntime
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from boundshift import Floors, find_boundary, find_zone
from boundshift._scores import keep_in_float32

FLOATS = st.floats(-1e30, 1e30, allow_subnormal=False)


def single(value):
    return float(np.float32(value))


@given(FLOATS, st.integers(1, 1 << 31), st.floats(0, 1), st.booleans())
@example(0.0, 1, 0.5, True)
def test_a_threshold_stays_between_its_scores(low, steps, share, are_single):
    low = single(low) if are_single else low
    spacing = np.spacing(np.float32(low)) if are_single else np.spacing(low)
    high = float(low + steps * abs(float(spacing)))
    if are_single:
        high = max(single(high), float(np.nextafter(np.float32(low), np.float32(math.inf))))
    threshold = min(low + share * (high - low), float(np.nextafter(high, -math.inf)))
    found = keep_in_float32(threshold, low, high)
    assert low <= found < high
    first = single(low)
    last = single(high)
    if first == last:
        assert found == threshold
        return
    assert first <= found < last  # only the scores are rounded
    if min(abs(first), abs(last)) >= 2e-38:
        assert first <= single(found) < last  # both are
    ulp = max(abs(float(np.spacing(np.float32(at)))) for at in (low, high))
    assert abs(found - threshold) <= 2 * ulp + 2e-38


def test_a_threshold_that_stays_is_not_moved():
    assert keep_in_float32(0.1, 0.0, 1.0) == 0.1
    assert keep_in_float32(-5e-324, -math.inf, 0.0) < -1e-38


def draw(seed, kind):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [400, 60])
    s = rng.normal(size=460) + 1.5 * y
    if kind == "probabilities":
        s = 1 / (1 + np.exp(8 - 4 * s))
    elif kind == "steps of float32":  # neighbours, as sums of money or times often are
        s = 1e5 + np.round(20 * s) / 128
    elif kind == "zeros":
        s = np.where(rng.random(460) < 0.6 - 0.4 * y, 0.0, 1 / (1 + np.exp(3 - s)))
    return y, s.astype(np.float32)


KINDS = ["raw", "probabilities", "steps of float32", "zeros"]
ASKED = [
    {},
    {"curve": "empirical", "rule": "sum"},
    {"curve": "paper"},
    {"curve": "smoothed", "rule": "f1"},
    {"rule": Floors(recall=0.8)},
]


@pytest.fixture(scope="module")
def session():
    """Compare in float32, as exported models often do."""
    kind = TensorProto.FLOAT
    shape = [None]
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name in ("s", "t")]
    output = helper.make_tensor_value_info("label", TensorProto.BOOL, shape)
    graph = helper.make_graph(
        [helper.make_node("Greater", ["s", "t"], ["label"])], "cut", inputs, [output]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_databases_runtimes_and_numpy_say_what_predict_says(kind, asked, session):
    connection = duckdb.connect()
    for seed in range(8):
        y, s = draw(seed, kind)
        boundary = find_boundary(y, s, **asked)
        expected = boundary.predict(s)
        np.testing.assert_array_equal(1 * (s.astype(np.float64) > boundary.threshold), expected)
        np.testing.assert_array_equal(1 * (s > boundary.threshold), expected)
        threshold = np.array([boundary.threshold], dtype=np.float32)
        np.testing.assert_array_equal(1 * session.run(None, {"s": s, "t": threshold})[0], expected)
        connection.execute("CREATE OR REPLACE TABLE t (i INTEGER, s REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(s.tolist())))
        for column in ("s", "CAST(s AS DOUBLE)"):
            query = boundary.to_sql("score", dialect="duckdb")
            rows = f"SELECT i, {column} AS score FROM t"
            found = connection.execute(f"SELECT {query} FROM ({rows}) ORDER BY i").fetchall()
            assert [label for (label,) in found] == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_limits_of_a_zone_are_kept_in_float32(kind):
    for seed in range(8):
        y, s = draw(seed, kind)
        zone = find_zone(y, s, errors=0.2)
        for limit in (zone.low, zone.high):
            exact, rounded = (s.astype(np.float64) > at for at in (limit, single(limit)))
            np.testing.assert_array_equal(exact, rounded)
