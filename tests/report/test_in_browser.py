"""The report in a real browser: slider, numbers, goals typed in, narrow screens, print."""

import csv
import io
import math
import re
import time

import numpy as np
import pytest

from boundshift import Cost, Floors, certify, find_boundary
from boundshift.report import ColumnUse, Report, RowDetails, collect_facts
from tests.browser import console, open_browser, open_pages, requests
from tests.report.problems import NAMES, clopper_pearson, facts, rows, uniform

TEST = rows(800, 90, seed=1)
TOGETHER = 1 - 2 / 3 * 0.05  # of two bounds out of three that hold together


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    y, s = rows()
    towns = np.random.default_rng(0).choice(["Bonn", "Rome", "Oslo"], 890)
    pages = {
        "full": facts(),
        "training": collect_facts(y, s, scores="training"),
        "cost": collect_facts(
            y,
            s,
            boundary=find_boundary(y, s, rule=Cost(false_negative=20)),
            test=TEST,
            **NAMES,
            details=RowDetails(probability=1 / (1 + np.exp(-TEST[1])), groups={"town": towns}),
            columns=[ColumnUse("id", "left out", "", "names", used=False)],
            shell="boundshift predict fit new.csv --threshold {threshold}",
            top="boundshift predict fit new.csv --top {top}",
        ),
    }
    floor = find_boundary(y, s, rule=Floors(recall=0.9))
    pages["floor"] = collect_facts(y, s, boundary=floor, test=TEST, **NAMES)
    return {name: Report(known).save(folder / f"{name}.html") for name, known in pages.items()}


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


def fill(browser, **values):
    for name, value in values.items():
        field = browser.find_element("id", name.replace("_", "-"))
        field.clear()
        field.send_keys(str(value))


def empty(browser, name):
    from selenium.webdriver.common.keys import Keys

    browser.find_element("id", name).send_keys(Keys.CONTROL, "a", Keys.BACKSPACE)


def threshold(browser):
    line = browser.find_element("id", "line").get_property("value")
    return float(line.split("--threshold ")[1])


def until(holds, seconds=10):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def check_numbers(browser):
    """Compare everything on show with a count of the test rows."""
    (y, s) = TEST
    i = stop(browser)
    stops = facts()["stops"]
    t = stops["threshold"][i]
    fp = int(np.sum(s[y == 0] > t))
    fn = int(np.sum(s[y == 1] <= t))
    matrix = [int(number(browser, name)) for name in ("tp", "fn", "fp", "tn")]
    assert matrix == [90 - fn, fn, fp, 800 - fp]
    assert number(browser, "missed") == pytest.approx(100 * fn / 90, abs=0.051)
    assert number(browser, "flagged") == pytest.approx(100 * fp / 800, abs=0.051)
    bound = clopper_pearson if i == stops["marks"]["shifted"] else uniform
    for name, k, n in (("missed-bound", fn, 90), ("flagged-bound", fp, 800)):
        most = math.ceil(1000 * bound(k, n, 0.05) - 1e-3) / 10
        assert number(browser, name) == pytest.approx(most, abs=0.11)
    assert number(browser, "found") + number(browser, "missed") == pytest.approx(100)
    assert number(browser, "people-missed") == pytest.approx(100 * fn / 90, abs=0.51)
    painted = browser.find_elements("css selector", "#dots-positive .is")
    assert len(painted) == number(browser, "people-missed")
    assert f"{t:.4g}".replace("-", "−") == text(browser, "threshold")
    cut = browser.execute_script(
        "const c = document.querySelector('.chart').getBoundingClientRect(),"
        "l = document.querySelector('.line.cut').getBoundingClientRect();"
        "return (l.left + l.width / 2 - c.left) / c.width"
    )
    assert cut == pytest.approx(stops["at"][i], abs=0.003)


def test_nothing_beside_the_slider_is_certified_on_training_rows(page):
    browser = page("training", width=320)
    assert "Nothing beside the slider is certified" in text(browser, "bound-note")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 320


def test_keys_and_buttons_move_the_slider_and_the_numbers_follow(page):
    from selenium.webdriver.common.keys import Keys

    browser = page()
    marks = facts()["stops"]["marks"]
    assert stop(browser) == marks["shifted"]
    check_numbers(browser)
    slider = browser.find_element("id", "slider")
    yours = browser.find_element("id", "legend-yours")
    assert not yours.is_displayed()
    slider.send_keys(Keys.ARROW_RIGHT)
    assert stop(browser) == marks["shifted"] + 1
    check_numbers(browser)
    assert yours.is_displayed()
    slider.send_keys(Keys.END)
    check_numbers(browser)
    assert number(browser, "missed") == 100.0
    assert "patients missed" in slider.get_attribute("aria-valuetext")
    browser.find_element("id", "to-own").click()
    assert stop(browser) == marks["old"]
    assert text(browser, "where") == "the model's own threshold"
    check_numbers(browser)
    browser.find_element("id", "to-shifted").click()
    assert stop(browser) == marks["shifted"]
    assert not yours.is_displayed()


