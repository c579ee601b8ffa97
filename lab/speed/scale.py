"""Measure boundaries of data bigger than memory, as ratios taken in one run.

``files`` reads Parquet out of core, ``parquet`` beside a bare GROUP BY of DuckDB, ``command`` 8 GB
of it on the command line; ``duckdb``, ``polars``, ``dask`` (two workers of 1 GiB) and ``spark``
(two threads) read by an engine beside a bare GROUP BY of its own; ``scaling`` takes the time per
row. Each stores its part in lab/results/scale.json, and ``page`` writes them into
docs/evidence/speed_and_scale.md. Every measurement runs in a process of its own, so that its memory
is its own. On two quiet cores each takes two to six minutes, 4 GB of memory and 1 GB of disk,
``command`` 10 GB.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from boundshift._writing import write_whole
from lab.experiment import RESULTS, ROOT, Facts, environment
from lab.markdown import fill
from lab.speed.speed import Row, judged_table

PAGE = ROOT / "docs" / "evidence" / "speed_and_scale.md"
ROWS_PER_GROUP = 1 << 20
ROWS_PER_FILE = 10 * ROWS_PER_GROUP
POSITIVE_SHARE = 0.02
CASES = [
    ("blend", "g-mean"), ("logistic", "g-mean"), ("smoothed", "sum"), ("empirical", "sum"),
    ("support", "sum"),
]  # fmt: skip
FEW_CASES = CASES[:4]


def draw(n: int, seed: int) -> tuple[Any, Any]:
    """Return labels and heavy-tailed scores of two overlapping classes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < POSITIVE_SHARE).astype(np.int8)
    return y, rng.standard_t(4, n) + 2.0 * y


def write_parquet(folder: str, n: int) -> None:
    """Write n rows in files of ten row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema({"label": pa.int8(), "score": pa.float64()})
    settings = {"compression": "none", "use_dictionary": ["label"]}
    for i, start in enumerate(range(0, n, ROWS_PER_FILE)):
        rows = min(ROWS_PER_FILE, n - start)
        with pq.ParquetWriter(f"{folder}/part-{i:04d}.parquet", schema, **settings) as writer:
            for j, first in enumerate(range(0, rows, ROWS_PER_GROUP)):
                y, s = draw(min(ROWS_PER_GROUP, rows - first), 1000 * i + j)
                writer.write_table(pa.table({"label": y, "score": s}))


@contextmanager
def parquet(n: int) -> Iterator[str]:
    needed, free = 10 * n, shutil.disk_usage(tempfile.gettempdir()).free
    if needed > free:
        raise SystemExit(
            f"{n:,} rows need {needed / 1e9:.1f} GB in {tempfile.gettempdir()}, which has "
            f"{free / 1e9:.1f} GB. Free some, set TMPDIR to another disk, or use --rows."
        )
    with tempfile.TemporaryDirectory() as folder:
        alone(write_parquet, folder, n)
        yield folder


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a fresh process."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, warnings.simplefilter, ("ignore",)) as pool:
        return pool.submit(function, *arguments).result()


def peak_bytes() -> int:
    """Return the most memory that this process has held, itself and not its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [s for s in status.read_text().splitlines() if s.startswith("VmHWM")]
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def scan(data: Any, curve: str, rule: str) -> Facts:
    """Find a boundary and return it with its times."""
    from boundshift import streaming

    start, processor = time.perf_counter(), time.process_time()
    boundary = streaming.scan_boundary(data, curve=curve, rule=rule)
    return {
        "rows": sum(boundary.n_samples),
        "seconds": time.perf_counter() - start,
        "processor seconds": time.process_time() - processor,
        "threshold": boundary.threshold,
        "wrong": list(boundary.wrong),
        "resolution": boundary.resolution,
    }


def in_memory(folder: str, cases: Sequence[tuple[str, str]]) -> list[Facts]:
    """Return the boundaries of the same rows in memory, one after the other."""
    import pyarrow.parquet as pq

    from boundshift import find_boundary

    data = pq.read_table(folder)
    y, s = data["label"].to_numpy(), data["score"].to_numpy()
    found = [find_boundary(y, s, curve=curve, rule=rule, scale="raw") for curve, rule in cases]
    return [
        {"threshold": b.threshold, "wrong": list(b.wrong), "spread": float(np.ptp(s))}
        for b in found
    ]


