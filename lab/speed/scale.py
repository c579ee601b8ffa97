"""Measure boundaries of data bigger than memory, as ratios taken in one run.

``parquet``, ``duckdb``, ``polars``, ``dask`` (two workers of 1 GiB) and ``spark`` (two threads)
each read normal, heavy-tailed and zero-inflated scores, beside a bare GROUP BY of the label and a
GROUP BY of the same bins by the engine itself, and ten lines of PyArrow and NumPy that count in
equal bins. ``merge`` adds up stored tallies, ``command`` runs the command line, and ``simulate``
computes what 1,000 workers would hold and send. Each stores its part in lab/results/scale.json,
one record for each figure, and ``page`` writes them into docs/evidence/speed_and_scale.md. Every
measurement runs in a process of its own, so that its memory is its own, and deletes its files. The
peak is that of the process that asks: workers of Dask and the Java part of Spark have limits of
their own.
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
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from boundshift._writing import write_whole
from lab.experiment import RESULTS, ROOT, Facts, commit, environment
from lab.markdown import fill, table
from lab.speed.speed import LOOSE_MOST, Row, judged_table

PAGE = ROOT / "docs" / "evidence" / "speed_and_scale.md"
ROWS_PER_GROUP = 1 << 20
ROWS_PER_FILE = 10 * ROWS_PER_GROUP
POSITIVE_SHARE = 0.02
CASES = [("blend", "g-mean"), ("empirical", "sum")]
KINDS = ("normal", "t4", "zero-inflated")
STORED_ROWS = 10_000_000
EQUAL_BINS = 1 << 17

WORKERS = 1_000

Measure = Callable[[int], Iterator[Facts]]
"""From a number of rows to records, one for each figure."""
Opened = tuple[Any, dict[str, Callable[[], Any]]]
"""Data of an engine, and what the engine itself does with it: GROUP BY label, and by bin."""


def draw(n: int, seed: int, kind: str = "t4") -> tuple[Any, Any]:
    """Return labels and scores of two overlapping classes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < POSITIVE_SHARE).astype(np.int8)
    if kind == "t4":
        return y, rng.standard_t(4, n) + 2.0 * y
    scores = rng.normal(size=n) + 2.0 * y
    if kind == "zero-inflated":
        scores[rng.random(n) < 0.3] = 0.0
    return y, scores


def write_parquet(folder: str, n: int, kind: str) -> None:
    """Write n rows in files of ten row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema({"label": pa.int8(), "score": pa.float64()})
    settings = {"compression": "none", "use_dictionary": ["label"]}
    for i, start in enumerate(range(0, n, ROWS_PER_FILE)):
        rows = min(ROWS_PER_FILE, n - start)
        with pq.ParquetWriter(f"{folder}/part-{i:04d}.parquet", schema, **settings) as writer:
            for j, first in enumerate(range(0, rows, ROWS_PER_GROUP)):
                y, s = draw(min(ROWS_PER_GROUP, rows - first), 1000 * i + j, kind)
                writer.write_table(pa.table({"label": y, "score": s}))


@contextmanager
def parquet(n: int, kind: str = "t4") -> Iterator[str]:
    needed = 10 * n
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if needed > free:
        raise SystemExit(
            f"{n:,} rows need {needed / 1e9:.1f} GB in {tempfile.gettempdir()}, which has "
            f"{free / 1e9:.1f} GB. Free some, set TMPDIR to another disk, or use --rows."
        )
    with tempfile.TemporaryDirectory() as folder:
        alone(write_parquet, folder, n, kind)
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


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call takes, and what it returns."""
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def facts_of(boundary: Any) -> Facts:
    return {
        "threshold": boundary.threshold,
        "wrong": list(boundary.wrong),
        "resolution": boundary.resolution,
    }


