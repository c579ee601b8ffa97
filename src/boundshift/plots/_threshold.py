"""Errors with the rule, or metrics, against the threshold.

Every line has a band that holds the true value with the stated confidence, at each threshold by
itself, whatever the distribution of the scores. It is made of Clopper and Pearson's exact intervals
of both classes' error rates, so for a metric of both classes it is a little wider than it needs to
be. The prevalence, the sample's or the one given, is taken as known.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._typing import FloatArray
from boundshift._validation import as_choice, as_share
from boundshift._view import Band, error_band, settle_boundary
from boundshift._words import claim_text, decision
from boundshift.curves import ErrorCurve
from boundshift.metrics import METRICS, metrics_of_errors, settle_costs
from boundshift.plots._canvas import (
    DASHES,
    Display,
    Palette,
    add_legend,
    draw_boundaries,
    grid_of,
    line_key,
    read_estimator,
)
from boundshift.rules import Rule
from boundshift.rules._binary import Cost, as_prevalence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Wrong = tuple[NDArray[np.intp], NDArray[np.intp]]

# Metrics of one class need the whole confidence for that class alone.
_OF_ONE_CLASS = ("recall", "specificity")
_LEAST_SEEN = 0.002  # a plateau narrower than this share of the axis cannot be seen


def metric_bands(
    wrong: Wrong,
    n_samples: tuple[int, int],
    names: Sequence[str],
    *,
    confidence: float = 0.95,
    prevalence: float | None = None,
    costs: Cost | None = None,
) -> dict[str, Band]:
    """Return metrics at every threshold, from the rows of each class on the wrong side.

    Both error rates lie in their intervals together with the confidence if each has its square
    root, since classes are drawn independently. Every metric is monotone in each error rate, so
    its extremes over both intervals stand at their corners.
    """

    def metrics_at(negative: FloatArray, positive: FloatArray) -> dict[str, FloatArray]:
        return metrics_of_errors(negative, positive, n_samples, prevalence=prevalence, costs=costs)

    values = metrics_at(wrong[0] / n_samples[0], wrong[1] / n_samples[1])
    bands = {}
    for name in names:
        each = confidence if name in _OF_ONE_CLASS else confidence**0.5
        negative = error_band(wrong[0], n_samples[0], each)
        positive = error_band(wrong[1], n_samples[1], each)
        corners = [
            metrics_at(first, second)[name]
            for first in (negative.low, negative.high)
            for second in (positive.low, positive.high)
        ]
        bands[name] = Band(values[name], np.min(corners, axis=0), np.max(corners, axis=0))
    return bands


@dataclass(eq=False, repr=False)
class ThresholdDisplay(Display):
    """Draw error rates or metrics with bands against the threshold.

    Parameters
    ----------
    thresholds, bands : array of shape (n,) and dict of str to Band
        Quantities by name, each with ``value``, ``low`` and ``high`` at every threshold.
    boundary : Boundary
        The chosen one.
    old_threshold : float, default=None
        Where the classifier decided before.
    confidence : float, default=0.95
        Of the bands.
    rule_values : array of shape (n,), default=None
        What the rule optimises, such as the G-mean, at every threshold, for a panel below.
    interval : pair of float, default=None
        From :func:`~boundshift.threshold_interval`, to be shaded.
    y_name : str, default=""
        What the lines are, if all are shares; their axis is then in percent.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        The lines, and the rule below them.

    See Also
    --------
    ThresholdDisplay.from_estimator : Errors and rule of a `BoundShiftClassifier`.
    ThresholdDisplay.from_predictions : Errors and rule of labels and scores.
    ThresholdDisplay.metrics : Several metrics, or the mean cost of a row.
    boundshift.metrics_at : The same numbers as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.plots import ThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 30])
    >>> display = ThresholdDisplay.from_predictions(y, rng.normal(3.0 * y), rule="sum")
    >>> best = display.thresholds[np.argmax(display.rule_values)]  # the balanced accuracy
    >>> bool(abs(best - display.boundary.threshold) < 0.02)
    True
    """

    thresholds: FloatArray
    bands: Mapping[str, Band]
    boundary: Boundary
    _: KW_ONLY
    old_threshold: float | None = None
    confidence: float = 0.95
    rule_values: FloatArray | None = None
    interval: tuple[float, float] | None = None
    y_name: str = ""

    def __post_init__(self) -> None:
        if self.rule_values is not None:
            self.size = (8.0, 5.6)
            self.heights = (2.4, 1)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        interval: tuple[float, float] | None = None,
        confidence: float = 0.95,
        old_threshold: float | Literal["auto"] | None = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw errors and rule of a fitted `BoundShiftClassifier` with two classes.

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
        interval, confidence, ax
            As in :meth:`from_predictions`.

        Returns
        -------
        display : the display, drawn
        """
        scores, old = read_estimator(estimator, X, old_threshold)
        return cls.from_predictions(
            y,
            scores,
            boundary=estimator.boundary_,
            interval=interval,
            confidence=confidence,
            old_threshold=old,
            ax=ax,
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
        interval: tuple[float, float] | None = None,
        confidence: float = 0.95,
        old_threshold: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw error rates of both classes, and the rule, against the threshold.

        The upper panel shows the error rate of each class. The lower panel shows what the rule
        optimises, such as the G-mean, for the error rates that the curve estimates. Its best point
        is the threshold, if the rows are those that chose it. The paper's method has no lower
        panel. A shaded strip is the interval of the threshold, and a thick line in the lower panel
        is the plateau of equally good thresholds.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Two labels of any kind, and real scores.
        interval : pair of float, default=None
            From :func:`~boundshift.threshold_interval`.
        confidence : float, default=0.95
            Of the bands.
        boundary, curve, rule, pos_label, old_threshold, ax
            As in :meth:`ProjectionDisplay.from_predictions`.

        Returns
        -------
        display : the display, drawn
        """
        as_share("confidence", confidence)
        boundary, sample = settle_boundary(
            y_true, y_score, boundary, curve=curve, rule=rule, pos_label=pos_label
        )
        thresholds = grid_of(sample, boundary.threshold, old_threshold, *(interval or ()))
        negative, positive = boundary.labels
        names = (f"class {negative} called {positive}", f"class {positive} missed")
        counted = zip(sample.count_wrong(thresholds), sample.n_samples, strict=True)
        bands = [error_band(wrong, n, confidence) for wrong, n in counted]
        return cls(
            thresholds,
            dict(zip(names, bands, strict=True)),
            boundary,
            old_threshold=old_threshold,
            confidence=confidence,
            rule_values=_rule_values(sample, thresholds, boundary),
            interval=interval,
            y_name="on the wrong side",
        ).plot(ax)

    @classmethod
    def metrics(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        metrics: str | Sequence[str] = ("recall", "precision", "f1"),
        prevalence: float | None = None,
        costs: Cost | None = None,
        boundary: Boundary | None = None,
        curve: str | ErrorCurve | None = None,
        rule: str | Rule | None = None,
        pos_label: object = None,
        confidence: float = 0.95,
        old_threshold: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw metrics against the threshold, with bands, and the old and the new threshold.

        Parameters
        ----------
        metrics : str or sequence of str, default=("recall", "precision", "f1")
            Names from :data:`boundshift.metrics.METRICS`, such as "cost", the mean cost of a row.
        prevalence : float, default=None
            Share of the positive class where decisions are made; None takes the sample's.
        costs : Cost, default=None
            Costs of both errors, for the cost and the net benefit; None takes those of the rule.
        y_true, y_score, boundary, curve, rule, pos_label, confidence, old_threshold, ax
            As in :meth:`from_predictions`.

        Returns
        -------
        display : the display, drawn

        Examples
        --------
        >>> from boundshift.plots import ThresholdDisplay
        >>> y, scores = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
        >>> display = ThresholdDisplay.metrics(y, scores, metrics=("recall", "npv"))
        >>> list(display.bands)
        ['recall', 'npv']
        """
        names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        for name in names:
            as_choice("metrics", name, METRICS)
        as_share("confidence", confidence)
        boundary, sample = settle_boundary(
            y_true, y_score, boundary, curve=curve, rule=rule, pos_label=pos_label
        )
        if costs is None:
            costs = boundary.rule if isinstance(boundary.rule, Cost) else Cost()
        costs, prevalence = settle_costs(costs, as_prevalence(prevalence))
        thresholds = grid_of(sample, boundary.threshold, old_threshold)
        bands = metric_bands(
            sample.count_wrong(thresholds),
            sample.n_samples,
            names,
            confidence=confidence,
            prevalence=prevalence,
            costs=costs,
        )
        display = cls(
            thresholds, bands, boundary, old_threshold=old_threshold, confidence=confidence
        )
        return display.plot(ax)

    def _draw(self, palette: Palette) -> None:
        top = self.ax_
        bottom = self.axes_[-1]
        top.set(xlim=(self.thresholds[0], self.thresholds[-1]), title=decision(self.boundary))
        keys = self._draw_lines(palette)
        if self.y_name:
            top.set(ylabel=self.y_name, ylim=(0.0, 1.02))
            top.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
        top.grid(axis="y", color=palette.line, lw=0.7)
        top.set_axisbelow(True)
        keys += draw_boundaries(self.axes_, self.boundary.threshold, self.old_threshold, palette)
        if self.interval is not None:
            for ax in self.axes_:
                ax.axvspan(*self.interval, color=palette.ink, alpha=0.09, lw=0)
            shade: dict[str, Any] = {"color": palette.ink, "alpha": 0.09, "lw": 8}
            keys.append(line_key("where the boundary may fall", **shade))
        bottom.set_xlabel("threshold on the score")
        if self.rule_values is None:
            add_legend(bottom, keys, palette)
        else:
            keys += self._draw_rule(self.rule_values, palette)
            top.tick_params(labelbottom=False)
            add_legend(bottom, keys, palette, below=0.42, title=claim_text(self.boundary))

    def _draw_lines(self, palette: Palette) -> list[Any]:
        """Draw all lines with their bands; return the legend's entries."""
        keys: list[Any] = []
        colors = (*palette.classes, palette.ink, palette.soft)
        for i, (name, band) in enumerate(self.bands.items()):
            color = colors[i % 4]
            style: dict[str, Any] = {"color": color, "ls": DASHES[(i + i // 4) % 4], "lw": 2}
            self.ax_.fill_between(
                self.thresholds, band.low, band.high, color=color, alpha=0.17, lw=0
            )
            self.ax_.plot(self.thresholds, band.value, **style)
            keys.append(line_key(name.replace("_", " "), **style))
            self._mark(self.boundary.threshold, band, color, palette.surface)
            if self.old_threshold is not None:
                self._mark(self.old_threshold, band, palette.surface, color)
        band_style: dict[str, Any] = {"color": palette.soft, "alpha": 0.3, "lw": 8}
        return [*keys, line_key(f"exact {100 * self.confidence:.6g}% band", **band_style)]

    def _mark(self, place: float, band: Band, face: str, edge: str) -> None:
        at = int(np.argmin(np.abs(self.thresholds - place)))
        marker: dict[str, Any] = {"mfc": face, "mec": edge, "ms": 9, "mew": 1.5}
        self.ax_.plot(place, band.value[at], "o", zorder=7, clip_on=False, **marker)

    def _draw_rule(self, values: FloatArray, palette: Palette) -> list[Any]:
        """Draw the rule, its plateau and the boundary below; return the legend's entries."""
        ax = self.axes_[1]
        keys = []
        threshold = self.boundary.threshold
        low, high = self.boundary.plateau
        ax.plot(self.thresholds, values, color=palette.soft, lw=2)
        value = values[int(np.argmin(np.abs(self.thresholds - threshold)))]
        if high - low > _LEAST_SEEN * (self.thresholds[-1] - self.thresholds[0]):
            thick: dict[str, Any] = {"color": palette.ink, "lw": 5}
            keys.append(line_key("plateau", **thick))
            ax.plot((low, high), [value, value], solid_capstyle="butt", **thick)
        marker: dict[str, Any] = {"ms": 9, "mec": palette.surface, "mew": 1.5, "zorder": 7}
        ax.plot(threshold, value, "o", color=palette.ink, **marker)
        rule = self.boundary.rule
        has_title = type(rule).title is not Rule.title
        ax.set_ylabel(textwrap.fill(rule.title, 18) if has_title else f"rule: {rule.name}")
        ax.margins(y=0.15)
        return keys


def _rule_values(
    sample: ScoreSample, thresholds: FloatArray, boundary: Boundary
) -> FloatArray | None:
    """Return what the rule optimises at every threshold; the paper's problem has no curve."""
    if boundary.curve.is_local:
        return None
    if boundary.scale == "probability":
        sample = sample.on_scale("auto")
    negative, positive = boundary.curve.errors(sample)(sample.from_units(thresholds))
    prevalence = getattr(boundary.rule, "prevalence", None)
    if prevalence is None:
        prevalence = sample.n_samples[1] / sum(sample.n_samples)
    return boundary.rule.measure(negative, positive, prevalence)
