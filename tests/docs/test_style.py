"""The style of the pages in a real browser: code and tables on a telephone and on paper."""

from pathlib import Path

import pytest

from tests.browser import open_browser, set_screen

STYLE = Path(__file__).parents[2] / "docs" / "_static" / "pages.css"
PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{style}">
<div class="highlight"><pre id="code">{code}</pre></div>
<div class="pst-scrollable-table-container" id="table" style="overflow-x: auto">
<table><tr><td><code id="name">bernstein</code></td><td class="text-right">{cell}</td></tr></table>
</div>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("style")
    file = folder / "page.html"
    text = PAGE.format(style=STYLE.as_uri(), code="word " * 60, cell="0.123 " * 60)
    file.write_text(text, encoding="utf-8")
    with open_browser(folder / "profile") as browser:
        browser.get(file.as_uri())
        yield browser


def overflow(page, name):
    script = "const e = document.getElementById(arguments[0]); return e.scrollWidth - e.clientWidth"
    return page.execute_script(script, name)


def test_code_wraps_on_a_telephone(page):
    set_screen(page, width=400)
    assert overflow(page, "code") <= 0
    set_screen(page, width=1280)
    style = "return getComputedStyle(document.getElementById('code')).whiteSpace"
    assert page.execute_script(style) == "pre"


def test_code_and_tables_are_whole_on_paper(page):
    set_screen(page, width=700)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert overflow(page, "code") <= 0
    assert overflow(page, "table") <= 0
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_table_that_scrolls_fades_at_its_edge_until_its_end(page):
    set_screen(page, width=400)
    edge = "return getComputedStyle(document.getElementById('table')).getPropertyValue('--edge')"
    assert overflow(page, "table") > 0
    assert page.execute_script(edge) == "48px"
    page.execute_script("document.getElementById('table').scrollLeft = 1e6")
    page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert page.execute_script(edge) == "0px"


def test_a_name_in_a_narrow_table_is_not_cut_into_pieces(page):
    set_screen(page, width=400)
    lines = "return document.getElementById('name').getClientRects().length"
    assert page.execute_script(lines) == 1
