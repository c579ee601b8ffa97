"""Quantities against the threshold: errors and rule, metrics, costs, net benefit.

Every line has a band that holds the true value with the stated confidence, at each threshold by
itself, whatever the distribution of the scores. It is made of Clopper and Pearson's exact intervals
of both classes' error rates, so for a metric of both classes it is a little wider than it needs to
be. The prevalence, the sample's or the one given, is taken as known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._typing import FloatArray
from boundshift._validation import as_choice, as_share
from boundshift._view.axis import is_probability
from boundshift._view.rows import Band, count_wrong_at, error_band
from boundshift._words import claim_text, decision, error_text
from boundshift.curves import Exact, SupportRadius
from boundshift.curves._paper import SupportProblem
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import METRICS, metrics_of_errors, settle_costs
from boundshift.plots._canvas import (
    DASHES,
    Palette,
    ScoreDisplay,
    Theme,
    add_legend,
    area_key,
    boundary_keys,
    decide,
    draw_boundaries,
    line_key,
    percent_axis,
)
from boundshift.rules import Sum
from boundshift.rules._binary import Cost, as_prevalence, frequencies

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Wrong = tuple[NDArray[np.intp], NDArray[np.intp]]

# Metrics of one class need the whole confidence for that class alone.
_OF_ONE_CLASS = ("recall", "specificity")
_LEAST_SEEN = 0.002  # a plateau narrower than this share of the axis cannot be seen
_N_PROBABILITIES, _MOST_LEVELS = 400, 512
_REACH = 5.0  # a decision curve ends at this many times the prevalence


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
class ThresholdDisplay(ScoreDisplay):
    """Lines with bands against the threshold, and both boundaries across them.

    Parameters
    ----------
    thresholds, bands : array of shape (n,) and dict of str to Band
        Quantities by name, each with ``value``, ``low`` and ``high`` at every threshold.
    boundary : Boundary, default=None
        The chosen one.
    old_threshold : float, default=None
        Where the classifier decided before.
    levels : dict of str to float or array, default={}
        What to compare with, such as flagging every row and flagging none.
    confidence : float, default=0.95
        Of the bands.
    rule_values : array of shape (n,), default=None
        The rule at every threshold, NaN where it has no value, for a panel below.
    interval : pair of float, default=None
        From :func:`~boundshift.threshold_interval`, to be shaded.
    x_name, y_name, title : str
        What the axes and the figure are called.
    y_limits : pair of float, default=None
        Ends of the vertical axis.
    percent : {"x", "y"}, default=None
        Which axis is in percent.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        The lines, and the rule below them.

    See Also
    --------
    ThresholdDisplay.from_estimator : Errors and rule of a `BoundShiftClassifier`.
    ThresholdDisplay.from_predictions : Errors and rule of labels and scores.
    ThresholdDisplay.metrics : Several metrics.
    ThresholdDisplay.cost : The mean cost of a row.
    ThresholdDisplay.decision_curve : The net benefit of probabilities.
    boundshift.metrics_at : The same numbers as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.plots import ThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 30])
    >>> display = ThresholdDisplay.from_predictions(y, rng.normal(3.0 * y), rule="sum")
    >>> lowest = display.thresholds[np.nanargmin(display.rule_values)]
    >>> bool(abs(lowest - display.boundary.threshold) < 0.02)
    True
    """

    thresholds: FloatArray
    bands: Mapping[str, Band]
    _: KW_ONLY
    boundary: Boundary | None = None
    old_threshold: float | None = None
    levels: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = 0.95
    rule_values: FloatArray | None = None
    interval: tuple[float, float] | None = None
    x_name: str = "threshold on the score"
    y_name: str = ""
    title: str = ""
    y_limits: tuple[float, float] | None = None
    percent: Literal["x", "y"] | None = None

    def __post_init__(self) -> None:
        if self.rule_values is not None:
            self.size, self.panels, self.heights = (8.0, 5.6), 2, (2.4, 1)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        interval: tuple[float, float] | None = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        theme: Theme = "auto",
        **known: Any,
    ) -> Self:
        """Draw error rates of both classes, and the rule, against the threshold.

        Above, the share of each class on the wrong side. Below, the rule of the errors that the
        curve claims: its lowest point is the boundary. On rows other than those that decided it
        need not be. A shaded strip is the interval in which the boundary may fall, a thick line at
        the bottom the plateau on which the rule does not change.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Two labels of any kind, and real scores.
        interval : pair of float, default=None
            From :func:`~boundshift.threshold_interval`.
        confidence : float, default=0.95
            Of the bands.
        ax, theme
            As in :meth:`plot`.
        **known : dict
            ``boundary`` to draw, with its labels, curve and rule, or how to find it: ``curve``,
            ``rule`` and ``pos_label``, as in :func:`~boundshift.find_boundary`; and
            ``old_threshold``, where the classifier decided before.

        Returns
        -------
        display : the display, drawn
        """
        as_share("confidence", confidence)
        boundary, sample, old = decided = decide(y_true, y_score, **known)
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
            rule_values=_rule_values(sample, thresholds, boundary),
            interval=interval,
            y_name="on the wrong side",
            y_limits=(0.0, 1.02),
            percent="y",
        ).plot(ax, theme=theme)

    @classmethod
    def metrics(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        metrics: str | Sequence[str] = ("recall", "precision", "f1"),
        prevalence: float | None = None,
        costs: Cost | None = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        theme: Theme = "auto",
        **known: Any,
    ) -> Self:
        """Draw several metrics against the threshold, with bands, and both operating points.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Two labels of any kind, and real scores.
        metrics : str or sequence of str, default=("recall", "precision", "f1")
            Names from :data:`boundshift.metrics.METRICS`.
        prevalence : float, default=None
            Share of the positive class where decisions are made; None takes the sample's.
        costs : Cost, default=None
            Costs of both errors, for the cost and the net benefit.
        confidence, ax, theme, **known
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
        costs, share = settle_costs(costs, as_prevalence(prevalence))
        boundary, sample, old = decided = decide(y_true, y_score, **known)
        thresholds = decided.grid()
        settings = {"prevalence": share, "costs": costs or Cost()}
        wrong = count_wrong_at(sample, thresholds)
        bands = metric_bands(wrong, sample.n_samples, names, confidence=confidence, **settings)
        return cls(
            thresholds, bands, boundary=boundary, old_threshold=old, confidence=confidence
        ).plot(ax, theme=theme)

    @classmethod
    def cost(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        costs: Cost | None = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        theme: Theme = "auto",
        **known: Any,
    ) -> Self:
        """Draw the mean cost of a row, beside flagging every row and flagging none.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            Two labels of any kind, and real scores.
        costs : Cost, default=None
            Costs of both errors, optionally with a prevalence; None takes those of the rule, or 1
            and 1.
        confidence, ax, theme, **known
            As in :meth:`from_predictions`; the boundary is by default that of the costs.

        Returns
        -------
        display : the display, drawn

        Examples
        --------
        >>> import numpy as np
        >>> from boundshift import Cost
        >>> from boundshift.plots import ThresholdDisplay
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat([0, 1], [300, 30])
        >>> display = ThresholdDisplay.cost(y, rng.normal(3.0 * y), costs=Cost(false_negative=20))
        >>> {name: round(cost, 2) for name, cost in display.levels.items()}
        {'flag all': 0.91, 'flag none': 1.82}
        """
        as_share("confidence", confidence)
        if known.get("boundary") is None and known.get("rule") is None:
            known["rule"] = costs
        boundary, sample, old = decided = decide(y_true, y_score, **known)
        if costs is None:
            costs = boundary.rule if isinstance(boundary.rule, Cost) else Cost()
        whole, share = settle_costs(costs, None)
        thresholds, n = decided.grid(), sample.n_samples
        rates: dict[str, Any] = {"prevalence": share, "costs": whole, "confidence": confidence}
        bands = metric_bands(count_wrong_at(sample, thresholds), n, ["cost"], **rates)
        every, none = map(float, costs.value(np.array([1.0, 0.0]), np.array([0.0, 1.0]), n))
        mean = bands["cost"].value
        top = max(1.6 * min(every, none), 2.5 * float(mean.min()))
        return cls(
            thresholds,
            bands,
            boundary=boundary,
            old_threshold=old,
            levels={"flag all": every, "flag none": none},
            confidence=confidence,
            y_name="mean cost of a row",
            y_limits=(0.0, min(1.05 * float(mean.max()), top) or 1.0),
        ).plot(ax, theme=theme)

    @classmethod
    def decision_curve(
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
        ax: Axes | None = None,
        theme: Theme = "auto",
    ) -> Self:
        """Draw the net benefit of models against the probability from which on one would act.

        Someone who acts from the probability p on considers p / (1 − p) false alarms worth one
        true positive. The net benefit counts the true positives among all rows, less the false
        alarms at that rate. A model is worth using where its curve is above both "flag all" and
        "flag none", which is 0. Fixed decisions, such as those of a boundary, have a curve too: a
        straight line in p / (1 − p).

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Two labels of any kind.
        y_proba : array-like of shape (n_samples,), or dict of such by name
            Probabilities of the positive class, of one model or of several, for rows that the
            models have not seen, such as from ``cross_val_predict``.
        decisions : dict of str to array-like of labels, default=None
            Fixed decisions on the same rows, by name: for example
            ``{"boundary": boundary.predict(scores)}``.
        prevalence : float, default=None
            Share of the positive class where decisions are made; None takes the sample's. It
            weighs hits and false alarms; probabilities are not changed.
        standardised : bool, default=True
            Whether to divide by the prevalence, so that the maximum is 1.
        limits : tuple of float, default=None
            From which probability to which; None for 0 to five times the prevalence.
        confidence : float, default=0.95
            Of the bands.
        pos_label : label, default=None
            The positive class; required for labels that are words.
        ax, theme
            As in :meth:`plot`.

        Returns
        -------
        display : the display, drawn

        References
        ----------
        A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for evaluating
        prediction models", Medical Decision Making 26(6), 2006. K. F. Kerr and others, "Assessing
        the clinical impact of risk prediction models with decision curves", Journal of Clinical
        Oncology 34(21), 2016, for the standardised curve.

        Examples
        --------
        >>> import numpy as np
        >>> from boundshift.plots import ThresholdDisplay
        >>> rng = np.random.default_rng(0)
        >>> p = rng.beta(1, 9, size=2000)
        >>> y = (rng.random(2000) < p).astype(int)
        >>> display = ThresholdDisplay.decision_curve(y, p, limits=(0.01, 0.3))
        >>> curve = display.bands["model"].value
        >>> bool(np.mean(curve >= np.maximum(display.levels["flag all"], 0)) > 0.9)
        True
        """
        as_share("confidence", confidence)
        models = dict(y_proba) if isinstance(y_proba, Mapping) else {"model": y_proba}
        if not models:
            raise InvalidInputError("`y_proba` must hold one model at least, got none.")
        samples = {
            name: ScoreSample.from_labels(y_true, p, pos_label, symmetric=False)
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
        top = 1.0 if standardised else share
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
            x_name="act from this probability on",
            y_name=column.replace("_", " "),
            title=f"What decisions are worth at a prevalence of {error_text(share)}",
            y_limits=(-0.15 * top, 1.05 * top),
            percent="x",
        ).plot(ax, theme=theme)

    def _draw(self, palette: Palette) -> None:
        top, bottom = self.ax_, self.axes_[-1]
        top.set(xlim=(self.thresholds[0], self.thresholds[-1]), ylabel=self.y_name)
        top.set(title=self.title or (decision(self.boundary) if self.boundary else ""))
        keys = self._draw_lines(palette)
        if self.y_limits is not None:
            top.set_ylim(self.y_limits)
        if self.percent is not None:
            percent_axis(top.yaxis if self.percent == "y" else top.xaxis)
        top.grid(axis="y", color=palette.line, lw=0.7)
        top.set_axisbelow(True)
        if self.boundary is not None:
            keys += boundary_keys(self.old_threshold, palette)
            for ax in self.axes_:
                draw_boundaries(ax, self.boundary.threshold, self.old_threshold, palette)
        if self.interval is not None:
            for ax in self.axes_:
                ax.axvspan(*self.interval, color=palette.ink, alpha=0.09, lw=0)
            keys.append(area_key("where the boundary may fall", palette.ink, 0.09))
        below, claimed = 0.13, ""
        if self.rule_values is not None and self.boundary is not None:
            keys += self._draw_rule(self.rule_values, self.boundary, palette)
            below, claimed = 0.42, claim_text(self.boundary)
            top.tick_params(labelbottom=False)
        bottom.set_xlabel(self.x_name)
        add_legend(bottom, keys, palette, below=below, title=claimed)

    def _draw_lines(self, palette: Palette) -> list[Any]:
        """Draw all lines with their bands and levels; return the legend's entries."""
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
            if self.boundary is not None:
                self._mark(self.boundary.threshold, band, color, palette.surface)
                if self.old_threshold is not None:
                    self._mark(self.old_threshold, band, palette.surface, color)
        keys.append(area_key(f"exact {100 * self.confidence:.6g}% band", palette.soft))
        for (name, level), dash in zip(self.levels.items(), ("--", "-."), strict=False):
            line: dict[str, Any] = {"color": palette.soft, "lw": 1.3, "ls": dash}
            flat = np.broadcast_to(level, self.thresholds.shape)
            self.ax_.plot(self.thresholds, flat, zorder=1.9, **line)
            keys.append(line_key(name, **line))
        return keys

    def _mark(self, place: float, band: Band, face: str, edge: str) -> None:
        at = int(np.argmin(np.abs(self.thresholds - place)))
        marker: dict[str, Any] = {"mfc": face, "mec": edge, "ms": 9, "mew": 1.5}
        self.ax_.plot(place, band.value[at], "o", zorder=7, clip_on=False, **marker)

    def _draw_rule(self, values: FloatArray, boundary: Boundary, palette: Palette) -> list[Any]:
        """Draw the rule, its plateau and the boundary below; return the legend's entries."""
        ax, new, (low, high), keys = self.axes_[1], boundary.threshold, boundary.plateau, []
        ax.plot(self.thresholds, values, color=palette.soft, lw=2)
        value = values[int(np.argmin(np.abs(self.thresholds - new)))]
        if high - low > _LEAST_SEEN * (self.thresholds[-1] - self.thresholds[0]):
            thick: dict[str, Any] = {"color": palette.ink, "lw": 5}
            keys.append(line_key("plateau", **thick))
            if np.isfinite(value):
                ax.plot((low, high), [value, value], solid_capstyle="butt", **thick)
        marker: dict[str, Any] = {"ms": 9, "mec": palette.surface, "mew": 1.5, "zorder": 7}
        ax.plot(new, value, "o", color=palette.ink, **marker)
        ax.set_ylabel(f"rule: {boundary.rule.name}")
        ax.margins(y=0.15)
        return keys


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


