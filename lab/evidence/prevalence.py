"""Whether following an estimated prevalence pays, with a guard and without, on real data.

Usage: ``python -m lab.evidence.prevalence [--quick] [--out DIR]``. Needs the extra ``data``.

A miss costs ten false alarms. A logistic model is trained on a third of each set and scores the
rest; one half of that is labelled, the other half is new. Positives are as frequent there as in
training, or their odds are four times as high or a quarter: negatives or positives are drawn out
at random. The threshold is that of the cost rule, at the labelled rows' prevalence, at the
estimated one, or at what the guard returns. Costs are those of all the new rows' error rates, also
of those drawn out, at the new prevalence.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from boundshift import Cost, estimate_prevalence, find_boundary, guard_prevalence
from boundshift.datasets import fetch_common, list_common
from lab.evidence.claims import generator
from lab.evidence.evidence import Facts, in_parallel, memory, run, table
from lab.evidence.models import MODELS, Halves
from lab.harness.quiet import quiet
from lab.harness.training import fit_quietly

COSTS = (1.0, 10.0)
SETS, SEEDS = 30, 4
LEAST_MINORITY, MOST_ROWS = 50, 6000
SHIFTS = {"none": 1.0, "odds times four": 4.0, "odds by four": 0.25}
LEVELS = (0.01, 0.05)
DEFAULT = 1
GUARDED = tuple(f"guard at {level:g}" for level in LEVELS)
WAYS = ("always", *GUARDED, "the truth")
# A change of cost on average that counts as none.
TOLERANCE = 0.005


def chosen_sets() -> list[str]:
    """Return sets with enough positives to be parted in three, evenly out of the list."""
    entries = list_common("binary", min_imbalance=3.0, min_minority=LEAST_MINORITY)
    places = np.linspace(0, len(entries) - 1, min(SETS, len(entries))).round().astype(int)
    return [entries[place].name for place in np.unique(places)]


@memory.cache  # type: ignore[untyped-decorator]
def score(name: str, seed: int) -> Halves:
    """Train a model on a third of a set, and score labelled and new rows by it."""
    X, y = fetch_common(name, return_X_y=True)
    if len(y) > MOST_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=seed)
    X, X_rest, y, y_rest = train_test_split(X, y, test_size=2 / 3, stratify=y, random_state=seed)
    model = fit_quietly(MODELS["logistic"](), X, y)
    scores = model.decision_function(X_rest)
    y_known, y_new, known, new = train_test_split(
        y_rest, scores, test_size=0.5, stratify=y_rest, random_state=seed
    )
    return Halves(y_known, known, y_new, new, "margin")


def drawn(halves: Halves, factor: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return new rows with positives more or less frequent, by the odds."""
    thinned = 0 if factor > 1 else 1
    rows = np.flatnonzero(halves.fresh_y == thinned)
    kept = rng.choice(rows, max(1, round(len(rows) * min(factor, 1 / factor))), replace=False)
    return np.sort(np.append(kept, np.flatnonzero(halves.fresh_y != thinned)))


def examine(name: str, seed: int) -> list[dict[str, Any]]:
    """Return what following the prevalence costs in one split of one set."""
    halves = score(name, seed)
    rows = []
    for shift, factor in SHIFTS.items():
        new = drawn(halves, factor, generator("prevalence", name, seed, shift))
        true = float(halves.fresh_y[new].mean())
        found = estimate_prevalence(halves.y, halves.raw, halves.fresh_raw[new])
        followed = [guard_prevalence(found, level) for level in LEVELS]
        facts = {"set": name, "seed": seed, "shift": shift, "true": true}
        facts |= {"estimate": found.prevalence, "interval": found.interval}
        facts |= {"shift_p_value": found.shift_p_value, "fit_p_value": found.fit_p_value}
        shares = (found.prevalence, *followed, true)
        stay = expected_cost(halves, None, true)
        costs = [expected_cost(halves, share, true) for share in shares]
        rows.append(
            facts
            | {"followed": [share is not None for share in followed], "stay": stay}
            | dict(zip(WAYS, costs, strict=True))
        )
    return rows


def expected_cost(halves: Halves, prevalence: float | None, true: float) -> float:
    """Return the mean cost of a decision at the true prevalence."""
    rule = Cost(*COSTS, prevalence=prevalence)
    with quiet():
        threshold = find_boundary(halves.y, halves.raw, rule=rule).threshold
    above = halves.fresh_raw > threshold
    false_alarms = float(above[halves.fresh_y == 0].mean())
    misses = float(1 - above[halves.fresh_y == 1].mean())
    return COSTS[0] * (1 - true) * false_alarms + COSTS[1] * true * misses


