"""The benchmarks run, their pages have what is stored, and their second opinions are right."""

import json
from importlib import import_module

import numpy as np
import pytest

from boundshift import find_boundary
from boundshift.streaming import Tally
from lab.experiment import RESULTS
from lab.markdown import fill
from lab.speed import scale


@pytest.mark.filterwarnings("ignore")  # of few trees, and of boundaries that gain nothing
@pytest.mark.parametrize("name", ["speed", "training"])
def test_a_quick_benchmark_prints_its_table_and_stores_it(tmp_path, capsys, name):
    experiment = import_module(f"lab.speed.{name}").EXPERIMENT
    experiment.run(name, quick=True, out=tmp_path)
    printed = capsys.readouterr().out
    record = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert {"numpy", "scikit-learn", "processors"} <= set(record["environment"])
    assert all(row["name"] in printed and np.isfinite(row["value"]) for row in record["rows"])
    experiment.run(name, stored=True, out=tmp_path)
    assert capsys.readouterr().out == printed


def test_the_page_on_scale_is_made_from_the_stored_measurements():
    facts = json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))
    page = scale.PAGE.read_text(encoding="utf-8")
    assert fill(page, {"measured": scale.measured(facts)}) == page


def test_files_are_measured_and_compared_with_memory(tmp_path):
    scale.write_parquet(str(tmp_path), 20_000, "normal")
    expected = scale.in_memory(str(tmp_path))
    run = scale.read_engine(str(tmp_path), "parquet")
    about_answers = [
        row
        for row in scale.judge_engine(run, expected)
        if any(words in row.name for words in ("distance", "resolution", "counts", "passes"))
    ]
    assert len(about_answers) == 1 + 5 * len(scale.CASES)
    assert all(row.met for row in about_answers)


def test_stored_tallies_are_added_up(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "STORED_ROWS", 5_000)
    run = scale.add_stored(str(tmp_path), 20_000)
    assert run["rows"] == 20_000


def test_a_simulated_tally_is_as_large_as_a_real_one():
    tally = Tally.of([scale.draw(100_000, 0)])
    bins = sum(map(len, tally.classes.values()))
    assert scale.expected_bins(100_000) == pytest.approx(bins, rel=0.01)


def f1_at(y, p, threshold):
    flagged = p > threshold
    return 2 * np.sum(flagged & (y == 1)) / (np.sum(flagged) + np.sum(y == 1))


def test_f1_is_the_best_of_all_gaps_and_never_below_optimal_classification_cutoffs():
    cutoffs = pytest.importorskip("optimal_cutoffs")
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [100, 10 + seed])
        p = np.round(np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0.001, 0.999), 1 + seed % 3)
        ours = f1_at(y, p, find_boundary(y, p, curve="empirical", rule="f1").threshold)
        found = cutoffs.get_optimal_threshold(y, p, metric="f1", comparison=">")
        theirs = f1_at(y, p, float(np.ravel(found.thresholds)[0]))
        best = max(f1_at(y, p, threshold) for threshold in [-1.0, *p])
        assert ours == pytest.approx(best, abs=1e-12)
        assert ours >= theirs - 1e-12
