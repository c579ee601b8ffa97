"""A real browser without a window and without a network."""

import json
import shutil
from contextlib import contextmanager

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


@contextmanager
def open_browser(profile):
    """Yield a Chromium driver; where there is none, skip."""
    chromium = shutil.which("chromium")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("Chromium and its driver are needed: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1100,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


def set_screen(browser, width=1100, height=900, dark=False):
    """Set the size of the page and the reader's wish for dark paper."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def console(browser):
    """Return what the page complained about since the last look."""
    return [entry["message"] for entry in browser.get_log("browser")]


def requests(browser):
    """Return every address that a page asked for since the last look, none of the browser's own."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
        and event["params"]["documentURL"].startswith("file://")
    ]


def open_pages(browser, files, first):
    """Return a function that opens a page anew, `first` unless told, on a wide light screen."""

    def open_page(name=first, **screen):
        console(browser), requests(browser)
        set_screen(browser, **screen)
        browser.get(files[name].as_uri())
        return browser

    return open_page
