"""Write the golden file, or compare the code with one: `python tests/golden/freeze.py --help`.

The file that is kept was made on one machine, and processors differ in the last bits, so the
tests compare with it to 1e-9. To see that a commit equals its parent to the last bit, write a file
of the parent on this machine and compare with ``--exact``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden.problems import N_PROBLEMS, Answer, decide, draw_problem

GOLDEN = Path(__file__).parent / "golden.npz"


def freeze() -> dict[str, np.ndarray]:
    """Decide all problems in all ways and return numbers and states by way."""
    with ProcessPoolExecutor() as pool:
        answers = list(pool.map(decide, range(N_PROBLEMS), chunksize=10))
    rows = [(seed, way, *a) for seed, by_way in enumerate(answers) for way, a in by_way.items()]
    seed, way, threshold, negative, positive, status = (
        np.array(c) for c in zip(*rows, strict=True)
    )
    numbers = np.stack([threshold, negative, positive], axis=1)
    return {"seed": seed.astype(np.int16), "way": way, "numbers": numbers, "status": status}


def by_problem(table: Mapping[str, np.ndarray]) -> dict[int, dict[str, Answer]]:
    """Return the answers of a golden table by problem and way."""
    answers: dict[int, dict[str, Answer]] = {}
    columns = (table["seed"], table["way"], table["numbers"], table["status"])
    for seed, way, numbers, status in zip(*columns, strict=True):
        answers.setdefault(int(seed), {})[str(way)] = Answer(*numbers.tolist(), str(status))
    return answers


def differences(
    seed: int, expected: dict[str, Answer], found: dict[str, Answer], tolerance: float
) -> list[str]:
    """Return a sentence for each way whose answer differs, or that only one of both knows.

    Thresholds are compared in units of the scores' range, claimed errors as they are.
    """
    said = [f"{seed} {way}: known to one of both only" for way in sorted({*expected} ^ {*found})]
    width = float(np.ptp(draw_problem(seed)[1])) or 1.0
    for way in sorted({*expected} & {*found}):
        old, new = expected[way], found[way]
        moved = max(abs(old.negative - new.negative), abs(old.positive - new.positive))
        moved = max(moved, abs(old.threshold - new.threshold) / width)
        if old.status != new.status or not moved <= tolerance:
            said.append(f"{seed} {way}: {old} became {new}")
    return said


def main() -> int:
    """Write or compare; exit 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the answers of this code here")
    parser.add_argument("--compare", type=Path, default=GOLDEN, help="a file written before")
    parser.add_argument("--exact", action="store_true", help="to the last bit, not to 1e-9")
    given = parser.parse_args()
    found = freeze()
    if given.out:
        np.savez_compressed(given.out, **found)
        return 0
    expected, answers = by_problem(np.load(given.compare)), by_problem(found)
    said = [
        line
        for seed in range(N_PROBLEMS)
        for line in differences(seed, expected[seed], answers[seed], 0.0 if given.exact else 1e-9)
    ]
    print("\n".join(said[:50]) or "no difference", f"({len(said)} differences)", sep="\n")
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
