"""Measure boundaries of data bigger than memory, as ratios taken in one run.

``files`` reads Parquet out of core, ``command`` 8 GB of it on the command line, ``duckdb`` reads by
DuckDB, Polars and from files beside a bare GROUP BY of DuckDB, ``dask`` a cluster of two workers of
1 GiB, ``spark`` a local session of two threads, ``scaling`` the time per row; each stores its part
in lab/results/scale.json. ``page`` writes them into docs/scale.md. Every measurement runs in a
process of its own, so that its memory is its own.

At their default sizes, on two quiet cores, each takes two to six minutes and at most 4 GB of memory
(rows in memory to compare with). ``command`` needs 10 GB of disk for a billion rows, ``files``,
``duckdb``, ``dask`` and ``scaling`` 1 GB; all of it is deleted at the end.
"""

from __future__ import annotations

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
from lab.experiment import RESULTS, ROOT, environment
from lab.markdown import fill, page, table

PAGE = ROOT / "docs" / "scale.md"

ROWS_PER_GROUP = 1 << 20
ROWS_PER_FILE = 10 * ROWS_PER_GROUP
POSITIVE_SHARE = 0.02
CASES = [
    *(("logistic", "g-mean"), ("smoothed", "sum"), ("kth-point", "sum")),
    *(("student-t", "minimax"), ("support", "sum"), ("support", "minimax")),
]
FEW_CASES = CASES[:3]
ROUNDS = 3


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

    from boundshift.boundary import decide
    from boundshift.scores import ScoreSample

    data = pq.read_table(folder)
    sample = ScoreSample.from_labels(data["label"].to_numpy(), data["score"].to_numpy())
    del data
    spread = sample.spread
    found = []
    for curve, rule in cases:
        boundary = decide(sample, curve, rule)
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


def measured_on(n: int, cases: Sequence[tuple[str, str]], *ways: Any) -> list[Any]:
    """Run functions of a folder of n rows, each in a process; compare with the rows in memory."""
    with tempfile.TemporaryDirectory() as folder:
        alone(write_parquet, folder, n)
        expected = alone(in_memory, folder, cases)
        found = [alone(way, folder, *arguments) for way, *arguments in ways]
    parts = [part for one in found for part in (one if isinstance(one, list) else [one])]
    for part in parts:
        runs = zip(part["runs"], expected, strict=True)
        part["runs"] = [compare(run, other) for run, other in runs]
    return parts


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
        words = f"-m boundshift threshold {folder}/*.parquet --label label --score score --json"
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, *words.split()], stdout=subprocess.PIPE)
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


