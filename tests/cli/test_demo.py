def test_the_demo_prints_and_draws(run, tmp_path):
    shown = run("demo", "--out", "demo.png").stdout
    assert "untouched" in shown
    assert "Predict 1 iff score >" in shown
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
