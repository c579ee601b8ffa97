"""Whether the model's own probabilities come true."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.curves.uniform import clopper_pearson
from boundshift.view.words import Names, percent

__all__ = ["collect_calibration"]

_MOST_BINS = 10
_FEWEST_ROWS = 20


def collect_calibration(
    is_positive: NDArray[np.bool_],
    probability: NDArray[np.float64],
    confidence: float,
    names: Names,
) -> dict[str, Any]:
    """Compare probabilities with what came true, in groups of rows with similar ones.

    Groups hold about as many rows each; equal probabilities stay together.

    Returns
    -------
    dict
        ``bins``: each with ``n``, ``said`` (mean probability), ``true`` (share of positives) and
        ``low`` and ``high``, Clopper and Pearson's interval of it; ``said`` and ``true`` of all
        rows; and a ``sentence``.

    Examples
    --------
    >>> from boundshift.view.words import read_names
    >>> truth, said = np.arange(100) % 4 == 0, np.full(100, 0.25)
    >>> found = collect_calibration(truth, said, 0.95, read_names(None, (0, 1)))
    >>> [(group["n"], group["said"], group["true"]) for group in found["bins"]]
    [(100, 0.25, 0.25)]
    """
    order = np.argsort(probability, kind="stable")
    said, true = probability[order], is_positive[order]
    count = int(np.clip(len(said) // _FEWEST_ROWS, 1, _MOST_BINS))
    wanted = np.linspace(0, len(said), count + 1).round().astype(int)[1:-1]
    # A border moves up to where a new probability begins.
    borders = np.unique(np.searchsorted(said, said[wanted], side="left"))
    groups = [g for g in np.split(np.arange(len(said)), borders) if len(g)]
    bins = [_describe(said[g], true[g], (1 - confidence) / 2) for g in groups]
    mean, share = float(said.mean()), float(true.mean())
    off = sum(not b["low"] <= b["said"] <= b["high"] for b in bins)
    judged = (
        "as far as these rows can tell, its probabilities come true."
        if off == 0
        else f"in {off} of {len(bins)} groups of rows its probabilities do not come true: read "
        "them as a ranking, or calibrate the model."
    )
    return {
        "bins": bins,
        "said": mean,
        "true": share,
        "off": off,
        "sentence": (
            f"On average the model's own probability is {percent(mean)}, and {percent(share)} are "
            f"{names.positives}; {judged}"
        ),
    }


def _describe(
    said: NDArray[np.float64], true: NDArray[np.bool_], delta: float
) -> dict[str, float | int]:
    """Return what one group of rows was told, and what came true."""
    n, hits = len(said), int(true.sum())
    return {
        "n": n,
        "said": float(said.mean()),
        "true": hits / n,
        "low": 1.0 - float(clopper_pearson(n - hits, n, delta)),
        "high": float(clopper_pearson(hits, n, delta)),
    }
