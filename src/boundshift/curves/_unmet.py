"""The message of a boundary that does not meet all floors: which ones fail, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boundshift.rules._binary import frequencies
from boundshift.rules._floors import Floors, reached_rates
from boundshift.rules._guarantee import Guarantee

Pair = tuple[float, float]

# What a floor is counted on, if none of it is wrong, and the class that must have as many rows.
_COUNTED_ON = {
    "recall": ("positive {unit}, all on the right side", 1),
    "specificity": ("negative {unit}, all on the right side", 0),
    "precision": ("flagged {unit}, all of them positive", 1),
    "npv": ("{unit} left alone, all of them negative", 0),
}


def describe_estimate(
    rule: Floors, missed: Sequence[str], errors: Pair, n_samples: tuple[int, int]
) -> str:
    """Return the message for floors that are not met as estimated or counted."""
    rates = _rates(rule, errors, n_samples)
    described = [f"{_reached(name, rates)} instead of {_wanted(rule, name)}" for name in missed]
    names = " or ".join(_title(name) for name in rule.asked)
    return (
        f"No threshold meets all floors. At the nearest one, {', and '.join(described)}. "
        f"Ask for another {names}, or train a model that separates the classes better."
    )


def describe_unmet(
    rule: Floors,
    missed: Sequence[str],
    errors: Pair,
    n_samples: tuple[int, int],
    delta: float,
    unit: str = "rows",
) -> str:
    """Return the message for floors that cannot be guaranteed.

    `errors` are observed ones, since a bound at this threshold would invite the reader to ask the
    same rows for it. `n_samples` are numbers of the unit.
    """
    rates = _rates(rule, errors, n_samples)
    guarantees = {each.rate: each for each in rule.guarantees(delta)}
    where = f"on these {unit}"
    if rule.prevalence is not None:
        where = f"{where} at a prevalence of {rule.prevalence:g}"
    described = []
    for name in missed:
        verdict = "which does not guarantee" if name in guarantees else "instead of"
        described.append(f"{_reached(name, rates)} {where}, {verdict} {_wanted(rule, name)}")
    failed = [guarantees[name] for name in missed if name in guarantees]
    return (
        f"No threshold meets all floors with {1.0 - delta:.4g} confidence. At the nearest one, "
        f"{', and '.join(described)}. {_remedy(rule, failed, n_samples, unit)}"
    )


def _remedy(
    rule: Floors, missed: Sequence[Guarantee], n_samples: tuple[int, int], unit: str
) -> str:
    """Return what to do: more rows, or less to ask for.

    A weaker floor may be named only if it depends on numbers of rows alone, not on their scores.
    """
    for guarantee in missed:
        name = guarantee.rate
        if guarantee.error_rate <= 0.0:
            return (
                f"No number of {unit} can guarantee a {_title(name)} of 1: ask for less, or for no "
                f"more than the {unit} at hand show, with curve='empirical'."
            )
        follows_from_counts = rule.prevalence is None or name in ("recall", "specificity")
        if guarantee.is_cap or not follows_from_counts:
            continue
        counted_on, i = _COUNTED_ON[name]
        if n_samples[i] < guarantee.rows_needed:
            return (
                f"A {_title(name)} of {guarantee.limit:g} needs at least "
                f"{guarantee.rows_needed} {counted_on.format(unit=unit)}, and there are "
                f"{n_samples[i]}, which can guarantee {guarantee.best_limit(n_samples[i]):g} at "
                "most. Collect more, or lower the floor or the confidence."
            )
    return (
        f"Collect more {unit}, or train a model that separates the classes better. If you lower "
        f"a floor or the confidence after this result, decide on other {unit}: on the same ones "
        "the guarantee would not hold."
    )


def _rates(rule: Floors, errors: Pair, n_samples: tuple[int, int]) -> dict[str, float]:
    """Return every rate at two error rates."""
    negative = np.array([errors[0]])
    positive = np.array([errors[1]])
    rates = reached_rates(negative, positive, frequencies(rule.prevalence, n_samples))
    return {name: float(rate[0]) for name, rate in rates.items()}


def _reached(name: str, rates: dict[str, float]) -> str:
    """Return a clause with the value of a rate, or why it has none."""
    if name == "precision" and rates["flagged"] == 0.0:
        return "no row is flagged, so the precision is unknown"
    if name == "npv" and rates["flagged"] == 1.0:
        return "every row is flagged, so the NPV is unknown"
    return f"the {_title(name)} is {rates[name]:.4g}"


def _wanted(rule: Floors, name: str) -> str:
    return f"{'at most' if name == 'flagged' else 'at least'} {rule.asked[name]:g}"


def _title(name: str) -> str:
    return {"npv": "NPV", "flagged": "share flagged"}.get(name, name)
