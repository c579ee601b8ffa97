r"""Thresholds of many resamples at once, by counts instead of rows.

To draw the rows of a class anew is to draw how many fall into each of its cells, a multinomial
count. The cells and the boundaries that are looked at are those of all rows, so that every
resample's curves are products of matrices; that each has a kernel of its own width is seen to by
the first two terms of a Taylor series in the width's logarithm. It is for curves that estimate
smooth tails; the threshold is read between nodes an eighth of a kernel's width apart, which is
close enough for an interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from boundshift.curves import Blend, ErrorCurve, Logistic, Smoothed
from boundshift.curves.logistic import CELLS_PER_SPREAD, RIDGE
from boundshift.rules import Rule
from boundshift.scores.sample import NORMAL_IQR, OrderedScores, ScoreSample, robust_std
from boundshift.typing import FloatArray

__all__ = ["resample_thresholds"]

# Nodes in a kernel's width, and their least and largest number over all boundaries looked at.
_NODES_PER_WIDTH, _LEAST_NODES, _MOST_NODES = 8, 128, 1024
# With fewer rows of a class, how cells round them shows in the threshold, and rows are soon drawn.
_LEAST_ROWS = 20
# Widths of a kernel beyond which a score is on one side or the other.
_KERNEL_REACH = 5.0
# Standard errors by which a resample's error rates may differ from those of all rows.
_STANDARD_ERRORS = 5.0
_QUANTILES = 129
# Beyond this the series in the logarithm of a width says little.
_MOST_WIDER = 0.7
_MOST_STEPS, _CLOSE = 100, 1e-6
# Draws at a time, so that memory does not grow with their number.
_TOGETHER = 256
_FLAT, _HALF_A_ROW = 1e-10, 0.5


class _Class(NamedTuple):
    """Draws of a class: scores of its cells, the rows in each by draw, and the kernel's width.

    `wider` is the logarithm of how much wider each draw's own kernel is.
    """

    scores: FloatArray
    rows: FloatArray
    width: float
    wider: FloatArray
    n: int

    def share_beyond(self, nodes: FloatArray, sign: float) -> FloatArray:
        """Return the smoothed share of each draw above every node, or below it with sign -1."""
        z = sign * (self.scores[:, None] - nodes) / self.width
        slope = -z * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        bend = slope * (z * z - 1.0)
        wider = self.wider[:, None]
        found = self.rows @ ndtr(z) + wider * (self.rows @ slope + wider / 2 * (self.rows @ bend))
        return np.asarray(np.clip(found / self.n, 0.0, 1.0))


def resample_thresholds(
    curve: ErrorCurve,
    rule: Rule,
    sample: ScoreSample,
    n_resamples: int,
    random: np.random.Generator,
) -> FloatArray | None:
    """Return the thresholds of resamples, or None where counts in cells do not tell them.

    Parameters
    ----------
    curve, rule : ErrorCurve, Rule
        What decides; floors are no rule of this kind.
    sample : ScoreSample
        All rows.
    n_resamples : int
        How often as many rows of each class are drawn from them.
    random : numpy.random.Generator
        Draws.

    Examples
    --------
    >>> from boundshift.rules import GMean
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [2000, 100])
    >>> sample = ScoreSample.from_labels(y, rng.normal(size=2100) + 3 * y)
    >>> found = resample_thresholds(Blend(), GMean(), sample, 200, rng)
    >>> round(float(np.median(found)), 1), round(float(np.std(found)), 1)
    (1.6, 0.1)
    """
    if n_resamples > _TOGETHER:
        parts = [_TOGETHER] * (n_resamples // _TOGETHER)
        parts += [n_resamples % _TOGETHER] if n_resamples % _TOGETHER else []
        found = [resample_thresholds(curve, rule, sample, part, random) for part in parts]
        known = [part for part in found if part is not None]
        return np.concatenate(known) if known else None
    if rule.alike and sample.positive.median < sample.negative.median:
        mirrored = resample_thresholds(curve, rule, sample.reversed(), n_resamples, random)
        return None if mirrored is None else -mirrored
    if min(sample.n_samples) < _LEAST_ROWS:
        return None
    widths = _kernel_widths(curve, sample)
    if widths is None or sample.exponent or not (sample.negative.exact and sample.positive.exact):
        return None
    low, high = _find_range(curve, rule, sample)
    step = min((w for w in widths if w), default=(high - low) / _LEAST_NODES) / _NODES_PER_WIDTH
    wanted = np.ceil((high - low) / step)
    if not wanted <= _MOST_NODES:
        return None  # too far apart for the narrower kernel
    nodes = np.linspace(low, high, max(int(wanted), _LEAST_NODES) + 1)
    if not np.all(np.diff(nodes) > 0):
        return None
    calibrates = not isinstance(curve, Smoothed)
    spread = Logistic().bends(sample) if calibrates else np.empty(0)
    classes = [
        _draw(c, width, nodes, spread, n_resamples, random)
        for c, width in zip((sample.negative, sample.positive), widths, strict=True)
    ]
    errors = [np.zeros((n_resamples, len(nodes))) for _ in classes]
    shares = [_own_share(curve, c.n) for c in classes]
    for k, (c, sign) in enumerate(zip(classes, (1.0, -1.0), strict=True)):
        if shares[k] > 0.0:
            errors[k] += shares[k] * c.share_beyond(nodes, sign)
    if calibrates:
        for k, tail in enumerate(_calibrated_tails(classes, nodes, spread)):
            errors[k] += (1.0 - shares[k]) * tail
    values = rule.value(errors[0].ravel(), errors[1].ravel(), sample.n_samples)
    allowed, towards = rule.tolerance_towards(sample.n_samples)
    favoured = errors[0] * classes[0].n if towards > 0 else errors[1] * classes[1].n
    places = _best_places(values.reshape(n_resamples, -1), favoured, allowed, towards)
    return np.asarray(low + places * (nodes[1] - nodes[0]))


def _own_share(curve: ErrorCurve, n: int) -> float:
    """Return how much of a class's error is read off its own smoothed scores."""
    if isinstance(curve, Blend):
        return n / (n + curve.rows)
    return 1.0 if isinstance(curve, Smoothed) else 0.0


