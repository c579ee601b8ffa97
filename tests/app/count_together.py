"""Processes that count into one monitor at the same moment: run as a script with a folder.

``python tests/app/count_together.py FOLDER PROCESSES ROUNDS``. In every round each process counts a
file of its own. The processes meet at a barrier before each round.
"""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path
from typing import Any

from boundshift._app.watch import watch_table


def count_in_rounds(folder: Path, number: int, rounds: int, barrier: Any) -> None:
    for round_number in range(rounds):
        file = folder / f"rows-{number}-{round_number}.csv"
        barrier.wait(timeout=60)
        watch_table(folder / "certificate.json", file, score="risk", label="ill")


def main(folder: str, processes: str, rounds: str) -> int:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(int(processes))
    workers = [
        context.Process(target=count_in_rounds, args=(Path(folder), number, int(rounds), barrier))
        for number in range(int(processes))
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return max(worker.exitcode for worker in workers)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
