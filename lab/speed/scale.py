"""Measure boundaries of data bigger than memory, as ratios taken in one run.

Usage: ``python -m lab.speed.scale {files,command,duckdb,dask,spark,scaling,page} [--rows N]``.

``files`` reads Parquet out of core, ``command`` 8 GB of it on the command line, ``duckdb`` reads by
DuckDB, Polars and from files beside a bare GROUP BY of DuckDB, ``dask`` a cluster of two workers of
1 GiB, ``spark`` a local session of two threads, ``scaling`` the time per row and the size of
messages; each stores its part in lab/results/scale.json. ``page`` writes docs/scale.md from that
file. Every measurement runs in a process of its own, so that its memory is its own.

At their default sizes, on two quiet cores, each takes two to six minutes and at most 4 GB of memory
(rows in memory to compare with). ``command`` needs 10 GB of disk for a billion rows, ``files``,
``duckdb``, ``dask`` and ``scaling`` 1 GB; all of it is deleted at the end. With too little disk a
command says so before it starts.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import boundshift
from boundshift.writing import write_whole
from lab.evidence.evidence import table
from lab.harness.environment import environment
from lab.speed.scale_model import cost_model, model_text

RESULTS = Path(__file__).parents[1] / "results" / "scale.json"
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"

ROWS_PER_GROUP = 1 << 20
ROWS_PER_FILE = 10 * ROWS_PER_GROUP
POSITIVE_SHARE = 0.02
CASES = [
    *(("logistic", "g-mean"), ("smoothed", "sum"), ("kth-point", "sum")),
    *(("student-t", "minimax"), ("support", "sum"), ("support", "minimax")),
]
FEW_CASES = CASES[:3]
ROUNDS = 3


def digest_code() -> str:
    """Return a digest of the code that reads in passes, whatever its comments say."""
    digest = hashlib.sha256()
    for path in sorted(Path(boundshift.__file__).parent.joinpath("streaming").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        digest.update(ast.dump(_without_words(tree)).encode())
    return digest.hexdigest()[:16]


def _without_words(tree: ast.Module) -> ast.Module:
    """Return code without its docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            first.value = ast.Constant(None)
    return tree


def check_disk(rows: int) -> None:
    """Raise if the files of so many rows would not fit."""
    needed, free = 10 * rows, shutil.disk_usage(tempfile.gettempdir()).free
    if needed > free:
        raise SystemExit(
            f"{rows:,} rows need {needed / 1e9:.1f} GB in {tempfile.gettempdir()}, which has "
            f"{free / 1e9:.1f} GB. Free some, set TMPDIR to another disk, or use --rows."
        )


def draw(n: int, seed: int) -> tuple[Any, Any]:
    """Return labels and scores of two overlapping classes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < POSITIVE_SHARE).astype(np.int8)
    return y, rng.standard_normal(n) + 2.0 * y


def write_parquet(folder: str, n: int) -> None:
    """Write n rows in files of ten row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i, start in enumerate(range(0, n, ROWS_PER_FILE)):
        rows = min(ROWS_PER_FILE, n - start)
        with pq.ParquetWriter(
            f"{folder}/part-{i:04d}.parquet",
            pa.schema({"label": pa.int8(), "score": pa.float64()}),
            compression="none",
            use_dictionary=["label"],
        ) as writer:
            for j, first in enumerate(range(0, rows, ROWS_PER_GROUP)):
                y, s = draw(min(ROWS_PER_GROUP, rows - first), 1000 * i + j)
                writer.write_table(pa.table({"label": y, "score": s}))


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a fresh process, which must not fail."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def _send(sender: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    warnings.simplefilter("ignore")
    sender.send(function(*arguments))