def _kernel_widths(curve: ErrorCurve, sample: ScoreSample) -> tuple[float, float] | None:
    """Return the width of each class's kernel, 0 where there is none; None for other curves."""
    if type(curve) is Logistic:
        return 0.0, 0.0
    if type(curve) not in (Blend, Smoothed):
        return None
    factor = curve.bandwidth if isinstance(curve, Smoothed) else 1.0
    widths = [
        factor * (robust_std(c) or sample.pooled_std) * c.n**-0.2
        for c in (sample.negative, sample.positive)
    ]
    return (widths[0], widths[1]) if min(widths) > 0.0 else None


def _find_range(curve: ErrorCurve, rule: Rule, sample: ScoreSample) -> tuple[float, float]:
    """Return between which boundaries the best ones of resamples lie.

    Where the rule is higher than elsewhere even with errors lower by some standard errors here,
    and higher by as many there, no boundary is best: rules grow with both errors.
    """
    share = np.linspace(0.0, 1.0, _QUANTILES)
    classes = (sample.negative, sample.positive)
    scores = [c.at(np.round(share * (c.n - 1)).astype(np.int64)) for c in classes]
    ends = min(s[0] for s in scores), max(s[-1] for s in scores)
    t = np.unique(np.concatenate([*scores, np.linspace(*ends, _QUANTILES)]))
    errors = curve.errors(sample)(t)
    lower, higher = [], []
    for error, c in zip(errors, classes, strict=True):
        margin = _STANDARD_ERRORS * np.sqrt((error * (1.0 - error) + 1.0 / c.n) / c.n)
        lower.append(np.clip(error - margin, 0.0, 1.0))
        higher.append(np.clip(error + margin, 0.0, 1.0))
    allowed, _ = rule.tolerance_towards(sample.n_samples)
    most = float(rule.value(higher[0], higher[1], sample.n_samples).min()) + allowed
    within = np.flatnonzero(rule.value(lower[0], lower[1], sample.n_samples) <= most)
    return float(t[max(within[0] - 1, 0)]), float(t[min(within[-1] + 1, len(t) - 1)])


