"""Displays look as they did: every one against a stored image, on light and dark paper."""

import json

import numpy as np
import pytest
from matplotlib.image import imread

from tests.plots.scenes import SCENES, THEMES, WORDS, draw, path_of, words_of

# Root mean square over tiles, of 255. Another release of matplotlib moves edges by fractions of a
# pixel, which tiles forgive; a missing line or another colour is above.
TOLERANCE = 3.0
TILE = 2


def tiles(image):
    """Average small squares."""
    height, width = (size // TILE * TILE for size in image.shape[:2])
    cut = image[:height, :width].astype(float)
    return cut.reshape(height // TILE, TILE, width // TILE, TILE, 3).mean(axis=(1, 3))


def distance(first, second):
    assert first.shape == second.shape
    return float(np.sqrt(np.mean((tiles(first) - tiles(second)) ** 2)))


def stored(name, theme):
    return np.round(imread(path_of(name, theme))[:, :, :3] * 255).astype(np.uint8)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", SCENES)
def test_looks_as_stored(name, theme):
    assert distance(draw(name, theme), stored(name, theme)) < TOLERANCE, (
        "The figure has changed. If that is meant, look at it and run "
        "`python tests/plots/scenes.py`."
    )


@pytest.mark.parametrize("name", SCENES)
def test_says_what_it_said(name):
    assert words_of(name) == json.loads(WORDS.read_text(encoding="utf-8"))[name]