def test_the_pictures_can_be_dragged(page):
    from selenium.webdriver import ActionChains

    browser = page()
    chart = browser.find_elements("css selector", ".chart")[1]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    held = ActionChains(browser).move_to_element(chart).click_and_hold()
    held.move_by_offset(100, 0).release().perform()
    assert stop(browser) == pytest.approx(500 + 1000 * 100 / chart.size["width"], abs=3)
    check_numbers(browser)


def test_only_the_pages_own_script_may_run(browser, files):
    browser = open_pages(browser, files, "full")()
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.owned = true';"
        "document.body.append(s);"
    )
    assert browser.execute_script("return window.owned") is None
    assert "Content Security Policy" in console(browser)[0]


def test_a_prevalence_moves_precision_and_alarms(page):
    browser = page("cost")
    fill(browser, prevalence="0.5")
    (y, s) = TEST
    t = threshold(browser)
    hits = 0.005 * np.mean(s[y == 1] > t)
    false = 0.995 * np.mean(s[y == 0] > t)
    assert number(browser, "precision") == pytest.approx(100 * hits / (hits + false), abs=0.06)
    assert number(browser, "alarms") == pytest.approx(1000 * (hits + false), abs=0.06)
    printed = [number(browser, name) for name in ("hits", "false-alarms", "alarms")]
    assert printed[0] + printed[1] == pytest.approx(printed[2])
    expected = 100 * certify(*TEST, t).at(TOGETHER).rate("precision", 0.005)
    assert number(browser, "precision-bound") == pytest.approx(expected, abs=0.11)
    fill(browser, prevalence=150)
    assert threshold(browser) == t
    assert "between 0 and 100" in text(browser, "goal-note")


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
    certificate = certify(*TEST, t, chosen_here=True).at(TOGETHER)
    most = certificate.rate("cost", 0.05, false_positive=2, false_negative=50)
    said = re.search(
        r"Least cost on these rows: ([\d.,]+) per 1,000 decisions; in the long run at most "
        r"([\d.,]+) with 95% confidence, whichever threshold you choose",
        text(browser, "goal-note"),
    )
    told = [float(number.replace(",", "")) for number in said.groups()]
    assert told == pytest.approx([cost.min(), 1000 * most], rel=1e-3)
    fill(browser, prevalence=0.5)  # a new prevalence keeps the goal
    assert threshold(browser) > t
    fill(browser, miss_cost=-1)
    assert "numbers above 0" in text(browser, "goal-note")


def test_a_capacity_moves_the_line_and_with_costs_both_are_honoured(page):
    browser = page("cost")
    y, s = TEST
    stops = np.array(browser.execute_script("return report.data.threshold"))
    flagged = np.sum(s[:, None] > stops, axis=0)
    cost = 20 * np.sum(s[y == 1][:, None] <= stops, axis=0)
    cost = cost + np.sum(s[y == 0][:, None] > stops, axis=0)
    fill(browser, capacity=50, out_of=890)
    t = threshold(browser)
    assert cost[list(stops).index(t)] == cost[flagged <= 50].min()
    assert "Least cost" in text(browser, "goal-note")
    empty(browser, "miss-cost")
    assert "what both errors cost" in text(browser, "goal-note")
    empty(browser, "alarm-cost")
    t = threshold(browser)
    assert list(stops).index(t) == np.flatnonzero(flagged <= 50)[0]
    note = text(browser, "goal-note")
    assert f"flags about {np.sum(s > t)} of 890 patients" in note
    assert "--top 50" in note
    most = certify(*TEST, t, chosen_here=True).at(TOGETHER).rate("flagged", 90 / 890)
    assert f"in the long run at most {np.ceil(1000 * most) / 10:.1f}% are flagged" in note


def test_inputs_that_lead_away_from_the_goal_say_so(page):
    browser = page("floor")
    fill(browser, capacity=50, out_of=890)
    assert "The goal is missed here: recall is" in text(browser, "goal-note")
    fill(browser, capacity=500)
    assert "missed" not in text(browser, "goal-note")
    fill(browser, capacity=-1)
    assert "Fill in how many" in text(browser, "goal-note")


def test_the_threshold_is_copied(page):
    browser = page("cost")
    t = threshold(browser)
    grant = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", grant)
    browser.find_element("id", "copy").click()
    until(lambda: text(browser, "taken").startswith("Copied"))
    copied = browser.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.readText().then(done, String)"
    )
    assert float(copied) == t


def test_the_table_of_thresholds_is_downloaded(page, tmp_path):
    browser = page("cost")
    settings = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", settings)
    browser.find_element("id", "download").click()
    path = tmp_path / "thresholds.csv"
    until(lambda: path.exists() and path.read_text(encoding="utf-8").count("\n") > 1000)
    y, s = TEST
    table = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    for row in table[::100]:
        t = float(row["threshold"])
        flagged = s > t
        assert int(row["misses"]) == np.sum(~flagged & (y == 1))
        assert int(row["false_alarms"]) == np.sum(flagged & (y == 0))
        assert float(row["alarms_per_1000"]) == pytest.approx(1000 * np.mean(flagged))
