"""How much of what a clairvoyant threshold would gain over the untouched model a method gains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boundshift.typing import FloatArray
from lab.suite.results import Results

__all__ = ["CLAIRVOYANT", "UNTOUCHED", "shares_of_gain"]


UNTOUCHED, CLAIRVOYANT = "untouched", "clairvoyant"
_RESAMPLES = 2000


def shares_of_gain(results: Results, methods: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return each method's share of the gain in G-mean, with a 95% interval over families.

    Parameters
    ----------
    results : Results
        The untouched model and the clairvoyant threshold are among its methods.
    methods : sequence of str
        Which.

    Returns
    -------
    dict
        Name → share, low, high. The interval is of a bootstrap that draws whole families. A method
        that deploys another model than the untouched one may have more than 1.
    """
    values = results.blocks("g_mean", [UNTOUCHED, CLAIRVOYANT, *methods], "family").values
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(values), size=(_RESAMPLES, len(values)))
    share = _share(values.mean(axis=0))
    low, high = np.quantile(_share(values[drawn].mean(axis=1)), [0.025, 0.975], axis=0)
    return {
        name: {"share": float(share[i]), "low": float(low[i]), "high": float(high[i])}
        for i, name in enumerate(methods)
    }


def _share(means: FloatArray) -> FloatArray:
    """Return shares of the methods behind the first two columns; NaN where nothing is gained."""
    untouched, best = means[..., :1], means[..., 1:2]
    gain = np.where(best > untouched, best - untouched, np.nan)
    return np.asarray((means[..., 2:] - untouched) / gain)