def _draw(
    scores: OrderedScores,
    width: float,
    nodes: FloatArray,
    spread: FloatArray,
    n_resamples: int,
    random: np.random.Generator,
) -> _Class:
    """Draw how many rows of a class fall into cells that are narrow where boundaries are."""
    reach = _KERNEL_REACH * width
    low, high = nodes[0] - reach, nodes[-1] + reach
    step = width / _NODES_PER_WIDTH or (high - low) / _MOST_NODES
    number = int(np.clip(np.ceil((high - low) / step), 1, 2 * _MOST_NODES))
    ranks = np.linspace(0, scores.n - 1, _QUANTILES).astype(np.int64)
    fine = np.linspace(low, high, number + 1)
    edges = np.unique(np.concatenate([fine, spread, scores.at(ranks)]))
    first = np.unique(np.append(0, scores.count_below(edges)))
    first = first[first < scores.n]
    counts = np.diff(first, append=scores.n)
    offset = scores.positions - scores.median
    means, squares = (np.add.reduceat(x, first) / counts for x in (offset, offset**2))
    drawn = random.multinomial(scores.n, counts / scores.n, n_resamples).astype(np.float64)
    wider = np.zeros(n_resamples)
    usual = _spreads(means, squares, counts[None].astype(np.float64))[0]
    if width and usual > 0.0:
        least = usual * np.exp(-_MOST_WIDER)
        wider = np.log(np.maximum(_spreads(means, squares, drawn), least) / usual)
    wider = np.minimum(wider, _MOST_WIDER)
    return _Class(means + scores.median, drawn, width, wider, scores.n)


