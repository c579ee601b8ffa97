"""What may be imported where, and what `import boundshift` may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import boundshift

ROOT = Path(boundshift.__file__).parent
OPTIONAL = [
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "dask",
    "pyspark",
    "imblearn",
    "distributed",
]

# From the bottom up: a room may import those before it, and none after it. A room is a folder or
# a module at the root; `streaming.scan` decides, so it stands above what the rest of its room
# serves.
ROOMS = [
    "exceptions", "validation", "writing", "scores", "rules", "search", "support", "curves",
    "streaming", "result", "decision", "boundary", "promises", "streaming.scan", "multiclass", "models",
    "classifier", "metrics", "view", "plots", "report", "rivals", "datasets", "app",
]  # fmt: skip
NEEDS_SCIKIT_LEARN = {"classifier", "models", "rules"}
# Where a model comes from or goes to; imported in the function that needs it, never for nothing.
NEEDED_BY_MODELS = {"joblib", "onnx", "onnxruntime", "skl2onnx", "skops"}


def imported(path):
    """Return the names of all modules that a file imports, at any depth."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names.add(node.module)
    return names


def files_of(module):
    path = ROOT / f"{module}.py"
    return [path] if path.exists() else sorted((ROOT / module).glob("*.py"))


def third_party(module):
    names = {name.split(".")[0] for path in files_of(module) for name in imported(path)}
    return names - set(sys.stdlib_module_names) - {"boundshift"}


def siblings(module):
    names = [name.split(".") for path in files_of(module) for name in imported(path)]
    return {parts[1] for parts in names if parts[0] == "boundshift" and len(parts) > 1} - {module}


def module_level(path):
    """Return the names of the modules that are imported when a file is."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    names = {a.name for node in body if isinstance(node, ast.Import) for a in node.names}
    names |= {node.module for node in body if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in names}


def test_import_loads_no_optional_library():
    code = f"import sys, boundshift; print([m for m in {OPTIONAL} if m in sys.modules])"
    source = str(ROOT.parent)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ROOMS)
def test_core_imports_numpy_and_scipy_only(module):
    allowed = {"numpy", "scipy"} | ({"sklearn"} if module in NEEDS_SCIKIT_LEARN else set())
    assert third_party(module) <= allowed | (NEEDED_BY_MODELS if module == "models" else set())


@pytest.mark.parametrize("path", files_of("models"), ids=lambda path: path.stem)
def test_models_load_a_library_only_where_it_is_needed(path):
    assert not module_level(path) & NEEDED_BY_MODELS


@pytest.mark.parametrize("module", ROOMS)
def test_arrows_point_one_way(module):
    assert siblings(module) <= set(ROOMS[: ROOMS.index(module)])


ENGINES = sorted((ROOT / "engines").glob("*.py"))
LIBRARY = {"dask_": {"dask"}, "spark_": {"pyspark", "pyarrow"}, "arrow_": {"pyarrow"}}
LIBRARY["files_"] = {"pyarrow"}
FORMULAS = {"curves", "equations", "rules", "search", "slack", "space", "support", "cells"}


@pytest.mark.parametrize("path", ENGINES, ids=lambda path: path.stem)
def test_an_engine_imports_its_own_library_and_no_formula(path):
    names = imported(path)
    third = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"boundshift"}
    assert third <= {"numpy"} | LIBRARY.get(path.stem, set())
    inner = {name.split(".")[1] for name in names if name.startswith("boundshift.")}
    assert not inner & FORMULAS


def test_only_the_top_imports_the_classifier():
    readers = {"__init__"} | {
        "cli", "demo", "datasets", "experiments", "models", "plots", "report", "rivals",
        "workflow",
    }  # fmt: skip
    importers = {
        path.relative_to(ROOT).parts[0].removesuffix(".py")
        for path in ROOT.rglob("*.py")
        if "boundshift.classifier" in imported(path)
    }
    assert importers <= readers


def test_public_names_exist():
    assert all(hasattr(boundshift, name) for name in boundshift.__all__)


def test_public_names_are_sorted_and_unique():
    assert boundshift.__all__ == sorted(set(boundshift.__all__))


def test_public_names_of_the_core_stay():
    pinned = {
        "BoundShiftClassifier",
        "Boundary",
        "BoundaryWarning",
        "InvalidInputError",
        "MissingExtraError",
        "Status",
        "find_boundary",
    }
    assert pinned <= set(boundshift.__all__)


@pytest.mark.parametrize("module", ROOMS)
def test_modules_declare_their_names(module):
    for path in files_of(module):
        assert "__all__" in path.read_text(encoding="utf-8")
