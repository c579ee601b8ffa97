import itertools
import statistics
from dataclasses import replace

import numpy as np
import pytest

from lab.reproduction.rows import Row
from lab.reproduction.summary import Results, compare

ROW = Row("paper", "binary", "pima", 0, "untouched", True, "DECIDED", True)


def _rows():
    values = [0.5, 0.7, 0.6, 0.9]
    return [replace(ROW, seed=i, g_mean=v, kept=i != 3) for i, v in enumerate(values)]


def test_means_count_only_kept_seeds():
    mean = Results(_rows()).mean("pima", "untouched", "g_mean")
    assert mean.mean == pytest.approx(0.6)
    assert mean.sd == pytest.approx(statistics.stdev([0.5, 0.7, 0.6]))
    assert mean.standard_error == pytest.approx(mean.sd / 3**0.5)


def test_failures_are_counted_and_have_no_mean():
    failed = replace(ROW, seed=9, status="FAILED", solved=False)
    results = Results([*_rows(), failed])
    assert results.mean("pima", "untouched", "g_mean").n == 3
    assert results.counts("pima", "untouched") == (5, 4, 4, 1)


def test_the_best_method_has_the_highest_mean():
    better = [replace(r, method="smote", g_mean=r.g_mean + 0.01) for r in _rows()]
    results = Results([*_rows(), *better])
    assert results.best("pima", ["untouched", "smote"], "g_mean") == "smote"


def test_p_value_is_near_the_exact_one():
    rng = np.random.default_rng(0)
    difference = rng.normal(0.4, 1, 12)
    ranks = np.argsort(np.argsort(np.abs(difference))) + 1
    seen = ranks[difference > 0].sum()
    middle = ranks.sum() / 2
    signs = np.array(list(itertools.product([0, 1], repeat=12)))
    exact = np.mean(np.abs(signs @ ranks - middle) >= abs(seen - middle))
    assert compare(difference, np.zeros(12)).p_value == pytest.approx(exact, abs=0.03)


def test_equal_methods_do_not_differ():
    pair = compare(np.array([0.1, 0.2]), np.array([0.1, 0.2]))
    assert (pair.p_value, pair.ties, pair.difference.mean) == (1.0, 2, 0.0)


def test_failed_seeds_are_left_out_of_pairs():
    pair = compare(np.array([0.5, np.nan, 0.7]), np.array([0.4, 0.1, np.nan]))
    assert (pair.wins, pair.ties, pair.losses) == (1, 0, 0)
