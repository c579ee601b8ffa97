"""The paper's synthetic problem: train, shift, compare, draw.

Two Gaussian classes around −(1, 1) and (1, 1), 1000 rows of one and 10 of the other to learn from,
1000 fresh rows of each to judge by.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from boundshift._classifier import BoundShiftClassifier
from boundshift._typing import FloatArray, IntArray
from boundshift.exceptions import MissingExtraError
from boundshift.metrics import binary_metrics
from boundshift.plots import ProjectionDisplay
from lab.canvas import new_figure, save

N_DRAWS = 20
METRICS = {
    "accuracy": "accuracy",
    "G-mean": "g_mean",
    "F1": "f1",
    "recall of class 0": "recall_negative",
    "recall of class 1": "recall_positive",
}


def draw(rng: np.random.Generator, n_positive: int) -> tuple[FloatArray, IntArray]:
    y = np.repeat(np.array([0, 1]), [1000, n_positive])
    return rng.standard_normal((len(y), 2)) + np.where(y == 1, 1.0, -1.0)[:, None], y


class DemoRun:
    """One draw of the problem: a trained model, the same model shifted, and their scores."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.train, test = (draw(rng, n) for n in (10, 1000))
        untouched = LogisticRegression().fit(*self.train)
        # As in the paper, the training scores decide: three weights cannot memorise 1010 rows.
        self.shifted = BoundShiftClassifier(untouched, cv="prefit", curve="support")
        self.shifted.fit(*self.train)
        self.before, self.after = (
            {title: measured[name] for title, name in METRICS.items()}
            for model in (untouched, self.shifted)
            for measured in [binary_metrics(test[1], model.predict(test[0]), pos_label=1)]
        )


def _table(runs: Sequence[DemoRun]) -> str:
    """Return the metrics side by side, with standard deviations where there are many runs."""
    lines = [f"{'':<18}{'untouched':>16}{'shifted':>16}"]
    for name in METRICS:
        line = f"{name:<18}"
        for values in ([run.before[name] for run in runs], [run.after[name] for run in runs]):
            spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
            line += f"{f'{np.mean(values):.3f}{spread}':>16}"
        lines.append(line)
    return "\n".join(lines)


def main(out: Path, seed: int = 0) -> int:
    """Print the tables and draw the figure; return 1 if it could not be drawn."""
    run = DemoRun(seed)
    print(f"Logistic regression, 1000 and 10 rows (seed {seed}); 1000 and 1000 test rows\n")
    print(_table([run]))
    print(f"\nMean and standard deviation over {N_DRAWS} draws (seeds 0 to {N_DRAWS - 1})\n")
    print(_table([DemoRun(seed) for seed in range(N_DRAWS)]))
    print(f"\nThe boundary of seed {seed}\n\n{run.shifted.boundary_.summary()}")
    try:
        figure = new_figure(8.0, 4.8)
    except MissingExtraError as error:
        print(f"\nNo figure: {error}", file=sys.stderr)
        return 1
    ProjectionDisplay.from_estimator(run.shifted, *run.train, ax=figure.subplots())
    save(figure, out)
    print(f"\nFigure written to {out}")
    return 0
