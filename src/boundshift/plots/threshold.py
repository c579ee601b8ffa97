"""Quantities against the threshold: errors and rule, metrics, costs, net benefit.

Every line has a band that holds the true value with the stated confidence, at each threshold by
itself, whatever the scores look like. It is made of Clopper and Pearson's exact intervals of both
classes' error rates, so for a metric of both classes it is a little wider than it needs to be. The
prevalence, the sample's or the one given, is taken as known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from boundshift.boundary import Boundary, find_boundary
from boundshift.curves.uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import METRICS, metrics_of_errors, odds_of, settle_costs
from boundshift.plots.canvas import (
    DASHES,
    DecidedSample,
    Display,
    Palette,
    ScoreDisplay,
    add_legend,
    area_key,
    boundary_keys,
    draw_boundaries,
    draw_grid,
    line_key,
    percent_axis,
)
from boundshift.plots.profile import rule_values
from boundshift.rules.binary import Cost, as_prevalence, frequencies
from boundshift.scores import ScoreSample
from boundshift.typing import FloatArray
from boundshift.validation import (
    as_choice,
    as_row_cost,
    as_rows,
    as_share,
    order_labels,
    own_cost,
)
from boundshift.view.axis import is_probability
from boundshift.view.rows import count_wrong_at
from boundshift.words import claim_text, decision, error_text

Pair = tuple[float, float]
Wrong = tuple[NDArray[np.intp], NDArray[np.intp]]

# Metrics of one class need the whole confidence for that class alone.
_OF_ONE_CLASS = ("recall", "specificity")
_LEAST_SEEN = 0.002  # a plateau narrower than this share of the axis cannot be seen
_N_PROBABILITIES = 400
_REACH = 5.0  # a decision curve ends at this many times the prevalence


class Band(NamedTuple):
    """A quantity at every threshold, with a band around it."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def error_band(wrong: NDArray[np.intp], n: int, confidence: float) -> Band:
    """Return rates with Clopper and Pearson's two-sided interval."""
    tail = (1 - confidence) / 2
    low, high = 1.0 - clopper_pearson(n - wrong, n, tail), clopper_pearson(wrong, n, tail)
    return Band(wrong / n, low, high)


