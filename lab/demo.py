"""The paper's synthetic problem: train, shift, compare, draw.

Two Gaussian classes around −(1, 1) and (1, 1), 1000 rows
of one and 10 of the other to learn from, 1000 fresh rows of each to judge by.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, recall_score

from boundshift.classifier import BoundShiftClassifier
from boundshift.exceptions import MissingExtraError
from boundshift.plots import ProjectionDisplay
from lab.canvas import new_figure, save

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
Scores = dict[str, float]

_N_DRAWS = 20


def _draw(rng: np.random.Generator, n_negative: int, n_positive: int) -> Rows:
    """Draw rows of both classes."""
    y = np.repeat(np.array([0, 1]), [n_negative, n_positive])
    X = rng.standard_normal((len(y), 2)) + np.where(y == 1, 1.0, -1.0)[:, None]
    return X, y


def _g_mean(y: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
    """Return the geometric mean of the two recalls."""
    return float(np.sqrt(np.prod(recall_score(y, predicted, average=None))))


_METRICS: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": accuracy_score,
    "G-mean": _g_mean,
    "F1": f1_score,
    "recall of class 0": lambda y, p: float(recall_score(y, p, pos_label=0)),
    "recall of class 1": recall_score,
}


class _Run:
    """One draw of the problem: a trained model, the same model shifted, and their scores."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.train = _draw(rng, 1000, 10)
        X, y = _draw(rng, 1000, 1000)
        untouched = LogisticRegression().fit(*self.train)
        # As in the paper, the training scores decide: three weights cannot memorise 1010 rows.
        self.shifted = BoundShiftClassifier(untouched, cv="prefit", curve="support").fit(
            *self.train
        )
        self.before = _judge(y, untouched.predict(X))
        self.after = _judge(y, self.shifted.predict(X))


def _judge(y: NDArray[np.int64], predicted: NDArray[np.int64]) -> Scores:
    """Return every metric."""
    return {name: float(metric(y, predicted)) for name, metric in _METRICS.items()}


def _table(before: Sequence[Scores], after: Sequence[Scores]) -> str:
    """Return the metrics side by side, with standard deviations where there are many runs."""
    lines = [f"{'':<18}{'untouched':>16}{'shifted':>16}"]
    for name in _METRICS:
        cells = (_cell([scores[name] for scores in runs]) for runs in (before, after))
        lines.append(f"{name:<18}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def _cell(values: Sequence[float]) -> str:
    """Return a mean, and its standard deviation over more than one value."""
    spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{spread}"


def main(out: Path, seed: int = 0) -> int:
    """Print the tables and draw the figure; return 1 if it could not be drawn."""
    run = _Run(seed)
    print(f"Logistic regression, 1000 and 10 rows (seed {seed}); 1000 and 1000 test rows\n")
    print(_table([run.before], [run.after]))
    runs = [_Run(seed) for seed in range(_N_DRAWS)]
    print(f"\nMean and standard deviation over {_N_DRAWS} draws (seeds 0 to {_N_DRAWS - 1})\n")
    print(_table([r.before for r in runs], [r.after for r in runs]))
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
