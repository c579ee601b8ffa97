"""scikit-learn's own tests of metadata routing, run on our class as on its own metaestimators."""

import inspect

import pytest

from boundshift import BoundShiftClassifier

suite = pytest.importorskip("sklearn.tests.test_metaestimators_metadata_routing")

OURS = {
    "metaestimator": BoundShiftClassifier,
    "estimator_name": "estimator",
    "estimator": "classifier",
    "X": suite.X,
    "y": suite.y_binary,
    "estimator_routing_methods": ["fit"],
    "preserves_metadata": "subset",
    "cv_name": "cv",
    "cv_routing_methods": ["fit"],
}
# Every test of the suite that takes a metaestimator. We have no scorer, and a default request of
# our own: `fit` itself counts the weights and costs of rows.
TESTS = {
    name: test
    for name, test in inspect.getmembers(suite, inspect.isfunction)
    if name.startswith("test_") and "metaestimator" in inspect.signature(test).parameters
}
del TESTS["test_metadata_is_routed_correctly_to_scorer"], TESTS["test_default_request"]


@pytest.fixture(autouse=True)
def _routing():
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("name", TESTS)
def test_metadata_goes_where_scikit_learn_wants_it(name, ensemble):
    TESTS[name](OURS | {"init_args": {"ensemble": ensemble}})
