"""Compare the best estimated G-mean with a tolerance on it, on the choosing half of the suite.

The tolerance was a default once: of all thresholds whose estimated G-mean is at most 0.0025 below
the best, it takes the one with the fewest errors of the larger class. It fades for balanced
classes. ``python -m lab.claims.tolerance`` prints the table of docs/defaults.md; ``--quick`` takes
one split and logistic regression.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from boundshift import BoundShiftClassifier
from boundshift._boundary import decide
from boundshift._scores import ScoreSample
from boundshift._typing import FloatArray, IntArray
from boundshift.curves import Blend
from boundshift.metrics import binary_metrics
from lab.claims.fresh import MODELS, datasets, fits, rows_of
from lab.experiment import quiet
from lab.markdown import Line, p_value, table
from lab.suite.data import split
from lab.suite.train import prepared

TOLERANCE = 0.0025
TRIED = ("logistic regression", "random forest", "histogram boosting")
SPLITS = 4
_PLACES = 20_001


def tolerant_threshold(sample: ScoreSample) -> float:
    """Return the threshold with the fewest errors of the larger class, up to half a row.

    It is looked for from the best one on, as long as the G-mean stays within the tolerance.
    """
    low, high = sample.extremes
    places = np.linspace(low - sample.spread / 16, high + sample.spread / 16, _PLACES)
    scores = np.unique(np.concatenate([scores.value for scores in sample.classes]))
    places = np.unique(np.concatenate([places, scores[:-1] + np.diff(scores) / 2]))
    negative, positive = Blend().errors(sample)(places)
    g_mean = np.sqrt((1 - negative) * (1 - positive))
    n, p = sample.n_samples
    allowed = TOLERANCE * (1 - min(n, p) / max(n, p))
    best = int(g_mean.argmax())
    larger = negative if n > p else positive
    ahead = slice(best, None) if n > p else slice(best, None, -1)
    is_far = np.append(g_mean[ahead] < g_mean.max() - allowed, True)
    last = best + (1 if n > p else -1) * (int(is_far.argmax()) - 1)
    # Of the places from the best to the last, the first with as few errors as that one.
    way = np.arange(best, last + (1 if n > p else -1), 1 if n > p else -1)
    rows = max(n, p)
    is_enough = larger[way] * rows <= larger[last] * rows + 0.5
    return sample.to_threshold(float(places[way[int(is_enough.argmax())]]))


def judge(name: str, model: str, rare: int, seed: int) -> dict[str, float]:
    """Return G-mean and F1 on the test rows, with and without tolerance."""
    train, test = split(rows_of(name), seed, rare)
    with quiet(Warning):
        shifted = BoundShiftClassifier(prepared(MODELS[model](seed))).fit(train.X, train.y)
        scores: FloatArray = np.asarray(shifted.positive_scores(test.X))
        deciding = shifted.deciding_sample_
        sample = ScoreSample.from_labels(train.y, deciding.scores).on_scale("auto")
        thresholds = {
            "with": tolerant_threshold(sample),
            "without": decide(sample).threshold,
        }
    judged = {}
    for kind, threshold in thresholds.items():
        predicted: IntArray = (scores > threshold).astype(np.int64)
        metrics = binary_metrics(test.y, predicted)
        recalls = metrics["recall_negative"] * metrics["recall_positive"]
        judged[f"g-mean {kind}"] = float(np.sqrt(recalls))
        judged[f"f1 {kind}"] = float(metrics["f1"])
    return judged


def main(*, quick: bool = False) -> None:
    """Print the table."""
    models = TRIED[:1] if quick else TRIED
    families = datasets("choose")
    rows = pd.DataFrame([
        {"family": families[name], "model": model, "rare": rare, **judge(name, model, rare, seed)}
        for name, model, rare, seed in fits("choose", 1 if quick else SPLITS, models)
    ])  # fmt: skip
    blocks = rows.groupby(["family", "model", "rare"]).mean()
    regimes = {0: "all rare rows", 20: "20 rare rows", 5: "5 rare rows"}
    parts = {"all blocks": blocks}
    for rare, name in regimes.items():
        parts[name] = blocks[blocks.index.get_level_values("rare") == rare]
    for model in models:
        parts[model] = blocks[blocks.index.get_level_values("model") == model]
    lines: list[Line] = []
    for name, part in parts.items():
        means = part.mean()
        p = float(wilcoxon(part["g-mean without"] - part["g-mean with"]).pvalue)
        kinds = ("g-mean with", "g-mean without", "f1 with", "f1 without")
        shown = [f"{means[kind]:.4f}" for kind in kinds]
        lines.append([name, *shown[:2], p_value(p), *shown[2:]])
    sys.stdout.write(f"{len(rows)} trainings, {len(blocks)} blocks\n")
    titles = "G-mean with tolerance | without | p | F1 with tolerance | without"
    sys.stdout.write(table(f"blocks | {titles}", lines) + "\n")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
