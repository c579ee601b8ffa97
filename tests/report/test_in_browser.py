"""The report in a real browser: slider, keys, numbers, narrow screen, offline, hostile names."""

import math

import numpy as np
import pytest

from boundshift import find_boundary
from boundshift.report import collect_facts, write_report
from tests.browser import console, open_browser, open_pages, requests
from tests.report.problems import HOSTILE, clopper_pearson, facts, rows, uniform

PAGES = ("full", "hostile", "large", "training", "paper")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


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
    large = collect_facts(labels, 1 / (1 + np.exp(4 - rng.normal(3.0 * labels))))
    plain = collect_facts(y, s, scores="training")
    paper = collect_facts(y, s, boundary=find_boundary(y, s, curve="support"))
    pages = {
        "full": facts(),
        "hostile": hostile,
        "large": large,
        "training": plain,
        "paper": paper,
    }
    return {name: write_report(known, folder / f"{name}.html") for name, known in pages.items()}


@pytest.fixture
def page(browser, files):
    return open_pages(browser, files, "full")


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


def test_opens_without_a_complaint_and_asks_for_nothing(page):
    for name in PAGES:
        browser = page(name)
        assert console(browser) == []
        asked = requests(browser)
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
@pytest.mark.parametrize("width", [320, 390, 1100])
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
    assert console(browser) == []


def test_only_the_pages_own_script_may_run(page):
    browser = page()
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
