"""Attack every reader for some seconds: ``python tests/fuzz/run.py SECONDS [TARGET]``.

Each batch of attacks runs in a process of its own with bounded memory, so that a crash, a hang or
a flood is found and told with the seed that makes it again: ``python tests/fuzz/run.py --seed N
TARGET``.
"""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.fuzz.targets import TARGETS

_BATCH = 200
_MEMORY = 6 << 30
_LONGEST = 20  # seconds for one attack


def attack(target: str, first: int, count: int) -> int:
    """Run attacks with seeds from the first on, and return the exit code."""
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


def run(seconds: float, targets: list[str]) -> list[str]:
    """Attack each target for its share of the time; return what was found."""
    found = []
    attacks = 0
    for target in targets:
        end = time.monotonic() + seconds / len(targets)
        seed = random.randrange(10**9)
        while time.monotonic() < end and len(found) <= 20:
            command = [sys.executable, __file__, "--seed", str(seed), target, str(_BATCH)]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            seeds = [int(line) for line in done.stderr.splitlines() if line.isdigit()] or [seed]
            attacks += len(seeds)
            seed = seeds[-1] + 1
            if done.returncode:
                last = done.stderr.strip().splitlines()[-1][:200]
                found.append(f"{target}, seed {seeds[-1]}: {last}")
    print(f"{attacks} attacks, {len(found)} found", *found, sep="\n")
    return found


if __name__ == "__main__":
    first, *more = sys.argv[1:] or ["60"]
    if first == "--seed":
        seed, target, *count = more
        sys.exit(attack(target, int(seed), int(*count or [1])))
    sys.exit(bool(run(float(first), more or list(TARGETS))))
