"""Quantities against the threshold: errors and rule, metrics, costs, each with an exact band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from boundshift.boundary import find_boundary
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import METRICS, metrics_of_errors, odds_of, settle_costs
from boundshift.plots.canvas import (
    DecidedSample,
    Palette,
    ScoreDisplay,
    add_legend,
    area_key,
    boundary_keys,
    draw_boundaries,
    draw_grid,
    line_key,
    line_style,
)
from boundshift.plots.profile import rule_values
from boundshift.result.boundary import Boundary
from boundshift.rules.binary import Cost, as_prevalence
from boundshift.typing import FloatArray
from boundshift.validation import as_choice, as_row_cost, as_rows, as_share, own_cost
from boundshift.view.rows import count_wrong_at
from boundshift.words import claim_text, decision

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Band",
    "BoundaryDisplay",
    "CostDisplay",
    "MetricDisplay",
    "draw_band",
    "error_band",
    "metric_bands",
]

Pair = tuple[float, float]
Wrong = tuple[NDArray[np.intp], NDArray[np.intp]]

# Metrics that look at one class only need the whole confidence for that class alone.
_OF_ONE_CLASS = ("recall", "specificity")
# A plateau narrower than this share of the axis cannot be seen.
_LEAST_SEEN = 0.002


@dataclass(frozen=True, eq=False)
class Band:
    """A quantity at every threshold, with a band around it."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def error_band(wrong: NDArray[np.intp], n: int, confidence: float) -> Band:
    """Return rates with Clopper and Pearson's two-sided interval."""
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(wrong == 0, 0.0, betaincinv(np.maximum(wrong, 1), n - wrong + 1, tail))
        high = np.where(wrong == n, 1.0, betaincinv(wrong + 1, np.maximum(n - wrong, 1), 1 - tail))
    return Band(wrong / n, low, high)


def metric_bands(
    wrong: Wrong,
    n_samples: tuple[int, int],
    names: Sequence[str],
    *,
    confidence: float = 0.95,
    **settings: Any,
) -> dict[str, Band]:
    r"""Return metrics at every threshold, each with an interval that holds at that threshold.

    Both classes' error rates lie in their Clopper and Pearson intervals together with the
    confidence, each having its square root, since classes are drawn independently. Along each
    error rate by itself every metric is monotone, so its least and its greatest value over both
    intervals stand at their corners.

    Parameters
    ----------
    wrong : pair of arrays
        Rows of each class on the wrong side, at every threshold.
    n_samples : tuple of int
        Rows of each class.
    names : sequence of str
        Of :data:`~boundshift.metrics.METRICS`.
    confidence : float, default=0.95
        Of each threshold by itself.
    **settings : dict
        ``prevalence``, ``costs`` and ``odds``, as in
        :func:`~boundshift.metrics.metrics_of_errors`; the sample's prevalence is taken as known.

    Examples
    --------
    >>> wrong = np.array([20]), np.array([3])
    >>> band = metric_bands(wrong, (200, 30), ["precision"])["precision"]
    >>> [round(float(end[0]), 2) for end in (band.low, band.value, band.high)]
    [0.4, 0.57, 0.72]
    """
    negative, positive = (k / n for k, n in zip(wrong, n_samples, strict=True))
    values = metrics_of_errors(negative, positive, n_samples, **settings)
    bands = {}
    for name in names:
        each = confidence if name in _OF_ONE_CLASS else confidence**0.5
        ends = [error_band(k, n, each) for k, n in zip(wrong, n_samples, strict=True)]
        corners = [
            metrics_of_errors(first, second, n_samples, **settings)[name]
            for first in (ends[0].low, ends[0].high)
            for second in (ends[1].low, ends[1].high)
        ]
        bands[name] = Band(values[name], np.min(corners, axis=0), np.max(corners, axis=0))
    return bands


def draw_band(
    ax: Axes, x: FloatArray, band: Band, style: dict[str, Any], alpha: float = 0.15
) -> None:
    """Draw a quantity as a line with its band."""
    ax.fill_between(x, band.low, band.high, color=style["color"], alpha=alpha, lw=0)
    ax.plot(x, band.value, **style)


