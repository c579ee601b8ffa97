from dataclasses import replace
from pathlib import Path

import pytest

from lab.suite.rows import SuiteRow
from lab.suite.train import Fit, FittedSplit, SuiteCache


@pytest.fixture(scope="session")
def store(tmp_path_factory) -> SuiteCache:
    return SuiteCache(Path(tmp_path_factory.mktemp("suite")))


@pytest.fixture(scope="session")
def fitted_of(store):
    """Scores of a small data set, trained once a session."""

    def make(model: str, dataset: str = "new_thyroid1") -> FittedSplit:
        return store.scores(Fit(dataset, model, 0))

    return make


_ROW = SuiteRow(
    dataset="a1", family="a", model="logistic", seed=0, method="smote", half="report",
    n_minority=30, auc=0.9, status="DECIDED", solved=True,
)  # fmt: skip


@pytest.fixture(scope="session")
def row():
    """Make a row in which only what matters to a test is said."""
    return lambda **values: replace(_ROW, **values)
