"""Scores of both classes, and the boundary between them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from boundshift._result.boundary import Boundary
from boundshift._scores import LogOdds, Scores, ScoreSample
from boundshift._status import Status
from boundshift._typing import BoolArray, FloatArray
from boundshift._view import choose_axis, class_scores, settle_boundary
from boundshift._words import claim_text, decision, error_text
from boundshift.plots._canvas import (
    Palette,
    ScoreDisplay,
    add_legend,
    draw_boundaries,
    line_key,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 60
_MOST_POINTS = 3000  # of a larger class only the histogram is drawn
_DASHES = (0, (2, 1.2))
# Heights of the parts of a lane, above its base; lanes are 1 apart.
_BAR, _POINTS, _HISTOGRAM = 0.1, (0.2, 0.4), (0.47, 0.92)


class Lane(NamedTuple):
    """The picture of one class along the axis of scores.

    Scores that the paper's method kept are solid, or, for other curves, scores on the right side
    of the threshold. For the paper's method the bar has the mean of the kept scores, the end of
    the radius, and the end of the confidence radius, towards the other class.
    """

    scores: FloatArray
    solid: BoolArray
    bar: tuple[float, float, float] | None


def make_lanes(boundary: Boundary, scores: tuple[ArrayLike, ArrayLike]) -> list[Lane]:
    """Return the lanes of the negative and the positive class."""
    classes = [np.asarray(values, dtype=np.float64) for values in scores]
    geometry, cut = boundary.geometry, boundary.threshold
    if geometry is None:
        return [Lane(v, (v > cut) == bool(i), None) for i, v in enumerate(classes)]
    units = classes  # of the geometry
    if boundary.scale != "raw":
        negative, positive = (Scores(np.sort(values)) for values in classes)
        sample = ScoreSample(negative, positive).on_scale("auto")
        units = [sample.from_units(values) for values in classes]
    lanes = []
    for i, values in enumerate(classes):
        low, high = geometry.supports[i]
        towards = 1.0 if geometry.means[1 - i] >= geometry.means[i] else -1.0
        reach = (0.0, geometry.radii[i], geometry.confidence_radii[i])
        mean, edge, end = (geometry.means[i] + towards * r for r in reach)
        if boundary.scale == "probability":
            mean, edge, end = (LogOdds().to_probability(place) for place in (mean, edge, end))
        lanes.append(Lane(values, (units[i] >= low) & (units[i] <= high), (mean, edge, end)))
    return lanes


@dataclass(eq=False, repr=False)
class ProjectionDisplay(ScoreDisplay):
    """Scores of both classes, the old and the new boundary, and what is claimed there.

    Each class has a lane: a histogram of its scores, scaled to its own peak, and the scores
    themselves unless there are very many. Scores on the wrong side of the new boundary are hollow.
    Beside the lane stand the number of rows, the number on the wrong side and the claimed error.

    For the paper's method, the curve "support" with the rule "sum", scores that it gave up are
    hollow. A bar starts at the mean of the kept scores, solid over the radius and dashed over what
    confidence adds to it. The dashed ends meet at the new boundary.

    Parameters
    ----------
    boundary : Boundary
        What `find_boundary` returned.
    scores : pair of arrays
        Scores of the (negative, positive) class.
    old_threshold : float or None, default=None
        Where the classifier decided before; None draws no old boundary.

    See Also
    --------
    ProjectionDisplay.from_estimator : Draw the space of a `BoundShiftClassifier`.
    ProjectionDisplay.from_predictions : Draw labels and scores.

    Examples
    --------
    >>> import boundshift.plots
    >>> y, scores = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
    >>> display = boundshift.plots.ProjectionDisplay.from_predictions(y, scores)
    >>> display.ax_.get_title()
    'Predict 1 if score > 3.5, else 0'
    """

    size = (8.0, 4.5)

    boundary: Boundary
    scores: tuple[FloatArray, FloatArray]
    _: KW_ONLY
    old_threshold: float | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        old_threshold: float | None = None,
        ax: Axes | None = None,
        **known: Any,
    ) -> Self:
        """Draw labels and scores.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Two labels of any kind, and real scores.
        old_threshold : float, default=None
            Where the classifier decided before.
        ax
            As in :meth:`plot`.
        **known : dict
            ``boundary`` to draw, with its labels, curve and rule, or how to find it: ``curve``,
            ``rule`` and ``pos_label``, as in :func:`~boundshift.find_boundary`.

        Returns
        -------
        display : the display, drawn
        """
        boundary, sample = settle_boundary(y_true, y_score, **known)
        return cls(boundary, class_scores(sample), old_threshold=old_threshold).plot(ax)

    def _draw(self, palette: Palette) -> None:
        ax, known, n = self.ax_, self.boundary, (len(self.scores[0]), len(self.scores[1]))
        lanes = make_lanes(known, self.scores)
        places = [lane.bar[0] for lane in lanes if lane.bar is not None]
        places += [place for place in (known.threshold, self.old_threshold) if place is not None]
        negative, positive = (Scores(np.sort(scores)) for scores in self.scores)
        axis = choose_axis([ScoreSample(negative, positive)], places, linear=True)
        ax.set_xlim(axis.low, axis.high)
        edges = np.linspace(axis.low, axis.high, _BINS + 1)
        for base, (lane, color) in enumerate(zip(lanes, palette.classes, strict=True)):
            bottom, top = (base + height for height in _HISTOGRAM)
            every, solid = (
                np.histogram(axis.place(shown), bins=_BINS, range=(0.0, 1.0))[0]
                for shown in (lane.scores, lane.scores[lane.solid])
            )
            unit = (top - bottom) / max(every.max(), 1)
            style: dict[str, Any] = {"baseline": bottom, "color": color}
            ax.stairs(bottom + solid * unit, edges, fill=True, alpha=0.35, lw=0, **style)
            ax.stairs(bottom + every * unit, edges, lw=1.0, **style)
            self._draw_scores(lane, base, color, palette.surface)
            if lane.bar is not None:
                (mean, edge, reach), y = lane.bar, base + _BAR
                bar: dict[str, Any] = {"color": color, "zorder": 4}
                ax.plot([mean, edge], [y, y], lw=3, solid_capstyle="butt", **bar)
                ax.plot([edge, reach], [y, y], lw=2, ls=_DASHES, **bar)
                ax.plot([edge, edge], [y - 0.05, y + 0.05], lw=2, **bar)
                ax.plot(mean, y, "X", ms=10, mec=palette.surface, mew=0.8, **(bar | {"zorder": 5}))
        keys = draw_boundaries([ax], known.threshold, self.old_threshold, palette)
        ax.set_xlabel("score")
        ax.set_ylim(-0.02, 2.0)
        ax.set_yticks([0.45, 1.45], [self._describe(i, n) for i in (0, 1)])
        ax.tick_params(axis="y", length=0)
        for tick, color in zip(ax.get_yticklabels(), palette.classes, strict=True):
            tick.set_color(color)
        ax.spines["left"].set_visible(False)
        ax.axhline(1.0, color=palette.line, lw=0.8, zorder=0)
        ax.set_title(decision(known))

        ink, marks = palette.soft, ("on the right side", "on the wrong side")
        if known.geometry is not None:
            marks = ("within the support", "outside the support")
            keys += [
                line_key("mean of kept scores", color=ink, marker="X", ls="", ms=8),
                line_key("radius", color=ink, lw=3),
                line_key("what confidence adds", color=ink, lw=2, ls=_DASHES),
            ]
        point: dict[str, Any] = {"marker": "o" if min(n) <= _MOST_POINTS else "s", "ls": ""}
        for name, face in zip(marks, (ink, palette.surface), strict=True):
            keys.append(line_key(name, color=ink, ms=5, mfc=face, **point))
        add_legend(ax, keys, palette, title=claim_text(known))

    def _draw_scores(self, lane: Lane, base: float, color: str, paper: str) -> None:
        """Draw every score, spread over the lane, unless there are very many."""
        n = len(lane.scores)
        if n > _MOST_POINTS:
            return
        heights = base + np.random.default_rng(0).uniform(*_POINTS, n)
        size, faint = float(np.clip(2000 / max(n, 1), 9, 36)), 0.45 if n > 200 else 1.0
        looks = ((lane.solid, color, faint, 2), (~lane.solid, paper, 1.0, 3))
        for chosen, face, alpha, order in looks:
            dot: dict[str, Any] = {"facecolor": face, "alpha": alpha, "zorder": order, "s": size}
            dot |= {"edgecolor": color, "linewidth": 0.8}
            self.ax_.scatter(lane.scores[chosen], heights[chosen], **dot)

    def _describe(self, i: int, n: tuple[int, int]) -> str:
        """Return a class's name and numbers."""
        known = self.boundary
        wrong = np.count_nonzero((self.scores[i] > known.threshold) == (i == 0))
        lines = [f"class {known.labels[i]}", f"{n[i]:,} rows", f"{wrong:,} on the wrong side"]
        if known.geometry is not None and n == known.n_samples:  # fresh rows were not given up
            lines.append(f"{known.geometry.slack[i]:,} given up")
        if Status.REVERSED not in known.statuses:
            lines.append(f"claimed error {error_text(known.errors[i])}")
        return "\n".join(lines)
