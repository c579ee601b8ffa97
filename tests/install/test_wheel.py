"""The wheel holds the package, and nothing of the laboratory or the tests."""

import json

import pytest

from tests.install.snapshot import (
    MODULES,
    ROOT,
    SNAPSHOT,
    build_wheel,
    list_data,
    list_names,
    list_rooms,
    list_wheel,
)

AGAIN = "If this is meant: python tests/install/snapshot.py"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return list_wheel(build_wheel(tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def snapshot():
    return json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_all_files_are_the_package_s(files):
    assert {name.split("/")[0] for name in files} == {"boundshift"}


def test_every_module_of_the_source_is_in_it(files):
    source = ROOT / "src"
    modules = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    assert {name for name in files if name.endswith(".py")} == modules


def test_its_rooms_are_those_of_the_snapshot(files, snapshot):
    assert list_rooms(files) == snapshot["rooms"], AGAIN


def test_its_data_are_those_of_the_snapshot(files, snapshot):
    assert list_data(files) == snapshot["data"], AGAIN


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_those_of_the_snapshot(snapshot, module):
    assert list_names(module) == snapshot["public names"][module], AGAIN


def test_public_names_are_few(snapshot):
    names = snapshot["public names"]
    assert len(names["boundshift"]) <= 40
    assert len(set().union(*names.values())) <= 160
