"""Check guarantees for rows that are no plain random sample.

Clusters, unequal draws, labels one by one, and batches that are sorted by error.

Scores of the positive class are normal, so the true miss rate at a threshold is known. In clusters
each score is the sum of a normal effect of the cluster and of normal noise; averaged over clusters
it is standard normal whatever the sizes, also if the clusters with high scores are the large ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from boundshift import Monitor, certify, find_zone
from boundshift._guarantees.certificate import certify_counts
from boundshift._guarantees.draws import SHARES
from boundshift._typing import FloatArray, IndexArray
from boundshift.curves._clusters import EDGES, choose_bets, cluster_means, refutes
from boundshift.curves._uniform import clopper_pearson
from lab.claims.simulation import all_pass, generator, mark_passes, p_value_of_broken
from lab.experiment import Experiment, Facts, Tables, in_parallel
from lab.markdown import Column, columns

DELTA = 0.05
DRAWS = 2000
CLUSTERS = 100
DRAWN = 300
POOL = 3000
SHOWN = 20
RATES = (0.01, 0.1, 0.5)
# Sizes of clusters, and the share of the variance between them.
KINDS = (
    ("one row each", 0.0),
    ("1 to 50 rows", 0.0),
    ("1 to 50 rows", 0.3),
    ("1 to 50 rows", 1.0),
    ("50 rows if high, else 1", 0.3),
    ("50 rows if high, else 1", 1.0),
)
DESIGNS = ("1 near the threshold, else 0.1", "rising with the score")
FLOORS = (0.5, 0.9, 0.98)
SORTED = ((1, 0.0), (10, 0.5))


def draw_clusters(
    kind: str, between: float, rng: np.random.Generator
) -> tuple[IndexArray, FloatArray]:
    effect = rng.normal(size=CLUSTERS) * between**0.5
    sizes = {
        "one row each": np.ones(CLUSTERS, dtype=np.intp),
        "1 to 50 rows": rng.integers(1, 51, CLUSTERS),
    }.get(kind, np.where(effect > 0, 50, 1))
    ids = np.repeat(np.arange(CLUSTERS), sizes)
    return ids, effect[ids] + rng.normal(size=len(ids)) * (1 - between) ** 0.5


def judge_clusters(guarantee: str, kind: str, between: float, rate: float, draws: int) -> Facts:
    """Return how often a bound, or a limit, of clusters fails, and one of single rows.

    A bound below the rate has refuted it; a limit too far has passed the test at the true limit.
    So it is counted how often the rate is refuted at its own threshold. Public functions show the
    mean bound, or the miss rate at the limit, on the first draws.
    """
    broken = np.zeros(2)
    shown = []
    threshold = float(norm.ppf(rate))
    mean = max(edge for edge in EDGES if edge <= rate) if guarantee == "certify" else rate
    bets = choose_bets(mean, CLUSTERS, DELTA)
    for draw in range(draws):
        ids, s = draw_clusters(kind, between, generator(guarantee, kind, between, rate, draw))
        is_wrong = s <= threshold
        broken[0] += refutes(cluster_means(is_wrong, ids), rate, bets)
        broken[1] += clopper_pearson(is_wrong.sum(), len(s), DELTA) < rate
        if draw < SHOWN and guarantee == "certify":
            found = certify(np.ones(len(s)), s, threshold, cluster=ids)
            shown.append(found.error_bounds[1])
        elif draw < SHOWN:
            shown.append(float(norm.cdf(find_zone(np.ones(len(s)), s, rate, cluster=ids).low)))
    where = f"{kind}, {between:g} of the variance between"
    return _cell(guarantee, where, rate, draws, broken, float(np.mean(shown)))


def judge_drawn(design: str, rate: float, draws: int) -> Facts:
    """Return how often a bound of rows drawn with unequal probabilities fails, and a plain one."""
    broken = np.zeros(2)
    shown = []
    t = float(norm.ppf(rate))
    bets = choose_bets(max(edge for edge in EDGES if edge <= rate), DRAWN, DELTA)
    for draw in range(draws):
        rng = generator("drawn", design, rate, draw)
        pool = rng.normal(size=20 * DRAWN)
        near = np.abs(pool - t) < 0.5
        rising = np.clip(norm.cdf(pool - t), 0.1, 1.0)
        p = np.where(near, 1.0, 0.1) if design == DESIGNS[0] else rising
        chosen = np.flatnonzero(rng.random(len(pool)) < p)[:DRAWN]
        s = pool[chosen]
        p = p[chosen]
        broken[0] += refutes((s <= t).astype(float), rate, bets, 0.1 / p)
        broken[1] += clopper_pearson(np.sum(s <= t), len(s), DELTA) < rate
        if draw < SHOWN:
            found = certify(np.ones(len(s)), s, t, probability=p, least_probability=0.1)
            shown.append(found.error_bounds[1])
    return _cell("certify, drawn", design, rate, draws, broken, float(np.mean(shown)))


def judge_sides(rate: float, draws: int) -> Facts:
    """Return how often a bound fails where rows predicted negative are drawn less often."""
    broken = np.zeros(2)
    shown = []
    share = 0.1 * rate / (0.1 * rate + 1 - rate)
    for draw in range(draws):
        wrong = int(generator("sides", rate, draw).binomial(DRAWN, share))
        s = np.repeat([0.0, 1.0], [wrong, DRAWN - wrong])
        bound = certify(np.ones(DRAWN), s, 0.5, probability=(0.1, 1.0)).error_bounds[1]
        broken += bound < rate, float(clopper_pearson(wrong, DRAWN, DELTA)) < rate
        shown.append(bound)
    where = "0.1 if predicted negative, else 1"
    return _cell("certify, drawn", where, rate, draws, broken, float(np.mean(shown)))


def judge_sorted(size: int, correlation: float, rate: float, draws: int) -> Facts:
    """Return how often ten batches at the bound, sorted by error, raise a false alarm.

    Rows that count one after the other are those of the first draws with their places as dates.
    """
    broken = np.zeros(2)
    n = 60
    certificate = certify_counts((30, 30), (300, 300), (0, 1), threshold=0.5)
    certificate = replace(certificate, error_bounds=(rate, rate))
    of_clusters = replace(certificate, method="betting", n_clusters=(300, 300))
    rest = (1 - correlation) / correlation if correlation else 1e9
    for draw in range(draws):
        rng = generator("sorted", size, correlation, rate, draw)
        together = Monitor(of_clusters)
        apart = Monitor(certificate)
        for batch in range(10):
            rates = rng.beta(rest * rate, rest * (1 - rate), (n, 1))
            wrong = rng.random((n, size)) < rates
            wrong = wrong[np.argsort(wrong.mean(axis=1))].ravel()
            rows = (np.zeros(n * size), np.where(wrong, 1.0, 0.0))
            together.update(*rows, cluster=np.repeat(np.arange(n), size))
            if draw < SHOWN:
                apart.update(*rows, when=batch + np.arange(n * size) / (n * size))
        broken += bool(together.alarms), bool(apart.alarms) * draws / min(draws, SHOWN)
    where = f"clusters of {size}, intra-cluster correlation {correlation:g}"
    return _cell("Monitor", where if size > 1 else "single rows", rate, draws, broken, 0.0)


def judge_audit(floor: float, gain: float, most: int) -> Facts:
    """Return the probability of a wrong verdict about a population within so many labels.

    It is summed over all paths, by the formula of `Audit`. A true rate at the floor is worst. With
    a gain the share kept is above it.
    """
    right = floor + gain * (1 - floor)
    odds = (1 - floor) / floor
    # The logarithms of the factors for a wrong row and for a right one, for the floor and against.
    gains = (
        (np.log1p(-SHARES), np.log1p(SHARES * odds)),
        (np.log1p(SHARES / odds), np.log1p(-SHARES)),
    )
    open_ = np.array([1.0])
    ended = np.zeros(2)
    labels = 0.0
    for n in range(1, most + 1):
        labels += open_.sum()
        open_ = np.append(open_ * right, 0.0) + np.append(0.0, open_ * (1 - right))
        wrong = np.flatnonzero(open_)[:, None]
        for verdict, (if_wrong, if_right) in enumerate(gains):
            evidence = logsumexp(wrong * if_wrong + (n - wrong) * if_right, axis=1)
            hit = wrong[evidence >= np.log(len(SHARES) / DELTA), 0]
            ended[verdict] += open_[hit].sum()
            open_[hit] = 0.0
    mistaken = float(ended[1 if gain else 0])
    facts = {"guarantee": "Audit", "where": f"{right:g}, floor {floor:g}", "broken": mistaken}
    return facts | {"certified": float(ended[0]), "shown": labels, "passes": mistaken <= DELTA}


def _cell(
    guarantee: str, where: str, rate: float, draws: int, broken: FloatArray, shown: float
) -> Facts:
    plain = float(broken[1] / draws)
    p_value = p_value_of_broken(int(broken[0]), draws)
    shares = {"broken": float(broken[0] / draws), "plain": plain, "p_value": p_value}
    return {"guarantee": guarantee, "where": where, "rate": rate, "shown": float(shown)} | shares


def collect(quick: bool) -> Facts:
    draws = 20 if quick else DRAWS
    clusters = [
        (guarantee, *kind, rate, draws)
        for guarantee, rates in (("certify", RATES), ("find_zone", RATES[1:]))
        for kind in KINDS
        for rate in rates
    ]
    drawn = [(design, rate, draws) for design in DESIGNS for rate in RATES]
    audits = [(floor, gain, 100 if quick else POOL) for floor in FLOORS for gain in (0.0, 0.5)]
    cells = in_parallel(judge_clusters, clusters, quick)
    cells += in_parallel(judge_drawn, drawn, quick)
    cells += in_parallel(judge_sides, [(rate, draws) for rate in RATES], quick)
    batches = [(*kind, rate, draws) for kind in SORTED for rate in RATES[1:]]
    cells += in_parallel(judge_sorted, batches, quick)
    mark_passes(cells)
    cells += in_parallel(judge_audit, audits, quick)
    return {"draws": draws, "cells": cells}


def is_met(facts: Facts) -> bool:
    return all_pass(facts["cells"])


_PLACES = {"certify": "clusters", "find_zone": "clusters", "certify, drawn": "drawn"}


def tables(facts: Facts) -> Tables:
    cells: dict[str, list[Facts]] = {}
    for cell in facts["cells"]:
        cells.setdefault(_PLACES.get(cell["guarantee"], cell["guarantee"]), []).append(cell)
    rate: dict[str, Column] = {"rate": lambda cell: f"{cell['rate']:g}"}

    def kept(cell: Facts) -> float:
        return float(1 - cell["broken"])

    def kept_plainly(cell: Facts) -> float:
        return float(1 - cell["plain"])

    return {
        "clusters": columns(
            cells["clusters"],
            {
                "guarantee": "guarantee",
                "clusters": "where",
                **rate,
                "kept": kept,
                "kept without ids": kept_plainly,
                "mean bound or miss rate": "shown",
                "passes": "passes",
            },
        ),
        "drawn": columns(
            cells["drawn"],
            {
                "probability of being drawn": "where",
                **rate,
                "kept": kept,
                "kept without it": kept_plainly,
                "mean bound": "shown",
                "passes": "passes",
            },
        ),
        "sorted": columns(
            cells["Monitor"],
            {
                "rows": "where",
                "bound": rate["rate"],
                "no alarm": kept,
                "no alarm, one row after the other": kept_plainly,
                "passes": "passes",
            },
        ),
        "audit": columns(
            cells["Audit"],
            {
                "true rate": "where",
                "no wrong verdict": kept,
                "certified": "certified",
                "labels on average": lambda cell: f"{cell['shown']:.0f}",
                "passes": "passes",
            },
        ),
    }


EXPERIMENT = Experiment(collect, tables, is_met)
