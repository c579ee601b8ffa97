import sys

import pytest

from lab import demo


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    monkeypatch.setattr(demo, "_N_DRAWS", 2)


def figures_of(text):
    """Read the first table: metric → (untouched, shifted)."""
    lines = text.split("\n\n")[1].splitlines()[1:]
    return {line[:18].strip(): tuple(map(float, line[18:].split())) for line in lines}


def test_demo_prints_every_figure_and_writes_a_picture(tmp_path, capsys):
    path = tmp_path / "new" / "demo.png"
    assert demo.main(path) == 0
    printed = capsys.readouterr().out
    figures = figures_of(printed)
    assert list(figures) == [
        "accuracy",
        "G-mean",
        "F1",
        "recall of class 0",
        "recall of class 1",
    ]
    assert figures["G-mean"][1] > figures["G-mean"][0]
    assert "points given up" in printed
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in path.parent.iterdir()] == ["demo.png"]


def test_figures_are_those_of_the_recalls(tmp_path, capsys):
    demo.main(tmp_path / "demo.png")
    figures = figures_of(capsys.readouterr().out)
    for side in (0, 1):
        low, high = figures["recall of class 0"][side], figures["recall of class 1"][side]
        assert figures["G-mean"][side] == pytest.approx((low * high) ** 0.5, abs=2e-3)
        assert figures["accuracy"][side] == pytest.approx((low + high) / 2, abs=2e-3)
        f1 = 2 * high / (2 * high + (1 - low) + (1 - high))
        assert figures["F1"][side] == pytest.approx(f1, abs=2e-3)


def test_without_matplotlib_the_table_is_printed_and_the_cure_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert demo.main(tmp_path / "demo.png") == 1
    printed = capsys.readouterr()
    assert "G-mean" in printed.out
    assert 'pip install ".[plot]"' in printed.err
    assert not list(tmp_path.iterdir())