def in_memory(folder: str) -> list[Facts]:
    """Return the boundaries of the same rows in memory."""
    import pyarrow.parquet as pq

    from boundshift import find_boundary

    data = pq.read_table(folder)
    y = data["label"].to_numpy()
    s = data["score"].to_numpy()
    found = [find_boundary(y, s, curve=curve, rule=rule, scale="raw") for curve, rule in CASES]
    return [facts_of(boundary) for boundary in found]


def bincount(folder: str) -> Any:
    """Count in equal bins with PyArrow and NumPy: ten lines that know the range beforehand."""
    from pyarrow import dataset

    counts = np.zeros((2, EQUAL_BINS))
    for batch in dataset.dataset(folder).to_batches(columns=["label", "score"]):
        y = batch.column("label").to_numpy()
        s = batch.column("score").to_numpy()
        place = np.clip((s + 30.0) * (EQUAL_BINS / 60.0), 0, EQUAL_BINS - 1).astype(np.intp)
        for i in (0, 1):
            counts[i] += np.bincount(place[y == i], minlength=EQUAL_BINS)
    return counts


def command(n: int) -> Iterator[Facts]:
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
    yield asdict(Row.judge(f"{what}: million rows a second", n / seconds / 1e6, ">= 20"))
    yield asdict(Row.judge(f"{what}: peak GiB", used.ru_maxrss / 2**20, "<= 1.5"))


def queries(table: str, dialect: str, run: Callable[[str], Any]) -> dict[str, Callable[[], Any]]:
    """Return what runs the bare GROUP BY and that of the bins."""
    from boundshift.streaming import tally_sql

    amounts = "COUNT(*), AVG(score), MIN(score), MAX(score)"
    return {
        "bare": partial(run, f"SELECT label, {amounts} FROM {table} GROUP BY label"),
        "group": partial(run, tally_sql("label", "score", table, dialect=dialect)),
    }


def open_duckdb(folder: str) -> Opened:
    import duckdb

    connection = duckdb.connect()
    files = f"{folder}/*.parquet"

    def run(query: str) -> Any:
        return connection.sql(query).to_arrow_table()

    return connection.read_parquet(files), queries(f"'{files}'", "duckdb", run)


def open_files(folder: str) -> Opened:
    return folder, open_duckdb(folder)[1]


def open_polars(folder: str) -> Opened:
    import polars as pl

    frame = pl.scan_parquet(f"{folder}/*.parquet")
    score = pl.col("score")
    near_one = (score > 0.5) & (score < 1)
    size = pl.when(near_one).then(1 - score).when(score == 0).then(1.0).otherwise(score.abs())
    exponent = size.log(2).floor()
    magnitude = ((exponent + 1000) * 4096 + ((size / 2.0**exponent - 1) * 4096).floor()).cast(int)
    placed = pl.when(near_one).then(2**25 + magnitude).otherwise(score.sign().cast(int) * magnitude)
    amounts = [pl.len(), score.mean().alias("mean"), score.min().alias("low")]
    amounts.append(score.max().alias("high"))
    grouped = {
        "bare": frame.group_by("label").agg(amounts),
        "group": frame.group_by("label", placed.alias("bin")).agg(amounts),
    }
    return frame, {
        name: partial(each.collect, engine="streaming") for name, each in grouped.items()
    }


def open_dask(folder: str) -> Opened:
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    from boundshift.streaming._bins import bins_of

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=":0"
    )
    Client(cluster)
    # With ten million rows in a partition, the GROUP BY of the bins needs more than 1 GiB.
    frame = dd.read_parquet(folder, split_row_groups=True)

    def group(rows: Any, keys: list[str]) -> Any:
        return rows.groupby(keys).score.agg(["count", "mean", "min", "max"]).compute()

    def group_bins() -> Any:
        bins = frame.score.map_partitions(
            lambda part: part * 0 + bins_of(part.to_numpy()), meta=("bin", "f8")
        )
        return group(frame.assign(bin=bins), ["label", "bin"])

    return frame, {"bare": partial(group, frame, ["label"]), "group": group_bins}