def peak_bytes() -> int:
    """Return the most memory that this process has held, itself and not its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [s for s in status.read_text().splitlines() if s.startswith("VmHWM")]
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(data: Any, curve: str, rule: str, **columns: Any) -> dict[str, Any]:
    """Find a boundary and return it with its time and its passes."""
    from boundshift import streaming

    passes: dict[str, float] = {}
    start, processor = time.perf_counter(), time.process_time()
    boundary = streaming.scan_boundary(
        data,
        curve=curve,
        rule=rule,
        progress=lambda name, *_: passes.update({name: time.perf_counter() - start}),
        **columns,
    )
    seconds = time.perf_counter() - start
    return {
        "curve": curve,
        "rule": rule,
        "rows": sum(boundary.n_samples),
        "seconds": seconds,
        "processor seconds": time.process_time() - processor,
        "passes": len(passes),
        "threshold": boundary.threshold,
        "wrong": list(boundary.wrong),
        "resolution": boundary.resolution,
    }


def in_memory(folder: str, cases: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the boundaries of the same rows in memory, one after the other."""
    import pyarrow.parquet as pq

    from boundshift.boundary import make_decision
    from boundshift.scores.sample import ScoreSample

    data = pq.read_table(folder)
    sample = ScoreSample.from_labels(data["label"].to_numpy(), data["score"].to_numpy())
    del data
    spread = sample.spread
    found = []
    for curve, rule in cases:
        boundary = make_decision(curve, rule)(sample)
        found.append(
            {"threshold": boundary.threshold, "wrong": list(boundary.wrong), "spread": spread}
        )
    return found


def compare(measured: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Add how far a boundary lies from the one in memory, in units of the range of scores."""
    distance = abs(measured["threshold"] - expected["threshold"]) / expected["spread"]
    return measured | {
        "distance from memory": distance,
        "same counts": measured["wrong"] == expected["wrong"],
    }


def read_files(folder: str, curve: str, rule: str) -> dict[str, Any]:
    """Measure files, best of two, and the process's memory."""
    runs = [timed(folder, curve, rule) for _ in range(2)]
    best = min(runs, key=lambda run: run["seconds"])
    return best | {
        "million rows a second": best["rows"] / best["seconds"] / 1e6,
        "million rows a second of two processors": best["rows"]
        / min(run["processor seconds"] for run in runs)
        * 2
        / 1e6,
        "peak bytes": peak_bytes(),
    }


def bare_files(folder: str) -> float:
    """Return the time of a bare count, mean, minimum and maximum of each class."""
    import pyarrow.dataset as ds

    start = time.perf_counter()
    ds.dataset(folder).to_table(columns=["label", "score"]).group_by("label").aggregate(
        [("score", "count"), ("score", "mean"), ("score", "min"), ("score", "max")]
    )
    return time.perf_counter() - start


def files(n: int) -> dict[str, Any]:
    """Read Parquet out of core."""
    with tempfile.TemporaryDirectory() as folder:
        alone(write_parquet, folder, n)
        expected = alone(in_memory, folder, CASES)
        found = [alone(read_files, folder, *case) for case in CASES]
    return {"runs": [compare(a, b) for a, b in zip(found, expected, strict=True)]}


def command(n: int) -> dict[str, Any]:
    """Find the boundary of files on the command line, decision and certificate."""
    with tempfile.TemporaryDirectory() as folder:
        alone(write_parquet, folder, n)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        words = [
            "threshold",
            f"{folder}/*.parquet",
            "--label",
            "label",
            "--score",
            "score",
            "--json",
        ]
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "boundshift", *words], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        found = json.loads(process.stdout.read())
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"The command failed with status {status}.")
    return {
        "rows": sum(found["n_samples"]),
        "bytes": size,
        "seconds": seconds,
        "million rows a second": n / seconds / 1e6,
        "peak bytes": used.ru_maxrss * 1024,
    }


