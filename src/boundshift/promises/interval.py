"""How variable a boundary is: where the threshold of another draw would fall."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import RegularGridInterpolator
from scipy.stats import norm, t

from boundshift.boundary import choose_claims, make_decision
from boundshift.curves import CountCurve, ErrorCurve, SupportRadius
from boundshift.curves.base import PairCurve
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors, Rule
from boundshift.rules.binary import bind_labels
from boundshift.scores import Scale, Scores, ScoreSample, is_among, robust_std
from boundshift.typing import FloatArray
from boundshift.validation import as_generator, as_share

__all__ = ["threshold_interval"]

Draw = Callable[[np.random.Generator], Scores]

_DRAWS, _SLOW_DRAWS = 200, 50
# Smooth curves: cells of equal width, and as many of equal counts, in which rows are drawn.
_CELLS = 1024
# Other curves: rows drawn of both classes together; of the smaller class at least, and of the
# larger one at most. Floors count both classes together and keep their proportion.
_DRAWN, _LEAST_DRAWN, _MOST_DRAWN = 4000, 1000, 10_000
_LEAST_FOR_FLOORS = 200
# Nodes of each error where a slow metric is tabulated.
_NODES = 11


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

    Smooth curves see each class in some thousand cells of rows that share their mean, and a draw
    is a multinomial count of these: a million rows take as long as a thousand. Scores that repeat
    are cells of their own. For the other curves rows are drawn: of more than 4,000 a share m/n
    (4,000 rows, or 1,000 of the smaller class; of the larger one at most 10,000). Deviations then
    shrink with n as estimates do, by :math:`(m/n)^{1/2}`, and rules of frequencies keep those of
    all rows. Curves of counts jump at every row, where a plain bootstrap fails: rows are drawn with
    normal noise of the width :math:`s n^{-1/5}`, s being the class's robust standard deviation, and
    deviations shrink with the power 1/3. Scores that repeat get no noise and do not shrink; the
    interval then holds the middle share of the resampled thresholds as well.

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
    claim, aim = choose_claims(curve, rule)
    given = ScoreSample.from_labels(y_true, y_score, pos_label, alike=aim.alike)
    threshold = make_decision(claim, aim, scale)(given).threshold
    sample, aim = given.on_scale(scale), bind_labels(aim, given.labels)
    if n_resamples is None:
        n_resamples = _SLOW_DRAWS if isinstance(claim, SupportRadius) else _DRAWS
    solution = claim.solve(sample, aim).found
    quick = _Table.near(aim, sample.n_samples, solution.errors) if aim.costly else aim
    thresholds, shrink = _resample(sample, claim, quick, n_resamples, as_generator(random_state))
    first, middle, last = np.quantile(thresholds, [(1 - share) / 2, 0.5, (1 + share) / 2]).tolist()
    centre = solution.threshold
    factor = math.sqrt(2.0) * shrink * _widen(min(sample.n_samples), share)
    low, high = centre - factor * (middle - first), centre + factor * (last - middle)
    if len(sample.atoms):  # thresholds jump between gaps, and none in between says anything
        low, high = min(low, first), max(high, last)
    log_odds = sample.log_odds
    if log_odds is not None:
        # Every threshold below an exact 0 flags all rows; on probabilities these are below 0.
        low = max(low, float(np.nextafter(log_odds.low, -np.inf)))
        high = max(high, log_odds.low)
    low, high = sample.to_threshold(low), sample.to_threshold(high)
    return min(low, threshold), max(high, threshold)


def _widen(n: int, share: float) -> float:
    """Return how much wider the interval of n rows is than that of many, as Student's is."""
    free, tail = max(n - 1, 1), (1 + share) / 2
    return math.sqrt((free + 1) / free) * float(t.ppf(tail, free) / norm.ppf(tail))


