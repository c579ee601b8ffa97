"""Every story's page in Chromium, wide and narrow, light and dark: nothing overlaps or is cut."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from boundshift import BoundShiftClassifier, find_zone
from boundshift.report import Report, RowDetails, collect_facts
from tests.browser import console, open_browser, set_screen
from tests.report.problems import TEST, rows
from tests.report.test_classes import ill
from tests.stories.test_truth import STORIES, pages  # noqa: F401

LONG = "patients of the outpatient department for internal medicine"
PAGES = (*STORIES, "leaking", "classes", "many classes", "long names")
WARDS = ("anaesthesia", "dermatology", "geriatrics", "orthopaedics")

# Boxes of text lines that are seen, in page coordinates, and what is wrong with them.
FAULTS = """
const faults = [];
const lines = [];
const shown = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.display === "none" || style.visibility === "hidden") return false;
    if (style.clipPath !== "none" || e.classList.contains("skip")) return false;
    if (e.tagName === "DETAILS" && !e.open && !element.closest("summary")) return false;
  }
  return true;
};
const say = (fault, text) => faults.push(`${fault}: ${text.trim().slice(0, 60)}`);
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  const element = node.parentElement;
  if (!node.data.trim() || element.closest("script, style, textarea") || !shown(element)) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const scroller = element.closest(".scroll");
  for (const box of range.getClientRects()) {
    if (box.width < 1) continue;
    const inside = scroller && scroller.scrollWidth > scroller.clientWidth;
    const isOut = box.left < -0.5 || box.right > innerWidth + 0.5;
    if (!inside && isOut) say("beyond the edge", node.data);
    lines.push({ node, box, element });
  }
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(element);
  if (!element.closest(".confusion, .comparison") && style.color.startsWith("rgb")) {
    const pair = [light(style.color), light(ground(element))].sort((a, b) => b - a);
    if ((pair[0] + 0.05) / (pair[1] + 0.05) < 4.5) say("too faint", node.data);
  }
}
const meet = (a, b, slack) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack
  && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack;
lines.forEach((one, i) => {
  for (const other of lines.slice(i + 1)) {
    if (one.node === other.node) continue;
    const slack = Math.min(one.box.height, other.box.height) * 0.3;
    if (meet(one.box, other.box, slack)) say("overlap", one.node.data + " | " + other.node.data);
  }
});
for (const picture of document.querySelectorAll("svg")) {
  const box = picture.getBoundingClientRect();
  for (const line of lines) if (meet(line.box, box, 2)) say("text on a picture", line.node.data);
}
for (const element of document.querySelectorAll("body *")) {
  if (!shown(element) || element.closest("svg")) continue;
  const style = getComputedStyle(element);
  const cuts = ["hidden", "clip"].includes(style.overflowX) || style.textOverflow === "ellipsis";
  if (cuts && element.scrollWidth > element.clientWidth + 1) say("cut", element.textContent);
  const scrolls = element.matches(".scroll") && element.scrollWidth > element.clientWidth + 1;
  if (scrolls && innerWidth >= 1300) say("a table scrolls", element.textContent);
  const isField = element.matches("textarea");
  if (isField && element.scrollHeight > element.clientHeight + 2) say("cut", element.value);
}
if (document.documentElement.scrollWidth > innerWidth) say("the page scrolls sideways", "");
return faults;
"""


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


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.mark.parametrize("name", PAGES)
def test_nothing_overlaps_is_cut_or_complains(browser, folder, name):
    faults = {}
    for width in (1300, 400):
        for dark in (False, True):
            set_screen(browser, width=width, dark=dark)
            browser.get((folder / f"{name}.html").as_uri())
            found = browser.execute_script(FAULTS) + console(browser)
            if found:
                faults[width, dark] = found
    assert faults == {}


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