def metric_bands(
    wrong: Wrong,
    n_samples: tuple[int, int],
    names: Sequence[str],
    *,
    confidence: float = 0.95,
    **settings: Any,
) -> dict[str, Band]:
    """Return metrics at every threshold, from the rows of each class on the wrong side.

    Both error rates lie in their intervals together with the confidence if each has its square
    root, since classes are drawn independently. Every metric is monotone in each error rate, so
    its extremes over both intervals stand at their corners. Settings are those of
    :func:`~boundshift.metrics.metrics_of_errors`.

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


@dataclass(eq=False, repr=False)
class ThresholdDisplay(Display):
    """Lines with bands against the threshold, and both boundaries across them.

    Parameters
    ----------
    thresholds, bands : array of shape (n,) and dict of str to Band
        Quantities by name, each with ``value``, ``low`` and ``high`` at every threshold.
    boundary : Boundary or None, default=None
        The chosen one.
    old_threshold : float or None, default=None
        Where the classifier decided before.
    levels : dict of str to float or array, default={}
        What to compare with, such as flagging every row and flagging none.
    confidence : float or None, default=0.95
        Of the bands; None without one.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.plots import ThresholdDisplay
    >>> t, wrong = np.linspace(0, 1, 5), np.arange(5)
    >>> display = ThresholdDisplay(t, {"missed": error_band(wrong, 4, 0.95)}).plot()
    >>> [line.get_ydata().tolist() for line in display.ax_.lines]
    [[0.0, 0.25, 0.5, 0.75, 1.0]]
    """

    size = (8.0, 5.0)
    _alpha: ClassVar[float] = 0.15
    _dashes: ClassVar[tuple[str, str]] = ("--", "-.")
    _width: ClassVar[float] = 1.2

    thresholds: FloatArray
    bands: Mapping[str, Band]
    _: KW_ONLY
    boundary: Boundary | None = None
    old_threshold: float | None = None
    levels: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = 0.95

    def _style(self, i: int, palette: Palette) -> dict[str, Any]:
        """Return the look of the i-th line: a colour and a dash of its own."""
        colors = (*palette.classes, palette.ink, palette.soft)
        return {"color": colors[i % 4], "ls": DASHES[(i + i // 4) % 4], "lw": 2}

    def _draw(self, palette: Palette) -> None:
        keys = self._draw_lines(palette)
        if self.boundary is not None:
            keys += boundary_keys(self.old_threshold, palette)
        add_legend(self.ax_, keys, palette)

    def _draw_lines(self, palette: Palette, *, mark_old: bool = True) -> list[Any]:
        """Draw all lines and both boundaries, name the axis; return the legend's entries."""
        keys: list[Any] = []
        for i, (name, band) in enumerate(self.bands.items()):
            style = self._style(i, palette)
            self.ax_.fill_between(
                self.thresholds, band.low, band.high, color=style["color"], alpha=self._alpha, lw=0
            )
            self.ax_.plot(self.thresholds, band.value, **style)
            keys.append(line_key(name.replace("_", " "), **style))
            if self.boundary is not None:
                self._mark(self.boundary.threshold, band, style["color"], palette.surface)
                if mark_old and self.old_threshold is not None:
                    self._mark(self.old_threshold, band, palette.surface, style["color"])
        if self.confidence is not None:
            color = style["color"] if len(self.bands) == 1 else palette.soft
            keys.append(area_key(f"exact {100 * self.confidence:.6g}% band", color))
        for (name, level), dash in zip(self.levels.items(), self._dashes, strict=False):
            line: dict[str, Any] = {"color": palette.soft, "lw": self._width, "ls": dash}
            flat = np.broadcast_to(level, self.thresholds.shape)
            self.ax_.plot(self.thresholds, flat, zorder=1.9, **line)
            keys.append(line_key(name, **line))
        draw_grid(self.ax_, palette)
        bottom = self.axes_[-1]
        bottom.set_xlim(float(self.thresholds[0]), float(self.thresholds[-1]))
        if self.boundary is not None:
            for ax in self.axes_:
                draw_boundaries(ax, self.boundary.threshold, self.old_threshold, palette)
            self.ax_.set_title(decision(self.boundary))
            bottom.set_xlabel("threshold on the score")
        return keys

    def _mark(self, place: float, band: Band, face: str, edge: str) -> None:
        at = int(np.argmin(np.abs(self.thresholds - place)))
        marker: dict[str, Any] = {"mfc": face, "mec": edge, "ms": 9, "mew": 1.5}
        self.ax_.plot(place, band.value[at], "o", zorder=7, clip_on=False, **marker)


@dataclass(eq=False, repr=False)
class BoundaryDisplay(ThresholdDisplay, ScoreDisplay):
    """Error rates of both classes, and the rule, against the threshold.

    Above, the share of each class on the wrong side. Below, what the rule makes of the errors that
    the curve claims: its lowest point is the boundary. On rows other than those that decided it
    need not be. A shaded strip is the interval in which the boundary may fall, a thick line at the
    bottom the plateau on which the rule does not change.

    Parameters
    ----------
    thresholds, bands, boundary, old_threshold, confidence
        As in :class:`ThresholdDisplay`; the bands are those of the (negative, positive) class.
    rule_values : array of shape (n,)
        The rule, NaN where it has no value.
    interval : pair of float or None, default=None
        From :func:`~boundshift.threshold_interval`.

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
    _alpha = 0.2

    boundary: Boundary
    rule_values: FloatArray = field(default_factory=lambda: np.empty(0))
    interval: Pair | None = None

    @classmethod
    def _from_sample(
        cls, decided: DecidedSample, *, interval: Pair | None = None, confidence: float = 0.95
    ) -> Self:
        as_share("confidence", confidence)
        boundary, sample, old = decided
        thresholds = decided.grid(*(interval or ()))
        negative, positive = boundary.labels
        names = (f"class {negative} called {positive}", f"class {positive} missed")
        counted = zip(count_wrong_at(sample, thresholds), sample.n_samples, strict=True)
        bands = [error_band(wrong, n, confidence) for wrong, n in counted]
        return cls(
            thresholds,
            dict(zip(names, bands, strict=True)),
            boundary=boundary,
            old_threshold=old,
            confidence=confidence,
            rule_values=rule_values(
                sample, thresholds, boundary.curve, boundary.rule, boundary.scale
            ),
            interval=interval,
        )

    def _style(self, i: int, palette: Palette) -> dict[str, Any]:
        return {"color": palette.classes[i], "lw": 2}

    def _draw(self, palette: Palette) -> None:
        top, bottom = self.axes_
        *keys, band = self._draw_lines(palette, mark_old=False)
        band.set_label(band.get_label().removeprefix("exact "))
        keys += [band, *boundary_keys(self.old_threshold, palette)]
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
        add_legend(bottom, keys, palette, below=0.42, title=claim_text(self.boundary))


class MetricDisplay(ThresholdDisplay, ScoreDisplay):
    """Several metrics against the threshold, with bands, and both operating points.

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
        return cls(thresholds, bands, boundary=boundary, old_threshold=old, confidence=confidence)


