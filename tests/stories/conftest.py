import pytest

from tests.browser import open_browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver
