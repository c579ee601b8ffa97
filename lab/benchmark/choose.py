"""Candidates for the default curve, compared on the half to choose on: ``python -m lab choose``.

The protocol, the candidates in words and the rule of adoption are in ``lab/docs/defaults.md``. To
try something else, add it to `CANDIDATES`: trainings are cached, so it takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from boundshift import BoundShiftClassifier
from boundshift._scores import Scores, ScoreSample
from boundshift._search import ErrorsAt, Gaps
from boundshift._typing import FloatArray, IntArray
from boundshift.curves import Logistic, Smoothed, _smooth
from boundshift.rules import Cost, Rule, as_rule
from lab.benchmark.data import datasets, load_rows, split
from lab.benchmark.methods import METRICS, MISS
from lab.benchmark.run import CACHE, fits_of
from lab.benchmark.tables import REGIMES
from lab.benchmark.train import MODELS, Fit, Response, prepared
from lab.experiment import Experiment, Facts, Tables, in_parallel, quiet
from lab.markdown import Line, p_value, table
from lab.records import ScoreCache
from lab.statistics import Paired, compare, holm

Estimate = Callable[[ScoreSample], ErrorsAt]
"""From labelled scores to the estimated error rates at given thresholds."""
CalibrationFit = Callable[[FloatArray, FloatArray], FloatArray]

RULES: dict[str, Rule] = {name: as_rule(name) for name in ("g-mean", "f1", "mcc", "kappa")}
RULES["cost"] = Cost(false_negative=MISS)
_MODELS = [name for name in MODELS if name != "LightGBM"]
_SPLITS = 2
_FEW = (5, 10, 20)
# Thresholds tried on a line of distinct scores, beside the middles of its gaps.
_PLACES = 3000
_TITLES = (
    "candidate", "gain", "families won, lost", "p", "p (Holm)", "second split: gain", "won, lost",
    "p",
)  # fmt: skip
_QUICK = ("abalone9-18", "spectf", "yeast5")


class Deployed(NamedTuple):
    """Scores that boundshift's classifier decides on, and those that it gives for test rows."""

    y_train: IntArray
    y_test: IntArray
    deciding: FloatArray
    deployed: FloatArray
    scale: Response


def train_default(fit: Fit) -> Deployed:
    """Train boundshift's classifier with its defaults."""
    parts = split(load_rows(fit.dataset), fit.seed, fit.rare)
    estimator = prepared(MODELS[fit.model](fit.seed))
    with quiet(Warning):
        ours = BoundShiftClassifier(estimator).fit(*parts.train)
        return Deployed(
            y_train=parts.train.y,
            y_test=parts.test.y,
            deciding=ours.deciding_sample_.scores,
            deployed=ours.positive_scores(parts.test.X),
            scale="probability" if hasattr(ours, "predict_proba") else "raw",
        )


# Estimates of the error rates.


def _sizes(sample: ScoreSample) -> tuple[float, float]:
    return sample.negative.effective_n, sample.positive.effective_n


def blend(
    sample: ScoreSample,
    *,
    prior_rows: float = 10.0,
    one_weight: bool = False,
    fit: CalibrationFit = _smooth._fit,
) -> ErrorsAt:
    """Shrink smoothed error rates towards a logistic calibration, which `fit` computes."""
    with patch.object(_smooth, "_fit", fit):
        calibrated = Logistic().errors(sample)
    sizes = _sizes(sample)
    if one_weight:
        sizes = (min(sizes), min(sizes))
    return _smooth.shrunk(Smoothed().errors(sample), calibrated, sizes, prior_rows)


_fit_labels = _smooth._fit


def _fit_softened(x: FloatArray, counts: FloatArray) -> FloatArray:
    """Fit the calibration to Platt's targets instead of the labels."""
    negatives, positives = counts.sum(axis=1)
    target = (positives + 1) / (positives + 2)
    rest = 1 / (negatives + 2)
    return _fit_labels(x, np.array([[1 - rest, 1 - target], [rest, target]]) @ counts)


def _fit_with_prior(x: FloatArray, counts: FloatArray) -> FloatArray:
    """Average each probability of the calibration with the prevalence."""
    sizes = counts.sum(axis=1)
    weight = sizes.min() / (sizes.min() + 10)
    prevalence = sizes[1] / sizes.sum()
    return np.asarray(logit(weight * expit(_fit_labels(x, counts)) + (1 - weight) * prevalence))


def _shrink_rates(sample: ScoreSample) -> ErrorsAt:
    """Shrink each error rate of the blend towards one half."""
    errors = blend(sample)
    n = _sizes(sample)

    def at(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        negative, positive = errors(t)
        return (n[0] * negative + 0.5) / (n[0] + 1), (n[1] * positive + 0.5) / (n[1] + 1)

    return at


# Candidates.


@dataclass(frozen=True)
class Candidate:
    """An estimate of the error rates, and how the threshold follows from it.

    With at most `most_distinct` scores, some repeated, the threshold stands at the end of its gap
    on the side of the larger class, and else in the middle. With `n_resamples` it is the mean of
    the thresholds of so many stratified bootstrap samples.
    """

    estimate: Estimate
    most_distinct: float = 0
    n_resamples: int = 0

    def decide(self, sample: ScoreSample) -> dict[str, float]:
        """Return the threshold for each goal."""
        if not self.n_resamples:
            return self._decide_once(sample)
        random = np.random.default_rng(0)
        samples = [_resample(sample, random) for _ in range(self.n_resamples)]
        thresholds = [self._decide_once(each) for each in samples]
        return {goal: float(np.mean([each[goal] for each in thresholds])) for goal in RULES}

    def _decide_once(self, sample: ScoreSample) -> dict[str, float]:
        edges, places = _find_places(sample)
        errors = self.estimate(sample)(places)
        n_negative, n_positive = sample.n_samples
        has_end = len(sample.atoms) and len(edges) - 2 <= self.most_distinct
        thresholds = {}
        for goal, rule in RULES.items():
            low, high = _widest_minimum(rule.value(*errors, sample.n_samples), edges)
            if has_end and n_positive < n_negative:
                thresholds[goal] = low
            elif has_end and n_negative < n_positive:
                thresholds[goal] = float(np.nextafter(high, -np.inf))
            else:
                thresholds[goal] = max(low, min(low + (high - low) / 2, np.nextafter(high, low)))
        return thresholds


def _resample(sample: ScoreSample, random: np.random.Generator) -> ScoreSample:
    negative, positive = (
        Scores(np.sort(random.choice(scores.value, scores.n))) for scores in sample.classes
    )
    return replace(sample, negative=negative, positive=positive, given_atoms=sample.atoms)


def _find_places(sample: ScoreSample) -> tuple[FloatArray, FloatArray]:
    """Return thresholds to compare, and the edges of the stretches that they stand for."""
    if len(sample.atoms):
        gaps = Gaps.between(sample, smooth=True)
        return gaps.edges, gaps.places
    low, high = sample.extremes
    margin = sample.spread / 16 or abs(low) or 1.0
    scores = np.sort(np.concatenate([each.value for each in sample.classes]))
    middles = scores[:-1] + np.diff(scores) / 2
    places = np.union1d(np.linspace(low - margin, high + margin, _PLACES), middles)
    return np.concatenate([places[:1], places[:-1] + np.diff(places) / 2, places[-1:]]), places


def _widest_minimum(values: FloatArray, edges: FloatArray) -> tuple[float, float]:
    smallest = values.min()
    best = np.flatnonzero(values <= smallest + 1e-12 * max(abs(smallest), 1.0))
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    widest = max(runs, key=lambda run: edges[run[-1] + 1] - edges[run[0]])
    return float(edges[widest[0]]), float(edges[widest[-1] + 1])


DEFAULT = "two weights"
CANDIDATES: dict[str, Candidate] = {
    DEFAULT: Candidate(blend),
    "one weight": Candidate(partial(blend, one_weight=True)),
    "one weight, 20 rows": Candidate(partial(blend, one_weight=True, prior_rows=20.0)),
    "two weights, 20 rows": Candidate(partial(blend, prior_rows=20.0)),
    "logistic": Candidate(Logistic().errors),
    "softened labels": Candidate(partial(blend, fit=_fit_softened)),
    "shrunk rates": Candidate(_shrink_rates),
    "prevalence as a prior": Candidate(partial(blend, fit=_fit_with_prior)),
    "resamples": Candidate(blend, n_resamples=20),
    "end of the gap": Candidate(blend, most_distinct=np.inf),
    "end of the gap, few scores": Candidate(blend, most_distinct=10),
    "one weight, end of the gap": Candidate(partial(blend, one_weight=True), most_distinct=10),
    "one weight, softened labels": Candidate(partial(blend, one_weight=True, fit=_fit_softened)),
}
# The second split is for those that passed the test on the first one, or nearly did.
_JUDGED_AGAIN = [name for name in CANDIDATES if name == DEFAULT or name.startswith("one weight")]


# Facts and tables.


@dataclass(frozen=True)
class Row:
    """One candidate on one training: the value of one goal on the test rows."""

    dataset: str
    family: str
    model: str
    rare: int
    seed: int
    candidate: str
    goal: str
    value: float


def value_of(goal: str, specificity: float, recall: float, share: float) -> float:
    """Return the metric; of costs, 1 less the cost over that of the better constant decision."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(METRICS[goal](np.array(specificity), np.array(recall), share))
    if goal == "cost":
        return 1.0 + value / min(MISS * share, 1.0 - share)
    return float(np.nan_to_num(value))


def judge_fit(fit: Fit, family: str) -> list[Row]:
    """Train, or read what was trained before, and let every candidate decide for every goal."""
    scores = ScoreCache(CACHE, train_default).make(fit)
    share = float(scores.y_train.mean())
    is_positive = scores.y_test == 1
    given = ScoreSample.from_labels(scores.y_train, scores.deciding, symmetric=False)
    sample = given.on_scale(scores.scale)
    rows = []
    for name, candidate in CANDIDATES.items():
        if fit.seed and name not in _JUDGED_AGAIN:
            continue
        for goal, threshold in candidate.decide(sample).items():
            flagged = scores.deployed > sample.to_threshold(threshold)
            specificity = float(np.mean(~flagged[~is_positive]))
            recall = float(np.mean(flagged[is_positive]))
            value = value_of(goal, specificity, recall, share)
            rows.append(Row(fit.dataset, family, fit.model, fit.rare, fit.seed, name, goal, value))
    return rows


def collect(quick: bool) -> Facts:
    """Judge every training; the rows are means over the sets and models of a family."""
    families = datasets("choose")
    fits = fits_of(_QUICK, ["decision tree"], 1) if quick else fits_of(families, _MODELS, _SPLITS)
    judged = in_parallel(judge_fit, [(fit, families[fit.dataset]) for fit in fits], quick)
    rows = pd.DataFrame([row for part in judged for row in part])
    keys = ["seed", "rare", "goal", "candidate", "family"]
    blocks = rows.groupby([*keys, "model"])["value"].mean()
    means = blocks.groupby(level=keys).mean().round(6).reset_index()
    return {"trainings": len(fits), "rows": means.to_dict("records")}


def make_tables(facts: Facts) -> Tables:
    """Return the gains of every candidate over the default."""
    rows = pd.DataFrame(facts["rows"])
    wide = rows.pivot(index=["seed", "rare", "goal", "family"], columns="candidate", values="value")
    gains = wide.sub(wide[DEFAULT], axis=0)
    others = [name for name in CANDIDATES if name != DEFAULT]
    return {
        "few rare rows": _compare_few(gains, others),
        **{f"{goal} by rare rows": _by_regime(wide, gains, others, goal) for goal in RULES},
    }


def _compare(gains: pd.Series[float]) -> Paired:
    return compare(gains.to_numpy(), np.zeros(len(gains)), exact=True)


def _compare_few(gains: pd.DataFrame, names: list[str]) -> str:
    """Return the test of the rule of adoption; the second split confirms, without correction."""
    is_few = gains.index.get_level_values("rare").isin(_FEW)
    is_other_goal = gains.index.get_level_values("goal") != "g-mean"
    by_family = gains[is_few & is_other_goal].groupby(level=["seed", "family"]).mean()
    pairs = {name: _compare(by_family.loc[0, name]) for name in names}
    adjusted = holm({name: pair.p_value for name, pair in pairs.items()})
    lines: list[Line] = []
    for name, pair in pairs.items():
        line = [name, *_cells(pair), p_value(adjusted[name])]
        for _, of_split in by_family[name].drop(0, level="seed").groupby(level="seed"):
            line += _cells(_compare(of_split)) if of_split.notna().all() else ["", "", ""]
        lines.append(list(line))
    return table(" | ".join(_TITLES[: len(lines[0])]), lines)


def _cells(pair: Paired) -> list[str]:
    mean = f"{pair.difference.mean:+.4f}"
    return [mean, f"{pair.wins}, {pair.losses}", p_value(pair.p_value)]


def _by_regime(values: pd.DataFrame, gains: pd.DataFrame, names: list[str], goal: str) -> str:
    """Return the gains in one goal, with uncorrected p-values, in the mean of all splits."""
    level = values.xs(goal, level="goal")[DEFAULT].groupby(level="rare").mean()
    by_family = gains.xs(goal, level="goal").groupby(level=["rare", "family"]).mean()
    regimes = [rare for rare in REGIMES if rare in level.index]
    lines: list[Line] = [[f"{DEFAULT}: {goal}", *(f"{level[rare]:.3f}" for rare in regimes)]]
    for name in names:
        pairs = [_compare(by_family.loc[rare, name]) for rare in regimes]
        cells = [f"{pair.difference.mean:+.4f} ({p_value(pair.p_value)})" for pair in pairs]
        lines.append([name, *cells])
    return table(" | ".join(["gain (p)", *(REGIMES[rare] for rare in regimes)]), lines)


EXPERIMENT = Experiment(collect, make_tables, home="lab/docs/defaults.md", tidy=True)
