"""What decisions cost against the threshold."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from boundshift.boundary import find_boundary
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import settle_costs
from boundshift.plots.bands import Band, metric_bands
from boundshift.plots.canvas import (
    add_legend,
    boundary_marks,
    draw_band,
    draw_boundaries,
    finish_thresholds,
    mark_boundaries,
)
from boundshift.plots.display import DecidedSample, OneAxesDisplay, ScoreDisplay
from boundshift.plots.palette import Palette
from boundshift.result.boundary import Boundary
from boundshift.rules.cost import Cost
from boundshift.search.row_costs import as_row_cost
from boundshift.typing import FloatArray
from boundshift.validation import as_share
from boundshift.view.rows import count_wrong_at
from boundshift.view.words import decision_text

__all__ = ["CostDisplay"]


@dataclass(eq=False, repr=False)
class CostDisplay(OneAxesDisplay, ScoreDisplay):
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
    >>> display = CostDisplay.from_predictions(y, rng.normal(3.0 * y), costs=Cost(1, 20))
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
        row_cost : array-like of shape (n_samples,), default=None
            What is lost if a row is decided wrongly, in the place of `costs`.
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
        boundary, sample, old_threshold = decided
        thresholds = decided.grid()
        if rows is not None:
            found = _cost_of_rows(*rows, thresholds, boundary.labels[1])
        else:
            shown = as_share("confidence", confidence)
            if costs is None:
                costs = boundary.rule if isinstance(boundary.rule, Cost) else Cost()
            whole, share = settle_costs(costs, None)
            n = sample.n_samples
            band = metric_bands(
                count_wrong_at(sample, thresholds),
                n,
                ["cost"],
                confidence=shown,
                prevalence=share,
                costs=whole,
            )["cost"]
            every, none = costs.value(np.array([1.0, 0.0]), np.array([0.0, 1.0]), n)
            found = (band, float(every), float(none))
        known: dict[str, Any] = {"old_threshold": old_threshold, "confidence": confidence}
        return cls(boundary, thresholds, *found, **known)

    def _draw(self, palette: Palette) -> None:
        ax = self.ax_
        style = {"color": palette.classes[1], "lw": 2}
        draw_band(ax, self.thresholds, self.cost, style, alpha=0.2)
        for value, dash in ((self.flag_all, "--"), (self.flag_none, "-.")):
            ax.axhline(value, color=palette.soft, lw=1.2, ls=dash)
        new, old, color = self.boundary.threshold, self.old_threshold, palette.classes[1]
        draw_boundaries(ax, new, old, palette)
        mark_boundaries(ax, self.thresholds, self.cost.value, new, old, color, palette)
        top = max(1.6 * min(self.flag_all, self.flag_none), 2.5 * float(self.cost.value.min()))
        ax.set_ylim(0, min(1.05 * float(self.cost.value.max()), top) or 1.0)
        ax.set_ylabel("mean cost of a row")
        finish_thresholds(ax, self.thresholds, decision_text(self.boundary), palette)
        self._add_legend(palette)

    def _add_legend(self, palette: Palette) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        marks: list[Any] = [Line2D([], [], color=palette.classes[1], lw=2, label="cost")]
        if self.confidence is not None:
            text = f"exact {100 * self.confidence:.6g}% band"
            marks.append(Patch(color=palette.classes[1], alpha=0.3, lw=0, label=text))
        for text, dash in (("flag all", "--"), ("flag none", "-.")):
            marks.append(Line2D([], [], color=palette.soft, lw=1.2, ls=dash, label=text))
        add_legend(self.ax_, marks + boundary_marks(self.old_threshold, palette), palette)


def _cost_of_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    row_cost: ArrayLike,
    thresholds: FloatArray,
    positive: object,
) -> tuple[Band, float, float]:
    """Return the mean cost at every threshold, that of flagging every row, and that of none."""
    scores = np.asarray(y_score, dtype=np.float64)
    cost = as_row_cost(row_cost, len(scores))
    is_positive = np.asarray(y_true) == positive
    order = np.argsort(scores, kind="stable")
    below = np.searchsorted(scores[order], thresholds, side="right")
    missed, alarms = (
        np.concatenate([[0.0], np.cumsum(np.where(of, cost, 0.0)[order])]) / len(scores)
        for of in (is_positive, ~is_positive)
    )
    mean = missed[below] + alarms[-1] - alarms[below]
    return Band(mean, mean, mean), float(alarms[-1]), float(missed[-1])
