"""The report in a real browser: slider, keys, numbers, goals typed in, narrow screens, print."""

import base64
import csv
import io
import math
import re
import time
import zlib

import numpy as np
import pytest

from boundshift import Cost, certify, find_boundary
from boundshift.report import RowDetails, collect_facts, write_report
from tests.browser import console, open_browser, open_pages, requests
from tests.report.problems import HOSTILE, NAMES, clopper_pearson, facts, rows, uniform

PAGES = ("full", "hostile", "large", "training", "paper", "cost")
TEST = rows(800, 90, seed=1)
WORDS = ("radius", "what confidence adds", "given up", "delta", "nominal", "RELAXED")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def downloads(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    settings = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", settings)
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    y, s = rows()
    hostile = collect_facts(
        np.where(y == 1, HOSTILE, "b"),
        s,
        pos_label=HOSTILE,
        names={"negative": HOSTILE, "title": HOSTILE},
        comparison=[{"method": HOSTILE, HOSTILE: 1.0}],
    )
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [990_000, 10_000])
    towns = np.random.default_rng(0).choice(["Bonn", "Rome", "Oslo"], 890)
    cost = collect_facts(
        y,
        s,
        boundary=find_boundary(y, s, rule=Cost(false_negative=20)),
        test=TEST,
        names=NAMES,
        details=RowDetails(probability=1 / (1 + np.exp(-TEST[1])), groups={"town": towns}),
        columns=[("age", "number", "3 of 890", "numbers; scaled"), ("id", "left out", "", "names")],
        shell="boundshift predict fit new.csv --threshold {threshold}",
        top="boundshift predict fit new.csv --top {top}",
    )
    pages = {
        "full": facts(),
        "hostile": hostile,
        "large": collect_facts(labels, 1 / (1 + np.exp(4 - rng.normal(3.0 * labels)))),
        "training": collect_facts(y, s, scores="training"),
        "paper": collect_facts(y, s, boundary=find_boundary(y, s, curve="support"), names=NAMES),
        "cost": cost,
    }
    return {name: write_report(known, folder / f"{name}.html") for name, known in pages.items()}


@pytest.fixture
def page(browser, files):
    """Open pages; at the end nothing has complained, and nothing was asked of the network."""
    yield open_pages(browser, files, "full")
    assert console(browser) == []
    assert all(url.startswith(("file://", "data:", "blob:")) for url in requests(browser))


def text(browser, name):
    return browser.find_element("id", name).get_attribute("textContent")


def number(browser, name):
    return float(text(browser, name).replace(",", "").rstrip("%").replace("−", "-"))


def stop(browser):
    return int(browser.find_element("id", "slider").get_property("value"))


def check_numbers(browser, marks):
    """Compare everything on show with a count of the test rows."""
    y, s = rows(800, 90, seed=1)
    i = stop(browser)
    t = facts()["stops"]["threshold"][i]
    fp, fn = int(np.sum(s[y == 0] > t)), int(np.sum(s[y == 1] <= t))
    matrix = [int(number(browser, name)) for name in ("tp", "fn", "fp", "tn")]
    assert matrix == [90 - fn, fn, fp, 800 - fp]
    assert number(browser, "missed") == pytest.approx(100 * fn / 90, abs=0.051)
    assert number(browser, "flagged") == pytest.approx(100 * fp / 800, abs=0.051)
    bound = clopper_pearson if i in marks.values() else uniform
    for name, k, n in (("missed-bound", fn, 90), ("flagged-bound", fp, 800)):
        assert number(browser, name) == pytest.approx(
            math.ceil(1000 * bound(k, n, 0.05) - 1e-3) / 10, abs=0.11
        )
    assert number(browser, "found") + number(browser, "missed") == pytest.approx(100)
    assert text(browser, "people-missed-bound") == text(browser, "missed-bound")
    assert text(browser, "people-flagged-bound") == text(browser, "flagged-bound")
    assert number(browser, "people-missed") == pytest.approx(100 * fn / 90, abs=0.51)
    painted = browser.find_elements("css selector", "#dots-positive .is")
    assert len(painted) == number(browser, "people-missed")
    assert f"{t:.4g}".replace("-", "−") == text(browser, "threshold")
    cut = browser.execute_script(
        "const c = document.querySelector('.chart').getBoundingClientRect(),"
        "l = document.querySelector('.line.cut').getBoundingClientRect();"
        "return (l.left + l.width / 2 - c.left) / c.width"
    )
    assert cut == pytest.approx(facts()["stops"]["at"][i], abs=0.003)


