"""The verdict: one sentence of natural frequencies, and what it rests on."""

from __future__ import annotations

from typing import Any, Literal

from boundshift.promises.certificate import Certificate
from boundshift.view.words import Names, at_most, choose_base, rows_out_of

__all__ = ["JudgedOn", "decide_verdict"]

JudgedOn = Literal["test", "deciding"]
"""Rows that a boundary is judged by: used for nothing else, or those that chose it."""


def decide_verdict(
    shifted: Certificate, old: Certificate, judged_on: JudgedOn, names: Names
) -> dict[str, Any]:
    """Say what changes for both classes, in numbers out of a hundred.

    Parameters
    ----------
    shifted, old : Certificate
        Of the moved boundary and of the model's own, on the same rows.
    judged_on : {"test", "deciding"}
        Whether those rows were used for nothing else, or chose the boundary.
    names : Names
        Of both classes.

    Returns
    -------
    dict
        ``sentence``, ``status`` (that of the certificate), ``note`` and the numbers of the
        sentence.

    Examples
    --------
    >>> from boundshift.promises.certificate import certify_counts
    >>> from boundshift.view.words import read_names
    >>> names = read_names(
    ...     {"positive": "sick", "negative": "healthy", "unit": "patients"}, (0, 1)
    ... )
    >>> before = certify_counts((9, 31), (300, 100), (0, 1))
    >>> after = certify_counts((27, 9), (300, 100), (0, 1))
    >>> print(decide_verdict(after, before, "test", names)["sentence"])
    Of 100 sick patients the shifted model is expected to miss 9 instead of 31, in the long run at
    most 15.2% with 95% confidence; 6 more healthy patients per 100 are flagged.
    """
    numbers = _numbers(shifted, old)
    return {
        "sentence": _sentence(numbers, shifted, names),
        "status": shifted.status,
        "note": _note(shifted, judged_on),
        **numbers,
    }


def _numbers(shifted: Certificate, old: Certificate) -> dict[str, int]:
    """Return the whole numbers of the sentence."""
    missed, missed_before = shifted.errors[1], old.errors[1]
    more = shifted.errors[0] - old.errors[0]
    base = choose_base((missed, missed_before))
    negative_base = choose_base((more,))
    return {
        "base": base,
        "missed": rows_out_of(base, missed),
        "missed_before": rows_out_of(base, missed_before),
        "negative_base": negative_base,
        "more_flagged": rows_out_of(negative_base, more),
    }


def _sentence(numbers: dict[str, int], shifted: Certificate, names: Names) -> str:
    """Put the numbers into words; only the bound of a rate, not of a count, is claimed."""
    missed, before = numbers["missed"], numbers["missed_before"]
    start = f"Of {numbers['base']:,} {names.positives} the shifted model is expected to miss"
    bound = (
        f", in the long run at most {at_most(shifted.error_bounds[1])} with "
        f"{100 * shifted.confidence:.6g}% confidence"
    )
    if shifted.status == "nominal":
        start = f"Of {numbers['base']:,} {names.positives} in training the shifted model misses"
    if not shifted.certified:
        bound = ""
    change = "as before" if missed == before else f"instead of {before:,}"
    return f"{start} {missed:,} {change}{bound}; {_flagged(numbers, names)}."


def _flagged(numbers: dict[str, int], names: Names) -> str:
    """Say what the other class pays."""
    more = numbers["more_flagged"]
    if more == 0:
        return f"as many {names.negatives} are flagged as before"
    direction = "more" if more > 0 else "fewer"
    return (
        f"{abs(more):,} {direction} {names.negatives} per {numbers['negative_base']:,} are flagged"
    )


def _note(shifted: Certificate, judged_on: JudgedOn) -> str:
    """Say what the sentence rests on."""
    n = sum(shifted.n_samples)
    if shifted.status == "nominal":
        return (
            f"Everything here is nominal: the model was trained on these {n:,} rows, and their "
            "scores flatter it. Nothing is certified. Score rows that the model has not seen."
        )
    if shifted.status == "cross-fitted":
        return (
            f"No test rows were given, so this was measured on the {n:,} rows that chose the "
            "boundary, each scored by a model fitted without it. That is about the models of the "
            "folds: nothing is certified of the one that is deployed. Keep rows apart for a test."
        )
    if judged_on == "deciding":
        return (
            f"No test rows were given, so this was measured on the {n:,} rows that chose the "
            "boundary. The expected numbers are nominal: they flatter the boundary. The “at most” "
            "is certified if the model has not seen these rows: it holds for every threshold, and "
            "so for a chosen one."
        )
    return (
        f"Measured on {n:,} test rows, certified if they were used for nothing else. The boundary "
        "was fixed before they were looked at."
    )
