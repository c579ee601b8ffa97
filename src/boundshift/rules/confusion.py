r"""Metrics of the confusion matrix as rules: F-beta, MCC, Cohen's kappa, Youden, markedness.

Each is a function of both error rates and of the prevalence :math:`\pi`, the share of the positive
class. With the share that is flagged, :math:`q = \pi\,(1 - u_+) + (1 - \pi)\,u_-`, and
:math:`J = 1 - u_- - u_+`,

.. math:: F_\beta = \frac{(1 + \beta^2)\,\pi\,(1 - u_+)}{\beta^2 \pi + q}, \quad
          \mathrm{MCC} = J \sqrt{\frac{\pi (1 - \pi)}{q (1 - q)}}, \quad
          \kappa = \frac{2 \pi (1 - \pi) J}{\pi (1 - q) + (1 - \pi) q}, \quad
          \mathrm{markedness} = J \frac{\pi (1 - \pi)}{q (1 - q)}.

All grow as either error falls, as long as :math:`J > 0`. Below chance, a small penalty
proportional to :math:`-J` keeps them monotone, which the search relies on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.rules.base import Rule, Sizes
from boundshift.rules.prevalence import as_prevalence, frequencies
from boundshift.typing import FloatArray
from boundshift.validation import as_positive

__all__ = ["MCC", "ConfusionRule", "FBeta", "Kappa", "Markedness", "Youden"]

# Penalty per unit of J below 0.
_BELOW_CHANCE = 1e-3


class _Rates(NamedTuple):
    """Both errors, the share of the positive class, and the share that is flagged."""

    negative: FloatArray
    positive: FloatArray
    share: float
    flagged: FloatArray

    @property
    def above_chance(self) -> FloatArray:
        """Youden's J, 0 where the boundary is no better than chance."""
        return np.maximum(1.0 - self.negative - self.positive, 0.0)


@dataclass(frozen=True)
class ConfusionRule(Rule):
    """A metric of the confusion matrix, to be maximised.

    Parameters
    ----------
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's.
    """

    has_chance_level: ClassVar[bool] = True
    """Whether the metric is 0 at chance, so that boundaries below chance need a penalty."""

    prevalence: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", as_prevalence(self.prevalence))

    @property
    def alike(self) -> bool:
        """Whether the metric is symmetric in both classes; a given prevalence breaks that."""
        return self.prevalence is None

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return minus the metric."""
        first, second = frequencies(self.prevalence, n_samples)
        share = second / (first + second)
        negative, positive = np.asarray(negative, float), np.asarray(positive, float)
        flagged = share * (1.0 - positive) + (1.0 - share) * negative
        worse = np.maximum(negative + positive - 1.0, 0.0) if self.has_chance_level else 0.0
        return -self._metric(_Rates(negative, positive, share, flagged)) + _BELOW_CHANCE * worse

    def _metric(self, at: _Rates) -> FloatArray:
        """Return the metric at each pair of errors."""
        raise NotImplementedError


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return top over bottom, 0 where the bottom is not above 0."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


@dataclass(frozen=True)
class FBeta(ConfusionRule):
    """F-beta of the positive class: the harmonic mean of precision and recall.

    Parameters
    ----------
    beta : float, default=1
        Recall counts `beta` times as much as precision. The names "f1", "f2" and "f0.5" stand for
        1, 2 and 0.5.
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's.

    Examples
    --------
    10 positives and 90 negatives, 7 hits, 18 false alarms, 3 misses:

    >>> float(FBeta().value(np.array(0.2), np.array(0.3), (90, 10)).round(3))
    -0.4
    """

    name = "f-beta"
    has_chance_level = False

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", as_positive("beta", self.beta, "Use 1 for F1."))

    @property
    def alike(self) -> bool:
        """False: F-beta is about the positive class."""
        return False

    def _metric(self, at: _Rates) -> FloatArray:
        squared = self.beta**2
        top = (1.0 + squared) * at.share * (1.0 - at.positive)
        return _ratio(top, squared * at.share + at.flagged)


@dataclass(frozen=True)
class MCC(ConfusionRule):
    """Matthews correlation coefficient; `prevalence` as in :class:`FBeta`.

    Examples
    --------
    >>> float(MCC().value(np.array(0.2), np.array(0.3), (90, 10)).round(3))
    -0.346
    """

    name = "mcc"

    def _metric(self, at: _Rates) -> FloatArray:
        spread = np.asarray(np.sqrt(at.flagged * (1.0 - at.flagged)))
        return _ratio(at.above_chance * np.sqrt(at.share * (1.0 - at.share)), spread)


@dataclass(frozen=True)
class Kappa(ConfusionRule):
    """Cohen's kappa: agreement beyond chance; `prevalence` as in :class:`FBeta`.

    Examples
    --------
    >>> float(Kappa().value(np.array(0.2), np.array(0.3), (90, 10)).round(3))
    -0.3
    """

    name = "kappa"

    def _metric(self, at: _Rates) -> FloatArray:
        top = 2.0 * at.share * (1.0 - at.share) * at.above_chance
        return _ratio(top, at.share * (1.0 - at.flagged) + (1.0 - at.share) * at.flagged)


@dataclass(frozen=True)
class Youden(ConfusionRule):
    """Youden's J, or informedness: recall plus specificity minus 1, whatever the prevalence.

    It has the same optimum as the rule "sum".

    Examples
    --------
    >>> float(Youden().value(np.array(0.2), np.array(0.3), (90, 10)).round(3))
    -0.5
    """

    name = "youden"

    def __post_init__(self) -> None:
        if self.prevalence is not None:
            raise InvalidInputError(
                "`prevalence` must be left out of Youden's J, whose value does not depend on it, "
                f"got {self.prevalence!r}. Use 'mcc', 'kappa' or 'markedness', which do."
            )

    def _metric(self, at: _Rates) -> FloatArray:
        return at.above_chance


@dataclass(frozen=True)
class Markedness(ConfusionRule):
    """Precision plus negative predictive value minus 1; `prevalence` as in :class:`FBeta`.

    Examples
    --------
    >>> float(Markedness().value(np.array(0.2), np.array(0.3), (90, 10)).round(3))
    -0.24
    """

    name = "markedness"

    def _metric(self, at: _Rates) -> FloatArray:
        top = at.above_chance * at.share * (1.0 - at.share)
        return _ratio(top, np.asarray(at.flagged * (1.0 - at.flagged)))
