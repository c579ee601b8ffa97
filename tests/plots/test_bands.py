"""Exact bands hold what they say, for every metric, and stand at the corners."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift import Cost, InvalidInputError
from boundshift.metrics import METRICS, metrics_of_errors
from boundshift.plots import MetricDisplay
from boundshift.plots.threshold import error_band, metric_bands

RUNS = 2000
SETTINGS = {"prevalence": 0.05, "costs": Cost(false_negative=7), "odds": 1 / 7}


@pytest.mark.parametrize(("n", "errors"), [((60, 12), (0.1, 0.2)), ((400, 30), (0.02, 0.6))])
def test_the_band_of_every_metric_covers_at_least_nominally(n, errors):
    rng = np.random.default_rng(0)
    wrong = tuple(rng.binomial(size, p, RUNS) for size, p in zip(n, errors, strict=True))
    true = metrics_of_errors(*errors, n, **SETTINGS)
    bands = metric_bands(wrong, n, METRICS, confidence=0.9, **SETTINGS)
    for name, band in bands.items():
        inside = np.mean((band.low <= true[name] + 1e-12) & (true[name] <= band.high + 1e-12))
        assert inside >= 0.9 - 2 * (0.09 / RUNS) ** 0.5, name


@given(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    st.floats(0.001, 0.999),
)
def test_no_pair_of_errors_inside_has_a_metric_outside(negative, positive, prevalence):
    n, wrong = (negative[0], positive[0]), (np.array([negative[1]]), np.array([positive[1]]))
    settings = SETTINGS | {"prevalence": prevalence}
    bands = metric_bands(wrong, n, METRICS, confidence=0.9, **settings)
    ends = [error_band(k, size, 0.9**0.5) for k, size in zip(wrong, n, strict=True)]
    # Just inside: where no row is flagged, or all are, some metrics jump by convention.
    first, second = (np.clip(np.linspace(e.low[0], e.high[0], 9), 1e-9, 1 - 1e-9) for e in ends)
    inside = metrics_of_errors(*np.meshgrid(first, second), n, **settings)
    for name in set(METRICS) - {"recall", "specificity"}:
        assert bands[name].low[0] <= inside[name].min() + 1e-6
        assert inside[name].max() <= bands[name].high[0] + 1e-6


def test_unknown_metrics_are_refused():
    y, scores = [0, 0, 1, 1], [0, 1, 2, 3]
    assert list(MetricDisplay.from_predictions(y, scores, metrics="f1").bands) == ["f1"]
    with pytest.raises(InvalidInputError, match="`metrics` must be one of"):
        MetricDisplay.from_predictions(y, scores, metrics=["f3"])