def _resample(
    sample: ScoreSample,
    curve: ErrorCurve,
    rule: Rule,
    n_resamples: int,
    random: np.random.Generator,
) -> tuple[FloatArray, float]:
    """Return thresholds of resamples, and how much less those of all rows would stray."""
    classes, atoms = (sample.negative, sample.positive), sample.atoms
    shrink = 1.0
    if isinstance(curve, PairCurve) and not isinstance(curve, SupportRadius):
        draws = [_draw_cells(c, atoms) for c in classes]
    else:
        is_step = isinstance(curve, CountCurve)
        sizes = _sizes(sample.n_samples, rule)
        draws = [
            _draw_rows(c, size, atoms, robust_std(c) * c.n**-0.2 if is_step else 0.0)
            for c, size in zip(classes, sizes, strict=True)
        ]
        rule = _as_drawn(rule, sample.n_samples, sizes)
        if not len(atoms):
            # The rarer class decides how far the boundary strays.
            rows, size = min(zip(sample.n_samples, sizes, strict=True))
            shrink = float(size / rows) ** (1 / 3 if is_step else 1 / 2)
    thresholds = np.empty(n_resamples)
    for k in range(n_resamples):
        negative, positive = (draw(random) for draw in draws)
        drawn = np.concatenate([negative.positions, positive.positions])
        kept = np.intersect1d(atoms, drawn)  # a rare atom may not be drawn
        resampled = replace(sample, negative=negative, positive=positive, given_atoms=kept)
        thresholds[k] = curve.solve(resampled, rule).found.threshold
    return thresholds, shrink


def _draw_cells(scores: Scores, atoms: FloatArray) -> Draw:
    """Return what draws as many rows as there are, by how many fall into each cell."""
    values, n = scores.positions, scores.n
    ranks = np.linspace(0, n - 1, _CELLS).astype(np.int64)
    equal = np.linspace(values[0], values[-1], _CELLS)
    edges = np.concatenate([equal, values[ranks], atoms, np.nextafter(atoms, np.inf)])
    first = np.unique(np.append(0, np.searchsorted(values, edges)))
    first = first[first < n]
    counts = np.diff(first, append=n)
    means = scores.median + np.add.reduceat(values - scores.median, first) / counts
    # The mean of one score, met again and again, is that score to its last digit.
    means = np.where(values[first] == values[first + counts - 1], values[first], means)

    def draw(random: np.random.Generator) -> Scores:
        rows = random.multinomial(n, counts / n)
        return Scores(means[rows > 0], rows[rows > 0].astype(np.float64))

    return draw


def _draw_rows(scores: Scores, size: int, atoms: FloatArray, noise: float) -> Draw:
    """Return what draws some rows, with noise on scores that do not repeat."""
    values = scores.positions
    width = np.where(is_among(values, atoms), 0.0, noise)

    def draw(random: np.random.Generator) -> Scores:
        rows = random.integers(0, len(values), size)
        chosen = values[rows] + (random.normal(size=size) * width[rows] if noise else 0.0)
        return Scores(np.sort(chosen))

    return draw


@dataclass(frozen=True)
class _Table(Rule):
    """A metric that is slow to compute, tabulated around the errors of a boundary."""

    name = "table"

    at: RegularGridInterpolator

    @classmethod
    def near(cls, rule: Rule, n_samples: tuple[int, int], errors: tuple[float, float]) -> _Table:
        """Tabulate a rule within 8 standard errors of both error rates."""
        axes = []
        for error, n in zip(errors, n_samples, strict=True):
            reach = 8.0 * math.sqrt((error * (1.0 - error) + 1.0 / n) / n)
            axes.append(np.linspace(max(error - reach, 0.0), min(error + reach, 1.0), _NODES))
        negative, positive = np.meshgrid(*axes, indexing="ij")
        values = rule.value(negative.ravel(), positive.ravel(), n_samples)
        return cls(RegularGridInterpolator(axes, np.reshape(values, negative.shape)))

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return values between those of the nodes; beyond them they rise."""
        errors = np.stack([negative, positive], axis=-1)
        low, high = (np.array([axis[end] for axis in self.at.grid]) for end in (0, -1))
        inside = np.clip(errors, low, high)
        beyond = np.sum((errors - inside) / (high - low), axis=-1)
        return np.asarray(self.at(inside) + beyond * np.ptp(self.at.values))


def _sizes(n_samples: tuple[int, int], rule: Rule) -> tuple[int, int]:
    """Return how many rows of each class to draw."""
    keeps = isinstance(rule, Floors)
    least, most = (_LEAST_FOR_FLOORS, max(n_samples)) if keeps else (_LEAST_DRAWN, _MOST_DRAWN)
    share = min(max(_DRAWN / sum(n_samples), least / min(n_samples)), 1.0)
    negative, positive = (min(math.ceil(share * n), most) for n in n_samples)
    return negative, positive


def _as_drawn(rule: Rule, n_samples: tuple[int, int], sizes: tuple[int, int]) -> Rule:
    """Return the rule for draws in another proportion: at the frequencies of all rows."""
    is_open = not isinstance(rule, Floors) and getattr(rule, "prevalence", 0.0) is None
    if sizes == n_samples or not is_open:
        return rule
    return replace(rule, prevalence=n_samples[1] / sum(n_samples))  # type: ignore[call-arg]
