"""Methods by metrics: which method is good at what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.plots.canvas import split_axes
from boundshift.plots.display import Display
from boundshift.plots.palette import Palette, Theme
from boundshift.typing import FloatArray
from boundshift.validation import order_labels
from boundshift.view.words import OUR_METHODS, metric_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ComparisonDisplay"]


_METRICS = ("g_mean", "balanced_accuracy", "f1", "recall_positive", "recall_negative")


class ComparisonDisplay(Display):
    """One column a metric, one line a method, a dot for its value.

    The best value of a metric is ringed, the highlighted method is drawn in colour. A bar through
    a dot is one standard deviation to either side, where a method was run more than once.

    Parameters
    ----------
    methods : sequence of str
        Names, from top to bottom.
    metrics : mapping of str to array of shape (n_methods,)
        Values; NaN where there is none.
    spreads : mapping of str to array of shape (n_methods,), default=None
        Standard deviations.
    highlight : str, default=None
        Method to draw in colour; None takes "boundshift" or "shifted" if there is one.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One a metric.

    Examples
    --------
    >>> from boundshift.plots import ComparisonDisplay
    >>> y = [0, 0, 0, 0, 1, 1]
    >>> predictions = {"untouched": [0, 0, 0, 0, 0, 0], "shifted": [0, 0, 0, 1, 1, 1]}
    >>> display = ComparisonDisplay.from_predictions(y, predictions, metrics=["g_mean", "f1"])
    >>> display.metrics["g_mean"].round(3).tolist()
    [0.0, 0.866]
    """

    def __init__(
        self,
        methods: Sequence[str],
        metrics: Mapping[str, FloatArray],
        *,
        spreads: Mapping[str, FloatArray] | None = None,
        highlight: str | None = None,
    ) -> None:
        self.methods = list(methods)
        self.metrics = dict(metrics)
        self.spreads = dict(spreads or {})
        self.highlight = highlight

    @classmethod
    def from_estimator(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        pos_label: object = None,
        **settings: Any,
    ) -> ComparisonDisplay:
        """Compare fitted classifiers on the same rows.

        Parameters
        ----------
        estimators : mapping of str to fitted classifier
            By the names to show.
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows that none of them has seen.
        y : array-like of shape (n_samples,)
            Their labels, of two classes.
        pos_label : label, default=None
            The positive class, as in :meth:`from_predictions`.
        **settings : dict
            `metrics`, `highlight`, `ax` and `theme`, as in :meth:`from_rows`.

        Returns
        -------
        ComparisonDisplay
        """
        predictions = {name: model.predict(X) for name, model in dict(estimators).items()}
        return cls.from_predictions(y, predictions, pos_label=pos_label, **settings)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: Mapping[str, ArrayLike],
        *,
        pos_label: object = None,
        **settings: Any,
    ) -> ComparisonDisplay:
        """Compare predictions of the same rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_pred : mapping of str to array-like of shape (n_samples,)
            Predicted labels, by the names to show.
        pos_label : label, default=None
            The positive class; None takes 1 of 0 and 1, and the rarer of two words.
        **settings : dict
            `metrics`, `highlight`, `ax` and `theme`, as in :meth:`from_rows`.

        Returns
        -------
        ComparisonDisplay
        """
        labels, counts = np.unique(np.asarray(y_true), return_counts=True)
        known = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        positive = order_labels(known, pos_label, counts=known, alike=False)[1]
        table = [
            {"method": name} | binary_metrics(y_true, predicted, pos_label=positive)
            for name, predicted in dict(y_pred).items()
        ]
        return cls.from_rows(table, **settings)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        metrics: Sequence[str] = _METRICS,
        highlight: str | None = None,
        ax: Axes | None = None,
        theme: Theme = "auto",
    ) -> ComparisonDisplay:
        """Compare metrics that are known already.

        Parameters
        ----------
        rows : iterable of mappings
            Each with "method" and its metrics. Several rows of a method, one a seed or a fold,
            become a mean with its standard deviation.
        metrics : sequence of str, default=("g_mean", "balanced_accuracy", "f1", \
"recall_positive", "recall_negative")
            Which to show, such as those of :func:`boundshift.metrics.binary_metrics`.
        highlight : str, default=None
            Method to draw in colour.
        ax, theme
            As in :meth:`plot`.

        Returns
        -------
        ComparisonDisplay
        """
        table = list(rows)
        names = list(dict.fromkeys(str(row["method"]) for row in table))
        if not names or not metrics:
            raise InvalidInputError(
                f"`rows` and `metrics` must not be empty, got {len(names)} methods and "
                f"{len(metrics)} metrics. Pass at least one of each."
            )
        missing = [m for m in metrics if not any(m in row for row in table)]
        if missing:
            known = sorted({key for row in table for key in row} - {"method"})
            raise InvalidInputError(
                f"`metrics` must be among {', '.join(map(repr, known))}, got {missing[0]!r}."
            )
        means, spreads = {}, {}
        for metric in metrics:
            runs = [[_value(r, metric) for r in table if str(r["method"]) == n] for n in names]
            means[metric] = np.array([np.mean(values) for values in runs])
            spreads[metric] = np.array([np.std(v, ddof=1) if len(v) > 1 else 0.0 for v in runs])
        display = cls(names, means, spreads=spreads, highlight=highlight)
        return display.plot(ax, theme=theme)

    def _open(self, ax: Axes | None, theme: Theme) -> Palette:
        size = (2.0 + 1.75 * len(self.metrics), 1.2 + 0.36 * len(self.methods))
        self.axes_, palette = split_axes(ax, theme, size, 1, len(self.metrics), sharey=True)
        self.figure_ = self.axes_[0].figure
        return palette

    def _draw(self, palette: Palette) -> None:
        for axes, metric in zip(self.axes_, self.metrics, strict=True):
            self._draw_metric(axes, metric, palette)
        self._name_methods(self.axes_[0], palette)

    def _chosen(self) -> int | None:
        """Return the place of the method to draw in colour."""
        wanted = [self.highlight] if self.highlight else OUR_METHODS
        return next((i for i, name in enumerate(self.methods) if name in wanted), None)

    def _draw_metric(self, ax: Axes, metric: str, palette: Palette) -> None:
        """Draw one metric of all methods."""
        values, chosen = self.metrics[metric], self._chosen()
        spreads = self.spreads.get(metric, np.zeros(len(values)))
        for y, (value, spread) in enumerate(zip(values, spreads, strict=True)):
            color = palette.classes[1] if y == chosen else palette.soft
            if spread > 0:
                ends = [value - spread, value + spread]
                ax.plot(ends, [y, y], color=color, lw=2.5, alpha=0.45, solid_capstyle="round")
            ax.plot(value, y, "D" if y == chosen else "o", color=color, ms=7, zorder=4)
        if np.isfinite(values).any():
            best = np.flatnonzero(values == np.nanmax(values))
            ax.plot(
                values[best], best, "o", ms=14, mfc="none", mec=palette.ink, mew=1.4, zorder=5,
                clip_on=False,
            )  # fmt: skip
        ax.set_title(metric_title(metric), fontsize="medium")
        ax.grid(axis="both", color=palette.line, lw=0.7)
        ax.set_axisbelow(True)
        ax.margins(x=0.2)
        ax.locator_params(axis="x", nbins=4)
        ax.tick_params(axis="both", length=0)
        ax.spines[["left", "bottom"]].set_visible(False)

    def _name_methods(self, ax: Axes, palette: Palette) -> None:
        """Write the methods' names, the chosen one in its colour."""
        places = range(len(self.methods))
        ax.set_yticks(places, self.methods)
        ax.set_ylim(len(self.methods) - 0.5, -0.5)
        chosen = self._chosen()
        for i, text in enumerate(ax.get_yticklabels()):
            if i == chosen:
                text.set_color(palette.classes[1])
                text.set_fontweight("bold")


def _value(row: Mapping[str, Any], metric: str) -> float:
    """Return a metric, NaN where the row lacks it."""
    value = row.get(metric)
    return float("nan") if value is None else float(value)
