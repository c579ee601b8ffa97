import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from boundshift import SupportRadius, find_boundary
from boundshift.curves.paper import sequential_path
from lab.speed.brute_force import GRID_SIZE, _shares, brute_force

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["speed", "training"])
def test_quick_benchmark_prints_its_table_and_stores_it(tmp_path, name):
    path = tmp_path / f"{name}.json"
    command = [sys.executable, "-m", "lab", name, "--quick", "--out", str(tmp_path)]
    run = {"capture_output": True, "text": True, "check": True, "cwd": ROOT}
    done = subprocess.run(command, **run)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["quick"] is True
    assert {"numpy", "scikit-learn", "processors"} <= set(record["environment"])
    for row in record["rows"]:
        assert set(row) == {"name", "value", "goal", "met"}
        assert row["name"] in done.stdout
        assert np.isfinite(row["value"])
    named = {row["name"] for row in record["rows"]}
    started = {f"times import sklearn: {c}" for c in ("import boundshift", "boundshift --help")}
    assert name != "speed" or started <= named
    for race in record["seconds"].values():
        assert all(seconds > 0 for times in race.values() for seconds in times)

    shown = subprocess.run([*command, "--stored"], **run)
    assert shown.stdout == done.stdout


@pytest.mark.parametrize(
    ("penalty", "make"),
    [("count", SupportRadius.paper), ("proportional", SupportRadius.authors)],
)
@pytest.mark.parametrize("seed", range(4))
def test_exact_solver_is_as_good_as_brute_force(seed, penalty, make):
    rng = np.random.default_rng(seed)
    y = (np.arange(150) < 20).astype(int)
    scores = rng.standard_normal(150) + 4.0 * y
    coarse = brute_force(y, scores, penalty=penalty)
    exact = find_boundary(y, scores, curve=make(budget="all", stop_at_zero=False))
    assert exact.geometry.slack == coarse.slack
    # The grid misses the optimum by at most its step.
    assert coarse.loss - 2 / GRID_SIZE <= exact.loss <= coarse.loss


@pytest.mark.parametrize("sizes", [(1000, 10), (10, 1000), (50, 50), (7, 3), (2, 5)])
def test_points_are_given_up_in_the_same_order(sizes):
    assert list(zip(*sequential_path(sizes).tolist(), strict=True)) == _shares(sizes)


def test_brute_force_has_no_answer_where_classes_coincide():
    assert brute_force([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]) is None
