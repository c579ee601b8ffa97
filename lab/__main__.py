"""``python -m lab NAME`` runs an experiment of the laboratory."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

EVIDENCE = (
    "coverage", "deployed", "floors", "zones", "monitor", "interval", "rows_as_they_come",
    "few_labels", "audits", "next_site", "over_time", "peers", "models", "training",
)  # fmt: skip
"""What ``make evidence`` runs. Speed needs a quiet machine, and the benchmark another hour."""

EXPERIMENTS = {name: f"lab.claims.{name}" for name in EVIDENCE}
EXPERIMENTS |= {name: f"lab.speed.{name}" for name in ("speed", "training")}
EXPERIMENTS |= {"benchmark": "lab.benchmark.run", "choose": "lab.benchmark.choose"}
FUNCTIONS = {
    "demo": "lab.demo:main",
    "scale": "lab.speed.scale:main",
    "publish": "lab.reproduction.run:publish",
    "reproduce": "lab.reproduction.run:reproduce",
}
# Said here, so that the demo needs no more than it imports.
SCALE = ("parquet", "duckdb", "polars", "dask", "spark", "merge", "command", "simulate", "page")
PROBLEMS = ("synthetic", "pima", "breast-cancer", "hepatitis", "heart", "mimic", "all")


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it must be a whole number of at least 1, got {text}")
    return int(text)


def folder(text: str) -> Path:
    """Read the name of a folder that may be new."""
    if Path(text).is_file():
        raise argparse.ArgumentTypeError(f"it must be a folder, got the file {text}")
    return Path(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return 1 where a goal is missed or input is wrong."""
    from boundshift.exceptions import InvalidInputError, MissingExtraError

    options = vars(_parser().parse_args(arguments))
    name = options.pop("name")
    failed = False
    for each in EVIDENCE if name == "evidence" else (name,):
        try:
            if each in FUNCTIONS:
                return _call(each, options)
            experiment = import_module(EXPERIMENTS[each]).EXPERIMENT
            failed |= not experiment.run(each, **options)
        except (InvalidInputError, MissingExtraError) as error:
            print(f"Error: {each}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


def _call(name: str, options: dict[str, Any]) -> int:
    module, _, function = FUNCTIONS[name].partition(":")
    start = time.perf_counter()
    done = getattr(import_module(module), function)(**options)
    if isinstance(done, int):
        return done
    print("\n".join(map(str, done.files)))
    print(f"{len(done.rows)} rows in {time.perf_counter() - start:.1f} s")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    commands = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    everything = {name: f"see {module}" for name, module in EXPERIMENTS.items()}
    for name, about in (everything | {"evidence": "all of lab/docs/evidence, in hours"}).items():
        command = commands.add_parser(name, help=about)
        command.add_argument("--quick", action="store_true", help="a small part, in seconds")
        command.add_argument("--out", type=folder, help="for facts and page, instead of the docs")
        command.add_argument("--stored", action="store_true", help="the page, from stored facts")
    command = commands.add_parser("demo", help="the paper's synthetic problem, in seconds")
    command.add_argument("--out", type=Path, default=Path("out/demo.png"), help="figure to write")
    command.add_argument("--seed", type=int, default=0, help="seed of the draw shown")
    command = commands.add_parser("scale", help="data bigger than memory")
    command.add_argument("part", choices=SCALE, help="what to measure")
    command.add_argument("--rows", type=count, help="rows to measure with")
    command.add_argument("--dry-run", action="store_true", help="print the figures, store nothing")
    command = commands.add_parser("publish", help="put a reproduction's tables into the docs")
    command.add_argument("folder", type=Path, help="where `reproduce` wrote its rows")
    _add_reproduce(commands.add_parser("reproduce", help="every table and figure of the paper"))
    return parser


def _add_reproduce(command: argparse.ArgumentParser) -> None:
    command.add_argument("problem", nargs="?", default="all", choices=PROBLEMS)
    command.add_argument("--slack", default="binary", choices=("binary", "continuous"))
    command.add_argument(
        "--protocol", default="honest", choices=("honest", "paper"),
        help="honest: every seed kept; paper: the authors' seeds until N are solved",
    )  # fmt: skip
    command.add_argument("--seeds", type=count, help="how many; 30 for honest, 10 for paper")
    command.add_argument("--jobs", type=count, default=2, help="trainings at a time")
    command.add_argument("--out", type=folder, default=Path("out/reproduction"))
    command.add_argument("--mimic-file", type=Path, help="your fm_MIMIC_IMPUTED_extended.csv")
    command.add_argument(
        "--mimic-rows", default="paper", choices=("paper", "all"),
        help="all: for a file without resampled copies",
    )  # fmt: skip
    command.add_argument("--no-figures", action="store_false", dest="figures")


if __name__ == "__main__":
    sys.exit(main())