@pytest.mark.parametrize("name", PAGES)
def test_opens_without_a_complaint_and_asks_for_nothing(page, name):
    asked = requests(page(name))  # the console is looked at in the end
    assert asked
    assert all(url.startswith(("file://", "data:")) for url in asked)


def test_starts_at_the_shifted_boundary_with_the_numbers_of_the_verdict(page):
    browser = page()
    marks = facts()["stops"]["marks"]
    assert stop(browser) == marks["shifted"]
    check_numbers(browser, marks)
    assert number(browser, "people-missed") == facts()["verdict"]["missed"]


def test_keys_move_the_slider_and_the_numbers_follow(page):
    from selenium.webdriver.common.keys import Keys

    browser = page()
    marks = facts()["stops"]["marks"]
    slider = browser.find_element("id", "slider")
    before = stop(browser)
    slider.send_keys(Keys.ARROW_RIGHT)
    assert stop(browser) == before + 1
    check_numbers(browser, marks)
    slider.send_keys(Keys.PAGE_UP)
    assert stop(browser) > before + 50
    check_numbers(browser, marks)
    slider.send_keys(Keys.HOME)
    assert stop(browser) == 0
    check_numbers(browser, marks)
    slider.send_keys(Keys.END)
    check_numbers(browser, marks)
    assert number(browser, "missed") == 100.0
    assert "patients missed" in slider.get_attribute("aria-valuetext")


def test_everything_that_acts_can_be_reached_with_the_tab_key(page):
    from selenium.webdriver.common.keys import Keys

    browser = page()
    reached = []
    for _ in range(8):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(browser.switch_to.active_element.get_attribute("id"))
    assert [name for name in reached if name in ("slider", "to-shifted", "to-own")] == [
        "slider",
        "to-shifted",
        "to-own",
    ]


def test_a_button_goes_to_the_models_own_threshold_and_back(page):
    browser = page()
    marks = facts()["stops"]["marks"]
    browser.find_element("id", "to-own").click()
    assert stop(browser) == marks["old"]
    check_numbers(browser, marks)
    assert text(browser, "where") == "the model's own"
    browser.find_element("id", "to-shifted").click()
    assert stop(browser) == marks["shifted"]


def test_the_slider_follows_the_mouse(page):
    from selenium.webdriver import ActionChains

    browser = page()
    slider = browser.find_element("id", "slider")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", slider)
    before = stop(browser)
    ActionChains(browser).move_to_element(slider).click_and_hold().move_by_offset(
        150, 0
    ).release().perform()
    assert abs(stop(browser) - before) > 50
    check_numbers(browser, facts()["stops"]["marks"])


@pytest.mark.parametrize("which", [0, 1])
def test_the_pictures_can_be_dragged(page, which):
    from selenium.webdriver import ActionChains

    browser = page()
    chart = browser.find_elements("css selector", ".chart")[which]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    ActionChains(browser).move_to_element(chart).click_and_hold().move_by_offset(
        100, 0
    ).release().perform()
    expected = 500 + 1000 * 100 / chart.size["width"]
    assert stop(browser) == pytest.approx(expected, abs=3)
    check_numbers(browser, facts()["stops"]["marks"])


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [320, 1100])
def test_no_page_is_wider_than_its_screen(page, name, width):
    browser = page(name, width=width)
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= width


