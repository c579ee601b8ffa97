"""The page of measurements of data bigger than memory: every figure beside its goal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.evidence.evidence import table
from lab.speed.digest import digest_code
from lab.speed.scale_model import model_text

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


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
    exact = [run for run in compared if not run["resolution"]]
    coarse = [run for run in compared if run["resolution"]]
    if exact:
        worst = max(run["distance from memory"] for run in exact)
        at_most("all: distance from the boundary in memory, of the range", worst, 1e-9)
        same = sum(run["same counts"] for run in exact)
        rows.append(("all: runs with other counts", "≤ 0", len(exact) - same, same == len(exact)))
    if coarse:  # Smooth curves are decided on cells, and state how wide these are.
        worst = max(run["distance from memory"] for run in coarse)
        at_most("on cells: distance from the boundary in memory, of the range", worst, 1e-6)
    return rows


def older(facts: dict[str, Any], commands: Iterable[str]) -> str:
    """Return what to say of measurements that are not of this code, nothing if all are."""
    code, commands = digest_code(), list(commands)
    stale = [
        f"`{name}`" for name in commands if facts.get(name, {"code": code}).get("code") != code
    ]
    missing = [f"`{name}`" for name in commands if name not in facts]
    said = f"Measured with earlier code of the engines: {', '.join(stale)}. " if stale else ""
    said += f"Not measured yet: {', '.join(missing)}. " if missing else ""
    return said.rstrip() + "\n\n" if said else ""


def page(facts: dict[str, Any], commands: Iterable[str]) -> str:
    """Return the page of the documentation."""
    goals = [(n, g, float(f"{v:.3g}"), "yes" if met else "no") for n, g, v, met in judged(facts)]
    lines = [
        TOP,
        table(["", "goal", "measured", "met"], [(n, g, f"{v:g}", m) for n, g, v, m in goals]),
    ]
    if "scaling" in facts:
        lines.append(model_text(facts["scaling"]["model"]))
    machine = facts.get("environment", {})
    lines[0] = TOP.replace("## Measured", older(facts, commands) + "## Measured")
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

Both take `curve`, `rule` and `pos_label`. Their boundary lies in the same gap between scores as
that of the same rows in memory, or within the `resolution` that it states. As in memory, labels
that are words need `pos_label` where the rule does not treat both classes alike.

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

1. The first pass counts the rows of each class in about a hundred thousand cells, and adds up their
   scores. The cells are of equal width where most of the first rows lie and grow in the tails, so
   no range has to be known before. What is found in different rows can be merged in any order.
2. Smooth curves (`blend`, `smoothed`, `logistic`, `student-t`) are decided on these cells as
   weighted points: one pass. Their `resolution` is how far the boundary may lie from that of the
   same rows in memory, a sixteenth of a cell's width; at 300,000 rows and more that is at most a
   hundred-thousandth of the standard deviation within the classes. Rows in the cell of the boundary
   count by their mean, so `wrong` may be off by some of these. A cell with a thousandth of a class
   may hide a score that repeats: it is looked into first, which takes a second pass.
3. Curves that count rows, certificates and zones stay exact. An answer from inside a cell is an
   estimate, and the cell is put on a list of open questions.
4. The next pass answers the questions: it collects the scores of small cells one by one, and cuts
   large cells finer. A decision that leaves no question open is the decision of the sorted scores,
   and its `resolution` is 0. This takes two or three passes for most data. With `max_passes` it may
   take fewer; `resolution` is then the width of the widest range of scores that was left open.

Spark counts the first pass by one groupBy of its own. Rows in the tails, rows that cannot be used
and those of a second look are read by Python on its workers, by `mapInArrow`. DuckDB and Polars
bring their rows in batches that Python counts, which takes less time than their own grouping by as
many cells. What DuckDB reads, files, folders, attached databases and remote tables, needs nothing
else.

Sums are added in another order than in memory, which matters in the last digits only. Where a rule
is flat around its minimum, these digits decide where in the flat part the boundary lies.

Every pass must see the same rows. So a generator is refused: give a function that makes the chunks
again. Rows that are drawn anew in each pass are noticed where their counts differ. Dask, Spark,
Polars and DuckDB compute a lazy frame or relation anew in each pass: use `persist()`, `cache()`,
`collect()` or a table first where that is expensive.

## Measured"""
