"""What all displays share: drawing on new or given axes, and where scores come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.plots.canvas import open_axes, split_axes
from boundshift.plots.palette import Palette, Theme
from boundshift.result.boundary import Boundary
from boundshift.rules import Rule
from boundshift.scores.sample import ScoreSample
from boundshift.view.axis import choose_axis
from boundshift.view.rows import settle_boundary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "DecidedSample",
    "Display",
    "OneAxesDisplay",
    "PanelsDisplay",
    "ScoreDisplay",
    "own_threshold",
    "read_fitted",
    "stacked",
]

_N_THRESHOLDS = 801


class Display(ABC):
    """A figure that can be drawn."""

    def plot(self, ax: Axes | None = None, *, theme: Theme = "auto") -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; several panels take their place. None makes a new figure.
        theme : {"auto", "light", "dark"}, default="auto"
            Paper to draw on; "auto" follows the axes, or matplotlib's style.

        Returns
        -------
        display : the display itself, with what was drawn on as ``ax_`` or, of several panels,
            ``axes_``, and as ``figure_``

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        self._draw(self._open(ax, theme))
        return self

    @abstractmethod
    def _open(self, ax: Axes | None, theme: Theme) -> Palette:
        """Make or take the axes, and return the palette that suits them."""

    @abstractmethod
    def _draw(self, palette: Palette) -> None:
        """Draw on the axes."""


class OneAxesDisplay(Display):
    """A display on one pair of axes."""

    size: ClassVar[tuple[float, float]]
    """Of a new figure, in inches."""

    def _open(self, ax: Axes | None, theme: Theme) -> Palette:
        self.ax_, palette = open_axes(ax, theme, self.size)
        self.figure_ = self.ax_.figure
        return palette


def stacked(height: float) -> dict[str, Any]:
    """Return the layout of two panels with one axis of x, the upper one so many times as high."""
    return {"rows": 2, "columns": 1, "height_ratios": (height, 1), "sharex": True}


class PanelsDisplay(Display):
    """A display of several panels."""

    size: ClassVar[tuple[float, float]]
    """Of a new figure, in inches."""
    layout: ClassVar[Mapping[str, Any]]
    """How many rows and columns of panels, and what they share."""

    def _open(self, ax: Axes | None, theme: Theme) -> Palette:
        self.axes_, palette = split_axes(ax, theme, self.size, **self.layout)
        self.figure_ = self.axes_[0].figure
        return palette


class DecidedSample(NamedTuple):
    """Labelled scores, the boundary to draw on them, and where the classifier decided before."""

    boundary: Boundary
    sample: ScoreSample
    old_threshold: float | None

    @property
    def places(self) -> list[float]:
        """The boundary and, if it is known, the old one."""
        old = [] if self.old_threshold is None else [self.old_threshold]
        return [self.boundary.threshold, *old]

    def grid(self, *marks: float) -> NDArray[np.float64]:
        """Return thresholds to draw at, from end to end of the axis, all marks among them."""
        known = [*self.places, *marks]
        axis = choose_axis([self.sample], known, linear=True)
        shown = [mark for mark in known if np.isfinite(mark)]
        return np.unique(np.append(np.linspace(axis.low, axis.high, _N_THRESHOLDS), shown))


class ScoreDisplay(Display):
    """A display of labelled scores and their boundary."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        old_threshold: float | Literal["auto"] | None = "auto",
        **settings: Any,
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
            Where the wrapped classifier decides; "auto" is 0, its place on margins and log-odds,
            or nothing where the scores come from a function of the user's.
        **settings : dict
            `ax` and `theme`, as in :meth:`plot`, and other parameters of the class by name.

        Returns
        -------
        display : the display, drawn
        """
        boundary, scores = read_fitted(estimator, X)
        old = own_threshold(estimator, old_threshold)
        return cls.from_predictions(y, scores, boundary=boundary, old_threshold=old, **settings)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        boundary: Boundary | None = None,
        old_threshold: float | None = None,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        pos_label: object = None,
        ax: Axes | None = None,
        theme: Theme = "auto",
        **settings: Any,
    ) -> Self:
        """Draw labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Two labels of any kind.
        y_score : array-like of shape (n_samples,)
            Real scores.
        boundary : Boundary, default=None
            The boundary to draw, with its labels, curve and rule; None finds it.
        old_threshold : float, default=None
            Where the classifier decided before, if that is to be drawn.
        curve, rule, pos_label
            How to find the boundary, as in :func:`~boundshift.find_boundary`.
        ax, theme
            As in :meth:`plot`.
        **settings : dict
            Other parameters of the class, by name.

        Returns
        -------
        display : the display, drawn
        """
        boundary, sample = settle_boundary(
            y_true, y_score, boundary, curve=curve, rule=rule, pos_label=pos_label
        )
        decided = DecidedSample(boundary, sample, old_threshold)
        return cls._from_sample(decided, **settings).plot(ax, theme=theme)

    @classmethod
    @abstractmethod
    def _from_sample(cls, decided: DecidedSample, *_: Any, **settings: Any) -> Self:
        """Return the display of a boundary on a sample, not drawn yet."""


def read_fitted(estimator: Any, X: Any) -> tuple[Boundary, NDArray[np.float64]]:
    """Return the boundary of two classes, and the positive class's scores of some rows."""
    check_is_fitted(estimator)
    if len(estimator.classes_) != 2:
        raise InvalidInputError(
            f"`estimator` must have two classes, got {len(estimator.classes_)}. Draw one of "
            "its `boundaries_` with ProjectionDisplay(boundary, scores).plot()."
        )
    return estimator.boundary_, estimator.positive_scores(X)


def own_threshold(estimator: Any, old_threshold: float | Literal["auto"] | None) -> float | None:
    """Return where the wrapped classifier decides: 0, unless its scores are the user's own."""
    if old_threshold != "auto":
        return old_threshold
    return None if callable(estimator.response_method) else 0.0
