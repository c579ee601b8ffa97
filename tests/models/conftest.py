"""Problems of two and of three classes, most of them drawn by each file's own `draw`."""

import pytest
from sklearn.datasets import make_classification


@pytest.fixture(scope="module", params=[2, 3])
def problem(request):
    return request.module.draw(request.param)


@pytest.fixture(scope="module")
def two(request):
    return request.module.draw(2)


@pytest.fixture(scope="session")
def data():
    return make_classification(600, n_features=6, weights=[0.85], random_state=0)


@pytest.fixture(scope="session")
def three():
    return make_classification(
        600, n_features=6, n_informative=5, n_redundant=0, n_classes=3, weights=[0.7, 0.2],
        random_state=0,
    )  # fmt: skip
