"""Scores of both classes, and the boundary between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from boundshift._result.boundary import Boundary
from boundshift._scores import LogOdds, Scores, ScoreSample
from boundshift._status import Status
from boundshift._typing import BoolArray, FloatArray
from boundshift._view import ScoreAxis, choose_axis, class_scores, settle_boundary
from boundshift._words import claim_text, decision, error_text
from boundshift.curves import ErrorCurve
from boundshift.plots._canvas import (
    Display,
    Palette,
    add_legend,
    draw_boundaries,
    line_key,
    read_estimator,
)
from boundshift.rules import Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 60
_MOST_POINTS = 3000  # of a larger class only the histogram is drawn
_DASHES = (0, (2, 1.2))
# Heights of the parts of a lane, above its base; lanes are 1 apart.
_BAR = 0.1
_POINTS = (0.2, 0.4)
_HISTOGRAM = (0.47, 0.92)


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
    geometry = boundary.geometry
    if geometry is None:
        is_above = [values > boundary.threshold for values in classes]
        return [Lane(classes[0], ~is_above[0], None), Lane(classes[1], is_above[1], None)]
    in_units_of_geometry = classes
    if boundary.scale != "raw":
        sample = _sample_of(classes).on_scale("auto")
        in_units_of_geometry = [sample.from_units(values) for values in classes]
    lanes = []
    for i, values in enumerate(in_units_of_geometry):
        low, high = geometry.supports[i]
        towards_other = 1.0 if geometry.means[1 - i] >= geometry.means[i] else -1.0
        mean = geometry.means[i]
        edge = mean + towards_other * geometry.radii[i]
        end = mean + towards_other * geometry.confidence_radii[i]
        if boundary.scale == "probability":
            mean, edge, end = (LogOdds().to_probability(place) for place in (mean, edge, end))
        is_kept = (values >= low) & (values <= high)
        lanes.append(Lane(classes[i], is_kept, (mean, edge, end)))
    return lanes


def _sample_of(classes: Sequence[FloatArray]) -> ScoreSample:
    negative, positive = classes
    return ScoreSample(Scores(np.sort(negative)), Scores(np.sort(positive)))


@dataclass(eq=False, repr=False)
class ProjectionDisplay(Display):
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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        old_threshold: float | Literal["auto"] | None = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted `BoundShiftClassifier` with two classes.

        Parameters
        ----------
        estimator : BoundShiftClassifier
            Fitted.
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows to draw: those given to ``fit``, or fresh ones. The boundary and its claims always
            belong to the scores that decided, which with cross-validation are not the final
            model's.
        y : array-like of shape (n_samples,)
            Their labels.
        old_threshold : float, "auto" or None, default="auto"
            Threshold of the wrapped classifier. "auto" is its ``own_threshold_``, or nothing if
            that is not known.
        ax : matplotlib Axes, default=None
            As in :meth:`plot`.

        Returns
        -------
        display : the display, drawn
        """
        scores, old = read_estimator(estimator, X, old_threshold)
        return cls.from_predictions(
            y, scores, boundary=estimator.boundary_, old_threshold=old, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        boundary: Boundary | None = None,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        pos_label: object = None,
        old_threshold: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw labels and scores.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Two labels of any kind, and real scores.
        boundary : Boundary, default=None
            The boundary to draw, with its labels, curve and rule. None finds it.
        curve, rule, pos_label
            How to find the boundary, as in :func:`~boundshift.find_boundary`.
        old_threshold : float, default=None
            Threshold of the classifier before.
        ax : matplotlib Axes, default=None
            As in :meth:`plot`.

        Returns
        -------
        display : the display, drawn
        """
        boundary, sample = settle_boundary(
            y_true, y_score, boundary, curve=curve, rule=rule, pos_label=pos_label
        )
        return cls(boundary, class_scores(sample), old_threshold=old_threshold).plot(ax)

    def _draw(self, palette: Palette) -> None:
        ax = self.ax_
        lanes = make_lanes(self.boundary, self.scores)
        marked = [self.boundary.threshold]
        marked += [lane.bar[0] for lane in lanes if lane.bar is not None]
        if self.old_threshold is not None:
            marked.append(self.old_threshold)
        axis = choose_axis([_sample_of(self.scores)], marked, linear=True)
        ax.set_xlim(axis.low, axis.high)
        for base, (lane, color) in enumerate(zip(lanes, palette.classes, strict=True)):
            self._draw_histogram(lane, base, color, axis)
            self._draw_scores(lane, base, color, palette.surface)
            if lane.bar is not None:
                self._draw_bar(lane.bar, base, color, palette.surface)
        keys = draw_boundaries([ax], self.boundary.threshold, self.old_threshold, palette)
        ax.set_xlabel("score")
        ax.set_ylim(-0.02, 2.0)
        ax.set_yticks([0.45, 1.45], [self._describe(0), self._describe(1)])
        ax.tick_params(axis="y", length=0)
        for tick, color in zip(ax.get_yticklabels(), palette.classes, strict=True):
            tick.set_color(color)
        ax.spines["left"].set_visible(False)
        ax.axhline(1.0, color=palette.line, lw=0.8, zorder=0)
        ax.set_title(decision(self.boundary))
        keys += self._explain_marks(palette)
        add_legend(ax, keys, palette, title=claim_text(self.boundary))

    def _explain_marks(self, palette: Palette) -> list[Any]:
        """Return the legend's entries of bars and points."""
        keys = []
        solid_name = "on the right side"
        hollow_name = "on the wrong side"
        if self.boundary.geometry is not None:
            solid_name = "within the support"
            hollow_name = "outside the support"
            keys = [
                line_key("mean of kept scores", color=palette.soft, marker="X", ls="", ms=8),
                line_key("radius", color=palette.soft, lw=3),
                line_key("what confidence adds", color=palette.soft, lw=2, ls=_DASHES),
            ]
        has_points = min(len(scores) for scores in self.scores) <= _MOST_POINTS
        point: dict[str, Any] = {"marker": "o" if has_points else "s", "ls": "", "ms": 5}
        point["color"] = palette.soft
        keys.append(line_key(solid_name, mfc=palette.soft, **point))
        keys.append(line_key(hollow_name, mfc=palette.surface, **point))
        return keys

    def _draw_histogram(self, lane: Lane, base: float, color: str, axis: ScoreAxis) -> None:
        """Draw all scores of a class as an outline, and the solid ones filled."""
        edges = np.linspace(axis.low, axis.high, _BINS + 1)
        every = np.histogram(axis.place(lane.scores), bins=_BINS, range=(0.0, 1.0))[0]
        solid = np.histogram(axis.place(lane.scores[lane.solid]), bins=_BINS, range=(0.0, 1.0))[0]
        bottom, top = (base + height for height in _HISTOGRAM)
        unit = (top - bottom) / max(every.max(), 1)
        style: dict[str, Any] = {"baseline": bottom, "color": color}
        self.ax_.stairs(bottom + solid * unit, edges, fill=True, alpha=0.35, lw=0, **style)
        self.ax_.stairs(bottom + every * unit, edges, lw=1.0, **style)

    def _draw_bar(
        self, bar: tuple[float, float, float], base: float, color: str, paper: str
    ) -> None:
        """Draw mean, radius and confidence radius of the paper's method."""
        mean, edge, end = bar
        y = base + _BAR
        style: dict[str, Any] = {"color": color, "zorder": 4}
        self.ax_.plot([mean, edge], [y, y], lw=3, solid_capstyle="butt", **style)
        self.ax_.plot([edge, end], [y, y], lw=2, ls=_DASHES, **style)
        self.ax_.plot([edge, edge], [y - 0.05, y + 0.05], lw=2, **style)
        self.ax_.plot(mean, y, "X", ms=10, mec=paper, mew=0.8, color=color, zorder=5)

    def _draw_scores(self, lane: Lane, base: float, color: str, paper: str) -> None:
        """Draw every score, spread over the lane, unless there are very many."""
        n = len(lane.scores)
        if n > _MOST_POINTS:
            return
        heights = base + np.random.default_rng(0).uniform(*_POINTS, n)
        dot: dict[str, Any] = {"s": float(np.clip(2000 / max(n, 1), 9, 36)), "linewidth": 0.8}
        dot["edgecolor"] = color
        faint = 0.45 if n > 200 else 1.0
        solid = lane.solid
        self.ax_.scatter(
            lane.scores[solid], heights[solid], facecolor=color, alpha=faint, zorder=2, **dot
        )
        self.ax_.scatter(lane.scores[~solid], heights[~solid], facecolor=paper, zorder=3, **dot)

    def _describe(self, i: int) -> str:
        """Return the name and the numbers of a class."""
        boundary = self.boundary
        is_wrong = (self.scores[i] > boundary.threshold) == (i == 0)
        lines = [
            f"class {boundary.labels[i]}",
            f"{len(is_wrong):,} rows",
            f"{np.count_nonzero(is_wrong):,} on the wrong side",
        ]
        n_samples = tuple(len(scores) for scores in self.scores)
        # Fresh rows were not given up.
        if boundary.geometry is not None and n_samples == boundary.n_samples:
            lines.append(f"{boundary.geometry.slack[i]:,} given up")
        if Status.REVERSED not in boundary.statuses:
            lines.append(f"claimed error {error_text(boundary.errors[i])}")
        return "\n".join(lines)
