"""Whether following an estimated prevalence pays, with a guard and without, on real data.

A miss costs ten false alarms. A logistic model is trained on a third of each set and scores the
rest; one half of that is labelled, the other half is new. Positives are as frequent there as in
training, or their odds are four times as high or a quarter: negatives or positives are drawn out
at random. The threshold is that of the cost rule, at the labelled rows' prevalence, at the
estimated one, or at what the guard returns. Costs are those of all the new rows' error rates, also
of those drawn out, at the new prevalence. How the guard tests and what it follows was chosen on
every second set, the first included; the others report.

How often a shift is shown where there is none is simulated besides, on normal scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from boundshift import Cost, estimate_prevalence, find_boundary, guard_prevalence
from lab.claims.costs import COSTS, expected_cost
from lab.claims.scored import MODELS, Halves
from lab.claims.simulation import generator
from lab.data.common import fetch_common, list_common
from lab.experiment import Experiment, Facts, Tables, memory, quiet, rows_in_parallel
from lab.markdown import table
from lab.training import fit_quietly

SETS, SEEDS = 30, 20
LEAST_MINORITY, MOST_ROWS = 50, 6000
SHIFTS = {"none": 1.0, "odds times four": 4.0, "odds by four": 0.25}
LEVELS = (0.01, 0.05)
DEFAULT = 1
GUARDED = tuple(f"guard at {level:g}" for level in LEVELS)
WAYS = ("always", *GUARDED, "the truth")
# Labelled rows, new rows and the share of positives in both, where nothing shifts.
CALM = ((300, 100, 0.2), (600, 300, 0.1), (2000, 1000, 0.02))
CALM_RUNS = 200
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
    X, y = fetch_common(name)
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
        stay = cost_of(halves, None, true)
        costs = [cost_of(halves, share, true) for share in shares]
        rows.append(
            facts
            | {"followed": [share is not None for share in followed], "stay": stay}
            | dict(zip(WAYS, costs, strict=True))
        )
    return rows


def cost_of(halves: Halves, prevalence: float | None, true: float) -> float:
    """Return the mean cost at the true prevalence of deciding for another one."""
    rule = Cost(false_positive=COSTS[0], false_negative=COSTS[1], prevalence=prevalence)
    with quiet():
        threshold = find_boundary(halves.y, halves.raw, rule=rule).threshold
    return expected_cost(halves, threshold, true)


def false_shifts(n: int, n_new: int, share: float, runs: int) -> dict[str, Any]:
    """Count how often a shift, or scores that no share explains, is shown although all is calm."""
    rng = generator("calm", n, n_new, share)
    shown, misfit, covered = 0, 0, 0
    for _ in range(runs):
        y, y_new = rng.random(n) < share, rng.random(n_new) < share
        found = estimate_prevalence(y, rng.normal(2 * y), rng.normal(2 * y_new))
        shown += found.shift_p_value <= LEVELS[DEFAULT]
        misfit += found.fit_p_value <= 0.01
        covered += found.interval[0] <= share <= found.interval[1]
    facts = {"rows": n, "new": n_new, "share": share, "runs": runs}
    return facts | {"shown": shown / runs, "misfit": misfit / runs, "covered": covered / runs}


def collect(quick: bool) -> Facts:
    names, seeds = (chosen_sets()[:2], 1) if quick else (chosen_sets(), SEEDS)
    jobs = [(name, seed) for name in names for seed in range(seeds)]
    rows = rows_in_parallel(examine, jobs, quick)
    # Sets that report, and those on which the guard was chosen.
    halves = {"reporting": names[1::2], "choosing": names[::2]}
    return {
        "sets": len(names),
        "seeds": seeds,
        "rows": rows,
        "summary": {
            half: [summarise([r for r in rows if r["set"] in part], shift) for shift in SHIFTS]
            for half, part in halves.items()
        },
        "calm": [false_shifts(*c, 2 if quick else CALM_RUNS) for c in CALM[: 1 if quick else 3]],
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
            "standard_error": float(
                change.std(ddof=min(1, len(change) - 1)) / np.sqrt(len(change))
            ),
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
    for groups in facts["summary"].values():
        calm, *shifted = [group["ways"][GUARDED[DEFAULT]] for group in groups]
        if calm["mean_change"] > max(TOLERANCE, 2 * calm["standard_error"]):
            return False
        if not facts["quick"] and not all(group["mean_change"] < 0 for group in shifted):
            return False
    return True


def cost_table(groups: list[dict[str, Any]]) -> str:
    """Lay out what following costs, a row for each shift and way."""
    rows = [
        [
            group["shift"],
            way,
            found["cheaper"],
            found["dearer"],
            f"{100 * found['mean_change']:+.1f}% ± {100 * found['standard_error']:.1f}",
        ]
        for group in groups
        for way, found in group["ways"].items()
    ]
    return table("shift | followed | cheaper | dearer | change of cost", rows)


def tables(facts: Facts) -> Tables:
    tests = [
        [half, group["shift"], *group["followed"], group["misfit"], group["interval_holds"]]
        for half, groups in facts["summary"].items()
        for group in groups
    ]
    followed = " | ".join(f"followed, {way}" for way in GUARDED)
    calm_head = (
        "labelled rows | new rows | share of positives | draws | shift shown | not explained | "
        "interval holds"
    )
    return {half: cost_table(groups) for half, groups in facts["summary"].items()} | {
        "tests": table(f"sets | shift | {followed} | not explained | interval holds", tests),
        "calm": table(calm_head, [list(cell.values()) for cell in facts["calm"]]),
    }


EXPERIMENT = Experiment(collect, tables, is_met)