def test_marks_on_a_narrow_screen_are_large_enough_for_a_thumb(page):
    browser = page(width=320)
    for name in ("slider", "to-shifted", "to-own"):
        size = browser.find_element("id", name).size
        assert size["height"] >= 28


def test_hostile_names_do_not_run(page):
    browser = page("hostile")
    assert browser.title != "owned"
    assert browser.find_elements("tag name", "img") == []
    assert HOSTILE.split("\u2028")[0] in browser.find_element("tag name", "h1").text


def test_only_the_pages_own_script_may_run(browser, files):
    browser = open_pages(browser, files, "full")()
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.owned = true';"
        "document.body.append(s);"
    )
    assert browser.execute_script("return window.owned") is None
    assert "Content Security Policy" in console(browser)[0]


def test_dark_paper_is_dark_and_text_on_it_light(page):
    script = (
        "const s = getComputedStyle(document.body);"
        "return [s.backgroundColor, s.color].map(c => c.match(/\\d+/g).map(Number)[0])"
    )
    paper, ink = page(dark=True).execute_script(script)
    assert paper < 60 < 200 < ink
    paper, ink = page(dark=False).execute_script(script)
    assert ink < 60 < 200 < paper


def test_numbers_stand_on_the_page_without_the_script(files):
    html = files["full"].read_text(encoding="utf-8")
    shifted = facts()["certificates"]["shifted"]
    assert f'id="fn" class="wrong positive">{shifted["wrong"][1]}<' in html
    assert f'id="missed">{100 * shifted["errors"][1]:.1f}%<' in html


def test_training_scores_certify_nothing_beside_the_slider(page):
    browser = page("training")
    assert "Nothing here is certified" in text(browser, "bound-note")


def test_prints_without_the_slider(page):
    browser = page()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not browser.find_element("id", "slider").is_displayed()
    assert browser.find_element("id", "tp").is_displayed()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def share(browser, name):
    return float(text(browser, name).rstrip("%")) / 100


def fill(browser, **values):
    for name, value in values.items():
        field = browser.find_element("id", name.replace("_", "-"))
        field.clear()
        field.send_keys(str(value))


def threshold(browser):
    line = browser.find_element("id", "line").get_property("value")
    return float(line.split("--threshold ")[1])


def errors_at(t):
    y, s = TEST
    return np.mean(s[y == 0] > t), np.mean(s[y == 1] <= t)


def test_precision_and_alarms_follow_the_prevalence_that_is_typed(page):
    browser = page("cost")
    fill(browser, prevalence="0.5")
    alarmed, missed = errors_at(threshold(browser))
    hits, false = 0.005 * (1 - missed), 0.995 * alarmed
    assert share(browser, "precision") == pytest.approx(hits / (hits + false), abs=6e-4)
    assert float(text(browser, "alarms")) == pytest.approx(1000 * (hits + false), abs=0.06)
    assert float(text(browser, "hits")) == pytest.approx(1000 * hits, abs=0.06)
    printed = [float(text(browser, name)) for name in ("hits", "false-alarms", "alarms")]
    assert printed[0] + printed[1] == pytest.approx(printed[2])
    certificate = certify(*TEST, threshold(browser))
    expected = certificate.rates(0.005).precision
    assert share(browser, "precision-bound") == pytest.approx(expected, abs=1.1e-3)


