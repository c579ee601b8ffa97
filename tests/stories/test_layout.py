"""Every story's page in Chromium, wide and narrow, light and dark: nothing overlaps or is cut."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from boundshift import BoundShiftClassifier, find_zone
from boundshift.report import Report, RowDetails, collect_facts
from tests.browser import set_screen
from tests.report.problems import TEST, rows
from tests.report.test_classes import ill
from tests.stories.layout import FAULTS, layout_faults
from tests.stories.test_truth import STORIES, pages  # noqa: F401

LONG = "patients of the outpatient department for internal medicine"
PAGES = (*STORIES, "leaking", "classes", "many classes", "long names")
WARDS = ("anaesthesia", "dermatology", "geriatrics", "orthopaedics")


def wards():
    """Return a report on twelve classes with long names."""
    rng = np.random.default_rng(0)
    y = np.repeat([f"{name} {part}" for name in WARDS for part in "abc"], 80)
    X = np.eye(12)[np.unique(y, return_inverse=True)[1]] + rng.normal(0, 0.5, (960, 12))
    model = BoundShiftClassifier(GaussianNB(), cv=2).fit(X[::2], y[::2])
    return model.report(X[1::2], y[1::2], case_name="patients").html


@pytest.fixture(scope="module")
def folder(pages, tmp_path_factory):  # noqa: F811
    made = tmp_path_factory.mktemp("layout")
    html = {name: page for name, (_, page, _) in pages.items()}
    model, X, y = ill()
    html["classes"] = model.report(X, y, case_name="patients").html
    html["many classes"] = wards()
    facts = collect_facts(
        *rows(),
        test=TEST,
        case_name=LONG,
        positive_name="with a confirmed infection",
        interval=(-1.2, -0.4),
        zone=find_zone(*rows(400, 120, seed=3), errors=(0.05, 0.1)),
        details=RowDetails(groups={"department": ["internal medicine", "surgery"] * 445}),
        shell="boundshift predict folder new.csv --out predictions.csv --threshold {threshold}",
    )
    html["long names"] = Report(facts).html
    for name, page in html.items():
        (made / f"{name}.html").write_text(page, encoding="utf-8")
    return made


@pytest.mark.parametrize("name", PAGES)
def test_nothing_overlaps_is_cut_or_complains(browser, folder, name):
    assert layout_faults(browser, folder / f"{name}.html") == {}


def test_faults_are_found(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<p style='color:#ccc'>faint</p><p style='position:absolute;top:20px'>one line of text</p>"
        "<p style='position:absolute;top:22px'>another line of text</p>"
        "<p style='width:20px;overflow:hidden;white-space:nowrap'>too long for its box</p>"
        "<p style='position:absolute;left:390px;white-space:nowrap'>out of the screen</p>",
        encoding="utf-8",
    )
    set_screen(browser, width=400)
    browser.get(page.as_uri())
    kinds = {fault.split(":")[0] for fault in browser.execute_script(FAULTS)}
    assert {"too faint", "overlap", "cut", "beyond the edge"} <= kinds
