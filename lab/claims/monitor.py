"""How often a monitor raises a false alarm, and how soon a true one, beside MAPIE's.

The comparison needs MAPIE (``pip install "mapie>=1.6"``); without it, and with ``--quick``, its
columns are empty and the goal is judged by the false alarms alone.

False alarms: both classes err exactly at their certified bounds, the worst case in which every
certificate is kept, and each of 100,000 rows is a look. Delay: a class errs at half its bound for
some rows, then at twice the bound; both monitors are told the same bound, see the same rows, look
after every row and have the same level.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift import Monitor
from boundshift._promises.certificate import certify_counts
from boundshift._promises.monitor import Bet
from lab.claims.simulation import binomial_error, generator
from lab.experiment import Experiment, Facts, Tables, in_parallel, rows_in_parallel, version_of
from lab.markdown import table

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
    """Return the share of streams with an alarm, at each level."""
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


def our_delay(is_wrong: NDArray[np.bool_], bound: float, calm: int) -> int | None:
    """Return rows from the change to our alarm; None if there is none."""
    enough = np.flatnonzero(Bet(bound).extend(is_wrong) >= math.log(1 / CLASS_LEVEL))
    return int(enough[0]) + 1 - calm if len(enough) else None


def mapie_delay(is_wrong: NDArray[np.bool_], bound: float, calm: int) -> int | None:
    """Return rows from the change to MAPIE's alarm; None if there is none.

    It spends half of its level on the reference, also where the threshold is given. Its bounds
    after all rows are computed at once, the first rows first, since that is slow.
    """
    from mapie.exchangeability_testing import RiskMonitoring

    n = calm + 500
    while True:
        rows = is_wrong[:n]
        monitor = RiskMonitoring(
            "recall", test_level=2 * CLASS_LEVEL, threshold=bound, warn=False
        ).update(np.ones(len(rows), dtype=int), (~rows).astype(int))
        enough = np.flatnonzero(monitor.online_risk_lower_bound_sequence_history > bound)
        if len(enough) or n >= len(is_wrong):
            return int(enough[0]) + 1 - calm if len(enough) else None
        n *= 2


def delays(bound: float, calm: int, streams: int, with_mapie: bool) -> dict[str, Any]:
    """Return how soon a doubled error rate is found."""
    ours, theirs = [], []
    for seed in range(streams):
        rng = generator("monitor", "delay", bound, calm, seed)
        is_wrong = np.append(rng.random(calm) < bound / 2, rng.random(MOST_ROWS) < 2 * bound)
        ours.append(our_delay(is_wrong, bound, calm))
        if with_mapie:
            theirs.append(mapie_delay(is_wrong, bound, calm))
    facts = {"bound": bound, "calm": calm, "streams": streams, "most_rows": MOST_ROWS}
    return facts | {"ours": summarise(ours), "mapie": summarise(theirs) if with_mapie else None}


def summarise(found: list[int | None]) -> dict[str, Any]:
    """Return quantiles of the delay, where none is later than any, and alarms before the change."""
    rows = np.array([np.inf if delay is None else delay for delay in found])
    median, late = (float(np.quantile(rows, q, method="higher")) for q in (0.5, 0.9))
    return {
        "median": median if math.isfinite(median) else None,
        "late": late if math.isfinite(late) else None,
        "missed": int(np.isinf(rows).sum()),
        "too_early": int(np.sum(rows <= 0)),
    }


def milliseconds_of_half_a_year() -> float:
    """Return the time of 180 daily batches of 100 rows, the least of five runs."""
    rng = np.random.default_rng(0)
    certificate = certify_counts((10, 10), (200, 100), (0, 1), threshold=0.5)
    batches = [(rng.integers(0, 2, 100), rng.random(100)) for _ in range(180)]
    times = []
    for _ in range(5):
        begin = time.process_time()
        monitor = Monitor(certificate)
        for day, (y, s) in enumerate(batches):
            monitor.update(y, np.where(rng.random(100) < 0.05, s, y), day)
        times.append(time.process_time() - begin)
    return 1000 * min(times)


def collect(quick: bool) -> Facts:
    streams, looks, n_delays = (40, 2000, 4) if quick else (STREAMS, LOOKS, DELAY_STREAMS)
    mapie = None if quick else version_of("mapie")
    cells = [(b, calm, n_delays, mapie is not None) for b in DELAY_BOUNDS for calm in CALM]
    return {
        "mapie": mapie,
        "looks": looks,
        "false_alarms": rows_in_parallel(
            false_alarms, [(b, streams, looks) for b in BOUNDS], quick
        ),
        "delays": list(in_parallel(delays, cells, quick)),
        "milliseconds_of_180_batches": milliseconds_of_half_a_year(),
    }


def is_met(facts: Facts) -> bool:
    """Say whether false alarms are at most nominal, and alarms no later than MAPIE's."""
    in_time = all(
        row["ours"]["median"] is not None
        and (row["mapie"] is None or row["ours"]["median"] <= (row["mapie"]["median"] or np.inf))
        for row in facts["delays"]
    )
    return in_time and all(row["passes"] for row in facts["false_alarms"])


def tables(facts: Facts) -> Tables:
    alarms = [
        [
            " and ".join(map(str, row["bounds"])),
            row["level"],
            f"{row['share']:.4f} ± {row['standard_error']:.4f}",
            "yes" if row["passes"] else "no",
        ]
        for row in facts["false_alarms"]
    ]
    rows = [
        [row["bound"], row["calm"], *_cells(row["ours"]), *_cells(row["mapie"])]
        for row in facts["delays"]
    ]
    other = f"MAPIE {facts['mapie']}" if facts["mapie"] else "MAPIE (not run)"
    ends = [f"{end}, {side}" for side in ("ours", other) for end in ("median", "90%", "missed")]
    spent = f"{facts['milliseconds_of_180_batches']:.0f} ms of a processor"
    return {
        "alarms": table("bounds | level | share of streams with an alarm | passes", alarms),
        "delays": table(" | ".join(["bound", "calm rows", *ends]), rows)
        + f"\n\n180 batches of 100 rows take `Monitor` {spent}.",
    }


def _cells(found: dict[str, Any] | None) -> list[object]:
    """Return a monitor's cells of the table."""
    if found is None:
        return ["–"] * 3
    shown = ["–" if found[end] is None else int(found[end]) for end in ("median", "late")]
    return [*shown, found["missed"]]


EXPERIMENT = Experiment(collect, tables, is_met)
