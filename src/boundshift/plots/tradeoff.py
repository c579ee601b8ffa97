"""What a threshold trades for what: precision and recall, hits and false alarms, net benefit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from boundshift.exceptions import InvalidInputError
from boundshift.metrics import metrics_of_errors
from boundshift.plots.canvas import (
    DecidedSample,
    Display,
    Palette,
    ScoreDisplay,
    add_legend,
    area_key,
    draw_grid,
    line_key,
    line_style,
    percent_axis,
)
from boundshift.plots.threshold import Band, draw_band, error_band, metric_bands
from boundshift.result.boundary import Boundary
from boundshift.rules.binary import as_prevalence, frequencies
from boundshift.scores import ScoreSample
from boundshift.typing import FloatArray
from boundshift.validation import as_share, order_labels
from boundshift.view.axis import is_probability
from boundshift.view.rows import area_under_curve, class_scores, count_wrong_at

__all__ = ["DecisionCurveDisplay", "OperatingPoint", "OperatingPointDisplay"]

# More points than a picture can show.
_MOST_POINTS = 4000
_N_PROBABILITIES = 400
# Unless limits are given the axis ends at this many times the prevalence.
_REACH = 5.0


class OperatingPoint(NamedTuple):
    """What a threshold reaches: value, lower and upper end of each metric's exact interval.

    `false_alarms` is the share of negatives flagged.
    """

    threshold: float
    recall: tuple[float, float, float]
    false_alarms: tuple[float, float, float]
    precision: tuple[float, float, float]


@dataclass(eq=False, repr=False)
class OperatingPointDisplay(ScoreDisplay):
    """The precision–recall and the ROC curve, and where on them both boundaries stand.

    The filled point is the new boundary, the hollow one the model's own. The bars are exact: each
    holds its true value with the stated confidence.

    Parameters
    ----------
    boundary : Boundary
        The chosen one.
    recall, false_alarms, precision : arrays
        Along the curves, from flagging nothing to flagging everything.
    points : tuple of OperatingPoint
        The new boundary and, if it is known, the old one.
    area : float
        Under the ROC curve.
    prevalence : float
        Share of the positive class that the precision is for: the sample's, or the one given.
    confidence : float, default=0.95
        Of the bars.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Precision–recall on the left, ROC on the right.

    See Also
    --------
    OperatingPointDisplay.from_estimator : Draw a `BoundShiftClassifier`.
    OperatingPointDisplay.from_predictions : Draw labels and scores; ``old_threshold=``,
        ``prevalence=`` and ``confidence=`` say more.

    Examples
    --------
    >>> from boundshift.plots import OperatingPointDisplay
    >>> y, scores = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
    >>> display = OperatingPointDisplay.from_predictions(y, scores, old_threshold=5.0)
    >>> [round(point.recall[0], 2) for point in display.points]
    [1.0, 0.5]
    """

    size = (9.0, 4.6)
    panels = (1, 2)

    boundary: Boundary
    recall: FloatArray
    false_alarms: FloatArray
    precision: FloatArray
    points: tuple[OperatingPoint, ...]
    area: float
    prevalence: float
    _: KW_ONLY
    confidence: float = 0.95

    @classmethod
    def _from_sample(
        cls, decided: DecidedSample, *, prevalence: float | None = None, confidence: float = 0.95
    ) -> Self:
        as_share("confidence", confidence)
        sample = decided.sample
        weights = frequencies(as_prevalence(prevalence), sample.n_samples)
        share = weights[1] / (weights[0] + weights[1])
        values = np.unique(np.concatenate(class_scores(sample)))
        cuts = np.append(values[::-1], -np.inf)
        if len(cuts) > _MOST_POINTS:
            cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, _MOST_POINTS).astype(np.intp))]
        wrong = count_wrong_at(sample, cuts)
        alarms, missed = (k / n for k, n in zip(wrong, sample.n_samples, strict=True))
        metrics = metrics_of_errors(alarms, missed, sample.n_samples, prevalence=share)
        return cls(
            decided.boundary,
            metrics["recall"],
            alarms,
            metrics["precision"],
            tuple(_point(sample, place, share, confidence) for place in decided.places),
            area_under_curve(sample),
            share,
            confidence=confidence,
        )

    def _draw(self, palette: Palette) -> None:
        left, right = self.axes_
        # With nothing flagged there is no precision to draw.
        left.step(self.recall[1:], self.precision[1:], where="pre", color=palette.classes[1], lw=2)
        left.axhline(self.prevalence, color=palette.soft, lw=1, ls="--")
        right.plot(self.false_alarms, self.recall, color=palette.classes[1], lw=2)
        right.plot([0, 1], [0, 1], color=palette.soft, lw=1, ls="--")
        for number, point in enumerate(self.points):
            self._draw_point(point, number == 0, palette)
        for ax, labels in (
            (left, ("recall", "precision")),
            (right, ("negatives flagged", "recall")),
        ):
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=labels[0], ylabel=labels[1])
            percent_axis(ax.xaxis)
            percent_axis(ax.yaxis)
            draw_grid(ax, palette, "both")
        left.set_title(f"Precision at a prevalence of {100 * self.prevalence:.3g}%", fontsize=11)
        right.set_title(f"ROC, area {self.area:.3f}", fontsize=11)
        self._add_legend(palette)

    def _draw_point(self, point: OperatingPoint, is_new: bool, palette: Palette) -> None:
        """Draw a point with its bars on both panels."""
        color = palette.ink if is_new else palette.soft
        face = color if is_new else palette.surface
        for ax, x, y in (
            (self.axes_[0], point.recall, point.precision),
            (self.axes_[1], point.false_alarms, point.recall),
        ):
            ax.plot(x[1:], [y[0], y[0]], color=color, lw=1.4, zorder=6)
            ax.plot([x[0], x[0]], y[1:], color=color, lw=1.4, zorder=6)
            ax.plot(x[0], y[0], "o", color=color, mfc=face, ms=9, mew=1.6, zorder=7, clip_on=False)

    def _add_legend(self, palette: Palette) -> None:
        points = [(f"new boundary, {100 * self.confidence:.6g}% bars", palette.ink, palette.ink)]
        if len(self.points) > 1:
            points.append(("old boundary", palette.soft, palette.surface))
        dot: dict[str, Any] = {"marker": "o", "ms": 9, "lw": 1.4, "mew": 1.6}
        keys = [line_key(name, color=color, mfc=face, **dot) for name, color, face in points]
        guess = line_key("a guess", color=palette.soft, lw=1, ls="--")
        for ax, shown in zip(self.axes_, (keys, [guess]), strict=True):
            add_legend(ax, shown, palette, below=0.16, ncols=2)


def _point(
    sample: ScoreSample, threshold: float, prevalence: float, confidence: float
) -> OperatingPoint:
    """Return what a threshold reaches."""
    n = sample.n_samples
    first, second = count_wrong_at(sample, np.array([threshold]))
    bands = metric_bands(
        (first, second), n, ["recall", "precision"], confidence=confidence, prevalence=prevalence
    )
    found = (bands["recall"], error_band(first, n[0], confidence), bands["precision"])
    recall, alarms, precision = (
        (float(b.value[0]), float(b.low[0]), float(b.high[0])) for b in found
    )
    return OperatingPoint(threshold, recall, alarms, precision)


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(Display):
    r"""Net benefit of a model against the probability from which on one would act.

    Someone who acts from the probability p on holds p / (1 − p) false alarms to be worth one true
    positive found. The net benefit counts the true positives among all rows, less the false
    alarms at that rate. A model is worth using where its curve is above both "flag all" and "flag
    none", which is 0. Decisions that are fixed, such as those of a boundary, have a curve too: a
    straight line in p / (1 − p).

    Parameters
    ----------
    probabilities : array of shape (n,)
        From which on one would act.
    curves : dict of str to Band
        Net benefit of each model or fixed decision, with ``value``, ``low`` and ``high``.
    flag_all : array of shape (n,)
        Net benefit of flagging every row.
    prevalence : float
        Share of the positive class: the sample's, or the one given.
    standardised : bool, default=True
        Whether the net benefit is divided by the prevalence, so that 1 is the most there is.
    confidence : float, default=0.95
        Of the bands, which are exact, as in :class:`MetricDisplay`, at each probability by itself.

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
    >>> curve = display.curves["model"].value
    >>> bool(np.mean(curve >= np.maximum(display.flag_all, 0)) > 0.9)
    True
    """

    size = (8.0, 5.0)

    probabilities: FloatArray
    curves: Mapping[str, Band]
    flag_all: FloatArray
    prevalence: float
    _: KW_ONLY
    standardised: bool = True
    confidence: float = 0.95

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
        samples = {
            name: ScoreSample.from_labels(y_true, p, pos_label, alike=False)
            for name, p in models.items()
        }
        if not samples:
            raise InvalidInputError("`y_proba` must hold one model at least, got none.")
        for name, sample in samples.items():
            if not is_probability(sample):
                raise InvalidInputError(
                    f"`y_proba` must be probabilities from 0 to 1, got other scores for {name!r}. "
                    "Calibrate them, or use metrics_at(y, s, costs=Cost(…)) for one exchange rate."
                )
        sample = next(iter(samples.values()))
        n = sample.n_samples
        weights = frequencies(as_prevalence(prevalence), n)
        share = weights[1] / (weights[0] + weights[1])
        grid = _grid(limits, share)
        wrongs = {name: count_wrong_at(one, grid) for name, one in samples.items()}
        for name, predicted in (decisions or {}).items():
            wrongs[name] = _count_decided(y_true, predicted, sample.labels, len(grid))
        column = "standardised_net_benefit" if standardised else "net_benefit"
        odds = grid / (1 - grid)
        curves = {
            name: metric_bands(
                wrong, n, [column], confidence=confidence, prevalence=share, odds=odds
            )[column]
            for name, wrong in wrongs.items()
        }
        everyone = metrics_of_errors(1.0, 0.0, n, prevalence=share, odds=odds)[column]
        display = cls(
            grid, curves, everyone, share, standardised=standardised, confidence=confidence
        )
        return display.plot(**drawing)

    def _draw(self, palette: Palette) -> None:
        ax = self.ax_
        keys: list[Any] = []
        for i, (name, band) in enumerate(self.curves.items()):
            # The first curve has the colour of the positive class.
            first = {"color": palette.classes[1 - i]} if i < 2 else {}
            style = line_style(i, palette) | first
            draw_band(ax, self.probabilities, band, style)
            keys.append(line_key(name, **style))
        keys.append(area_key(f"exact {100 * self.confidence:.6g}% band", palette.soft))
        for text, values, dash in (("flag all", self.flag_all, "--"), ("flag none", 0.0, "-")):
            line: dict[str, Any] = {"color": palette.soft, "lw": 1.5, "ls": dash}
            flat = np.broadcast_to(values, self.probabilities.shape)
            ax.plot(self.probabilities, flat, zorder=1.9, **line)
            keys.append(line_key(text, **line))
        top = 1.0 if self.standardised else self.prevalence
        ax.set_ylim(-0.15 * top, 1.05 * top)
        ax.set_xlim(float(self.probabilities[0]), float(self.probabilities[-1]))
        ax.set_xlabel("act from this probability on")
        ax.set_ylabel(f"{'standardised ' if self.standardised else ''}net benefit")
        percent_axis(ax.xaxis)
        draw_grid(ax, palette)
        ax.set_title(f"What decisions are worth at a prevalence of {100 * self.prevalence:.3g}%")
        add_legend(ax, keys, palette)


def _grid(limits: tuple[float, float] | None, prevalence: float) -> FloatArray:
    """Return probabilities from which on one would act, all below 1."""
    low, high = limits or (0.0, float(np.clip(_REACH * prevalence, 0.02, 0.99)))
    if not 0 <= low < high < 1:
        raise InvalidInputError(
            f"`limits` must be two probabilities from 0 to below 1, the lower one first, got "
            f"{limits!r}. Use (0, 0.3), for example."
        )
    return np.linspace(low, high, _N_PROBABILITIES)


def _count_decided(
    y_true: ArrayLike, predicted: ArrayLike, labels: tuple[Any, Any], n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
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
    classes = list(inner.classes_)
    positive = model.boundary_.labels[1] if is_shifted else order_labels(model.classes_, None)[1]
    column = inner.predict_proba(X)[:, classes.index(positive)]
    return column, model.predict(X) if is_shifted else None, positive
