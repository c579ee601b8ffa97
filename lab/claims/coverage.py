"""Check by simulation that what is claimed holds as often as it says.

The goal is missed if a claimed bound covers less often than its confidence, beyond two Monte-Carlo
standard errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy
from scipy.stats import binom

from boundshift.curves import DKW
from boundshift.curves.uniform import clopper_pearson, uniform_bound
from lab import markdown
from lab.claims import bounds
from lab.claims.simulation import SHAPES, binomial_error
from lab.experiment import Experiment, Facts, in_parallel
from lab.markdown import table

ROWS = (5, 10, 20, 50, 100, 300, 1000)
KINDS = ("logistic", "svm", "boosting", "forest")
AVERAGED = 5000
WIDTHS = (20, 100, 400, 1000, 2000)


def collect(quick: bool) -> Facts:
    shapes = ("normal", "skewed") if quick else tuple(SHAPES)
    rows, runs = ((5, 20), 25) if quick else (ROWS, 2000)
    default_rows = (20,) if quick else (5, 20, 100)
    kinds, model_runs, estimate_runs = (("svm",), 5, 10) if quick else (KINDS, 40, 100)
    places = [(shape, n) for shape in shapes for n in rows]

    def flat(function: Any, jobs: Any) -> list[dict[str, Any]]:
        return [row for part in in_parallel(function, jobs, quick) for row in part]

    return {
        "rows": rows,
        "runs": runs,
        "cells": flat(call, bounds.jobs(shapes, rows, runs, default_rows)),
        "average": [c for p in places for c in bounds.on_average(*p, AVERAGED)],
        "models": flat(bounds.model_scores, [(k, model_runs) for k in kinds]),
        "estimates": flat(bounds.estimates, [(*p, estimate_runs) for p in places]),
        "widths": widths((20, 100) if quick else WIDTHS),
        "misses": misses_allowed(),
    }


def call(function: Any, arguments: Any) -> Any:
    return function(*arguments)


def widths(rows: tuple[int, ...], delta: float = 0.05) -> list[dict[str, Any]]:
    """Compare bounds for every boundary at once: the band here, the exact one, and simpler ones."""
    found = []
    for n in rows:
        level = bounds.exact_level(n, delta)
        every = np.arange(n)
        ratio = np.max(uniform_bound(every, n, delta) / clopper_pearson(every, n, level))
        for k in (0, n // 20, n // 5):
            union = float(clopper_pearson(k, n, delta / (n + 1)))
            split = float(clopper_pearson(k, n, delta / (2 * (n + 1))))
            half = k / n + float(np.sqrt(np.log(2 / delta) / (2 * n)))
            found_bounds = {
                "band": float(uniform_bound(k, n, delta)),
                "exact": float(clopper_pearson(k, n, level)),
                "most_times_exact": float(ratio),
                "smaller_of_two": min(split, half),
                "union": union,
                "dkw": float(DKW(1 - delta).bound(k, n)),
                "fixed": float(clopper_pearson(k, n, delta)),
            }
            found.append({"rows": n, "wrong": k} | found_bounds)
    return found


def hoeffding_bentkus(wrong: Any, n: int, allowed: float) -> Any:
    """Return the p-value of an error rate above `allowed`, of rows that are right or wrong."""
    share = np.asarray(wrong) / n
    entropy = xlogy(share, share / allowed) + xlogy(1 - share, (1 - share) / (1 - allowed))
    return np.minimum(np.exp(-n * entropy), binom.cdf(wrong, n, allowed))


def misses_allowed(floor: float = 0.9, delta: float = 0.05) -> list[dict[str, Any]]:
    """Count the positive rows that a recall floor lets be missed, by ours and by others' rules."""
    allowed = 1.0 - floor
    found = []
    for n in (30, 59, 100, 300, 1000, 2000):
        k = np.arange(n + 1)
        p_values = {
            "ours": np.where(clopper_pearson(k, n, delta) <= allowed, 0.0, 1.0),
            # The umbrella algorithm: an order statistic whose violation rate is at most delta.
            "nproc": binom.cdf(k, n, allowed),
            # Hoeffding's and Bentkus's p-value, of one threshold and of one among a hundred.
            "mapie": hoeffding_bentkus(k, n, allowed),
        }
        p_values["mapie_hundred"] = 100 * p_values["mapie"]
        below = k <= allowed * n
        most = {name: int(np.sum((p <= delta) & below)) - 1 for name, p in p_values.items()}
        shown: dict[str, Any] = {name: "–" if m < 0 else m for name, m in most.items()}
        found.append({"rows": n} | shown)
    return found


def is_met(facts: Facts) -> bool:
    """Say whether every claimed cell passes, and the band is about as narrow as can be."""
    judged = [c for c in [*facts["cells"], *facts["models"]] if c["claimed"]]
    is_narrow = all(c["most_times_exact"] <= 1.02 for c in facts["widths"])
    return is_narrow and all(c["passes"] for c in [*judged, *facts["average"]])


