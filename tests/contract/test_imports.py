"""What may be imported where, and what `import boundshift` may load."""

import ast
import subprocess
import sys
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

import boundshift
from boundshift._scores import Scores

ROOT = Path(boundshift.__file__).parent

# A room may import those before it, and none after it. A room is a folder or a module at the root.
# `docs/architecture.md` has the same order.
ROOMS = [
    "_sklearn_internals",
    "exceptions",
    "_typing",
    "_status",
    "_writing",
    "_validation",
    "_tables",
    "_words",
    "_scores",
    "_ranking",
    "rules",
    "_search",
    "curves",
    "_result",
    "_boundary",
    "_groups",
    "_cuts",
    "_guarantees",
    "metrics",
    "_metric_intervals",
    "_multiclass",
    "streaming",
    "models",
    "_classifier",
    "_view",
    "plots",
    "report",
    "datasets",
    "_app",
]
# What a room may load besides NumPy and SciPy, so never the laboratory; what is optional, in the
# function that needs it.
LIBRARIES = {
    "_sklearn_internals": {"sklearn"},
    "_tables": {"pyarrow"},
    "rules": {"sklearn"},
    "streaming": {
        *("dask", "distributed", "duckdb", "joblib", "pandas", "polars", "pyarrow", "pyspark"),
    },
    "models": {"sklearn", "joblib", "onnx", "onnxruntime", "skl2onnx", "skops"},
    "_classifier": {"sklearn"},
    "plots": {"sklearn", "matplotlib"},
    "report": {"jinja2"},
    "datasets": {"sklearn", "pandas"},
    "_app": {"openpyxl", "sklearn", "pandas", "pyarrow", "rich", "typer"},
}
OPTIONAL = set().union(*LIBRARIES.values()) - {"sklearn", "joblib"}
# Loaded only where a terminal has been met.
TERMINAL = {"rich", "typer"}

# Methods that open a room above their own, when they are called.
UPWARDS = {"_result": {"plots"}, "_classifier": {"report"}}

# All but the doors, `boundshift` and `python -m boundshift`.
MODULES = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
    if path.parent != ROOT or not path.stem.startswith("__")
}


def room_of(module):
    """Return the room of ``boundshift.streaming._bins``: streaming."""
    return module.split(".")[1]


def imported(nodes):
    """Return the full names of the modules that these nodes import."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= inner if inner <= {*MODULES, "boundshift.__version__"} else {node.module}
            assert node.level == 0, f"a relative import of {node.module}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            # A name that is computed is a library of ONNX.
            names.add(node.args[0].value if isinstance(node.args[0], ast.Constant) else "onnx")
    return names - {"boundshift.__version__"}


def imported_by(room, read=ast.walk):
    """Return what the modules of a room import, at any depth of their code."""
    trees = (parse(path) for module, path in MODULES.items() if room_of(module) == room)
    return set().union(*(imported(read(tree)) for tree in trees))


@cache
def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def libraries(names):
    return {name.split(".")[0] for name in names} - {*sys.stdlib_module_names, "boundshift"}


@pytest.mark.parametrize("room", ROOMS)
def test_arrows_point_down(room):
    ours = {name for name in imported_by(room) if name.split(".")[0] == "boundshift"}
    assert "boundshift" not in ours, "a name is imported from its own room, not from the door"
    allowed = {*ROOMS[: ROOMS.index(room) + 1]} | UPWARDS.get(room, set())
    assert {room_of(name) for name in ours} <= allowed


def test_scores_of_the_core_are_values_and_counts():
    assert [field.name for field in fields(Scores)] == ["value", "count"]


def test_every_module_has_a_room():
    assert {room_of(module) for module in MODULES} == {*ROOMS}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_loads_its_libraries_only(room):
    assert libraries(imported_by(room)) <= {"numpy", "scipy"} | LIBRARIES.get(room, set())


def test_optional_libraries_are_loaded_where_they_are_needed():
    for module, path in MODULES.items():
        ready = TERMINAL if room_of(module) == "_app" else set()
        assert libraries(imported(parse(path).body)) & OPTIONAL <= ready, module


@pytest.mark.parametrize(
    ("statement", "loaded"),
    [("import boundshift", set()), ("from boundshift import find_boundary", {"numpy", "scipy"})],
)
def test_a_name_loads_only_what_it_needs(statement, loaded):
    known = {"numpy", "scipy", "sklearn", "joblib", *OPTIONAL}
    code = f"import sys; sys.path.insert(0, {str(ROOT.parent)!r}); {statement}"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*({known} & sys.modules.keys()))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == loaded


def test_public_names_alone_are_shown():
    assert dir(boundshift) == sorted({*boundshift.__all__, "__version__"})
