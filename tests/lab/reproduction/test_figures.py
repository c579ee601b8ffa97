import sys

import pytest

from boundshift.exceptions import MissingExtraError
from lab.canvas import new_figure
from lab.reproduction.figures import FIGURES, draw_figures, far_apart


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    draw_figures(folder)
    return folder


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn(folder, name):
    raw = (folder / f"{name}.png").read_bytes()
    assert raw.startswith(b"\x89PNG")
    assert len(raw) > 20_000


def test_the_boundary_moves_towards_the_common_class():
    scene = far_apart()
    assert scene.boundary.threshold < -scene.bias


def test_no_figure_is_left_open(tmp_path):
    from matplotlib import pyplot

    before = pyplot.get_fignums()  # of other tests in this process
    draw_figures(tmp_path)
    assert pyplot.get_fignums() == before


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"\.\[plot\]"):
        new_figure(1, 1)
