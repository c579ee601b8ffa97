import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import boundshift
from boundshift.app import app
from boundshift.app.terminal import progress

SOURCE = Path(boundshift.__file__).parents[1]
COMMANDS = sorted(typer.main.get_command(app).commands)


def start(*arguments, **more):
    env = os.environ | {"PYTHONPATH": str(SOURCE)} | more
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)


def test_all_commands_are_there():
    assert COMMANDS == [
        "compare", "datasets", "fit", "monitor", "predict", "report", "threshold",
    ]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples_of_the_command(run, command):
    shown = run(command, "--help").stdout
    assert "Examples" in shown
    assert f"boundshift {command}" in shown


def test_help_says_what_exit_codes_mean(run):
    assert "Exit codes" in run("--help").stdout


def test_the_version_is_the_package_s(run):
    assert run("--version").stdout.strip() == f"boundshift {boundshift.__version__}"


def test_no_arguments_show_the_help(run):
    assert "threshold" in run(code=2).output


def test_help_loads_no_heavy_library():
    heavy = ["sklearn", "pandas", "pyarrow", "matplotlib", "plotly", "lab"]
    code = f"import sys, boundshift.app; print([m for m in {heavy} if m in sys.modules])"
    assert start("-c", code).stdout.strip() == "[]"


def test_the_shell_completes_commands():
    asked = {
        "_BOUNDSHIFT_COMPLETE": "complete_bash",
        "COMP_WORDS": "boundshift thr",
        "COMP_CWORD": "1",
    }
    code = "import sys; sys.argv = ['boundshift']; from boundshift.__main__ import main; main()"
    assert start("-c", code, **asked).stdout.strip() == "threshold"


def test_a_closed_pipe_is_no_error(tmp_path):
    command = f"{sys.executable} -m boundshift datasets pima --out - | head -n 1"
    env = os.environ | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=env, timeout=60, cwd=tmp_path
    )
    assert done.stdout.startswith("Pregnancies,")
    assert "Error" not in done.stderr
    assert "Broken" not in done.stderr


def test_progress_is_seen_on_a_terminal_only(capsys, monkeypatch):
    with progress() as show:
        show("read", 1, 2)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress() as show:
        show("read", 1, 2)
    assert "1/2" in capsys.readouterr().err


def test_a_threshold_loads_neither_scikit_learn_nor_pandas(tmp_path):
    (tmp_path / "s.csv").write_text("s,y\n" + "0,0\n1,0\n5,1\n6,1\n" * 3)
    arguments = ["threshold", str(tmp_path / "s.csv"), "--score", "s", "--label", "y"]
    code = (
        "import sys; from typer.testing import CliRunner; from boundshift.app import app; "
        f"done = CliRunner().invoke(app, {arguments}); "
        "print(done.exit_code, [m for m in ('sklearn', 'pandas') if m in sys.modules])"
    )
    assert start("-c", code).stdout.strip() == "0 []"


@pytest.mark.parametrize("command", COMMANDS)
def test_paragraphs_of_the_help_are_broken_by_the_terminal_alone(command):
    text = typer.main.get_command(app).commands[command].help
    assert "\n" not in text.replace("\n\n", "")