class ThresholdDisplay(ScoreDisplay):
    """Lines with bands against the threshold, and both boundaries across them."""

    boundary: Boundary
    thresholds: FloatArray
    old_threshold: float | None

    def _draw_line(self, band: Band, style: dict[str, Any], palette: Palette, **look: Any) -> None:
        """Draw a line and its band, filled at the new boundary and hollow at the old one."""
        mark_old = look.pop("mark_old", True)
        draw_band(self.ax_, self.thresholds, band, style, **look)
        color = style["color"]
        old = (self.old_threshold, palette.surface, color) if mark_old else (None, "", "")
        for place, face, edge in (old, (self.boundary.threshold, color, palette.surface)):
            if place is not None:
                at = int(np.argmin(np.abs(self.thresholds - place)))
                marker: dict[str, Any] = {"mfc": face, "mec": edge, "ms": 9, "mew": 1.5}
                self.ax_.plot(place, band.value[at], "o", zorder=7, clip_on=False, **marker)

    def _finish(self, palette: Palette) -> None:
        """Draw both boundaries, and name the axis of thresholds."""
        for ax in self.axes_:
            draw_boundaries(ax, self.boundary.threshold, self.old_threshold, palette)
        draw_grid(self.ax_, palette)
        self.ax_.set_title(decision(self.boundary))
        self.axes_[-1].set_xlim(float(self.thresholds[0]), float(self.thresholds[-1]))
        self.axes_[-1].set_xlabel("threshold on the score")


@dataclass(eq=False, repr=False)
class BoundaryDisplay(ThresholdDisplay):
    """Error rates of both classes, and the rule, against the threshold.

    Above, the share of each class on the wrong side, with a band that holds the true share with
    the stated confidence at each threshold by itself (Clopper and Pearson's interval). Below, what
    the rule makes of the errors that the curve claims: its lowest point is the boundary. On rows
    other than those that decided it need not be. A shaded strip is the interval in which the
    boundary may fall, a thick line at the bottom the plateau on which the rule does not change.

    Parameters
    ----------
    boundary : Boundary
        The chosen one.
    thresholds : array of shape (n,)
        Where the curves are known.
    errors : pair of Band
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
    >>> display = BoundaryDisplay.from_predictions(y, rng.normal(3.0 * y), rule="sum")
    >>> lowest = display.thresholds[np.nanargmin(display.rule_values)]
    >>> bool(abs(lowest - display.boundary.threshold) < 0.02)
    True
    """

    size = (8.0, 5.6)
    panels = (2, 1)
    heights = (2.4, 1)

    boundary: Boundary
    thresholds: FloatArray
    errors: tuple[Band, Band]
    rule_values: FloatArray
    _: KW_ONLY
    old_threshold: float | None = None
    interval: Pair | None = None
    confidence: float = 0.95

    @classmethod
    def _from_sample(
        cls, decided: DecidedSample, *, interval: Pair | None = None, confidence: float = 0.95
    ) -> Self:
        as_share("confidence", confidence)
        boundary, sample, old = decided
        thresholds = decided.grid(*(interval or ()))
        wrong, n = count_wrong_at(sample, thresholds), sample.n_samples
        errors = (error_band(wrong[0], n[0], confidence), error_band(wrong[1], n[1], confidence))
        rule = rule_values(sample, thresholds, boundary.curve, boundary.rule, boundary.scale)
        known: dict[str, Any] = {"interval": interval, "confidence": confidence}
        return cls(boundary, thresholds, errors, rule, old_threshold=old, **known)

    def _draw(self, palette: Palette) -> None:
        top, bottom = self.axes_
        keys: list[Any] = []
        negative, positive = self.boundary.labels
        texts = (f"class {negative} called {positive}", f"class {positive} missed")
        for error, color, text in zip(self.errors, palette.classes, texts, strict=True):
            style = {"color": color, "lw": 2}
            self._draw_line(error, style, palette, alpha=0.2, mark_old=False)
            keys.append(line_key(text, **style))
        keys.append(area_key(f"{100 * self.confidence:.6g}% band", palette.soft))
        keys += boundary_keys(self.old_threshold, palette)
        if self.interval is not None:
            for ax in self.axes_:
                ax.axvspan(*self.interval, color=palette.ink, alpha=0.09, lw=0)
            keys.append(area_key("where the boundary may fall", palette.ink, 0.09))
        top.set_ylim(0, 1.02)
        top.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
        top.set_ylabel("on the wrong side")
        top.tick_params(labelbottom=False)

        bottom.plot(self.thresholds, self.rule_values, color=palette.soft, lw=2)
        new, (low, high) = self.boundary.threshold, self.boundary.plateau
        value = self.rule_values[int(np.argmin(np.abs(self.thresholds - new)))]
        if high - low > _LEAST_SEEN * (self.thresholds[-1] - self.thresholds[0]):
            thick: dict[str, Any] = {"color": palette.ink, "lw": 5}
            keys.append(line_key("plateau", **thick))
            if np.isfinite(value):
                bottom.plot((low, high), [value, value], solid_capstyle="butt", **thick)
        marker: dict[str, Any] = {"ms": 9, "mec": palette.surface, "mew": 1.5, "zorder": 7}
        bottom.plot(new, value, "o", color=palette.ink, **marker)
        bottom.set_ylabel(f"rule: {self.boundary.rule.name}")
        bottom.margins(y=0.15)
        self._finish(palette)
        add_legend(bottom, keys, palette, below=0.42, title=claim_text(self.boundary))


