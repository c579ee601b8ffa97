"""Figures whose images are stored: every display, small, on seeded data.

``python tests/plots/scenes.py`` draws them anew into ``tests/plots/images``.
"""

import json
from functools import cache
from pathlib import Path

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.legend import Legend
from matplotlib.text import Text

from boundshift.plots import ProjectionDisplay, ThresholdDisplay

IMAGES = Path(__file__).parent / "images"
WORDS = IMAGES / "words.json"
THEMES = ("light", "dark")
_DPI = 60


@cache
def _scores():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [400, 25])
    return y, rng.normal(3.2 * y - 3)


def _million():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [990_000, 10_000])
    scores = rng.normal(3.2 * y)
    scores[0] = 1e6
    return y, scores


def _rounded():
    y, scores = _scores()
    return y, np.round(scores, 1)


PROJECTION = ProjectionDisplay.from_predictions
THRESHOLD = ThresholdDisplay.from_predictions
PLATEAU = {"curve": "clopper-pearson", "rule": "minimax"}
OLD = {"old_threshold": 0.0}
# The function that draws a scene, its scores, its settings, and the height of its figure.
SCENES = {
    "projection": (PROJECTION, _scores, OLD, 4.8),
    "projection-paper": (PROJECTION, _scores, {"curve": "support", **OLD}, 4.8),
    "projection-million": (PROJECTION, _million, {"old_threshold": 2.5}, 4.8),
    "boundary": (THRESHOLD, _scores, {"interval": (-1.6, -0.9), **OLD}, 5.6),
    "boundary-plateau": (THRESHOLD, _rounded, PLATEAU, 5.6),
    "metric": (ThresholdDisplay.metrics, _scores, OLD, 5.0),
}


def figure_of(name, theme):
    """Return a scene, laid out by fixed numbers: room made for text would vary with releases."""
    draw_scene, scores, settings, height = SCENES[name]
    style = {} if theme == "light" else mpl.style.library["dark_background"]
    with mpl.rc_context({**mpl.rcParamsDefault, **style, "backend": "agg"}):
        figure = Figure(figsize=(8.0, height), dpi=_DPI)
        figure.subplots_adjust(left=0.19, right=0.97, top=0.84, bottom=0.26)
        FigureCanvasAgg(figure)
        draw_scene(*scores(), **settings, ax=figure.subplots())
        figure.canvas.draw()
        return figure


def draw(name, theme):
    """Return a scene without its text, which is compared as words, in red, green and blue."""
    figure = figure_of(name, theme)
    for artist in [*figure.findobj(Text), *figure.findobj(Legend)]:
        artist.set_visible(False)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy()


def words_of(name):
    """Return all text of a scene."""
    texts = (text.get_text() for text in figure_of(name, "light").findobj(Text))
    return sorted({text for text in texts if text})


def path_of(name, theme):
    return IMAGES / f"{name}-{theme}.png"


def store():
    IMAGES.mkdir(exist_ok=True)
    for name in SCENES:
        for theme in THEMES:
            imsave(path_of(name, theme), draw(name, theme), pil_kwargs={"optimize": True})
            print(path_of(name, theme))
    words = {name: words_of(name) for name in SCENES}
    WORDS.write_text(json.dumps(words, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    store()
