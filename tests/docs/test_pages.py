"""The pages say what is true: their code runs, their links lead somewhere, their names exist."""

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest
import typer

from boundshift.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = ["quick_start.md", "which_method.md", "your_model.md", "certificates.md", "command_line.md"]


def blocks(page, language):
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def namespace():
    """Run what all blocks of the page about models begin with."""
    names: dict[str, object] = {}
    exec(blocks("your_model.md", "python")[0], names)
    return names


MODELS = ["RandomForest", "SMOTE", "XGB", "LGBM", "CatBoost"]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:X does not have valid feature names")
@pytest.mark.parametrize("model", MODELS)
def test_each_model_is_shifted_by_the_lines_shown(namespace, model):
    block = next(b for b in blocks("your_model.md", "python") if model in b)
    exec(compile(block, f"your_model.md, {model}", "exec"), namespace)
    shifted = namespace["shifted"]
    assert set(shifted.predict(namespace["X_new"])) == {0, 1}
    code = [line for line in block.splitlines() if line and "import" not in line]
    assert len(code) <= 3


def test_every_block_about_models_is_tested():
    tested = [*MODELS, "torch", "load_pima"]
    assert all(any(word in b for word in tested) for b in blocks("your_model.md", "python"))


def test_the_names_of_the_decision_table_exist():
    import boundshift.curves
    import boundshift.rules

    text = (DOCS / "which_method.md").read_text(encoding="utf-8")
    assert set(re.findall(r'bound="([\w-]+)"', text)) <= set(boundshift.curves.CURVES)
    assert set(re.findall(r'rule="([\w-]+)"', text)) <= set(boundshift.rules.RULES)
    bounds = text.partition("| the claim on each class")[2].partition("What the curves")[0]
    assert set(re.findall(r"`([\w-]+)`", bounds)) - {"bound"} == set(boundshift.curves.CURVES)
    objects = re.findall(r"rule=(\w+\(.*?\))`", text)
    assert len(objects) >= 3
    for written in objects:
        assert isinstance(eval(written, vars(boundshift.rules)), boundshift.rules.Rule)


def command_page():
    spec = importlib.util.spec_from_file_location("command_line", DOCS / "command_line.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.as_markdown()


def test_the_command_line_page_has_every_command_and_option():
    page = command_page()
    for name, command in typer.main.get_command(app).commands.items():
        section = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        options = [o for p in command.params if p.name != "help" for o in p.opts if "--" in o]
        assert f"boundshift {name}" in section
        assert all(f"`{option}`" in section for option in options)


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_the_pages_are_understood(page):
    """Every ``boundshift`` line of a page is parsed by the command that it calls."""
    group = typer.main.get_command(app)
    text = "\n".join(blocks(page, "console"))
    if page == "command_line.md":
        text += command_page()
    calls = r"^\$ (?:.*\| |\.venv/bin/)?boundshift (\w+) ?([^|\n#]*)"
    for name, arguments in re.findall(calls, text, flags=re.MULTILINE):
        command = group.commands[name]
        words = arguments.replace("…", "x").split()
        command.make_context(name, words, resilient_parsing=False)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_a_title_and_end_in_a_figure(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, underline, *_ = ast.get_docstring(tree).splitlines()
    assert underline == "=" * len(title)
    last = path.read_text(encoding="utf-8").rpartition("# %%")[2]
    assert "Display.from_" in last or "plt.subplots" in last


def test_the_gallery_has_eight_to_ten_executed_examples():
    assert 8 <= len(EXAMPLES) <= 10


def test_the_configuration_can_be_read(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    names: dict[str, object] = {"__file__": str(DOCS / "conf.py")}
    exec(compile((DOCS / "conf.py").read_text(encoding="utf-8"), "conf.py", "exec"), names)
    text = ["api\nbenchmark-of-nothing*\nformats*\n**bold**"]
    names["_only_pages_that_are_there"](None, "index", text)
    assert text == ["api\nformats*\n**bold**"]


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^([\w/-]+)\*?$", index, flags=re.MULTILINE)
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert {p for p in pages if not any(p.startswith(name) for name in listed)} == set()
