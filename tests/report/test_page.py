import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from boundshift import InvalidInputError, MissingExtraError, find_boundary
from boundshift.report import collect_facts, render_report, write_report
from boundshift.report.draw import draw_threshold_plot
from tests.report.problems import HOSTILE, facts, rows


class Elements(HTMLParser):
    VOID = ("meta", "link", "input")

    def __init__(self, page):
        super().__init__()
        self.names, self.open, self.attributes = [], [], []
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
    return render_report(facts())


@pytest.fixture(scope="module")
def hostile():
    y, s = rows()
    return render_report(
        collect_facts(
            np.where(y == 1, HOSTILE, "b"),
            s,
            pos_label=HOSTILE,
            names={"negative": HOSTILE, "title": HOSTILE, "unit": HOSTILE},
            model=HOSTILE,
            comparison=[{"method": HOSTILE, HOSTILE: HOSTILE}],
            deploy=[HOSTILE],
        )
    )


def test_every_element_is_closed(page):
    assert Elements(page).open == []


def test_ids_are_unique_and_labels_point_at_them(page):
    attributes = Elements(page).attributes
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    pointers = ("for", "aria-labelledby", "aria-describedby")
    assert {value for name, value in attributes if name in pointers} <= set(ids)


def test_nothing_is_loaded(page):
    attributes = Elements(page).attributes
    links = [v for name, v in attributes if name in ("src", "href", "action", "data", "poster")]
    assert all(link.startswith(("#", "data:")) for link in links)
    style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_the_page_is_small_whatever_the_number_of_rows(page):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [990_000, 10_000])
    large = render_report(collect_facts(y, rng.normal(3.0 * y)))
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
    assert json.loads(text)["negatives"] == HOSTILE


def test_facts_read_back_from_json_make_the_same_page(page):
    assert render_report(json.loads(json.dumps(facts()))) == page


def test_curves_go_through_the_error_rates():
    stops, n = facts()["stops"], facts()["rows"]["test"]
    line = draw_threshold_plot(stops, n)["curves"][1]["line"]
    points = np.array([p.split() for p in line[1:].split("L")], dtype=float)
    y = np.interp(1000 * np.array(stops["at"]), points[:, 0], points[:, 1])
    rates = np.array(stops["wrong"][1]) / n[1]
    np.testing.assert_allclose(1 - y / 240, rates, atol=0.01)


def test_only_the_papers_method_has_means_and_radii(page):
    y, s = rows()
    paper = render_report(collect_facts(y, s, boundary=find_boundary(y, s, curve="support")))
    for mark in ('class="mean', 'class="radius"', "key thick", "points given up", "delta"):
        assert mark in paper
        assert mark not in page.split("</style>")[1]


def test_the_curve_is_named_with_its_settings_and_its_claim(page):
    assert "by Blend(rows=10.0) and GMean(tolerance=0.0025)" in page
    assert "“blend”: an estimate of the error, not a bound on it." in page


def test_a_report_is_written_once(tmp_path):
    path = tmp_path / "deep" / "report.html"
    assert write_report(facts(), path) == path
    assert path.read_text(encoding="utf-8") == render_report(facts())
    with pytest.raises(InvalidInputError, match="Use force=True to replace it"):
        write_report(facts(), path)
    path.write_text("old", encoding="utf-8")
    write_report(facts(), str(path), force=True)
    assert path.read_text(encoding="utf-8") != "old"


def test_a_folder_is_no_report(tmp_path):
    with pytest.raises(InvalidInputError, match="must be a file"):
        write_report(facts(), tmp_path, force=True)


def test_a_page_that_cannot_be_made_leaves_no_file(tmp_path):
    path = tmp_path / "report.html"
    broken = {key: value for key, value in facts().items() if key != "verdict"}
    with pytest.raises(Exception, match="verdict"):
        write_report(broken, path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[report\]"'):
        render_report(facts())


def test_what_the_page_needs_is_in_the_wheel(tmp_path):
    import subprocess
    import zipfile
    from pathlib import Path

    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=root,
        check=True,
        capture_output=True,
    )
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    markup = root / "src" / "boundshift" / "report" / "markup"
    shipped = {f"boundshift/report/markup/{path.name}" for path in markup.iterdir()}
    assert len(shipped) >= 10
    assert shipped <= set(names)
