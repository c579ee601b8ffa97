"""A problem of two classes."""

import pytest
from sklearn.datasets import make_classification


@pytest.fixture(scope="session")
def data():
    return make_classification(600, n_features=6, weights=[0.85], random_state=0)