def _rule_values(sample: ScoreSample, thresholds: FloatArray, boundary: Boundary) -> FloatArray:
    r"""Return the rule at every threshold, NaN where it has no value.

    Thresholds are in the units of the given scores. For a curve the rule is taken of both claims.
    The paper's own problem has no curve: at a threshold t and a slack level both confidences
    follow, :math:`u_i = |t - \text{edge}_i|/a_i - c`, and the loss at t is the least over the
    levels.
    """
    curve, rule = boundary.curve, boundary.rule
    if boundary.scale == "probability":
        sample = sample.on_scale("auto")
    t = sample.from_units(thresholds)
    if isinstance(curve, SupportRadius) and rule == Sum():
        if sample.is_reversed:  # The paper claims nothing there.
            return np.full(len(t), 2.0)
        return _paper_loss(sample, t, curve)
    negative, positive = curve.errors(sample)(t)
    return rule.value(negative, positive, sample.n_samples)


def _paper_loss(sample: ScoreSample, t: FloatArray, curve: SupportRadius) -> FloatArray:
    """Return the least loss over the slack levels at each threshold."""
    problem = SupportProblem(sample, curve)
    best = Exact().solve(problem) if min(sample.n_samples) > 1 else None
    if best is None:
        return np.full(len(t), np.nan)
    level = np.linspace(0, problem.last, _MOST_LEVELS).astype(np.int64)
    levels = problem.levels(np.unique(np.append(level, best.level.level)))
    levels = levels.take(levels.feasible)
    facing = np.stack([t, -t])[:, :, None]
    distance = facing - levels.edge[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        u = distance / levels.step[:, None, :] - problem.settings.constant
        # A class of radius zero is certain as soon as the threshold has passed it.
        u = np.where(levels.step[:, None, :] == 0, np.where(distance >= 0, np.inf, -1.0), u)
        delta = np.where(u >= -1e-9, np.exp(-0.5 * u**2), np.nan)
    losses = (levels.weight[:, None, :] * delta).sum(axis=0) + levels.constant
    least = np.nanmin(np.where(np.isnan(losses), np.inf, losses), axis=1)
    return np.where(np.isfinite(least), least, np.nan)
