"""Displays of awkward scores: tiny classes, ties, constants, huge and tiny numbers."""

from itertools import product

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from boundshift.plots import (
    BoundaryDisplay,
    CostDisplay,
    MetricDisplay,
    ProjectionDisplay,
)

AWKWARD = {
    "one row each": ([0.0], [1.0]),
    "all alike": ([1.0, 1.0, 1.0], [1.0, 1.0]),
    "alike within": ([0.0] * 5, [1.0] * 3),
    "huge": ([1e300, 2e300, 3e300], [5e300, 6e300]),
    "tiny": ([1e-300, 2e-300, 3e-300], [5e-300, 6e-300]),
    "large offset": ([1e9, 1e9 + 1, 1e9 + 2], [1e9 + 5, 1e9 + 6]),
    "reversed": ([5.0, 6.0, 7.0], [0.0, 1.0]),
    "outlier": ([0.0, 1.0, 2.0, 1e12], [4.0, 5.0, 6.0]),
    "probabilities at the ends": ([0.0, 0.0, 0.1, 1.0], [1.0, 1.0, 0.0, 0.9]),
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize(
    ("display", "curve"),
    [
        *product([ProjectionDisplay, BoundaryDisplay], ["logistic", "support", "clopper-pearson"]),
        (MetricDisplay, None),
        (CostDisplay, None),
    ],
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_awkward_scores_are_drawn(name, display, curve):
    negative, positive = AWKWARD[name]
    y = np.repeat([0, 1], [len(negative), len(positive)])
    figure = Figure(layout="constrained")
    shown = display.from_predictions(y, [*negative, *positive], curve=curve, ax=figure.subplots())
    FigureCanvasAgg(figure).draw()
    low, high = shown.ax_.get_xlim()
    assert low < shown.boundary.threshold < high
