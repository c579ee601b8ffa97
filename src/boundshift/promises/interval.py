"""How variable a boundary is: where the threshold of another draw would fall."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t

from boundshift.boundary import choose_claims, make_decision
from boundshift.curves import CountCurve, ErrorCurve, SupportRadius
from boundshift.exceptions import InvalidInputError
from boundshift.promises.resampled import resample_thresholds
from boundshift.promises.tabulated import TabulatedRule
from boundshift.rules import Floors, Rule
from boundshift.scores.log_odds import Scale
from boundshift.scores.sample import ClassScores, OrderedScores, ScoreSample, robust_std
from boundshift.typing import FloatArray
from boundshift.validation import as_generator, as_share

__all__ = ["threshold_interval"]

# Rows that are drawn, of both classes in their proportion; of the smaller class at least, and of
# the larger at most, so many. More cost time and change little. Floors, which keep the proportion
# and are slow to test, have fewer.
_DRAWN, _LEAST_DRAWN, _MOST_DRAWN = 4000, 1000, 10_000
_LEAST_FOR_FLOORS = 200
# Draws, and for the paper's curve, whose search takes longer.
_DRAWS, _DRAWS_OF_SUPPORT = 200, 50


def threshold_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    confidence: float = 0.95,
    *,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    pos_label: object = None,
    n_resamples: int | None = None,
    random_state: int | np.random.Generator | None = None,
    scale: Scale = "auto",
) -> tuple[float, float]:
    r"""Return where the threshold would fall had other rows of the same kind been drawn.

    A prediction interval for the threshold of as many other rows, by the bootstrap: approximate,
    not certified. The model is not refitted, so the interval says nothing about the model's own
    variability.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        As in :func:`~boundshift.find_boundary`.
    confidence : float, default=0.95
        Share of other draws whose threshold falls inside, about.
    curve, rule, pos_label
        As in :func:`~boundshift.find_boundary`.
    n_resamples : int, default=None
        Number of draws, at least 2. None: 200; 50 for the paper's curve, which takes longer.
    random_state : int, Generator or None, default=None
        Seed of the draws.
    scale : {"auto", "probability", "raw"}, default="auto"
        As in :func:`~boundshift.find_boundary`; the limits of probabilities are probabilities.

    Returns
    -------
    low, high : float
        The threshold found on the rows given lies between them.

    Notes
    -----
    Rows are drawn anew within each class and the boundary is found again; the interval is the
    threshold plus :math:`\sqrt 2` times the middle share of the deviations from their median.
    The root stands for the two samples that vary, the one at hand and the other one. Resamples of
    n rows stray less than other rows do, and by an amount that varies itself: as in Student's
    interval of a mean, the width is multiplied by :math:`(n / (n - 1))^{1/2}` and by the ratio of
    Student's quantile for n - 1 degrees of freedom to the normal one, n being the rows of the
    smaller class.

    For the curves "blend", "smoothed" and "logistic" it is drawn how many rows fall into each of
    some hundred cells, which takes about as long for a million rows as for a thousand. For others
    rows are drawn: of more than 4,000 a share m/n, the same of both classes (4,000 rows, or 1,000
    of the smaller class; of the larger one at most 10,000). Deviations then shrink with n as
    estimates do, by :math:`(m/n)^{1/2}`, and rules that depend on how frequent the classes are take
    the frequencies of all rows. A metric that is slow to compute is looked up in a table around
    the errors found. Curves of counts jump at every row, and there a plain bootstrap fails: rows
    are drawn with normal noise of the width :math:`s n^{-1/5}`, s being the class's robust standard
    deviation, and deviations shrink with the power 1/3.

    How often the thresholds of other rows fell inside at 95%, by curve, shape of the classes and
    number of rows, is measured in ``docs/evidence/interval.md``: between 92% and 97%, and more
    often with curves of counts where a class has two humps.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, s = np.repeat([0, 1], [500, 20]), rng.normal(size=520)
    >>> low, high = threshold_interval(y, s + 3 * y, random_state=0)
    >>> round(low, 1), round(high, 1)
    (1.1, 2.2)
    """
    share = as_share("confidence", confidence)
    if n_resamples is not None and (
        not isinstance(n_resamples, int | np.integer) or n_resamples < 2
    ):
        raise InvalidInputError(
            f"`n_resamples` must be a whole number of at least 2, got {n_resamples!r}. Use 200."
        )
    claims = choose_claims(curve, rule)
    given = ScoreSample.from_labels(y_true, y_score, pos_label, alike=claims[1].alike)
    given = given.on_scale(scale)
    sample = replace(given, log_odds=None)
    random = as_generator(random_state)
    found = make_decision(*claims)(sample)
    if n_resamples is None:
        n_resamples = _DRAWS_OF_SUPPORT if isinstance(claims[0], SupportRadius) else _DRAWS
    thresholds, shrink = None, 1.0
    if not isinstance(claims[1], Floors):
        quick = _as_drawn(claims[1], sample.n_samples, sample.n_samples, found.errors)
        thresholds = resample_thresholds(claims[0], quick, sample, n_resamples, random)
    if thresholds is None:
        thresholds, shrink = _draw_rows(sample, *claims, found.errors, n_resamples, random)
    low_end, middle, high_end = np.quantile(thresholds, [(1 - share) / 2, 0.5, (1 + share) / 2])
    factor, centre = math.sqrt(2.0) * shrink * _widen(min(sample.n_samples), share), found.threshold
    ends = centre - factor * float(middle - low_end), centre + factor * float(high_end - middle)
    if given.log_odds is None:
        return ends
    return given.to_units(ends[0]), given.to_units(ends[1])


def _widen(n: int, share: float) -> float:
    """Return how much wider the interval of n rows is than that of many, as Student's is."""
    free, tail = max(n - 1, 1), (1 + share) / 2
    return math.sqrt((free + 1) / free) * float(t.ppf(tail, free) / norm.ppf(tail))