class CostDisplay(ThresholdDisplay, ScoreDisplay):
    """Mean cost of a row against the threshold, beside flagging every row and flagging none.

    Costs by row have no band, since a few large amounts may be all that matters, and no count
    bounds an amount.

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
    >>> {name: round(cost, 2) for name, cost in display.levels.items()}
    {'flag all': 0.91, 'flag none': 1.82}
    """

    size = (8.0, 4.6)
    _alpha = 0.2

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
            band, every, none = _cost_of_rows(*rows, thresholds, boundary.labels[1])
        else:
            shown = as_share("confidence", confidence)
            if costs is None:
                costs = boundary.rule if isinstance(boundary.rule, Cost) else Cost()
            whole, share = settle_costs(costs, None)
            wrong, n = count_wrong_at(sample, thresholds), sample.n_samples
            settings = {"prevalence": share, "costs": whole}
            band = metric_bands(wrong, n, ["cost"], confidence=shown, **settings)["cost"]
            every, none = map(float, costs.value(np.array([1.0, 0.0]), np.array([0.0, 1.0]), n))
        return cls(
            thresholds,
            {"cost": band},
            boundary=boundary,
            old_threshold=old,
            levels={"flag all": every, "flag none": none},
            confidence=confidence,
        )

    def _style(self, i: int, palette: Palette) -> dict[str, Any]:
        return {"color": palette.classes[1], "lw": 2}

    def _draw(self, palette: Palette) -> None:
        super()._draw(palette)
        cost = self.bands["cost"].value
        top = max(1.6 * min(self.levels.values()), 2.5 * float(cost.min()))
        self.ax_.set_ylim(0, min(1.05 * float(cost.max()), top) or 1.0)
        self.ax_.set_ylabel("mean cost of a row")


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


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(ThresholdDisplay):
    """Net benefit of a model against the probability from which on one would act.

    Someone who acts from the probability p on holds p / (1 − p) false alarms to be worth one true
    positive found. The net benefit counts the true positives among all rows, less the false
    alarms at that rate. A model is worth using where its curve is above both "flag all" and "flag
    none", which is 0. Decisions that are fixed, such as those of a boundary, have a curve too: a
    straight line in p / (1 − p).

    Parameters
    ----------
    thresholds : array of shape (n,)
        Probabilities from which on one would act.
    bands : dict of str to Band
        Net benefit of each model or fixed decision, with ``value``, ``low`` and ``high``.
    levels, confidence
        As in :class:`ThresholdDisplay`.
    prevalence : float
        Share of the positive class: the sample's, or the one given.
    standardised : bool, default=True
        Whether the net benefit is divided by the prevalence, so that 1 is the most there is.

    See Also
    --------
    DecisionCurveDisplay.from_estimator : Draw a classifier on unseen rows, or across folds.
    DecisionCurveDisplay.from_predictions : Draw labels and probabilities.
    boundshift.metrics_at : The net benefit as a table.

    References
    ----------
    A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for evaluating prediction
    models", Medical Decision Making 26(6), 2006. K. F. Kerr and others, "Assessing the clinical
    impact of risk prediction models with decision curves", Journal of Clinical Oncology 34(21),
    2016, for the standardised curve.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.plots import DecisionCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 9, size=2000)
    >>> y = (rng.random(2000) < p).astype(int)
    >>> display = DecisionCurveDisplay.from_predictions(y, p, limits=(0.01, 0.3))
    >>> curve = display.bands["model"].value
    >>> bool(np.mean(curve >= np.maximum(display.levels["flag all"], 0)) > 0.9)
    True
    """

    _dashes = ("--", "-")
    _width = 1.5

    prevalence: float = 0.5
    standardised: bool = True

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, cv: Any = None, **settings: Any
    ) -> Self:
        """Draw a classifier of two classes.

        Parameters
        ----------
        estimator : classifier with ``predict_proba``
            Of a `BoundShiftClassifier` the model's own probabilities are drawn, which say how
            likely a class is, and the decisions of its boundary beside them.
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Rows. On the rows of its training a model looks better than it is.
        y : array-like of shape (n_samples,)
            Their labels.
        cv : int, splitter or iterable, default=None
            None: the estimator is fitted, and has not seen these rows. Else it is trained anew in
            each fold, and every row gets the probability of a model that has not seen it.
        **settings : dict
            As in :meth:`from_predictions`.

        Returns
        -------
        display : the display, drawn
        """
        truth = np.asarray(y)
        if cv is None:
            check_is_fitted(estimator)
            parts = [(truth, *_unseen(estimator, X))]
        else:
            parts = []
            for train, test in check_cv(cv, truth, classifier=True).split(X, truth):
                model = clone(estimator).fit(_safe_indexing(X, train), truth[train])
                parts.append((truth[test], *_unseen(model, _safe_indexing(X, test))))
        labels, probabilities, decided, positives = zip(*parts, strict=True)
        given: dict[str, Any] = {"pos_label": positives[0], "decisions": None}
        if decided[0] is not None:
            given["decisions"] = {"boundary": np.concatenate(decided)}
        return cls.from_predictions(
            np.concatenate(labels), np.concatenate(probabilities), **(given | settings)
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike | Mapping[str, ArrayLike],
        *,
        decisions: Mapping[str, ArrayLike] | None = None,
        prevalence: float | None = None,
        standardised: bool = True,
        limits: tuple[float, float] | None = None,
        confidence: float = 0.95,
        pos_label: object = None,
        **drawing: Any,
    ) -> Self:
        """Draw labels and probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Two labels of any kind.
        y_proba : array-like of shape (n_samples,), or dict of such by name
            Probabilities of the positive class, of one model or of several, for rows that the
            models have not seen.
        decisions : dict of str to array-like of labels, default=None
            Fixed decisions on the same rows, by name: for example
            ``{"boundary": boundary.predict(scores)}``.
        prevalence : float, default=None
            Share of the positive class where decisions will be made; None takes the sample's. It
            weighs hits and false alarms; probabilities are taken as they are.
        standardised : bool, default=True
            Whether to divide by the prevalence.
        limits : tuple of float, default=None
            From which probability to which; None for 0 to five times the prevalence.
        confidence : float, default=0.95
            Of the bands.
        pos_label : label, default=None
            The positive class; words need it.
        **drawing : dict
            ``ax`` and ``theme``, as in :meth:`plot`.

        Returns
        -------
        display : the display, drawn
        """
        as_share("confidence", confidence)
        models = dict(y_proba) if isinstance(y_proba, Mapping) else {"model": y_proba}
        if not models:
            raise InvalidInputError("`y_proba` must hold one model at least, got none.")
        samples = {
            name: ScoreSample.from_labels(y_true, p, pos_label, alike=False)
            for name, p in models.items()
        }
        for name, sample in samples.items():
            if not is_probability(sample):
                raise InvalidInputError(
                    f"`y_proba` must be probabilities from 0 to 1, got other scores for {name!r}. "
                    "Calibrate them, or use metrics_at(y, s, costs=Cost(…)) for one exchange rate."
                )
        n = sample.n_samples
        weights = frequencies(as_prevalence(prevalence), n)
        share = weights[1] / (weights[0] + weights[1])
        low, high = limits or (0.0, float(np.clip(_REACH * share, 0.02, 0.99)))
        if not 0 <= low < high < 1:
            raise InvalidInputError(
                f"`limits` must be two probabilities from 0 to below 1, the lower one first, got "
                f"{limits!r}. Use (0, 0.3), for example."
            )
        grid = np.linspace(low, high, _N_PROBABILITIES)
        wrongs = {name: count_wrong_at(one, grid) for name, one in samples.items()}
        for name, predicted in (decisions or {}).items():
            wrongs[name] = _count_decided(y_true, predicted, sample.labels, len(grid))
        column = "standardised_net_benefit" if standardised else "net_benefit"
        rates: dict[str, Any] = {"prevalence": share, "odds": grid / (1 - grid)}
        return cls(
            grid,
            {
                name: metric_bands(wrong, n, [column], confidence=confidence, **rates)[column]
                for name, wrong in wrongs.items()
            },
            levels={
                "flag all": metrics_of_errors(1.0, 0.0, n, **rates)[column],
                "flag none": 0.0,
            },
            confidence=confidence,
            prevalence=share,
            standardised=standardised,
        ).plot(**drawing)

    def _style(self, i: int, palette: Palette) -> dict[str, Any]:
        # The first curve has the colour of the positive class.
        first = {"color": palette.classes[1 - i]} if i < 2 else {}
        return super()._style(i, palette) | first

    def _draw(self, palette: Palette) -> None:
        super()._draw(palette)
        top = 1.0 if self.standardised else self.prevalence
        self.ax_.set_ylim(-0.15 * top, 1.05 * top)
        self.ax_.set_xlabel("act from this probability on")
        self.ax_.set_ylabel(f"{'standardised ' if self.standardised else ''}net benefit")
        percent_axis(self.ax_.xaxis)
        share = error_text(self.prevalence)
        self.ax_.set_title(f"What decisions are worth at a prevalence of {share}")


