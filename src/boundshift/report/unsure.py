"""The unsure zone in words: who is decided, who is not, and which errors are promised."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boundshift.curves.uniform import clopper_pearson
from boundshift.promises.planning import rows_needed
from boundshift.promises.zone import Zone
from boundshift.validation import as_scores
from boundshift.view.words import at_most, percent, score_text

__all__ = ["add_zone"]


def add_zone(
    facts: Mapping[str, Any],
    zone: Zone,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    found_here: bool,
) -> dict[str, Any]:
    """Return the facts of a report with those of an unsure zone.

    Parameters
    ----------
    facts : mapping
        From :func:`~boundshift.report.collect_facts`.
    zone : Zone
        Two limits, found on scores of rows that the model has not seen.
    y_true, y_score : array-like of shape (n_samples,)
        Rows to count on, under the zone's labels.
    found_here : bool
        Whether the limits were found on these rows. If so, what they promise is the bound; if not,
        Clopper and Pearson's bound of the errors counted here is added.

    Examples
    --------
    >>> import boundshift
    >>> from boundshift.report import collect_facts
    >>> y, s = [0] * 900 + [1] * 100, [*range(900), *range(820, 920)]
    >>> facts = collect_facts(y, s, names={"positive": "sick", "unit": "patients"})
    >>> zone = boundshift.find_zone(y, s, errors=(0.02, 0.1))
    >>> told = add_zone(facts, zone, y, s, found_here=True)["zone"]
    >>> print(told["sentence"])
    Patients with a score up to 824 are called other patients, those above 889 sick. Between the two
    lie 13.2% of all patients, and a person should decide.
    >>> print(told["sides"][1]["sentence"])
    Of sick patients, 4 of 100 are called other patients here. In the long run it is at most 10.0%
    with 95% confidence. 66.0% of them are left to a person.
    """
    names = facts["names"]
    called = (names["negative"], names["positive"])
    is_positive = np.asarray(np.asarray(y_true) == zone.labels[1], dtype=np.bool_)
    scores = as_scores(y_score)
    unsure = zone.is_unsure(scores)
    wrong = np.where(is_positive, scores <= zone.low, scores > zone.high)
    sides = []
    for i, who in enumerate((names["negatives"], names["positives"])):
        mine = is_positive if i else ~is_positive
        side = {
            "who": who,
            "called": called[1 - i],
            "rows": int(mine.sum()),
            "wrong": int(wrong[mine].sum()),
            "unsure": float(unsure[mine].mean()),
            "promised": zone.errors[i],
            "is_promised": math.isfinite((zone.high, zone.low)[i]),
            "bound": None,
        }
        if not found_here:
            bound = clopper_pearson(side["wrong"], side["rows"], 1.0 - zone.confidence)
            side["bound"] = float(bound)
        sides.append(side | {"sentence": _say_side(side, zone, i)})
    share = facts["prevalence"]["share"]
    between = (1 - share) * sides[0]["unsure"] + share * sides[1]["unsure"]
    return dict(facts) | {
        "zone": {
            "low": _finite(zone.low),
            "high": _finite(zone.high),
            "status": zone.status,
            "confidence": zone.confidence,
            "unsure": between,
            "found_here": found_here,
            "found_on": list(zone.n_samples),
            "sentence": _say_limits(zone, called, between, names["unit"]),
            "sides": sides,
        }
    }


def _finite(limit: float) -> float | None:
    """Return a limit, None where there is none."""
    return limit if math.isfinite(limit) else None


def _say_limits(zone: Zone, called: tuple[str, str], between: float, unit: str) -> str:
    """Say what is decided by the score, and how many rows are not."""
    rows = f"{unit[:1].upper()}{unit[1:]}"
    if zone.status == "empty":
        return (
            f"{rows} with a score up to {score_text(zone.low)} are called {called[0]}, all others "
            f"{called[1]}. One threshold keeps both promises: nobody need be asked."
        )
    low, high = math.isfinite(zone.low), math.isfinite(zone.high)
    if low and high:
        decided = (
            f"{rows} with a score up to {score_text(zone.low)} are called {called[0]}, those above "
            f"{score_text(zone.high)} {called[1]}. Between the two lie"
        )
    elif low:
        decided = (
            f"{rows} with a score up to {score_text(zone.low)} are called {called[0]}. Too few "
            f"rows are there to call any {called[1]}. Above the limit lie"
        )
    elif high:
        decided = (
            f"{rows} with a score above {score_text(zone.high)} are called {called[1]}. Too few "
            f"rows are there to call any {called[0]}. Up to the limit lie"
        )
    else:
        return f"Too few rows are there to promise anything: a person should decide on all {unit}."
    return f"{decided} {percent(between)} of all {unit}, and a person should decide."


def _say_side(side: Mapping[str, Any], zone: Zone, i: int) -> str:
    """Say how many of a class are decided wrongly, and how many they are at most."""
    left = f"{percent(side['unsure'])} of them are left to a person."
    if not side["is_promised"]:
        needed = rows_needed(zone.errors[i], zone.confidence)
        return (
            f"Of {side['who']}, none is called {side['called']}: a promise of at most "
            f"{percent(zone.errors[i])} takes at least {needed:,} of them, and there are "
            f"{zone.n_samples[i]:,}. {left}"
        )
    sure = f"with {100 * zone.confidence:g}% confidence"
    counted = (
        f"Of {side['who']}, {side['wrong']:,} of {side['rows']:,} are called {side['called']} here."
    )
    promise = f"In the long run it is at most {at_most(zone.errors[i])} {sure}."
    if side["bound"] is not None:
        promise = (
            f"At most {at_most(zone.errors[i])} was promised; these rows by themselves show at "
            f"most {at_most(side['bound'])} {sure}."
        )
    return f"{counted} {promise} {left}"
