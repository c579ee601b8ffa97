"""How variable a threshold is: where it would fall on another sample of the same kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t

from boundshift._boundary import choose_claims, decide
from boundshift._scores import Scale, Scores, ScoreSample, is_among, robust_std
from boundshift._typing import FloatArray
from boundshift._validation import as_generator, as_share, name_remedy
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule

Draw = Callable[[np.random.Generator], Scores]

# Resamples, and those of curves and rules that take long.
_RESAMPLES = 100
_SLOW_RESAMPLES = 50
# Smooth curves: bins of equal width, and as many of equal counts, in which rows are drawn.
_BINS = 512
# Other curves: rows drawn of both classes together, the fewest of the smaller class (for floors,
# which keep the proportion of the classes, too), and the most of the larger one.
_DRAWN = 4000
_FEWEST = 1000
_FEWEST_FOR_FLOORS = 200
_MOST = 10_000


@name_remedy
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
    r"""Estimate where the threshold of another sample of the same kind would fall.

    This is a prediction interval for the threshold of as many other rows, by the bootstrap. It is
    approximate and not certified. The model is not refitted, so the interval does not include the
    model's own variability.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        As in :func:`~boundshift.find_boundary`.
    confidence : float, default=0.95
        Proportion of other samples whose threshold falls inside, approximately.
    curve, rule, pos_label, scale
        As in :func:`~boundshift.find_boundary`; the limits of probabilities are probabilities.
    n_resamples : int, default=None
        Number of resamples, at least 2. None: 100; 50 for the paper's curve and for a
        :class:`~boundshift.Metric`, which take longer.
    random_state : int, Generator or None, default=None
        Seed of the resamples.

    Returns
    -------
    low, high : float
        The threshold found on the rows given lies between them.

    Notes
    -----
    Rows are resampled within each class and the threshold is found again. The interval is the
    threshold plus :math:`\sqrt 2` times the central deviations of these thresholds from their
    median; their quantiles have the order :math:`p (B + 1)` for B resamples, which is unbiased.
    The root stands for the two samples that vary, the one at hand and the other one. As in
    Student's interval of a mean, the width is multiplied by :math:`(n / (n - 1))^{1/2}` and by the
    ratio of Student's quantile for n - 1 degrees of freedom to the normal one, n being the rows of
    the smaller class.

    Smooth curves see each class in about a thousand bins, each at the mean of its rows, and a
    resample is a multinomial count of these: a million rows take as long as a thousand. Scores that
    repeat are bins of their own. For the other curves rows are drawn: of more than 4,000 a share
    m/n (4,000 rows, or 1,000 of the smaller class; of the larger one at most 10,000). Deviations
    then shrink with n as estimates do, by :math:`(m/n)^{1/2}`. Curves of counts jump at every row,
    where a plain bootstrap fails: rows are drawn with normal noise of the width
    :math:`s n^{-1/5}`, s being the class's robust standard deviation, and deviations shrink with
    the power 1/3. Scores that repeat get no noise.

    Where scores repeat the threshold jumps from gap to gap, and so it does where it lies beyond
    all scores. Then rows are drawn twice, the second time from those drawn first, which doubles
    the variance as the root does above. The interval has the middle share of these thresholds and
    ends at the scores next to it, since all thresholds between two scores decide alike. A limit
    beyond all scores is one range of the scores farther out, and -1 for probabilities. Where a
    curve of counts leaves no row of a class on the wrong side, it is the outermost score.

    At 95%, between 91% and 100% of the thresholds of other rows fell inside, by curve, shape of the
    classes and number of rows (``lab/docs/evidence/interval.md``, standard errors of 2 to 4%).
    Curves of counts on a fine grid, such as a forest's probabilities, hold less than stated.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, s = np.repeat([0, 1], [500, 20]), rng.normal(size=520)
    >>> low, high = threshold_interval(y, s + 3 * y, random_state=0)
    >>> round(low, 1), round(high, 1)
    (1.1, 2.1)
    """
    coverage = as_share("confidence", confidence)
    curve, rule = choose_claims(curve, rule)
    if n_resamples is None:
        is_slow = curve.is_local or rule.costly
        n_resamples = _SLOW_RESAMPLES if is_slow else _RESAMPLES
    if not isinstance(n_resamples, int | np.integer) or n_resamples < 2:
        raise InvalidInputError(
            f"must be a whole number of at least 2, got {n_resamples!r}. Use 200.",
            argument="n_resamples",
        )
    given = ScoreSample.from_labels(y_true, y_score, pos_label, symmetric=rule.symmetric)
    threshold = decide(given, curve, rule, scale).threshold
    sample = given.on_scale(scale)
    centre = curve.solve(sample, rule).found.threshold
    least, most = sample.extremes
    jumps = len(sample.atoms) > 0 or not least <= centre < most
    random = as_generator(random_state)
    thresholds, shrink = _resample(sample, curve, rule, n_resamples, random, jumps)
    degrees = max(min(sample.n_samples) - 1, 1)
    tail = (1 + coverage) / 2
    widen = math.sqrt((degrees + 1) / degrees) * float(t.ppf(tail, degrees) / norm.ppf(tail))
    if jumps:
        beyond = 1.0 - float(norm.cdf(widen * norm.ppf(tail)))
        low, high = np.quantile(thresholds, [beyond, 1.0 - beyond], method="weibull").tolist()
        low = min(low, centre)
        high = max(high, centre)
        low, high = _widen_to_scores(sample, low, high, is_counted=curve.is_step)
    else:
        first, middle, last = np.quantile(
            thresholds, [1 - tail, 0.5, tail], method="weibull"
        ).tolist()
        factor = math.sqrt(2.0) * shrink * widen
        low = centre - factor * (middle - first)
        high = centre + factor * (last - middle)
    low, high = _in_given_units(sample, low, high)
    return min(low, threshold), max(high, threshold)


def _in_given_units(sample: ScoreSample, low: float, high: float) -> tuple[float, float]:
    """Carry limits to the units of the given scores; those beyond all scores move outwards."""
    least, most = sample.extremes
    spread = sample.spread or abs(least) or 1.0
    if low < least:
        low -= spread
    if high > most:
        high += spread
    low = sample.to_threshold(low)
    high = sample.to_threshold(high)
    if sample.log_odds is not None and low < 0.0:
        low = -1.0  # Every threshold below 0 flags all rows.
    return low, high


def _widen_to_scores(
    sample: ScoreSample, low: float, high: float, *, is_counted: bool
) -> tuple[float, float]:
    """Return the scores next to two limits; those beyond all scores stay where they are."""
    # A curve of counts that leaves no row of a class on the wrong side follows its outermost row,
    # and no resample goes beyond that: the limit is the outermost score of all.
    scores = np.unique(np.concatenate([sample.negative.value, sample.positive.value]))
    least = float(scores[0])
    most = float(scores[-1])
    alarms, misses = sample.count_wrong(np.array([low, high]))
    if low >= least:
        low = float(scores[np.searchsorted(scores, low, side="right") - 1])
        low = least if is_counted and not misses[0] else low
    if high < most:
        high = float(scores[np.searchsorted(scores, high, side="right")])
        high = most if is_counted and not alarms[1] else high
    return low, high


def _resample(
    sample: ScoreSample,
    curve: ErrorCurve,
    rule: Rule,
    n_resamples: int,
    random: np.random.Generator,
    jumps: bool,
) -> tuple[FloatArray, float]:
    """Return thresholds of resamples, and the ratio of the deviations of all rows to theirs."""
    noises = [_noise_of(scores) if curve.is_step else 0.0 for scores in sample.classes]
    shrink = 1.0
    draws: list[Draw]
    if curve.is_smooth or jumps:
        draws = [
            _draw_bins(scores, sample.atoms, noise, twice=jumps)
            for scores, noise in zip(sample.classes, noises, strict=True)
        ]
    else:
        sizes = _sizes_drawn(sample.n_samples, keeps_proportion=bool(rule.asked))
        if sizes != sample.n_samples:
            rule = rule.at_prevalence(sample.n_samples[1] / sum(sample.n_samples))
        columns = zip(sample.classes, sizes, noises, strict=True)
        draws = [partial(_draw_rows, *of_class) for of_class in columns]
        # The rarer class decides how far the boundary strays.
        n_rows, size = min(zip(sample.n_samples, sizes, strict=True))
        shrink = float(size / n_rows) ** (1 / 3 if curve.is_step else 1 / 2)
    thresholds = np.empty(n_resamples)
    for k in range(n_resamples):
        negative, positive = (draw(random) for draw in draws)
        drawn = np.concatenate([negative.value, positive.value])
        kept = np.intersect1d(sample.atoms, drawn)  # A rare atom may not be drawn.
        resampled = replace(sample, negative=negative, positive=positive, given_atoms=kept)
        thresholds[k] = curve.solve(resampled, rule).found.threshold
    return thresholds, shrink


def _noise_of(scores: Scores) -> float:
    """Return the width of the noise that spreads the scores of a class."""
    return float(robust_std(scores) * scores.n**-0.2)


def _sizes_drawn(n_samples: tuple[int, int], *, keeps_proportion: bool) -> tuple[int, int]:
    """Return how many rows of each class are drawn."""
    fewest = _FEWEST_FOR_FLOORS if keeps_proportion else _FEWEST
    most = max(n_samples) if keeps_proportion else _MOST
    share = min(max(_DRAWN / sum(n_samples), fewest / min(n_samples)), 1.0)
    negative, positive = n_samples
    return min(math.ceil(share * negative), most), min(math.ceil(share * positive), most)


def _draw_bins(scores: Scores, atoms: FloatArray, noise: float, *, twice: bool) -> Draw:
    """Return a function that draws as many rows as there are, by counts of bins.

    Noise moves no score that repeats, and no other one across such a score.
    """
    values = scores.value
    n = scores.n
    ranks = np.linspace(0, n - 1, _BINS).astype(np.int64)
    equal = np.linspace(values[0], values[-1], _BINS)
    edges = np.concatenate([equal, values[ranks], atoms, np.nextafter(atoms, np.inf)])
    first = np.unique(np.append(0, np.searchsorted(values, edges)))
    first = first[first < n]
    counts = np.diff(first, append=n)
    means = scores.median + np.add.reduceat(values - scores.median, first) / counts
    # The mean of equal scores is that score to its last digit.
    means = np.where(values[first] == values[first + counts - 1], values[first], means)

    walls = np.concatenate([[-np.inf], atoms, [np.inf]])
    above = walls[np.searchsorted(atoms, means, side="right") + 1]
    below = walls[np.searchsorted(atoms, means)]
    width = np.where(is_among(means, atoms), 0.0, noise)

    def draw(random: np.random.Generator) -> Scores:
        rows = random.multinomial(n, counts / n)
        if twice:
            rows = random.multinomial(n, rows / n)
        places = means
        if noise:
            moved = np.clip(means + width * random.normal(size=len(means)), below, above)
            places = np.where(width > 0, moved, means)
        order = np.argsort(places, kind="stable")
        order = order[rows[order] > 0]
        return Scores(places[order], rows[order])

    return draw


def _draw_rows(scores: Scores, size: int, noise: float, random: np.random.Generator) -> Scores:
    """Draw rows, with noise."""
    chosen = random.choice(scores.value, size)
    return Scores(np.sort(chosen + noise * random.normal(size=size) if noise else chosen))