def _count_decided(
    y_true: ArrayLike, predicted: ArrayLike, labels: tuple[Any, Any], n: int
) -> Wrong:
    """Return the wrong rows of fixed decisions, the same at every probability."""
    truth, decided = np.asarray(y_true), np.asarray(predicted)
    if truth.shape != decided.shape or not np.isin(decided, labels).all():
        raise InvalidInputError(
            f"`decisions` must hold one of the labels {labels[0]!r} and {labels[1]!r} for each of "
            f"{len(truth)} rows, got {decided!r}. Use boundary.predict(scores)."
        )
    wrong = [int(np.sum((truth == label) & (decided != label))) for label in labels]
    return np.full(n, wrong[0]), np.full(n, wrong[1])


def _unseen(model: Any, X: Any) -> tuple[FloatArray, NDArray[Any] | None, Any]:
    """Return the model's own probabilities of the positive class, and its boundary's decisions."""
    is_shifted = hasattr(model, "boundary_") and hasattr(model, "positive_scores")
    inner = model.estimator_ if is_shifted else model
    if not hasattr(inner, "predict_proba"):
        raise InvalidInputError(
            f"`estimator` must have probabilities, got {type(inner).__name__} without them. Wrap "
            "it in CalibratedClassifierCV."
        )
    if len(model.classes_) != 2:
        raise InvalidInputError(
            f"`estimator` must have two classes, got {len(model.classes_)}. Draw one class "
            "against all others by from_predictions."
        )
    positive = model.boundary_.labels[1] if is_shifted else order_labels(model.classes_, None)[1]
    column = inner.predict_proba(X)[:, list(inner.classes_).index(positive)]
    return column, model.predict(X) if is_shifted else None, positive
