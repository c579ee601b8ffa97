"""The documentation's images come from a command that still runs."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("draw_images", DOCS / "draw_images.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_is_stored(script):
    wanted = {f"{name}.png" for name in (*script.FIGURES, "report")}
    assert wanted <= {path.name for path in (DOCS / "images").iterdir()}


def test_the_example_report_is_certified_on_real_patients(script, monkeypatch):
    monkeypatch.setattr(script, "threshold_interval", lambda *a, **k: (-2.0, -0.2))
    page = script.report()
    sentence = page.split('class="sentence">')[1].split("</p>")[0]
    assert re.sub("<.*?>", "", sentence).startswith(
        "Of 100 sick patients the shifted model is expected to miss"
    )
    assert 'class="badge certified"' in page