def test_costs_move_the_line_to_the_least_cost_with_a_bound_for_every_threshold(page):
    browser = page("cost")
    fill(browser, prevalence=5, miss_cost=50, alarm_cost=2)
    stops = np.array(browser.execute_script("return report.data.threshold"))
    y, s = TEST
    alarmed = np.mean(s[y == 0][:, None] > stops, axis=0)
    missed = np.mean(s[y == 1][:, None] <= stops, axis=0)
    cost = 1000 * (0.05 * 50 * missed + 0.95 * 2 * alarmed)
    t = threshold(browser)
    assert cost[list(stops).index(t)] == pytest.approx(cost.min())
    rates = certify(*TEST, t, chosen_here=True).rates(0.05, false_positive=2, false_negative=50)
    said = re.search(
        r"Least cost on these rows: ([\d.,]+) per 1,000 decisions; in the long run at most "
        r"([\d.,]+) with 95% confidence, whichever threshold you choose",
        text(browser, "goal-note"),
    )
    told = [float(number.replace(",", "")) for number in said.groups()]
    assert told == pytest.approx([cost.min(), 1000 * rates.cost], rel=1e-3)


def test_people_that_can_be_called_move_the_line_to_where_so_many_are_flagged(page):
    browser = page("cost")
    fill(browser, capacity=50, out_of=890)
    t = threshold(browser)
    stops = np.array(browser.execute_script("return report.data.threshold"))
    flagged = np.sum(TEST[1] > t)
    assert flagged <= 50
    lower = stops[list(stops).index(t) - 1]
    assert np.sum(TEST[1] > lower) > 50
    note = text(browser, "goal-note")
    assert f"calls about {flagged} of 890 patients" in note
    assert "--top 50" in note
    rates = certify(*TEST, t, chosen_here=True).rates(90 / 890)
    assert f"in the long run at most {np.ceil(1000 * rates.flagged) / 10:.1f}% are called" in note


def test_a_new_prevalence_keeps_the_goal(page):
    browser = page("cost")
    fill(browser, miss_cost=20, alarm_cost=1)
    common = threshold(browser)
    fill(browser, prevalence=0.5)
    assert threshold(browser) > common
    assert "Least cost" in text(browser, "goal-note")


@pytest.mark.parametrize("fields", [{"miss_cost": -1, "alarm_cost": 1}, {"prevalence": 150}])
def test_nonsense_moves_nothing_and_is_said(page, fields):
    browser = page("cost")
    before = threshold(browser)
    fill(browser, **fields)
    assert threshold(browser) == before
    assert re.search("numbers above 0|between 0 and 100", text(browser, "goal-note"))


def test_a_line_that_was_moved_is_yours_in_the_legend(page):
    from selenium.webdriver.common.keys import Keys

    browser = page("cost")
    yours = browser.find_element("id", "legend-yours")
    assert not yours.is_displayed()
    browser.find_element("id", "slider").send_keys(Keys.PAGE_UP)
    assert yours.is_displayed()
    assert yours.text == "your threshold"
    assert text(browser, "where") == "your threshold"
    browser.find_element("id", "to-shifted").click()
    assert not yours.is_displayed()


def test_the_threshold_is_copied_in_full(page):
    browser = page("cost")
    grant = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", grant)
    fill(browser, capacity=50, out_of=890)
    browser.find_element("id", "copy").click()
    until(lambda: text(browser, "taken").startswith("Copied"))
    copied = browser.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.readText().then(done, String)"
    )
    assert float(copied) == threshold(browser)


def test_where_the_clipboard_is_closed_the_threshold_is_copied_the_old_way(page):
    browser = page("cost")
    browser.execute_script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
        "document.execCommand = (name) => { window.copied = "
        "document.activeElement.value; return name === 'copy'; }"
    )
    browser.find_element("id", "copy").click()
    until(lambda: text(browser, "taken").startswith("Copied"))
    assert float(browser.execute_script("return window.copied")) == threshold(browser)


def test_the_table_of_thresholds_is_downloaded(page, downloads):
    browser = page("cost")
    fill(browser, prevalence=2)
    browser.find_element("id", "download").click()
    path = downloads / "thresholds.csv"
    until(path.exists)
    until(lambda: path.read_text(encoding="utf-8").count("\n") == 1002)
    table = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    y, s = TEST
    for row in table[::100]:
        t = float(row["threshold"])
        assert int(row["misses"]) == np.sum(s[y == 1] <= t)
        assert int(row["false_alarms"]) == np.sum(s[y == 0] > t)
        hits, false = 0.02 * int(row["hits"]) / 90, 0.98 * int(row["false_alarms"]) / 800
        assert float(row["alarms_per_1000"]) == pytest.approx(1000 * (hits + false))
        if hits + false:
            assert float(row["precision"]) == pytest.approx(hits / (hits + false))


def test_words_of_the_paper_stand_behind_details(page):
    for name in ("cost", "paper"):
        browser = page(name)
        seen = browser.find_element("tag name", "body").text
        assert not [word for word in WORDS if word.lower() in seen.lower()]
    browser.execute_script("document.querySelector('details').open = true")
    assert "what confidence adds" in browser.find_element("tag name", "details").text


@pytest.mark.parametrize("width", [400, 1100])
def test_no_line_goes_through_a_label(page, width):
    browser = page("cost", width=width)
    hidden = browser.execute_script(
        """
        const bad = [];
        for (const label of document.querySelectorAll("#try .lane b, #try .lane span")) {
          const box = label.getBoundingClientRect();
          window.scrollTo(0, window.scrollY + box.top - 300);
          const now = label.getBoundingClientRect();
          label.style.pointerEvents = label.parentElement.style.pointerEvents = "auto";
          for (const line of document.querySelectorAll("#try .line")) {
            const cut = line.getBoundingClientRect();
            const x = (cut.left + cut.right) / 2;
            line.style.pointerEvents = "auto";
            if (x > now.left && x < now.right && cut.top < now.bottom && cut.bottom > now.top) {
              const top = document.elementFromPoint(x, (now.top + now.bottom) / 2);
              if (top !== label) { bad.push(label.textContent); }
            }
          }
        }
        return bad;
        """
    )
    assert hidden == []


def test_a_table_that_scrolls_shows_it(page):
    browser = page("cost", width=400)
    wide = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')]"
        ".filter(e => e.scrollWidth > e.clientWidth)"
        ".map(e => getComputedStyle(e).backgroundAttachment)"
    )
    assert wide
    assert all(set(style.split(", ")) == {"local", "scroll"} for style in wide)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400


def printed(browser):
    made = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    return base64.b64decode(made["data"])


def test_prints_with_a_first_page_and_details(page):
    browser = page("paper")
    browser.execute_script(
        "window.opened = []; window.addEventListener('beforeprint', () => "
        "opened.push(document.querySelector('details').open))"
    )
    pdf = printed(browser)
    assert browser.execute_script("return opened") == [True]
    assert not browser.execute_script("return document.querySelector('details').open")
    pages = [
        zlib.decompress(stream)
        for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S)
        if stream[:1] == b"x"
    ]
    shown = [page for page in pages if b"BT" in page]
    assert len(shown) >= 3
    assert shown[0].count(b"Tj") + shown[0].count(b"TJ") > 20


def test_nothing_is_cut_off_on_paper(page):
    browser = page("cost", width=690)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    cut = browser.execute_script(
        "return [...document.querySelectorAll('pre, .scroll, section')]"
        ".filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map(e => e.className)"
    )
    assert cut == []
    assert not browser.find_element("id", "fields").is_displayed()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_page_works_inside_a_frame_of_a_notebook(page, files, tmp_path, browser):
    import html

    inner = html.escape(files["cost"].read_text(encoding="utf-8"))
    outer = tmp_path / "notebook.html"
    outer.write_text(f'<iframe srcdoc="{inner}" style="width:100%;height:900px"></iframe>')
    browser.get(outer.as_uri())
    browser.switch_to.frame(0)
    fill(browser, capacity=50, out_of=890)
    assert "calls about" in text(browser, "goal-note")
    browser.switch_to.default_content()


def until(holds, seconds=10):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
