import statistics
from dataclasses import replace

import pytest

from lab.reproduction.rows import Row
from lab.reproduction.summary import Results

ROW = Row(
    protocol="paper", slack_kind="binary", problem="pima", seed=0, method="untouched",
    kept=True, status="DECIDED", solved=True,
)  # fmt: skip


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
