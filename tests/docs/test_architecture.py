"""The tour's paths are the files that run: `python tests/docs/test_architecture.py` prints them."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import boundshift
from boundshift import BoundShiftClassifier, find_boundary, streaming

ROOT = Path(boundshift.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
TEXT = PAGE.read_text(encoding="utf-8")
# Which of their files run depends on the default; the page names some of them.
CLAIMS = ("curves/", "rules/")


def files_run(call, twice=True):
    """Return the files of the package in which a function runs, in the order of first entry."""
    if twice:
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


def scores():
    y = np.repeat([0, 1], [300, 30])
    return y, np.random.default_rng(0).normal(size=330) + 2 * y


def memory():
    find_boundary(*scores())


def paper():
    find_boundary(*scores(), curve="paper")


def classifier():
    y, s = scores()
    BoundShiftClassifier(LogisticRegression()).fit(s[:, None], y).predict(s[:, None])


def listed(path):
    block = TEXT.partition(f"<!-- path {path} -->\n")[2].partition("<!-- /path -->")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", block, flags=re.MULTILINE)


@pytest.mark.parametrize("path", [memory, paper, classifier], ids=lambda path: path.__name__)
def test_a_path_is_what_runs(path):
    run, shown = files_run(path), listed(path.__name__)
    assert set(shown) <= set(run)
    assert [name for name in run if name not in shown and not name.startswith(CLAIMS)] == []


def test_files_on_the_way_to_an_engine_are_there_and_those_of_any_engine_run():
    y, s = scores()
    run, shown = files_run(lambda: streaming.scan_boundary([(y, s)])), listed("spark")
    assert all((ROOT / name).exists() for name in shown)
    assert set(shown) - set(run) == {"streaming/_frames.py"}


def test_every_room_is_in_the_table():
    found = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}
    table = TEXT.partition("## Rooms")[2].partition("Two arrows")[0]
    cells = "".join(re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE))
    rooms = found - {"__init__", "__main__", "__pycache__"}
    assert rooms <= set(re.findall(r"`([\w./]+)`", cells))


if __name__ == "__main__":
    for path in (memory, paper, classifier):
        print(path.__name__, *files_run(path), sep="\n  ")
