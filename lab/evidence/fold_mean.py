"""Measure how far the mean of fold models is from the single models whose scores decide for it.

Usage: ``python -m lab.evidence.fold_mean [--quick] [--out DIR] [--scores DIR]``.

A row left out of training is scored by one model, and that score decides; fresh rows are scored by
the mean of five, whose scores are narrower within a class, since what the models disagree on is
averaged away. Data sets, splits and models are those of the benchmark, of its choosing half only.
``--scores`` names the folder in which the benchmark keeps the scores of trained models, otherwise
``out/suite/scores``; what is not there is trained. The goal is a loss below .005 in G-mean.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import make_decision
from boundshift.scores import ScoreSample, pooled_spread, robust_std
from boundshift.typing import FloatArray
from lab.evidence.evidence import ROOT, Facts, in_parallel, run, table
from lab.suite.cache import Fit, SuiteCache
from lab.suite.fitted import FittedSplit
from lab.suite.models import MODELS
from lab.suite.run import choose_datasets
from lab.suite.train import RawScores

# Rare rows in training; 0 for all of them.
SIZES = (5, 10, 20, 0)
KINDS = ("logistic", "svm", "forest", "boosting")
SMALL = 0.005
_SCORES = "BOUNDSHIFT_SUITE_SCORES"


def decide(y: NDArray[Any], scores: FloatArray) -> float:
    """Return the threshold of the default curve and rule."""
    return make_decision()(ScoreSample.from_labels(y, scores)).threshold


def g_mean(y: NDArray[Any], scores: FloatArray, threshold: float) -> float:
    """Return the geometric mean of both recalls."""
    positive = scores > threshold
    return float(np.sqrt(positive[y == 1].mean() * (~positive[y == 0]).mean()))


def width_of(y: NDArray[Any], scores: FloatArray) -> float:
    """Return the spread of scores within the classes."""
    sample = ScoreSample.from_labels(y, scores)
    classes = (sample.negative, sample.positive)
    return pooled_spread([(c.n, robust_std(c)) for c in classes], sum(sample.n_samples)) or 1.0


def narrowed(y: NDArray[Any], scores: FloatArray, factors: tuple[float, float]) -> FloatArray:
    """Return scores drawn towards the middle of their class, each by its own factor."""
    found = scores.copy()
    for k, factor in enumerate(factors):
        of_class = y == k
        middle = float(np.mean(scores[of_class]))
        found[of_class] = middle + factor * (scores[of_class] - middle)
    return found


def compare(raw: RawScores, kind: Any) -> dict[str, float]:
    """Return what one training loses by deciding on single models' scores."""
    fitted = FittedSplit(raw, kind)
    y, own = fitted.out_of_fold
    truth, mean = fitted.test("fold-models")
    single = fitted.fold_test_scores
    ratios = [
        float(
            np.std(mean[truth == k]) / max(np.mean(np.std(single[:, truth == k], axis=1)), 1e-300)
        )
        for k in (0, 1)
    ]
    of_mean = decide(truth, mean)
    of_single = float(np.mean([decide(truth, s) for s in single]))
    chosen = decide(y, own)
    mended = decide(y, narrowed(y, own, (min(ratios[0], 1.0), min(ratios[1], 1.0))))
    best = g_mean(truth, mean, of_mean)
    return {
        "narrower_usual": ratios[0],
        "narrower_rare": ratios[1],
        "shift": (of_mean - of_single) / width_of(truth, mean),
        "lost": best - g_mean(truth, mean, of_single),
        "g_mean": g_mean(truth, mean, chosen),
        "g_mean_mended": g_mean(truth, mean, mended),
        "g_mean_best": best,
    }


def measure(folder: str, name: str, family: str, model: str, rare: int) -> dict[str, Any]:
    """Return one tidy row; a training that fails is a row with its error."""
    row = {"dataset": name, "family": family, "model": model, "seed": 0, "rare": rare}
    found = SuiteCache(Path(folder)).attempt(Fit(name, model, 0, rare))
    if isinstance(found, Exception):
        return row | {"error": f"{type(found).__name__}: {found}"}
    return row | compare(found, MODELS[model].kind)


def collect(quick: bool) -> Facts:
    jobs = [
        (os.environ[_SCORES], entry.name, entry.family, model, rare)
        for rare in (SIZES[:1] if quick else SIZES)
        for model in (KINDS[:1] if quick else KINDS)
        for entry in choose_datasets("quick" if quick else "full", "choose", rare)
    ]
    return {"rows": in_parallel(measure, jobs, quick)}


