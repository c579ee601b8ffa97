import doctest
import json
import re
from pathlib import Path

import numpy as np
import pytest

from lab import demo
from lab.claims.fresh import means_table, read
from lab.experiment import RESULTS
from lab.speed.speed import judged_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def python_blocks(text):
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def between(name, page="README.md"):
    text = (ROOT / page).read_text(encoding="utf-8")
    return text.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- /{name} -->")[0]


def test_the_readme_is_one_screen():
    assert len(README.split()) <= 650


def test_every_python_block_of_the_readme_runs(capsys):
    blocks = python_blocks(README)
    assert blocks
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    printed = capsys.readouterr().out
    shown = re.search(r"^```text\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
    assert printed == shown[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks_show_what_python_answers(page):
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    parser = doctest.DocTestParser()
    names: dict[str, object] = {}  # a page is read from top to bottom, as one session
    for number, block in enumerate(blocks):
        example = parser.get_doctest(block, {}, f"{page.name} block {number}", page.name, 0)
        example.globs = names
        runner.run(example, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_repository_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+?)\)", page.read_text(encoding="utf-8"))
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


def test_demo_table_is_what_the_demo_prints():
    runs = [demo.DemoRun(seed) for seed in range(demo.N_DRAWS)]
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$",
        between("demo", "docs/reproduction.md"),
        flags=re.MULTILINE,
    )
    shown = {name: cells for name, *cells in rows}
    assert list(shown) == list(runs[0].before)
    for name, cells in shown.items():
        for cell, side in zip(cells, ("before", "after"), strict=True):
            values = [getattr(run, side)[name] for run in runs]
            stated = [float(number) for number in cell.split(" ± ")]
            # Another version of the solver may move a row or two of a thousand.
            assert stated == pytest.approx([np.mean(values), np.std(values, ddof=1)], abs=2e-3)


def test_the_comparison_is_that_on_fresh_data():
    stored = json.loads((RESULTS / "fresh.json").read_text("utf-8"))
    assert between("fresh means").strip() == means_table(read(stored)).strip()


@pytest.mark.parametrize("name", ["speed", "training"])
def test_speed_table_is_the_stored_one(name):
    stored = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    assert between(name, "docs/speed.md").strip() == judged_table(stored)