def open_spark(folder: str) -> Opened:
    from pyspark.sql import SparkSession

    settings = {"ui.enabled": "false", "driver.memory": "3g", "driver.host": "127.0.0.1"}
    settings = {f"spark.{name}": value for name, value in settings.items()}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    frame = session.read.parquet(folder)
    return frame, queries("{rows}", "spark", lambda q: session.sql(q, rows=frame).toArrow())


# An engine, and how often it reads. Java compiles what runs often, so that Spark's first rounds are
# slow, theirs and ours.
ENGINES: dict[str, tuple[Callable[[str], Opened], int]] = {
    "parquet": (open_files, 2),
    "duckdb": (open_duckdb, 2),
    "polars": (open_polars, 2),
    "dask": (open_dask, 2),
    "spark": (open_spark, 2),
}


def read_engine(folder: str, engine: str) -> Facts:
    """Read in turn with both GROUP BYs of the engine and with `bincount`; return the best times."""
    from boundshift import streaming

    opener, rounds = ENGINES[engine]
    data, own = opener(folder)
    seconds: dict[str, list[float]] = {}
    passes: dict[str, int] = {}
    found: Facts = {}

    def measured(name: str, call: Callable[..., Any]) -> Any:
        seen: set[str] = set()
        elapsed, answer = timed(lambda: call(progress=lambda name, *_: seen.add(name)))
        seconds.setdefault(name, []).append(elapsed)
        passes[name] = len(seen)
        return answer

    for _ in range(rounds):
        tally = measured("tally", partial(streaming.Tally.of, data))
        for curve, rule in CASES:
            elapsed, one = timed(partial(tally.find_boundary, curve=curve, rule=rule))
            seconds.setdefault(f"decide {curve}", []).append(elapsed)
            scan = partial(streaming.scan_boundary, data, curve=curve, rule=rule)
            found[curve] = {"tally": facts_of(one), "scan": facts_of(measured(curve, scan))}
    peak = peak_bytes()
    for _ in range(rounds):
        for name, call in (own | {"bincount": partial(bincount, folder)}).items():
            seconds.setdefault(name, []).append(timed(call)[0])
    best = {name: min(each) for name, each in seconds.items()}
    return {"seconds": best, "passes": passes, "found": found, "peak": peak}


def read_by(engine: str) -> Measure:
    def measure(n: int) -> Iterator[Facts]:
        for kind in KINDS:
            with parquet(n, kind) as folder:
                expected = alone(in_memory, folder)
                run = alone(read_engine, folder, engine)
            for row in judge_engine(run, expected):
                yield {"scores": kind, "n_rows": n} | asdict(row)

    return measure


def judge_engine(run: Facts, expected: Sequence[Facts]) -> Iterator[Row]:
    """Yield the figures of one engine and one kind of scores."""
    seconds = run["seconds"]
    one_pass = seconds["tally"] + seconds["decide blend"]
    yield Row.judge("tally and default ÷ GROUP BY", one_pass / seconds["group"], "<= 1.5")
    yield Row.judge("tally and default ÷ bare GROUP BY", one_pass / seconds["bare"], LOOSE_MOST)
    yield Row.judge("tally and default ÷ bincount", one_pass / seconds["bincount"], "<= 10")
    yield Row.judge("passes of the tally", run["passes"]["tally"], "<= 1")
    for curve, _ in CASES:
        yield Row.judge(f"scan, {curve} ÷ GROUP BY", seconds[curve] / seconds["group"], "<= 3")
        yield Row.judge(f"passes of the scan, {curve}", run["passes"][curve], "<= 3")
    yield Row.judge("peak MB", run["peak"] / 1e6, "<= 500")
    for (curve, _), memory in zip(CASES, expected, strict=True):
        inexact = 0
        beyond = 0
        for way, found in run["found"][curve].items():
            distance = abs(found["threshold"] - memory["threshold"])
            most = {"scan": "<= 1e-5", "tally": "<= 1e-2"}[way]
            yield Row.judge(f"{way}, {curve}: distance from memory", distance, most)
            beyond += distance > found["resolution"]
            inexact += found["resolution"] == 0 and found["wrong"] != memory["wrong"]
        yield Row.judge(f"{curve}: beyond the resolution", beyond, "<= 0")
        yield Row.judge(f"{curve}: other counts", inexact, "<= 0")