def is_met(facts: Facts) -> bool:
    known = [row["lost"] for row in facts["rows"] if "error" not in row]
    return facts["quick"] or float(np.mean(known)) < SMALL


def _line(rows: list[dict[str, Any]], *names: str) -> list[Any]:
    """Return means over trainings, and the gain of the mended threshold with its error."""
    known = [row for row in rows if "error" not in row]
    means = {name: float(np.mean([row[name] for row in known])) for name in _COLUMNS}
    size = float(np.mean([abs(row["shift"]) for row in known]))
    gain, error = _gain(known)
    shown = (
        len(known), means["narrower_usual"], means["narrower_rare"], means["shift"], size,
        means["lost"], means["g_mean"], f"{gain:+.4f} ± {error:.4f}",
    )  # fmt: skip
    return [*names, *shown]


_COLUMNS = ("narrower_usual", "narrower_rare", "shift", "lost", "g_mean", "g_mean_mended")
_HEAD = (
    "trainings", "narrower, usual class", "narrower, rare class", "shift", "size of shift",
    "G-mean lost", "G-mean", "gain if narrowed",
)  # fmt: skip


def _gain(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Return what narrower scores gain on average, with a standard error over families."""
    by_family: dict[str, list[float]] = {}
    for row in rows:
        by_family.setdefault(row["family"], []).append(row["g_mean_mended"] - row["g_mean"])
    sums = np.array([[sum(v), len(v)] for v in by_family.values()])
    gain = float(sums[:, 0].sum() / sums[:, 1].sum())
    rest = sums[:, 0] - gain * sums[:, 1]
    return gain, float(np.sqrt((rest**2).sum()) / sums[:, 1].sum())


def page(facts: Facts) -> str:
    rows = facts["rows"]
    failed = [row for row in rows if "error" in row]
    sizes = sorted({row["rare"] for row in rows}, key=lambda n: n or np.inf)
    models = list(dict.fromkeys(row["model"] for row in rows))
    lines = [
        _line([r for r in rows if r["model"] == m and r["rare"] == n], m, str(n or "all"))
        for m in models
        for n in sizes
    ]
    lines += [_line([r for r in rows if r["rare"] == n], "*all*", str(n or "all")) for n in sizes]
    known = [row for row in rows if "error" not in row]
    lost = float(np.mean([row["lost"] for row in known]))
    regret = float(np.mean([row["g_mean_best"] - row["g_mean"] for row in known]))
    gain, error = _gain(known)
    return f"""# Single fold models decide, their mean is deployed

With `ensemble=True` the threshold is chosen on scores of rows left out of training, each by the
one model that left it out, and deployed with the mean of all five models. What the models disagree
on is averaged away, so that the mean's scores are narrower within a class: by the factors in the
table, standard deviation of the mean to that of a single model, on the test rows. Is the threshold
of the one wrong for the other?

*Shift* is the threshold that the default finds on the test rows' scores by the mean, minus the
average of those that it finds on their scores by single models, in standard deviations of the
mean's scores within a class. *G-mean lost* is what the second threshold loses to the first, on
these same rows: the price of the shift with all estimation put aside. It was **{lost:.4f}** on
average.

*Gain if narrowed* tries the correction that the theory suggests: left-out scores are drawn towards
the middle of their class by the very factors of the test rows, which nobody knows in practice,
before they decide. The deployed mean's G-mean changed by **{gain:+.4f} ± {error:.4f}** (standard
error over families). A correction that has to estimate these factors cannot be expected to gain
more: each training row is left out by one model only, so that no two models score a row that
neither has seen.

Nothing is corrected. The deployed threshold is **{regret:.4f}** of G-mean away from the one that
the default finds on the test rows themselves; the shift is a small part of that.

{len(known)} trainings of the benchmark's choosing half, seed 0; {len(failed)} failed.

{table(("model", "rare rows", *_HEAD), lines)}"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--scores", type=Path)
    chosen, rest = parser.parse_known_args(arguments)
    with TemporaryDirectory() as empty:
        folder = empty if "--quick" in rest else ROOT / "out" / "suite" / "scores"
        os.environ[_SCORES] = str(chosen.scores or folder)
        return run(__file__, collect, page, is_met, rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
