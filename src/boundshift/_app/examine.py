"""What can be guaranteed with the labelled rows there are, and how many more would be needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from boundshift._app.fit import TEST_SHARE
from boundshift._app.prepare import PreparedTable
from boundshift._boundary import decide
from boundshift._guarantees.planning import rows_needed
from boundshift._scores import ScoreSample
from boundshift._words import percent
from boundshift.curves import ClopperPearson, Empirical
from boundshift.rules import Floors

FLOORS = (0.8, 0.9, 0.95, 0.99)
"""Rates that are examined."""
_CHANCE = 0.8
_MOST_MISSING = 100_000  # that anybody would still label
_EXCESS = 1e-6  # more than what a search takes for equal


@dataclass(frozen=True)
class Prospect:
    """A guarantee, whether the rows there are can give it, and what it takes.

    `missing` is the number of labelled rows of `of_class` that are still needed, None if no
    reasonable number of them helps.
    """

    rate: str
    floor: float
    is_possible: bool
    rows: int
    missing: int | None
    of_class: str
    remark: str

    @property
    def goal(self) -> str:
        """The guarantee in words."""
        return f"{self.rate} of at least {100 * self.floor:g}%"


def examine_table(prepared: PreparedTable, confidence: float) -> list[Prospect]:
    """Return what `fit` can certify on its test rows, if the model is good enough.

    A floor counts as possible if a model with half the errors that it allows gets the certificate
    with a probability of 80%. Rows with one id count once.
    """
    prospects = []
    for is_positive, rate in ((1, "recall"), (0, "specificity")):
        together = prepared.together[prepared.y == is_positive]
        n = len(together) if prepared.ids is None else len(np.unique(together))
        n_test = math.floor(TEST_SHARE * n)
        for floor in FLOORS:
            allowed = 1.0 - floor
            needed = rows_needed(
                allowed,
                confidence,
                wrong_share=allowed / 2,
                chance=_CHANCE,
                clustered=prepared.ids is not None,
            )
            missing = max(math.ceil((needed - n_test) / TEST_SHARE), 0)
            least = rows_needed(allowed, confidence)
            remark = f"needs {needed:,} test rows if {percent(allowed / 2)} of them are wrong"
            if missing and n_test >= least:
                remark += f", {least:,} if none is"
            name = f"{prepared.target} = {prepared.labels[is_positive]}"
            prospects.append(Prospect(rate, floor, not missing, n_test, missing, name, remark))
    return prospects


def examine_scores(sample: ScoreSample, confidence: float, label: str) -> list[Prospect]:
    """Return which floors a threshold on these scores can guarantee, and at which price."""
    return [
        *_examine_class_rates(sample, confidence, label),
        *_examine_precision(sample, confidence, label),
    ]


def _examine_class_rates(sample: ScoreSample, confidence: float, label: str) -> Iterator[Prospect]:
    for is_positive, rate in ((1, "recall"), (0, "specificity")):
        n = sample.n_samples[is_positive]
        for floor in FLOORS:
            rule = Floors(recall=floor) if is_positive else Floors(specificity=floor)
            boundary = decide(sample, ClopperPearson(confidence), rule, "auto")
            is_met = boundary.guaranteed is True
            missing = 0 if is_met else max(rows_needed(1.0 - floor, confidence) - n, 0)
            price = boundary.wrong[1 - is_positive] / sample.n_samples[1 - is_positive]
            other = ("recall", "specificity")[is_positive]
            remark = f"{other} is then {percent(1.0 - price)}" if is_met else "too few rows"
            name = f"{label} = {sample.labels[is_positive]}"
            yield Prospect(rate, floor, is_met, n, missing, name, remark)


def _examine_precision(sample: ScoreSample, confidence: float, label: str) -> Iterator[Prospect]:
    negative, positive = sample.n_samples
    for floor in (0.5, *FLOORS):
        boundary = decide(sample, ClopperPearson(confidence), Floors(precision=floor), "auto")
        # More rows show a precision only if it exceeds the floor.
        above = Floors(precision=floor + _EXCESS)
        reached = decide(sample, Empirical(), above, "auto")
        false_alarms, missed = reached.wrong
        found = positive - missed
        share = false_alarms / max(found + false_alarms, 1)
        missing = None
        remark = "no threshold exceeds it on these rows"
        if boundary.guaranteed:
            missing = 0
            remark = f"recall is then {percent(1.0 - boundary.wrong[1] / positive)}"
        elif found and share < 1.0 - floor:
            needed = rows_needed(1.0 - floor, confidence, wrong_share=share, chosen_here=True)
            factor = needed / (found + false_alarms)
            missing = max(math.ceil((factor - 1.0) * (negative + positive)), 1)
            remark = f"recall was {percent(found / positive)} where these rows reach it"
            if missing > _MOST_MISSING:
                missing = None
                remark = (
                    f"these rows are too close to it, so that over {_MOST_MISSING:,} would be "
                    "needed"
                )
        rows = found + false_alarms
        yield Prospect("precision", floor, missing == 0, rows, missing, f"any {label}", remark)
