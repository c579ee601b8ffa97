"""The decision in the plane of two features, before and after the shift."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from boundshift.exceptions import InvalidInputError
from boundshift.plots.canvas import add_legend
from boundshift.plots.display import PanelsDisplay, own_threshold, read_fitted
from boundshift.plots.palette import Palette, Theme
from boundshift.result.boundary import Boundary
from boundshift.typing import FloatArray
from boundshift.validation import as_scores, split_by_label
from boundshift.view.rows import check_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DecisionDisplay"]

Rows = tuple[FloatArray, FloatArray]

_MARGIN = 0.06
_MOST_POINTS = 5000


@dataclass(eq=False, repr=False)
class DecisionDisplay(PanelsDisplay):
    """Which side of the plane belongs to which class, before and after.

    The pale areas are what the model decides, the solid line its boundary; after the shift the
    old boundary stays as a dotted line. Titles count the rows on the wrong side.

    Parameters
    ----------
    boundary : Boundary
        The moved boundary.
    grid : pair of arrays of shape (nx,) and (ny,)
        Values of the two features.
    grid_scores : array of shape (ny, nx)
        Scores on the grid.
    rows : pair of (features, scores)
        Rows to draw of the (negative, positive) class.
    old_threshold : float, default=0
        Where the classifier decided before.
    feature_names : pair of str, default=("feature 1", "feature 2")
        Names of the axes.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Before, after.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift import BoundShiftClassifier
    >>> from boundshift.plots import DecisionDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 30])
    >>> X = rng.normal(size=(330, 2)) + 2 * y[:, None]
    >>> model = BoundShiftClassifier(LogisticRegression()).fit(X, y)
    >>> display = DecisionDisplay.from_estimator(model, X, y)
    >>> [ax.get_title().splitlines()[0] for ax in display.axes_]
    ['before', 'after']
    """

    size = (9.0, 4.8)
    layout: ClassVar[dict[str, Any]] = {"rows": 1, "columns": 2, "sharex": True, "sharey": True}

    boundary: Boundary
    grid: tuple[FloatArray, FloatArray]
    grid_scores: FloatArray
    rows: tuple[Rows, Rows]
    _: KW_ONLY
    old_threshold: float = 0.0
    feature_names: tuple[str, str] = ("feature 1", "feature 2")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        old_threshold: float | Literal["auto"] = "auto",
        grid_resolution: int = 200,
        **settings: Any,
    ) -> DecisionDisplay:
        """Draw a fitted `BoundShiftClassifier` of two features and two classes.

        Parameters
        ----------
        estimator : BoundShiftClassifier
            Fitted.
        X : array-like or dataframe of shape (n_samples, 2)
            Rows to draw, and the plane around them.
        y : array-like of shape (n_samples,)
            Their labels.
        old_threshold : float or "auto", default="auto"
            Where the wrapped classifier decides; "auto" is 0, its place on margins and log-odds.
        grid_resolution : int, default=200
            Points along each feature.
        **settings : dict
            `ax` and `theme`, as in :meth:`plot`.

        Returns
        -------
        DecisionDisplay
        """
        if not isinstance(grid_resolution, int | np.integer) or grid_resolution < 2:
            raise InvalidInputError(
                f"`grid_resolution` must be a whole number of at least 2, got {grid_resolution!r}. "
                "Use 200."
            )
        boundary, scores = read_fitted(estimator, X)
        features = _two_features(X)
        old = own_threshold(estimator, old_threshold)
        if old is None:
            raise InvalidInputError(
                "`old_threshold` must be given where the scores come from a function of your own, "
                "got 'auto'. Pass where the classifier decided before."
            )
        across, up = (_span(column, grid_resolution) for column in features.T)
        plane = np.column_stack([axis.ravel() for axis in np.meshgrid(across, up)])
        _, grid_scores = read_fitted(estimator, _like(X, plane))
        names = [str(name) for name in getattr(X, "columns", ("feature 1", "feature 2"))]
        return cls.from_predictions(
            features,
            y,
            scores,
            grid=(across, up),
            grid_scores=grid_scores.reshape(len(up), len(across)),
            boundary=boundary,
            old_threshold=old,
            feature_names=(names[0], names[1]),
            **settings,
        )

    @classmethod
    def from_predictions(
        cls,
        X: ArrayLike,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        grid: tuple[ArrayLike, ArrayLike],
        grid_scores: ArrayLike,
        boundary: Boundary,
        old_threshold: float = 0.0,
        feature_names: tuple[str, str] = ("feature 1", "feature 2"),
        ax: Axes | None = None,
        theme: Theme = "auto",
    ) -> DecisionDisplay:
        """Draw scores of rows and of a grid.

        Parameters
        ----------
        X : array-like of shape (n_samples, 2)
            Rows to draw.
        y_true : array-like of shape (n_samples,)
            Two labels of any kind.
        y_score : array-like of shape (n_samples,)
            Scores of the rows.
        grid, grid_scores, boundary, old_threshold, feature_names
            Parameters of the class; the boundary's labels are those of `y_true`.
        ax, theme
            As in :meth:`plot`.

        Returns
        -------
        DecisionDisplay
        """
        features = _two_features(X)
        across, up = (np.asarray(values, dtype=np.float64) for values in grid)
        surface = np.asarray(grid_scores, dtype=np.float64)
        if surface.shape != (len(up), len(across)):
            raise InvalidInputError(
                f"`grid_scores` must have the shape {(len(up), len(across))} of the grid, got "
                f"{surface.shape}. Rows go with the second feature."
            )
        scores = as_scores(y_score)
        place = np.arange(len(scores), dtype=np.float64)
        negative, positive, labels = split_by_label(y_true, place, boundary.labels[1])
        check_labels(labels, boundary.labels, "y_true")
        index = [part.astype(np.intp) for part in (negative, positive)]
        rows = [(features[i], scores[i]) for i in index]
        display = cls(
            boundary,
            (across, up),
            surface,
            (rows[0], rows[1]),
            old_threshold=float(old_threshold),
            feature_names=feature_names,
        )
        return display.plot(ax, theme=theme)

    def _draw(self, palette: Palette) -> None:
        thresholds = (self.old_threshold, self.boundary.threshold)
        for axes, when, t in zip(self.axes_, ("before", "after"), thresholds, strict=True):
            self._draw_surface(axes, t, palette)
            self._draw_rows(axes, palette)
            axes.set_title(f"{when}\n{self._count(t)}", fontsize="medium")
            axes.set_xlabel(self.feature_names[0])
        self._draw_line(self.axes_[1], self.old_threshold, palette.soft, "dotted")
        self.axes_[0].set_ylabel(self.feature_names[1])
        self._add_legend(palette)

    def _draw_surface(self, ax: Axes, threshold: float, palette: Palette) -> None:
        """Draw what is decided where, and the line between."""
        ax.contourf(
            *self.grid, self.grid_scores, levels=[-np.inf, threshold, np.inf], colors=palette.pale
        )
        self._draw_line(ax, threshold, palette.ink, "solid")

    def _draw_line(self, ax: Axes, threshold: float, color: str, style: str) -> None:
        """Draw a boundary, if it crosses the plane."""
        if self.grid_scores.min() < threshold < self.grid_scores.max():
            ax.contour(
                *self.grid, self.grid_scores, levels=[threshold], colors=color, linewidths=2,
                linestyles=style, zorder=4,
            )  # fmt: skip

    def _draw_rows(self, ax: Axes, palette: Palette) -> None:
        """Draw rows, the smaller class on top; of very many, evenly chosen ones."""
        order = np.argsort([-len(scores) for _, scores in self.rows], kind="stable")
        for layer, i in enumerate(order):
            X, _ = self.rows[i]
            shown = X[:: max(1, len(X) // _MOST_POINTS)]
            few = len(shown) <= 100
            ax.plot(
                shown[:, 0], shown[:, 1], "os"[int(i)], color=palette.classes[i],
                ms=6 if few else 3.2, alpha=1.0 if few else 0.5, mec=palette.surface,
                mew=0.7 if few else 0.2, zorder=2 + layer,
            )  # fmt: skip
        ax.set_xlim(float(self.grid[0][0]), float(self.grid[0][-1]))
        ax.set_ylim(float(self.grid[1][0]), float(self.grid[1][-1]))

    def _count(self, threshold: float) -> str:
        """Say how many rows are on the wrong side."""
        (_, negative), (_, positive) = self.rows
        missed = np.count_nonzero(positive <= threshold)
        flagged = np.count_nonzero(negative > threshold)
        return (
            f"{missed:,} of {len(positive):,} {self._name(1)} missed\n"
            f"{flagged:,} of {len(negative):,} {self._name(0)} flagged"
        )

    def _name(self, i: int) -> str:
        return f"class {self.boundary.labels[i]}"

    def _add_legend(self, palette: Palette) -> None:
        """Explain the marks below the panels."""
        from matplotlib.lines import Line2D

        rows = [
            Line2D([], [], ls="", marker="os"[i], color=palette.classes[i], label=self._name(i))
            for i in (0, 1)
        ]
        lines = [
            Line2D([], [], color=palette.ink, lw=2, label="boundary"),
            Line2D([], [], color=palette.soft, lw=2, ls=":", label="old boundary"),
        ]
        for axes, marks in zip(self.axes_, (rows, lines), strict=True):
            add_legend(axes, marks, palette, bbox_to_anchor=(0.5, -0.14))


def _two_features(X: Any) -> FloatArray:
    """Return rows of two numbers."""
    features = np.asarray(X, dtype=np.float64)
    if features.ndim != 2 or features.shape[1] != 2:
        raise InvalidInputError(
            f"`X` must have two columns, to be drawn in the plane, got shape {features.shape}. "
            "Train on two features, or project the rows first."
        )
    return features


def _span(values: FloatArray, steps: int) -> FloatArray:
    """Return evenly spaced values with some room on both sides."""
    low, high = float(values.min()), float(values.max())
    room = _MARGIN * (high - low) or 1.0
    return np.linspace(low - room, high + room, steps)


def _like(X: Any, rows: FloatArray) -> Any:
    """Return rows as a dataframe of the same kind and column names, if X is one."""
    if hasattr(X, "iloc"):
        return type(X)(rows, columns=X.columns)
    if hasattr(X, "schema") and hasattr(X, "columns"):
        return type(X)(rows, schema=list(X.columns))
    return rows
