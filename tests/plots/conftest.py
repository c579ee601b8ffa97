import numpy as np
import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [300, 30])
    return y, rng.normal(3.0 * y)
