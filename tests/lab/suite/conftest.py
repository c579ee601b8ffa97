from dataclasses import replace

import pytest

from lab.suite.data import load_rows, split
from lab.suite.rows import SuiteRow
from lab.suite.train import MODELS, Fit, FittedSplit, prepared, scores_of, suite_cache

DATASET = "new_thyroid1"


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return suite_cache(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="session")
def fitted_of(store):
    """Scores of a small data set, trained once a session."""

    def make(model: str, dataset: str = DATASET) -> FittedSplit:
        return scores_of(store, Fit(dataset, model, 0))

    return make


@pytest.fixture(scope="session")
def parts_of():
    """Training and test rows of a small data set."""
    return lambda dataset=DATASET: split(load_rows(dataset), 0)


@pytest.fixture(scope="session")
def untrained():
    """The model as it was trained, with the parameters that its search chose."""

    def make(model, fitted):
        chosen = dict(part.split("=") for part in fitted.raw.parameters.split(", ") if part)
        numbers = {k: v if v == "scale" else float(v) for k, v in chosen.items()}
        return prepared(MODELS[model].classifier(0, numbers))

    return make


_ROW = SuiteRow(
    dataset="a1", family="a", model="logistic", seed=0, method="smote", half="report",
    n_minority=30, auc=0.9, status="DECIDED", solved=True,
)  # fmt: skip


@pytest.fixture(scope="session")
def row():
    """Make a row in which only what matters to a test is said."""
    return lambda **values: replace(_ROW, **values)
