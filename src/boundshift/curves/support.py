r"""The paper's support radius as an error curve."""

from __future__ import annotations

from typing import Literal

import numpy as np

from boundshift.curves.base import Claim, FloatArray, ShapeCurve, Tail
from boundshift.scores.sample import OrderedScores
from boundshift.support.windows import Windows
from boundshift.validation import as_choice, as_positive

__all__ = ["SupportRadius"]

_MOST_LEVELS = 512


class SupportRadius(ShapeCurve):
    r"""Points given up, plus the average error of what is kept.

    .. math:: U(t) = \min_m \frac{m}{n} + \frac{1 - \delta_m(t)}{n - m + 1} + \delta_m(t),
              \qquad \delta_m(t) = e^{-u_m(t)^2/2},\;
              u_m(t) = \frac{t - \mu_m - R_m}{a_m} - c

    over the numbers m of points given up, at most 512 of them. With the rule "sum",
    :func:`~boundshift.find_boundary` solves the paper's own problem instead, in which both
    classes give up the same share.

    Parameters
    ----------
    gamma, constant, radius, centre
        As in :func:`~boundshift.find_boundary`.

    Examples
    --------
    >>> from boundshift.scores.sample import ClassScores
    >>> tail = SupportRadius().tail(ClassScores(np.linspace(-1, 1, 99)), pooled=1.0)
    >>> tail(np.array([0.0, 1.5, 9.0])).round(3).tolist()
    [1.0, 0.01, 0.01]
    """

    name = "support"
    claim = Claim.NOMINAL
    assumptions = "Independent scores, and a support whose radius is that of the sample."
    formula = "min over m of m/n + (1 - d)/(n - m + 1) + d, d = exp(-((t - edge)/a - c)^2 / 2)"
    reference = "Clifford et al. 2024, ECAI"

    def __init__(
        self,
        gamma: float = 1.0,
        constant: float = 0.0,
        radius: Literal["one-sided", "two-sided"] = "one-sided",
        centre: Literal["median", "mean"] = "median",
    ) -> None:
        self.gamma = as_positive("gamma", gamma, "The paper has 1 and 2.")
        self.constant = as_positive("constant", constant, "The paper has 2.", zero=True)
        self.radius = as_choice("radius", radius, ("one-sided", "two-sided"))
        self.centre = as_choice("centre", centre, ("median", "mean"))

    def tail(self, scores: OrderedScores, pooled: float) -> Tail:
        """Return the function from boundaries to the claimed share of the class above them."""
        given_up = np.unique(np.linspace(0, max(scores.n - 2, 0), _MOST_LEVELS).astype(np.int64))
        windows = Windows(scores, self.centre)
        kept = windows.keep(given_up)
        mean = windows.mean(kept.start, kept.end)
        radius = kept.high - mean
        if self.radius == "two-sided":
            radius = np.maximum(radius, mean - kept.low)
        step = self.gamma * radius / np.sqrt(kept.n)
        foot = mean + radius + self.constant * step
        floor = given_up / scores.n + 1 / (kept.n + 1)
        weight = kept.n / (kept.n + 1)

        def above(t: FloatArray) -> FloatArray:
            distance = np.asarray(t, dtype=np.float64)[:, None] - foot
            with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
                delta = np.exp(-0.5 * (distance / step) ** 2)
            # A class of radius zero is certain as soon as the boundary has passed it.
            delta = np.where(step == 0, 0.0, delta)
            claims = np.where(distance >= 0, floor + weight * delta, 1.0)
            return np.asarray(np.minimum(1.0, claims.min(axis=1)))

        return above
