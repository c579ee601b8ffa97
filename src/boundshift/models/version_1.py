"""Models in files of version 1: what they learned stays, under today's names."""

from __future__ import annotations

from typing import Any

from boundshift.rules import Cost, Rule

__all__ = ["OLD_TYPES", "upgrade", "upgrade_certificate"]

OLD_TYPES = frozenset({"boundshift.models.margins.raw_margin", "boundshift.rules.Cost"})
"""Names in files of version 1 of what is ours and has another name now."""

_KEPT = ("estimator", "cv", "response_method", "multi_class", "random_state", "n_jobs")
_LABELS = (0, 1)


def upgrade(state: dict[str, Any]) -> dict[str, Any]:
    """Return a classifier's state in today's terms.

    Version 1 did not say whether scores are log-odds, so that there are no probabilities, and its
    boundaries of pairs were not those that its biases gave. Settings of the paper's method that
    were given one by one are lost; the boundary that they made is not.
    """
    if "keep_balanced" not in state:
        # What was fitted before there were means of models holds one that was trained on all rows.
        return {"ensemble": False} | state
    new = {name: state[name] for name in _KEPT}
    new["curve"] = state["preset"] or state["bound"]
    new["rule"] = _upgrade_rule(state["rule"])
    new["pos_label"] = None
    new["ensemble"] = False
    learned = {name: value for name, value in state.items() if name.endswith("_")}
    if "_response" not in state:
        return new | learned
    method = state["_method"]
    new["_response"] = {
        "record": "Response",
        "method": "margin" if getattr(method, "__name__", "") == "raw_margin" else method,
        "floor": state["_response"]["floor"],
    }
    if "boundaries_" in learned:
        learned["boundaries_"] = []
    if "boundary_" in learned:
        learned["boundary_"] = _upgrade_boundary(learned["boundary_"])
    return new | learned


def _upgrade_rule(rule: Any) -> Any:
    """Return a rule of version 1, which had a pair of costs and of priors."""
    costs, priors = (getattr(rule, name, None) for name in ("costs", "priors"))
    if not isinstance(rule, Rule) or costs is None:
        return rule
    prevalence = None if priors is None else priors[1] / sum(priors)
    return Cost(false_positive=costs[0], false_negative=costs[1], prevalence=prevalence)


def _upgrade_boundary(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a boundary of version 1 as `pack` has it."""
    stored = fields | {"format": "boundshift.boundary", "version": 1, "labels": _LABELS}
    return {"record": "Boundary", "stored": stored, "own": {"labels": fields["labels"]}}


def upgrade_certificate(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a certificate of a file that knew only "certified" or not by today's three words."""
    if "certified" not in fields:
        return fields
    new = {name: value for name, value in fields.items() if name != "certified"}
    held = "cross-fitted" if "fitted without it" in new["reason"] else "certified"
    return new | {"status": held if fields["certified"] else "nominal"}
