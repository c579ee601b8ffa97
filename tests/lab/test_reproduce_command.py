import pytest
from typer.testing import CliRunner

from lab.commands import app


def _run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_reproduce_writes_rows_and_tables(tmp_path):
    result = _run(
        "reproduce", "synthetic", "--seeds", "1", "--jobs", "1", "--no-figures", "--out",
        str(tmp_path),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "rows in" in result.output
    assert (tmp_path / "rows-synthetic-honest-binary.csv").is_file()
    assert (tmp_path / "tables-synthetic-honest-binary.md").is_file()


def test_an_error_is_a_message_and_not_a_traceback(tmp_path):
    result = _run("reproduce", "mimic", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert "--mimic-file" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "arguments", [("--slack", "some"), ("--protocol", "fair"), ("--seeds", "0"), ("iris",)]
)
def test_unknown_values_are_refused(arguments):
    assert _run("reproduce", *arguments).exit_code == 2


def test_help_lists_the_command():
    assert "reproduce" in _run("--help").output