def dask_run(
    folder: str, is_lazy: bool, n: int, cases: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Measure a cluster of two workers: a bare pass, ours, and the workers' memory."""
    import dask
    import dask.array as da
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    from boundshift import find_boundary

    if is_lazy:
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
    import boundshift.streaming.on_dask  # noqa: F401


def _block(block: Any, n: int, which: int) -> Any:
    """Draw one block; the same as in the files."""
    i = int(block[0])
    rows = min(ROWS_PER_GROUP, n - i * ROWS_PER_GROUP)
    return draw(rows, 1000 * (i // 10) + i % 10)[which]


def run_dask(n: int) -> dict[str, Any]:
    """Measure Dask on lazy arrays and on Parquet, and at a tenth of the rows for its memory."""
    found: dict[str, Any] = {}
    for rows in (n // 10, n):
        ways = ((dask_run, is_lazy, rows, FEW_CASES) for is_lazy in (True, False))
        for name, part in zip(
            ("lazy", "parquet"), measured_on(rows, FEW_CASES, *ways), strict=True
        ):
            found[f"{name}, {rows} rows"] = part
    return {"found": found}


def duckdb_run(folder: str, cases: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
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
    return [bare_passes(min(seconds), runs) for runs in repeated.values()]


def run_duckdb(n: int) -> dict[str, Any]:
    """Measure engines of this machine beside a bare GROUP BY."""
    cases = [("blend", "g-mean"), *FEW_CASES]
    parts = measured_on(n, cases, (duckdb_run, cases))
    return {"found": dict(zip(("duckdb", "polars", "files"), parts, strict=True))}


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
    (part,) = measured_on(n, FEW_CASES, (spark_run, FEW_CASES))
    return dict(part)


def scaling(n: int) -> dict[str, Any]:
    """Measure time per row from a hundredth of the rows on."""
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
    }


def _in_turn(folders: list[str]) -> list[float]:
    """Return the processor time of all threads in the passes over each folder, in turn."""
    from boundshift.boundary import decide
    from boundshift.streaming.driver import decide_in_passes
    from boundshift.streaming.read import read

    def passes_over(folder: str) -> float:
        source = read(folder)
        scan, spent = source.scan, 0.0

        def timed_scan(*arguments: Any) -> Any:
            nonlocal spent
            start = time.process_time()
            tally = scan(*arguments)
            spent += time.process_time() - start
            return tally

        source.scan = timed_scan  # type: ignore[method-assign,assignment]
        decide_in_passes(source, decide)
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


def main(part: str, rows: int | None = None) -> int:
    """Measure one part and store it, or write the page."""
    store = RESULTS / "scale.json"
    facts = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    if part == "page":
        text = fill(PAGE.read_text(encoding="utf-8"), {"measured": measured(facts)})
        write_whole(PAGE, text)
        return 0
    function, usual = COMMANDS[part]
    check_disk(rows or usual)
    facts[part] = function(rows or usual) | {"code": digest_code()}
    facts["environment"] = environment()
    write_whole(store, json.dumps(facts, indent=1) + "\n")
    for name, goal, value, met in judged({part: facts[part]}):
        print(f"{name}: {value:.4g} (goal {goal}, {'met' if met else 'missed'})")
    return 0


def digest_code() -> str:
    """Return a digest of the code that reads in passes, whatever its comments and docstrings."""
    digest = hashlib.sha256()
    for path in sorted(Path(boundshift.__file__).parent.joinpath("streaming").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            first = body[0] if isinstance(body, list) and body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                first.value = ast.Constant(None)
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:16]


def judged(facts: dict[str, Any]) -> list[tuple[str, str, float, bool]]:
    """Return every figure beside its goal: name, goal, value, whether it is met."""
    rows: list[tuple[str, str, float, bool]] = []
    compared: list[dict[str, Any]] = []

    def at_most(name: str, value: float, goal: float) -> None:
        rows.append((name, f"≤ {goal:g}", value, value <= goal))

    def at_least_20(name: str, value: float) -> None:
        rows.append((name, "≥ 20", value, value >= 20))

    def beside(what: str, runs: list[dict[str, Any]], unit: str, goal: float) -> None:
        compared.extend(runs)
        for run in runs:
            at_most(
                what.format(f"{run['curve']}/{run['rule']}", run) + unit, run["bare passes"], goal
            )

    for run in facts.get("files", {}).get("runs", []):
        compared.append(run)
        what = f"files, {run['curve']}/{run['rule']}, {run['rows']:,} rows"
        at_least_20(f"{what}: million rows a second", run["million rows a second"])
        speed = run["million rows a second of two processors"]
        at_least_20(f"{what}: the same by processor time", speed)
        at_most(f"{what}: peak GiB of the process", run["peak bytes"] / 2**30, 1.5)
    if "command" in facts:
        run = facts["command"]
        what = f"command line, {run['rows']:,} rows, {run['bytes'] / 1e9:.1f} GB"
        at_least_20(f"{what}: million rows a second", run["million rows a second"])
        at_most(f"{what}: peak GiB of the process", run["peak bytes"] / 2**30, 1.5)
    for name, part in facts.get("duckdb", {}).get("found", {}).items():
        unit, goal = ": times a bare GROUP BY of DuckDB", 2.0 if name == "files" else 2.5
        beside(name + ", {0}, {1[rows]:,} rows", part["runs"], unit, goal)
    found = facts.get("dask", {}).get("found", {})
    for name, part in found.items():
        beside(f"Dask, {name}, " + "{0}", part["runs"], ": times a bare pass", 2)
    for kind in ("lazy", "parquet"):
        sizes = [m["peak worker bytes"] for name, m in found.items() if name.startswith(kind)]
        if len(sizes) == 2:
            name = f"Dask, {kind}: peak worker memory, ten times the rows"
            at_most(name, sizes[1] / sizes[0], 1.25)
    runs = facts.get("spark", {}).get("runs", [])
    beside("Spark, {0}, {1[rows]:,} rows", runs, ": times a plain groupBy", 4)
    if "scaling" in facts:
        per_row = facts["scaling"]["nanoseconds a row"]
        name = "scaling, 10⁶ to 10⁸ rows: largest over smallest processor time per row"
        at_most(name, max(per_row) / min(per_row), 1.2)
    exact = [run for run in compared if not run["resolution"]]
    coarse = [run["distance from memory"] for run in compared if run["resolution"]]
    if exact:
        worst = max(run["distance from memory"] for run in exact)
        at_most("all: distance from the boundary in memory, of the range", worst, 1e-9)
        at_most("all: runs with other counts", sum(not run["same counts"] for run in exact), 0)
    if coarse:  # Smooth curves are decided on cells, and state how wide these are.
        at_most("on cells: distance from the boundary in memory, of the range", max(coarse), 1e-6)
    return rows


def measured(facts: dict[str, Any]) -> str:
    """Return the measured part of docs/scale.md: every figure beside its goal."""
    code, machine = digest_code(), facts.get("environment", {})
    stale = [name for name in COMMANDS if facts.get(name, {"code": code}).get("code") != code]
    missing = [name for name in COMMANDS if name not in facts]
    said = [
        f"{text}: {', '.join(f'`{name}`' for name in names)}."
        for text, names in (
            ("Measured with earlier code of the engines", stale),
            ("Not measured yet", missing),
        )
        if names
    ]
    rows = [(n, g, f"{float(f'{v:.3g}'):g}", "yes" if m else "no") for n, g, v, m in judged(facts)]
    return page(f"""
        {" ".join(said)}

        {table(" | goal | measured | met", rows)}

        Measured by `python -m lab scale files`, `command`, `duckdb`, `dask`, `spark` and
        `scaling`, written by `python -m lab scale page`; {machine.get("processors")} cores,
        Python {machine.get("python")}, NumPy {machine.get("numpy")}. Wall times hold whatever
        else ran on the machine; ratios and processor times are what to compare.""")