@dataclass(eq=False, repr=False)
class MetricDisplay(ThresholdDisplay):
    """Several metrics against the threshold, with bands, and both operating points.

    A band holds the true metric with the stated confidence, at each threshold by itself, whatever
    the scores look like: it is made of Clopper and Pearson's exact intervals of both classes'
    error rates, not of resampling. For a metric of both classes it is therefore a little wider
    than it needs to be. The prevalence, the sample's or the one given, is taken as known.

    Parameters
    ----------
    boundary : Boundary
        The chosen one.
    thresholds, bands : array of shape (n,) and dict of str to Band
        Metrics by name, each with ``value``, ``low`` and ``high`` at every threshold.
    old_threshold : float or None, default=None
        Where the classifier decided before.
    confidence : float, default=0.95
        Of the bands.

    See Also
    --------
    MetricDisplay.from_estimator : Draw a `BoundShiftClassifier`.
    MetricDisplay.from_predictions : Draw labels and scores; ``metrics=("recall", "npv")``,
        ``prevalence=``, ``costs=`` and ``confidence=`` say what.
    boundshift.metrics_at : The same numbers as a table.

    Examples
    --------
    >>> from boundshift.plots import MetricDisplay
    >>> y, scores = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
    >>> display = MetricDisplay.from_predictions(
    ...     y, scores, metrics=("recall", "precision"), prevalence=0.01
    ... )
    >>> list(display.bands)
    ['recall', 'precision']
    """

    size = (8.0, 5.0)

    boundary: Boundary
    thresholds: FloatArray
    bands: Mapping[str, Band]
    _: KW_ONLY
    old_threshold: float | None = None
    confidence: float = 0.95

    @classmethod
    def _from_sample(
        cls,
        decided: DecidedSample,
        *,
        metrics: Sequence[str] = ("recall", "precision", "f1"),
        prevalence: float | None = None,
        costs: Cost | None = None,
        confidence: float = 0.95,
    ) -> Self:
        names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        for name in names:
            as_choice("metrics", name, METRICS)
        as_share("confidence", confidence)
        costs, share = settle_costs(costs, as_prevalence(prevalence))
        boundary, sample, old = decided
        thresholds = decided.grid()
        settings = {"prevalence": share, "costs": costs, "odds": odds_of(costs or Cost())}
        wrong = count_wrong_at(sample, thresholds)
        bands = metric_bands(wrong, sample.n_samples, names, confidence=confidence, **settings)
        return cls(boundary, thresholds, bands, old_threshold=old, confidence=confidence)

    def _draw(self, palette: Palette) -> None:
        keys: list[Any] = []
        for i, (name, band) in enumerate(self.bands.items()):
            style = line_style(i, palette)
            self._draw_line(band, style, palette)
            keys.append(line_key(name.replace("_", " "), **style))
        keys.append(area_key(f"exact {100 * self.confidence:.6g}% band", palette.soft))
        self._finish(palette)
        add_legend(self.ax_, keys + boundary_keys(self.old_threshold, palette), palette)


