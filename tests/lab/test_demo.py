import pytest

from lab import demo


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    monkeypatch.setattr(demo, "N_DRAWS", 2)


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
    assert "slack" in printed
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in path.parent.iterdir()] == ["demo.png"]
