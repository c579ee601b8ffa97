from pathlib import Path

import pytest

from lab.suite.cache import Fit, SuiteCache
from lab.suite.fitted import FittedSplit
from lab.suite.models import MODELS


@pytest.fixture(scope="session")
def store(tmp_path_factory) -> SuiteCache:
    return SuiteCache(Path(tmp_path_factory.mktemp("suite")))


@pytest.fixture(scope="session")
def fitted_of(store):
    """Scores of a small data set, trained once a session."""

    def make(model: str, dataset: str = "new_thyroid1") -> FittedSplit:
        return FittedSplit(store.make(Fit(dataset, model, 0)), MODELS[model].kind)

    return make
