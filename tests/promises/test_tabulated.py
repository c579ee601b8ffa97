import numpy as np
import pytest

from boundshift import GMean, Metric
from boundshift.promises.tabulated import TabulatedRule


@pytest.mark.parametrize("rule", [GMean(tolerance=0), Metric("f1")])
def test_between_the_nodes_it_is_near_the_rule(rule) -> None:
    rng = np.random.default_rng(0)
    table = TabulatedRule.near(rule, (2000, 200), (0.1, 0.2))
    at = rng.uniform(0.08, 0.12, 20), rng.uniform(0.15, 0.25, 20)
    exact = rule.value(*at, (2000, 200))
    assert table.value(*at, (2000, 200)) == pytest.approx(exact, abs=2e-3)


def test_beyond_the_grid_it_keeps_rising() -> None:
    table = TabulatedRule.near(GMean(tolerance=0), (200, 200), (0.1, 0.1))
    values = table.value(np.array([0.1, 0.5, 0.9]), np.array([0.1, 0.1, 0.1]), (200, 200))
    assert np.all(np.diff(values) > 0)
