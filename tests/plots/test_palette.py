import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb

from boundshift.plots import ProjectionDisplay
from boundshift.plots._canvas import DARK, LIGHT

# Machado, Oliveira and Fernandes 2009: how colours look without one kind of cone.
DEFICIENCIES = {
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def linear(color):
    value = np.array(to_rgb(color))
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    white = np.array([0.9505, 1.0, 1.089])
    f = np.cbrt(np.maximum(np.array(to_xyz) @ np.clip(rgb, 0, 1) / white, 1e-4))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(first, second):
    low, high = sorted(linear(c) @ [0.2126, 0.7152, 0.0722] for c in (first, second))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("kind", DEFICIENCIES)
def test_colour_blind_readers_can_tell_the_classes_apart(palette, kind):
    seen = [lab(np.array(DEFICIENCIES[kind]) @ linear(c)) for c in palette.classes]
    assert np.linalg.norm(seen[0] - seen[1]) > 40


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_lines_stand_out_from_the_paper(palette):
    assert contrast(palette.ink, palette.surface) > 12
    assert contrast(palette.soft, palette.surface) > 4.5
    assert all(contrast(color, palette.surface) > 3 for color in palette.classes)


def test_auto_follows_the_style_of_matplotlib():
    y, scores = [0, 0, 0, 1, 1], [0, 1, 2, 5, 6]
    with pyplot.style.context("dark_background"):
        dark = ProjectionDisplay.from_predictions(y, scores)
    light = ProjectionDisplay.from_predictions(y, scores)
    colors = [d.ax_.get_yticklabels()[1].get_color() for d in (dark, light)]
    assert colors == [DARK.classes[1], LIGHT.classes[1]]
