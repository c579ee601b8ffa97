"""Decisions and promises are those of the golden files, whatever becomes of the code.

`make test` asks one question in 37, `make golden` (GOLDEN=all) all 12,800. Run this file to write
both golden files anew, for a change of answers that is meant and said in the CHANGELOG.
"""

import gzip
import json
import os
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden.problems import N_PROBLEMS, SHAPES, decide, draw_problem, told, ways
from tests.golden.requests import FAMILIES, answer, difference, step

FOLDER = Path(__file__).parent
DECISIONS = FOLDER / "golden.npz"
REQUESTS = FOLDER / "requests.json.gz"
# Prime to the six shapes, the six or seven rules and the three curves that take turns.
STRIDE = 1 if os.environ.get("GOLDEN") == "all" else 37


@pytest.fixture(scope="module")
def decisions():
    table = np.load(DECISIONS)
    keys = zip(table["seed"].tolist(), table["way"].tolist(), strict=True)
    answers = zip(table["numbers"].tolist(), table["status"].tolist(), strict=True)
    return dict(zip(keys, answers, strict=True))


@pytest.fixture(scope="module")
def answers():
    return json.loads(gzip.decompress(REQUESTS.read_bytes()))


@pytest.mark.parametrize("part", range(len(SHAPES)), ids=SHAPES)
def test_decisions_are_those_of_the_golden_file(decisions, part):
    said = []
    questions = (
        (seed, way, given)
        for seed in range(part, N_PROBLEMS, len(SHAPES))
        for way, given in ways(seed)
    )
    for seed, way, given in islice(questions, part, None, STRIDE):
        (threshold, *errors), status = decisions[seed, way]
        found = decide(seed, given)
        width = float(np.ptp(draw_problem(seed)[1])) or 1.0
        is_near = abs(found.threshold - threshold) <= step(threshold, width)
        is_same = np.max(np.abs(np.subtract(found.errors, errors))) <= 1e-9
        if told(found) != status or not (is_near and is_same):
            said.append(f"{seed} {way}: {threshold, *errors, status} became {found!r}")
    assert said == []


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_those_of_the_golden_file(answers, family):
    said = [
        f"{name}: {what}"
        for name, ask, width in islice(FAMILIES[family](), 0, None, STRIDE)
        if (what := difference(answers[name], answer(ask), width))
    ]
    assert said == []


def main():
    rows = [
        (seed, way, found.threshold, *found.errors, told(found))
        for seed in range(N_PROBLEMS)
        for way, given in ways(seed)
        for found in [decide(seed, given)]
    ]
    seed, way, *numbers, status = (np.array(column) for column in zip(*rows, strict=True))
    table = {"seed": seed.astype(np.int16), "way": way, "status": status}
    np.savez_compressed(DECISIONS, **table, numbers=np.stack(numbers, axis=1))
    kept: dict = {}
    for make in FAMILIES.values():
        for name, ask, _ in make():
            kept[name] = answer(ask)
    text = json.dumps(kept, separators=(",", ":"))
    REQUESTS.write_bytes(gzip.compress(text.encode(), mtime=0))
    sys.stdout.write(f"{len(rows)} decisions, {len(kept)} answers\n")


if __name__ == "__main__":
    main()
