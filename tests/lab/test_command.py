import pytest

from lab.__main__ import main


def test_reproduce_writes_rows_and_tables(tmp_path, capsys):
    arguments = "reproduce synthetic --seeds 1 --jobs 1 --no-figures --out"
    assert main([*arguments.split(), str(tmp_path)]) == 0
    assert "rows in" in capsys.readouterr().out
    assert (tmp_path / "rows-synthetic-honest-binary.csv").is_file()
    assert (tmp_path / "tables-synthetic-honest-binary.md").is_file()


def test_an_error_is_a_message_and_not_a_traceback(tmp_path, capsys):
    assert main(["reproduce", "mimic", "--out", str(tmp_path)]) == 1
    assert "--mimic-file" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["--slack some", "--protocol fair", "iris"])
def test_unknown_values_are_refused(words):
    with pytest.raises(SystemExit, match="2"):
        main(["reproduce", *words.split()])
