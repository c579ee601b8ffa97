"""Check intervals from few labels and many scores, and bounds for a cluster that is new.

Scores of each class are normal, so true rates are known. In clusters the label depends on a normal
effect of the cluster, and the score on another one; both are scaled so that the rates of all rows
are those of independent rows. Each cell is a tidy row: what is estimated, how labels were drawn,
coverage and mean width, and the mean width that the labels alone support.

PPI++ (Angelopoulos, Duchi and Zrnic 2023) is written here as in its paper, with a normal
approximation. Its predictions are the true probabilities, which no user has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom, norm

from boundshift import estimate_prevalence
from boundshift._guarantees.new_clusters import bound_new_cluster
from boundshift._guarantees.powered import FewLabels
from boundshift._typing import BoolArray, FloatArray
from boundshift.curves._clusters import bound_mean
from lab.claims.simulation import (
    all_pass,
    binomial_error,
    generator,
    mark_passes,
    true_rates,
)
from lab.experiment import Experiment, Facts, Tables, quiet, rows_in_parallel
from lab.markdown import Cell, columns, table

CONFIDENCE = 0.95
DRAWS = 2000
POOL = 2000
LABELS = (50, 200, 1000)
PREVALENCES = (0.01, 0.05, 0.2, 0.5)
# Useless scores and other designs are tried at fewer prevalences.
SHOWN = 0.2
RARE = 0.05
# Distance of the classes in standard deviations.
SCORES = {"good": 2.5, "useless": 0.0}
DESIGNS = ("at random", "clusters of 5", "flagged rows 3 times as often")
RATES = ("rate", "recall", "specificity", "precision", "npv", "flagged")
SIZE = 5
BETWEEN = 0.4
# A tenth of the negative rows is flagged.
THRESHOLD = float(norm.isf(0.1))
MOST_WIDER = 1.01
SHIFTS = ((200, 0.15, 0.05), (200, 0.15, 0.3), (1000, 0.1, 0.02))
NEW_ROWS = 1000
NEW_CLUSTERS = (20, 60, 200)
ROWS_PER_CLUSTER = (20, 200)
# Standard deviation between clusters of the log-odds of an error.
SPREADS = (1.0,)
ERROR = 0.1


@dataclass
class Tally:
    """How often an interval held the truth, and the sums of widths."""

    covered: int = 0
    width: float = 0.0
    alone: float = 0.0

    def add(self, interval: tuple[float, float], truth: float, alone: float) -> None:
        """Count an interval, and the width of another one."""
        self.covered += bool(interval[0] <= truth <= interval[1])
        self.width += interval[1] - interval[0]
        self.alone += alone

    def row(self, draws: int, **cell: object) -> Facts:
        """Return a tidy row; it is no failure to cover more often than stated."""
        return cell | {
            "draws": draws,
            "coverage": self.covered / draws,
            "p_value": float(binom.cdf(self.covered, draws, CONFIDENCE)),
            "width": self.width / draws,
            "width_alone": self.alone / draws,
        }


def draw(
    rng: np.random.Generator, n: int, prevalence: float, distance: float, clustered: bool = False
) -> tuple[BoolArray, FloatArray]:
    """Draw labels, and scores that are normal in each class."""
    if not clustered:
        y = rng.random(n) < prevalence
        return y, rng.normal(size=n) + distance * y
    effects = rng.normal(size=(2, n // SIZE)).repeat(SIZE, axis=1) * BETWEEN**0.5
    own = rng.normal(size=(2, n)) * (1.0 - BETWEEN) ** 0.5
    latent, noise = effects + own
    y = latent < norm.ppf(prevalence)
    return y, noise + distance * y


def ppi_plus_plus(y: BoolArray, f: FloatArray, other: FloatArray) -> tuple[float, float]:
    """Return the interval of a mean by predictions of the labelled and of the other rows."""
    n = len(y)
    n_other = len(other)
    variance = float(np.var(np.append(f, other)))
    power = float(np.cov(y, f, ddof=0)[0, 1]) / (variance * (1.0 + n / n_other)) if variance else 0
    power = min(max(power, 0.0), 1.0)
    mean = power * other.mean() + np.mean(y - power * f)
    squared = np.var(y - power * f, ddof=1) / n + power**2 * np.var(other, ddof=1) / n_other
    half = float(norm.ppf((1.0 + CONFIDENCE) / 2.0)) * squared**0.5
    return float(mean - half), float(mean + half)


def judge_rates(
    design: str, labels: int, prevalence: float, scores: str, draws: int
) -> list[Facts]:
    """Return a row for each rate of a decision, and one for PPI++."""
    distance = SCORES[scores]
    miss = float(norm.cdf(THRESHOLD - distance))
    truth = true_rates(float(norm.sf(THRESHOLD)), miss, prevalence) | {"rate": prevalence}
    tallies = {name: Tally() for name in (*RATES, "PPI++")}
    for i in range(draws):
        rng = generator("few labels", design, labels, prevalence, scores, i)
        y, s = draw(rng, POOL, prevalence, distance, design == DESIGNS[1])
        is_labelled = np.arange(POOL) < labels
        is_other = ~is_labelled
        options: dict[str, Any] = dict.fromkeys(("probability", "cluster", "unlabelled_cluster"))
        if design == DESIGNS[1]:
            cluster = np.arange(POOL) // SIZE
            options |= {"cluster": cluster[is_labelled], "unlabelled_cluster": cluster[is_other]}
        if design == DESIGNS[2]:
            odds = np.where(s > THRESHOLD, 3.0, 1.0)
            probability = np.minimum(odds * labels / (POOL * (1.0 + 2.0 * truth["flagged"])), 1.0)
            is_labelled = rng.random(POOL) < probability
            is_other = np.ones(POOL, dtype=np.bool_)
            options["probability"] = probability[is_labelled]
        with quiet():
            rows = FewLabels.of(y[is_labelled], s[is_labelled], s[is_other], CONFIDENCE, **options)
        flagged = np.append(s[is_labelled], s[is_other]) > THRESHOLD
        for name in RATES:
            found = rows.estimate(name, flagged)
            low, high = found.labels_alone
            tallies[name].add(found.interval, truth[name], high - low)
        if design == DESIGNS[0]:
            odds_of_row = logit(prevalence) + distance * (s - distance / 2.0)
            f = expit(odds_of_row)
            low, high = rows.estimate("rate", flagged).labels_alone
            interval = ppi_plus_plus(y[is_labelled], f[is_labelled], f[is_other])
            tallies["PPI++"].add(interval, prevalence, high - low)
    cell = {"part": "rates", "design": design, "labels": labels, "prevalence": prevalence}
    return [
        tally.row(draws, **cell, scores=scores, what=name)
        for name, tally in tallies.items()
        if name != "PPI++" or design == DESIGNS[0]
    ]


def judge_shift(labels: int, known: float, new: float, scores: str, draws: int) -> list[Facts]:
    """Return a row of the shifted prevalence; its other width is that of the delta method."""
    distance = SCORES[scores]
    recall = float(norm.sf(THRESHOLD - distance))
    false = float(norm.sf(THRESHOLD))
    flagged = new * recall + (1.0 - new) * false
    positive = labels * known
    variance = flagged * (1.0 - flagged) / NEW_ROWS + new**2 * recall * (1.0 - recall) / positive
    variance += (1.0 - new) ** 2 * false * (1.0 - false) / (labels - positive)
    delta_width = 2.0 * float(norm.ppf((1.0 + CONFIDENCE) / 2.0)) * variance**0.5
    tally = Tally()
    warned = 0
    for i in range(draws):
        rng = generator("shift", labels, known, new, scores, i)
        y, s = draw(rng, labels, known, distance)
        _, later = draw(rng, NEW_ROWS, new, distance)
        with quiet():
            found = estimate_prevalence(y, s, later)
        warned += not found.explained
        tally.add(found.interval, new, delta_width / (recall - false))
    cell = {"part": "shift", "labels": labels, "known": known, "prevalence": new}
    return [tally.row(draws, **cell, scores=scores, warned=warned / draws)]


def judge_new_clusters(clusters: int, rows: int, spread: float, draws: int) -> list[Facts]:
    """Return how often a new cluster keeps its bound; the other bound is that of the average."""
    own = Tally()
    average = Tally()
    for i in range(draws):
        rng = generator("new clusters", clusters, rows, spread, i)
        rates = expit(logit(ERROR) + spread * rng.normal(size=clusters + 1))
        wrong = rng.binomial(rows, rates[:-1])
        n = np.full(clusters, rows)
        of_average = bound_mean(wrong / rows, 1.0 - CONFIDENCE)
        own.add((0.0, bound_new_cluster(wrong, n, 1.0 - CONFIDENCE)), rates[-1], of_average)
        average.add((0.0, of_average), rates[-1], 0.0)
    cell = {"part": "new clusters", "clusters": clusters, "rows": rows, "spread": spread}
    kept_by_average = average.covered / draws
    return [own.row(draws, **cell, coverage_of_average=kept_by_average)]


def collect(quick: bool) -> Facts:
    draws = 20 if quick else DRAWS
    few = LABELS[1:2] if quick else LABELS
    prevalences = PREVALENCES[2:3] if quick else PREVALENCES
    jobs = [
        (design, labels, prevalence, scores, draws)
        for design in DESIGNS
        for labels in few
        for prevalence in prevalences
        for scores in SCORES
        if prevalence == SHOWN
        or (design == DESIGNS[0] and (scores == "good" or prevalence == RARE))
    ]
    rows = rows_in_parallel(judge_rates, jobs, quick)
    shifts = [(*shift, "good", draws) for shift in SHIFTS]
    rows += rows_in_parallel(judge_shift, shifts[:1] if quick else shifts, quick)
    clusters = [
        (m, n, spread, draws) for m in NEW_CLUSTERS for n in ROWS_PER_CLUSTER for spread in SPREADS
    ]
    rows += rows_in_parallel(judge_new_clusters, clusters[:2] if quick else clusters, quick)
    own = [row for row in rows if row.get("what") != "PPI++"]
    mark_passes(own)
    for row in own:
        if row["part"] == "rates" and not quick:
            row["passes"] &= row["width"] <= MOST_WIDER * row["width_alone"]
    return {"draws": draws, "rows": rows}


def is_met(facts: Facts) -> bool:
    return all_pass(facts["rows"])


def _tabulate_rates(rows: list[Facts]) -> str:
    """One line for each design, kind of score and rate, over prevalences and numbers of labels."""
    lines: list[list[Cell]] = []
    for design in DESIGNS:
        for scores in SCORES:
            for name in RATES:
                mine = [
                    row
                    for row in rows
                    if (row["design"], row["scores"], row["what"]) == (design, scores, name)
                ]
                ratios = [row["width"] / row["width_alone"] for row in mine]
                worst = min(row["coverage"] for row in mine)
                widths = f"{min(ratios):.2f} to {max(ratios):.2f}"
                lines.append([design, scores, name, worst, widths, all_pass(mine)])
    head = "labels drawn | scores | rate | least coverage | width / labels alone | passes"
    return table(head, lines)


def _tabulate_widths(rows: list[Facts]) -> str:
    """Widths at random labels and good scores beside PPI++, by labels and prevalence."""
    cells = {
        (row["labels"], row["prevalence"], row["what"]): row
        for row in rows
        if row["design"] == DESIGNS[0] and row["scores"] == "good"
    }
    lines: list[list[Cell]] = []
    for labels, prevalence in dict.fromkeys(key[:2] for key in cells):
        rate = cells[labels, prevalence, "rate"]
        other = cells[labels, prevalence, "PPI++"]
        widths = [rate["width_alone"], rate["width"], other["width"]]
        lines.append([labels, f"{prevalence:g}", *widths, rate["coverage"], other["coverage"]])
    head = (
        "labels | prevalence | width, labels alone | width, boundshift | width, PPI++ | "
        "coverage, boundshift | coverage, PPI++"
    )
    return table(head, lines)


def tables(facts: Facts) -> Tables:
    parts: dict[str, list[Facts]] = {}
    for row in facts["rows"]:
        parts.setdefault(row["part"], []).append(row)
    error = binomial_error(CONFIDENCE, facts["draws"])
    return {
        "error": f"The standard error of a coverage is {error:.4f}.",
        "widths": _tabulate_widths(parts["rates"]),
        "rates": _tabulate_rates(parts["rates"]),
        "shift": columns(
            parts["shift"],
            {
                "labels": "labels",
                "their prevalence": lambda row: f"{row['known']:g}",
                "new prevalence": lambda row: f"{row['prevalence']:g}",
                "scores": "scores",
                "coverage": "coverage",
                "width": "width",
                "width, delta method": "width_alone",
                "warned": "warned",
                "passes": "passes",
            },
        ),
        "clusters": columns(
            parts["new clusters"],
            {
                "clusters": "clusters",
                "rows in each": "rows",
                "spread": lambda row: f"{row['spread']:g}",
                "kept by a new cluster": "coverage",
                "mean bound": "width",
                "average bound kept by a new cluster": "coverage_of_average",
                "mean average bound": "width_alone",
                "passes": "passes",
            },
        ),
    }


EXPERIMENT = Experiment(collect, tables, is_met)
