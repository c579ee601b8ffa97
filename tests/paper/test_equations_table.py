import importlib
import re
from pathlib import Path

import pytest

from lab.reproduction import equations

PAGE = Path(__file__).parents[2] / "docs" / "equations.md"

LABELS = [
    "iid_error",
    "Theorem 2",
    "di_bounds",
    "test_point_bound",
    "R_hat_upper_bound",
    "cost_function",
    "d_hat",
    "delta2_from_delta1",
    "dL/dδ₁",
    "dδ₂/dδ₁",
    "new_bias",
    "cost_slacks",
    "Algorithm 1",
    "Minimum-distance classifier",
    "continuous slack",
]


def table():
    """Read the table: one (paper, functions, tests, corrections) a row."""
    code = PAGE.read_text(encoding="utf-8").partition("## In code")[2]
    lines = [line for line in code.splitlines() if line[:1] == "|"]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def resolve(path):
    """Import the longest module of a dotted path and follow the rest as attributes."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name)
        return found
    raise AssertionError(path)


def test_every_row_has_four_cells():
    assert {len(row) for row in table()} == {4}


@pytest.mark.parametrize("label", LABELS)
def test_every_label_of_the_paper_has_a_row(label):
    assert any(label in paper for paper, *_ in table())


def test_every_public_equation_is_in_the_table():
    listed = {name for _, functions, *_ in table() for name in names(functions)}
    missing = {f"lab.reproduction.equations.{name}" for name in equations.__all__} - listed
    assert missing == set()


def test_every_row_names_a_function_and_a_test():
    assert all(names(functions) and names(tests) for _, functions, tests, _ in table())


def test_every_function_named_exists():
    for _, functions, *_ in table():
        for name in names(functions):
            assert callable(resolve(name)), name


def test_every_test_named_is_a_path_under_tests():
    for _, _, tests, _ in table():
        assert all(re.fullmatch(r"tests/[\w/]+(\.py)?", name) for name in names(tests))
        assert all((PAGE.parents[1] / name).exists() for name in names(tests))


def test_every_correction_is_said_or_denied():
    assert all(correction for *_, correction in table())


@pytest.mark.parametrize("number", range(1, 13))
def test_every_numbered_equation_is_shown_as_printed_and_as_computed(number):
    page = PAGE.read_text(encoding="utf-8").partition("## In code")[0]
    section = page.partition(f"### ({number}) ")[2].partition("\n### ")[0]
    printed, _, ours = section.partition("\nOurs:\n\n$$")
    assert "\nPrinted:\n\n$$" in printed
    reason = ours.rpartition("\n\n")[0].rpartition("\n\n")[2] or ours
    assert len(reason) > 8
    assert any(cell[0].startswith(f"({number}) ") for cell in table())
