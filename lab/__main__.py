"""``python -m lab NAME`` runs an experiment of the laboratory."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

CLAIMS = ("coverage", "deployed", "floors", "zones", "monitor", "interval", "rows_as_they_come")
EXPERIMENTS = {name: f"lab.claims.{name}" for name in (*CLAIMS, "fresh", "dated", "models")} | {
    name: f"lab.speed.{name}" for name in ("speed", "training")
}
SCRIPTS = {
    "demo": "lab.demo",
    "scale": "lab.speed.scale",
}
# Said here, so that the demo needs no more than it imports.
SCALE = ("files", "parquet", "command", "duckdb", "polars", "dask", "spark", "scaling", "page")
PROBLEMS = ("synthetic", "pima", "breast-cancer", "hepatitis", "heart", "mimic", "all")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return 1 where a goal is missed or input is wrong."""
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    commands = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, module in EXPERIMENTS.items():
        _add_experiment(commands.add_parser(name, help=f"see {module}"))
    _add_experiment(commands.add_parser("evidence", help="every claim of docs/evidence"))
    command = commands.add_parser("demo", help="the paper's synthetic problem, in seconds")
    command.add_argument("--out", type=Path, default=Path("out/demo.png"), help="figure to write")
    command.add_argument("--seed", type=int, default=0, help="seed of the draw shown")
    _add_scale(commands.add_parser("scale", help="data bigger than memory"))
    _add_reproduce(commands.add_parser("reproduce", help="every table and figure of the paper"))
    command = commands.add_parser("publish", help="put a reproduction's tables into the docs")
    command.add_argument("folder", type=Path, help="where `reproduce` wrote its rows")
    _add_suite(commands.add_parser("suite", help="methods compared on real imbalanced data"))
    options = vars(parser.parse_args(arguments))
    name = options.pop("name")
    try:
        return _run(name, options)
    except _known_errors() as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1


def _known_errors() -> Any:
    from boundshift.exceptions import InvalidInputError, MissingExtraError

    return InvalidInputError, MissingExtraError


def _run(name: str, options: dict[str, Any]) -> int:
    if name in SCRIPTS:
        return int(import_module(SCRIPTS[name]).main(**options))
    if name == "publish":
        return int(import_module("lab.reproduction.run").publish(**options))
    if name in ("reproduce", "suite"):
        start = time.perf_counter()
        module = import_module("lab.reproduction.run" if name == "reproduce" else "lab.suite.run")
        function = module.reproduce if name == "reproduce" else module.run_suite
        done = function(**options, progress=_show)
        print("\n".join(map(str, done.files)))
        print(f"{len(done.rows)} rows in {time.perf_counter() - start:.1f} s")
        return 0
    met = [
        import_module(EXPERIMENTS[each]).EXPERIMENT.run(each, **options)
        for each in (CLAIMS if name == "evidence" else (name,))
    ]
    return 0 if all(met) else 1


def _show(what: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{what} {done}/{total} ", end="" if done < total else "\n", file=sys.stderr)


def _add_experiment(command: argparse.ArgumentParser) -> None:
    command.add_argument("--quick", action="store_true", help="a small part, in seconds")
    command.add_argument("--out", type=Path, help="folder for facts and page, instead of the docs")
    command.add_argument("--stored", action="store_true", help="the page again, from stored facts")


def _add_scale(command: argparse.ArgumentParser) -> None:
    command.add_argument("part", choices=SCALE, help="what to measure")
    command.add_argument("--rows", type=int, help="rows to measure with")


def _add_reproduce(command: argparse.ArgumentParser) -> None:
    command.add_argument("problem", nargs="?", default="all", choices=PROBLEMS)
    command.add_argument("--slack", default="binary", choices=("binary", "continuous"))
    command.add_argument(
        "--protocol", default="honest", choices=("honest", "paper"),
        help="honest: every seed kept; paper: the authors' seeds until N are solved",
    )  # fmt: skip
    command.add_argument("--seeds", type=int, help="how many; 30 for honest, 10 for paper")
    command.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    command.add_argument("--out", type=Path, default=Path("out/reproduction"))
    command.add_argument("--mimic-file", type=Path, help="your fm_MIMIC_IMPUTED_extended.csv")
    command.add_argument(
        "--mimic-rows", default="paper", choices=("paper", "all"),
        help="all: for a file without resampled copies",
    )  # fmt: skip
    command.add_argument("--no-figures", action="store_false", dest="figures")


def _add_suite(command: argparse.ArgumentParser) -> None:
    many: dict[str, Any] = {"action": "append"}
    command.add_argument(
        "--suite", dest="size", default="quick", choices=("quick", "full"),
        help="quick: a small set of each family; full: all, three splits",
    )  # fmt: skip
    command.add_argument("--models", **many, help="which models; default all; may be repeated")
    command.add_argument("--methods", **many, help="names or patterns: 'tuned/*', '!*sum*'")
    command.add_argument("--half", default="both", choices=("choose", "report", "both"))
    command.add_argument(
        "--rare", type=int, **many,
        help="minority rows to train on: 0 for all, 5, 10, 20, 50, 100, 200; may be repeated",
    )  # fmt: skip
    command.add_argument("--splits", type=int, help="splits of each set")
    command.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    command.add_argument("--out", type=Path, default=Path("out/suite"))


if __name__ == "__main__":
    sys.exit(main())
