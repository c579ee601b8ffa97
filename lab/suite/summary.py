"""Facts of a run as plain values: what the tables say, and what is stored beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, get_args

import numpy as np

from boundshift._promises.certificate import CertificateStatus
from lab.experiment import Facts
from lab.methods import METRICS
from lab.statistics import average_ranks, compare, critical_difference, friedman, holm
from lab.suite.methods import GOALS, METHODS, PANEL, aiming_at
from lab.suite.rows import (
    CLAIRVOYANT,
    UNTOUCHED,
    FitFacts,
    Results,
    SuiteRow,
    coverage,
    shares_of_gain,
)
from lab.suite.train import MODELS

STRATA: dict[str, dict[str, Callable[[FitFacts], bool]]] = {
    "Model": {
        model.title: lambda fit, name=name: fit.model == name  # type: ignore[misc]
        for name, model in MODELS.items()
    },
    "Minority rows": {
        "20–49": lambda fit: fit.n_minority < 50,
        "50–199": lambda fit: 50 <= fit.n_minority < 200,
        "200 or more": lambda fit: fit.n_minority >= 200,
    },
    "Overlap (area under the curve)": {
        "much (below .85)": lambda fit: fit.auc < 0.85,
        "some (.85 to .98)": lambda fit: 0.85 <= fit.auc < 0.98,
        "little (.98 or more)": lambda fit: fit.auc >= 0.98,
    },
}
"""Title → name → which trainings."""

BASELINE = "tuned/g-mean"
"""What the default is set beside first: scikit-learn's tuned threshold."""

CLAIRVOYANTS = (CLAIRVOYANT, f"{CLAIRVOYANT}@fold-models")
"""The best thresholds on the test rows, of the model trained on all rows and of the fold models."""

STRATUM_METRICS = ("g_mean", "balanced_accuracy")
"""What is compared in parts of the trainings."""

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
        facts["together"] = summarise(Results(named), default, in_parts=False)
        facts["together"]["numbers"] = together
    return facts


def summarise(results: Results, default: str, *, in_parts: bool = True) -> Facts:
    """Compare the default with the baselines; by model, size, overlap and family if asked."""
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
        "coverage": _coverage(results, default),
    }
    for metric in GOALS:
        ours, tuned, *_ = aiming_at(metric)
        if {ours, tuned} <= set(results.methods):
            compared = list(dict.fromkeys([ours, tuned, *panel]))
            facts["goals"][metric] = {
                "ranking": _ranking(results, metric, compared),
                "against": _against(results, metric, compared),
            }
    if in_parts:
        blocks = results.blocks("g_mean", panel, "family")
        facts["families"] = {
            name: row.tolist() for (name,), row in zip(blocks.names, blocks.values, strict=True)
        }
        mine = results.only(panel)
        facts["strata"] = {
            title: {
                name: _stratum(mine.where(wanted), panel)
                for name, wanted in parts.items()
                if any(map(wanted, mine.fits))
            }
            for title, parts in STRATA.items()
        }
    return facts


def _stratum(results: Results, panel: Sequence[str]) -> Facts:
    facts: Facts = {"blocks": _counts(results)["blocks"]}
    for metric in STRATUM_METRICS:
        values = results.blocks(metric, panel).values
        # In the order of the panel, whose names need not be said again.
        ranks = average_ranks(values).tolist()
        facts[metric] = {"means": values.mean(axis=0).tolist(), "ranks": ranks}
    return facts


def _shares(results: Results, default: str) -> Facts:
    """Return shares of the clairvoyant's gain, where there is one."""
    if not {UNTOUCHED, CLAIRVOYANT} <= set(results.methods):
        return {}
    shown = [default, f"{default.partition('@')[0]}@out-of-fold", *PANEL, *CLAIRVOYANTS]
    return shares_of_gain(results, [name for name in results.methods if name in shown])


def _counts(results: Results) -> Facts:
    """Count what was run."""
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
    """Rank the default and the baselines against each other."""
    values = results.blocks(metric, panel).values
    facts: Facts = {
        "ranks": dict(zip(panel, average_ranks(values).tolist(), strict=True)),
        "blocks": len(values),
    }
    if len(panel) > 2 and len(values) > 1:
        facts["friedman"] = friedman(values)._asdict()
        facts["critical_difference"] = critical_difference(len(panel), len(values))
    return facts


def _against(results: Results, metric: str, panel: Sequence[str]) -> dict[str, Facts]:
    """Test the first against each other one: by blocks, and more carefully by families."""
    baselines = panel[1:]
    found: dict[str, Facts] = {name: {} for name in baselines}
    for unit, suffix in (("family and model", ""), ("family", "_by_family")):
        blocks = results.blocks(metric, panel, unit)  # type: ignore[arg-type]
        pairs = {
            name: compare(blocks.values[:, 0], blocks.values[:, i])
            for i, name in enumerate(baselines, 1)
        }
        adjusted = holm({name: pair.p_value for name, pair in pairs.items()})
        for name, pair in pairs.items():
            # With one block a family, averaged, the mean difference is the same.
            first = {} if suffix else {"difference": pair.difference.mean, "p": pair.p_value}
            found[name] |= first | {
                f"wins{suffix}": pair.wins,
                f"ties{suffix}": pair.ties,
                f"losses{suffix}": pair.losses,
                f"holm{suffix}": adjusted[name],
            }
    return found


def _coverage(results: Results, default: str) -> dict[str, dict[str, Facts]]:
    """Return how often certificates hold: by word, then by decision, then by class."""
    stem = default.split("@")[0]
    stems = [f"{stem}@{source}" for source in ("held-out", "out-of-fold", "training")]
    names = [default, *stems, BASELINE, "untouched", "untouched@held-out"]
    classes = {"majority": "negative", "minority": "positive"}
    found: dict[str, dict[str, Any]] = {word: {} for word in get_args(CertificateStatus)}
    for name in dict.fromkeys(names):
        rows = [row for row in results.of(name) if row.certificate]
        for word in dict.fromkeys(row.certificate for row in rows):
            mine = [row for row in rows if row.certificate == word]
            held = {title: coverage(mine, label) for title, label in classes.items()}
            found[word][name] = {k: asdict(c) | {"holds": c.holds} for k, c in held.items()}
    return {word: said for word, said in found.items() if said}
