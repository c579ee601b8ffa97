"""The tour's paths are the files that run: `python tests/docs/test_architecture.py` prints them."""

import re
import sys
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression

import boundshift
from boundshift import BoundShiftClassifier, find_boundary, streaming
from tests.contract.test_imports import ROOMS
from tests.docs.pages import between, read
from tests.problems import two_normals

ROOT = Path(boundshift.__file__).parent
TEXT = read("architecture.md")
# Which of their files run depends on the default; the page names some of them.
CLAIMS = ("curves/", "rules/")


def files_run(call):
    """Return the files of the package in which a function runs, in the order of first entry."""
    call()  # what is imported on the way is not on the path
    seen = {}

    def enter(frame, event, argument):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(ROOT)):
            seen.setdefault(str(Path(name).relative_to(ROOT).as_posix()))

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


SCORES = two_normals(300, 30, 2.0)


def memory():
    find_boundary(*SCORES)


def paper():
    find_boundary(*SCORES, curve="paper")


def classifier():
    y, s = SCORES
    BoundShiftClassifier(LogisticRegression()).fit(s[:, None], y).predict(s[:, None])


def listed(path):
    block = between(TEXT, f"path {path}", "path")
    return re.findall(r"^\d+\. `([\w/]+\.py)`", block, flags=re.MULTILINE)


@pytest.mark.parametrize("path", [memory, paper, classifier], ids=lambda path: path.__name__)
def test_a_path_is_what_runs(path):
    run = files_run(path)
    shown = listed(path.__name__)
    assert set(shown) <= set(run)
    assert [name for name in run if name not in shown and not name.startswith(CLAIMS)] == []


def test_files_on_the_way_to_an_engine_are_there_and_those_of_any_engine_run():
    run = files_run(lambda: streaming.scan_boundary([SCORES]))
    shown = listed("spark")
    assert all((ROOT / name).exists() for name in shown)
    assert set(shown) - set(run) == {"streaming/_frames.py"}


def test_the_table_has_every_room_in_the_order_of_imports():
    table = TEXT.partition("## Rooms")[2].partition("Two dependencies")[0]
    cells = "".join(re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE))
    assert re.findall(r"`([\w./]+)`", cells) == [*ROOMS, "lab/"]


if __name__ == "__main__":
    for path in (memory, paper, classifier):
        print(path.__name__, *files_run(path), sep="\n  ")