def dask_run(folder: str | None, n: int, cases: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Measure a cluster of two workers: a bare pass, ours, and the workers' memory."""
    import dask
    import dask.array as da
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    from boundshift import find_boundary

    if folder is None:
        blocks = da.arange(-(-n // ROWS_PER_GROUP), chunks=1)
        sizes = tuple(
            min(ROWS_PER_GROUP, n - i * ROWS_PER_GROUP) for i in range(blocks.numblocks[0])
        )
        y = blocks.map_blocks(_block, n, 0, chunks=(sizes,), dtype=np.int8)
        s = blocks.map_blocks(_block, n, 1, chunks=(sizes,), dtype=np.float64)
        frame = None

        def bare() -> Any:
            parts = [s[y == label] for label in (0, 1)]
            return dask.compute(
                *[f(p) for p in parts for f in (da.mean, da.min, da.max)],
                *[(y == label).sum() for label in (0, 1)],
            )

    else:
        frame = dd.read_parquet(folder)

        def bare() -> Any:
            groups = frame.groupby("label").score
            return groups.agg(["count", "mean", "min", "max"]).compute()

    def ours(curve: str, rule: str) -> dict[str, Any]:
        if frame is not None:
            return timed(frame, curve, rule)
        start = time.perf_counter()
        found = find_boundary(y, s, curve=curve, rule=rule)
        return {
            "curve": curve,
            "rule": rule,
            "rows": n,
            "seconds": time.perf_counter() - start,
            "threshold": found.threshold,
            "wrong": list(found.wrong),
            "resolution": found.resolution,
        }

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(_warm)
        repeated = [[ours(*case) for case in cases] for _ in range(2)]
        # Before the bare pass, whose memory is not ours.
        peak = max(client.run(peak_bytes).values())
        seconds = min(seconds_of(bare) for _ in range(2))
    return bare_passes(seconds, repeated) | {"peak worker bytes": peak}


def seconds_of(function: Callable[[], Any]) -> float:
    """Return how long a function takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def bare_passes(seconds: float, repeated: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Return the best run of each case beside a bare pass."""
    best = [min(runs, key=lambda run: run["seconds"]) for runs in zip(*repeated, strict=True)]
    runs = [run | {"bare passes": run["seconds"] / seconds} for run in best]
    return {"bare seconds": seconds, "runs": runs}


def _warm() -> None:
    """Import what a worker needs before the clock starts."""
    import boundshift.streaming.sources.dask_  # noqa: F401


def _block(block: Any, n: int, which: int) -> Any:
    """Draw one block; the same as in the files."""
    i = int(block[0])
    rows = min(ROWS_PER_GROUP, n - i * ROWS_PER_GROUP)
    return draw(rows, 1000 * (i // 10) + i % 10)[which]


def run_dask(n: int) -> dict[str, Any]:
    """Measure Dask on lazy arrays and on Parquet, and at a tenth of the rows for its memory."""
    cases = FEW_CASES
    found: dict[str, Any] = {}
    for rows in (n // 10, n):
        with tempfile.TemporaryDirectory() as folder:
            alone(write_parquet, folder, rows)
            expected = alone(in_memory, folder, cases)
            for name, where in (("lazy", None), ("parquet", folder)):
                run = alone(dask_run, where, rows, cases)
                run["runs"] = [compare(a, b) for a, b in zip(run["runs"], expected, strict=True)]
                found[f"{name}, {rows} rows"] = run
    return {"found": found}


def duckdb_run(folder: str, cases: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Measure DuckDB, Polars and files in turn with a bare GROUP BY of DuckDB."""
    import duckdb
    import polars as pl

    connection = duckdb.connect()
    relation = connection.read_parquet(f"{folder}/*.parquet")

    def bare() -> Any:
        wanted = "label, count(*), avg(score), min(score), max(score)"
        return relation.aggregate(wanted, "label").fetchall()

    sources = {
        "duckdb": relation,
        "polars": pl.scan_parquet(f"{folder}/*.parquet"),
        "files": folder,
    }
    seconds: list[float] = []
    repeated: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in sources}
    for _ in range(ROUNDS):
        seconds.append(seconds_of(bare))
        for name, data in sources.items():
            repeated[name].append([timed(data, *case) for case in cases])
    return {name: bare_passes(min(seconds), runs) for name, runs in repeated.items()}


def run_duckdb(n: int) -> dict[str, Any]:
    """Measure engines of this machine beside a bare GROUP BY."""
    cases = [("blend", "g-mean"), *FEW_CASES]
    with tempfile.TemporaryDirectory() as folder:
        alone(write_parquet, folder, n)
        expected = alone(in_memory, folder, cases)
        found: dict[str, Any] = alone(duckdb_run, folder, cases)
    for measured in found.values():
        runs = zip(measured["runs"], expected, strict=True)
        measured["runs"] = [compare(a, b) for a, b in runs]
    return {"found": found}


def spark_run(folder: str, cases: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Measure a local session of two threads: a plain groupBy and ours in turn, both warm."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.parquet(folder)

    def bare() -> Any:
        score = F.col("score")
        columns = [F.count(score), F.mean(score), F.min(score), F.max(score)]
        return frame.groupBy("label").agg(*columns).collect()

    seconds, repeated = [], []
    for _ in range(2 * ROUNDS):
        repeated.append([timed(frame, *case) for case in cases])
        seconds.append(seconds_of(bare))
    spark.stop()
    # Java compiles what runs often, so the first rounds are slow, theirs and ours.
    return bare_passes(min(seconds[ROUNDS:]), repeated[ROUNDS:])


def run_spark(n: int) -> dict[str, Any]:
    """Measure Spark on Parquet."""
    cases = FEW_CASES
    with tempfile.TemporaryDirectory() as folder:
        alone(write_parquet, folder, n)
        expected = alone(in_memory, folder, cases)
        found: dict[str, Any] = alone(spark_run, folder, cases)
    found["runs"] = [compare(a, b) for a, b in zip(found["runs"], expected, strict=True)]
    return found


def scaling(n: int) -> dict[str, Any]:
    """Measure time per row from a hundredth of the rows on, and the parts of the cost model."""
    sizes = [n // 100, n // 10, n]
    with tempfile.TemporaryDirectory() as folder:
        folders = [f"{folder}/{rows}" for rows in sizes]
        for name, rows in zip(folders, sizes, strict=True):
            Path(name).mkdir()
            alone(write_parquet, name, rows)
        seconds = alone(_in_turn, folders)
    return {
        "rows": sizes,
        "processor seconds in passes": seconds,
        "nanoseconds a row": [1e9 * s / rows for s, rows in zip(seconds, sizes, strict=True)],
        "model": alone(cost_model, draw, POSITIVE_SHARE),
    }


def _in_turn(folders: list[str]) -> list[float]:
    """Return the processor time of all threads in the passes over each folder, in turn."""
    from boundshift.boundary import make_decision
    from boundshift.streaming.dispatch import open_columns
    from boundshift.streaming.driver import decide_in_passes

    def passes_over(folder: str) -> float:
        source = open_columns(folder)
        scan, spent = source.scan, 0.0

        def timed_scan(*arguments: Any) -> Any:
            nonlocal spent
            start = time.process_time()
            tally = scan(*arguments)
            spent += time.process_time() - start
            return tally

        source.scan = timed_scan  # type: ignore[method-assign,assignment]
        decide_in_passes(source, make_decision())
        return spent

    rounds = [[passes_over(folder) for folder in folders] for _ in range(2 * ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


COMMANDS: dict[str, tuple[Callable[[int], dict[str, Any]], int]] = {
    "files": (files, 100_000_000),
    "command": (command, 1_000_000_000),
    "duckdb": (run_duckdb, 100_000_000),
    "dask": (run_dask, 100_000_000),
    "spark": (run_spark, 20_000_000),
    "scaling": (scaling, 100_000_000),
}


def judged(facts: dict[str, Any]) -> list[tuple[str, str, float, bool]]:
    """Return every figure beside its goal: name, goal, value, whether it is met."""
    rows: list[tuple[str, str, float, bool]] = []

    def at_most(name: str, value: float, goal: float) -> None:
        rows.append((name, f"≤ {goal:g}", value, value <= goal))

    compared = list(facts.get("files", {}).get("runs", []))
    for run in facts.get("files", {}).get("runs", []):
        what = f"files, {run['curve']}/{run['rule']}, {run['rows']:,} rows"
        speed = run["million rows a second"]
        rows.append((f"{what}: million rows a second", "≥ 20", speed, speed >= 20))
        speed = run["million rows a second of two processors"]
        rows.append((f"{what}: the same by processor time", "≥ 20", speed, speed >= 20))
        at_most(f"{what}: peak GiB of the process", run["peak bytes"] / 2**30, 1.5)
    if "command" in facts:
        run = facts["command"]
        what = f"command line, {run['rows']:,} rows, {run['bytes'] / 1e9:.1f} GB"
        speed = run["million rows a second"]
        rows.append((f"{what}: million rows a second", "≥ 20", speed, speed >= 20))
        at_most(f"{what}: peak GiB of the process", run["peak bytes"] / 2**30, 1.5)
    goals = {"duckdb": 2.5, "polars": 2.5, "files": 2.0}
    for name, measured in facts.get("duckdb", {}).get("found", {}).items():
        for run in measured["runs"]:
            compared.append(run)
            what = f"{name}, {run['curve']}/{run['rule']}, {run['rows']:,} rows"
            at_most(f"{what}: times a bare GROUP BY of DuckDB", run["bare passes"], goals[name])
    found = facts.get("dask", {}).get("found", {})
    for name, measured in found.items():
        for run in measured["runs"]:
            compared.append(run)
            what = f"Dask, {name}, {run['curve']}/{run['rule']}"
            at_most(f"{what}: times a bare pass", run["bare passes"], 2)
    for kind in ("lazy", "parquet"):
        sizes = [m["peak worker bytes"] for name, m in found.items() if name.startswith(kind)]
        if len(sizes) == 2:
            at_most(
                f"Dask, {kind}: peak worker memory, ten times the rows", sizes[1] / sizes[0], 1.25
            )
    for run in facts.get("spark", {}).get("runs", []):
        compared.append(run)
        what = f"Spark, {run['curve']}/{run['rule']}, {run['rows']:,} rows"
        at_most(f"{what}: times a plain groupBy", run["bare passes"], 4)
    if "scaling" in facts:
        per_row = facts["scaling"]["nanoseconds a row"]
        at_most(
            "scaling, 10⁶ to 10⁸ rows: largest over smallest processor time per row",
            max(per_row) / min(per_row),
            1.2,
        )
    if compared:
        worst = max(run["distance from memory"] for run in compared)
        at_most("all: distance from the boundary in memory, of the range", worst, 1e-9)
        same = sum(run["same counts"] for run in compared)
        rows.append(
            ("all: runs with other counts", "≤ 0", len(compared) - same, same == len(compared))
        )
    return rows


def older(facts: dict[str, Any]) -> str:
    """Return what to say of measurements that are not of this code, nothing if all are."""
    code = digest_code()
    stale = [
        f"`{name}`" for name in COMMANDS if facts.get(name, {"code": code}).get("code") != code
    ]
    missing = [f"`{name}`" for name in COMMANDS if name not in facts]
    said = f"Measured with earlier code of the engines: {', '.join(stale)}. " if stale else ""
    said += f"Not measured yet: {', '.join(missing)}. " if missing else ""
    return said.rstrip() + "\n\n" if said else ""


def page(facts: dict[str, Any]) -> str:
    """Return the page of the documentation."""
    goals = [(n, g, float(f"{v:.3g}"), "yes" if met else "no") for n, g, v, met in judged(facts)]
    lines = [
        TOP,
        table(["", "goal", "measured", "met"], [(n, g, f"{v:g}", m) for n, g, v, m in goals]),
    ]
    if "scaling" in facts:
        lines.append(model_text(facts["scaling"]["model"]))
    machine = facts.get("environment", {})
    lines[0] = TOP.replace("## Measured", older(facts) + "## Measured")
    lines.append(
        "Measured by `python -m lab.speed.scale files`, `command`, `duckdb`, `dask`, `spark` and "
        "`scaling`, written by "
        f"`python -m lab.speed.scale page`; {machine.get('processors')} cores, Python "
        f"{machine.get('python')}, NumPy {machine.get('numpy')}. Wall times hold whatever else ran "
        "on the machine; ratios and processor times are what to compare."
    )
    return "\n\n".join(lines) + "\n"


TOP = """# Scores bigger than memory

A boundary rests on the order of each class's scores, but only on a few of them one by one: those
around it. So the data is read in passes, by the engine that holds it, and is never held in memory:

```python
from boundshift import find_boundary, streaming

streaming.scan_boundary("scores/*.parquet", label="fraud", score="margin")  # CSV, JSON lines, …
streaming.scan_boundary(connection.table("scores"), label="fraud", score="margin")
streaming.scan_boundary(polars.scan_parquet("scores/*.parquet"), label="fraud", score="margin")
streaming.scan_boundary(spark_frame, label="label", score="rawPrediction")
find_boundary(dask_labels, dask_scores)  # arrays, series; memory maps, Arrow arrays
find_boundary(lambda: label_chunks(), lambda: score_chunks())  # anything that comes in chunks
```

Both take `curve`, `rule` and `pos_label`, and their answer is that of the same rows in memory, for
every curve and every rule. As in memory, labels that are words need `pos_label` where the rule does
not treat both classes alike.

Rows may count more or less than once: `scan_boundary(data, weight="times")` takes a column of
weights, and `find_boundary` a `sample_weight` of the same kind as the scores. A weight of 2 is the
row twice, on every engine, for every curve that estimates; curves that count rows refuse, as in
memory.

Groups and many classes are read in the same passes, whatever their number:

```python
streaming.scan_boundaries("scores/*.parquet", by="site")  # a boundary each
streaming.scan_biases(frame, scores=["cat", "dog", "eel"], label="animal")  # a bias for each class
```

A group leans on all rows as in memory. Many classes take a column of scores each; a pair of them is
decided on the difference of two columns. Before the first pass the groups or labels are counted.
`streaming.scan_certificate` certifies a boundary the same way, and
`streaming.scan_zone` finds the zone in which nobody should decide by the score alone.
With `progress=True` each of these draws a bar for every pass, by files, Dask's partitions or
Spark's tasks.

The boundary goes back to where the scores are. `boundary.predict` answers in kind: a series of
pandas or Polars, an Arrow array, a Dask array or series, a Spark column, an expression of Polars or
DuckDB, a lazy frame or a relation of one column, each of them as lazy as it was given.
`boundary.to_sql("margin", dialect="spark")` is an expression for a database: see
[the boundary in SQL](sql.md).

## How it works

1. The first pass finds each class's count, extremes, sum and squares, and counts its scores in
   32,768 cells. What is found in different rows can be merged in any order; counts and extremes are
   exact, sums are carried in two doubles.
2. The decision is made on these by the same code as in memory. An answer from inside a cell is an
   estimate, and the cell is put on a list of open questions.
3. The next pass answers the questions: it collects the scores of small cells one by one, and cuts
   large cells finer. A cell in which a node of a curve's grid lies is divided there, and the scores
   that the node may still pass are collected. The many nodes of the smoothed curve are counted at
   instead.
4. A decision that leaves no question open is the decision of the sorted scores, counts at the
   boundary included, and its `resolution` is 0. This takes two or three passes for most data. With
   `max_passes` it may take fewer; `resolution` is then the width of the widest range of scores that
   was left open.

Spark counts by its own aggregates: one grouping for the cells, and one for nodes
(`boundshift.streaming.sql`); with the rows around the boundary that makes at most four queries over
all rows, and at most three passes, for every curve on ordinary data. Only rows around the boundary
reach Python, by `mapInArrow` where they are many. DuckDB and Polars bring their rows in batches
that Python counts, which takes less time than their own grouping by as many cells. What DuckDB
reads, files, folders, attached databases and remote tables, needs nothing else.

Sums are added in another order than in memory, which matters in the last digits only. Where a rule
is flat around its minimum, these digits decide where in the flat part the boundary lies.

Every pass must see the same rows. So a generator is refused: give a function that makes the chunks
again. Rows that are drawn anew in each pass are noticed where their counts differ. Dask, Spark,
Polars and DuckDB compute a lazy frame or relation anew in each pass: use `persist()`, `cache()`,
`collect()` or a table first where that is expensive.

## Measured"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("command", choices=[*COMMANDS, "page"])
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args(arguments)
    facts = json.loads(chosen.out.read_text(encoding="utf-8")) if chosen.out.exists() else {}
    if chosen.command == "page":
        write_whole(PAGE, page(facts))
        return 0
    function, rows = COMMANDS[chosen.command]
    check_disk(chosen.rows or rows)
    facts[chosen.command] = function(chosen.rows or rows) | {"code": digest_code()}
    facts["environment"] = environment()
    write_whole(chosen.out, json.dumps(facts, indent=1) + "\n")
    for name, goal, value, met in judged({chosen.command: facts[chosen.command]}):
        print(f"{name}: {value:.4g} (goal {goal}, {'met' if met else 'missed'})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
