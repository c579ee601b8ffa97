"""Dask on a real cluster."""

import os
import signal
import time
from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from boundshift import InvalidInputError, certify, find_boundary, streaming
from tests.streaming.suite import (
    EngineSuite,
    assert_same_boundary,
    named,
    parts_of,
    problem,
)

pytestmark = pytest.mark.usefixtures("cluster")


def series(values, nullable):
    """Return a pandas column, of a nullable kind where the column has missing values."""
    values = list(values)
    if not nullable:
        return pd.Series(values)
    kinds = {int: "Int64", float: "Float64", str: "string"}
    return pd.Series(values, dtype=kinds[type(values[0])])


def frame_of(parts):
    parts = [named(part) for part in parts]
    lacks = {name: any(v is None for part in parts for v in part[name]) for name in parts[0]}
    frames = [
        pd.DataFrame({name: series(values, lacks[name]) for name, values in part.items()}).assign(
            id=0
        )
        for part in parts
    ]
    kinds = next(f for f in frames if len(f)).dtypes
    return dd.from_delayed([dask.delayed(f.astype(kinds)) for f in frames], verify_meta=False)


class TestDaskFrame(EngineSuite):
    second = "partition 1"

    @pytest.fixture
    def frame(self):
        return frame_of


def steps_of(parts):
    """Return how many partitions were said to be done in the first pass, in turn."""
    seen = []
    streaming.scan_boundary(frame_of(parts), progress=lambda *call: seen.append(call))
    assert {total for _, _, total in seen} == {len(parts)}
    return [done for name, done, _ in seen if name == "pass 1"]


def test_progress_counts_the_partitions_of_a_cluster():
    y, s = problem()
    steps = steps_of(parts_of(y, s, [500] * 6))
    assert (steps[0], steps[-1]) == (0, 6)
    assert steps == sorted(steps)


def test_progress_counts_the_partitions_of_this_process():
    y, s = problem()
    with dask.config.set(scheduler="threads"):
        steps = steps_of(parts_of(y, s, [500] * 6))
    assert steps == sorted(steps)
    assert len(steps) > 3


@pytest.mark.tool(
    "Dask",
    'find_boundary(frame.label, frame.score, curve="smoothed")',
)
def test_series_and_arrays_of_other_chunks():
    y, s = problem()
    frame = frame_of(parts_of(y, s, [1000, 2000]))
    assert_same_boundary(
        find_boundary(frame.label, frame.score, curve="smoothed"), y, s, curve="smoothed"
    )
    arrays = da.from_array(y, chunks=700), da.from_array(s, chunks=1100)
    assert_same_boundary(find_boundary(*arrays, curve="smoothed"), y, s, curve="smoothed")
    assert certify(*arrays, 1.0) == certify(y, s, 1.0)


def test_columns_get_labels():
    y, s = problem()
    boundary = find_boundary(np.where(y == 1, "yes", "no"), s)
    frame = frame_of(parts_of(y, s, [1000, 2000]))
    labels = boundary.predict(frame.score)
    assert isinstance(labels, dd.Series)
    assert labels.compute().tolist() == boundary.predict(s).tolist()
    lazy = boundary.predict(da.from_array(s, chunks=700))
    assert np.array_equal(lazy.compute(), boundary.predict(s))


def test_unlike_partners_are_refused():
    y, s = problem()
    frame = frame_of([(y, s)])
    with pytest.raises(InvalidInputError, match="same partitions"):
        find_boundary(frame.label, frame_of(parts_of(y, s, [1000, 2000])).score)
    with pytest.raises(InvalidInputError, match="same length"):
        find_boundary(da.from_array(y), da.from_array(s[1:]))
    with pytest.raises(InvalidInputError, match="one-dimensional"):
        find_boundary(da.from_array(y), da.zeros((len(y), 2)))
    with pytest.raises(InvalidInputError, match="`score` must name"):
        streaming.scan_boundary(frame, score="margin")


def _slowly(y, s, mark):
    """Return a part after a while; the first reader's process is killed in mid-run."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return y, s
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_changes_nothing(cluster, tmp_path):
    from boundshift.boundary import decide, decide_on
    from boundshift.streaming.chunks import ColumnNames
    from boundshift.streaming.on_dask import DaskSource

    y, s = problem()
    before = {w["pid"] for w in cluster.run(lambda: {"pid": os.getpid()}).values()}
    slowly = dask.delayed(_slowly, pure=False)
    parts = [
        slowly(a, b, str(tmp_path / "mark" if i == 3 else tmp_path))
        for i, (a, b) in enumerate(parts_of(y, s, [500] * 6))
    ]
    found = decide_on(DaskSource(parts, ColumnNames()), partial(decide, curve="smoothed"))
    assert_same_boundary(found, y, s, curve="smoothed")
    cluster.wait_for_workers(2, timeout=30)
    after = {w["pid"] for w in cluster.run(lambda: {"pid": os.getpid()}).values()}
    assert before != after


def test_the_example_of_training_with_dask_runs(capsys, monkeypatch):
    import importlib.util
    from pathlib import Path

    path = Path(__file__).parents[2] / "examples" / "dask_incremental.py"
    spec = importlib.util.spec_from_file_location("dask_incremental", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROWS", 20_000)
    monkeypatch.setattr(module, "CHUNK", 5_000)
    module.main()
    untouched, shifted = (
        float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()[-2:]
    )
    assert shifted > untouched + 0.1
