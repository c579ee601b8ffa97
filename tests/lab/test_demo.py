from lab import demo


def test_demo_prints_every_figure_and_writes_a_picture(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "N_DRAWS", 2)
    path = tmp_path / "new" / "demo.png"
    assert demo.main(path) == 0
    printed = capsys.readouterr().out
    lines = printed.split("\n\n")[1].splitlines()[1:]
    figures = {line[:18].strip(): [float(x) for x in line[18:].split()] for line in lines}
    assert list(figures) == list(demo.METRICS)
    assert figures["G-mean"][1] > figures["G-mean"][0]
    assert "slack" in printed
    assert path.read_bytes().startswith(b"\x89PNG")
