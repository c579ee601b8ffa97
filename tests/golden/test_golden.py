"""Decisions and promises are those of the golden files.

`make test` asks one in eleven of the 500 problems of `golden.npz`, `make golden` (GOLDEN=all) all
of them. The requests of `requests.json.gz` are always asked. Run this file to write the latter
anew, for a change of answers that is meant and said in the CHANGELOG.
"""

import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.golden.freeze import GOLDEN, by_problem, differences
from tests.golden.problems import N_PROBLEMS, decide
from tests.golden.requests import FAMILIES, answer, difference

REQUESTS = Path(__file__).parent / "requests.json.gz"
PARTS = 11  # prime to the six shapes that problems take in turn
PARTS_ASKED = range(PARTS) if os.environ.get("GOLDEN") == "all" else [1]


@pytest.fixture(scope="module")
def golden():
    return by_problem(np.load(GOLDEN))


@pytest.fixture(scope="module")
def answers():
    return json.loads(gzip.decompress(REQUESTS.read_bytes()))


@pytest.mark.parametrize("part", PARTS_ASKED)
def test_decisions_are_those_of_the_golden_file(golden, part):
    said = [
        line
        for seed in range(part, N_PROBLEMS, PARTS)
        for line in differences(seed, golden[seed], decide(seed), 1e-9)
    ]
    assert said == []


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_those_of_the_golden_file(answers, family):
    said = [
        f"{name}: {what}"
        for name, ask, width in FAMILIES[family]()
        if (what := difference(answers[name], answer(ask), width))
    ]
    assert said == []


if __name__ == "__main__":
    kept: dict = {}
    for make in FAMILIES.values():
        for name, ask, _ in make():
            if name not in kept:  # the first of several sources is memory
                kept[name] = answer(ask)
    text = json.dumps(kept, separators=(",", ":"))
    REQUESTS.write_bytes(gzip.compress(text.encode(), mtime=0))
    sys.stdout.write(f"{len(kept)} answers\n")
