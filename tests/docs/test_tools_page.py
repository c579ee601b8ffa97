"""The page about other tools: its tests exist, its blocks run, its lines are as few as it says."""

import ast
import re
from pathlib import Path

import mlflow
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in row.split("|")[1:-1]]
    for row in PAGE.partition("|---|---|---:|---|\n")[2].partition("\n\n")[0].splitlines()
]


def blocks(heading, language="python"):
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_tool_that_works_has_a_test_that_exists(row):
    tool, works, _, test = row
    if test in ("–", "not run") or test.startswith("by hand"):
        assert works.startswith(("no:", "by their", "yes, with"))
        return
    text = (ROOT / "tests" / test.strip("`")).read_text(encoding="utf-8").lower()
    assert "def test_" in text
    if "clients" in test:
        word = re.match(r"[a-z]{5}", tool.lower().replace("imbalanced-learn", "imblearn"))
        assert word[0] in text


def test_scores_are_handed_over_in_three_lines():
    shown = blocks("AutoGluon, TabPFN, H2O", "py")
    assert len(shown) == 3
    for block in shown:
        assert len(ast.parse(block).body) == 3
        assert "find_boundary(" in block


@pytest.fixture(scope="module")
def beginning():
    """Run what the blocks begin with."""
    found: dict[str, object] = {}
    start = re.search(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    exec(start[1], found)
    return found


@pytest.fixture
def names(beginning):
    return dict(beginning)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Let MLflow write into a folder of its own."""
    folder = tmp_path_factory.mktemp("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    mlflow.create_experiment("boundshift", artifact_location=(folder / "files").as_uri())
    mlflow.set_experiment("boundshift")
    yield
    mlflow.set_tracking_uri(before)


def run(tool, names):
    (block,) = blocks(tool)
    exec(compile(block, f"tools.md, {tool}", "exec"), names)


@pytest.mark.filterwarnings("ignore")  # MLflow's own, of what it will change
def test_the_model_that_mlflow_loads_is_the_one_logged(store, names):
    run("MLflow", names)
    X = names["X_test"]
    assert names["loaded"].predict(X).tolist() == names["shifted"].predict(X).tolist()


@pytest.mark.filterwarnings("ignore")  # of what skore's own checks find
def test_the_check_stands_in_skore_s_report(names):
    run("skore", names)
    assert "BOUND001" in repr(names["report"].checks.summarize())


def test_the_card_has_the_certificate(names):
    run("Model card", names)
    assert "Certificate" in names["card"].render()