def agreement(what: str, found: Sequence[Facts], expected: Sequence[Facts]) -> Iterator[Row]:
    """Judge how far boundaries lie from those in memory, in units of the range of scores."""
    exact, coarse, others = [0.0], [0.0], 0
    for run, known in zip(found, expected, strict=True):
        distance = abs(run["threshold"] - known["threshold"]) / known["spread"]
        # Smooth curves are decided on cells, and state how wide these are.
        (coarse if run["resolution"] else exact).append(distance)
        others += not run["resolution"] and run["wrong"] != known["wrong"]
    name = f"{what}: distance from the boundary in memory, of the range"
    yield Row.judge(name, max(exact), "<= 1e-9")
    yield Row.judge(f"{name}, decided on cells", max(coarse), "<= 1e-6")
    yield Row.judge(f"{what}: runs with other counts", others, "<= 0")


def read_files(folder: str, curve: str, rule: str) -> Facts:
    """Measure files, best of two, and the process's memory."""
    runs = [scan(folder, curve, rule) for _ in range(2)]
    best = min(runs, key=lambda run: run["seconds"])
    return best | {"peak bytes": peak_bytes()}


def files(n: int) -> Iterator[Row]:
    """Read Parquet out of core."""
    with parquet(n) as folder:
        expected = alone(in_memory, folder, CASES)
        found = [alone(read_files, folder, *case) for case in CASES]
    for (curve, rule), run in zip(CASES, found, strict=True):
        what = f"files, {curve}/{rule}, {n:,} rows"
        speed = n / run["seconds"] / 1e6
        yield Row.judge(f"{what}: million rows a second", speed, ">= 20")
        yield Row.judge(f"{what}: peak GiB of the process", run["peak bytes"] / 2**30, "<= 1.5")
    yield from agreement("files", found, expected)


def command(n: int) -> Iterator[Row]:
    """Find the boundary of files on the command line, decision and certificate."""
    with parquet(n) as folder:
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        words = f"-m boundshift threshold {folder}/*.parquet --label label --score score --json"
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, *words.split()], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"The command failed with status {status}.")
    what = f"command line, {n:,} rows, {size / 1e9:.1f} GB"
    yield Row.judge(f"{what}: million rows a second", n / seconds / 1e6, ">= 20")
    yield Row.judge(f"{what}: peak GiB of the process", used.ru_maxrss / 2**20, "<= 1.5")


def open_duckdb(folder: str) -> tuple[Any, Callable[[], Any]]:
    import duckdb

    relation = duckdb.connect().read_parquet(f"{folder}/*.parquet")
    wanted = "label, count(*), avg(score), min(score), max(score)"
    return relation, lambda: relation.aggregate(wanted, "label").fetchall()


def open_files(folder: str) -> tuple[Any, Callable[[], Any]]:
    return folder, open_duckdb(folder)[1]


def open_polars(folder: str) -> tuple[Any, Callable[[], Any]]:
    import polars as pl

    frame = pl.scan_parquet(f"{folder}/*.parquet")
    score = pl.col("score")
    columns = [getattr(score, n)().alias(n) for n in ("count", "mean", "min", "max")]
    return frame, lambda: frame.group_by("label").agg(columns).collect(engine="streaming")


def open_dask(folder: str) -> tuple[Any, Callable[[], Any]]:
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=":0"
    )
    Client(cluster)
    frame = dd.read_parquet(folder)
    groups = frame.groupby("label").score
    return frame, lambda: groups.agg(["count", "mean", "min", "max"]).compute()


def open_spark(folder: str) -> tuple[Any, Callable[[], Any]]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812

    settings = {"ui.enabled": "false", "driver.memory": "3g", "driver.host": "127.0.0.1"}
    settings = {f"spark.{name}": value for name, value in settings.items()}
    builder = SparkSession.builder.master("local[2]").config(map=settings)
    frame = builder.getOrCreate().read.parquet(folder)
    columns = [function("score") for function in (F.count, F.mean, F.min, F.max)]
    return frame, lambda: frame.groupBy("label").agg(*columns).collect()


