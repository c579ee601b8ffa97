r"""A blend of a class's own smoothed scores and a calibration of all rows."""

from __future__ import annotations

from dataclasses import dataclass

from boundshift.curves.base import Claim, PairCurve, Tail
from boundshift.curves.logistic import Logistic
from boundshift.curves.smoothed import Smoothed
from boundshift.scores.sample import ScoreSample
from boundshift.typing import FloatArray
from boundshift.validation import as_positive

__all__ = ["Blend"]


@dataclass(frozen=True)
class Blend(PairCurve):
    r"""A class leans on the pooled calibration in proportion to how little it knows of itself.

    .. math:: U_i(t) = \frac{n_i}{n_i + m}\, U_i^{\text{smoothed}}(t)
              + \frac{m}{n_i + m}\, U_i^{\text{logistic}}(t)

    With a few rows of a class its error is read off a logistic calibration, in which every row of
    both classes speaks; with many, off its own kernel-smoothed scores, which assume no shape.

    Parameters
    ----------
    rows : float, default=10
        The number m of rows at which both count alike.

    Examples
    --------
    >>> import numpy as np
    >>> sample = ScoreSample.from_labels([0, 0, 0, 0, 1, 1], [0.0, 1.0, 2.0, 4.0, 3.0, 5.0])
    >>> negative, positive = Blend().errors(sample)(np.array([2.5]))
    >>> negative.round(2).tolist(), positive.round(2).tolist()
    ([0.31], [0.12])
    """

    name = "blend"
    claim = Claim.AVERAGE_CASE
    assumptions = "Smooth densities; linear log-odds only as far as a class has few rows."
    formula = "n/(n + m) smoothed + m/(n + m) logistic, class by class"
    reference = "Efron & Morris 1975, JASA 70, on leaning small groups on the whole"

    rows: float = 10.0

    def __post_init__(self) -> None:
        rows = as_positive("rows", self.rows, "Use 10, or 0 for the smoothed curve.", zero=True)
        object.__setattr__(self, "rows", rows)

    def tails(self, sample: ScoreSample) -> tuple[Tail, Tail]:
        """Return both classes' tails; the positive one's in mirrored scores."""
        own, pooled = Smoothed().tails(sample), Logistic().tails(sample)
        return (
            _mixed(own[0], pooled[0], sample.n_samples[0], self.rows),
            _mixed(own[1], pooled[1], sample.n_samples[1], self.rows),
        )

    def bends(self, sample: ScoreSample) -> FloatArray:
        """Return the scores at which the calibration bends."""
        return Logistic().bends(sample)


def _mixed(own: Tail, pooled: Tail, n: float, rows: float) -> Tail:
    """Return the average of two tails, weighted by what the class knows of itself."""
    share = n / (n + rows)

    def above(t: FloatArray) -> FloatArray:
        return share * own(t) + (1.0 - share) * pooled(t)

    return above