def page(facts: Facts) -> str:
    claimed = [c for c in facts["cells"] if c["claimed"]]
    others = [c for c in facts["cells"] if not c["claimed"]]
    failed = sum(not c["passes"] for c in claimed)
    worst = max(c["most_times_exact"] for c in facts["widths"])
    average = facts["average"]
    largest = max(abs(c["mean_error"] / c["claim"] - 1) for c in average)
    misses_head = "positive rows | here | nproc | MAPIE, fixed order | MAPIE, 100 thresholds"
    return markdown.page(f"""
        # Coverage

        Share of samples in which the true error rate is at most the bound. For bounds of one
        boundary fixed before and of every boundary at once it is the least share for any
        distribution of scores, and computed. Elsewhere it is that of {facts["runs"]:,} simulated
        samples, with a Monte-Carlo standard error of {binomial_error(0.95, facts["runs"]):.3f} at
        95% and {binomial_error(0.9, facts["runs"]):.3f} at 90%. A cell passes if it is not more
        than two such errors below the confidence, none where it is computed; a cell marked ✗ does
        not.

        **{len(claimed) - failed} of {len(claimed)} claimed cells pass.** Columns are rows of the
        class; for boundaries fixed before, the worst of all error rates is shown.

        {coverage_table(claimed, facts["rows"])}

        ## Not claimed: a boundary chosen on the same scores, not paid for

        {coverage_table(others, facts["rows"])}

        ## Width of bounds for every boundary at once

        Bounds at 95% of the error rate with some of n rows on the wrong side. *Band*: what
        `certify(chosen_here=True)` uses up to 2,000 rows. *Exact*: the band of equal local levels
        by a recursion that the package does not have, a walk of binomial steps; *at most*: the
        greatest ratio of both, over all counts of wrong rows, for which 1.02 is the goal and
        {worst:.4f} the worst. *Smaller of two*: what is used beyond 2,000 rows, DKW and the union
        bound, each at half the risk. The last column is what a boundary fixed before has.

        {width_table(facts["widths"])}

        ## What a promised floor costs

        Of n positive rows, how many the boundary may miss while a recall of 0.9 is promised at
        95%; more is better, – promises nothing. *nproc*: the order statistic of the umbrella
        algorithm in R's package. *MAPIE*: the p-value of Hoeffding and Bentkus that its
        BinaryClassificationController uses, for thresholds tested in a fixed order, and for one
        hundred thresholds by Bonferroni. Both are computed from their published formulas; a test
        holds the second against MAPIE's own.

        {table(misses_head, [list(row.values()) for row in facts["misses"]])}

        ## On average: the k-th point

        The mean of the true error beyond the k-th point is (k + 1)/(n + 1), whatever the shape:
        {sum(c["passes"] for c in average)} of {len(average)} means agree within 3.5 standard
        errors; the largest relative difference is {largest:.1%}.

        ## Where the scores come from

        Certificates at 95% of models trained on {sum(bounds.ROWS)} rows, {bounds.ROWS[1]} of them
        positive, {facts["models"][0]["replications"]} times; truth from {bounds.FRESH:,} fresh
        rows of each class. Only the word certified makes a claim of the deployed model; the
        others do not, and this is why.

        {model_table(facts["models"])}

        ## Curves that estimate

        They claim no confidence. Mean claim where the true error is 0.1, and in brackets the
        share of samples in which the claim was not too small.

        {estimate_table(facts["estimates"], facts["rows"])}""")


def coverage_table(cells: list[dict[str, Any]], rows: tuple[int, ...]) -> str:
    """Lay cells out with one column for each number of rows."""
    lines: dict[tuple[Any, ...], dict[int, str]] = {}
    for c in sorted(cells, key=lambda c: c["claim"]):
        key = (c["claim"], c["shape"], f"{c['confidence']:.0%}")
        mark = "" if c["passes"] else " ✗"
        lines.setdefault(key, {})[c["rows"]] = f"{c['coverage']:.3f}{mark}"
    body = [[*key, *(line.get(n, "–") for n in rows)] for key, line in lines.items()]
    return table(" | ".join(["claim", "shape", "at", *map(str, rows)]), body)


def width_table(cells: list[dict[str, Any]]) -> str:
    columns = ("band", "exact", "most_times_exact", "smaller_of_two", "union", "dkw", "fixed")
    body = [[c["rows"], c["wrong"], *(f"{c[name]:.4f}" for name in columns)] for c in cells]
    head = "rows | wrong | band | exact | at most | smaller of two | union | DKW | fixed before"
    return table(head, body)


def model_table(cells: list[dict[str, Any]]) -> str:
    kinds = list(dict.fromkeys(c["shape"] for c in cells))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for c in cells:
        mark = "" if c["passes"] else " ✗"
        line = lines.setdefault((c["claim"], c["word"], c["class"]), {})
        line[c["shape"]] = f"{c['coverage']:.3f}{mark}"
    body = [[*key, *(line[kind] for kind in kinds)] for key, line in lines.items()]
    return table(" | ".join(["scores", "word", "class", *kinds]), body)


def estimate_table(cells: list[dict[str, Any]], rows: tuple[int, ...]) -> str:
    lines: dict[tuple[str, str], dict[int, str]] = {}
    for c in cells:
        line = lines.setdefault((c["curve"], c["shape"]), {})
        line[c["rows"]] = f"{c['mean_claim']:.3f} ({c['not_too_small']:.2f})"
    body = [[*key, *(line[n] for n in rows)] for key, line in sorted(lines.items())]
    return table(" | ".join(["curve", "shape", *map(str, rows)]), body)


EXPERIMENT = Experiment(collect, page, is_met)
