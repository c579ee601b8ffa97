"""Simulate anew what used to break: label order, biases chosen on the same rows, intervals.

Usage: ``python -m lab.evidence.mended [--quick] [--out DIR]``.

The exit code is 1 if an answer hangs on the order of the labels, or if a certificate of three
classes breaks more often than stated, beyond two Monte-Carlo standard errors. Floors and
certificates of the deployed model have a script of their own, `lab.evidence.deployed`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold

from boundshift import (
    BoundShiftClassifier,
    ClassFloors,
    Cost,
    CostMatrix,
    Floors,
    InvalidInputError,
    find_boundary,
    threshold_interval,
)
from boundshift.curves.uniform import clopper_pearson
from boundshift.promises.certificate import certify_counts
from lab.evidence import deployed
from lab.evidence.claims import generator
from lab.evidence.evidence import Facts, run, table
from lab.evidence.shapes import SHAPES, Problem
from lab.harness.quiet import quiet

DELTA = 0.05
CLASSES = ("usual", "seldom", "rare")
SIZES, CENTRES = (900, 300, 150), np.array([[0.0, 0.0], [1.5, 0.0], [1.0, 1.5]])
COSTS = np.array([[0, 1, 1], [2, 0, 1], [20, 20, 0]])
FRESH = 20_000
# Rows of a class, and how the differences to both other classes' scores hang together.
ROWS, TOGETHER = (3, 5, 10, 30), ("independent", "opposed")
INTERVAL_ROWS, INTERVAL_CURVES = (300, 30), (None, "smoothed", "kth-point", "clopper-pearson")
FOLDS = (
    "logistic, 5000:10 rows, 30 features",
    "LDA, 5000:10 rows, 30 features",
    "logistic C=1e4, 200 features",
)
# A recall that differs by less hangs on rounding, not on the order of the labels.
ALIKE = 5e-3


def order_runs(rule: str, runs: int) -> dict[str, Any]:
    """Fit under each order of the labels; return how far the rare class's recall differs."""
    rng = generator("order", rule)
    y = np.repeat(np.arange(3), SIZES)
    rare = rng.standard_normal((FRESH, 2)) + CENTRES[2]
    spreads, recalls = [], []
    for _ in range(runs):
        X = rng.standard_normal((len(y), 2)) + CENTRES[y]
        found = []
        for order in permutations("abc"):
            labels = np.array(order)
            try:
                model = BoundShiftClassifier(LinearDiscriminantAnalysis(), rule=_rule(rule, labels))
                with quiet():
                    model.fit(X, labels[y])
            except InvalidInputError:
                return {"rule": rule, "answer": "refused", "runs": runs}
            found.append(float(np.mean(model.predict(rare) == labels[2])))
        spreads.append(max(found) - min(found))
        recalls.append(float(np.mean(found)))
    facts = {"rule": rule, "answer": "the same", "runs": runs, "recall": float(np.mean(recalls))}
    worst = max(spreads)
    return facts | {"difference": worst, "answer": "the same" if worst <= ALIKE else "another"}


def _rule(name: str, labels: NDArray[Any]) -> Any:
    """Return a rule about the rare class, whatever it is called."""
    rules: dict[str, Callable[[], Any]] = {
        "Floors(recall=0.9)": lambda: Floors(recall=0.9),
        "Cost(1, 20)": lambda: Cost(1, 20),
        "ClassFloors({rare: 0.9})": lambda: ClassFloors({labels[2]: 0.9}),
        "CostMatrix, 20 for a rare row": lambda: CostMatrix(COSTS, labels.tolist()),
        "g-mean": lambda: "g-mean",
    }
    return rules[name]()


RULES = (
    "Floors(recall=0.9)",
    "Cost(1, 20)",
    "ClassFloors({rare: 0.9})",
    "CostMatrix, 20 for a rare row",
    "g-mean",
)


