"""The paper's figures, drawn anew; matplotlib, the extra ``plot``, is imported when one is drawn.

| figure | function |
|---|---|
| 1 Moving the bias | `draw_moving_bias` |
| 2 Data and projected space | `draw_projected_space` |
| 3 Classifiers on synthetic data | `draw_classifiers` |
| 4 Overlapping projected space | `draw_overlap` |
| 5 Projected space after the optimisation | `draw_optimised_space` |
| 6 Test set with all boundaries | `draw_test_set` |
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from boundshift.writing import write_whole
from lab.harness.canvas import save
from lab.reproduction.figures.plane import (
    draw_classifiers,
    draw_moving_bias,
    draw_test_set,
)
from lab.reproduction.figures.projected import (
    draw_optimised_space,
    draw_overlap,
    draw_projected_space,
)
from lab.reproduction.source import source_digest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FIGURES",
    "draw_classifiers",
    "draw_figures",
    "draw_moving_bias",
    "draw_optimised_space",
    "draw_overlap",
    "draw_projected_space",
    "draw_test_set",
]

FIGURES: dict[str, Callable[[], Figure]] = {
    "figure-1-moving-bias": draw_moving_bias,
    "figure-2-projected-space": draw_projected_space,
    "figure-3-classifiers": draw_classifiers,
    "figure-4-overlap": draw_overlap,
    "figure-5-optimised": draw_optimised_space,
    "figure-6-test-set": draw_test_set,
}
"""Name of the file → function that draws it."""


def draw_figures(
    folder: Path, *, progress: Callable[[str, int, int], None] = lambda what, done, total: None
) -> list[Path]:
    """Draw all figures of the paper into a folder, as PNG, unless the same code has done so.

    Parameters
    ----------
    folder : Path
        Where to.
    progress : callable
        Called with what is going on, figures done, and figures in all.

    Returns
    -------
    list of Path
        The files.
    """
    files = [folder / f"{name}.png" for name in FIGURES]
    drawn_by = folder / ".drawn-by"
    known = drawn_by.read_text("utf-8") if drawn_by.is_file() else ""
    if known == source_digest() and all(file.is_file() for file in files):
        return files
    for done, (file, draw) in enumerate(zip(files, FIGURES.values(), strict=True), 1):
        save(draw(), file)
        progress("drawing", done, len(FIGURES))
    write_whole(drawn_by, source_digest())
    return files