def collect(quick: bool) -> Facts:
    names, seeds = (chosen_sets()[:3], 1) if quick else (chosen_sets(), SEEDS)
    jobs = [(name, seed) for name in names for seed in range(seeds)]
    rows = [row for part in in_parallel(examine, jobs, quick) for row in part]
    return {
        "sets": len(names),
        "seeds": seeds,
        "rows": rows,
        "summary": [summarise(rows, shift) for shift in SHIFTS],
    }


def summarise(rows: list[dict[str, Any]], shift: str) -> dict[str, Any]:
    """Return, for each way, sets that got cheaper and dearer, and the mean change of cost."""
    chosen = [row for row in rows if row["shift"] == shift]
    names = list(dict.fromkeys(row["set"] for row in chosen))
    ways = {}
    for way in WAYS:
        change = np.array([_change(chosen, name, way) for name in names])
        ways[way] = {
            "cheaper": int(np.sum(change < 0)),
            "dearer": int(np.sum(change > 0)),
            "mean_change": float(change.mean()),
            "standard_error": float(change.std(ddof=1) / np.sqrt(len(change))),
        }
    inside = [row["interval"][0] <= row["true"] <= row["interval"][1] for row in chosen]
    return {
        "shift": shift,
        "ways": ways,
        "followed": np.mean([row["followed"] for row in chosen], axis=0).tolist(),
        "misfit": float(np.mean([row["fit_p_value"] <= 0.01 for row in chosen])),
        "interval_holds": float(np.mean(inside)),
    }


def _change(rows: list[dict[str, Any]], name: str, way: str) -> float:
    """Return the change of a set's cost beside staying, over that of the best blind decision."""
    own = [row for row in rows if row["set"] == name]
    blind = [min(COSTS[0] * (1 - row["true"]), COSTS[1] * row["true"]) for row in own]
    return float(np.mean([(r[way] - r["stay"]) / b for r, b in zip(own, blind, strict=True)]))


def is_met(facts: Facts) -> bool:
    """Say whether the guard loses nothing measurable without a shift, and gains with one."""
    calm, *shifted = [group["ways"][GUARDED[DEFAULT]] for group in facts["summary"]]
    harmless = calm["mean_change"] <= max(TOLERANCE, 2 * calm["standard_error"])
    return bool(harmless and (facts["quick"] or all(g["mean_change"] < 0 for g in shifted)))


def page(facts: Facts) -> str:
    rows = [
        [
            group["shift"],
            way,
            found["cheaper"],
            found["dearer"],
            f"{100 * found['mean_change']:+.1f}% ± {100 * found['standard_error']:.1f}",
        ]
        for group in facts["summary"]
        for way, found in group["ways"].items()
    ]
    tests = [
        [group["shift"], *group["followed"], group["misfit"], group["interval_holds"]]
        for group in facts["summary"]
    ]
    return "\n\n".join(
        [
            "# Prevalence without labels",
            f"Should a cost rule follow a prevalence estimated from unlabelled scores? "
            f"{facts['sets']} real sets, {facts['seeds']} splits each, a logistic model, a miss "
            "costs ten false alarms. Cheaper and dearer: sets, beside staying with the labelled "
            "rows' prevalence; sets without a change are neither. The change of cost is a share of "
            "the cost of the best decision without scores, its mean over sets with its standard "
            "error. Followed is the estimate: always, or if the guard lets it; or the new rows' "
            "true prevalence, which nobody knows.",
            table(["shift", "followed", "cheaper", "dearer", "change of cost"], rows),
            "The guard's level is 0.05 unless asked otherwise; it was chosen here, on these sets. "
            "Each set is parted in three, so that labelled and new rows hold few positives; what "
            "the guard does not keep of the gain is a shift that so few rows cannot show.",
            "How often the guard follows the estimate, how often new scores are no mixture of the "
            "old ones (p ≤ 0.01), and how often the 95% interval holds the truth:",
            table(
                [
                    "shift",
                    *(f"followed, {way}" for way in GUARDED),
                    "not explained",
                    "interval holds",
                ],
                tests,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(run(__file__, collect, page, is_met))
