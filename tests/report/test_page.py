import html
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from boundshift import InvalidInputError, MissingExtraError
from boundshift.report import Report, collect_facts
from boundshift.report._page import _template
from tests.report.problems import HOSTILE, facts, rows


class Elements(HTMLParser):
    VOID = ("meta", "link", "input")

    def __init__(self, page):
        super().__init__()
        self.names = []
        self.open = []
        self.attributes = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.names.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page():
    return Report(facts()).html


@pytest.fixture(scope="module")
def hostile():
    y, s = rows()
    return Report(
        collect_facts(
            np.where(y == 1, HOSTILE, "b"),
            s,
            pos_label=HOSTILE,
            negative_name=HOSTILE,
            title=HOSTILE,
            case_name=HOSTILE,
            model=HOSTILE,
            comparison=[{"method": HOSTILE, HOSTILE: HOSTILE}],
        )
    ).html


def test_elements_are_closed_and_labels_point_at_unique_ids(page):
    elements = Elements(page)
    assert elements.open == []
    attributes = elements.attributes
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    pointers = ("for", "aria-labelledby", "aria-describedby")
    assert {value for name, value in attributes if name in pointers} <= set(ids)


def test_the_page_is_small_whatever_the_number_of_rows(page):
    large = Report(collect_facts(*rows(190_000, 10_000))).html
    assert len(page.encode()) < 200_000
    assert len(large.encode()) < 200_000


def test_hostile_names_make_no_element(page, hostile):
    elements = Elements(hostile)
    assert elements.open == []
    assert elements.names.count("script") == 2
    assert "img" not in elements.names
    assert not any(name.startswith("on") for name, _ in elements.attributes)
    assert "{{7*7}}" in hostile


def test_data_survives_the_escaping(hostile):
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', hostile, re.S)
    text = block.group(1)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text)["names"]["negatives"] == HOSTILE


def test_facts_read_back_from_json_make_the_same_page(page):
    assert Report(json.loads(json.dumps(facts(), allow_nan=False))).html == page


def test_a_report_is_written_once_and_whole(tmp_path):
    path = tmp_path / "deep" / "report.html"
    report = Report(facts())
    assert report.save(path) == path
    assert path.read_text(encoding="utf-8") == report.html
    with pytest.raises(InvalidInputError, match="or overwrite=True"):
        report.save(path)
    path.write_text("old", encoding="utf-8")
    report.save(str(path), overwrite=True)
    assert path.read_text(encoding="utf-8") == report.html
    with pytest.raises(InvalidInputError, match="must be a new file"):
        report.save(tmp_path, overwrite=True)


def test_a_notebook_shows_the_page_in_a_frame(page):
    frame = Report(facts())._repr_html_()
    assert frame.startswith('<iframe srcdoc="')
    inner = frame[len('<iframe srcdoc="') : frame.index('" title=')]
    assert html.unescape(inner) == page


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    _template.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[report\]"'):
        Report(facts()).html  # noqa: B018
