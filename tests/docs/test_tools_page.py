"""The page about other tools: its tests exist, its blocks run, its lines are as few as it says."""

import pytest

from tests.docs import pages
from tests.docs.pages import blocks, read
from tests.docs.tool_matrix import HEAD, marked_tests, table_of
from tests.tracking import tracked_in

PAGE = read("howto/deploy.md")


def test_the_table_has_every_tool_that_a_test_speaks_of():
    assert table_of(PAGE) == HEAD + "".join(mark.row() for mark in marked_tests())


@pytest.fixture(scope="module")
def beginning():
    """Run what the blocks begin with."""
    return pages.run(blocks(PAGE)[0], "tools.md")


@pytest.fixture
def names(beginning):
    return dict(beginning)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Let MLflow write into a folder of its own."""
    with tracked_in(tmp_path_factory.mktemp("mlflow")):
        yield


def run(tool, names):
    (block,) = blocks(PAGE.partition(f"## {tool}\n")[2].partition("\n## ")[0])
    exec(compile(block, f"tools.md, {tool}", "exec"), names)


@pytest.mark.tool(
    "MLflow",
    "info = mlflow.sklearn.log_model(shifted, name='model', serialization_format='skops', "
    "skops_trusted_types=trusted_types(shifted), "
    "pip_requirements=['boundshift', 'scikit-learn', 'skops'])\n"
    "loaded = mlflow.sklearn.load_model(info.model_uri)",
)
@pytest.mark.filterwarnings("ignore")  # MLflow's own, of what it will change
def test_the_model_that_mlflow_loads_is_the_one_logged(store, names):
    run("MLflow", names)
    X = names["X_test"]
    assert names["loaded"].predict(X).tolist() == names["shifted"].predict(X).tolist()


@pytest.mark.tool("skore", "report = skore.EstimatorReport(shifted, X_test=X_test, y_test=y_test)")
@pytest.mark.filterwarnings("ignore")  # of what skore's own checks find
def test_skore_counts_the_shifted_labels(names):
    run("skore", names)
    predicted = names["shifted"].predict(names["X_test"])
    recall = float(predicted[names["y_test"] == 1].mean())
    assert names["report"].metrics.recall()[1] == pytest.approx(recall)


@pytest.mark.tool(
    "skops: model card",
    "card = Card(shifted)\n"
    "card.add(**{'Decision boundary': shifted.boundary_.summary()})\n"
    "card.add(**{'Certificate': f'{shifted.certificate_.status}\\n\\n{shifted.certificate_}'})",
)
def test_the_card_has_the_certificate(names):
    run("Model card", names)
    assert str(names["shifted"].certificate_) in names["card"].render()
