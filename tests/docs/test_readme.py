import doctest
import re
import runpy

import numpy as np
import pytest

from lab import demo
from tests.docs.pages import DOCS, ROOT, between, blocks, read, run

README = read("../README.md")
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *DOCS.rglob("*.md"),
        *(ROOT / "lab").rglob("*.md"),
    ]
)
PAGES = [page for page in PAGES if not {"_build", "gallery", "generated"} & set(page.parts)]


def test_every_python_block_of_the_readme_runs(capsys):
    run("".join(blocks(README)), "README.md")
    assert capsys.readouterr().out == blocks(README, "text")[0]


def test_the_block_of_the_home_page_runs():
    names = run("".join(blocks(read("index.md"))), "index.md")
    assert 0 < names["classifier"].threshold_ < 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_console_blocks_show_what_python_answers(page):
    text = page.read_text(encoding="utf-8")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags)
    parser = doctest.DocTestParser()
    names: dict[str, object] = {}  # a page is read from top to bottom, as one session
    for number, block in enumerate(blocks(text, "pycon")):
        example = parser.get_doctest(block, {}, f"{page.name} block {number}", page.name, 0)
        example.globs = names
        runner.run(example, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_within_the_repository_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+?)\)", page.read_text(encoding="utf-8"))
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


def test_demo_table_is_what_the_demo_prints():
    runs = [demo.DemoRun(seed) for seed in range(demo.N_DRAWS)]
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$",
        between(read("../lab/docs/reproduction.md"), "demo"),
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_copied_tables_are_those_of_the_laboratory(page):
    copy_tables = runpy.run_path(str(DOCS / "copy_tables.py"))["copy_tables"]
    text = page.read_text(encoding="utf-8")
    assert copy_tables(text) == text
