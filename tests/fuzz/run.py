"""Attack every reader for some seconds: ``python tests/fuzz/run.py SECONDS [TARGET]``.

Each batch of attacks runs in a process of its own with bounded memory, so that a crash, a hang or
a flood is found and told with the seed that makes it again: ``python tests/fuzz/run.py --seed N
TARGET``.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path

_BATCH = 200
_MEMORY = 6 << 30
_LONGEST = 20  # seconds for one attack


def attack(target: str, first: int, count: int) -> int:
    """Run attacks with seeds from the first on, and return the exit code."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.targets import TARGETS

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("ignore")
    for seed in range(first, first + count):
        print(seed, file=sys.stderr, flush=True)
        # The first one trains what is attacked.
        signal.alarm(_LONGEST if seed > first else 10 * _LONGEST)
        try:
            TARGETS[target](random.Random(seed))
        except Exception:
            traceback.print_exc()
            return 1
        signal.alarm(0)
    return 0


def run(seconds: float, targets: list[str], first: int = 0) -> tuple[int, list[str]]:
    """Attack each target for its share of the time; return the attacks and what they found."""
    attacks, found = 0, []
    for target in targets:
        end = time.monotonic() + seconds / len(targets)
        seed = first
        while time.monotonic() < end:
            command = [sys.executable, __file__, "--seed", str(seed), "--count", str(_BATCH)]
            result = subprocess.run(
                [*command, target], capture_output=True, text=True, check=False, errors="replace"
            )
            seeds = [line for line in result.stderr.splitlines() if line.isdigit()]
            attacks += len(seeds)
            if result.returncode:
                last = result.stderr.strip().splitlines()[-1][:200]
                found.append(f"{target}, seed {seeds[-1] if seeds else seed}: {last}")
                seed = int(seeds[-1]) + 1 if seeds else seed + 1
            else:
                seed += _BATCH
            if len(found) > 20:
                return attacks, found
    return attacks, found


def main() -> int:
    """Run one batch, or all targets for some time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int, default=1)
    given = parser.parse_args()
    if given.seed is not None:
        return attack(" ".join(given.words), given.seed, given.count)
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.targets import TARGETS

    seconds = float(given.words[0]) if given.words else 60
    targets = [" ".join(given.words[1:])] if len(given.words) > 1 else list(TARGETS)
    attacks, found = run(seconds, targets, first=random.randrange(10**9))
    print(f"{attacks} attacks, {len(found)} found")
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