def _spreads(means: FloatArray, squares: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the robust standard deviation of every draw, as `robust_std` has it of scores."""
    n = rows[0].sum()
    mean = rows @ means / n
    std = np.sqrt(np.maximum(rows @ squares / n - mean**2, 0.0))
    place = (np.cumsum(rows, axis=1) - rows / 2) / n
    draws = np.arange(len(rows))
    quartiles = []
    for share in (0.25, 0.75):
        right = np.clip((place < share).sum(axis=1), 1, max(len(means) - 1, 1))
        right = np.minimum(right, len(means) - 1)
        left = np.maximum(right - 1, 0)
        low, high = place[draws, left], place[draws, right]
        part = np.where(high > low, (share - low) / np.where(high > low, high - low, 1.0), 0.0)
        quartiles.append(means[left] + np.clip(part, 0.0, 1.0) * (means[right] - means[left]))
    normal = (quartiles[1] - quartiles[0]) / NORMAL_IQR
    return np.asarray(np.where(normal > 0, np.minimum(std, 2 * normal), std))


def _calibrated_tails(
    classes: list[_Class], nodes: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return both classes' errors at each node by a logistic calibration of every draw."""
    together = np.concatenate([c.scores for c in classes])
    order = np.argsort(together, kind="stable")
    x = np.clip(together[order], spread[0], spread[-1])
    rows = np.concatenate([c.rows for c in classes], axis=1)[:, order]
    positive = np.concatenate([np.zeros_like(classes[0].rows), classes[1].rows], axis=1)[:, order]
    offset = (x - (spread[0] + spread[-1]) / 2) / (CELLS_PER_SPREAD * (spread[1] - spread[0]))
    chance = np.log(classes[1].n / classes[0].n)
    usual_rows, usual_positive = (c.mean(axis=0, keepdims=True) for c in (rows, positive))
    usual = _calibrate(offset, usual_rows, usual_positive, 0.0, float(chance))
    slope, shift = _calibrate(offset, rows, positive, usual[0][0], usual[1][0])
    is_higher = slope > 0  # else every row has the same probability
    slope, shift = np.where(is_higher, slope, 0.0), np.where(is_higher, shift, chance)
    probability = expit(slope[:, None] * offset + shift[:, None])
    above = _share_above(rows * (1.0 - probability), x, nodes, spread)
    return above, 1.0 - _share_above(rows * probability, x, nodes, spread)


def _calibrate(
    x: FloatArray, rows: FloatArray, positive: FloatArray, slope: float, shift: float
) -> tuple[FloatArray, FloatArray]:
    """Return slope and shift of every draw's log-odds, by damped Newton steps from a start."""
    total = rows.sum(axis=1)
    squares, penalty = x * x, 2 * RIDGE * total

    def lose(theta: FloatArray) -> FloatArray:
        odds = theta[0][:, None] * x + theta[1][:, None]
        both = np.maximum(odds, 0.0) + np.log1p(np.exp(-np.abs(odds)))
        return np.asarray((rows * both - positive * odds).sum(axis=1) + penalty * theta[0] ** 2 / 2)

    theta = np.stack([np.full(len(rows), slope), np.full(len(rows), shift)])
    loss = lose(theta)
    for _ in range(_MOST_STEPS):
        p = expit(theta[0][:, None] * x + theta[1][:, None])
        rest, weight = rows * p - positive, rows * p * (1.0 - p)
        gradient = rest @ x + penalty * theta[0], rest.sum(axis=1)
        a, b, c = weight @ squares + penalty, weight @ x, weight.sum(axis=1) + 1e-12
        step = np.stack([c * gradient[0] - b * gradient[1], a * gradient[1] - b * gradient[0]])
        step /= a * c - b * b
        lower = lose(theta - step)
        while (worse := lower > loss + _CLOSE * total).any():  # as where the classes are apart
            step[:, worse] /= 2
            lower = lose(theta - step)
        theta, loss = theta - step, lower
        if (np.abs(step) <= _CLOSE * (1.0 + np.abs(theta))).all():
            break
    return theta[0], theta[1]


def _share_above(
    weight: FloatArray, x: FloatArray, nodes: FloatArray, spread: FloatArray
) -> FloatArray:
    """Return the share of the cells' weight above each node, for every draw.

    Between two cells it falls over as much as the calibration's own grid is wide, at most.
    """
    beyond = np.zeros((len(weight), len(x) + 1))
    beyond[:, :-1] = np.cumsum(weight[:, ::-1], axis=1)[:, ::-1]
    points = np.concatenate([x, spread])
    order = np.argsort(points, kind="stable")
    known = [beyond[:, :-1] - weight / 2, beyond[:, np.searchsorted(x, spread)]]
    shares = np.concatenate(known, axis=1)[:, order] / beyond[:, :1]
    # One place between two points for every draw.
    place = np.interp(nodes, points[order], np.arange(len(points), dtype=np.float64))
    left = np.minimum(place.astype(np.int64), len(points) - 2)
    part = place - left
    return np.asarray(shares[:, left] * (1.0 - part) + shares[:, left + 1] * part)


def _best_places(
    values: FloatArray, favoured: FloatArray, allowed: float, towards: int
) -> FloatArray:
    """Return where each draw's rule is best, counted in nodes, after a rule's tolerance."""
    if towards < 0:
        last = values.shape[1] - 1
        return np.asarray(last - _best_places(values[:, ::-1], favoured[:, ::-1], allowed, 1))
    least = values.min(axis=1)
    flat = least + _FLAT * np.maximum(np.abs(least), 1.0)
    best = values.argmin(axis=1)
    upper = _cross(values, best, flat, up=True)
    lower = values.shape[1] - 1 - _cross(values[:, ::-1], values.shape[1] - 1 - best, flat, up=True)
    middle = np.where(upper - lower > 2, (lower + upper) / 2, _vertex(values, best))
    if not (allowed and towards):
        return middle
    end = np.maximum(_cross(values, best, least + allowed, up=True), middle)
    most = _between(favoured, end) + _HALF_A_ROW
    fewest = _cross(favoured, np.floor(middle).astype(np.int64), most, up=False)
    return np.where(_between(favoured, middle) <= most, middle, np.clip(fewest, middle, end))


def _vertex(values: FloatArray, best: NDArray[np.int64]) -> FloatArray:
    """Return the vertex of the parabola through the least value and its neighbours."""
    inner = np.clip(best, 1, values.shape[1] - 2)
    rows = np.arange(len(values))
    left, middle, right = (values[rows, inner + k] for k in (-1, 0, 1))
    bend = left - 2 * middle + right
    offset = np.where(bend > 0, (left - right) / np.where(bend > 0, 2 * bend, 1.0), 0.0)
    return np.asarray(np.where(inner == best, best + np.clip(offset, -0.5, 0.5), best))


def _cross(
    values: FloatArray, start: NDArray[np.int64], limit: FloatArray, *, up: bool
) -> FloatArray:
    """Return where values first pass a limit on the way from a node upwards, else the last node."""
    last = values.shape[1] - 1
    passed = (values > limit[:, None]) if up else (values <= limit[:, None])
    passed &= np.arange(last + 1) > start[:, None]
    node = np.where(passed.any(axis=1), passed.argmax(axis=1), last)
    rows = np.arange(len(values))
    before, after = values[rows, node - 1], values[rows, node]
    rise = after - before
    part = np.where(rise != 0, (limit - before) / np.where(rise != 0, rise, 1.0), 1.0)
    return np.asarray(np.where(passed.any(axis=1), node - 1 + np.clip(part, 0.0, 1.0), last))


def _between(values: FloatArray, place: FloatArray) -> FloatArray:
    """Return values at places between nodes."""
    left = np.minimum(place.astype(np.int64), values.shape[1] - 2)
    rows = np.arange(len(values))
    part = place - left
    return np.asarray(values[rows, left] * (1 - part) + values[rows, left + 1] * part)
