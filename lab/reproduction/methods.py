"""Every method that is compared: the paper's six, more baselines, and settings of this library.

What the paper calls "Our Method" is the paper's method here; "boundshift" is always this library.

The paper's own method stands there twice: as its authors' program searches, which made the
printed numbers and decides which seeds count in protocol "paper", and solved exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from boundshift.curves import Smoothed, SupportRadius
from lab.baselines import QUALITIES, bayes_risk_threshold, cost_threshold, prior_threshold
from lab.curves import DKW, KthPoint, StudentT
from lab.reproduction.authors_grid import solve_on_grid
from lab.reproduction.decisions import (
    Decide,
    Decision,
    Group,
    Method,
    Source,
    by_boundary,
    by_probability,
    by_tuner,
    decide_boundary,
    keep_boundary,
)
from lab.reproduction.train import FittedSeed


def _by_support(
    source: Source, make: Callable[[], SupportRadius] = SupportRadius, **settings: Any
) -> Decide:
    def decide(fitted: FittedSeed) -> Decision:
        curve = replace(make(), slack=fitted.slack, **settings)
        return decide_boundary(fitted, source, curve=curve)

    return decide


def _by_grid(fitted: FittedSeed) -> Decision:
    """Search as the authors' program does; without a solution the model stays as it is."""
    y, scores = fitted.sample("training")
    solution = solve_on_grid(y, scores / fitted.unit, slack=fitted.slack)
    if solution is None:
        return Decision(0.0, status="INFEASIBLE", solved=False)
    return Decision(
        threshold=solution.threshold * fitted.unit,
        status="RELAXED" if any(solution.slack) else "OPTIMAL",
        deltas=solution.deltas,
        slack=solution.slack,
        loss=solution.loss,
    )


_PAPER = (
    Method("untouched", "paper", keep_boundary, title="Baseline"),
    Method("smote", "paper", keep_boundary, "smote", title="SMOTE"),
    Method("balanced-weights", "paper", keep_boundary, "balanced", title="BW"),
    Method(
        "bayes-minimum-risk", "paper", by_probability(bayes_risk_threshold, "training"), title="BMR"
    ),
    Method("thresholding", "paper", by_probability(cost_threshold, "training"), title="Thresh"),
    Method("paper-grid", "paper", _by_grid, title="Paper's method, as coded"),
    Method(
        "paper-exact",
        "paper",
        _by_support("training", SupportRadius.authors, fallback=0.0),
        title="Paper's method, exact",
    ),
)

PRINTED = {"paper-grid": "our-method", "paper-exact": "our-method"}
"""Method → name in the paper's printed tables, where it is another."""


def _baseline(name: str, title: str, decide: Decide, source: Source = "out-of-fold") -> Method:
    return Method(name, "baseline", decide, source, title)


_BASELINES = (
    _baseline(
        "tuned-balanced-accuracy",
        "Tuned threshold, bal. acc.",
        by_tuner(QUALITIES["balanced-accuracy"]),
    ),
    _baseline("tuned-g-mean", "Tuned threshold, G-mean", by_tuner(QUALITIES["g-mean"])),
    _baseline(
        "prior-threshold",
        "Prior threshold",
        by_probability(prior_threshold, "training"),
        "training",
    ),
    _baseline(
        "clopper-pearson-minimax",
        "Clopper–Pearson, minimax",
        by_boundary("out-of-fold", curve="clopper-pearson", rule="minimax"),
    ),
    _baseline(
        "dkw-minimax", "DKW, minimax", by_boundary("out-of-fold", curve=DKW(), rule="minimax")
    ),
)

_SUFFIX: dict[Source, str] = {"training": "", "out-of-fold": " (out-of-fold)"}


def _of_source(source: Source) -> list[Method]:
    mark = "" if source == "training" else "-oof"
    suffix = _SUFFIX[source]
    settings = {
        "default": ("boundshift, default", by_boundary(source)),
        "support": ("boundshift, support radius", _by_support(source)),
        "full-budget": (
            "boundshift, full budget",
            _by_support(source, SupportRadius.authors, budget="all", stop_at_zero=False),
        ),
        "paper-text": ("boundshift, paper's text", _by_support(source, SupportRadius.paper)),
    }
    for curve in (Smoothed(), StudentT(), KthPoint()):
        for rule in ("sum", "minimax"):
            decide = by_boundary(source, curve=curve, rule=rule)
            settings[f"{curve.name}-{rule}"] = (f"boundshift, {curve.name}/{rule}", decide)
    return [
        Method(f"boundshift-{name}{mark}", "ours", decide, source, title + suffix)
        for name, (title, decide) in settings.items()
    ]


_OURS = (*_of_source("training"), *_of_source("out-of-fold"))

METHODS: dict[str, Method] = {m.name: m for m in (*_PAPER, *_BASELINES, *_OURS)}
"""Name → method, in the order of the tables."""

PAPER_METHOD = "paper-grid"
DEFAULT = "boundshift-default"


def title_of(name: str) -> str:
    return METHODS[name].title


def by_group(group: Group) -> list[str]:
    return [m.name for m in METHODS.values() if m.group == group]


def post_hoc_baselines() -> list[str]:
    """Return the names of all baselines that need no new training."""
    return [
        m.name
        for m in METHODS.values()
        if m.post_hoc and m.group != "ours" and m.name not in PRINTED
    ]
