"""The projected space: where each class's scores lie, and where the boundary was put."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.boundary import find_boundary
from boundshift.plots.canvas import add_legend, open_axes
from boundshift.plots.fitted import own_threshold, read_fitted
from boundshift.plots.palette import Palette, Theme
from boundshift.result.boundary import Boundary
from boundshift.validation import as_scores, split_by_label
from boundshift.view.axis import choose_axis
from boundshift.view.rows import ScoredRows
from boundshift.view.words import score_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ProjectionDisplay"]

FloatArray = NDArray[np.float64]

_BINS = 60
_SIZE = (8.0, 4.5)


@dataclass(frozen=True)
class _Lane:
    """Heights at which the parts of one class are drawn, one class above the other."""

    base: float

    def heights(self, low: float, high: float) -> tuple[float, float]:
        return self.base + low, self.base + high

    @property
    def bar(self) -> float:
        return self.base + 0.1

    @property
    def points(self) -> tuple[float, float]:
        return self.heights(0.2, 0.4)

    @property
    def histogram(self) -> tuple[float, float]:
        return self.heights(0.47, 0.92)


class ProjectionDisplay:
    """Scores of both classes, their means and radii, the old and the new boundary.

    Each class has a lane: a histogram of its scores (each scaled to its own peak), the scores
    themselves unless there are very many, and a bar from the mean of the kept points, solid over
    the radius and dashed over what the confidence bound adds to it. The dashed ends meet at the
    new boundary. Scores that were given up are hollow.

    Parameters
    ----------
    boundary : Boundary
        What `find_boundary` returned.
    scores : pair of arrays
        Scores of the (negative, positive) class.
    old_threshold : float or None, default=None
        Where the classifier decided before; None draws no old boundary.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of those axes.

    See Also
    --------
    ProjectionDisplay.from_estimator : Draw the space of a `BoundShiftClassifier`.
    ProjectionDisplay.from_predictions : Draw labels and scores.

    Examples
    --------
    >>> import boundshift.plots
    >>> y, scores = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
    >>> display = boundshift.plots.ProjectionDisplay.from_predictions(y, scores)
    >>> display.ax_.get_xlabel()
    'score'
    """

    def __init__(
        self,
        boundary: Boundary,
        scores: tuple[FloatArray, FloatArray],
        *,
        old_threshold: float | None = None,
    ) -> None:
        self.boundary = boundary
        self.scores = scores
        self.old_threshold = old_threshold

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        old_threshold: float | Literal["auto"] | None = "auto",
        ax: Axes | None = None,
        max_points: int = 3000,
        theme: Theme = "auto",
    ) -> ProjectionDisplay:
        """Draw the space of a fitted `BoundShiftClassifier` with two classes.

        Parameters
        ----------
        estimator : BoundShiftClassifier
            Fitted.
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows to draw: those given to ``fit``, or fresh ones. Means and radii always belong to
            the scores that decided, which with cross-validation are not the final model's.
        y : array-like of shape (n_samples,)
            Their labels.
        old_threshold : float, "auto" or None, default="auto"
            Where the wrapped classifier decides; "auto" is 0, its place on margins and log-odds,
            or nothing where the scores come from a function of the user's.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.
        max_points : int, default=3000
            Scores of a class with more rows than this are not drawn one by one.
        theme : {"auto", "light", "dark"}, default="auto"
            Paper to draw on; "auto" follows the axes, or matplotlib's style.

        Returns
        -------
        ProjectionDisplay
        """
        boundary, scores = read_fitted(estimator, X)
        return cls.from_predictions(
            y,
            scores,
            boundary=boundary,
            old_threshold=own_threshold(estimator, old_threshold),
            ax=ax,
            max_points=max_points,
            theme=theme,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        boundary: Boundary | None = None,
        pos_label: object = None,
        old_threshold: float | None = None,
        ax: Axes | None = None,
        max_points: int = 3000,
        theme: Theme = "auto",
    ) -> ProjectionDisplay:
        """Draw labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Two labels of any kind.
        y_score : array-like of shape (n_samples,)
            Real scores.
        boundary : Boundary, default=None
            The boundary to draw; None finds it with `find_boundary`.
        pos_label : label, default=None
            The positive class; None takes that of the boundary, or the greater label.
        old_threshold : float or None, default=None
            Where the classifier decided before.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.
        max_points : int, default=3000
            Scores of a class with more rows than this are not drawn one by one.
        theme : {"auto", "light", "dark"}, default="auto"
            Paper to draw on; "auto" follows the axes, or matplotlib's style.

        Returns
        -------
        ProjectionDisplay
        """
        if boundary is None:
            boundary = find_boundary(y_true, y_score, pos_label=pos_label)
        if pos_label is None:
            pos_label = boundary.labels[1]
        negative, positive, labels = split_by_label(y_true, as_scores(y_score), pos_label)
        display = cls(
            replace(boundary, labels=labels), (negative, positive), old_threshold=old_threshold
        )
        return display.plot(ax, max_points=max_points, theme=theme)

    def plot(
        self, ax: Axes | None = None, *, max_points: int = 3000, theme: Theme = "auto"
    ) -> ProjectionDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.
        max_points : int, default=3000
            Scores of a class with more rows than this are not drawn one by one.
        theme : {"auto", "light", "dark"}, default="auto"
            Paper to draw on; "auto" follows the axes, or matplotlib's style.

        Returns
        -------
        ProjectionDisplay

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        self.ax_, self._palette = open_axes(ax, theme, _SIZE)
        self.figure_ = self.ax_.figure
        edges = self._bin_edges()
        self.ax_.set_xlim(float(edges[0]), float(edges[-1]))
        lanes = (_Lane(0.0), _Lane(1.0))
        for i, lane in enumerate(lanes):
            self._draw_histogram(i, lane, edges)
            draw = self._draw_points if len(self.scores[i]) <= max_points else self._draw_extent
            draw(i, lane)
            self._draw_radius(i, lane)
        self._draw_boundaries()
        self._label(lanes)
        self._add_legend("o" if min(map(len, self.scores)) <= max_points else "s")
        return self

    def _bin_edges(self) -> FloatArray:
        """Return bins common to both classes; far outliers fall into the outermost ones."""
        known = self.boundary
        rows = ScoredRows(np.sort(self.scores[0]), np.sort(self.scores[1]), known.labels)
        marks = [known.threshold, *known.means]
        if self.old_threshold is not None:
            marks.append(self.old_threshold)
        axis = choose_axis([rows], marks, linear=True)
        return np.linspace(axis.low, axis.high, _BINS + 1)

    def _is_kept(self, i: int) -> NDArray[np.bool_]:
        """Return which scores of a class lie within its support."""
        low, high = self.boundary.supports[i]
        return (self.scores[i] >= low) & (self.scores[i] <= high)

    def _draw_histogram(self, i: int, lane: _Lane, edges: FloatArray) -> None:
        """Draw kept scores filled and all scores as an outline, scaled to the lane."""
        bottom, top = lane.histogram
        inside = np.clip(self.scores[i], edges[0], edges[-1])
        counts, _ = np.histogram(inside, edges)
        kept, _ = np.histogram(inside[self._is_kept(i)], edges)
        unit = (top - bottom) / max(counts.max(), 1)
        style: dict[str, Any] = {"baseline": bottom, "color": self._palette.classes[i]}
        self.ax_.stairs(bottom + kept * unit, edges, fill=True, alpha=0.35, lw=0, **style)
        self.ax_.stairs(bottom + counts * unit, edges, lw=1.0, **style)

    def _draw_points(self, i: int, lane: _Lane) -> None:
        """Draw every score, spread over the lane, hollow where given up."""
        low, high = lane.points
        n = len(self.scores[i])
        heights = np.random.default_rng(0).uniform(low, high, n)
        kept = self._is_kept(i)
        size = float(np.clip(2000 / max(n, 1), 9, 36))
        color, paper = self._palette.classes[i], self._palette.surface
        for shown, face in ((kept, color), (~kept, paper)):
            self.ax_.scatter(
                self.scores[i][shown],
                heights[shown],
                s=size,
                facecolor=face,
                edgecolor=color,
                linewidth=0.8,
                alpha=0.45 if face != paper and n > 200 else 1.0,
                zorder=3 if face == paper else 2,
            )

    def _draw_extent(self, i: int, lane: _Lane) -> None:
        """Draw the range of the kept scores as a filled box, that of all scores as a hollow one."""
        low, high = lane.points
        color, paper = self._palette.classes[i], self._palette.surface
        for start, end, filled in (
            (float(self.scores[i].min()), float(self.scores[i].max()), False),
            (*self.boundary.supports[i], True),
        ):
            self.ax_.fill_between(
                [start, end],
                low + 0.05,
                high - 0.05,
                facecolor=color if filled else paper,
                edgecolor=color,
                alpha=0.45 if filled else 1.0,
                linewidth=0.8,
                zorder=2,
            )

    def _draw_radius(self, i: int, lane: _Lane) -> None:
        """Draw mean, radius and confidence radius, towards the other class."""
        means = self.boundary.means
        towards = 1.0 if means[1 - i] >= means[i] else -1.0
        mean, y = means[i], lane.bar
        edge = mean + towards * self.boundary.radii[i]
        reach = mean + towards * self.boundary.confidence_radii[i]
        color, paper = self._palette.classes[i], self._palette.surface
        self.ax_.plot([mean, edge], [y, y], color=color, lw=3, solid_capstyle="butt", zorder=4)
        self.ax_.plot([edge, reach], [y, y], color=color, lw=2, ls=(0, (2, 1.2)), zorder=4)
        self.ax_.plot([edge, edge], [y - 0.05, y + 0.05], color=color, lw=2, zorder=4)
        self.ax_.plot(mean, y, "X", color=color, ms=10, mec=paper, mew=0.8, zorder=5)

    def _draw_boundaries(self) -> None:
        """Draw the new boundary, and the old one if it is known, over both lanes."""
        if self.old_threshold is not None:
            self.ax_.axvline(self.old_threshold, color=self._palette.soft, lw=1.8, ls=":", zorder=6)
        self.ax_.axvline(self.boundary.threshold, color=self._palette.ink, lw=1.8, zorder=6)

    def _label(self, lanes: tuple[_Lane, _Lane]) -> None:
        """Name the axis, the lanes and what the marks mean."""
        known = self.boundary
        self.ax_.set_xlabel("score")
        self.ax_.set_ylim(-0.02, 2.0)
        self.ax_.set_yticks(
            [lane.base + 0.45 for lane in lanes],
            [self._describe(i) for i in range(2)],
        )
        self.ax_.tick_params(axis="y", length=0)
        for tick, color in zip(self.ax_.get_yticklabels(), self._palette.classes, strict=True):
            tick.set_color(color)
        self.ax_.spines["left"].set_visible(False)
        self.ax_.axhline(1.0, color=self._palette.line, lw=0.8, zorder=0)
        self.ax_.set_title(f"Predict {known.labels[1]} iff score > {score_text(known.threshold)}")

    def _describe(self, i: int) -> str:
        """Return a class's name and numbers; fresh rows were not given up, so are not counted."""
        lines = [f"class {self.boundary.labels[i]}", f"{len(self.scores[i]):,} rows"]
        if len(self.scores[i]) == self.boundary.n_samples[i]:
            lines.append(f"{self.boundary.slack[i]:,} given up")
        return "\n".join(lines)

    def _add_legend(self, marker: str) -> None:
        """Explain the marks below the axes."""
        from matplotlib.lines import Line2D

        colors: Palette = self._palette
        ink, paper = colors.soft, colors.surface
        marks = [
            Line2D([], [], color=colors.ink, lw=1.8, label="new boundary"),
            Line2D([], [], color=ink, marker="X", ls="", ms=8, label="mean of kept scores"),
            Line2D([], [], color=ink, lw=3, label="radius"),
            Line2D([], [], color=ink, lw=2, ls=(0, (2, 1.2)), label="confidence bound"),
            Line2D([], [], color=ink, marker=marker, ls="", ms=5, label="kept"),
            Line2D([], [], color=ink, marker=marker, ls="", ms=5, mfc=paper, label="given up"),
        ]
        if self.old_threshold is not None:
            old = Line2D([], [], color=ink, lw=1.8, ls=":", label="old boundary")
            marks.insert(1, old)
        add_legend(self.ax_, marks, colors)
