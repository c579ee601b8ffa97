"""The pages say what is true: their code runs, their links lead somewhere, their names exist."""

import importlib.util
import re
from dataclasses import replace

import numpy as np
import pytest
import typer
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import boundshift
import boundshift.curves
import boundshift.rules
from boundshift import BoundShiftClassifier
from boundshift._app import app
from boundshift._boundary import choose_claims
from tests.docs.pages import DOCS, between, blocks, read, run

# Folders that a build writes.
NOT_WRITTEN = {"_build", "gallery", "generated"}
PAGES = sorted(
    page.relative_to(DOCS).as_posix()
    for page in DOCS.rglob("*.md")
    if not set(page.parts) & NOT_WRITTEN
)


@pytest.fixture(scope="module")
def namespace():
    """Run what all blocks of the page about models begin with."""
    return run(blocks(read("howto/wrap_a_model.md"))[0], "howto/wrap_a_model.md")


MODELS = ["RandomForest", "SMOTE", "XGB", "LGBM", "CatBoost"]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:X does not have valid feature names")
@pytest.mark.parametrize("model", MODELS)
def test_each_model_is_shifted_by_the_lines_shown(namespace, model):
    block = next(b for b in blocks(read("howto/wrap_a_model.md")) if model in b)
    exec(compile(block, f"howto/wrap_a_model.md, {model}", "exec"), namespace)
    shifted = namespace["shifted"]
    assert set(shifted.predict(namespace["X_new"])) == {0, 1}
    code = [line for line in block.splitlines() if line and "import" not in line]
    assert len(code) <= 3


def test_every_line_of_the_decision_table_can_be_passed():
    text = read("howto/choose_a_goal.md")
    goals = between(text, "goals")
    arguments = [cell for cell in re.findall(r"`([^`]+)`", goals) if "=" in cell]
    assert len(arguments) >= 15
    names = {name: getattr(boundshift, name) for name in boundshift.__all__}
    names |= {
        "np": np,
        "replace": replace,
        "n": 400,
        "s": np.random.default_rng(0).normal(size=400),
    }
    for written in arguments:
        if re.match(r"\w+\(", written):
            eval(written, names)
        else:
            choose_claims(**eval(f"dict({written})", names))
    curves = between(text, "curves")
    assert set(re.findall(r"`([\w-]+)`", curves)) == set(boundshift.curves.CURVES)


def test_every_line_about_rows_and_groups_runs():
    text = read("howto/choose_a_goal.md")
    table = between(text, "calls")
    lines = re.findall(r"^\| [^|]+ \| `([^`]+)` \|", table, flags=re.MULTILINE)
    assert len(lines) >= 9
    rng = np.random.default_rng(0)
    names = {name: getattr(boundshift, name) for name in boundshift.__all__}
    names |= {"np": np, "y": rng.random(600) < 0.3}
    names["s"] = rng.normal(size=600) + 2 * names["y"]
    names["amount"], names["times"] = rng.random(600), rng.integers(1, 3, 600)
    names["site"] = rng.choice(["a", "b"], 600)
    for line in lines:
        assert eval(line, names) is not None


def test_every_rule_is_in_the_table_of_rules():
    text = read("reference/rules_and_curves.md")
    table = text.partition("| Name | Optimises")[2].partition("\n\n")[0]
    names = {name: getattr(boundshift.rules, name) for name in boundshift.rules.__all__}
    written = re.findall(r"`(\w+\([^`]*\))` \|$", table, flags=re.MULTILINE)
    assert {type(eval(w, names)) for w in written} == set(boundshift.rules.RULES.values())
    for row in table.splitlines()[2:]:
        named = row.split("|")[1]
        shown = re.findall(r"`(\w+)\(", row)[-1]
        for name in re.findall(r"`([^`]+)`", named):
            assert type(boundshift.rules.as_rule(name)).__name__ == shown


def test_the_page_shows_every_curve_and_its_claim():
    table = between(read("reference/rules_and_curves.md"), "curves")
    shown = dict(re.findall(r"^\| `([\w-]+)` \| ([\w ]+) \|", table, flags=re.MULTILINE))
    curves = boundshift.curves.CURVES
    assert shown == {n: c.claim.name.lower().replace("_", " ") for n, c in curves.items()}


def test_the_api_page_has_every_public_name():
    text = read("reference/api.rst")
    listed = set(re.findall(r"^ {3,6}(?:\w+\.)?(\w+)$", text, flags=re.MULTILINE))
    excluded = re.search(r":exclude-members:([\w,\s]+)\n\n", text)[1]
    listed |= set(boundshift.rules.__all__) - set(re.findall(r"\w+", excluded))
    rooms = (boundshift, boundshift.curves, boundshift.rules, boundshift.streaming)
    constants = {"CURVES", "RULES", "streaming"}
    # Base classes for curves and rules of your own are on the page of curves and rules.
    bases = {"ErrorCurve", "CountCurve", "PairCurve", "Claim", "as_curve"}
    bases |= {"Rule", "ClassRule", "as_rule"}
    assert {name for room in rooms for name in room.__all__} - constants - listed == bases


@pytest.fixture(scope="module")
def migrant():
    """Run what the lines of the page about other tools begin with."""
    names = run(blocks(read("why.md"))[0], "why.md")
    X, y = make_classification(4000, weights=[0.8], class_sep=1.5, random_state=0)
    names["X"], names["X_val"], names["y"], names["y_val"] = train_test_split(X, y, random_state=0)
    names["model"] = LogisticRegression()
    names["trained"] = LogisticRegression().fit(names["X"], names["y"])
    names["shifted"] = names["BoundShiftClassifier"](names["model"]).fit(names["X"], names["y"])
    names["s"] = names["trained"].decision_function(names["X_val"])
    return names


@pytest.mark.parametrize("tool", ["TunedThresholdClassifierCV", "cutpointr", "MAPIE"])
def test_new_lines_for_old_ones_run(migrant, tool):
    table = between(read("why.md"), f"pairs {tool}", "pairs")
    lines = [row.split("|")[2].strip() for row in table.splitlines()[2:]]
    assert len(lines) >= 8
    for line in lines:
        answer = eval(line.strip("`"), migrant)
        if isinstance(answer, BoundShiftClassifier):
            answer.fit(migrant["X"], migrant["y"])
        elif isinstance(answer, boundshift.Boundary):
            assert answer.status is boundshift.Status.OPTIMAL, line


def command_page():
    spec = importlib.util.spec_from_file_location("command_line", DOCS / "command_line.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.as_markdown()


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_the_pages_are_understood(page):
    """Every ``boundshift`` line of a page is parsed by the command that it calls."""
    group = typer.main.get_command(app)
    text = "\n".join(blocks(read(page), "console"))
    if page == "reference/command_line.md":
        text += command_page()
    calls = r"^\$ (?:.*\| |\.venv/bin/)?boundshift (\w+) ?([^|\n#]*)"
    for name, arguments in re.findall(calls, text, flags=re.MULTILINE):
        command = group.commands[name]
        words = arguments.replace("…", "x").split()
        command.make_context(name, words, resilient_parsing=False)


@pytest.mark.parametrize("example", sorted((DOCS.parent / "examples").glob("plot_*.py")))
def test_examples_import_public_names_only(example):
    code = example.read_text(encoding="utf-8")
    assert not re.search(r"(import|from) boundshift\S*\._", code)