def bias_runs(n: int, together: str, runs: int) -> dict[str, Any]:
    """Return how often some biases break a bound that should hold for all biases at once.

    The rows of a class that biases get right lie in a corner: both differences to the other
    classes' scores are large enough. For each corner that rows can span, the true share outside it
    is compared with the bound of so many rows outside.
    """
    rng = generator("biases", n, together)
    wrong = tuple(range(n + 1))
    bounds = {
        "now": [
            certify_counts((k, 0, 0), (n, 1, 1), (0, 1, 2), chosen_here=True).error_bounds[0]
            for k in wrong
        ],
        "before": clopper_pearson(wrong, n, DELTA / (n + 1) ** 2),
    }
    broken = dict.fromkeys(bounds, 0)
    for size in _parts(runs, max(1, 4_000_000 // n**3)):
        first = rng.random((size, n))
        second = 1.0 - first if together == "opposed" else rng.random((size, n))
        a, b = first[:, :, None], second[:, None, :]
        right = (first[:, None, :] >= a)[:, :, None, :] & (second[:, None, :] >= b.mT)[:, None]
        outside = n - right.sum(axis=-1)
        inside = np.maximum(1.0 - a - b, 0.0) if together == "opposed" else (1.0 - a) * (1.0 - b)
        for name, bound in bounds.items():
            fails = 1.0 - inside > np.asarray(bound)[outside] + 1e-12
            broken[name] += int(np.any(fails, axis=(1, 2)).sum())
    share = {name: count / runs for name, count in broken.items()}
    error = float(np.sqrt(DELTA * (1 - DELTA) / runs))
    passes = bool(share["now"] <= DELTA + 2 * error)
    return {"rows": n, "together": together, "runs": runs, "passes": passes} | share


def _parts(total: int, most: int) -> list[int]:
    """Cut a number into parts of at most so much."""
    return [min(most, total - start) for start in range(0, total, most)]


def fold_runs(name: str, runs: int) -> dict[str, Any]:
    """Return how often the models of the folds err, on average, at most as the certificate says."""
    case = {**deployed.CERTIFICATES, **deployed.FLOORS}[name]
    rng, held = generator("folds", name), []
    for _ in range(runs):
        X, y = deployed.draw(case, rng)
        with quiet():
            model = BoundShiftClassifier(case.make()).fit(X, y)
            splits = list(StratifiedKFold(5).split(X, y))
            folds = [case.make().fit(X[train], y[train]) for train, _ in splits]
        scored = [
            (y[test], f.decision_function(X[test]))
            for f, (_, test) in zip(folds, splits, strict=True)
        ]
        wrong = [np.sum((s > model.threshold_) != label) for label, s in scored]
        # The certificate counts what these models get wrong: they are its models.
        assert sum(wrong) == sum(model.certificate_.wrong)
        errors = [deployed.true_errors(f, case, [])(model.threshold_) for f in folds]
        held.append(np.mean(errors, axis=0) <= model.certificate_.error_bounds)
    shares = np.mean(held, axis=0).tolist()
    return {"case": name, "runs": runs, "negative": shares[0], "positive": shares[1]}


def interval_runs(shape: str, curve: str | None, runs: int) -> dict[str, Any]:
    """Return the share of other samples' thresholds that fall into an interval, on average."""
    rng = generator("interval", shape, curve)
    problem = Problem.with_error(SHAPES[shape], 0.1)

    def draw() -> Any:
        return problem.draw(INTERVAL_ROWS, rng)

    with quiet():
        others = np.array([find_boundary(*draw(), curve=curve).threshold for _ in range(10 * runs)])
        limits = [threshold_interval(*draw(), curve=curve, random_state=rng) for _ in range(runs)]
    inside = [float(np.mean((others >= low) & (others <= high))) for low, high in limits]
    return {
        "shape": shape,
        "curve": curve or "the default",
        "runs": runs,
        "inside": float(np.mean(inside)),
        "error": float(np.std(inside, ddof=1) / np.sqrt(runs)),
    }


def collect(quick: bool) -> Facts:
    orders, biases, intervals = (1, 500, 5) if quick else (20, 20_000, 100)
    rows = (3, 5) if quick else ROWS
    curves = (None,) if quick else INTERVAL_CURVES
    return {
        "orders": [order_runs(rule, orders) for rule in RULES],
        "biases": [bias_runs(n, together, biases) for together in TOGETHER for n in rows],
        "folds": [fold_runs(name, 3 if quick else 200) for name in FOLDS],
        "intervals": [interval_runs("normal", curve, intervals) for curve in curves],
    }


def is_met(facts: Facts) -> bool:
    """Say whether nothing hangs on the order of labels, and the certificate holds."""
    alike = all(row["answer"] != "another" for row in facts["orders"])
    return alike and all(row["passes"] for row in facts["biases"])


def page(facts: Facts) -> str:
    orders = [
        [
            row["rule"],
            row["answer"],
            f"{row['recall']:.3f}" if "recall" in row else "–",
            f"{row['difference']:.5f}" if "difference" in row else "–",
        ]
        for row in facts["orders"]
    ]
    biases = [
        [row["together"], row["rows"], row["runs"], f"{row['before']:.4f}", f"{row['now']:.4f}"]
        for row in facts["biases"]
    ]
    folds = [[row["case"], row["runs"], row["negative"], row["positive"]] for row in facts["folds"]]
    intervals = [
        [row["shape"], row["curve"], row["runs"], f"{row['inside']:.3f} ± {row['error']:.3f}"]
        for row in facts["intervals"]
    ]
    return "\n\n".join(
        [
            "# What used to break",
            "Promises that earlier versions broke, simulated with the code as it is. Recall floors "
            "of a classifier with folds, and certificates of out-of-fold scores, are on "
            "[the page of the deployed model](deployed.md).",
            "## The order of the labels",
            f"Three normal classes of {', '.join(map(str, SIZES))} rows, a discriminant analysis, "
            "each of six orders of the labels. *Difference*: the largest that the order of the "
            f"labels makes to the rare class's recall, in {facts['orders'][-1]['runs']} draws; the "
            f"answer is called the same up to {ALIKE}, which a search on a line may leave open. A "
            "rule about one positive class is refused where there are three.",
            table(["rule", "answer", "recall of the rare class", "difference"], orders),
            "## Three classes, biases chosen on the same rows",
            "`certify_counts(…, chosen_here=True)` at 95%: share of draws in which any biases at "
            "all break the bound of a class, which may be at most 0.05. *Opposed*: what a row is "
            "ahead of one class it lacks to the other, which is the worst case that we know. "
            "*Before*: Clopper and Pearson's bound for all "
            "(n + 1)² cuts as if these had been fixed, which is what used to be computed.",
            table(["differences", "rows of the class", "draws", "before", "now"], biases),
            "## Out-of-fold scores, for the models of the folds",
            "Share of fits in which the models of the folds err, on average, at most as often as "
            "`certificate_` says at 95%, class by class. It is *cross-fitted*: not proved, for "
            "the rows that count for one model have trained the others, and about these models "
            "only.",
            table(["model", "fits", "negative", "positive"], folds),
            "## Intervals of a threshold",
            f"`threshold_interval` at 95%, {INTERVAL_ROWS[0]} and {INTERVAL_ROWS[1]} rows: the "
            "share of other samples whose threshold falls inside, on average over so many "
            "intervals, with the standard error. It is a bootstrap interval and approximate; it "
            "carries none of the three words.",
            table(["shape", "curve", "intervals", "other thresholds inside"], intervals),
        ]
    )


if __name__ == "__main__":
    sys.exit(run(__file__, collect, page, is_met))
