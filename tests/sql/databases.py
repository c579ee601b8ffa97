"""Databases that label a column of scores, each with one table of groups and scores.

A database is a function of an SQL expression, the kind of the column of scores, and its rows. It
returns the value of the expression for each row.
"""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import duckdb
import polars

KINDS = ("double", "float32", "decimal")


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(value):
    """Return a value of a row as SQL text, which every database turns into the column's type."""
    if value is None:
        return "NULL"
    return "'" + str(value).replace("'", "''") + "'"


def values_clause(rows, cast=""):
    return ", ".join(
        f"({number}, {literal(group)}, {literal(value)}{cast})"
        for number, (group, value) in enumerate(rows)
    )


def sqlite(expression, kind, rows, names=("site", "score")):
    """SQLite has doubles only, and NULL in place of NaN."""
    types = {"double": "real", "float32": "real", "decimal": "decimal(18, 6)"}
    site, score = map(quoted, names)
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"create table t (row integer, {site} text, {score} {types[kind]})")
        for number, (group, value) in enumerate(rows):
            stored = value if value is None or kind != "decimal" else str(value)
            base.execute("insert into t values (?, ?, ?)", (number, group, stored))
        return [label for (label,) in base.execute(f"select {expression} from t order by row")]


def duck(expression, kind, rows, names=("site", "score")):
    types = {"double": "double", "float32": "float", "decimal": "decimal(18, 6)"}
    site, score = map(quoted, names)
    with duckdb.connect() as base:
        base.execute(f"create table t (row integer, {site} varchar, {score} {types[kind]})")
        base.execute(f"insert into t values {values_clause(rows)}")
        found = base.execute(f"select {expression} from t order by row").fetchall()
    return [label for (label,) in found]


def duck_rows(query, rows):
    """Return the result of a query of labels, scores and weights as dicts."""
    table = f"(values {', '.join(map(str, rows))}) t (label, score, weight)"
    with duckdb.connect() as base:
        return base.sql(query.format(table=table)).to_arrow_table().to_pylist()


def polars_frame(expression, kind, rows, names=("site", "score")):
    types = {
        "double": polars.Float64,
        "float32": polars.Float32,
        "decimal": polars.Decimal(18, 6),
    }
    frame = polars.DataFrame(
        {
            names[0]: polars.Series([group for group, _ in rows], dtype=polars.String),
            names[1]: polars.Series([value for _, value in rows], dtype=types[kind]),
        }
    )
    return frame.select(polars.sql_expr(expression).alias("label"))["label"].to_list()


class Postgres:
    """A server of its own, in a temporary folder, that is reached by a socket in it."""

    def __init__(self):
        # Folders of pytest are closed to the server's user.
        self.folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self.programs = _find_postgres()
        # The server refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user is not None:
            shutil.chown(self.folder, self.user)
        self._run("initdb", "--no-sync", "--encoding=UTF8", "--locale=C", "-D", "data")
        settings = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", settings, "start")

    def stop(self):
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)

    def __call__(self, expression, kind, rows, names=("site", "score")):
        types = {"double": "double precision", "float32": "real", "decimal": "numeric(18, 6)"}
        site, score = map(quoted, names)
        values = values_clause(rows, f"::{types[kind]}")
        table = f"(values {values}) as t (row, {site}, {score})"
        return self._value(f"select json_agg({expression} order by row) from {table};")

    def rows_of(self, query, rows):
        """Return the result of a query of labels, scores and weights as dicts."""
        table = f"(values {', '.join(map(str, rows))}) as t (label, score, weight)"
        return self._value(f"select json_agg(x) from ({query.format(table=table)}) x;")

    def _value(self, query):
        return json.loads(
            self._run("psql", "-h", self.folder, "-d", "postgres", "-At", query=query)
        )

    def _run(self, program, *arguments, query=None):
        with (self.folder / "output").open("w+", encoding="utf-8") as output:
            # A pipe would stay open for as long as the server runs.
            subprocess.run(
                [self.programs / program, *arguments],
                cwd=self.folder,
                user=self.user,
                input=query,
                stdin=None if query is not None else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=False,
            ).check_returncode()
            output.seek(0)
            return output.read()


def _find_postgres():
    """Return the folder of the server's programs, None if there is no server."""
    installed = shutil.which("initdb")
    if installed is not None:
        return Path(installed).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return versions[-1].parent if versions else None


def has_postgres():
    return _find_postgres() is not None


def clickhouse(expression, kind, rows, names=("site", "score")):
    """ClickHouse as a library, chdb, which is too large for the tests' own environment."""
    import chdb

    types = {"double": "Float64", "float32": "Float32", "decimal": "Decimal(18, 6)"}
    site, score = map(quoted, names)
    columns = f"row Int32, s Nullable(String), v Nullable({types[kind]})"
    table = (
        f"(select row, s as {site}, v as {score} from values('{columns}', {values_clause(rows)}))"
    )
    query = f"select {expression} as label from {table} order by row"
    answer = str(chdb.query(query, "JSONCompactEachRow"))
    return [json.loads(line)[0] for line in answer.splitlines()]


def clickhouse_rows(query, rows):
    """Return the result of a query of labels, scores and weights as dicts."""
    import chdb

    columns = "label Int32, score Float64, weight Float64"
    table = f"values('{columns}', {', '.join(map(str, rows))})"
    answer = str(chdb.query(query.format(table=table), "JSONEachRow"))
    # Integers of 64 bits are written as text.
    return [
        {name: float(value) for name, value in json.loads(line).items()}
        for line in answer.splitlines()
    ]
