"""Candidates for the default decide as the curves of the package do, on a grid of thresholds."""

import numpy as np
import pandas as pd
import pytest

from boundshift import find_boundary
from boundshift._scores import ScoreSample
from boundshift.curves import Blend, Logistic
from lab.benchmark.choose import CANDIDATES, EXPERIMENT, RULES, value_of

CURVES = {"two weights": Blend(), "two weights, 20 rows": Blend(20), "logistic": Logistic()}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("digits", [0, 9], ids=["repeated", "distinct"])
def test_a_candidate_decides_as_the_curve_of_the_package(name, digits):
    random = np.random.default_rng(1)
    y = np.repeat([0, 1], [400, 12])
    scores = (random.normal(size=412) + 2 * y).round(digits)
    thresholds = CANDIDATES[name].decide(ScoreSample.from_labels(y, scores))
    for goal, rule in RULES.items():
        expected = find_boundary(y, scores, curve=CURVES[name], rule=rule, scale="raw").threshold
        assert thresholds[goal] == pytest.approx(expected, abs=0.003)


def test_the_end_of_a_gap_is_that_of_the_larger_class():
    y = np.repeat([0, 1], [40, 12])
    scores = np.where(np.arange(52) % 4 == 0, 1 - y, y).astype(float)
    for labels, expected in ((y, 0.0), (1 - y, np.nextafter(0.0, -1))):
        signed = scores if labels is y else -scores
        sample = ScoreSample.from_labels(labels, signed)
        ends = CANDIDATES["end of the gap, few scores"].decide(sample)
        assert ends["g-mean"] == expected
        assert abs(CANDIDATES["two weights"].decide(sample)["g-mean"]) == 0.5


def test_the_cost_is_relative_to_the_better_constant_decision():
    assert value_of("cost", 1.0, 0.0, 0.01) == pytest.approx(0.0)
    assert value_of("cost", 0.0, 1.0, 0.4) == pytest.approx(0.0)
    assert value_of("cost", 1.0, 1.0, 0.2) == pytest.approx(1.0)


def test_a_quick_run_fills_its_page(tmp_path, monkeypatch):
    monkeypatch.setattr("lab.benchmark.choose.CACHE", tmp_path / "scores")
    EXPERIMENT.run("choose", quick=True, out=tmp_path)
    stored = EXPERIMENT.read(tmp_path / "choose.json")
    assert set(pd.DataFrame(stored["rows"])["candidate"]) == set(CANDIDATES)
    page = (tmp_path / "choose.md").read_text(encoding="utf-8")
    assert all(text in page for text in EXPERIMENT.tables(stored).values())
