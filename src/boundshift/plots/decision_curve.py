"""The decision curve: what a model is worth to someone who acts from a probability on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from boundshift.plots.bands import Band, metric_bands
from boundshift.plots.canvas import add_legend, draw_band, line_style, percent_axis
from boundshift.plots.display import OneAxesDisplay
from boundshift.plots.palette import Palette
from boundshift.rules.prevalence import as_prevalence, frequencies
from boundshift.scores.sample import ScoreSample
from boundshift.typing import FloatArray
from boundshift.validation import as_share, order_labels
from boundshift.view.axis import is_probability
from boundshift.view.rows import count_wrong_at

__all__ = ["DecisionCurveDisplay"]


_N_PROBABILITIES = 400
# Unless limits are given the axis ends at this many times the prevalence.
_REACH = 5.0


class _Unseen(NamedTuple):
    """Labels, probabilities and decisions of rows that the model has not seen."""

    y: NDArray[Any]
    probabilities: FloatArray
    decisions: NDArray[Any] | None
    positive: Any


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(OneAxesDisplay):
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
        read = _read_fitted(estimator, X, y) if cv is None else _read_folds(estimator, X, y, cv)
        decisions = None if read.decisions is None else {"boundary": read.decisions}
        settings = {"pos_label": read.positive, "decisions": decisions} | settings
        return cls.from_predictions(read.y, read.probabilities, **settings)

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
        ax.plot(self.probabilities, self.flag_all, color=palette.soft, lw=1.5, ls="--")
        ax.axhline(0.0, color=palette.soft, lw=1.5)
        for i, band in enumerate(self.curves.values()):
            draw_band(ax, self.probabilities, band, _style(i, palette), alpha=0.15)
        top = 1.0 if self.standardised else self.prevalence
        ax.set_ylim(-0.15 * top, 1.05 * top)
        ax.set_xlim(float(self.probabilities[0]), float(self.probabilities[-1]))
        ax.set_xlabel("act from this probability on")
        ax.set_ylabel(f"{'standardised ' if self.standardised else ''}net benefit")
        percent_axis(ax.xaxis)
        ax.grid(axis="y", color=palette.line, lw=0.7)
        ax.set_axisbelow(True)
        ax.set_title(f"What decisions are worth at a prevalence of {100 * self.prevalence:.3g}%")
        self._add_legend(palette)

    def _add_legend(self, palette: Palette) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        marks: list[Any] = [
            Line2D([], [], label=name, **_style(i, palette)) for i, name in enumerate(self.curves)
        ]
        text = f"exact {100 * self.confidence:.6g}% band"
        marks.append(Patch(color=palette.soft, alpha=0.3, lw=0, label=text))
        for text, dash in (("flag all", "--"), ("flag none", "-")):
            marks.append(Line2D([], [], color=palette.soft, lw=1.5, ls=dash, label=text))
        add_legend(self.ax_, marks, palette)


def _style(i: int, palette: Palette) -> dict[str, Any]:
    """Return the style of a curve; the first is that of the positive class."""
    return line_style(i, palette) | ({"color": palette.classes[1 - i]} if i < 2 else {})


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


def _own_probabilities(model: Any, X: Any) -> tuple[FloatArray, NDArray[Any] | None, Any]:
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


def _read_fitted(estimator: Any, X: Any, y: ArrayLike) -> _Unseen:
    """Return what a fitted model says of rows."""
    check_is_fitted(estimator)
    return _Unseen(np.asarray(y), *_own_probabilities(estimator, X))


def _read_folds(estimator: Any, X: Any, y: ArrayLike, cv: Any) -> _Unseen:
    """Return what models say of the rows that they have not seen."""
    parts = list(_fold_answers(estimator, X, np.asarray(y), cv))
    decided = [part.decisions for part in parts if part.decisions is not None]
    return _Unseen(
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.probabilities for part in parts]),
        np.concatenate(decided) if decided else None,
        parts[0].positive,
    )


def _fold_answers(estimator: Any, X: Any, y: NDArray[Any], cv: Any) -> Iterator[_Unseen]:
    for train, test in check_cv(cv, y, classifier=True).split(X, y):
        model = clone(estimator).fit(_safe_indexing(X, train), y[train])
        yield _read_fitted(model, _safe_indexing(X, test), y[test])
