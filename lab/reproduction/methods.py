"""Every method that is compared: the paper's six, more rivals, and more of ours.

The paper's own method stands there twice: as its authors' program searches, which made the
printed numbers and decides which seeds count in protocol "paper", and solved exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lab.reproduction.collect import ModelName
from lab.reproduction.decisions import (
    Decide,
    Source,
    by_boundary,
    by_grid,
    by_rule,
    by_support,
    by_tuner,
    keep_boundary,
)

__all__ = ["DEFAULT", "METHODS", "PAPER_METHOD", "Group", "Method", "post_hoc_rivals"]

Group = Literal["paper", "rival", "ours"]


@dataclass(frozen=True)
class Method:
    """One line of a table.

    Parameters
    ----------
    name : str
        Short name, as in the tidy rows.
    title : str
        Name in tables.
    group : {"paper", "rival", "ours"}
        The paper's six; rivals beyond it; more settings of this library.
    decide : callable
        From fitted scores and the kind of slack to a decision.
    model : {"untouched", "smote", "balanced-weights"}, default="untouched"
        Whose scores.
    post_hoc : bool, default=True
        Whether it works on a model trained as usual.
    printed : str, default=None
        Name in the paper's printed tables; None is `name`.
    """

    name: str
    title: str
    group: Group
    decide: Decide
    model: ModelName = "untouched"
    post_hoc: bool = True
    printed: str | None = None


_PAPER = (
    Method("untouched", "Baseline", "paper", keep_boundary),
    Method("smote", "SMOTE", "paper", keep_boundary, "smote", post_hoc=False),
    Method("balanced-weights", "BW", "paper", keep_boundary, "balanced-weights", post_hoc=False),
    Method("bayes-minimum-risk", "BMR", "paper", by_rule("bayes_minimum_risk")),
    Method("thresholding", "Thresh", "paper", by_rule("cost_thresholding")),
    Method("ours-grid", "Our Method, as coded", "paper", by_grid, printed="our-method"),
    Method(
        "ours-authors",
        "Our Method, exact",
        "paper",
        by_support("training", preset="authors", fallback=0.0),
        printed="our-method",
    ),
)

_RIVALS = (
    Method("tuned-balanced-accuracy", "Tuned threshold, bal. acc.", "rival", by_tuner(0)),
    Method("tuned-g-mean", "Tuned threshold, G-mean", "rival", by_tuner(1)),
    Method("prior-threshold", "Prior threshold", "rival", by_rule("prior_threshold")),
    Method(
        "clopper-pearson-minimax",
        "Clopper–Pearson, minimax",
        "rival",
        by_boundary("out-of-fold", bound="clopper-pearson", rule="minimax"),
    ),
    Method(
        "dkw-minimax",
        "DKW, minimax",
        "rival",
        by_boundary("out-of-fold", bound="dkw", rule="minimax"),
    ),
)

_SUFFIX: dict[Source, str] = {"training": "", "out-of-fold": " (out-of-fold)"}


def _of_source(source: Source) -> list[Method]:
    """Return our settings on training or on out-of-fold scores."""
    mark, suffix = ("" if source == "training" else "-oof"), _SUFFIX[source]
    settings = {
        "default": ("Ours, default", by_boundary(source)),
        "support": ("Ours, support radius", by_boundary(source, bound="support", rule="sum")),
        "full-budget": (
            "Ours, full budget",
            by_support(source, preset="authors", budget="all", stop_at_zero=False),
        ),
        "paper-text": ("Ours, paper's text", by_support(source, preset="paper")),
        "support-sum": ("Ours, support/sum", by_support(source)),
        "support-minimax": (
            "Ours, support/minimax",
            by_boundary(source, bound="support", rule="minimax"),
        ),
    }
    for curve in ("smoothed", "student-t", "kth-point"):
        for rule in ("sum", "minimax"):
            decide = by_boundary(source, bound=curve, rule=rule)
            settings[f"{curve}-{rule}"] = (f"Ours, {curve}/{rule}", decide)
    return [
        Method(f"ours-{name}{mark}", title + suffix, "ours", decide)
        for name, (title, decide) in settings.items()
    ]


_OURS = (*_of_source("training"), *_of_source("out-of-fold"))

METHODS: dict[str, Method] = {m.name: m for m in (*_PAPER, *_RIVALS, *_OURS)}
"""Name → method, in the order of the tables."""

PAPER_METHOD = "ours-grid"
DEFAULT = "ours-default"


def post_hoc_rivals() -> list[str]:
    """Return the names of all rivals that need no new training.

    Examples
    --------
    >>> post_hoc_rivals()[:3]
    ['untouched', 'bayes-minimum-risk', 'thresholding']
    """
    return [
        m.name
        for m in METHODS.values()
        if m.post_hoc and m.group != "ours" and m.printed != "our-method"
    ]
