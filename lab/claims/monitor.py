"""How often a monitor raises a false alarm, and how soon a true one.

False alarms: both classes err exactly at their certified bounds, the worst case in which every
certificate is kept, and each of 100,000 rows is a look. Delay: a class errs at half its bound for
some rows, then at twice the bound; the monitor looks after every row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boundshift._guarantees.bets import Bet
from lab.claims.simulation import binomial_error, generator
from lab.experiment import Experiment, Facts, Tables, in_parallel, rows_in_parallel
from lab.markdown import columns

LOOKS = 100_000
STREAMS = 500
LEVELS = (0.2, 0.1, 0.05, 0.01)
BOUNDS = ((0.02, 0.1), (0.1, 0.3), (0.01, 0.5))
SHARE_OF_POSITIVES = 0.2

DELAY_STREAMS = 30
DELAY_BOUNDS = (0.05, 0.2)
CALM = (0, 500, 1000)
MOST_ROWS = 3000
CLASS_LEVEL = 0.025


def most_evidence(bounds: tuple[float, float], seed: int, looks: int) -> float:
    """Return the greatest log evidence of either class in a stream that keeps to the bounds."""
    rng = generator("monitor", "false alarms", *bounds, seed)
    n_positive = int(rng.binomial(looks, SHARE_OF_POSITIVES))
    found = [
        Bet(bound).extend(rng.random(n) < bound).max(initial=0.0)
        for bound, n in zip(bounds, (looks - n_positive, n_positive), strict=True)
    ]
    return float(max(found))


def false_alarms(bounds: tuple[float, float], streams: int, looks: int) -> list[dict[str, Any]]:
    most = np.array([most_evidence(bounds, seed, looks) for seed in range(streams)])
    rows = []
    for level in LEVELS:
        share = float(np.mean(most >= math.log(2 / level)))
        error = binomial_error(level, streams)
        rows.append(
            {"bounds": bounds, "level": level, "share": share, "streams": streams}
            | {"standard_error": error, "passes": share <= level + 2 * error}
        )
    return rows


def delays(bound: float, calm: int, streams: int) -> dict[str, Any]:
    """Return quantiles of the rows from the change to the alarm, where none is later than any."""
    found = []
    for seed in range(streams):
        rng = generator("monitor", "delay", bound, calm, seed)
        is_wrong = np.append(rng.random(calm) < bound / 2, rng.random(MOST_ROWS) < 2 * bound)
        enough = np.flatnonzero(Bet(bound).extend(is_wrong) >= math.log(1 / CLASS_LEVEL))
        found.append(enough[0] + 1 - calm if len(enough) else math.inf)
    median, late = (float(np.quantile(found, q, method="higher")) for q in (0.5, 0.9))
    return {
        "bound": bound,
        "calm": calm,
        "streams": streams,
        "median": median if math.isfinite(median) else None,
        "late": late if math.isfinite(late) else None,
        "missed": int(np.isinf(found).sum()),
    }


def collect(quick: bool) -> Facts:
    streams, looks, n_delays = (40, 2000, 4) if quick else (STREAMS, LOOKS, DELAY_STREAMS)
    alarms = [(bounds, streams, looks) for bounds in BOUNDS]
    cells = [(bound, calm, n_delays) for bound in DELAY_BOUNDS for calm in CALM]
    return {
        "looks": looks,
        "false_alarms": rows_in_parallel(false_alarms, alarms, quick),
        "delays": list(in_parallel(delays, cells, quick)),
    }


def is_met(facts: Facts) -> bool:
    in_time = all(row["median"] is not None for row in facts["delays"])
    return in_time and all(row["passes"] for row in facts["false_alarms"])


def tables(facts: Facts) -> Tables:
    return {
        "alarms": columns(
            facts["false_alarms"],
            {
                "bounds": lambda row: " and ".join(map(str, row["bounds"])),
                "level": "level",
                "proportion of streams with an alarm": lambda row: (
                    f"{row['share']:.4f} ± {row['standard_error']:.4f}"
                ),
                "passes": "passes",
            },
        ),
        "delays": columns(
            facts["delays"],
            {
                "bound": "bound",
                "calm rows": "calm",
                "median": lambda row: None if row["median"] is None else int(row["median"]),
                "90%": lambda row: None if row["late"] is None else int(row["late"]),
                "missed": "missed",
            },
        ),
    }


EXPERIMENT = Experiment(collect, tables, is_met)
