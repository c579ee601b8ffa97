"""The command as a process: streams that are closed, full or of another encoding, and endings."""

import os
import subprocess
import sys

import pytest

SCORES = ["--score", "risk", "--label", "ill"]
LINES = [
    "risk,ill",
    *(f"{i % 7 + 4 * (i % 3 == 0)},{'yés' if i % 3 == 0 else 'no'}" for i in range(60)),
]


def command(*arguments, **more):
    """Run the command in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | more.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "boundshift", *map(os.fsencode, map(str, arguments))],
        **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | more),
        check=False,
        env=environment,
    )


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def test_a_closed_standard_input_is_said(scores):
    answer = command("threshold", "-", *SCORES, preexec_fn=lambda: os.close(0))
    assert answer.returncode == 1
    assert b"Standard input must be open" in answer.stderr
    assert b"Traceback" not in answer.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")  # noqa: PTH110
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_device_is_said(scores, more):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        answer = command("threshold", scores, *SCORES, *more, stdout=full)
    assert answer.returncode == 1
    assert b"No space left" in answer.stderr
    assert b"Traceback" not in answer.stderr


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
    ],
)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_letters_that_an_encoding_lacks_are_written_out(scores, env, more):
    answer = command("threshold", scores, *SCORES, *more, env=env)
    assert answer.returncode == 0, answer.stderr
    assert b"Traceback" not in answer.stderr


def test_a_name_of_any_bytes_is_read(scores):
    path = scores.with_name(os.fsdecode(b"caf\xe9.csv"))
    path.write_bytes(scores.read_bytes())
    answer = command("threshold", path, path, *SCORES)
    assert answer.returncode == 0, answer.stderr
    missing = command("threshold", path.with_name(os.fsdecode(b"th\xe9.csv")), *SCORES)
    assert missing.returncode == 1
    assert b"There is no file" in missing.stderr


def test_a_table_without_rows_ends_the_process_in_order(scores):
    """A thread of Arrow that asks Python for bytes while Python ends would abort it."""
    scores.write_text("risk,ill\n")
    for _ in range(5):
        answer = command("threshold", scores, *SCORES)
        assert answer.returncode == 1
        assert b"must have rows" in answer.stderr


def test_no_escape_sequence_reaches_the_terminal(scores):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202edrow"
    scores.write_text(scores.read_text(encoding="utf-8").replace("yés", evil), encoding="utf-8")
    for more in ([], ["--json"]):
        answer = command("threshold", scores, *SCORES, *more)
        assert answer.returncode == 0, answer.stderr
        for shown in (answer.stdout.decode(), answer.stderr.decode()):
            assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}
        assert "owned" in answer.stdout.decode()
