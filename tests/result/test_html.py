import re
from xml.etree import ElementTree

import numpy as np
import pytest

from boundshift import find_boundary, find_zone


def text_of(boundary):
    """Return the text of a fragment whose elements are all closed."""
    return "".join(ElementTree.fromstring(boundary._repr_html_()).itertext())


@pytest.fixture(params=["support", "logistic"])
def boundary(request):
    rng = np.random.default_rng(0)
    y = np.repeat(["well", "sick"], [300, 30])
    return find_boundary(y, rng.normal(3.0 * (y == "sick")), curve=request.param, pos_label="sick")


def test_notebooks_are_shown_the_sentence_and_every_number_of_the_table(boundary):
    text = text_of(boundary)
    assert f"Predict sick if score > {boundary.threshold:.6g}, else well" in text
    shown = [boundary.errors, boundary.n_samples, boundary.wrong]
    if boundary.geometry is not None:
        known = boundary.geometry
        shown += [known.means, known.radii, known.confidence_radii]
    for value in (value for pair in shown for value in pair):
        assert f"{value:.4g}" in text


def test_curves_without_radii_are_not_said_to_have_some(boundary):
    page = boundary._repr_html_()
    assert ("radius" in page) == (boundary.geometry is not None)
    assert ("radius" in boundary.summary()) == (boundary.geometry is not None)


def test_labels_are_escaped():
    hostile = "<script>alert(1)</script>"
    y = ["a"] * 90 + [hostile] * 90
    for found in (
        find_boundary(y, range(180), pos_label=hostile),
        find_zone(y, range(180), pos_label=hostile),
    ):
        page = found._repr_html_()
        assert "<script" not in page
        assert "&lt;script&gt;" in page


def test_nothing_is_loaded(boundary):
    assert not re.search(r"https?:|src=|url\(", boundary._repr_html_())