@dataclass(eq=False, repr=False)
class CostDisplay(ThresholdDisplay):
    """Cost of a decision against the threshold, beside flagging every row and flagging none.

    The band is exact, as in :class:`MetricDisplay`; costs by row have none, since a few large
    amounts may be all that matters, and no count bounds an amount.

    Parameters
    ----------
    boundary : Boundary
        The chosen one.
    thresholds, cost : array of shape (n,) and Band
        Mean cost of a row at every threshold.
    flag_all, flag_none : float
        Mean cost of a row if every row is flagged, and if none is.
    old_threshold : float or None, default=None
        Where the classifier decided before.
    confidence : float or None, default=0.95
        Of the band; None without one.

    See Also
    --------
    CostDisplay.from_predictions : Draw labels and scores, with costs of errors or of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import Cost
    >>> from boundshift.plots import CostDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 30])
    >>> s, costs = rng.normal(3.0 * y), Cost(false_negative=20)
    >>> display = CostDisplay.from_predictions(y, s, costs=costs)
    >>> round(display.flag_all, 2), round(display.flag_none, 2)
    (0.91, 1.82)
    """

    size = (8.0, 4.6)

    boundary: Boundary
    thresholds: FloatArray
    cost: Band
    flag_all: float
    flag_none: float
    _: KW_ONLY
    old_threshold: float | None = None
    confidence: float | None = 0.95

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        costs: Cost | None = None,
        row_cost: ArrayLike | None = None,
        boundary: Boundary | None = None,
        **settings: Any,
    ) -> Self:
        """Draw labels and scores.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Two labels of any kind, and scores.
        costs : Cost, default=None
            Costs of both errors, maybe with a prevalence; None takes those of the rule, or 1 and 1.
        row_cost : array-like of shape (n_samples,) or (n_samples, 2), default=None
            What is lost if a row is decided wrongly, in the place of `costs`, as in
            :func:`~boundshift.find_boundary`.
        boundary : Boundary, default=None
            The boundary to draw; None finds that of the costs.
        **settings : dict
            ``curve``, ``rule`` and ``pos_label``, as in :func:`~boundshift.find_boundary`, where
            the boundary is to be found; ``ax`` and ``theme``, as in :meth:`plot`;
            ``old_threshold`` and, unless rows have costs of their own, ``confidence``.

        Returns
        -------
        display : the display, drawn
        """
        rows = (y_true, y_score)
        if row_cost is None:
            if boundary is None and settings.get("rule") is None:
                settings["rule"] = costs
            return super().from_predictions(*rows, boundary=boundary, costs=costs, **settings)
        if costs is not None:
            raise InvalidInputError(
                f"`costs` must be left out where every row has its own, got {costs!r}. Multiply "
                "the costs of a class by what its errors cost more."
            )
        if boundary is None:
            claims = {name: settings.pop(name, None) for name in ("curve", "rule", "pos_label")}
            boundary = find_boundary(*rows, row_cost=row_cost, **claims)
        settings |= {"boundary": boundary, "rows": (*rows, row_cost)}
        return super().from_predictions(*rows, confidence=None, **settings)

    @classmethod
    def _from_sample(
        cls,
        decided: DecidedSample,
        *,
        costs: Cost | None = None,
        rows: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        confidence: float | None = 0.95,
    ) -> Self:
        boundary, sample, old = decided
        thresholds = decided.grid()
        if rows is not None:
            found = _cost_of_rows(*rows, thresholds, boundary.labels[1])
        else:
            shown = as_share("confidence", confidence)
            if costs is None:
                costs = boundary.rule if isinstance(boundary.rule, Cost) else Cost()
            whole, share = settle_costs(costs, None)
            wrong, n = count_wrong_at(sample, thresholds), sample.n_samples
            settings = {"prevalence": share, "costs": whole}
            band = metric_bands(wrong, n, ["cost"], confidence=shown, **settings)["cost"]
            every, none = costs.value(np.array([1.0, 0.0]), np.array([0.0, 1.0]), n)
            found = (band, float(every), float(none))
        return cls(boundary, thresholds, *found, old_threshold=old, confidence=confidence)

    def _draw(self, palette: Palette) -> None:
        ax, color, cost = self.ax_, palette.classes[1], self.cost.value
        self._draw_line(self.cost, {"color": color, "lw": 2}, palette, alpha=0.2)
        keys: list[Any] = [line_key("cost", color=color, lw=2)]
        if self.confidence is not None:
            keys.append(area_key(f"exact {100 * self.confidence:.6g}% band", color))
        for text, value, dash in (
            ("flag all", self.flag_all, "--"),
            ("flag none", self.flag_none, "-."),
        ):
            style: dict[str, Any] = {"color": palette.soft, "lw": 1.2, "ls": dash}
            ax.axhline(value, **style)
            keys.append(line_key(text, **style))
        top = max(1.6 * min(self.flag_all, self.flag_none), 2.5 * float(cost.min()))
        ax.set_ylim(0, min(1.05 * float(cost.max()), top) or 1.0)
        ax.set_ylabel("mean cost of a row")
        self._finish(palette)
        add_legend(ax, keys + boundary_keys(self.old_threshold, palette), palette)


def _cost_of_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    row_cost: ArrayLike,
    thresholds: FloatArray,
    positive: object,
) -> tuple[Band, float, float]:
    """Return the mean cost at every threshold, that of flagging every row, and that of none."""
    is_positive, scores, _ = as_rows(y_true, y_score, positive)
    cost = own_cost(as_row_cost(row_cost, len(scores)), is_positive)
    order = np.argsort(scores, kind="stable")
    below = np.searchsorted(scores[order], thresholds, side="right")
    missed, alarms = (
        np.concatenate([[0.0], np.cumsum(np.where(of, cost, 0.0)[order])]) / len(scores)
        for of in (is_positive, ~is_positive)
    )
    mean = missed[below] + alarms[-1] - alarms[below]
    return Band(mean, mean, mean), float(alarms[-1]), float(missed[-1])
