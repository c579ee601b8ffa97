"""Each reader of bytes attacked a few hundred times; ``make fuzz`` does it for an hour."""

import random

import pytest

from tests.fuzz.targets import TARGETS

ATTACKS = {"skops": 60, "fit folder": 30, "records": 450}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", TARGETS)
def test_only_a_sentence_or_a_right_answer_comes_out(target):
    for seed in range(ATTACKS.get(target, 150)):
        TARGETS[target](random.Random(seed))
