"""The cost of a boundary of 10^10 rows on 100 workers, from what is measured on one core."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from boundshift.boundary import make_decision
from boundshift.result.boundary import Boundary
from boundshift.scores import ScoreSample
from boundshift.streaming.chunks import Chunk
from boundshift.streaming.driver import decide_in_passes
from boundshift.streaming.tally import ClassTally, ScanRequest, Tally
from lab.evidence.evidence import table

Draw = Callable[[int, int], tuple[Any, Any]]

ROWS, PARTITIONS, WORKERS = 10**10, 10_000, 100


class Ideal:
    """The scores of two normal classes at equal steps of probability: any number of rows.

    Tallies are computed, not counted, so the decision on 10^10 rows can be watched here. What a
    pass costs is measured on one partition of real rows.
    """

    is_weighted = False

    def __init__(self, draw: Draw, share: float) -> None:
        self.passes: list[dict[str, float]] = []
        self._draw, self._partition = draw, ROWS // PARTITIONS
        self._sizes = (int(ROWS * (1 - share)), int(ROWS * share))

    def peek(self) -> list[Any]:
        """Return drawn rows."""
        return [Chunk(*self._draw(10_000, 0), "first")]

    def scan(self, request: Any, on_progress: Any) -> Any:
        """Return what is found in all rows, and keep what a pass costs on one partition."""
        chunk = Chunk(*self._draw(self._partition, 1), "partition")
        request.tally([chunk])
        start = time.process_time()
        tally = request.tally([chunk])
        seconds = time.process_time() - start
        total = Tally()
        start = time.process_time()
        total.merge(tally)
        merge = time.process_time() - start
        found = Tally({i: self._tally(request, i) for i in (0, 1)})
        self.passes.append(
            {
                "row seconds": seconds / self._partition,
                "message bytes": len(pickle.dumps(tally)),
                "merge seconds": merge,
                "points": sum(len(v) for c in found.classes.values() for v, *_ in c.points),
            }
        )
        return found

    def _tally(self, request: ScanRequest, label: int) -> Any:
        """Return what is found in all rows of a class."""
        n, mean = self._sizes[label], 2.0 * label
        low, high = (float(mean + ndtri(p)) for p in (0.5 / n, 1 - 0.5 / n))

        def below(t: Any) -> Any:
            rank = np.floor(n * ndtr(t - mean) + 0.5).clip(1, n - 1).astype(np.int64)
            return np.where(t < low, 0, np.where(t >= high, n, rank))

        def scores(rank: Any) -> Any:
            return np.where(
                rank == 0, low, np.where(rank == n - 1, high, mean + ndtri((rank + 0.5) / n))
            )

        def sums(lows: Any, tops: Any) -> Any:
            density = [np.exp(-0.5 * (t - mean) ** 2) / np.sqrt(2 * np.pi) for t in (lows, tops)]
            return (below(tops) - below(lows)) * mean + n * (density[0] - density[1])

        if request.look is None:
            tops = request.grid.tops
            lows = np.append(-np.inf, tops[:-1])
            return ClassTally(below(tops) - below(lows), sums(lows, tops), low=low, high=high)
        look = request.look
        ahead = np.nextafter(look.lows, -np.inf)
        start, end = below(ahead), below(look.tops)
        found = ClassTally(end - start, sums(ahead, look.tops), low=low, high=high)
        held = found.counts > 0
        found.lows = np.where(held, scores(np.minimum(start, n - 1)), np.inf)
        found.highs = np.where(held, scores(np.maximum(end - 1, 0)), -np.inf)
        for a, b in zip(start[look.collected], end[look.collected], strict=True):
            once = np.ones(b - a, np.int64)
            found.points.append((scores(np.arange(a, b)), once, once))
        return found


def cost_model(draw: Draw, share: float) -> dict[str, Any]:
    """Watch the decision on 10^10 rows: what a row, a merge and a decision cost on one core."""
    source = Ideal(draw, share)
    decide = make_decision("logistic")
    seconds: list[float] = []

    def timed(sample: ScoreSample) -> Boundary:
        start = time.process_time()
        boundary = decide(sample)
        seconds.append(time.process_time() - start)
        return boundary

    decide_in_passes(source, timed)
    return {"passes": source.passes, "decision seconds": seconds}


def model_text(model: dict[str, Any]) -> str:
    """Return the cost model carried to 10^10 rows on 100 workers."""
    fan, network = 16, 1e8
    levels = int(np.ceil(np.log(PARTITIONS) / np.log(fan)))
    lines, total = [], 0.0
    for i, (p, decide) in enumerate(
        zip(model["passes"], model["decision seconds"], strict=True), 1
    ):
        read = ROWS * p["row seconds"] / WORKERS
        # The cells are in every message; the points of one message are those of its rows.
        size = p["message bytes"]
        merge = levels * fan * (p["merge seconds"] + size / network) + 8 * p["points"] / network
        total += read + merge + decide
        figures = (p["row seconds"] * 1e9, size / 1e6, p["points"] / 1e6, read, merge, decide)
        lines.append((i, *figures))
    names = ["ns a row", "message, MB", "million points", "rows, s", "merging, s", "decision, s"]
    return (
        "## Carried to 10¹⁰ rows on 100 workers\n\n"
        "A pass costs the rows that a worker has, times the time per row of one core, plus a tree "
        f"of merges, {fan} messages at a time, {levels} levels for {PARTITIONS:,} partitions, at "
        f"{network / 1e6:.0f} MB a second, plus the decision. Reading and decoding the rows, "
        "which any pass has to pay, comes on top. The default decision was made on 10¹⁰ scores at "
        "equal steps of probability of two normal classes, whose counts can be computed without "
        "drawing them; each pass was timed on one partition of drawn rows, on one core:\n\n"
        + table(["pass", *names], lines)
        + f"\n\nTogether {total:.0f} seconds. A message holds the cells and the points collected "
        "from its own rows; of these all partitions together have at most some millions, however "
        "many rows there are: cells with more are cut finer, at the price of one more pass."
    )