def _draw_rows(
    sample: ScoreSample,
    curve: ErrorCurve,
    rule: Rule,
    errors: tuple[float, float],
    n_resamples: int,
    random: np.random.Generator,
) -> tuple[FloatArray, float]:
    """Return the thresholds of some of the rows, and how much less those of all would stray."""
    is_step = isinstance(curve, CountCurve)
    sizes = _sizes(sample.n_samples, rule)
    classes = (sample.negative, sample.positive)
    drawn = [_Draws(c, size, is_step) for c, size in zip(classes, sizes, strict=True)]
    decide = make_decision(curve, _as_drawn(rule, sample.n_samples, sizes, errors))
    thresholds = np.empty(n_resamples)
    for k in range(n_resamples):
        low, high = (c.draw(random) for c in drawn)
        resampled = ScoreSample(low, high, sample.exponent, sample.labels)
        thresholds[k] = decide(resampled).threshold
    # The rarer class decides how far the boundary strays.
    rarest = min(drawn, key=lambda c: c.scores.n)
    return thresholds, (rarest.size / rarest.scores.n) ** (1 / 3 if is_step else 1 / 2)


def _sizes(n_samples: tuple[int, int], rule: Rule) -> tuple[int, int]:
    """Return how many rows of each class to draw."""
    # Floors of precision count the rows of both classes together: their proportion must stay.
    keeps = isinstance(rule, Floors)
    least, most = (_LEAST_FOR_FLOORS, max(n_samples)) if keeps else (_LEAST_DRAWN, _MOST_DRAWN)
    share = min(max(_DRAWN / sum(n_samples), least / min(n_samples)), 1.0)
    sizes = [min(math.ceil(share * n), most) for n in n_samples]
    return sizes[0], sizes[1]


def _as_drawn(
    rule: Rule,
    n_samples: tuple[int, int],
    sizes: tuple[int, int],
    errors: tuple[float, float],
) -> Rule:
    """Return the rule for draws in another proportion: at the frequencies of all rows."""
    if sizes != n_samples and not isinstance(rule, Floors) and hasattr(rule, "prevalence"):
        frequency = n_samples[1] / sum(n_samples)
        own = rule.prevalence
        rule = replace(rule, prevalence=frequency if own is None else own)  # type: ignore[call-arg]
    return TabulatedRule.near(rule, sizes, errors) if rule.costly else rule


class _Draws:
    """Draws from the scores of a class, with noise where the curve jumps at every row."""

    def __init__(self, scores: OrderedScores, size: int, is_step: bool) -> None:
        self.scores, self.size = scores, size
        self.values = scores.at(np.arange(scores.n))
        self.noise = robust_std(scores) * scores.n**-0.2 if is_step else 0.0

    def draw(self, random: np.random.Generator) -> ClassScores:
        """Return as many scores as there are, at most some thousands."""
        chosen = self.values[random.integers(0, self.scores.n, self.size)]
        if self.noise > 0.0:
            chosen = chosen + random.normal(0.0, self.noise, self.size)
        chosen.sort()
        return ClassScores(chosen)
