"""The documentation's images come from a command that still runs."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_figures_are_stored_and_the_example_report_is_certified_on_real_patients():
    script = runpy.run_path(str(DOCS / "draw_images.py"))
    wanted = {f"{name}.png" for name in (*script["FIGURES"], *script["PICTURES"])}
    assert wanted <= {path.name for path in (DOCS / "images").iterdir()}
    page = script["report"]()
    assert "sick patients, the new threshold misses about" in page
    assert 'class="badge certified"' in page
