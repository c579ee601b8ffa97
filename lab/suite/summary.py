"""Facts of a run as plain values: what the page says, and what is stored beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from lab.harness.rows import METRICS
from lab.harness.statistics import (
    average_ranks,
    compare,
    critical_difference,
    friedman,
    holm,
)
from lab.suite.coverage import claims_covered, coverage
from lab.suite.methods import CANDIDATES, GOALS, METHODS, RIVAL_PANEL
from lab.suite.models import MODELS
from lab.suite.results import FitFacts, Results
from lab.suite.rows import SuiteRow
from lab.suite.shares import CLAIRVOYANT, UNTOUCHED, shares_of_gain

__all__ = ["RIVAL", "STRATA", "STRATUM_METRICS", "summarise", "summarise_half"]

Facts = dict[str, Any]


def _is_model(name: str) -> Callable[[FitFacts], bool]:
    return lambda fit: fit.model == name


STRATA: dict[str, dict[str, Callable[[FitFacts], bool]]] = {
    "Model": {model.title: _is_model(name) for name, model in MODELS.items()},
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

RIVAL = "tuned/g-mean"
"""What every candidate for the default is tested against: scikit-learn's tuned threshold."""

STRATUM_METRICS = ("g_mean", "balanced_accuracy")
"""What is compared in parts of the trainings."""


def summarise_half(rows: Iterable[SuiteRow], default: str) -> Facts:
    """Collect what is to be said about one half, with all rare rows and with few of them.

    Few rows are said for each number, and for all numbers together, in which the draws of a data
    set count as further sets of its family.
    """
    by_rare: dict[int, list[SuiteRow]] = {}
    for row in rows:
        by_rare.setdefault(row.rare, []).append(row)
    few = {rare: by_rare[rare] for rare in sorted(by_rare) if rare}
    said = {str(rare): _compared(Results(mine), default) for rare, mine in few.items()}
    if len(few) > 1:
        named = [replace(r, dataset=f"{r.dataset} {r.rare}") for mine in few.values() for r in mine]
        said[f"{min(few)} to {max(few)}"] = _compared(Results(named), default)
    usual = summarise(Results(by_rare[0]), default) if 0 in by_rare else {}
    return usual | {"few": said}


def _compared(results: Results, default: str) -> Facts:
    """Compare the default with its rivals, the candidates with the tuned threshold, and goals."""
    known = set(results.methods) - {default}
    panel = [default, *(name for name in RIVAL_PANEL if name in known)]
    candidates = [name for name in CANDIDATES if name in results.methods]
    aims = {m: [n for n in names if n in known] for m, names in GOALS.items()}
    shared = {UNTOUCHED, CLAIRVOYANT} <= known
    return {
        "default": default,
        "panel": panel,
        "counts": _counts(results),
        "methods": _methods(results),
        "ranking": {metric: _ranking(results, metric, panel) for metric in METRICS},
        "against": {metric: _against(results, metric, panel) for metric in METRICS},
        "candidates": {
            metric: _against(results, metric, [RIVAL, *candidates]) for metric in METRICS
        }
        if RIVAL in known
        else {},
        "goals": {
            metric: {
                "ranking": _ranking(results, metric, names),
                "against": _against(results, metric, names),
            }
            for metric, names in aims.items()
            if len(names) > 1
        },
        "shares": shares_of_gain(results, results.methods) if shared else {},
    }


def summarise(results: Results, default: str) -> Facts:
    """Collect everything that is to be said about a run.

    Parameters
    ----------
    results : Results
        Rows of at least one training; the default is among their methods.
    default : str
        The method that the rivals are compared with.
    """
    facts = _compared(results, default)
    panel = facts["panel"]
    return facts | {
        "strata": _strata(results.only(panel), panel),
        "coverage": _coverage(results, default),
        "claims": {
            name: claims_covered(results.of(name))
            for name in results.methods
            if name.split("@")[0].endswith("/sum")
        },
    }


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
    rows: dict[str, list[SuiteRow]] = {name: [] for name in results.methods}
    for row in results.rows:
        rows[row.method].append(row)
    facts: dict[str, Facts] = {
        name: {
            "group": METHODS[name].group,
            "solved": float(np.mean([row.solved for row in mine])),
            "failed": sum(row.status == "FAILED" for row in mine),
            "fit_seconds": _mean([row.fit_seconds for row in mine]),
            "seconds": _mean([row.seconds for row in mine]),
            "ranks": {},
        }
        for name, mine in rows.items()
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


def _mean(values: Sequence[float]) -> float:
    """Return the mean of what is known."""
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")


def _ranking(results: Results, metric: str, panel: Sequence[str]) -> Facts:
    """Rank the default and the rivals against each other."""
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
    rivals = panel[1:]
    found: dict[str, Facts] = {name: {} for name in rivals}
    for unit, suffix in (("family and model", ""), ("family", "_by_family")):
        blocks = results.blocks(metric, panel, unit)  # type: ignore[arg-type]
        pairs = {
            name: compare(blocks.values[:, 0], blocks.values[:, i])
            for i, name in enumerate(rivals, 1)
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


def _strata(results: Results, panel: Sequence[str]) -> dict[str, dict[str, Facts]]:
    """Return means and ranks of the panel in parts of the trainings."""
    found: dict[str, dict[str, Facts]] = {}
    for title, parts in STRATA.items():
        found[title] = {}
        for name, wanted in parts.items():
            if any(map(wanted, results.fits)):
                found[title][name] = _stratum(results.where(wanted), panel)
    return found


def _stratum(results: Results, panel: Sequence[str]) -> Facts:
    facts: Facts = {"blocks": _counts(results)["blocks"]}
    for metric in STRATUM_METRICS:
        values = results.blocks(metric, panel).values
        # In the order of the panel, whose names need not be said again.
        ranks = average_ranks(values).tolist()
        facts[metric] = {"means": values.mean(axis=0).tolist(), "ranks": ranks}
    return facts


def _coverage(results: Results, default: str) -> dict[str, dict[str, Facts]]:
    """Return how often certificates hold: of some methods, and of the default in parts."""
    stem = default.split("@")[0]
    stems = [f"{stem}@{source}" for source in ("out-of-fold", "training", "held-out")]
    names = [*dict.fromkeys([default, *stems]), RIVAL, "untouched", "untouched@held-out"]
    results = results.only(names)
    found = {
        name: _by_class(results.of(name))
        for name in names
        if any(row.certificate for row in results.of(name))
    }
    for title, parts in STRATA.items():
        for part, wanted in parts.items():
            chosen = results.where(wanted)
            for name in (default, f"{stem}@held-out"):
                if any(row.certificate for row in chosen.of(name)):
                    found[f"{name} | {title}: {part}"] = _by_class(chosen.of(name))
    return found


def _by_class(rows: Sequence[SuiteRow]) -> dict[str, Facts]:
    return {
        label: asdict(found) | {"holds": found.holds}
        for label, found in (
            ("both", coverage(rows)),
            ("majority", coverage(rows, ("negative",))),
            ("minority", coverage(rows, ("positive",))),
        )
    }