def add_stored(folder: str, n: int) -> Facts:
    """Store tallies of ten million rows each, add them up, and find the default boundary."""
    from boundshift import streaming

    paths = []
    for i in range(max(n // STORED_ROWS, 1)):
        path = f"{folder}/{i:04d}.parquet"
        streaming.Tally.of([draw(min(n, STORED_ROWS), i)]).to_parquet(path)
        paths.append(path)

    def add() -> Any:
        total = streaming.Tally.from_parquet(paths[0])
        for path in paths[1:]:
            total = total + streaming.Tally.from_parquet(path)
        return total

    seconds, total = timed(add)
    deciding, boundary = timed(total.find_boundary)
    return {
        "seconds": seconds,
        "deciding": deciding,
        "bytes": max(Path(path).stat().st_size for path in paths),
        "rows": sum(boundary.n_samples),
        "bins": sum(len(tally) for tally in total.classes.values()),
    }


def merge(n: int) -> Iterator[Facts]:
    """Add up stored tallies, as warehouses and workers would."""
    with tempfile.TemporaryDirectory() as folder:
        run = alone(add_stored, folder, n)
    what = f"merge of {run['rows']:,} rows"
    yield asdict(Row.judge(f"{what}: MB of a stored tally", run["bytes"] / 1e6, "<= 20"))
    yield asdict(Row.judge(f"{what}: thousands of bins of the sum", run["bins"] / 1e3, "<= 2000"))
    yield asdict(Row.judge(f"{what}: seconds to add them up", run["seconds"], "<= 60"))
    yield asdict(Row.judge(f"{what}: seconds to decide", run["deciding"], "<= 10"))


def bin_edges() -> Any:
    """Return the edges of the bins of all scores from 2**-60 to 2**20 in magnitude."""
    from boundshift.streaming._bins import PARTS as PARTS_OF_A_POWER

    parts = 1.0 + np.arange(PARTS_OF_A_POWER) / PARTS_OF_A_POWER
    sizes = np.outer(2.0 ** np.arange(-60, 20), parts).ravel()
    near_one = 1.0 - sizes[sizes < 0.5]
    positive = np.concatenate([sizes[sizes <= 0.5], near_one, sizes[sizes >= 1.0]])
    return np.unique(np.concatenate([-sizes, [0.0], positive]))


def expected_bins(n: float) -> float:
    """Return how many bins n rows of the t4 scores fill on average, the classes counted apart."""
    edges = bin_edges()
    filled = 0.0
    for share, shift in ((1.0 - POSITIVE_SHARE, 0.0), (POSITIVE_SHARE, 2.0)):
        # Differences of whichever tail is small keep their digits.
        below = np.diff(student.cdf(edges - shift, 4))
        above = -np.diff(student.sf(edges - shift, 4))
        in_bin = np.where(edges[:-1] < shift, below, above)
        filled += float(-np.expm1(-n * share * in_bin).sum())
    return filled


def stored_bytes(n: int) -> tuple[float, float]:
    """Return the bytes that a bin of a real tally takes in memory, and in a file."""
    from boundshift import streaming

    tally = streaming.Tally.of([draw(n, 0)])
    columns = [column for each in tally.classes.values() for column in each.columns()]
    bins = sum(map(len, tally.classes.values()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tally.parquet"
        tally.to_parquet(path)
        return sum(column.nbytes for column in columns) / bins, path.stat().st_size / bins


def simulate(n: int) -> Iterator[Facts]:
    """Compute what workers hold and send if they count all rows, from the size of a real tally."""
    in_memory, in_file = alone(stored_bytes, STORED_ROWS // 10)
    own = expected_bins(n / WORKERS)
    total = expected_bins(n)
    what = f"{n:.0e} rows on {WORKERS:,} workers (computed)"
    yield asdict(Row.judge(f"{what}: thousands of bins of a worker", own / 1e3, "<= 2000"))
    yield asdict(Row.judge(f"{what}: MB of its tally in memory", own * in_memory / 1e6, "<= 100"))
    yield asdict(Row.judge(f"{what}: MB that it sends", own * in_file / 1e6, "<= 20"))
    yield asdict(Row.judge(f"{what}: GB merged", WORKERS * own * in_file / 1e9, "<= 20"))
    yield asdict(Row.judge(f"{what}: thousands of bins of the sum", total / 1e3, "<= 2000"))
    yield asdict(Row.judge(f"{what}: MB of the sum in memory", total * in_memory / 1e6, "<= 100"))
    yield asdict(Row.judge(f"{what}: passes", 1, "<= 1"))


PARTS: dict[str, tuple[Measure, int]] = {
    "parquet": (read_by("parquet"), 100_000_000),
    "duckdb": (read_by("duckdb"), 100_000_000),
    "polars": (read_by("polars"), 100_000_000),
    "dask": (read_by("dask"), 10_000_000),
    "spark": (read_by("spark"), 10_000_000),
    "merge": (merge, 1_000_000_000),
    "command": (command, 1_000_000_000),
    "simulate": (simulate, 1_000_000_000_000),
}


def main(part: str, rows: int | None = None, dry_run: bool = False) -> int:
    """Measure one part and store it unless it is a dry run, or write the page."""
    store = RESULTS / "scale.json"
    facts = json.loads(store.read_text(encoding="utf-8"))
    if part == "page":
        write_whole(PAGE, fill(PAGE.read_text(encoding="utf-8"), {"measured": measured(facts)}))
        return 0
    function, usual = PARTS[part]
    stamp = {"part": part, "commit": commit()}
    records = [stamp | each for each in function(rows or usual)]
    print(judged_table({"rows": records}))
    if dry_run:
        return 0
    others = [each for each in facts["records"] if each["part"] != part]
    facts = {"environment": environment(), "records": others + records}
    write_whole(store, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    return 0


def measured(facts: Facts) -> str:
    """Return the page's part on large data: the engines side by side, then everything else."""
    by_part: dict[str, list[Facts]] = {}
    for record in facts["records"]:
        by_part.setdefault(record["part"], []).append(record)
    of_engines = {part: by_part[part] for part in ENGINES if part in by_part}
    others = [record for part, each in by_part.items() if part not in ENGINES for record in each]
    machine = facts["environment"]
    commits = ", ".join(f"`{part}` {each[0]['commit']}" for part, each in by_part.items())
    parts = [
        f"Measured at the commits: {commits}; {machine['processors']} cores, Python "
        f"{machine['python']}, NumPy {machine['numpy']}.",
        *(engine_table(part, records) for part, records in of_engines.items()),
        *([judged_table({"rows": others})] if others else []),
    ]
    return "\n\n".join(parts)


def engine_table(part: str, records: list[Facts]) -> str:
    """Return an engine's figures, with a column for each kind of scores; misses are bold."""
    kinds = list(dict.fromkeys(record["scores"] for record in records))
    rows: dict[tuple[str, str], list[str]] = {}
    for record in records:
        shown = f"{record['value']:.3g}"
        goal = "–" if record["goal"] == LOOSE_MOST else record["goal"].replace("<=", "≤")
        cells = rows.setdefault((record["name"], goal), [])
        cells.append(shown if record["met"] else f"**{shown}**")
    title = f"{part}, {records[0]['n_rows']:,} rows"
    lines = [(name, *cells, goal) for (name, goal), cells in rows.items()]
    return table(f"{title} | {' | '.join(kinds)} | goal", lines)
