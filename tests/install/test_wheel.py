"""The wheel holds the package, and nothing of the laboratory or the tests."""

import json

import pytest

from tests.install.snapshot import ROOT, SNAPSHOT, list_wheel, take_snapshot


@pytest.fixture(scope="module")
def files():
    return list_wheel()


def test_it_holds_every_module_of_the_source_and_nothing_beside_the_package(files):
    source = ROOT / "src"
    modules = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    assert {name for name in files if name.endswith(".py")} == modules
    assert {name.split("/")[0] for name in files} == {"boundshift"}


def test_it_is_the_snapshot_s(files):
    stored = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    assert take_snapshot(files) == stored, "If this is meant: python tests/install/snapshot.py"


def test_public_names_are_few(files):
    names = take_snapshot(files)["public names"]
    assert len(names["boundshift"]) <= 45
    assert len(set().union(*names.values())) <= 160
