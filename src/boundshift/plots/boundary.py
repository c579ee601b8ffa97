"""Errors of both classes and the rule at every threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from boundshift.boundary import find_boundary
from boundshift.curves import ErrorCurve
from boundshift.plots.canvas import add_legend, split_axes
from boundshift.plots.fitted import own_threshold, read_fitted
from boundshift.plots.palette import Palette, Theme
from boundshift.plots.profile import rule_values
from boundshift.result.boundary import Boundary
from boundshift.rules import Rule
from boundshift.scores.sample import ScoreSample
from boundshift.validation import as_share
from boundshift.view.axis import choose_axis
from boundshift.view.rows import read_rows
from boundshift.view.words import score_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BoundaryDisplay"]

FloatArray = NDArray[np.float64]
Pair = tuple[float, float]

_SIZE = (8.0, 5.6)
_N_THRESHOLDS = 801
_OPTIONS = (
    "preset", "gamma", "constant", "radius", "slack", "penalty", "alpha", "budget", "centre",
    "stop_at_zero", "solver", "fallback",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ErrorBand:
    """One class's share on the wrong side at every threshold, with a band around it."""

    rate: FloatArray
    low: FloatArray
    high: FloatArray


class BoundaryDisplay:
    """Error rates of both classes, and the rule, against the threshold.

    Above, the share of each class on the wrong side, with a band that holds the true share with
    the stated confidence at each threshold by itself (Clopper and Pearson's interval). Below, what
    the rule makes of both claims: its lowest point is the boundary. A shaded strip is the interval
    in which the boundary may fall, a thick line at the bottom the plateau on which the rule does
    not change.

    Parameters
    ----------
    boundary : Boundary
        The chosen one.
    thresholds : array of shape (n,)
        Where the curves are known.
    errors : pair of ErrorBand
        Of the (negative, positive) class.
    rule_values : array of shape (n,)
        The rule, NaN where it has no value.
    old_threshold : float or None, default=None
        Where the classifier decided before.
    interval : pair of float or None, default=None
        From :func:`~boundshift.threshold_interval`.
    confidence : float, default=0.95
        Of the bands.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Errors above, rule below.
    figure_ : matplotlib Figure
        Figure of those axes.

    See Also
    --------
    BoundaryDisplay.from_estimator : Draw a `BoundShiftClassifier`.
    BoundaryDisplay.from_predictions : Draw labels and scores.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.plots import BoundaryDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 30])
    >>> display = BoundaryDisplay.from_predictions(y, rng.normal(3.0 * y))
    >>> lowest = display.thresholds[np.nanargmin(display.rule_values)]
    >>> bool(abs(lowest - display.boundary.threshold) < 0.02)
    True
    """

    def __init__(
        self,
        boundary: Boundary,
        thresholds: FloatArray,
        errors: tuple[ErrorBand, ErrorBand],
        rule_values: FloatArray,
        *,
        old_threshold: float | None = None,
        interval: Pair | None = None,
        confidence: float = 0.95,
    ) -> None:
        self.boundary = boundary
        self.thresholds = thresholds
        self.errors = errors
        self.rule_values = rule_values
        self.old_threshold = old_threshold
        self.interval = interval
        self.confidence = confidence

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        old_threshold: float | Literal["auto"] | None = "auto",
        interval: Pair | None = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        theme: Theme = "auto",
    ) -> BoundaryDisplay:
        """Draw a fitted `BoundShiftClassifier` with two classes.

        Parameters
        ----------
        estimator : BoundShiftClassifier
            Fitted.
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows to draw. All curves belong to these rows; the boundary belongs to the scores that
            decided, so on fresh rows it need not be at the rule's lowest point.
        y : array-like of shape (n_samples,)
            Their labels.
        old_threshold : float, "auto" or None, default="auto"
            Where the wrapped classifier decides; "auto" is 0, its place on margins and log-odds,
            or nothing where the scores come from a function of the user's.
        interval : pair of float, default=None
            From :func:`~boundshift.threshold_interval`.
        confidence : float, default=0.95
            Of the bands.
        ax : matplotlib Axes, default=None
            Two panels take its place; None makes a new figure.
        theme : {"auto", "light", "dark"}, default="auto"
            Paper to draw on; "auto" follows the axes, or matplotlib's style.

        Returns
        -------
        BoundaryDisplay
        """
        boundary, scores = read_fitted(estimator, X)
        return cls.from_predictions(
            y,
            scores,
            boundary=boundary,
            bound=estimator.bound,
            rule=estimator.rule,
            old_threshold=own_threshold(estimator, old_threshold),
            interval=interval,
            confidence=confidence,
            ax=ax,
            theme=theme,
            **{name: getattr(estimator, name) for name in _OPTIONS},
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        boundary: Boundary | None = None,
        pos_label: object = None,
        bound: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        old_threshold: float | None = None,
        interval: Pair | None = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        theme: Theme = "auto",
        **options: Any,
    ) -> BoundaryDisplay:
        """Draw labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Two labels of any kind.
        y_score : array-like of shape (n_samples,)
            Real scores.
        boundary : Boundary, default=None
            The chosen one; None finds it with `find_boundary`.
        pos_label : label, default=None
            The positive class; None takes that of the boundary, or the greater label.
        bound, rule : str or object, default=None
            As in `find_boundary`; None takes those that the boundary names, with their defaults.
        old_threshold : float or None, default=None
            Where the classifier decided before.
        interval : pair of float, default=None
            From :func:`~boundshift.threshold_interval`.
        confidence : float, default=0.95
            Of the bands.
        ax : matplotlib Axes, default=None
            Two panels take its place; None makes a new figure.
        theme : {"auto", "light", "dark"}, default="auto"
            Paper to draw on; "auto" follows the axes, or matplotlib's style.
        **options : dict
            Other arguments of `find_boundary`, with which the boundary was or will be found.

        Returns
        -------
        BoundaryDisplay
        """
        as_share("confidence", confidence)
        if boundary is None:
            bound, rule = bound or "support", rule or "sum"
            boundary = find_boundary(
                y_true, y_score, pos_label=pos_label, bound=bound, rule=rule, **options
            )
        if pos_label is None:
            pos_label = boundary.labels[1]
        rows = read_rows(y_true, y_score, pos_label)
        marks = [boundary.threshold, *(interval or ())]
        marks += [] if old_threshold is None else [old_threshold]
        axis = choose_axis([rows], marks, linear=True)
        thresholds = np.unique(
            np.append(np.linspace(axis.low, axis.high, _N_THRESHOLDS), boundary.threshold)
        )
        sample = ScoreSample.from_labels(y_true, y_score, pos_label)
        values = rule_values(
            sample, thresholds, bound or boundary.bound, rule or boundary.rule, options
        )
        wrong = rows.wrong_at(thresholds)
        bands = [_band(k, n, confidence) for k, n in zip(wrong, rows.n, strict=True)]
        display = cls(
            replace(boundary, labels=rows.labels),
            thresholds,
            (bands[0], bands[1]),
            values,
            old_threshold=old_threshold,
            interval=interval,
            confidence=confidence,
        )
        return display.plot(ax, theme=theme)

    def plot(self, ax: Axes | None = None, *, theme: Theme = "auto") -> BoundaryDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Two panels take its place; None makes a new figure.
        theme : {"auto", "light", "dark"}, default="auto"
            Paper to draw on; "auto" follows the axes, or matplotlib's style.

        Returns
        -------
        BoundaryDisplay

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        self.axes_, palette = split_axes(
            ax, theme, _SIZE, 2, 1, height_ratios=(2.4, 1), sharex=True
        )
        self.figure_ = self.axes_[0].figure
        self._draw_errors(self.axes_[0], palette)
        self._draw_rule(self.axes_[1], palette)
        for axes in self.axes_:
            self._draw_thresholds(axes, palette)
        self._label(palette)
        return self

    def _draw_errors(self, ax: Axes, palette: Palette) -> None:
        """Draw both classes' error rates, their bands, and where they stand at the boundary."""
        at = int(np.argmin(np.abs(self.thresholds - self.boundary.threshold)))
        for error, color in zip(self.errors, palette.classes, strict=True):
            ax.fill_between(self.thresholds, error.low, error.high, color=color, alpha=0.2, lw=0)
            ax.plot(self.thresholds, error.rate, color=color, lw=2)
            ax.plot(
                self.boundary.threshold, error.rate[at], "o", color=color, ms=9,
                mec=palette.surface, mew=1.5, zorder=7, clip_on=False,
            )  # fmt: skip
        ax.set_ylim(0, 1.02)
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
        ax.set_ylabel("on the wrong side")
        ax.grid(axis="y", color=palette.line, lw=0.7)
        ax.set_axisbelow(True)

    def _draw_rule(self, ax: Axes, palette: Palette) -> None:
        """Draw the rule, its lowest point and its plateau."""
        ax.plot(self.thresholds, self.rule_values, color=palette.soft, lw=2)
        at = int(np.argmin(np.abs(self.thresholds - self.boundary.threshold)))
        value = self.rule_values[at]
        low, high = self.boundary.plateau
        if high > low and np.isfinite(value):
            ax.plot([low, high], [value, value], color=palette.ink, lw=5, solid_capstyle="butt")
        ax.plot(
            self.boundary.threshold, value, "o", color=palette.ink, ms=9,
            mec=palette.surface, mew=1.5, zorder=7,
        )  # fmt: skip
        ax.set_ylabel(f"rule: {self.boundary.rule}")
        ax.margins(y=0.15)

    def _draw_thresholds(self, ax: Axes, palette: Palette) -> None:
        """Draw the old and the new boundary, and where the new one may fall."""
        if self.interval is not None:
            ax.axvspan(*self.interval, color=palette.ink, alpha=0.09, lw=0)
        if self.old_threshold is not None:
            ax.axvline(self.old_threshold, color=palette.soft, lw=1.8, ls=":", zorder=6)
        ax.axvline(self.boundary.threshold, color=palette.ink, lw=1.8, zorder=6)

    def _label(self, palette: Palette) -> None:
        """Name what is drawn."""
        known = self.boundary
        top, bottom = self.axes_
        top.set_title(f"Predict {known.labels[1]} iff score > {score_text(known.threshold)}")
        top.tick_params(labelbottom=False)
        bottom.set_xlabel("threshold on the score")
        bottom.set_xlim(float(self.thresholds[0]), float(self.thresholds[-1]))
        self._add_legend(bottom, palette)

    def _add_legend(self, ax: Axes, palette: Palette) -> None:
        """Explain the marks below the axes."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        percent = f"{100 * self.confidence:.6g}%"
        positive = self.boundary.labels[1]
        texts = (
            f"class {self.boundary.labels[0]} called {positive}",
            f"class {positive} missed",
        )
        marks: list[Any] = [
            Line2D([], [], color=color, lw=2, label=text)
            for color, text in zip(palette.classes, texts, strict=True)
        ]
        marks.append(Patch(color=palette.soft, alpha=0.3, lw=0, label=f"{percent} band"))
        marks.append(Line2D([], [], color=palette.ink, lw=1.8, label="new boundary"))
        if self.old_threshold is not None:
            marks.append(Line2D([], [], color=palette.soft, lw=1.8, ls=":", label="old boundary"))
        if self.interval is not None:
            text = "where the boundary may fall"
            marks.append(Patch(color=palette.ink, alpha=0.09, lw=0, label=text))
        if self.boundary.plateau[1] > self.boundary.plateau[0]:
            marks.append(Line2D([], [], color=palette.ink, lw=5, label="plateau"))
        add_legend(ax, marks, palette, bbox_to_anchor=(0.5, -0.42))


def _band(wrong: NDArray[np.intp], n: int, confidence: float) -> ErrorBand:
    """Return rates with Clopper and Pearson's two-sided interval."""
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(wrong == 0, 0.0, betaincinv(np.maximum(wrong, 1), n - wrong + 1, tail))
        high = np.where(wrong == n, 1.0, betaincinv(wrong + 1, np.maximum(n - wrong, 1), 1 - tail))
    return ErrorBand(wrong / n, low, high)
