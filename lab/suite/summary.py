"""Facts of a run as plain values: what the tables say, and what is stored beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from lab.experiment import Facts
from lab.methods import METRICS
from lab.statistics import average_ranks, compare, holm
from lab.suite.methods import GOALS, METHODS, PANEL, aiming_at
from lab.suite.rows import (
    CLAIRVOYANT,
    UNTOUCHED,
    Results,
    SuiteRow,
    shares_of_gain,
)
from lab.suite.train import MODELS

BASELINE = "tuned/g-mean"
"""What the default is set beside first: scikit-learn's tuned threshold."""

CLAIRVOYANTS = (CLAIRVOYANT, f"{CLAIRVOYANT}@fold-models")
"""The best thresholds on the test rows, of the model trained on all rows and of the fold models."""

SAME_SETS = (5, 10, 20)
"""Numbers of rare rows that are drawn from the same data sets, and so are told together."""


def summarise_half(rows: Iterable[SuiteRow], default: str) -> Facts:
    """Collect what is to be said about one half, with all rare rows and with fewer of them.

    5, 10 and 20 rare rows are also told together, in which the draws of a data set count as further
    sets of its family; that part has the tests, since each number alone has few blocks.
    """
    by_rare: dict[int, list[SuiteRow]] = {}
    for row in rows:
        by_rare.setdefault(row.rare, []).append(row)
    few = {rare: by_rare[rare] for rare in sorted(by_rare) if rare}
    facts = summarise(Results(by_rare[0]), default) if 0 in by_rare else {}
    facts["few"] = {}
    for rare, mine in few.items():
        results = Results(mine)
        means = {n: {m: f[m] for m in METRICS} for n, f in _methods(results).items()}
        told = {"counts": _counts(results), "methods": means, "shares": _shares(results, default)}
        facts["few"][str(rare)] = told
    together = [rare for rare in few if rare in SAME_SETS]
    if together:
        named = [replace(r, dataset=f"{r.dataset} {r.rare}") for n in together for r in few[n]]
        facts["together"] = summarise(Results(named), default, by_model=False)
        facts["together"]["numbers"] = together
    return facts


def summarise(results: Results, default: str, *, by_model: bool = True) -> Facts:
    """Compare the default with the baselines; by model if asked."""
    panel = [default, *(name for name in PANEL if name in results.methods and name != default)]
    facts: Facts = {
        "default": default,
        "panel": panel,
        "counts": _counts(results),
        "methods": _methods(results),
        "ranking": {metric: _ranking(results, metric, panel) for metric in METRICS},
        "against": {metric: _against(results, metric, panel) for metric in METRICS},
        "goals": {},
        "shares": _shares(results, default),
    }
    for metric in GOALS:
        ours, tuned, *_ = aiming_at(metric)
        if {ours, tuned} <= set(results.methods):
            compared = list(dict.fromkeys([ours, tuned, *panel]))
            facts["goals"][metric] = {
                "ranking": _ranking(results, metric, compared),
                "against": _against(results, metric, compared),
            }
    if by_model:
        blocks = results.blocks("g_mean", panel)
        models = np.array([model for _, model in blocks.names])
        facts["by_model"] = {
            # In the order of the panel, whose names need not be said again.
            model.title: blocks.values[models == name].mean(axis=0).tolist()
            for name, model in MODELS.items()
            if name in models
        }
    return facts


def _shares(results: Results, default: str) -> Facts:
    if not {UNTOUCHED, CLAIRVOYANT} <= set(results.methods):
        return {}
    shown = [default, f"{default.partition('@')[0]}@out-of-fold", *PANEL, *CLAIRVOYANTS]
    return shares_of_gain(results, [name for name in results.methods if name in shown])


def _counts(results: Results) -> Facts:
    fits = results.fits
    return {
        "families": len({f.family for f in fits}),
        "datasets": len({f.dataset for f in fits}),
        "models": len({f.model for f in fits}),
        "seeds": len({f.seed for f in fits}),
        "fits": len(fits),
        "rows": len(results.rows),
        "blocks": len({(f.family, f.model) for f in fits}),
        "failed": sum(row.status == "FAILED" for row in results.rows),
        "messages": sorted({row.message for row in results.rows if row.message}),
    }


def _methods(results: Results) -> dict[str, Facts]:
    """Return means, ranks among methods of the same aim, solved share and times of each method."""
    facts: dict[str, Facts] = {}
    for name in results.methods:
        mine = results.of(name)
        done = [row for row in mine if row.status != "FAILED"] or mine
        facts[name] = {
            "group": METHODS[name].group,
            "solved": float(np.mean([row.solved for row in mine])),
            "failed": sum(row.status == "FAILED" for row in mine),
            "fit_seconds": float(np.mean([row.fit_seconds for row in done])),
            "seconds": float(np.mean([row.seconds for row in done])),
            "ranks": {},
        }
    aside = ("other aim", "clairvoyant")
    alike = [name for name in results.methods if METHODS[name].group not in aside]
    for metric in METRICS:
        means = results.blocks(metric).values.mean(axis=0)
        for name, mean in zip(results.methods, means, strict=True):
            facts[name][metric] = float(mean)
        ranks = average_ranks(results.blocks(metric, alike).values)
        for name, rank in zip(alike, ranks, strict=True):
            facts[name]["ranks"][metric] = float(rank)
    return facts


def _ranking(results: Results, metric: str, panel: Sequence[str]) -> Facts:
    values = results.blocks(metric, panel).values
    ranks = dict(zip(panel, average_ranks(values).tolist(), strict=True))
    return {"ranks": ranks, "blocks": len(values)}


def _against(results: Results, metric: str, panel: Sequence[str]) -> dict[str, Facts]:
    """Test the first against each other one by families, whose blocks share no rows."""
    values = results.blocks(metric, panel, "family").values
    pairs = {name: compare(values[:, 0], values[:, i]) for i, name in enumerate(panel[1:], 1)}
    adjusted = holm({name: pair.p_value for name, pair in pairs.items()})
    return {
        name: {
            "difference": pair.difference.mean,
            "wins": pair.wins,
            "ties": pair.ties,
            "losses": pair.losses,
            "p": adjusted[name],
        }
        for name, pair in pairs.items()
    }