# An engine, how often it reads, and the goal in bare passes of it; of files, in those of DuckDB.
# Java compiles what runs often, so that Spark's first rounds are slow, theirs and ours.
ENGINES: dict[str, tuple[Callable[[str], Any], int, str]] = {
    "parquet": (open_files, 3, "<= 1.5"),
    "duckdb": (open_duckdb, 3, "<= 2.5"),
    "polars": (open_polars, 3, "<= 2.5"),
    "dask": (open_dask, 2, "<= 2"),
    "spark": (open_spark, 6, "<= 4"),
}


def read_engine(folder: str, engine: str) -> tuple[float, list[Facts]]:
    """Read in turn with a bare GROUP BY, and return the best times of both."""
    opener, rounds, _ = ENGINES[engine]
    data, bare = opener(folder)
    seconds, repeated = [], []
    for _ in range(rounds):
        repeated.append([scan(data, *case) for case in FEW_CASES])
        start = time.perf_counter()
        bare()
        seconds.append(time.perf_counter() - start)
    best = [min(runs, key=lambda run: run["seconds"]) for runs in zip(*repeated, strict=True)]
    return min(seconds), best


def read_by(engine: str) -> Callable[[int], Iterator[Row]]:
    def measure(n: int) -> Iterator[Row]:
        with parquet(n) as folder:
            expected = alone(in_memory, folder, FEW_CASES)
            bare, found = alone(read_engine, folder, engine)
        for (curve, rule), run in zip(FEW_CASES, found, strict=True):
            name = f"{engine}, {curve}/{rule}, {n:,} rows: times a bare GROUP BY of the engine"
            yield Row.judge(name, run["seconds"] / bare, ENGINES[engine][2])
        yield from agreement(engine, found, expected)

    return measure


def scan_warm(folder: str) -> float:
    """Return the processor time of a scan, imports and caches aside."""
    return min(float(scan(folder, *CASES[0])["processor seconds"]) for _ in range(3))


def scaling(n: int) -> Iterator[Row]:
    """Measure time per row from a tenth of the rows on."""
    per_row = []
    for rows in (n // 10, n):
        with parquet(rows) as folder:
            per_row.append(alone(scan_warm, folder) / rows)
    name = f"scaling, {n // 10:,} to {n:,} rows: larger over smaller processor time per row"
    yield Row.judge(name, max(per_row) / min(per_row), "<= 1.2")


PARTS: dict[str, tuple[Callable[[int], Iterator[Row]], int]] = {
    "files": (files, 100_000_000),
    "command": (command, 1_000_000_000),
    "parquet": (read_by("parquet"), 100_000_000),
    "duckdb": (read_by("duckdb"), 100_000_000),
    "polars": (read_by("polars"), 100_000_000),
    "dask": (read_by("dask"), 100_000_000),
    "spark": (read_by("spark"), 20_000_000),
    "scaling": (scaling, 100_000_000),
}


def main(part: str, rows: int | None = None) -> int:
    """Measure one part and store it, or write the page."""
    store = RESULTS / "scale.json"
    facts = json.loads(store.read_text(encoding="utf-8"))
    if part == "page":
        write_whole(PAGE, fill(PAGE.read_text(encoding="utf-8"), {"measured": measured(facts)}))
        return 0
    function, usual = PARTS[part]
    found = [asdict(row) for row in function(rows or usual)]
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    facts |= {part: {"commit": asked.stdout.strip(), "rows": found}, "environment": environment()}
    write_whole(store, json.dumps(facts, indent=1) + "\n")
    print(judged_table(facts[part]))
    return 0


def measured(facts: Facts) -> str:
    """Return the page's part on large data: every figure beside its goal."""
    known = [part for part in PARTS if part in facts]
    machine = facts["environment"]
    commits = ", ".join(f"`{part}` {facts[part]['commit'] or 'earlier'}" for part in known)
    said = f"{machine['processors']} cores, Python {machine['python']}, NumPy {machine['numpy']}"
    rows = [row for part in known for row in facts[part]["rows"]]
    return f"Measured at the commits: {commits}; {said}.\n\n{judged_table({'rows': rows})}"
